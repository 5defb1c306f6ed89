// SPDX-License-Identifier: Apache-2.0
// The words of a scenario, and the jobs that its churn stands for.
#include "core/config/scenario/scenario.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "core/result.hpp"
#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"

namespace loom {
namespace {

/// The first `live_jobs` changes submit; from then on cancelling the oldest and submitting the next alternate.
std::uint64_t change_that_submits(const Churn& churn, std::uint64_t job) {
  return job < churn.live_jobs ? job : churn.live_jobs + 2 * (job - churn.live_jobs) + 1;
}

std::uint64_t change_that_cancels(const Churn& churn, std::uint64_t job) { return churn.live_jobs + 2 * job; }

JobSubmission job_of(const Churn& churn, std::uint64_t job) {
  const std::uint64_t submits = change_that_submits(churn, job);
  const std::uint64_t cancels = change_that_cancels(churn, job);
  JobSubmission submission;
  submission.name = format_text("churn-{}", job);
  submission.workload = churn.workload;
  submission.nodes = churn.job_nodes[job % churn.job_nodes.size()];
  submission.settings = churn.settings;
  submission.at = churn.start + churn.period * static_cast<std::int64_t>(submits);
  if (cancels < churn.revisions) {
    submission.runs_for = churn.period * static_cast<std::int64_t>(cancels - submits);
  }
  return submission;
}

}  // namespace

std::string_view to_string(Mode mode) {
  static constexpr std::array<std::string_view, 4> kWords{"sim", "soft", "mixed", "hard"};
  const auto index = static_cast<std::size_t>(mode);
  return index < kWords.size() ? kWords[index] : "?";
}

std::string_view to_string(MachineFaultKind kind) {
  static constexpr std::array<std::string_view, kMachineFaultKinds> kWords{
      "crash", "partition", "disk_full", "slow", "clock_step", "clock_drift", "takeover", "interlock_open"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kWords.size() ? kWords[index] : "?";
}

std::string_view to_string(ActionKind kind) {
  static constexpr std::array<std::string_view, kActionKinds> kWords{
      "drain", "undrain", "maintain", "release", "cancel", "resize", "lasers", "reset", "darken", "clear", "schedule"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kWords.size() ? kWords[index] : "?";
}

Setpoint dark_setpoint(const Fabric& fabric, DeviceId laser) {
  const auto& transmitter = std::get<Transmitter>(fabric.element(fabric.device(laser).elements.front()).kind);
  return TransmitterSetpoint{transmitter.channels.slot(0), transmitter.launch_power, false};
}

std::string to_string(const ScenarioAction& action) {
  const std::string verb(to_string(action.kind));
  switch (action.kind) {
    case ActionKind::cancel:
      return format_text("{} {}", verb, action.job);
    case ActionKind::resize:
      return format_text("{} {} to {} nodes", verb, action.job, action.nodes);
    case ActionKind::lasers:
      return verb + (action.lasers_on ? " rearm" : " off");
    case ActionKind::reset:
    case ActionKind::darken:
    case ActionKind::clear:
      return format_text("{} device {}", verb, action.device.value);
    case ActionKind::schedule:
      return verb + (action.rolls_back ? " rollback" : " pin");
    default:
      return format_text("{} node {}", verb, action.node.value);
  }
}

std::vector<JobSubmission> submissions_of(const Scenario& scenario) {
  std::multimap<Duration, JobSubmission> by_time;  // equal times stay in the order of insertion
  for (const JobSubmission& job : scenario.jobs) {
    by_time.emplace(job.at, job);
  }
  const Churn& churn = scenario.churn;
  LOOM_ASSERT(churn.revisions == 0 || (!churn.job_nodes.empty() && churn.live_jobs > 0));
  for (std::uint64_t job = 0; churn.revisions > 0 && change_that_submits(churn, job) < churn.revisions; ++job) {
    JobSubmission submission = job_of(churn, job);
    by_time.emplace(submission.at, std::move(submission));
  }
  std::vector<JobSubmission> submissions;
  for (auto& [at, submission] : by_time) {
    submissions.push_back(std::move(submission));
  }
  return submissions;
}

// --- hosts ---------------------------------------------------------------------------------------------------------------

namespace {

/// All of loopback is one address.
std::string place_of(const std::string& host) { return is_loopback(host) ? "localhost" : host; }

}  // namespace

std::vector<NodeSpan> spans_of_process(const Scenario& scenario, std::uint32_t process) {
  LOOM_ASSERT(process < scenario.agents.processes);
  if (!scenario.agents.hosts.empty()) {
    return scenario.agents.hosts[process].nodes;
  }
  const std::uint64_t nodes = scenario.fabric->nodes.size();
  const std::uint64_t processes = scenario.agents.processes;
  // Node i belongs to process i * processes / nodes, so process p begins at the first i with i * processes >= p * nodes.
  const auto first_of = [&](std::uint64_t p) { return static_cast<std::uint32_t>((p * nodes + processes - 1) / processes); };
  return {{first_of(process), first_of(process + 1ULL)}};
}

std::vector<NodeId> nodes_of_process(const Scenario& scenario, std::uint32_t process) {
  std::vector<NodeId> nodes;
  for (const NodeSpan& span : spans_of_process(scenario, process)) {
    for (std::uint32_t node = span.first; node < span.end; ++node) {
      nodes.push_back(NodeId{node});
    }
  }
  return nodes;
}

std::optional<std::uint32_t> relay_of_process(const Scenario& scenario, std::uint32_t process) {
  const auto relays = static_cast<std::uint32_t>(scenario.agents.relays.size());
  return relays == 0 ? std::nullopt : std::optional(process % relays);
}

std::vector<NodeSpan> spans_of_relay(const Scenario& scenario, std::uint32_t relay) {
  std::vector<NodeSpan> spans;
  for (std::uint32_t process = 0; process < scenario.agents.processes; ++process) {
    if (relay_of_process(scenario, process) == relay) {
      const std::vector<NodeSpan> more = spans_of_process(scenario, process);
      spans.insert(spans.end(), more.begin(), more.end());
    }
  }
  std::ranges::sort(spans, {}, &NodeSpan::first);
  return spans;
}

std::uint32_t process_of_node(const Scenario& scenario, NodeId node) {
  for (std::uint32_t process = 0; process < scenario.agents.processes; ++process) {
    for (const NodeSpan& span : spans_of_process(scenario, process)) {
      if (span.contains(node)) {
        return process;
      }
    }
  }
  LOOM_ASSERT(false && "every node is in a process");
}

bool is_on_several_hosts(const Scenario& scenario) {
  std::set<std::string> places;
  for (const ScenarioHost& host : scenario.agents.hosts) {
    places.insert(place_of(host.address));
  }
  if (!places.empty()) {
    const auto controller = parse_tcp_endpoint(scenario.controller_endpoint);
    places.insert(place_of(controller ? controller->host : std::string{}));
  }
  return places.size() > 1;
}

Result<std::uint32_t> process_of_host(const Scenario& scenario, std::string_view host) {
  std::string known;
  for (std::uint32_t process = 0; process < scenario.agents.hosts.size(); ++process) {
    if (scenario.agents.hosts[process].name == host) {
      return process;
    }
    known += (known.empty() ? "" : ", ") + scenario.agents.hosts[process].name;
  }
  return fail(ErrorCode::not_found, format_text("the scenario has no host '{}'; {}", host,
                                                known.empty() ? "it has no hosts at all (key hosts)" : "it has: " + known));
}

}  // namespace loom
