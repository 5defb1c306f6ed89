// SPDX-License-Identifier: Apache-2.0
// Killing and starting processes at their times.
#include "cli/lab/run/faults.hpp"

#include <algorithm>

#include "cli/lab/emulators.hpp"
#include "cli/lab/start.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"
#include "runtime/clock.hpp"
#include "sim_backend/judge/fault_excuse.hpp"

namespace loom::cli {
namespace {

std::string fault_in_a_lab(const Scenario& scenario, const MachineFault& fault) {
  const std::string kind(to_string(fault.kind));
  if (fault.kind != MachineFaultKind::crash) {
    return format_text("machine_faults: {} is done to simulated networks and disks; it works in mode sim (loom sim run)", kind);
  }
  if (!fault.node) {
    return {};
  }
  const std::vector<NodeId> nodes = nodes_of_process(scenario, process_of_node(scenario, *fault.node));
  if (nodes.size() == 1) {
    return {};
  }
  return format_text(
      "machine_faults: crash of node {}: its process hosts nodes {} to {}, which would die too; it works in mode sim (loom "
      "sim "
      "run), or with agents: {{processes: {}}}",
      fault.node->value, nodes.front().value, nodes.back().value, scenario.fabric->nodes.size());
}

void kill_process(const LabRecord& lab, const std::string& name) { (void)stop_processes(lab.started->named(name), 0); }

}  // namespace

std::vector<std::string> not_in_a_lab(const Scenario& scenario) {
  std::vector<std::string> sentences;
  if (scenario.network != NetworkFaults{}) {
    sentences.push_back(
        "network: delays, losses and doubled messages are those of a simulated network; it works in mode sim "
        "(loom sim run)");
  }
  for (const ScenarioFault& fault : scenario.device_faults) {
    const Device& device = scenario.fabric->device(fault.device);
    const std::string& endpoint = scenario.fabric->buses[device.bus.value].endpoint;
    if (endpoint != "sim" && !is_emulated(*scenario.fabric, device)) {
      sentences.push_back(
          format_text("device_faults: {} is at {}, and only simulated and emulated devices fail on order; it "
                      "works in modes sim and soft",
                      device.name, endpoint));
    }
  }
  for (const MachineFault& fault : scenario.machine_faults) {
    if (std::string sentence = fault_in_a_lab(scenario, fault); !sentence.empty()) {
      sentences.push_back(std::move(sentence));
    }
  }
  return sentences;
}

LabFaults::LabFaults(LabRecord& lab, LabHistory& history) : lab_(lab), history_(history) {
  for (const MachineFault& fault : lab.scenario.machine_faults) {
    due_.push_back({Instant{fault.at}, fault, false});
    due_.push_back({Instant{fault.at + fault.lasts}, fault, true});
    history.note_fault({Instant{fault.at}, Instant{fault.at + fault.lasts}, text_of(fault)});
  }
  for (const ScenarioFault& fault : lab.scenario.device_faults) {
    const Instant end = fault.lasts == kForever ? kNever : Instant{fault.at + fault.lasts};
    history.note_fault({Instant{fault.at}, end, text_of(fault, *lab.scenario.fabric)});
  }
  std::ranges::stable_sort(due_, {}, &Due::at);
}

Result<void> LabFaults::act(Instant now) {
  for (; next_ < due_.size() && due_[next_].at <= now; ++next_) {
    const Due& due = due_[next_];
    LOOM_TRY(due.is_end ? end(due.fault) : begin(due.fault));
  }
  return {};
}

Result<void> LabFaults::begin(const MachineFault& fault) {
  if (!fault.node) {
    if (lab_.controller_pid != 0) {
      lab_.controller_pid = 0;
      kill_process(lab_, "lightloomd");
      print_note("  killed the controller");
    }
    return {};
  }
  const std::uint32_t process = process_of_node(lab_.scenario, *fault.node);
  if (lab_.agent_pids[process] != 0) {
    lab_.agent_pids[process] = 0;
    kill_process(lab_, format_text("agents-{}", process));
    history_.note_death(process, monotonic_now());
    print_note(format_text("  killed the agent of node {}, and its simulated devices with it", fault.node->value));
  }
  return {};
}

Result<void> LabFaults::end(const MachineFault& fault) {
  if (!fault.node) {
    return lab_.controller_pid == 0 ? start_controller(lab_) : Result<void>{};
  }
  const std::uint32_t process = process_of_node(lab_.scenario, *fault.node);
  return lab_.agent_pids[process] == 0 ? start_agent_process(lab_, process) : Result<void>{};
}

}  // namespace loom::cli
