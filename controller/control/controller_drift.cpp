// Desired against observed: what drifted, and which node is to be repaired. A repair is a commit like any other; a node that
// stays wrong after a few of them is left to people, aloud.
#include <algorithm>

#include "controller/control/controller.hpp"
#include "controller/plan/reconcile.hpp"

namespace loom {
namespace {

/// Desired light while the lasers are ordered off is darkness, whatever the confirmed plan says.
bool is_comparable(const Intent& intent) { return !intent.lasers_off; }

}  // namespace

Reconciliation Controller::reconciliation(Instant now) const {
  if (confirmed_ == nullptr || !is_comparable(intent_)) {
    return {};
  }
  std::vector<Observation> observations;
  for (const auto& observation : observations_) {
    if (observation.has_value()) {
      observations.push_back(*observation);
    }
  }
  ReconcileLimits limits;
  limits.stale_after = options_.timings.stale_after;
  return reconcile(*options_.fabric, confirmed_->plan, observations, now, limits);
}

DriftCounts Controller::drift_counts(Instant now) const { return reconciliation(now).counts; }

std::optional<Setpoint> Controller::desired_of(const Device& device) const {
  if (confirmed_ == nullptr) {
    return {};
  }
  const auto& devices = confirmed_->plan.nodes[device.agent.value].devices;
  const auto plan =
      std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == device.id; });
  return plan == devices.end() ? std::nullopt : std::optional(plan->timeline.front().setpoint);
}

bool Controller::is_set_by_hand(DeviceId device) const {
  return std::any_of(intent_.overrides.begin(), intent_.overrides.end(),
                     [&](const DeviceOverride& override) { return override.device == device; });
}

std::vector<DeviceReport> Controller::device_rows(const Query& query, Instant now) const {
  const Reconciliation found = reconciliation(now);
  std::vector<DeviceReport> rows;
  for (const Device& device : options_.fabric->devices) {
    if (query.id.has_value() && *query.id != device.id.value) {
      continue;
    }
    Observation never;
    never.device = device.id;
    const Drift drift = device.id.value < found.devices.size() ? found.devices[device.id.value].drift : Drift::none;
    rows.push_back({device.id, device.name, device.kind, device.agent, observations_[device.id.value].value_or(never), drift,
                    desired_of(device), is_set_by_hand(device.id)});
  }
  return rows;
}

/// Repairs when nothing else is under way and an observation is newer than the light that it judges.
void Controller::reconcile_now(Instant now, EffectSink& sink) {
  if (!is_idle() || confirmed_ == nullptr || now - confirmed_at_ < 2 * options_.timings.report_interval) {
    return;
  }
  const Reconciliation found = reconciliation(now);
  std::vector<bool> drifted(sessions_.size());
  std::uint32_t repairs = 0;
  for (const NodeId node : found.repair) {
    AgentSession& session = sessions_[node.value];
    drifted[node.value] = true;
    const bool plays_timeslots = confirmed_->plan.nodes[node.value].cycle > Duration{0};
    if (!session.is_present() || session.lasers_latched_off || plays_timeslots || in_maintenance(node)) {
      continue;
    }
    if (session.repairs < options_.timings.repair_attempts) {
      ++session.repairs;
      ++repairs;
      doubt_node(node);
    } else if (session.repairs == options_.timings.repair_attempts) {
      ++session.repairs;
      Alarm alarm;
      alarm.code = AlarmCode::drift;
      alarm.node = node;
      alarm.evidence = "node " + std::to_string(node.value) + " still differs from revision " +
                       std::to_string(confirmed().value) + " after " + std::to_string(options_.timings.repair_attempts) +
                       " repairs";
      alarm.next_command = "loom node show " + std::to_string(node.value);
      raise(std::move(alarm), sink);
    }
  }
  for (std::size_t node = 0; node < sessions_.size(); ++node) {
    if (!drifted[node]) {
      if (sessions_[node].repairs > options_.timings.repair_attempts) {
        alarms_.clear(AlarmCode::drift, NodeId{static_cast<std::uint32_t>(node)});
      }
      sessions_[node].repairs = 0;
    }
  }
  if (repairs > 0) {
    want_plan("repair of " + std::to_string(repairs) + (repairs == 1 ? " node that drifted" : " nodes that drifted"), now,
              sink);
  }
}

}  // namespace loom
