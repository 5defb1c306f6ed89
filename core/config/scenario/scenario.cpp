// The words of a scenario, and the jobs that its churn stands for.
#include "core/config/scenario/scenario.hpp"

#include <array>
#include <map>

#include "core/result.hpp"
#include "core/text/format_text.hpp"

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

std::string_view to_string(FibreFaultKind) { return "fibre-swap"; }

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

}  // namespace loom
