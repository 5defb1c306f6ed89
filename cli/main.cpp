// SPDX-License-Identifier: Apache-2.0
// loom: the operator's tool. Noun, then verb; data on stdout, words on stderr; exit codes as --help says.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/output_file.hpp"
#include "cli/render/term.hpp"
#include "cli/tree.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

/// `loom staus`: the word that nobody knows, and the nearest one that somebody does. Nothing: every word is known.
std::optional<Error> blame_word(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* here = &app;
  std::string path = "loom";
  bool is_value = false;  // of the option before it
  for (const std::string& word : words) {
    const bool was_value = std::exchange(is_value, false);
    if (word.starts_with("-")) {
      const CLI::Option* option = app.get_option_no_throw(word);
      is_value = option != nullptr && option->get_expected_min() > 0;
      continue;
    }
    if (was_value) {
      continue;
    }
    std::vector<std::string> known;
    const CLI::App* next = nullptr;
    for (const CLI::App* sub : here->get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(sub->get_name());
      next = sub->get_name() == word ? sub : next;
    }
    if (known.empty()) {
      return std::nullopt;
    }
    if (next == nullptr) {
      const std::string near = nearest(word, known);
      return Error{
          ErrorCode::invalid_argument,
          format_text("'{}' is no command of {}{}", word, path, near.empty() ? "" : format_text("; did you mean '{}'?", near)),
          near.empty() ? "" : format_text("{} {}", path, near)};
    }
    path += " " + word;
    here = next;
  }
  return std::nullopt;
}

/// `loom node drain --help`: the help of the deepest command that was named.
std::string help_of(const CLI::App& app, const std::vector<std::string>& words) {
  std::string text = "loom";
  const CLI::App* here = &app;
  for (const std::string& word : words) {
    for (const CLI::App* sub : here->get_subcommands([](const CLI::App*) { return true; })) {
      if (sub->get_name() == word) {
        text += " " + word;
        here = sub;
        break;
      }
    }
  }
  return text + " --help";
}

/// 130, as a shell expects of a command that was interrupted; the controller goes on with what it was told.
extern "C" void interrupted(int) { _Exit(kInterrupted); }

int run(int argc, char** argv) {
  std::signal(SIGINT, interrupted);
  CommandLine line;
  CLI::App app;
  build_tree(app, line);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto own_end = std::ranges::find(words, "--");  // behind it another program's words begin
  set_speech(std::find(words.begin(), own_end, "--json") != own_end ? Speech::json : Speech::sentences);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);
    }
    return give_up(blame_word(app, words).value_or(Error{ErrorCode::invalid_argument, error.what(), {}}), help_of(app, words));
  }
  if (!line.command) {
    std::fputs(app.help().c_str(), stdout);
    return kDone;
  }
  const auto timeout = parse_duration(line.timeout, "--timeout");
  if (!timeout) {
    return give_up(timeout.error(), "loom --timeout 10s ...");
  }
  line.globals.timeout = *timeout;
  line.globals.has_own_timeout = app.count("--timeout") > 0;
  if (line.colour != "auto") {
    setenv(line.colour == "always" ? "CLICOLOR_FORCE" : "NO_COLOR", "1", 1);
  }
  if (line.colour == "always") {
    unsetenv("NO_COLOR");
  }
  return line.command();
}

/// What was printed must have left as well, or a command that did all else has failed.
int run_and_print(int argc, char** argv) {
  const int code = run(argc, argv);
  if (const auto printed = finish_printing(stdout); !printed) {
    complain(printed.error().code, printed.error().message);
    return code == kDone ? exit_code_of(printed.error().code) : code;
  }
  return code;
}

}  // namespace
}  // namespace loom::cli

int main(int argc, char** argv) { return loom::cli::run_and_print(argc, argv); }
