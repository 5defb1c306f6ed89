// SPDX-License-Identifier: Apache-2.0
// Who has to be quiet, and who is away.
#include "controller/control/commit/start_conditions.hpp"

#include <algorithm>
#include <iterator>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

bool has_circuit_of(const std::vector<Circuit>& circuits, JobId job, const std::vector<CircuitId>& touched) {
  return std::any_of(circuits.begin(), circuits.end(), [&](const Circuit& circuit) {
    return circuit.job == job && std::binary_search(touched.begin(), touched.end(), circuit.id);
  });
}

}  // namespace

Revision StartConditions::quiesce_of(JobId job, const FabricCommit* commit) const {
  const JobState state = parts_.jobs.at(job).state;
  if (!parts_.confirmed.exists() || state == JobState::ended || state == JobState::refused) {
    return {};
  }
  const std::vector<Circuit>& lit = parts_.confirmed.plan().circuits;
  if (commit != nullptr && has_circuit_of(lit, job, commit->plan().plan.touched)) {
    return commit->revision();
  }
  const auto is_uncertain = [&](const Circuit& circuit) {
    const auto device = parts_.facts.fabric->device_of_element[circuit.transmitter.value];
    return circuit.job == job && device && parts_.returns.uncertain().has_device(*device);
  };
  return std::any_of(lit.begin(), lit.end(), is_uncertain) ? parts_.numbers.next() : Revision{};
}

bool StartConditions::await_quiet(const FabricCommit& commit, Instant until, EffectSink& sink) const {
  const ControllerFacts& facts = parts_.facts;
  for (const auto& [id, record] : parts_.jobs.records()) {
    const Revision wanted = facts.now < record.attended_until ? quiesce_of(id, &commit) : Revision{};
    if (record.quiet_for >= wanted) {
      continue;
    }
    if (facts.now < until) {
      return true;
    }
    const auto waited = static_cast<std::uint64_t>(facts.timings.quiesce_deadline / std::chrono::milliseconds{1});
    parts_.alarms.raise({AlarmCode::job_not_quiet,
                         {},
                         {},
                         format_text("job {} ({}) was not quiet for revision {} within {} ms; its light goes dark under it",
                                     id.value, parts_.jobs.facts_of(id).name, wanted.value, waited),
                         format_text("loom job show {}", id.value)},
                        facts.now, sink);
  }
  return false;
}

std::optional<JobId> StartConditions::unquiet_job(const FabricCommit& commit) const {
  for (const auto& [id, record] : parts_.jobs.records()) {
    if (parts_.facts.now < record.attended_until && record.quiet_for < quiesce_of(id, &commit)) {
      return id;
    }
  }
  return std::nullopt;
}

std::vector<NodeId> StartConditions::absent_agents(const FabricCommit& commit) const {
  std::vector<NodeId> absent;
  std::ranges::copy_if(commit.plan().plan.changed, std::back_inserter(absent),
                       [&](NodeId node) { return !parts_.sessions.is_ready(node); });
  return absent;
}

}  // namespace loom
