// SPDX-License-Identifier: Apache-2.0
// All circuits of a job, and the worst of them.
#include "controller/control/watch/light_watch.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kUnused = ~std::size_t{0};

/// A fabric of a thousand nodes has 32,000 circuits: measured no more often than this, however much is read.
constexpr int kBeatsBetween = 4;

}  // namespace

const LightPaths& LightWatch::paths() const {
  if (followed_ != confirmed_.present()) {
    followed_ = confirmed_.present();
    paths_ = std::make_shared<const LightPaths>(facts_.fabric, confirmed_.base());
    circuits_.clear();
    through_.clear();
    const auto& circuits = followed_->plan.circuits;
    for (std::size_t i = 0; i < circuits.size(); ++i) {
      circuits_[circuits[i].job].push_back(i);
    }
    circuit_of_transmitter_.clear();
    for (std::size_t i = 0; has_monitors_ && i < circuits.size(); ++i) {
      const auto watched = [&](const Sighting& each) { return !paths_->sighted_at(each.receiver).empty(); };
      if (std::ranges::any_of(paths_->sightings(i), watched)) {
        circuit_of_transmitter_.emplace(circuits[i].transmitter, i);
      }
    }
  }
  return *paths_;
}

AgentLight LightWatch::light_of(NodeId node) const {
  const AgentSession& session = sessions_[node];
  if (!session.is_present()) {
    return AgentLight::away;
  }
  return session.is_latched_off()       ? AgentLight::latched
         : desired_.intent().lasers_off ? AgentLight::darkening
                                        : AgentLight::present;
}

LightWatch::Sight LightWatch::sight() const {
  Sight sight;
  for (const Node& node : facts_.fabric->nodes) {
    sight.agents.push_back(light_of(node.id));
  }
  for (const auto& [id, record] : jobs_.records()) {
    if (record.is_stage_played) {
      sight.played.push_back(id);
    }
  }
  for (const NodeId node : under_way_ == nullptr ? std::vector<NodeId>{} : under_way_->plan.changed) {
    for (const DevicePlan& device : under_way_->plan.nodes[node.value].devices) {
      if (device.touched) {
        sight.ordered.push_back(device.device);
      }
    }
  }
  std::sort(sight.ordered.begin(), sight.ordered.end());
  sight.readings.now = facts_.now;
  sight.readings.devices = sessions_.readings().observations();
  sight.readings.proven_at = sessions_.readings().light_since();
  sight.readings.agents = sight.agents;
  sight.readings.played = sight.played;
  sight.readings.ordered = sight.ordered;
  gather_received(sight);
  sight.readings.received = sight.received;
  sight.readings.limits.stale_after = facts_.timings.stale_after;
  return sight;
}

void LightWatch::measure(JobId job, const Sight& sight) {
  if (desired_.intent().lasers_off) {
    return jobs_.measured(job, LightState::dark, "the lasers are ordered off: loom lasers rearm");
  }
  if (confirmed_.intent().lasers_off) {
    return jobs_.measured(job, LightState::dark, "the lasers were off when its revision was confirmed; its light comes next");
  }
  for (const LeftOut& each : confirmed_.present()->left_out) {
    if (each.job == job) {
      return jobs_.measured(job, LightState::dark, each.why.message);
    }
  }
  const LightPaths& ways = paths();
  MeasuredLight worst{LightState::lit, LightCause::healthy, Duration{}, std::nullopt};
  std::size_t at = kUnused;
  for (const std::size_t index : circuits_[job]) {
    if (const MeasuredLight light = measure_light(ways, index, sight.readings); light.state > worst.state) {
      worst = light;
      at = index;
    }
  }
  const std::string why = at == kUnused ? std::string{}
                                        : format_text("circuit {}: {}", ways.plan().circuits[at].id.value,
                                                      describe_light(ways, at, worst, sight.readings));
  jobs_.measured(job, worst.state, why);
}

void LightWatch::measure_jobs() {
  is_changed_ = false;
  not_before_ = facts_.now + facts_.timings.beat_interval * kBeatsBetween;
  look_at_ = facts_.now + facts_.timings.reconcile_interval;
  measured_ = confirmed_.present();
  were_lasers_off_ = desired_.intent().lasers_off;
  if (!confirmed_.exists()) {
    return;
  }
  const Sight seen = sight();
  for (const JobId job : jobs_in_light(jobs_)) {
    measure(job, seen);
  }
}

void LightWatch::follow(std::shared_ptr<const PlanResult> under_way) {
  under_way_ = std::move(under_way);
  if (measured_ != confirmed_.present() || were_lasers_off_ != desired_.intent().lasers_off) {
    measure_jobs();
  }
}

void LightWatch::look() {
  if (facts_.now >= look_at_ || (is_changed_ && facts_.now >= not_before_)) {
    measure_jobs();
  }
}

std::vector<CircuitReport> LightWatch::reports_of(const std::vector<std::pair<Circuit, std::uint32_t>>& circuits) const {
  std::vector<CircuitReport> rows;
  const LightPaths& ways = paths();
  const Sight seen = sight();
  for (const auto& [circuit, timeslot] : circuits) {
    CircuitReport row{circuit, timeslot, "FAILED", LightState::dark, Duration{-1}, "the confirmed plan has no such circuit"};
    if (const auto index = ways.index_of(circuit.id)) {
      const MeasuredLight light = measure_light(ways, *index, seen.readings);
      row.state = oper_state(light);
      row.light = light.state;
      row.age = light.age;
      row.proof = light.proof;
      row.why = light.cause == LightCause::healthy ? std::string{} : describe_light(ways, *index, light, seen.readings);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

CircuitReport report_of(const LeftOut& left_out, const LeftCircuit& left) {
  return {left.circuit, left.timeslot, "FAILED", LightState::dark, Duration{-1}, left_out.why.message};
}

std::vector<CircuitReport> LightWatch::left_out_of(JobId job) const {
  std::vector<CircuitReport> rows;
  for (const LeftOut& each : confirmed_.present()->left_out) {
    for (const LeftCircuit& left : each.job == job && each.in_part ? each.circuits : std::vector<LeftCircuit>{}) {
      rows.push_back(report_of(each, left));
    }
  }
  return rows;
}

}  // namespace loom
