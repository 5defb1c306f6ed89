// SPDX-License-Identifier: Apache-2.0
// What a controller's restart costs after churn. `journal_restart churn SCENARIO SECONDS FILE` plays that much churn in virtual
// time and writes the controller's rows into a journal FILE; `journal_restart start SCENARIO FILE` starts a controller on it,
// as lightloomd does, and prints time and memory.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "controller/architectures/registry.hpp"
#include "controller/control/controller.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "proto/codec.hpp"
#include "runtime/host.hpp"
#include "runtime/journal/sqlite_store.hpp"
#include "runtime/loop.hpp"
#include "sim_backend/simulation.hpp"
#include "sim_backend/world/world.hpp"

namespace {

using namespace loom;

/// "VmHWM:   123456 kB" of this process, in MB.
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      return std::strtod(line.c_str() + std::strlen("VmHWM:"), nullptr) / 1024;
    }
  }
  return 0;
}

int churn(Scenario scenario, Duration length, const std::string& file) {
  scenario.churn.revisions = static_cast<std::uint32_t>(length / scenario.churn.period);
  scenario.duration = scenario.churn.start + length + std::chrono::seconds{9};
  scenario.network.until = scenario.churn.start + length + std::chrono::seconds{2};
  auto jobs = script_of(scenario);
  if (!jobs) {
    std::fprintf(stderr, "%s\n", jobs.error().message.c_str());
    return 1;
  }
  WorldOptions options;
  options.seed = scenario.seed;
  World world(scenario, std::move(*jobs), options);
  if (!world.start()) {
    return 1;
  }
  world.run_until(Instant{scenario.duration});
  auto journal = JournalFile::open({.path = file});
  if (!journal) {
    std::fprintf(stderr, "%s\n", journal.error().message.c_str());
    return 1;
  }
  std::size_t rows = 0;
  std::size_t bytes = 0;
  for (const std::string& row : world.disk(controller_peer()).image().rows) {
    const JournalFile::Row one{"controller", row};
    if (const auto written = journal->append({&one, 1}); !written) {
      std::fprintf(stderr, "%s\n", written.error().message.c_str());
      return 1;
    }
    ++rows;
    bytes += row.size();
  }
  std::printf("%llu revisions confirmed, %zu violations; journal: %zu rows, %.1f MB\n",
              static_cast<unsigned long long>(world.confirmed()), world.checker().violations().size(), rows,
              static_cast<double>(bytes) / 1e6);
  return 0;
}

/// Nobody talks to a controller that only starts.
class NoMessages final : public MessageSeam {
 public:
  void on_receive(Receive) override {}
  void on_refuse(Refuse) override {}
  void send(Peer, std::string_view) override {}
};

int start(const Scenario& scenario, const std::string& file) {
  const double before = peak_megabytes();
  auto loop = AsioLoop::open();
  if (!loop) {
    return 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  auto store = SqliteStore::open({.path = file}, (*loop)->poster());
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 1;
  }
  Controller controller(
      {scenario.fabric, scenario.algorithm, scenario.controller, scenario.drift, scenario.adapt, encoded_bytes});
  NoMessages messages;
  HostSeams seams;
  seams.time = loop->get();
  seams.messages = &messages;
  seams.storage = &(*store)->stream("controller");
  Host host({controller_peer(), Role::controller, "controller"}, std::move(seams),
            [&controller](Instant now, const Event& event, EffectSink& sink) { controller.step(now, event, sink); });
  if (const auto started = host.start(1); !started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 1;
  }
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  std::printf("started in %.0f ms; revision %llu; peak memory %.0f MB (%.0f MB before: fabric and program)\n", spent.count(),
              static_cast<unsigned long long>(controller.confirmed().value), peak_megabytes(), before);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const bool is_churn = verb == "churn" && argc == 5;
  if (!is_churn && !(verb == "start" && argc == 4)) {
    std::fprintf(stderr, "usage: journal_restart churn SCENARIO SECONDS FILE | journal_restart start SCENARIO FILE\n");
    return 2;
  }
  const auto scenario = loom::load_scenario(argv[2], all_fabric_kinds());
  if (!scenario) {
    std::fprintf(stderr, "%s\n", to_string(scenario.errors.front()).c_str());
    return 1;
  }
  return is_churn ? churn(*scenario.value, std::chrono::seconds{std::atoi(argv[3])}, argv[4]) : start(*scenario.value, argv[3]);
}
