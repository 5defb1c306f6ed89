// SPDX-License-Identifier: Apache-2.0
// The nouns, in the order of --help.
#include "cli/tree.hpp"
#include "cli/command_line.hpp"

#include <cstdio>
#include <cstdlib>

#include "cli/bundle/bundle.hpp"
#include "cli/calibrate/calibrate.hpp"
#include "cli/catalogue/catalogue.hpp"
#include "cli/completion.hpp"
#include "cli/keys/keys.hpp"
#include "cli/lab/lab.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/offline/offline.hpp"
#include "cli/plan/plan.hpp"
#include "cli/reference/help.hpp"
#include "cli/reference/loom_page.hpp"
#include "cli/render/answer.hpp"
#include "cli/trace.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {

void build_tree(CLI::App& app, CommandLine& line) {
  app.description("Operate an optical testbed that trains neural networks");
  app.name("loom");
  add_program_page(app, loom_page(), format_text("answers (--json) of api version {}", kApiVersion));
  app.require_subcommand(0, 1);  // none: help; and what follows the first is its own, whatever it is called
  app.fallthrough();
  app.add_flag("--json", line.globals.json, "One JSON object with api_version on stdout; errors as JSON on stderr");
  const char* state = std::getenv("LIGHTLOOM_STATE");
  line.globals.state_dir = state == nullptr ? "run/lab" : state;
  app.add_option("--state", line.globals.state_dir, "Folder of keys, journal and address (also LIGHTLOOM_STATE)")
      ->capture_default_str();
  app.add_option("--endpoint", line.globals.endpoint, "Address of the controller, instead of the state folder's");
  app.add_option("--as", line.globals.as, "Whose key of the state folder's keys, instead of the operator's");
  app.add_option("--timeout", line.timeout, "How long to wait, e.g. 250ms, 10s, 2m, 1h")->capture_default_str();
  app.add_option("--color", line.colour, "auto, always or never; auto respects NO_COLOR")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}));
  format_help(app);  // before the commands, which take it over
  for (const auto add : {add_status, add_node,        add_device, add_circuit,    add_job,    add_schedule,  add_trace,
                         add_alarm,  add_audit,       add_lasers, add_lab,        add_keys,   add_backup,    add_predict,
                         add_arena,  add_plan,        add_sim,    add_reproduce,  add_bundle, add_catalogue, add_import,
                         add_config, add_calibration, add_fibre,  add_other_lists}) {
    add(app, line);
  }
  add_help(app, line);
  CLI::App* completion = app.add_subcommand("completion", "Completion for your shell: source <(loom completion bash)");
  struct Wanted {
    std::string shell;
    std::string kind;
  };
  auto& wanted = line.keep<Wanted>();
  completion->add_option("SHELL", wanted.shell, "bash, zsh or fish; words: what these scripts ask")->required();
  completion->add_option("WORDS_OF", wanted.kind,
                         "Of words: nodes, devices, jobs, circuits, alarms, workloads, fabrics, scenarios, ...");
  line.when(*completion, [&app, &wanted](const Globals& globals) -> int {
    if (wanted.shell == "words") {
      for (const std::string& word : completion_words(globals, wanted.kind)) {
        std::printf("%s\n", word.c_str());
      }
      return kDone;
    }
    const auto script = completion_script(app, wanted.shell);
    if (!script) {
      return give_up(script.error());
    }
    std::fputs(script->c_str(), stdout);
    return kDone;
  });
  arrange_help(app);
}

}  // namespace loom::cli
