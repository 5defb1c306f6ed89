// SPDX-License-Identifier: Apache-2.0
// Topics, groups, and the tree of commands as text.
#include "cli/reference/help.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "cli/command_line.hpp"
#include "cli/reference/pages.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

struct Group {
  const char* title;
  std::vector<std::string_view> commands;
};

/// By what people do; what is in none is a mistake that a test finds.
const std::vector<Group>& groups() {
  static const std::vector<Group> kGroups{
      {"Look at a lab",
       {"status", "node", "device", "circuit", "ring", "receiver", "way", "calibration", "fibre", "schedule", "trace", "alarm",
        "audit"}},
      {"Train", {"job", "wait"}},
      {"Go dark", {"lasers"}},
      {"Run a lab", {"lab", "keys", "backup"}},
      {"Without a lab", {"predict", "arena", "plan", "sim", "reproduce", "bundle"}},
      {"What there is", {"workload", "fabric", "config", "import"}},
      {"This program", {"help", "completion"}},
  };
  return kGroups;
}

const CLI::App* child_of(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

/// CLI11's own, with what is understood everywhere below each command.
class Formatter : public CLI::Formatter {
 public:
  std::string make_footer(const CLI::App* app) const override {
    const std::string own = CLI::Formatter::make_footer(app);
    return app->get_parent() == nullptr ? own : format_text("{}\n{}", own, global_options_text());
  }
};

}  // namespace

std::span<const EnvironmentWords> environment_words() {
  static constexpr std::array<EnvironmentWords, 28> kWords{{
      {"LIGHTLOOM_STATE", "loom", "the state folder, where --state names none"},
      {"LIGHTLOOM_DATA", "loom reproduce, loom plan --search, tests, benchmarks",
       "the folder of public traces and measurements"},
      {"LIGHTLOOM_JOB", "found by the command of loom job run, and printed by loom job env", "the job's number"},
      {"LIGHTLOOM_JOB_NAME", "found there", "the job's name"},
      {"LIGHTLOOM_JOB_STATE", "found there", "pending, waiting, lit, degraded or dark"},
      {"LIGHTLOOM_WORLD_SIZE", "found there", "how many nodes the job has"},
      {"LIGHTLOOM_NODES", "found there", "names of the job's nodes in rank order, with commas"},
      {"LIGHTLOOM_REVISION", "found there", "the revision that lights the job"},
      {"LIGHTLOOM_PHASE", "found by --on-quiesce and --on-resume", "quiesce or resume"},
      {"LIGHTLOOM_QUIESCE_REVISION", "found by --on-quiesce and --on-resume",
       "the revision that waits for the job to be quiet"},
      {"NOTIFY_SOCKET", "lightloomd, lightloom-agent", "set by a service manager: where it is told that the daemon serves"},
      {"WATCHDOG_USEC", "lightloomd, lightloom-agent",
       "set by a service manager: after so many microseconds without a message it takes the daemon for hung"},
      {"WATCHDOG_PID", "lightloomd, lightloom-agent", "set by a service manager: of which process WATCHDOG_USEC speaks"},
      {"LIGHTLOOM_ELSEWHERE", "./dev package --check", "the path in which the second build is made (below /var/tmp)"},
      {"LIGHTLOOM_CLEAN_ROOT", "./dev package --check", "the folder that keeps the archive of a clean root (below /var/tmp)"},
      {"NO_COLOR", "loom", "not empty: no colour, as --color never"},
      {"CLICOLOR_FORCE", "loom", "not empty: colour although stdout is no terminal, as --color always"},
      {"LIGHTLOOM_SEED", "tests/strangers/emulators.py, agents_test",
       "the seed of a random test that failed, to have it again"},
      {"LIGHTLOOM_BIN", "tests/strangers", "the folder of the programs, where no argument names it"},
      {"LIGHTLOOM_STRANGER_KEEP", "tests/strangers", "not empty: the lab's folder stays"},
      {"LIGHTLOOM_STRANGER_NODES", "tests/strangers/flood.py", "nodes of its lab (64)"},
      {"LIGHTLOOM_STRANGER_PROTO", "tests/strangers/peer.py",
       "a folder of generated messages, made by the first judge for the others"},
      {"LIGHTLOOM_KILL_POINTS", "lab_kill_test", "at how many points of a change it kills the controller"},
      {"LIGHTLOOM_REPEATS", "interlock_lab_test", "how often it opens a contact"},
      {"LIGHTLOOM_GRANT_HORIZON_MORE", "grant_explore_test", "how many steps further it looks"},
      {"LIGHTLOOM_FUZZ_MODEL", "waveshaper_fuzz", "set: the simulated device is fuzzed, not the decoder"},
      {"LIGHTLOOM_MUTANT", "programs that ./dev mutate builds", "the number of the mutant that is on"},
      {"LIGHTLOOM_MUTANT_REACHED", "programs that ./dev mutate builds", "a file for the mutants that were reached"},
  }};
  return kWords;
}

std::string global_options_text() {
  return "Everywhere: --json, --state DIR, --endpoint ADDRESS, --as NAME, --timeout TIME, --color WHEN (loom --help)\n";
}

void format_help(CLI::App& app) { app.formatter(std::make_shared<Formatter>()); }

void arrange_help(CLI::App& app) {
  for (const Group& group : groups()) {
    for (const std::string_view name : group.commands) {
      for (CLI::App* command : app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; })) {
        command->group(group.title);
      }
    }
  }
  std::string codes;
  for (const ExitCodeWords& each : exit_codes()) {
    codes += format_text("{}{} {}", codes.empty() ? "" : ", ", static_cast<int>(each.code), each.word);
  }
  app.footer(
      format_text("Exit codes: {} (loom help exit-codes).\nStart here: loom lab run --keep SCENARIO (loom config list "
                  "scenario), then loom status.",
                  codes));
}

Result<std::string> help_text(const CLI::App& app, const std::vector<std::string>& words, bool markdown) {
  if (words.empty()) {
    return markdown ? fail(ErrorCode::invalid_argument, "--markdown of what? A page is one of the topics", "loom help --help")
                    : Result<std::string>(app.help());
  }
  if (words.size() == 1) {
    if (auto page = page_of(app, words.front(), markdown)) {
      return *std::move(page);
    }
  }
  if (markdown) {
    return fail(ErrorCode::invalid_argument, format_text("there is no page '{}'", words.front().substr(0, 128)),
                "loom help --help");
  }
  const CLI::App* here = &app;
  std::string path = "loom";
  for (const std::string& word : words) {
    const CLI::App* next = child_of(*here, word);
    if (next == nullptr) {
      std::vector<std::string> known;
      for (const CLI::App* sub : here->get_subcommands([](const CLI::App*) { return true; })) {
        known.push_back(sub->get_name());
      }
      if (here == &app) {
        known.insert(known.end(), page_names().begin(), page_names().end());
      }
      const std::string near = nearest(word.substr(0, 128), known);
      return fail(ErrorCode::not_found,
                  format_text("'{}' is no command of {}{}", word.substr(0, 128), path, here == &app ? " and no topic" : ""),
                  near.empty() ? path + " --help" : format_text("loom help {}", near));
    }
    path += " " + word;
    here = next;
  }
  return here->help(path.substr(0, path.rfind(' ')));
}

void add_help(CLI::App& app, CommandLine& line) {
  CLI::App* help = app.add_subcommand("help", "Help on a command or a topic: loom help job submit, loom help exit-codes");
  struct Options {
    std::vector<std::string> words;
    bool markdown = false;
  };
  auto& options = line.keep<Options>();
  std::string topics;
  for (const std::string& name : page_names()) {
    topics += format_text("{}{}", topics.empty() ? "" : ", ", name);
  }
  help->add_option("WORDS", options.words, format_text("A command, or a topic: {}", topics));
  help->add_flag("--markdown", options.markdown, "Of a topic: the page of docs/reference");
  line.when(*help, [&app, &options](const Globals&) -> int {
    const auto text = help_text(app, options.words, options.markdown);
    if (!text) {
      return give_up(text.error());
    }
    std::fputs(text->c_str(), stdout);
    return kDone;
  });
}

}  // namespace loom::cli
