// SPDX-License-Identifier: Apache-2.0
// Scenario files: what they set, what is refused, and the jobs that churn stands for.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "controller/architectures/registry.hpp"
#include "core/config/endpoints/bus_lines.hpp"
#include "core/config/scenario/scenario_file.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A folder of its own with a fabric file in it, gone afterwards.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "lightloom_scenario_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    write("fabric.yaml",
          "schema_version: 1\nkind: fabric\ntemplate: oddl\nparameters: {nodes: 8, group_size: 4, channels: 8}\n");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

 private:
  fs::path path_;
};

std::string scenario(std::string_view rest, std::string_view mode = "sim") {
  return "schema_version: 1\nkind: scenario\nname: s\nmode: " + std::string(mode) + "\nfabric: fabric.yaml\n" +
         std::string(rest);
}

Loaded<Scenario> read(std::string_view text) {
  const Folder folder;
  return load_scenario(folder.write("s.yaml", text), all_fabric_kinds());
}

std::string errors_of(std::string_view text) {
  std::string all;
  const auto loaded = read(text);
  CHECK(loaded.value.has_value() == loaded.errors.empty());
  for (const ConfigError& error : loaded.errors) {
    all += fs::path(error.file).filename().string() + ":" + std::to_string(error.line) + ": " + error.message + "\n";
  }
  return all;
}

TEST_CASE("relays_share_agent_processes") {
  const Folder folder;
  const auto load = [&](const std::string& keys) {
    return load_scenario(folder.write("s.yaml", scenario("jobs: []\n" + keys)), all_fabric_kinds());
  };
  const auto loaded = load("agents: {processes: 4}\nrelays: [\"tcp://127.0.0.1:*\", \"tcp://10.0.0.2:7620\"]\n");
  REQUIRE(loaded);
  const Scenario& s = *loaded.value;
  CHECK(s.agents.relays == std::vector<std::string>{"tcp://127.0.0.1:*", "tcp://10.0.0.2:7620"});
  CHECK(relay_of_process(s, 0) == 0);
  CHECK(relay_of_process(s, 3) == 1);
  const auto nodes = static_cast<std::uint32_t>(s.fabric->nodes.size());
  std::uint32_t covered = 0;
  for (const std::uint32_t relay : {0U, 1U}) {
    for (const NodeSpan& span : spans_of_relay(s, relay)) {
      covered += span.end - span.first;
    }
  }
  CHECK(covered == nodes);
  const auto refusal = [&](const std::string& keys) {
    const auto refused = load(keys);
    return refused ? std::string{} : to_string(refused.errors.front());
  };
  CHECK_THAT(refusal("agents: {processes: 1}\nrelays: [\"tcp://127.0.0.1:*\", \"tcp://127.0.0.1:*\"]\n"),
             Catch::Matchers::Contains("relays: found 2 for 1 agent processes"));
  CHECK_THAT(refusal("relays: [10.0.0.2]\n"), Catch::Matchers::Contains("relays: found '10.0.0.2'"));
  CHECK_FALSE(relay_of_process(*load("").value, 0).has_value());
}

TEST_CASE("a_scenario_says_what_its_file_says") {
  const Folder folder;
  folder.write("trace.json", "{}");
  const auto loaded = load_scenario(folder.write("s.yaml", scenario(R"(seed: 9
duration: 3 s
algorithm: oddl
agents: {processes: 2}
controller: {debounce: 2 ms, retry_interval: 20 ms, stage_deadline: 1 s, lead_margin: 3 ms, clock_error: 5 us, beat_interval: 40 ms, suspect_after: 120 ms, dead_after: 250 ms, report_interval: 2 s, late_attempts: 5, attend_lease: 4 s, quiesce_deadline: 9 s, plan_steps: 12345, plan_deadline: 2500 ms}
jobs:
  - {name: a, workload: vgg19, nodes: 4, settings: {batch: 32, overlap: none}, at: 1 s, runs_for: 500 ms}
  - {name: b, workload: ./trace.json, nodes: 8, after: a, iterations: 3}
churn: {revisions: 5, job_nodes: [2, 4], live_jobs: 1, workload: dlrm, settings: {x: 1}, start: 10 ms, period: 100 ms}
network: {delay_min: 1 ms, delay_max: 2 ms, loss: 0.02, duplicate: 0.01, reorder: 0.5, until: 2 s}
device_faults:
  - {at: 2 s, device: heater-3, kind: late, delay: 7 ms, lasts: 1 s}
  - {at: 1 s, device: laser-5, kind: laser-detuned, offset: -12.5 GHz}
)")),
                                    all_fabric_kinds());
  REQUIRE(loaded);
  const Scenario& s = *loaded.value;
  CHECK(s.seed == 9);
  CHECK(s.duration == seconds{3});
  CHECK(s.agents.processes == 2);
  ControllerTimings timings{
      milliseconds{2},  milliseconds{20},  seconds{1},        milliseconds{3}, std::chrono::microseconds{5},
      milliseconds{40}, milliseconds{120}, milliseconds{250}, seconds{2}};
  timings.late_attempts = 5;
  timings.attend_lease = seconds{4};
  timings.quiesce_deadline = seconds{9};
  timings.plan_steps = 12345;
  timings.plan_deadline = milliseconds{2'500};
  CHECK(s.controller == timings);
  REQUIRE(s.jobs.size() == 2);
  CHECK(s.jobs[0] ==
        JobSubmission{"a", "vgg19", 4, {{"batch", "32"}, {"overlap", "none"}}, seconds{1}, "", milliseconds{500}, 0});
  CHECK(fs::exists(s.jobs[1].workload));
  CHECK(s.jobs[1].after == "a");
  CHECK(s.jobs[1].iterations == 3);
  CHECK(s.churn == Churn{5, {2, 4}, 1, "dlrm", {{"x", "1"}}, milliseconds{10}, milliseconds{100}});
  CHECK(s.network == NetworkFaults{milliseconds{1}, milliseconds{2}, 0.02, 0.01, 0.5, seconds{2}});
  REQUIRE(s.device_faults.size() == 2);
  CHECK(s.device_faults[0].kind == DeviceFaultKind::detune);
  CHECK(s.device_faults[0].offset == FrequencyOffset{-12'500});
  CHECK(s.fabric->device(s.device_faults[0].device).name == "laser-5");
  CHECK(s.device_faults[0].lasts == kForever);
  CHECK(s.device_faults[1].delay == milliseconds{7});
  CHECK(s.fabric->nodes.size() == 8);
}

TEST_CASE("a_scenario_says_what_it_expects_and_what_an_operator_does") {
  const auto loaded = read(scenario(R"(modes: [soft, sim]
expect: {dark_at_most: 2 s}
jobs:
  - {name: a, workload: vgg19, nodes: 4, expect: {state: refused, why: no free path, dark: {from: 10 s, to: 30 s}}}
  - {name: b, workload: vgg19, nodes: 4, iterations: 9, expect: {iterations: 3, dark: [{from: 1 s, to: 2 s}, {from: 5 s}]}}
actions:
  - {at: 6 s, lasers: off}
  - {at: 5 s, drain: 7, force: true}
  - {at: 5 s, undrain: node-3}
  - {at: 7 s, lasers: rearm}
  - {at: 8 s, maintain: 2, refused: not heard}
  - {at: 9 s, release: 2}
  - {at: 10 s, resize: a, nodes: 6}
  - {at: 11 s, cancel: b}
)"));
  REQUIRE(loaded);
  const Scenario& s = *loaded.value;
  CHECK(s.modes == std::vector{Mode::soft, Mode::sim});
  REQUIRE(s.expect);
  CHECK(s.expect->dark_at_most == seconds{2});
  REQUIRE(s.jobs[0].expect);
  CHECK(*s.jobs[0].expect == JobExpectation{"refused", "no free path", {{seconds{10}, seconds{30}}}, {}, {}});
  CHECK(*s.jobs[1].expect == JobExpectation{"", "", {{seconds{1}, seconds{2}}, {seconds{5}, kForever}}, {}, 3});
  std::vector<std::string> verbs;
  for (const ScenarioAction& action : s.actions) {
    verbs.push_back(to_string(action));
  }
  CHECK(verbs == std::vector<std::string>{"drain node 7", "undrain node 3", "lasers off", "lasers rearm", "maintain node 2",
                                          "release node 2", "resize a to 6 nodes", "cancel b"});
  CHECK(s.actions[0].force);
  CHECK(s.actions[4].refused == "not heard");
}

TEST_CASE("unlawful_expectations_and_actions_are_refused_with_line_and_reason") {
  using Catch::Matchers::Contains;
  const auto of_job = [](const std::string& expect) {
    return errors_of(scenario("jobs: [{name: a, workload: vgg19, nodes: 4, expect: {" + expect + "}}]\n"));
  };
  CHECK_THAT(of_job("dark: {from: 3 s, to: 2 s}"), Contains("s.yaml:6: to: 2 s; expected later than from = 3 s"));
  CHECK_THAT(of_job("dark: {to: 2 s}"), Contains("lacks the key 'from'"));
  CHECK_THAT(of_job("stat: refused"), Contains("unknown key 'stat' in the expectation; did you mean 'state'?"));
  CHECK_THAT(of_job("why: no reason"), Contains("why: expected beside state"));
  CHECK_THAT(of_job(""), Contains("expect: found nothing"));
  const auto of_action = [](const std::string& action) {
    return errors_of(scenario("jobs: [{name: a, workload: vgg19, nodes: 4}]\nactions: [{" + action + "}]\n"));
  };
  CHECK_THAT(of_action("at: 1 s, drain: 8"), Contains("s.yaml:7: drain: found '8'; expected a whole number of 0..7"));
  CHECK_THAT(of_action("at: 1 s, drain: node-9"), Contains("there is no node 'node-9'"));
  CHECK_THAT(of_action("at: 1 s"), Contains("the action has 0 verbs; expected one of: drain"));
  CHECK_THAT(of_action("at: 1 s, drain: 1, undrain: 1"), Contains("the action has 2 verbs"));
  CHECK_THAT(of_action("drain: 1"), Contains("lacks the key 'at'"));
  CHECK_THAT(of_action("at: 1 s, cancel: b"), Contains("there is no job 'b'"));
  CHECK_THAT(of_action("at: 1 s, resize: a"), Contains("lacks the key 'nodes'"));
  CHECK_THAT(of_action("at: 1 s, drain: 1, nodes: 3"), Contains("only resize has a number of nodes"));
  CHECK_THAT(of_action("at: 1 s, lasers: on"), Contains("lasers: found 'on'; expected one of: off, rearm"));
  CHECK_THAT(of_action("at: 1 s, drian: 1"), Contains("did you mean 'drain'?"));
}

TEST_CASE("a_scenario_runs_in_the_modes_that_it_names_and_in_no_other") {
  using Catch::Matchers::Contains;
  const Folder folder;
  const std::string inventory = "inventory: {bus-heater-3: 'modbus-tcp://127.0.0.1:1502'}\n";
  const fs::path mixed = folder.write("mixed.yaml", scenario("modes: [mixed]\n" + inventory, "mixed"));
  const auto refused = load_scenario(mixed, all_fabric_kinds(), Mode::sim);
  REQUIRE(refused.errors.size() == 1);
  CHECK_THAT(refused.errors[0].message, Contains("does not run in mode sim; it runs in: mixed"));
  const fs::path both = folder.write("both.yaml", scenario("modes: [mixed, sim]\n" + inventory, "mixed"));
  const auto simulated = load_scenario(both, all_fabric_kinds(), Mode::sim);
  REQUIRE(simulated);  // everything is simulated, whatever the inventory says
  CHECK(simulated.value->mode == Mode::sim);
  CHECK(std::ranges::all_of(simulated.value->fabric->buses, [](const Bus& bus) { return bus.endpoint == "sim"; }));
  CHECK(load_scenario(folder.write("plain.yaml", scenario(inventory, "mixed")), all_fabric_kinds(),
                      Mode::sim));  // as it always was
  CHECK_THAT(errors_of(scenario("modes: [soft]\n")), Contains("modes: expected mode: sim among them"));
  CHECK_THAT(errors_of(scenario("modes: [sim, smi]\n")), Contains("modes: found 'smi'"));
}

TEST_CASE("only_mixed_and_hard_leave_the_simulation") {
  const std::string inventory = "inventory: {bus-heater-3: 'modbus-tcp://127.0.0.1:1502'}\n";
  const auto endpoint_of = [](const Scenario& s) { return s.fabric->buses[s.inventory.front().bus.value].endpoint; };
  const auto mixed = read(scenario(inventory, "mixed"));
  REQUIRE(mixed);
  CHECK(endpoint_of(*mixed.value) == "modbus-tcp://127.0.0.1:1502");
  CHECK(mixed.value->fabric->buses[mixed.value->inventory.front().bus.value].name == "bus-heater-3");
  for (const char* mode : {"sim", "soft"}) {
    const auto simulated = read(scenario(inventory, mode));
    REQUIRE(simulated);
    CHECK(endpoint_of(*simulated.value) == "sim");
  }
  CHECK_THAT(errors_of(scenario("", "mixed")), Catch::Matchers::Contains("every bus is simulated"));
  CHECK_THAT(errors_of(scenario(inventory, "hard")),
             Catch::Matchers::Contains("19 buses are simulated, the first is 'bus-laser-0'"));
}

TEST_CASE("unlawful_scenarios_are_refused_with_line_and_reason") {
  using Catch::Matchers::Contains;
  CHECK_THAT(errors_of(scenario("", "smi")),
             Contains("s.yaml:4: mode: found 'smi'; expected one of: sim, soft, mixed, hard; did you mean 'sim'?"));
  CHECK_THAT(errors_of(scenario("inventory: {bus-heather-3: sim}\n")),
             Contains("s.yaml:6: there is no bus 'bus-heather-3'; did you mean 'bus-heater-3'?"));
  CHECK_THAT(errors_of(scenario("inventory: {bus-heater-3: 'modbus-tcp://x:0'}\n")), Contains("with a port of 1..65535"));
  CHECK_THAT(errors_of(scenario("jobs: [{name: a, workload: vgg19, nodes: 9}]\n")),
             Contains("nodes: found '9'; expected a whole number of 1..8"));
  CHECK_THAT(errors_of(scenario("jobs: [{name: a, workload: ./none.json, nodes: 8}]\n")), Contains("there is no file"));
  CHECK_THAT(errors_of(scenario("jobs: [{name: a, workload: vgg19, nodes: 8, after: b}]\n")),
             Contains("there is no job 'b' above this one"));
  CHECK_THAT(errors_of(scenario("jobs: [{name: a, workload: vgg19, nodes: 8, after: a}]\n")),
             Contains("there is no job 'a' above this one"));
  CHECK_THAT(errors_of(scenario("jobs: [{name: a, workload: v, nodes: 8}, {name: a, workload: v, nodes: 8}]\n")),
             Contains("the job 'a' exists already"));
  CHECK_THAT(errors_of(scenario("jobs: [{name: a, workload: vgg19, nodes: 8, at: -1 s}]\n")),
             Contains("expected a duration of 0 ns"));
  CHECK_THAT(errors_of(scenario("churn: {revisions: 3, job_nodes: []}\n")), Contains("job_nodes: found no size"));
  CHECK_THAT(errors_of(scenario("churn: {revisions: 3, job_nodes: [9]}\n")), Contains("expected 1..8"));
  CHECK_THAT(errors_of(scenario("churn: {job_nodes: [8]}\n")), Contains("lacks the key 'revisions'"));
  CHECK_THAT(errors_of(scenario("network: {loss: 2}\n")), Contains("expected a number of 0..1"));
  CHECK_THAT(errors_of(scenario("network: {delay_min: 3 ms, delay_max: 2 ms}\n")),
             Contains("expected at most delay_max = 2 ms"));
  CHECK_THAT(errors_of(scenario("controller: {suspect_after: 400 ms}\n")),
             Contains("suspect_after: 400 ms; expected less than dead_after = 300 ms"));
  CHECK_THAT(errors_of(scenario("agents: {processes: 9}\n")), Contains("expected a whole number of 1..8"));
  CHECK_THAT(errors_of(scenario("device_faults: [{at: 1 s, device: laser-9, kind: laser-dead}]\n")),
             Contains("there is no device 'laser-9'; did you mean"));
  CHECK_THAT(errors_of(scenario("device_faults: [{at: 1 s, device: laser-1, kind: laser-detuned}]\n")),
             Contains("lacks the key 'offset'"));
  CHECK_THAT(errors_of(scenario("device_faults: [{at: 1 s, device: laser-1, kind: laser-dead, offset: 3 GHz}]\n")),
             Contains("unknown key 'offset'"));
  CHECK_THAT(errors_of(scenario("device_faults: [{at: 1 s, device: wss-in-0, kind: laser-detuned, offset: 3 GHz}]\n")),
             Contains("'wss-in-0' is a wavelength_switch; expected a device that can have"));
  CHECK_THAT(errors_of(scenario("seed: -1\n")), Contains("seed: found '-1'"));
  CHECK_THAT(errors_of(scenario("duration: 0 s\n")), Contains("duration: found '0 s'"));
}

TEST_CASE("errors_of_the_fabric_file_come_with_its_own_name") {
  const Folder folder;
  folder.write("fabric.yaml", "schema_version: 1\nkind: fabric\ntemplate: oddl\nparameters: {nodes: 9}\n");
  const auto errors = load_scenario(folder.write("s.yaml", scenario("sede: 1\n")), all_fabric_kinds()).errors;
  REQUIRE(errors.size() == 3);
  CHECK(fs::path(errors[0].file).filename() == "fabric.yaml");
  CHECK(errors[0].line == 4);
  CHECK_THAT(errors[1].message, Catch::Matchers::Contains("'fabric.yaml' cannot be used"));
  CHECK_THAT(errors[2].message, Catch::Matchers::Contains("did you mean 'seed'?"));
}

TEST_CASE("words_of_other_rooms_are_checked_at_their_places_where_they_are_known") {
  ScenarioWords words;
  words.algorithms = {"oddl", "topoopt"};
  words.workloads = {"vgg16", "dlrm"};
  words.calibration = {"compute_ms", "fabric.fat-tree.efficiency"};
  words.settings = [](const std::string& workload) {
    return workload == "dlrm" ? std::vector<std::string>{"batch", "map"} : std::vector<std::string>{"batch"};
  };
  words.job = [](const std::string&, std::uint32_t nodes, const std::map<std::string, std::string>& settings) -> Result<void> {
    return settings.contains("batch") && settings.at("batch") == "none" && nodes == 4
               ? Result<void>(fail(ErrorCode::invalid_argument, "batch 'none' is no number"))
               : Result<void>{};
  };
  const Folder folder;
  const auto errors = [&](const std::string& rest) {
    std::string all;
    for (const ConfigError& error : check_config(folder.write("w.yaml", scenario(rest)), all_fabric_kinds(), &words)) {
      all += std::to_string(error.line) + ":" + std::to_string(error.column) + ": " + error.message + "\n";
    }
    return all;
  };
  const std::string job = "jobs:\n  - {name: a, nodes: 4, workload: ";
  CHECK(errors("algorithm: topoopt\n" + job + "dlrm, settings: {batch: 4, map: maps}}\n").empty());
  CHECK(errors("algorithm: topopt\n") == "6:12: algorithm: there is no 'topopt'; did you mean 'topoopt'?\n");
  CHECK(errors(job + "vgg61}\n") == "7:35: workload: there is no 'vgg61'; did you mean 'vgg16'?\n");
  CHECK(errors(job + "gpt9}\n").find("; expected one of vgg16, dlrm") != std::string::npos);
  CHECK(errors(job + "dlrm, settings: {batsh: 4}}\n") ==
        "7:52: settings of dlrm: there is no 'batsh'; did you mean 'batch'?\n");
  CHECK(errors(job + "dlrm, settings: {batch: none}}\n") == "7:51: workload: batch 'none' is no number\n");
  CHECK(errors("churn: {revisions: 4, job_nodes: [2], workload: vgg61}\n").find("did you mean 'vgg16'?") != std::string::npos);
  const auto calibration = check_config(
      folder.write("c.yaml", "schema_version: 1\nkind: calibration\nname: c\nnote: n\nset:\n  fabric.fat-tree.eficiency: 1\n"),
      all_fabric_kinds(), &words);
  REQUIRE(calibration.size() == 1);
  CHECK(calibration.front().line == 6);
  CHECK(calibration.front().message.find("did you mean 'fabric.fat-tree.efficiency'?") != std::string::npos);
  CHECK(read(scenario(job + "vgg61}\n")).errors.empty());  // whoever hands no words over takes any
}

TEST_CASE("an_inventory_gives_a_line_one_protocol_and_a_place_on_it_one_device") {
  const auto inventory = [](std::string_view lines) { return scenario("inventory:\n" + std::string(lines), "mixed"); };
  const std::string heater = "  bus-heater-0: modbus-tcp://10.0.0.1:502\n";
  CHECK(errors_of(inventory(heater + "  bus-wss-out-0: tcp://10.0.0.1:5000\n")).empty());
  CHECK(errors_of(inventory(heater + "  bus-heater-1: tcp://10.0.0.1:502\n")).find("a line speaks one protocol") !=
        std::string::npos);
  CHECK(errors_of(inventory(heater + "  bus-heater-1: modbus-tcp://10.0.0.1:502\n")) ==
        "s.yaml:8: inventory: 'heater-1' has bus_address 1 at modbus-tcp://10.0.0.1:502, as 'heater-0' has; expected a Modbus "
        "unit "
        "for each\n");
  CHECK(errors_of(inventory("  bus-wss-out-0: tcp://localhost:5000\n  bus-wss-in-0: tcp://127.0.0.1:5000\n"))
            .find("the line has no addresses, expected one device on it") != std::string::npos);
  CHECK(errors_of(inventory("  bus-wss-out-0: http://localhost\n  bus-wss-in-0: http://127.0.0.1:80\n"))
            .find("the line has no addresses, expected one device on it") != std::string::npos);
  CHECK(errors_of(inventory("  bus-wss-out-0: http://10.0.0.8\n  bus-wss-in-0: http://10.0.0.9:8080\n"
                            "devices: {wss-out-0: {kind: waveshaper}, wss-in-0: {kind: waveshaper}}\n"))
            .empty());
  const std::string serial = "  bus-laser-0: serial:///dev/ttyUSB0?baud=9600\n";
  CHECK(errors_of(inventory(serial + "  bus-laser-1: serial:///dev/ttyUSB0?baud=9600\n")).empty());  // each on its agent's host
  CHECK(errors_of(inventory(serial + "  bus-heater-0: modbus-rtu:///dev/ttyUSB0?baud=9600\n"))
            .find("a line speaks one protocol") != std::string::npos);
  CHECK(errors_of(inventory(serial + "  bus-heater-0: serial:///dev/ttyUSB0?baud=19200\n")).find("the same parameters") !=
        std::string::npos);
}

/// Modules of the template's lasers at adapters of i2c-dev.
TEST_CASE("an_inventory_gives_an_adapter_one_bus_and_each_module_an_address_of_its_own") {
  const auto inventory = [](std::string_view buses, std::string_view first, std::string_view second) {
    const auto device = [](std::string_view name, std::string_view keys) {
      return "  " + std::string(name) + ": {kind: cmis" + std::string(keys) + "}\n";
    };
    return errors_of(scenario(
        "inventory:\n" + std::string(buses) + "devices:\n" + device("laser-0", first) + device("laser-1", second), "mixed"));
  };
  const std::string two = "  bus-laser-0: i2c:///dev/i2c-11\n  bus-laser-1: i2c:///dev/i2c-12\n";
  CHECK(inventory(two, ", bus_address: 80", ", bus_address: 80").empty());
  CHECK(inventory(two, ", bus_address: 3", ", bus_address: 119").empty());
  CHECK_THAT(
      inventory(two, "", ", bus_address: 80"),
      Catch::Contains("'laser-0' has bus_address 1 at i2c:///dev/i2c-11; expected its I2C address, 3 to 119, and 80 (50h)"));
  CHECK_THAT(inventory(two, ", bus_address: 80", ", bus_address: 120"), Catch::Contains("'laser-1' has bus_address 120"));
  CHECK_THAT(inventory("  bus-laser-0: i2c:///dev/i2c-11\n  bus-heater-0: i2c:///dev/i2c-11\n", ", bus_address: 80", ""),
             Catch::Contains("is the line of bus '") && Catch::Contains("expected one bus for all devices of an I2C adapter"));
  CHECK_THAT(inventory("  bus-laser-0: i2c:///dev/i2c-11\n  bus-heater-0: serial:///dev/i2c-11\n", ", bus_address: 80", ""),
             Catch::Contains("a line speaks one protocol, expected "));
}

TEST_CASE("modules_in_slots_of_one_mainframe_share_its_line") {
  const DeviceModel module{"voa", DeviceRole::gain_stage, "", {}, nullptr, {}, true};
  const DeviceModel alone{"ocs", DeviceRole::circuit_switch, ""};
  const std::array models{&module, &alone};
  Fabric fabric;
  fabric.buses = {{BusId{0}, "mainframe", NodeId{0}, "tcp://10.0.0.1:5025"}};
  for (const std::uint32_t id : {0U, 1U, 2U}) {
    Device device;
    device.id = DeviceId{id};
    device.name = "voa-" + std::to_string(id);
    device.role = DeviceRole::gain_stage;
    device.bus_address = static_cast<std::uint16_t>(id + 1);
    fabric.devices.push_back(std::move(device));
  }
  CHECK(check_lines(fabric, models).empty());
  fabric.devices[2].bus_address = 2;
  auto faults = check_lines(fabric, models);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].message == "'voa-2' has bus_address 2 at tcp://10.0.0.1:5025, as 'voa-1' has; expected a slot for each");
  for (const std::size_t stranger : {0U, 1U, 2U}) {
    for (const std::uint32_t id : {0U, 1U, 2U}) {
      fabric.devices[id].role = id == stranger ? DeviceRole::circuit_switch : DeviceRole::gain_stage;
      fabric.devices[id].bus_address = static_cast<std::uint16_t>(id + 1);
    }
    faults = check_lines(fabric, models);
    REQUIRE(faults.size() == (stranger == 0 ? 2 : 1));  // whoever comes later is told
    CHECK_THAT(faults[0].message, Catch::Contains("the line has no addresses, expected one device on it"));
  }
}

/// Two ways to write one address are one line.
TEST_CASE("an_inventory_knows_a_line_at_an_ipv6_address_however_it_is_written") {
  const auto inventory = [](std::string_view lines) { return scenario("inventory:\n" + std::string(lines), "mixed"); };
  CHECK(errors_of(inventory("  bus-heater-0: 'modbus-tcp://[fd00::7]:502'\n")).empty());
  CHECK(errors_of(inventory("  bus-wss-out-0: 'tcp://[fd00::7]:5000'\n  bus-wss-in-0: 'tcp://[FD00:0::7]:5000'\n"))
            .find("the line has no addresses, expected one device on it") != std::string::npos);
  CHECK(errors_of(inventory("  bus-heater-0: 'modbus-tcp://fd00::7:502'\n"))
            .find("an IPv6 address stands in brackets: [fd00::7]:502") != std::string::npos);
  CHECK(errors_of(inventory("  bus-heater-0: modbus-tcp://10.0.0.300:502\n")).find("is no IPv4 address") != std::string::npos);
}

TEST_CASE("triggers_name_a_line_and_the_devices_of_one_node_that_it_fires") {
  const auto errors = [](std::string_view triggers, std::string_view mode = "sim", std::string_view more = "") {
    return errors_of(
        scenario("devices:\n  laser-0: {kind: table_laser, profile: {trigger: true}}\n"
                 "  laser-1: {kind: table_laser, profile: {trigger: true}}\n" +
                     std::string(more) + "triggers:\n" + std::string(triggers),
                 mode));
  };
  const std::string gpio = "  a: {endpoint: 'gpio:///dev/gpiochip0/17?pulse=10us', devices: [laser-0]}\n";
  CHECK(errors(gpio + "  b: {endpoint: sim, devices: [laser-1]}\n").empty());  // in sim every edge is simulated
  CHECK_THAT(errors("  a: {endpoint: sim, devices: []}\n"), Catch::Contains("trigger 'a' fires no device"));
  CHECK_THAT(errors("  a: {endpoint: 'gpio:///dev/gpiochip0/x', devices: [laser-0]}\n"),
             Catch::Contains("endpoint: found 'gpio:"));
  CHECK_THAT(errors("  a: {endpoint: sim, devices: [laser-9]}\n"), Catch::Contains("laser-9"));
  CHECK_THAT(errors("  a: {endpoint: sim, devices: [laser-2]}\n"), Catch::Contains("which takes no edge"));
  CHECK_THAT(errors("  a: {endpoint: sim, devices: [laser-2]}\n", "sim", "  laser-2: {kind: table_laser}\n"),
             Catch::Contains("is not said to have a trigger; expected profile: {trigger: true}"));
  CHECK_THAT(errors("  a: {endpoint: sim, devices: [laser-0, laser-1]}\n"),
             Catch::Contains("expected a trigger for each node"));
  CHECK_THAT(errors("  a: {endpoint: sim, devices: [laser-0]}\n  b: {endpoint: sim, devices: [laser-0]}\n"),
             Catch::Contains("'laser-0' is fired by 'a' already"));
  CHECK_THAT(errors(gpio + "inventory: {bus-laser-1: 'modbus-tcp://10.0.0.1:502'}\n", "mixed"),
             Catch::Contains("'laser-0' at sim; simulated edges fire simulated devices"));
  CHECK_THAT(
      errors("  a: {endpoint: sim, devices: [laser-1]}\ninventory: {bus-laser-1: 'modbus-tcp://10.0.0.1:502'}\n", "mixed"),
      Catch::Contains("'a' is at sim, and 'laser-1' at modbus-tcp://10.0.0.1:502"));
}

TEST_CASE("check_config_finds_out_what_a_file_is") {
  const Folder folder;
  CHECK(check_config(folder.write("a.yaml", "schema_version: 1\nkind: fabric\ntemplate: oddl\n"), all_fabric_kinds()).empty());
  CHECK(check_config(folder.write("b.yaml", scenario("")), all_fabric_kinds()).empty());
  const auto unknown = check_config(folder.write("c.yaml", "kind: fabrik\n"), all_fabric_kinds());
  REQUIRE(unknown.size() == 1);
  CHECK_THAT(unknown[0].message, Catch::Matchers::Contains("did you mean 'fabric'?"));
  CHECK(check_config(folder.write("d.yaml", "name: x\n"), all_fabric_kinds()).size() == 1);
  CHECK(check_config("no/such/file.yaml", all_fabric_kinds()).size() == 1);
}

Scenario churning(std::uint32_t revisions, std::uint32_t live_jobs) {
  Scenario s;
  s.churn.revisions = revisions;
  s.churn.live_jobs = live_jobs;
  s.churn.job_nodes = {2, 4, 8};
  s.churn.start = seconds{1};
  s.churn.period = milliseconds{100};
  return s;
}

TEST_CASE("churn_makes_one_change_a_period_and_no_more_jobs_than_it_may") {
  for (const std::uint32_t live_jobs : {1u, 2u, 3u, 7u}) {
    for (const std::uint32_t revisions : {1u, 2u, 5u, 6u, 200u}) {
      CAPTURE(live_jobs, revisions);
      const Scenario s = churning(revisions, live_jobs);
      std::map<Duration, int> changes;
      for (const JobSubmission& job : submissions_of(s)) {
        changes[job.at] += 1;
        if (job.runs_for != kForever) {
          changes[job.at + job.runs_for] -= 1;
        }
      }
      CHECK(changes.size() == revisions);
      std::uint32_t live = 0;
      Duration expected = s.churn.start;
      for (const auto& [at, change] : changes) {
        CHECK(at == expected);
        expected += s.churn.period;
        live += static_cast<std::uint32_t>(change);
        CHECK(live <= live_jobs);
      }
    }
  }
}

TEST_CASE("churn_takes_its_sizes_in_turn_and_joins_the_written_jobs_by_time") {
  Scenario s = churning(6, 4);
  s.jobs.push_back({"written", "vgg19", 8, {}, milliseconds{1'150}, "", kForever, 0});
  std::vector<std::string> names;
  std::vector<std::uint32_t> sizes;
  for (const JobSubmission& job : submissions_of(s)) {
    names.push_back(job.name);
    sizes.push_back(job.nodes);
  }
  CHECK(names == std::vector<std::string>{"churn-0", "churn-1", "written", "churn-2", "churn-3", "churn-4"});
  CHECK(sizes == std::vector<std::uint32_t>{2, 4, 8, 8, 2, 4});
}

}  // namespace
}  // namespace loom
