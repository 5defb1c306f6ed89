// SPDX-License-Identifier: Apache-2.0
// The real thing, small: lightloomd, two agent processes and an emulated heater bank over ZeroMQ with CURVE and Modbus/TCP,
// taken from submission to replay by `loom lab run`, as ./dev run does with 1024 nodes.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "proto/codec.hpp"
#include "proto/tape.hpp"
#include "runtime/journal/tape_file.hpp"
#include "tests/sim/labs/lab.hpp"

namespace fs = std::filesystem;
using namespace loom::test;

/// How many revisions of a job's row reached light. The others may have come too late for an instant, as on a busy host, and
/// were tried again (or repaired, by a revision more); nothing else may keep a revision from light.
static std::size_t committed(const nlohmann::json& job) {
  std::size_t count = 0;
  for (const auto& revision : job["revisions"]) {
    INFO(revision.dump());
    const bool reached = revision["outcome"] == "committed";
    CHECK((reached || revision["reason"].get<std::string>().find("underflow") != std::string::npos));
    count += reached ? 1 : 0;
  }
  return count;
}

TEST_CASE("a small soft lab brings a ring and an all-to-all into light and replays both") {
  const Lab lab;
  const std::string scenario = lab.write_scenario(
      "mode: soft\njobs:\n"
      "  - {name: ring, workload: vgg19, nodes: 8, iterations: 1}\n"
      "  - {name: shuffle, workload: dlrm, nodes: 8, after: ring, iterations: 1, settings: {map: maps}}\n");
  const auto object = lab.ask("lab run " + scenario);
  CHECK(object["api_version"] == 1);
  REQUIRE(object["jobs"].size() == 2);
  const auto& ring = object["jobs"][0];
  CHECK(ring["replayed"]["iteration_ms"].get<double>() == Approx(ring["predicted"]["iteration_ms"].get<double>()));
  INFO(object["jobs"][1]["revisions"].dump(1));
  CHECK(committed(object["jobs"][0]) >= 1);
  CHECK(committed(object["jobs"][1]) >= 3);  // two maps, then the gradients' ring
  CHECK(object["jobs"][1]["replayed"]["dark_ms"].get<double>() > 0);
}

/// Open sockets of a process.
static std::size_t sockets_of(int pid) {
  std::size_t sockets = 0;
  for (const auto& file : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    std::error_code gone;
    sockets += fs::read_symlink(file.path(), gone).string().starts_with("socket:") ? 1 : 0;
  }
  return sockets;
}

/// A process that has just been started connects one agent after the other.
static bool comes_to_have(int pid, std::size_t sockets) {
  for (int tries = 0; tries < 200; ++tries) {
    if (sockets_of(pid) >= sockets) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  return false;
}

TEST_CASE("agents with a connection each join and are lit as those that share one, also when their process starts again") {
  const Lab lab;
  const std::string scenario = lab.write_scenario("mode: soft\n");
  REQUIRE(lab.run("lab up " + scenario).code == 0);
  const std::size_t shared = sockets_of(lab.pids().at("agents-0"));
  REQUIRE(lab.run("lab up " + scenario + " --replace --connections each").code == 0);
  CHECK(comes_to_have(lab.pids().at("agents-0"), shared + 3));  // four agents
  REQUIRE(lab.run("lab restart agents-0").code == 0);
  CHECK(comes_to_have(lab.pids().at("agents-0"), shared + 3));
  CHECK(lab.ask("status")["agents"]["live"] == 8);
  CHECK(lab.run("job submit vgg19 --nodes 8 --wait").code == 0);
  CHECK(lab.run("lab up " + scenario + " --connections some").code == 2);
}

TEST_CASE("agents behind relays are lit, lose a relay without losing light, and are found again through the next one") {
  const Lab lab;
  const std::string scenario = lab.write_scenario("mode: soft\nrelays: [\"tcp://127.0.0.1:*\", \"tcp://127.0.0.1:*\"]\n");
  REQUIRE(lab.run("lab up " + scenario).code == 0);
  CHECK(lab.ask("status")["agents"]["live"] == 8);
  REQUIRE(lab.run("job submit vgg19 --nodes 8 --wait").code == 0);
  const auto rows = [&] {  // of everything that became of the light of both processes
    std::size_t count = 0;
    for (const char* name : {"agents-0.light", "agents-1.light"}) {
      std::ifstream file(lab.state() / name);
      count += static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
    }
    return count;
  };
  const auto live = [&] { return lab.ask("status")["agents"]["live"].get<int>(); };
  const auto state = [&] { return lab.ask("job list")["jobs"][0]["state"].get<std::string>(); };
  const auto becomes = [&](const auto& what, const auto& wanted) {
    for (int tries = 0; tries < 200 && what() != wanted; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    return what() == wanted;
  };
  std::size_t lit = 0;  // a process writes down what its light did when it comes to it
  for (std::size_t before = 1; lit != before;) {
    before = std::exchange(lit, rows());
    std::this_thread::sleep_for(std::chrono::milliseconds{500});
  }
  CHECK(lit > 0);
  REQUIRE(::kill(lab.pids().at("relay-1"), SIGKILL) == 0);
  CHECK(becomes(live, 4));
  CHECK(state() != "dark");  // degraded, as soon as somebody looks whom of it nobody hears
  REQUIRE(lab.run("lab restart relay-1").code == 0);
  CHECK(becomes(live, 8));
  CHECK(becomes(state, "lit"));
  CHECK(rows() == lit);  // agents kept what was confirmed
  CHECK(lab.ask("status")["revision"] == 1);
  REQUIRE(lab.run("job cancel 1 --wait").code == 0);
  CHECK(lab.run("job submit dlrm --nodes 8 --wait").code == 0);
}

TEST_CASE("a lab keeps a job that a later submission changes, while another comes and goes") {
  const Lab lab;
  const std::string scenario =
      lab.write_scenario_on(std::filesystem::absolute("configs/fabrics/topoopt_16.yaml").string(),
                            "mode: soft\njobs:\n"
                            "  - {name: a, workload: vgg19, nodes: 8}\n"
                            "  - {name: beside, workload: bert-base, nodes: 6, at: 2 s, runs_for: 2 s}\n"
                            "  - {name: a-changed, changes: a, workload: dlrm, nodes: 8, at: 5 s}\n");
  const auto object = lab.ask("lab run " + scenario);
  REQUIRE(object["jobs"].size() == 3);
  CHECK(object["jobs"][0]["revisions"][0]["touched"] == 32);
  const auto& changed = object["jobs"][2];
  CHECK(committed(changed) == 1);
  CHECK(changed["revisions"][0]["touched"] < 32);  // the ring that both topologies have stayed lit
  CHECK(changed["replayed"]["iteration_ms"].get<double>() == Approx(changed["predicted"]["iteration_ms"].get<double>()));
}

TEST_CASE("a recorded session decides the same again from its tape, and a tape that lacks a word does not") {
  const Lab lab;
  const std::string path =
      lab.write_scenario("mode: soft\njobs:\n  - {name: ring, workload: vgg19, nodes: 8, iterations: 1}\n");
  REQUIRE(lab.run("lab run --record " + path).code == 0);
  const Finished replayed = lab.run("--json sim replay " + lab.tape().string());
  CHECK(replayed.code == 0);
  const auto object = nlohmann::json::parse(replayed.output);
  CHECK(object["agrees"] == true);
  CHECK(object["lives"] == 1);
  CHECK(object["commits"].get<int>() >= 1);
  CHECK(object["plans"].get<int>() >= 1);

  // The same tape without one agent's answer: some later decision cannot be the recorded one.
  auto reader = loom::TapeReader::open(lab.tape());
  REQUIRE(reader);
  const fs::path shorter = lab.tape().string() + ".short";
  const auto head = loom::decode_tape_entry(reader->next().value());
  REQUIRE(head);
  auto writer = loom::TapeWriter::open({.path = shorter}, std::get<loom::TapeHead>(*head));
  REQUIRE(writer);
  bool dropped = false;
  while (const auto bytes = reader->next()) {
    const auto entry = loom::decode_tape_entry(*bytes);
    REQUIRE(entry);
    const auto* taped = std::get_if<loom::TapedEvent>(&*entry);
    const auto* message = taped == nullptr ? nullptr : std::get_if<loom::MessageArrived>(&taped->event);
    const auto envelope = message == nullptr ? loom::Envelope{} : *loom::decode_envelope(taped->bytes.front());
    if (!dropped && std::holds_alternative<loom::Prepared>(envelope.body)) {
      dropped = true;
      continue;
    }
    writer->write(*bytes);
  }
  REQUIRE(dropped);
  const Finished other = lab.run("--json sim replay " + shorter.string());
  CHECK(other.code == 1);
  CHECK(nlohmann::json::parse(other.output)["divergence"]["kind"] == "message");
}

TEST_CASE("a mixed lab drives one emulated heater bank over Modbus and replays over the voltages that it holds") {
  const Lab lab;
  const int port = free_ports(1);
  const std::string scenario =
      lab.write_scenario("mode: mixed\ninventory:\n  bus-heater-5: modbus-tcp://127.0.0.1:" + std::to_string(port) +
                         "\njobs:\n  - {name: ring, workload: vgg19, nodes: 8}\n");  // it stays, and its bank stays heated
  const Finished finished = lab.run("--json lab run --keep " + scenario);
  REQUIRE(finished.code == 0);
  const auto devices = nlohmann::json::parse(lab.run("--json device list").output);
  int millivolts = 0;
  for (const auto& device : devices["devices"]) {
    if (device["name"] == "heater-5") {
      millivolts = device["reading"]["millivolts"][0];
    }
  }
  CHECK(millivolts > 1'000);
  const auto object = nlohmann::json::parse(finished.output);
  CHECK(object["jobs"][0]["replayed"]["dark_ms"] == 0.0);
}

TEST_CASE("a mixed lab moves emulated switches, heaters and lasers in one commit: blank, move, settled report, relight") {
  const Lab lab;
  const int port = free_ports(6);
  const auto at = [&](int offset) { return "127.0.0.1:" + std::to_string(port + offset) + "\n"; };
  const std::string scenario = lab.write_scenario(
      "mode: mixed\ninventory:\n  bus-wss-out-0: tcp://" + at(1) + "  bus-wss-in-0: tcp://" + at(2) +
      "  bus-wss-out-1: tcp://" + at(3) + "  bus-wss-in-1: tcp://" + at(4) + "  bus-heater-2: modbus-tcp://" + at(5) +
      "jobs:\n  - {name: ring, workload: vgg19, nodes: 8, iterations: 1}\n"
      "  - {name: shuffle, workload: dlrm, nodes: 8, after: ring, iterations: 1, settings: {map: maps}}\n");
  const auto object = lab.ask("lab run " + scenario);
  CHECK(object["jobs"][0]["replayed"]["dark_ms"] == 0.0);
  CHECK(committed(object["jobs"][0]) >= 1);
  CHECK(committed(object["jobs"][1]) >= 3);
  const LightOrder order = lab.light_order({"agents-0", "agents-1", "wss-out-0", "wss-in-0", "wss-out-1", "wss-in-1"});
  CHECK(order.moves >= 12);  // four switches in each of three commits at least
  CHECK(order.lit_while_moving == 0);
  CHECK(order.relights >= 8 * 3);  // every laser comes back after each
}

TEST_CASE("a launcher's command runs in its job's light and is made quiet before a change darkens it") {
  const Lab lab;
  REQUIRE(lab.run("lab up " + lab.write_scenario("mode: soft\n")).code == 0);
  const fs::path notes = lab.state() / "notes";
  const fs::path moved = lab.state() / "moved";
  const auto note = [&](const std::string& word) {
    return "'echo $LIGHTLOOM_NODES > " + moved.string() + "; echo " + word + " $LIGHTLOOM_JOB >> " + notes.string() + "'";
  };
  const std::string wait_for_light =
      "'until grep -qs resumed " + notes.string() + "; do sleep 0.05; done; echo $LIGHTLOOM_NODES'";
  auto launcher = std::async(std::launch::async, [&] {
    return lab.run("--timeout 30s job run vgg19 --ranks 3,node-0,6,1 --name train --on-quiesce " + note("quiet") +
                   " --on-resume " + note("resumed") + " -- sh -c " + wait_for_light);
  });
  const auto is_attended = [&] {
    const auto jobs = nlohmann::json::parse(lab.run("--json job list").output, nullptr, false);
    return jobs.is_object() && !jobs["jobs"].empty() && jobs["jobs"][0]["attended"] == true;
  };
  for (int i = 0; i < 600 && !is_attended(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  const auto env = nlohmann::json::parse(lab.run("--json job env 1").output, nullptr, false);
  const Finished drained = lab.run("--timeout 30s node drain 6 --wait");
  const Finished finished = launcher.get();
  INFO(drained.words << finished.words);
  CHECK(env["ranks"] == nlohmann::json({"node-3", "node-0", "node-6", "node-1"}));
  CHECK(drained.code == 0);
  CHECK(finished.code == 0);
  CHECK(finished.output == "node-3,node-0,node-6,node-1\n");  // where it was started
  std::stringstream reported;
  reported << std::ifstream(notes).rdbuf();
  CHECK(reported.str() == "quiet 1\nresumed 1\n");
  std::stringstream places;
  places << std::ifstream(moved).rdbuf();
  CHECK(places.str().starts_with("node-3,node-0,"));
  CHECK(places.str().ends_with(",node-1\n"));
  CHECK(places.str().find("node-6") == std::string::npos);  // the hook is told where the job is now
  CHECK(lab.ask("job list")["jobs"][0]["state"] == "ended");
}

TEST_CASE("an operator's mistakes end in the exit code of their kind") {
  const Lab lab;
  CHECK(lab.run("status").code == 5);
  CHECK(lab.run("staus").code == 2);
  CHECK(lab.run("predict --workload vgg9 --fabric oddl --nodes 4").code == 2);
  CHECK(lab.run("config check /nonexistent.yaml").code == 1);
  CHECK(lab.run("--help").code == 0);
}

TEST_CASE("a plan ends with its deadline, whatever it is at, and says so") {
  const Lab lab;
  for (const char* order : {"plan vgg19 --nodes 16384 --algorithm topoopt --deadline 100ms",  // a finder that hears nothing
                            "plan vgg19 --nodes 512 --fabric sip-ring --deadline 10ms"}) {    // a pipeline that does
    const Finished late = lab.run(order);
    CHECK(late.code == 124);
    CHECK_THAT(late.words, Catch::Contains("took longer than --deadline"));
    CHECK(late.output.empty());
  }
  CHECK(lab.run("plan vgg19 --nodes 8 --algorithm topoopt --deadline soon").code == 2);
}

TEST_CASE("a lab whose job is refused where it is planned ends and says why") {
  const Lab lab;
  const std::string path = lab.write_scenario(
      "mode: soft\ncontroller: {plan_steps: 1}\njobs:\n  - {name: ring, workload: vgg19, nodes: 8, iterations: 3}\n");
  const Finished refused = lab.run("lab run " + path);
  CHECK(refused.code != 0);
  CHECK_THAT(refused.output + refused.words, Catch::Contains("the budget was 1"));
}
