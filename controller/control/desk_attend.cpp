// Launchers that stand by a job: they are told before its light goes dark, may make it quiet first, and see when it is back.
#include <algorithm>

#include "controller/control/controller.hpp"

namespace loom {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

bool has_circuit_of(const std::vector<Circuit>& circuits, JobId job, const std::vector<CircuitId>& touched) {
  return std::any_of(circuits.begin(), circuits.end(), [&](const Circuit& circuit) {
    return circuit.job == job && std::binary_search(touched.begin(), touched.end(), circuit.id);
  });
}

}  // namespace

/// The revision that darkens light of the job, now or next: a commit that touches its circuits, or the one that will bring back
/// what a failed commit left dark. None for a job that has no light to lose.
Revision Controller::quiesce_of(const JobEntry& entry) const {
  if (confirmed_ == nullptr || entry.state == "ended" || entry.state == "refused") {
    return {};
  }
  const std::vector<Circuit>& lit = confirmed_->plan.circuits;
  if (commit_ != nullptr && has_circuit_of(lit, entry.job, commit_->plan().plan.touched)) {
    return commit_->revision();
  }
  const auto is_in_doubt = [&](const Circuit& circuit) {
    const auto device = options_.fabric->device_of_element[circuit.transmitter.value];
    return circuit.job == entry.job && device && std::binary_search(doubt_.devices.begin(), doubt_.devices.end(), *device);
  };
  return std::any_of(lit.begin(), lit.end(), is_in_doubt) ? next_revision_ : Revision{};
}

/// Is there an attended job that has not been quiet yet for the commit that waits? Nobody is waited for where the light is dark
/// already (a return, a repair), nor for longer than the deadline.
bool Controller::awaits_quiet(Instant now, EffectSink& sink) {
  if (!doubt_.empty() || commit_is_repair_ || intent_.lasers_off) {
    return false;
  }
  for (const auto& [id, entry] : jobs_) {
    const Revision wanted = now < entry.attended_until ? quiesce_of(entry) : Revision{};
    if (entry.quiet_for >= wanted) {
      continue;
    }
    if (now < quiet_wait_until_) {
      return true;
    }
    raise({AlarmCode::job_not_quiet,
           {},
           {},
           "job " + number(id.value) + " (" + entry.name + ") was not quiet for revision " + number(wanted.value) + " within " +
               number(static_cast<std::uint64_t>(options_.timings.quiesce_deadline / std::chrono::milliseconds{1})) +
               " ms; its light goes dark under it",
           "loom job show " + number(id.value)},
          sink);
  }
  return false;
}

void Controller::obey(const Asker& asker, const AttendJob& order, Instant now, EffectSink& sink) {
  const auto found = jobs_.find(order.job);
  if (found == jobs_.end()) {
    return refuse(asker, {ErrorCode::not_found, "job " + number(order.job.value) + " does not exist", "loom job list"}, sink);
  }
  JobEntry& entry = found->second;
  entry.attended_until = now + options_.timings.attend_lease;
  entry.quiet_for = std::max(entry.quiet_for, order.quiet_for);
  OperatorReply answered;
  answered.job = order.job;
  answered.rows = job_rows(Query{Noun::jobs, order.job.value});
  settle(asker, std::move(answered), sink);
  if (commit_waits_) {
    try_begin(now, sink);
  }
}

}  // namespace loom
