// SPDX-License-Identifier: Apache-2.0
// Verify: does this plan do what it says, on this fabric, without harm? Knows the physics and nothing of how the plan was
// made: it shares no code with lower, reads only setpoints, and sends the light through the fabric itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/plan/verify/light_order.hpp"
#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/planning.hpp"

namespace loom {

namespace rules {
inline constexpr std::string_view kNodePlanComplete = "node_plan_complete";  ///< slices, devices, revisions, references
inline constexpr std::string_view kLaserRange = "laser_range";
inline constexpr std::string_view kHeaterCeiling = "heater_ceiling";
inline constexpr std::string_view kGainRange = "gain_range";
inline constexpr std::string_view kGuardTime = "guard_time";
inline constexpr std::string_view kLasersOff = "lasers_off";
inline constexpr std::string_view kContinuity = "wavelength_continuity";
inline constexpr std::string_view kOncePerSegment = "wavelength_once_per_segment";
inline constexpr std::string_view kOncePerCoupler = "one_transmitter_per_coupler_wavelength";
inline constexpr std::string_view kEndpointOnce = "endpoint_once";
inline constexpr std::string_view kStrayLight = "stray_light";
inline constexpr std::string_view kMeasured = "measured_ring_is_nobodys";
inline constexpr std::string_view kRingTuned = "receiver_ring_tuned";
inline constexpr std::string_view kAliasing = "fsr_aliasing";
inline constexpr std::string_view kOpticalLoop = "optical_loop";  ///< light meets itself, or a circle of fibres gains
inline constexpr std::string_view kPassband = "passband";
inline constexpr std::string_view kAmplifierInput = "amplifier_input_range";
inline constexpr std::string_view kLinkBudget = "link_budget";
inline constexpr std::string_view kFibrePower = "fibre_power";  ///< more light in a fibre than is safe (core/fabric/hazard.hpp)
inline constexpr std::string_view kCrosstalk = "crosstalk";
inline constexpr std::string_view kReloadDip = "reload_dip";  ///< untouched light loses its margin while a hologram reloads
inline constexpr std::string_view kCertificateLight = "certificate_light";  ///< margins claimed are not those of the light
inline constexpr std::string_view kReturnPath = "return_path";
inline constexpr std::string_view kJobIsolation = "job_isolation";
inline constexpr std::string_view kGrantTable = "grant_table";  ///< what nodes may do under grants can never meet
inline constexpr std::string_view kIterations = "iterations";   ///< who repeats a job counts from one instant with the others
inline constexpr std::string_view kMovingPort = "moving_port";
inline constexpr std::string_view kUnchangedUntouched = "unchanged_untouched";
inline constexpr std::string_view kChangeDeclared =
    "change_declared";  ///< changed, moved_steering, may_hold and touched say all
}  // namespace rules

struct PlanViolation {
  std::string rule;
  std::string evidence;  ///< one sentence: what, where, value and limit
  bool operator==(const PlanViolation&) const = default;
};

struct Verdict {
  /// Every broken rule, in a fixed order, with at most a few pieces of evidence each; empty = the plan may be sent.
  std::vector<PlanViolation> violations;
  LightMargins light;  ///< for the plan's certificate
  /// Transmitters of untouched circuits that would lose their margin in a dip, or shine through what moves; ascending.
  std::vector<ElementId> disturbed{};
};

/// `base`: what is lit now, null = dark. A plan whose slices do not even fit the fabric is judged no further. A plan whose
/// certificate claims margins already must claim those of its light. `occupied`: light that is there although neither base nor
/// plan has it, and that stays unless the plan touches its laser: nothing may meet it, and nothing on its way may move.
/// `order`: the fabric's.
Verdict examine(const Fabric& fabric, const LightOrder& order, const Plan& plan, const Plan* base, const Intent& intent,
                const std::vector<ObservedLight>& occupied = {});
/// The same, for whoever examines one plan.
Verdict examine(const Fabric& fabric, const Plan& plan, const Plan* base, const Intent& intent,
                const std::vector<ObservedLight>& occupied = {});

/// Jobs whose light this plan lays under grants have guards no shorter than what was measured of agents that fire; and a grant
/// still fits the longest window. Errors: unverified, naming job, guard and measure.
Result<void> check_fire_skew(const Fabric& fabric, const Plan& plan, Duration fire_skew);

/// The violations of examine().
std::vector<PlanViolation> verify(const Fabric& fabric, const Plan& plan, const Plan* base, const Intent& intent);

}  // namespace loom
