// SPDX-License-Identifier: Apache-2.0
// From the tables that docs/reference is made of.
#include "cli/reference/loom_page.hpp"

#include <algorithm>

#include "cli/options.hpp"
#include "cli/reference/help.hpp"

namespace loom::cli {
namespace {

ManSection exit_status() {
  ManSection section{"EXIT STATUS", {}, {}};
  for (const ExitCodeWords& each : exit_codes()) {
    section.entries.emplace_back(std::to_string(static_cast<int>(each.code)), each.meaning);
  }
  section.entries.emplace_back("of loom job run", "that of its command; 128 + n where signal n ended it");
  return section;
}

/// Those that an operator meets; the others are the tests' and a contributor's.
ManSection environment() {
  ManSection section{"ENVIRONMENT", {}, {}};
  for (const EnvironmentWords& each : environment_words()) {
    const bool is_of_tests = each.who.starts_with("tests/") || each.who.find("_test") != std::string_view::npos ||
                             each.who.find("_fuzz") != std::string_view::npos ||
                             each.who.find("./dev") != std::string_view::npos;
    if (!is_of_tests) {
      section.entries.emplace_back(each.name, std::string(each.who) + ": " + std::string(each.meaning));
    }
  }
  return section;
}

}  // namespace

ProgramPage loom_page() {
  ProgramPage page;
  page.name = "loom";
  page.summary = "operate an optical testbed that trains neural networks";
  page.description = {
      "Asks and orders the controller lightloomd(8): which circuits are lit and why, which jobs train on which nodes, what "
      "waits, "
      "what failed and what to type next. Without a controller it predicts how long training takes on a fabric, compares "
      "fabrics, "
      "simulates the whole system with faults, and starts whole labs on one host.",
      "A command is a noun and a verb. Data is on stdout, sentences are on stderr. loom help TOPIC explains what holds for all "
      "commands.",
      "To have light at once, on simulated devices: loom lab run /usr/share/lightloom/scenarios/first_light.yaml"};
  page.sections = {exit_status(),
                   environment(),
                   {"FILES",
                    {},
                    {{"run/lab", "The state folder, unless --state or LIGHTLOOM_STATE names another."},
                     {"/usr/share/lightloom", "Scenarios, fabrics, inventories, models and prices; loom config list."}}}};
  page.see_also = {"lightloomd(8)", "lightloom-agent(8)", "lightloom-emulate(1)"};
  return page;
}

}  // namespace loom::cli
