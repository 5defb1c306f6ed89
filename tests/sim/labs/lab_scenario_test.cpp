// SPDX-License-Identifier: Apache-2.0
// What a scenario says beside its jobs, done with real processes or refused by name: times, orders, faults of devices and of
// machines, expectations.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/labs/lab.hpp"

using namespace loom::test;
using nlohmann::json;

namespace {

json answer_of(const Finished& finished) {
  INFO(finished.output << finished.words);
  auto object = json::parse(finished.output, nullptr, false);
  REQUIRE(object.is_object());
  return object;
}

/// The first time that the job was dark and nobody had planned it.
json first_unplanned(const json& job) {
  for (const auto& time : job["dark"]) {
    if (!time["planned"].get<bool>()) {
      return time;
    }
  }
  return {};
}

}  // namespace

TEST_CASE("a lab refuses by name what only a simulation can do, before it starts anything") {
  const Lab lab;
  const auto refusal_of = [&](const std::string& lines) {
    const Finished finished = lab.run("lab run " + lab.write_scenario("mode: soft\n" + lines));
    CHECK(finished.code != 0);
    CHECK(lab.run("status").code == 5);  // nothing runs
    return finished.words;
  };
  CHECK(refusal_of("network: {loss: 0.1}\n").find("network: ") != std::string::npos);
  CHECK(refusal_of("machine_faults: [{at: 1 s, machine: controller, kind: partition}]\n").find("machine_faults: partition") !=
        std::string::npos);
  CHECK(refusal_of("machine_faults: [{at: 1 s, machine: controller, kind: disk_full}]\n").find("mode sim (loom sim run)") !=
        std::string::npos);
  const std::string crash = refusal_of("machine_faults: [{at: 1 s, machine: node-2, kind: crash}]\n");
  CHECK(crash.find("crash of node 2: its process hosts nodes 0 to 3") != std::string::npos);
  const Finished finished =
      lab.run("lab run " + lab.write_scenario("mode: mixed\ninventory: {bus-heater-5: 'modbus-tcp://192.0.2.5:502'}\n"
                                              "device_faults: [{at: 1 s, device: heater-5, kind: silent}]\n"));
  CHECK(finished.words.find("device_faults: heater-5 is at modbus-tcp://192.0.2.5:502, and only simulated and emulated "
                            "devices fail on order") != std::string::npos);
}

TEST_CASE("an emulator does to its device what the scenario orders, at its time, and the account names it") {
  const Lab lab;
  const int port = free_ports(1);
  const Finished finished = lab.run(
      "--json lab run " +
      lab.write_scenario("mode: mixed\nduration: 8 s\ninventory: {bus-laser-2: 'tcp://127.0.0.1:" + std::to_string(port) +
                         "'}\njobs:\n  - {name: ring, workload: vgg19, nodes: 8, runs_for: 7 s}\n"
                         "device_faults: [{at: 2 s, device: laser-2, kind: reboot, lasts: 200 ms}]\n"));
  const json object = answer_of(finished);
  INFO(object.dump(1));
  const json dark = first_unplanned(object["jobs"][0]);
  REQUIRE(dark.is_object());
  CHECK(dark["from_s"].get<double>() == Approx(2.0).margin(0.5));
  CHECK(dark["why"].get<std::string>().find("laser-2: reboot") != std::string::npos);
  CHECK(object["violations"].empty());
  CHECK(dark["to_s"].get<double>() < 7.0);  // a repair lit it again
  CHECK(object["jobs"][0]["lit_ms"].get<double>() > 0);
}

TEST_CASE("a scenario of mode sim runs in a lab if it says so, and says in which modes it runs otherwise") {
  const Lab lab;
  const Finished refused = lab.run("lab run " + lab.write_scenario("mode: sim\n"));
  CHECK(refused.code != 0);
  CHECK(refused.words.find("runs in: sim") != std::string::npos);
  const Finished ran = lab.run("--json lab run " + lab.write_scenario("mode: sim\nmodes: [sim, soft]\njobs:\n"
                                                                      "  - {name: ring, workload: vgg19, nodes: 4}\n"));
  CHECK(ran.code == 0);
  CHECK(answer_of(ran)["jobs"][0]["iterations"].get<int>() >= 1);
}

TEST_CASE("a lab submits, drains, cancels and switches lasers at the scenario's times") {
  const Lab lab;
  const Finished finished =
      lab.run("--json lab run " + lab.write_scenario("mode: soft\nduration: 9 s\njobs:\n"
                                                     "  - {name: early, workload: vgg19, nodes: 4, runs_for: 2 s}\n"
                                                     "  - {name: late, workload: vgg19, nodes: 4, at: 3 s}\n"
                                                     "actions:\n"
                                                     "  - {at: 4500 ms, drain: 0}\n"
                                                     "  - {at: 6 s, lasers: off}\n"
                                                     "  - {at: 7 s, lasers: rearm}\n"));
  const json object = answer_of(finished);
  INFO(object.dump(1));
  CHECK(finished.code == 0);
  const json& early = object["jobs"][0];
  const json& late = object["jobs"][1];
  CHECK(early["state"] == "ended");
  CHECK(early["ended_s"].get<double>() - early["submitted_s"].get<double>() < 2.5);
  CHECK(late["submitted_s"].get<double>() >= 3.0);
  CHECK(late["lit_ms"].get<double>() > 2'000);
  REQUIRE(object["actions"].size() == 3);
  CHECK(object["actions"][1]["at_s"].get<double>() >= 6.0);
  double off_ms = 0;
  for (const auto& time : late["dark"]) {
    off_ms += time["why"] == "lasers are ordered off" ? 1e3 * (time["to_s"].get<double>() - time["from_s"].get<double>()) : 0;
  }
  CHECK(off_ms > 500);
}

TEST_CASE("a device that fails in a lab darkens its job, with times, and the run says so") {
  const Lab lab;
  const std::string lines =
      "mode: soft\nduration: 8 s\ndevice_faults: [{at: 4 s, device: wss-in-0, kind: wss-dead}]\njobs:\n"
      "  - {name: ring, workload: vgg19, nodes: 4, EXPECT}\n";
  const auto with = [&](const std::string& expect) {
    std::string all = lines;
    return lab.write_scenario(all.replace(all.find(", EXPECT"), 8, expect));
  };
  const Finished finished = lab.run("--json lab run " + with(""));
  const json object = answer_of(finished);
  CHECK(finished.code == 1);
  const json dark = first_unplanned(object["jobs"][0]);
  INFO(object.dump(1));
  REQUIRE(dark.is_object());
  CHECK(dark["from_s"].get<double>() == Approx(4.0).margin(0.5));
  CHECK(dark["why"].get<std::string>().find("wss-in-0: wss-dead") != std::string::npos);
  CHECK(lab.run("lab run " + with(", expect: {dark: {from: 4 s}}")).code == 0);
}

TEST_CASE("a controller that is killed in a lab starts again, and its job's light stays") {
  const Lab lab;
  const Finished finished = lab.run(
      "--json lab run " + lab.write_scenario("mode: soft\nduration: 7 s\n"
                                             "machine_faults: [{at: 3 s, machine: controller, kind: crash, lasts: 500 ms}]\n"
                                             "jobs:\n  - {name: ring, workload: vgg19, nodes: 4}\n"
                                             "  - {name: after, workload: vgg19, nodes: 4, at: 5 s}\n"));
  const json object = answer_of(finished);
  INFO(object.dump(1) << finished.words);
  CHECK(finished.code == 0);
  CHECK(finished.words.find("killed the controller") != std::string::npos);
  CHECK(first_unplanned(object["jobs"][0]).is_null());
  CHECK(object["jobs"][1]["lit_ms"].get<double>() > 0);
}
