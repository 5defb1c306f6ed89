// SPDX-License-Identifier: Apache-2.0
// LightWatch: what was last measured of the confirmed plan's light, circuit by circuit and job by job. It follows the confirmed
// plan, asks light_state about every circuit, and tells Jobs the worst of each job. It orders nothing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/control/agent_sessions.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/jobs/desired_intent.hpp"
#include "controller/control/jobs/jobs.hpp"
#include "controller/plan/light/light_state.hpp"

namespace loom {

/// Light that a monitor does not see, though every device on its way reads as planned.
struct MissingLight {
  CircuitId circuit;
  Instant all_read_since{};  ///< no device on its way was read earlier
  std::string why;
};

/// Light to measure by, and who can tell its frequency apart.
struct ProbeSight {
  DeviceId wavemeter;
  std::optional<Frequency> frequency{};  ///< since it was set; none: not read yet
};

class LightWatch {
 public:
  LightWatch(const ControllerFacts& facts, const DesiredIntent& desired, const ConfirmedPlans& confirmed,
             const AgentSessions& sessions, Jobs& jobs)
      : facts_(facts), desired_(desired), confirmed_(confirmed), sessions_(sessions), jobs_(jobs) {
    for (const Device& device : facts.fabric->devices) {
      has_monitors_ = has_monitors_ || device.role == DeviceRole::monitor;
    }
  }

  /// After every event: what a confirmation or an order about lasers says of jobs is said at once. `under_way`: what a commit
  /// moves now; null: none does.
  void follow(std::shared_ptr<const PlanResult> under_way);
  /// Regularly: measures all jobs, sooner after something was read otherwise than before.
  void look();
  void note_change() { is_changed_ = true; }

  /// Circuits of the confirmed plan with their timeslots, as they were last measured.
  std::vector<CircuitReport> reports_of(const std::vector<std::pair<Circuit, std::uint32_t>>& circuits) const;
  /// Circuits of running jobs that the confirmed plan does without.
  std::vector<CircuitReport> left_out_of(JobId job) const;

  /// Of a monitor, or of a switch that measures its ports; nothing: it sees all that it should, or nobody can tell.
  std::optional<MissingLight> missing_light(DeviceId monitor) const;
  /// A monitor, or a switch that measures its ports.
  bool measures_light(DeviceId device) const;
  /// What was read of a laser, with its frequency as a monitor measures it; nothing: none does.
  std::optional<Observation> as_measured(DeviceId laser) const;
  /// Of a laser as_measured(): who measures it, and what it says itself.
  std::string who_measured(DeviceId laser) const;
  /// Lasers whose light a monitor may measure, ascending.
  std::vector<DeviceId> lasers_seen_by(DeviceId monitor) const;
  /// Of the confirmed plan's light to measure by, what a wavemeter on its way can tell apart; by the receiver it is sent to.
  std::map<ElementId, ProbeSight> probe_sights() const;
  /// Lasers whose frequency a monitor has measured to be as planned, ascending.
  std::vector<DeviceId> proven_lasers() const;

 private:
  /// Readings, and what has to be gathered for them.
  struct Sight {
    std::vector<AgentLight> agents;
    std::vector<JobId> played;
    std::vector<DeviceId> ordered;
    std::vector<std::optional<ReceivedPower>> received;  ///< by element; empty: nothing in the fabric measures
    LightReadings readings;
  };
  Sight sight() const;
  AgentLight light_of(NodeId node) const;
  const LightPaths& paths() const;
  void gather_received(Sight& sight) const;
  bool is_wavemeter(DeviceId monitor) const;
  std::optional<MissingLight> missing_at_receiver(ElementId receiver, const Sight& seen) const;
  std::optional<MissingLight> missing_in_switch(ElementId element, const Sight& seen) const;
  MissingLight missing_of(std::size_t index, const MeasuredLight& dark, DeviceId witness, const Sight& seen) const;
  /// Of the confirmed plan, if a monitor measures its frequency; nothing: none does, it emits for no circuit, or it plays.
  std::optional<std::size_t> circuit_of_laser(DeviceId laser) const;
  void measure_jobs();
  void measure(JobId job, const Sight& sight);

  const ControllerFacts& facts_;
  const DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  const AgentSessions& sessions_;
  Jobs& jobs_;
  bool has_monitors_ = false;
  mutable std::map<ElementId, std::size_t> circuit_of_transmitter_;  ///< where a monitor may see it
  mutable std::shared_ptr<const LightPaths> paths_;                  ///< of the confirmed plan, once somebody asked
  mutable std::map<JobId, std::vector<std::size_t>> circuits_;       ///< indices in the plan
  mutable std::map<ElementId, std::vector<std::size_t>> through_;    ///< likewise, by switch, once somebody asked
  mutable std::shared_ptr<const PlanResult> followed_;               ///< what paths_ and circuits_ are of
  std::shared_ptr<const PlanResult> measured_;
  std::shared_ptr<const PlanResult> under_way_;
  bool were_lasers_off_ = false;
  bool is_changed_ = false;
  Instant look_at_{};     ///< the next time that everything is measured in any case
  Instant not_before_{};  ///< nor more often than this
};

/// A circuit that the plan does without, as reports have it.
CircuitReport report_of(const LeftOut& left_out, const LeftCircuit& left);

}  // namespace loom
