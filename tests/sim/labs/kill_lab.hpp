// SPDX-License-Identifier: Apache-2.0
// A lab whose processes a test kills, restarts and replaces: the controller at a fixed address, agents in two processes, and
// the light of two jobs of four nodes, "kept" on the lower nodes and "probe" on the upper ones.
#pragma once

#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/lab/folder.hpp"
#include "cli/lab/processes.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "sim_backend/light/light_model.hpp"
#include "tests/sim/labs/lab.hpp"

namespace loom::test {

inline constexpr auto kPatience = std::chrono::seconds{30};
inline constexpr std::uint32_t kJobNodes = 4;
inline Instant now() { return monotonic_now(); }

/// Other processes owe nobody an event, so they are asked, until they are as wanted or everybody's patience is at its end.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return true;
}

using Ends = std::pair<std::uint32_t, std::uint32_t>;  ///< source, destination

inline std::set<Ends> lit_at(const LightTimeline& light, Instant at, bool of_kept) {
  std::set<Ends> circuits;
  for (const LitWindow& window : light) {
    if ((window.source.value < kJobNodes) == of_kept && window.begin <= at && window.end > at) {
      circuits.emplace(window.source.value, window.destination.value);
    }
  }
  return circuits;
}

/// Two agent processes over a soft lab of eight nodes; the controller is started by the test, at the address of its first
/// incarnation.
class KillLab {
 public:
  explicit KillLab(const std::string& lines = "mode: soft\n", const std::string& fabric_lines = {})
      : scenario_(lab_.write_scenario(lines, fabric_lines)) {
    const auto loaded = load_scenario(scenario_, all_fabric_kinds());
    REQUIRE(loaded);
    fabric_ = loaded.value->fabric;
    const Finished up = lab_.run("lab up " + scenario_);
    INFO(up.words);
    REQUIRE(up.code == 0);
    std::ifstream(lab_.state() / "controller.address") >> address_;
    REQUIRE(!address_.empty());
  }

  const Lab& lab() const { return lab_; }

  int start_controller(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command{LOOM_CONTROLLER, "--scenario", scenario_, "--state", lab_.state(), "--listen", address_};
    command.insert(command.end(), more.begin(), more.end());
    return start({"lightloomd", command});
  }
  int start_agents(std::uint32_t process) const {
    const std::string number = std::to_string(process);
    return start({"agents-" + number, {LOOM_AGENT, "--scenario", scenario_, "--process", number, "--state", lab_.state()}});
  }
  int pid_of(const std::string& name) const {
    const auto pids = lab_.pids();
    REQUIRE(pids.contains(name));
    return pids.at(name);
  }
  /// A clean end: the address goes last.
  void stop_controller() const {
    REQUIRE(kill(pid_of("lightloomd"), SIGTERM) == 0);
    REQUIRE(comes_true([&] { return !std::filesystem::exists(lab_.state() / "controller.address"); }));
    REQUIRE(comes_true([&] { return !is_alive(pid_of("lightloomd")); }));
  }
  static bool is_alive(int pid) { return cli::is_running(pid); }
  std::string words_of(const std::string& process) const {
    std::stringstream text;
    text << std::ifstream(lab_.state() / (process + ".log")).rdbuf();
    return text.str();
  }

  const std::string& scenario() const { return scenario_; }
  const std::string& address() const { return address_; }
  /// Of the agents' simulated devices, and of emulated ones that left logs of their own.
  LightTimeline light(const std::vector<std::string>& emulated = {}) const {
    std::vector<std::string> logs{"agents-0", "agents-1"};
    logs.insert(logs.end(), emulated.begin(), emulated.end());
    return timeline_of(fabric_, lab_.light(logs));
  }
  /// Every window of the kept job's light so far: equal to an earlier answer, it was not dark for an instant.
  LightTimeline kept_light() const {
    LightTimeline windows = light();
    std::erase_if(windows, [](const LitWindow& window) { return window.source.value >= kJobNodes; });
    return windows;
  }
  std::map<std::string, std::string> job_states() const {
    const Finished listed = lab_.run("--json job list");
    std::map<std::string, std::string> states;
    if (listed.code == 0) {
      const auto object = nlohmann::json::parse(listed.output);
      for (const auto& job : object["jobs"]) {
        states[job["name"]] = job["state"];
      }
    }
    return states;
  }
  bool is_lit(const std::string& name) const {
    const auto states = job_states();
    const auto found = states.find(name);
    return found != states.end() && found->second == "lit";
  }
  int live_agents() const {
    const Finished status = lab_.run("--json status");
    return status.code == 0 ? nlohmann::json::parse(status.output)["agents"]["live"].get<int>() : 0;
  }
  Finished submit(const std::string& name, const std::string& more = "") const {
    return lab_.run("--json job submit vgg19 --nodes " + std::to_string(kJobNodes) + " --name " + name + more);
  }
  void cancel(const std::string& name) const {
    const auto listed = lab_.ask("job list");
    for (const auto& job : listed["jobs"]) {
      if (job["name"] == name) {
        REQUIRE(lab_.run("job cancel --wait " + std::to_string(job["job"].get<std::uint64_t>())).code == 0);
      }
    }
  }

 private:
  /// As a lab's own, so that `loom lab down` ends it.
  int start(const cli::ProcessSpec& order) const {
    auto folder = cli::LabFolder::look(lab_.state());
    REQUIRE(folder);
    REQUIRE(folder->take("a test"));
    const auto process = cli::start_process(lab_.state(), order, cli::Lifetime::ours, [&](const cli::LabProcess& started) {
      cli::LabManifest manifest = *folder->manifest();
      manifest.note(started);
      return folder->save(std::move(manifest));
    });
    REQUIRE(process);
    return process->pid;
  }

  Lab lab_;
  std::string scenario_;
  std::string address_;
  std::shared_ptr<const Fabric> fabric_;
};

}  // namespace loom::test
