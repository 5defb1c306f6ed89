// SPDX-License-Identifier: Apache-2.0
// Inside verify: what a plan sets, how light runs through it, and the groups of rules. For verify*.cpp only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/plan/per_element.hpp"
#include "controller/plan/verify/light_field.hpp"
#include "controller/plan/verify/light_order.hpp"
#include "controller/plan/verify/passages.hpp"
#include "controller/plan/verify/stray_light.hpp"
#include "controller/plan/verify/verify.hpp"

namespace loom::verifying {

/// m of the widest frequency slot that a WSS route may have: 400 GHz.
inline constexpr std::int32_t kWidestSlot = 32;

/// Collects violations; keeps the first few of each rule.
class Faults {
 public:
  template <class Evidence>  // a function that makes the sentence, called only when it is kept
  void add(std::string_view rule, Evidence evidence) {
    std::uint32_t& count = counts_[std::string(rule)];
    if (count < kKept) {
      PlanViolation found{std::string(rule), evidence()};
      if (std::find(violations_.begin(), violations_.end(), found) == violations_.end()) {
        violations_.push_back(std::move(found));
        ++count;
      }
    }
  }
  bool empty() const { return violations_.empty(); }
  std::vector<PlanViolation> take() { return std::move(violations_); }

 private:
  static constexpr std::uint32_t kKept = 4;
  std::map<std::string, std::uint32_t> counts_;
  std::vector<PlanViolation> violations_;
};

/// What a circuit's receiver gets of it, at its worst over all moments of the plan.
struct Reception {
  double signal_mw = 0;  ///< lowest; 0: nothing arrives
  double crosstalk = 0;  ///< highest, other light over the signal
};

/// Summed in-band crosstalk that a 100G receiver still bears (docs/systems/oddl.md#two-time-scales: -20 dB is fatal for PAM4).
inline constexpr double kCrosstalkLimit = 0.01;

struct Emission {
  TransmitterSetpoint laser;
  Duration begin{};  ///< from relight
  Duration end = kForever;
  Db beside{
      0};  ///< by which it was measured to be more than its figures say; where it was less, something behind it may take it
  Dbm power() const { return laser.power + beside; }
};

/// One transmitter's light over a stage; empty emissions: dark.
struct Source {
  ElementId transmitter;
  const DevicePlan* device = nullptr;
  std::vector<Emission> emissions;
  bool is_static() const { return emissions.size() == 1 && emissions[0].end == kForever; }
};

/// What of a plan is judged.
struct Scope {
  std::vector<NodeId> nodes;            ///< ascending: whose slices
  std::vector<std::uint32_t> circuits;  ///< ascending: indices into the plan's
};
Scope whole_of(const Plan& plan);

/// What a plan's setpoints say, by element. Precondition: check_structure() found nothing.
struct Settings {
  Settings(const Fabric& fabric, const Plan& plan);
  /// Another slice instead of the node's. The plans that both are of must live as long.
  void replace(const Fabric& fabric, const NodePlan& slice);
  /// Light that was measured is judged by what was measured.
  void measure(const Fabric& fabric, const Intent& intent);
  /// Of this light beside its launch power; 0: nobody measured it.
  Db offset(ElementId transmitter, FrequencySlot slot) const;
  std::vector<const DevicePlan*> devices;                     ///< by device
  std::vector<Source> sources;                                ///< every transmitter with a device, ascending element
  std::vector<std::uint32_t> source_of;                       ///< by element: index into sources, or kNoSource
  std::vector<const WavelengthSwitchSetpoint*> wss;           ///< by element
  PerElement<std::vector<std::int32_t>> ocs;                  ///< by element: [input] the output, or -1; empty: no device
  std::vector<std::optional<Frequency>> resonances;           ///< by element; nothing = parked
  std::vector<Db> gains;                                      ///< by element: what it amplifies, below 0 what it attenuates
  std::map<std::pair<ElementId, FrequencySlot>, Db> offsets;  ///< of light that was measured, beside its launch power
  std::vector<bool> by_hand;  ///< by element: a transmitter that an operator set, may serve no circuit
  static constexpr std::uint32_t kNoSource = ~std::uint32_t{0};

 private:
  void read(const Fabric& fabric, const DevicePlan& device);
};

/// Sends light forward through the fabric, powers in mW. Each transmitter's signal is followed by its own way, so fibre may run
/// in rings.
class LightTracer {
 public:
  LightTracer(const Fabric& fabric, const LightOrder& order, const Settings& settings, Faults& faults);
  LightTracer(const LightTracer&) = delete;  // its parts look at each other
  LightTracer& operator=(const LightTracer&) = delete;
  Field trace(const std::vector<Lit>& lights);
  const std::vector<FrequencySlot>& colours() const { return passages_.colours(); }

 private:
  struct Arrival {
    FibreId fibre;
    Cell cell;
  };

  void follow(const Lit& light);
  Layer gather();
  void check_coupler(const Element& element, const Layer& signals);
  void check_ring(std::size_t place, const Layer& signals);
  void check_fibre(const Fibre& fibre, std::span<const Cell> signals);

  const Fabric& fabric_;
  const LightOrder& order_;
  Faults& faults_;
  Passages passages_;
  StrayLight strays_;
  SignalFollower follower_;
  std::vector<Arrival> arrivals_;  ///< scratch
};

/// The ways of signals through what is set, one after the other. What a way returns lasts until the next.
class Walk {
 public:
  Walk(const Fabric& fabric, const Settings& settings) : fabric_(fabric), settings_(settings), seen_(fabric.fibres.size()) {}

  /// Every element and port that a transmitter's signal visits in order, with what its light needs of each: equal marks,
  /// nothing on its way moved so that the light felt it. A ring that it drops from is marked by its resonance, one that it
  /// passes only by which side of the light the resonance is on: on the way to another place on that side it never meets the
  /// light.
  const std::vector<std::int64_t>& marks(ElementId transmitter, FrequencySlot slot);

  /// Of a signal that was the same before: does it come to anything that is set otherwise than `before` for it? No: its marks
  /// are those of before. `moved`: by element, all whose device is set otherwise.
  bool meets_any(ElementId transmitter, FrequencySlot slot, const std::vector<bool>& moved, const Settings& before);

  /// Every element that a transmitter's signal comes to, in the order of its way; one that it comes to twice is there twice.
  const std::vector<ElementId>& elements(ElementId transmitter, FrequencySlot slot);

 private:
  void follow(ElementId transmitter);
  void leave(ElementId element, int output);
  void enter(const Element& element, PortNumber input);
  void enter_ring(const Element& element, const RingFilter& ring, PortNumber input);

  const Fabric& fabric_;
  const Settings& settings_;
  FrequencySlot slot_;
  std::uint32_t number_ = 0;
  std::vector<std::uint32_t> seen_;  ///< by fibre: number of the walk that came last; a way that runs in a circle ends there
  std::vector<PortRef> open_;
  std::vector<std::int64_t> marks_;
  std::vector<ElementId> elements_;
};

/// The routes of this input that light of this slot touches at all.
template <class Visit>
void each_overlapping(const std::vector<WssRoute>& routes, PortNumber input, FrequencySlot slot, Visit visit) {
  const std::int32_t reach = slot.m + kWidestSlot;  // centres of slots that overlap are closer than this
  auto at = std::lower_bound(routes.begin(), routes.end(), slot.n - reach,
                             [](const WssRoute& route, std::int32_t n) { return route.slot.n < n; });
  for (; at != routes.end() && at->slot.n <= slot.n + reach; ++at) {
    if (at->input == input && overlaps(at->slot, slot)) {
      visit(*at);
    }
  }
}

/// Does a ring (nothing: parked) act on light of this frequency?
bool resonates(const RingFilter& ring, std::optional<Frequency> resonance, Frequency light);

bool check_structure(const Fabric& fabric, const Plan& plan, const Scope& scope, Faults& faults);
void check_setpoints(const Fabric& fabric, const Plan& plan, const Scope& scope, const Settings& settings, const Intent& intent,
                     Faults& faults);
void check_grants(const Fabric& fabric, const Plan& plan, const Settings& settings, Faults& faults);
void check_iterations(const Fabric& fabric, const Plan& plan, const Settings& settings, Faults& faults);
/// What was found of a plan's light.
struct LightFound {
  std::vector<Reception> receptions;  ///< by circuit of the plan
  std::optional<Field> standing;      ///< all light, if all of it stands
};
LightFound check_light(const Fabric& fabric, const LightOrder& order, const Plan& plan, const Settings& settings,
                       Faults& faults);
/// Powers in mW.
bool is_in_range(const Amplifier& amplifier, double power);
bool is_in_range(const Receiver& receiver, double signal);
/// Tells of one fibre after the other whether it carries no more than it may.
class SafePower {
 public:
  explicit SafePower(const Fabric& fabric) : fabric_(fabric) {}
  /// `power`: at the fibre's end; most of it is at its beginning.
  bool holds(const Fibre& fibre, double power);

 private:
  const Fabric& fabric_;
  Db loss_{};          ///< of the last fibre: many are alike
  double factor_ = 1;  ///< the same
  std::optional<Dbm> limit_;
  double limit_mw_ = 0;
};
/// `powers`: all light that may be in each fibre together, mW at its end, by fibre. The tracer names whose it is.
void check_powers(const Fabric& fabric, const Plan& plan, const Settings& settings, LightTracer& tracer,
                  std::span<const double> powers, Faults& faults);
/// Fills the verdict's light, and names whom a dip would blind.
void check_margins(const Fabric& fabric, const Plan& plan, const Scope& scope, const Settings& settings,
                   const std::vector<Reception>& receptions, Verdict& verdict, Faults& faults);
/// `disturbed`: gets the transmitters whose light would stay on while something on its way moves. `moving_ports`: that is
/// looked for; else whoever asks knows that there are none.
void check_change(const Fabric& fabric, const Plan& plan, const Scope& scope, const Settings& settings, const Plan* base,
                  bool moving_ports, std::vector<ElementId>& disturbed, Faults& faults);

/// The verdict, and what it rests on.
struct Judged {
  Verdict verdict;
  std::optional<Settings> settings;  ///< none: the plan's slices do not even fit the fabric
  LightFound light;
};
/// As loom::examine().
Judged judge(const Fabric& fabric, const LightOrder& order, const Plan& plan, const Plan* base, const Intent& intent,
             const std::vector<ObservedLight>& occupied);

/// What the base's slice says of the device at this place in the plan's slice, or of wherever it is.
const DevicePlan& same_device(const NodePlan& before, std::size_t place, DeviceId id);

}  // namespace loom::verifying
