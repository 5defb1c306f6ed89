// SPDX-License-Identifier: Apache-2.0
// A lab for tests: real processes in a state folder of their own, worked by `loom` as an operator would, and judged by the
// light logs that they leave behind. Everything ends with it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "runtime/clock.hpp"
#include "sim_backend/judge/light_log.hpp"

namespace loom::test {

struct Finished {
  int code = -1;
  std::string output;
  std::string words;  ///< of stderr
};

/// The first of `count` TCP ports that nobody listens on: below those that the system gives out, and apart from those of a
/// test that runs beside this one.
inline int free_ports(int count) {
  constexpr int kFirst = 20'000;
  constexpr int kBlock = 16;
  constexpr int kBlocks = 750;
  const auto is_free = [](int port) {
    const int probe = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(port));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const bool bound = bind(probe, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
    close(probe);
    return bound;
  };
  REQUIRE(count <= kBlock);
  for (int tried = 0; tried < kBlocks; ++tried) {
    const int first = kFirst + (getpid() + tried) % kBlocks * kBlock;
    int free = 0;
    while (free < count && is_free(first + free)) {
      ++free;
    }
    if (free == count) {
      return first;
    }
  }
  FAIL("no " << count << " neighbouring ports are free");
  return 0;
}

/// What the light logs of a lab tell of the order of things.
struct LightOrder {
  int moves = 0;             ///< of switches: from rest to moving
  int relights = 0;          ///< of lasers: from dark to lit
  int lit_while_moving = 0;  ///< instants at which any laser was lit while any switch moved
};

/// One state folder a test, so that tests may run beside each other.
class Lab {
 public:
  Lab() : state_(std::filesystem::temp_directory_path() / ("loom-lab-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(state_);
  }
  ~Lab() {
    run("lab down");
    std::error_code ignored;
    std::filesystem::remove_all(state_, ignored);
    for (const char* beside : {".yaml", ".fabric.yaml"}) {
      std::filesystem::remove(state_.string() + beside, ignored);
    }
  }

  Finished run(const std::string& arguments) const { return run_in(state_, arguments); }
  static Finished run_in(const std::filesystem::path& state, const std::string& arguments) {
    static std::atomic<int> runs{0};  // several may run at once
    const std::string words = state.string() + "." + std::to_string(++runs) + ".words";
    const std::string command = std::string(LOOM_PROGRAM) + " --state " + state.string() + " " + arguments + " 2>" + words;
    Finished finished;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) {
      return finished;
    }
    std::array<char, 4096> part{};
    while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe)) {
      finished.output.append(part.data(), read);
    }
    const int status = pclose(pipe);
    finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::ifstream file(words);
    finished.words.assign(std::istreambuf_iterator<char>(file), {});
    std::filesystem::remove(words);
    return finished;
  }

  const std::filesystem::path& state() const { return state_; }
  /// What the command answers with --json, which must succeed.
  nlohmann::json ask(const std::string& arguments) const {
    const Finished finished = run("--json " + arguments);
    INFO("loom " << arguments << ": " << finished.output << finished.words);
    REQUIRE(finished.code == 0);
    return nlohmann::json::parse(finished.output);
  }
  /// Ground truth of the named processes until now, in time's order.
  std::vector<OpticalChange> light(const std::vector<std::string>& logs) const {
    const Instant until = monotonic_now();  // what one log says of later, another that was read before does not
    std::vector<OpticalChange> changes;
    for (const std::string& log : logs) {
      await_whole(log);
      const auto part = read_light_log((state_ / (log + ".light")).string());
      REQUIRE(part.has_value());
      changes.insert(changes.end(), part->begin(), part->end());
    }
    std::erase_if(changes, [&](const OpticalChange& change) { return change.at > until; });
    std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    return changes;
  }
  std::filesystem::path tape() const { return state_ / "controller.tape"; }
  LightOrder light_order(const std::vector<std::string>& logs) const {
    LightOrder order;
    std::set<std::uint32_t> lit;
    std::set<std::uint32_t> moving;
    for (const OpticalChange& change : light(logs)) {
      const std::uint32_t device = change.device.value;
      if (const auto* laser = std::get_if<LaserLight>(&change.state)) {
        order.relights += laser->emitting && !lit.contains(device) ? 1 : 0;
        laser->emitting ? static_cast<void>(lit.insert(device)) : static_cast<void>(lit.erase(device));
      } else if (const auto* wss = std::get_if<WssLight>(&change.state)) {
        order.moves += !wss->moving.empty() && !moving.contains(device) ? 1 : 0;
        wss->moving.empty() ? static_cast<void>(moving.erase(device)) : static_cast<void>(moving.insert(device));
      }
      order.lit_while_moving += !lit.empty() && !moving.empty() ? 1 : 0;
    }
    return order;
  }

  /// The lab's processes by name, as its manifest has them; those of an earlier start have ended.
  std::map<std::string, int> pids() const {
    std::map<std::string, int> pids;
    std::ifstream file(state_ / "lab.json");
    const auto manifest = nlohmann::json::parse(file, nullptr, false);
    if (manifest.is_object()) {
      for (const auto& process : manifest["processes"]) {
        pids[process["name"]] = process["pid"];
      }
    }
    return pids;
  }
  /// Neither gone nor a zombie that nobody has buried.
  static bool is_alive(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string number;
    std::string name;
    std::string state;
    file >> number >> name >> state;
    return !state.empty() && state != "Z" && state != "X";
  }

  /// Processes that gather their changes are given time to write them; one that was killed has said its last.
  void await_whole(const std::string& process) const {
    const std::string path = (state_ / (process + ".light")).string();
    const Instant now = monotonic_now();
    const auto all = pids();
    const int pid = all.contains(process) ? all.at(process) : 0;
    while (pid > 1 && std::filesystem::exists(path + ".whole") && light_log_whole_through(path) < now && is_alive(pid) &&
           monotonic_now() - now < std::chrono::seconds{5}) {
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
  }

  /// Eight nodes in two groups, as configs/fabrics/oddl_8.yaml. Commands to lasers are given 200 ms: timeslots are real time,
  /// and whatever else a host builds and tests must not make them dark.
  std::string write_scenario(const std::string& lines, const std::string& fabric_lines = {}) const {
    const std::string fabric = state_.string() + ".fabric.yaml";
    std::ofstream(fabric) << "schema_version: 1\nkind: fabric\nname: oddl-8\ntemplate: oddl\n"
                             "parameters: {nodes: 8, group_size: 4, channels: 8, laser_control_max: 200ms}\n"
                          << fabric_lines;
    return write_scenario_on(fabric, lines);
  }
  std::string write_scenario_on(const std::string& fabric, const std::string& lines) const {
    const std::string path = state_.string() + ".yaml";
    std::ofstream(path) << "schema_version: 1\nkind: scenario\nname: small\nfabric: " << fabric << "\nagents: {processes: 2}\n"
                        << lines;
    return path;
  }

 private:
  std::filesystem::path state_;
};

}  // namespace loom::test
