// loom: the operator's tool. Noun, then verb; data on stdout, words on stderr; exit codes as --help says.
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "cli/render/term.hpp"
#include "cli/tree.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

/// `loom staus`: the word that nobody knows, and the nearest one that somebody does. False: every word is known.
bool blame_word(const CLI::App& app, const std::vector<std::string>& words) {
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
      return false;
    }
    if (next == nullptr) {
      complain(format_text("'{}' is no command of {}", word, path));
      if (const std::string near = nearest(word, known); !near.empty()) {
        print_note(format_text("  did you mean: {} {}", path, near));
      }
      return true;
    }
    path += " " + word;
    here = next;
  }
  return false;
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);
    }
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (!blame_word(app, words)) {
      complain(error.what());
    }
    print_note("  try: " + help_of(app, words));
    return kUsage;
  }
  const auto timeout = parse_duration(line.timeout);
  if (!timeout) {
    return give_up(timeout.error());
  }
  line.globals.timeout = *timeout;
  if (line.colour != "auto") {
    setenv(line.colour == "always" ? "CLICOLOR_FORCE" : "NO_COLOR", "1", 1);
  }
  if (line.colour == "always") {
    unsetenv("NO_COLOR");
  }
  return line.command();
}

}  // namespace
}  // namespace loom::cli

int main(int argc, char** argv) { return loom::cli::run(argc, argv); }
