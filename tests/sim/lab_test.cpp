// The real thing, small: lightloomd, two agent processes and an emulated heater bank over ZeroMQ with CURVE and Modbus/TCP,
// taken from submission to replay by `loom lab run`, as ./dev run does with 1024 nodes.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "proto/codec.hpp"
#include "proto/tape.hpp"
#include "runtime/tape_file.hpp"
#include "sim_backend/light_log.hpp"

namespace {

namespace fs = std::filesystem;

struct Finished {
  int code = -1;
  std::string output;
};

/// What the light logs of a lab tell of the order of things.
struct LightOrder {
  int moves = 0;             ///< of switches: from rest to moving
  int relights = 0;          ///< of lasers: from dark to lit
  int lit_while_moving = 0;  ///< instants at which any laser was lit while any switch moved
};

/// One state folder a test, so that tests may run beside each other.
class Lab {
 public:
  Lab() : state_(fs::temp_directory_path() / ("loom-lab-" + std::to_string(getpid()))) { fs::create_directories(state_); }
  ~Lab() {
    run("lab down");
    std::error_code ignored;
    fs::remove_all(state_, ignored);
  }

  Finished run(const std::string& arguments) const {
    const std::string command = std::string(LOOM_PROGRAM) + " --state " + state_.string() + " " + arguments + " 2>/dev/null";
    Finished finished;
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> part{};
    while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe)) {
      finished.output.append(part.data(), read);
    }
    const int status = pclose(pipe);
    finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return finished;
  }

  fs::path tape() const { return state_ / "controller.tape"; }
  LightOrder light_order(const std::vector<std::string>& logs) const {
    std::vector<loom::OpticalChange> changes;
    for (const std::string& log : logs) {
      const auto part = loom::read_light_log((state_ / (log + ".light")).string());
      REQUIRE(part.has_value());
      changes.insert(changes.end(), part->begin(), part->end());
    }
    std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    LightOrder order;
    std::set<std::uint32_t> lit;
    std::set<std::uint32_t> moving;
    for (const loom::OpticalChange& change : changes) {
      const std::uint32_t device = change.device.value;
      if (const auto* laser = std::get_if<loom::LaserLight>(&change.state)) {
        order.relights += laser->emitting && !lit.contains(device) ? 1 : 0;
        laser->emitting ? static_cast<void>(lit.insert(device)) : static_cast<void>(lit.erase(device));
      } else if (const auto* wss = std::get_if<loom::WssLight>(&change.state)) {
        order.moves += !wss->moving.empty() && !moving.contains(device) ? 1 : 0;
        wss->moving.empty() ? static_cast<void>(moving.erase(device)) : static_cast<void>(moving.insert(device));
      }
      order.lit_while_moving += !lit.empty() && !moving.empty() ? 1 : 0;
    }
    return order;
  }

  std::string write_scenario(const std::string& lines) const {
    const fs::path path = fs::path(state_.string() + ".yaml");
    std::ofstream(path) << "schema_version: 1\nkind: scenario\nname: small\nfabric: "
                        << fs::absolute("configs/fabrics/oddl_8.yaml").string() << "\nagents: {processes: 2}\n"
                        << lines;
    return path.string();
  }

 private:
  fs::path state_;
};

}  // namespace

TEST_CASE("a small soft lab brings a ring and an all-to-all into light and replays both") {
  const Lab lab;
  const std::string scenario = lab.write_scenario(
      "mode: soft\njobs:\n"
      "  - {name: ring, workload: vgg19, nodes: 8, iterations: 1}\n"
      "  - {name: shuffle, workload: dlrm, nodes: 8, after: ring, iterations: 1}\n");
  const Finished finished = lab.run("--json lab run " + scenario);
  REQUIRE(finished.code == 0);
  const auto object = nlohmann::json::parse(finished.output);
  CHECK(object["api_version"] == 1);
  REQUIRE(object["jobs"].size() == 2);
  const auto& ring = object["jobs"][0];
  CHECK(ring["replayed"]["iteration_ms"].get<double>() == Approx(ring["predicted"]["iteration_ms"].get<double>()));
  for (const auto& job : object["jobs"]) {
    for (const auto& revision : job["revisions"]) {
      CHECK(revision["outcome"] == "committed");
    }
  }
  CHECK(object["jobs"][1]["revisions"].size() == 3);  // two maps, then the gradients' ring
  CHECK(object["jobs"][1]["replayed"]["dark_ms"].get<double>() > 0);
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
  auto writer = loom::TapeWriter::open(shorter);
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
  const int port = 20'000 + getpid() % 20'000;
  const std::string scenario =
      lab.write_scenario("mode: mixed\ninventory:\n  bus-heater-5: modbus-tcp://127.0.0.1:" + std::to_string(port) +
                         "\njobs:\n  - {name: ring, workload: vgg19, nodes: 8, iterations: 1}\n");
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
  const int port = 20'000 + getpid() % 20'000;
  const auto at = [&](int offset) { return "127.0.0.1:" + std::to_string(port + offset) + "\n"; };
  const std::string scenario = lab.write_scenario(
      "mode: mixed\ninventory:\n  bus-wss-out-0: tcp://" + at(1) + "  bus-wss-in-0: tcp://" + at(2) +
      "  bus-wss-out-1: tcp://" + at(3) + "  bus-wss-in-1: tcp://" + at(4) + "  bus-heater-2: modbus-tcp://" + at(5) +
      "jobs:\n  - {name: ring, workload: vgg19, nodes: 8, iterations: 1}\n"
      "  - {name: shuffle, workload: dlrm, nodes: 8, after: ring, iterations: 1}\n");
  const Finished finished = lab.run("--json lab run " + scenario);
  REQUIRE(finished.code == 0);
  const auto object = nlohmann::json::parse(finished.output);
  CHECK(object["jobs"][0]["replayed"]["dark_ms"] == 0.0);
  for (const auto& job : object["jobs"]) {
    for (const auto& revision : job["revisions"]) {
      CHECK(revision["outcome"] == "committed");
    }
  }
  const LightOrder order = lab.light_order({"agents-0", "agents-1", "wss-out-0", "wss-in-0", "wss-out-1", "wss-in-1"});
  CHECK(order.moves >= 12);  // four switches in each of three commits at least
  CHECK(order.lit_while_moving == 0);
  CHECK(order.relights >= 8 * 3);  // every laser comes back after each
}

TEST_CASE("an operator's mistakes end in the exit code of their kind") {
  const Lab lab;
  CHECK(lab.run("status").code == 5);
  CHECK(lab.run("staus").code == 2);
  CHECK(lab.run("predict --workload vgg9 --fabric oddl --nodes 4").code == 2);
  CHECK(lab.run("config check /nonexistent.yaml").code == 1);
  CHECK(lab.run("--help").code == 0);
}
