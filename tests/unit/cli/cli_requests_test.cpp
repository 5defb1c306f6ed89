// SPDX-License-Identifier: Apache-2.0
// The tree of commands, completion in a real shell, setpoints and schedules as people write them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/completion.hpp"
#include "cli/nouns/device_words.hpp"
#include "cli/nouns/rows.hpp"
#include "cli/nouns/schedule_file.hpp"
#include "cli/tree.hpp"

namespace loom::cli {
namespace {

namespace fs = std::filesystem;

/// A file that is gone again at the end of the test.
struct Draft {
  Draft(const std::string& name, const std::string& text) : path(fs::temp_directory_path() / name) {
    std::ofstream(path) << text;
  }
  ~Draft() { fs::remove(path); }
  fs::path path;
};

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    text += line;
  }
  pclose(pipe);
  return text;
}

/// What bash offers for these words, the last one being typed.
std::string completions(const fs::path& script, const std::string& words, int current) {
  return output_of("bash --norc -c 'source " + script.string() + "; COMP_WORDS=(" + words +
                   "); COMP_CWORD=" + std::to_string(current) + "; _loom; echo \"${COMPREPLY[@]}\"'");
}

DeviceReport laser() {
  DeviceReport row;
  row.name = "laser-1";
  row.role = DeviceRole::transmitter;
  row.desired = TransmitterSetpoint{{0, 8}, Dbm{0}, false};
  return row;
}

}  // namespace

TEST_CASE("every command of the operator's reference is in the tree") {
  CLI::App app;
  CommandLine line;
  build_tree(app, line);
  for (const auto& [noun, verb] : std::vector<std::pair<std::string, std::string>>{{"node", "drain"},
                                                                                   {"node", "undrain"},
                                                                                   {"node", "maintenance"},
                                                                                   {"device", "set"},
                                                                                   {"device", "reset"},
                                                                                   {"alarm", "list"},
                                                                                   {"alarm", "ack"},
                                                                                   {"circuit", "explain"},
                                                                                   {"schedule", "diff"},
                                                                                   {"schedule", "apply"},
                                                                                   {"schedule", "confirm"},
                                                                                   {"schedule", "rollback"}}) {
    CHECK_NOTHROW(app.get_subcommand(noun)->get_subcommand(verb));
  }
}

TEST_CASE("a command line becomes an order") {
  CLI::App app;
  CommandLine line;
  build_tree(app, line);
  std::vector<const char*> words{"loom", "node", "maintenance", "7", "on", "--wait", "--json"};
  app.parse(static_cast<int>(words.size()), words.data());
  const CLI::App& verb = *app.get_subcommand("node")->get_subcommand("maintenance");
  CHECK(verb.get_option("NODE")->as<std::uint32_t>() == 7);
  CHECK(verb.get_option("ON_OR_OFF")->as<std::string>() == "on");
  CHECK(verb.get_option("--wait")->count() == 1);
  CHECK(verb.get_option("--force")->count() == 0);
  CHECK(line.globals.json);
  CHECK(line.command);
}

TEST_CASE("bash completes nouns, verbs and flags from the tree") {
  CLI::App app;
  CommandLine line;
  build_tree(app, line);
  const auto script = completion_script(app, "bash");
  REQUIRE(script);
  const Draft file("loom_completion_test.bash", *script);
  CHECK(completions(file.path, "loom no", 1) == "node\n");
  CHECK(completions(file.path, "loom --json node dr", 3) == "drain\n");
  CHECK(completions(file.path, "loom schedule \"\"", 2) == "show history stages diff apply confirm rollback\n");
  CHECK(completions(file.path, "loom node drain 7 --dr", 4) == "--dry-run\n");
  CHECK(completions(file.path, "loom schedule apply --mo", 3) == "--mode\n");
}

TEST_CASE("bash asks for names of the lab, and for what there is, where a word is one") {
  CLI::App app;
  CommandLine line;
  build_tree(app, line);
  const auto script = completion_script(app, "bash");
  REQUIRE(script);
  // A loom that says what it was asked.
  const Draft file("loom_completion_names_test.bash", *script + "loom() { echo \"node-1 $*\"; }\n");
  CHECK(completions(file.path, "loom node show node", 3) == "node-1 nodes\n");
  CHECK(completions(file.path, "loom --state run/x job cancel run", 5) == "run/x\n");
  CHECK(completions(file.path, "loom predict --fabric fab", 3) == "fabrics\n");
  CHECK(completions(file.path, "loom node drain --dr", 3) == "--dry-run\n");
}

TEST_CASE("words to complete with are quick and silent where no lab runs") {
  Globals nowhere;
  nowhere.state_dir = "/nonexistent/state";
  CHECK(completion_words(nowhere, "nodes").empty());
  CHECK(completion_words(nowhere, "no such kind").empty());
  const auto workloads = completion_words(nowhere, "workloads");
  CHECK(std::ranges::find(workloads, "vgg19") != workloads.end());
  const auto scenarios = completion_words(nowhere, "scenarios");
  CHECK(std::ranges::find(scenarios, "configs/scenarios/first_light.yaml") != scenarios.end());
}

TEST_CASE("zsh and fish have a script, other shells a refusal") {
  CLI::App app;
  CommandLine line;
  build_tree(app, line);
  CHECK(completion_script(app, "zsh")->starts_with("#compdef loom"));
  CHECK(completion_script(app, "fish")->find("-l dry-run") != std::string::npos);
  CHECK(completion_script(app, "tcsh").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("one word of device set changes one thing of the setpoint") {
  const auto set = setpoint_of(laser(), {"frequency=193.2THz"});
  REQUIRE(set);
  CHECK(std::get<TransmitterSetpoint>(set->setpoint) == TransmitterSetpoint{{16, 8}, Dbm{0}, false});
  CHECK(std::get<TransmitterSetpoint>(setpoint_of(laser(), {"emit=on", "power=-1.5 dBm"})->setpoint) ==
        TransmitterSetpoint{{0, 8}, Dbm{-150}, true});
  DeviceReport bank = laser();
  bank.role = DeviceRole::filter;
  bank.desired = FilterSetpoint{{{0, Frequency{193'000'000}}}};
  const auto heated = setpoint_of(bank, {"ring.2=193.05THz", "ring.0=off"});
  REQUIRE(heated);
  CHECK(std::get<FilterSetpoint>(heated->setpoint) == FilterSetpoint{{{2, Frequency{193'050'000}}}});
  CHECK(heated->heaters.empty());
  const auto volts = setpoint_of(bank, {"volts.3=2.5V", "volts.0=1V", "volts.0=1200mV"});
  REQUIRE(volts);
  CHECK(std::get<FilterSetpoint>(volts->setpoint) == FilterSetpoint{});
  CHECK(volts->heaters == std::vector<HeaterByHand>{{3, 2'500}, {0, 1'200}});
  for (const char* word : {"volts.0=-1V", "volts.0=2000V", "volts.0=3mA", "volts=3V", "volts.x=3V"}) {
    CAPTURE(word);
    CHECK(setpoint_of(bank, {word}).error().code == ErrorCode::invalid_argument);
  }
  DeviceReport wss = laser();
  wss.desired = WavelengthSwitchSetpoint{};
  CHECK(std::get<WavelengthSwitchSetpoint>(setpoint_of(wss, {"route=-16/8:0-3"})->setpoint).routes ==
        std::vector{WssRoute{{-16, 8}, 0, 3, Db{0}}});
  DeviceReport ocs = laser();
  ocs.desired = CircuitSwitchSetpoint{};
  CHECK(std::get<CircuitSwitchSetpoint>(setpoint_of(ocs, {"connect=2-5"})->setpoint).connects ==
        std::vector{CrossConnect{2, 5}});
}

TEST_CASE("a wrong word of device set is refused with what is accepted") {
  for (const char* word : {"frequency=193.2", "frequency=193.201THz", "frequency=500THz", "frequency=1THz", "power=3",
                           "emit=maybe", "colour=red", "emit", "=on"}) {
    CAPTURE(word);
    const auto set = setpoint_of(laser(), {word});
    REQUIRE_FALSE(set);
    CHECK(set.error().code == ErrorCode::invalid_argument);
    CHECK(set.error().next_command.starts_with("loom "));
  }
  CHECK(setpoint_of(laser(), {"frequency=500THz"}).error().message.find("90.70000 THz to 295.50000 THz") != std::string::npos);
  CHECK_FALSE(setpoint_of(laser(), {}));
}

TEST_CASE("what schedule show prints as JSON can be read as a schedule") {
  CircuitReport row;
  row.circuit.id = CircuitId{4};
  row.circuit.job = JobId{2};
  row.circuit.source = NodeId{3};
  row.circuit.destination = NodeId{5};
  row.circuit.transmitter = ElementId{10};
  row.circuit.receiver = ElementId{20};
  row.circuit.slot = {-272, 8};
  row.timeslot = 1;
  row.state = "CONNECTED";
  const Draft file("loom_schedule_test.json", json_of(std::vector{row}).dump(2));
  const auto read = read_schedule(file.path);
  for (const ConfigError& error : read.errors) {
    UNSCOPED_INFO(to_string(error));
  }
  REQUIRE(read);
  const ScheduledCircuit expected{JobId{2}, NodeId{3}, NodeId{5}, {-272, 8}, 1, ElementId{10}, ElementId{20}};
  CHECK(*read.value == std::vector{expected});
}

TEST_CASE("a schedule file with a wrong key is refused with its line and the nearest key") {
  const Draft file("loom_schedule_test.yaml", "circuits:\n  - {job: 1, source: 0, destinaton: 1, slot_n: 0, slot_m: 8}\n");
  const auto read = read_schedule(file.path);
  REQUIRE_FALSE(read);
  bool is_named = false;
  for (const ConfigError& error : read.errors) {
    is_named = is_named || (error.line == 2 && error.message.find("destination") != std::string::npos);
  }
  CHECK(is_named);
}

TEST_CASE("a change is printed with its moves and circuits") {
  ChangeReport change;
  change.moves.push_back({JobId{1}, NodeId{17}, NodeId{30}});
  CircuitChange row;
  row.circuit.id = CircuitId{9};
  change.changes.push_back(row);
  const std::string text = text_of(change);
  CHECK(text.find("job 1: node 17 -> node 30") != std::string::npos);
  CHECK(text.find("added") != std::string::npos);
  CHECK(json_of(change)["moves"][0]["to"] == 30);
}

TEST_CASE("a dry run says how long its light would be dark, and what that rests on") {
  ChangeReport change;
  CHECK(darkness_of(change).empty());
  change.slowest = "wss-3";
  change.slowest_time = std::chrono::milliseconds{100};
  change.dark_predicted = change.slowest_time;
  CHECK(darkness_of(change) == "dark for 100 ms at least: wss-3 needs 100 ms by itself\n");
  change.dark_predicted = std::chrono::milliseconds{140};
  CHECK(darkness_of(change) == "dark for some 140 ms, inferred from earlier commits; wss-3 needs 100 ms by itself\n");
}

}  // namespace loom::cli
