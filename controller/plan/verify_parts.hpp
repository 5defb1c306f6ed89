// Inside verify: what a plan sets, how light runs through it, and the groups of rules. For verify*.cpp only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/plan/verify.hpp"

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

struct Emission {
  LaserSetpoint laser;
  Duration begin{};  ///< from relight
  Duration end = kForever;
};

/// One transmitter's light over a stage; empty emissions: dark.
struct Source {
  ElementId transmitter;
  const DevicePlan* device = nullptr;
  std::vector<Emission> emissions;
  bool is_static() const { return emissions.size() == 1 && emissions[0].end == kForever; }
};

/// What a plan's setpoints say, by element. Precondition: check_structure() found nothing.
struct Settings {
  Settings(const Fabric& fabric, const Plan& plan);
  std::vector<const DevicePlan*> devices;            ///< by device
  std::vector<Source> sources;                       ///< every transmitter with a device, ascending element
  std::vector<const WssSetpoint*> wss;               ///< by element
  std::vector<const OcsSetpoint*> ocs;               ///< by element
  std::vector<std::optional<Frequency>> resonances;  ///< by element; nothing = parked
  std::vector<bool> by_hand;                         ///< by element: a transmitter that an operator set, may serve no circuit
};

/// Light of one frequency slot on one fibre.
struct Cell {
  double signal_mw = 0;       ///< came by open ways only
  double leak_mw = 0;         ///< passed a closed switch or grating at least once
  std::uint32_t source = 0;   ///< transmitter element of the first signal
  std::uint16_t colour = 0;   ///< index into LightTracer::colours
  std::uint16_t signals = 0;  ///< how many transmitters' signals
};

struct Lit {
  ElementId transmitter;
  FrequencySlot slot;
  Dbm power;
};

/// The light of one set of emitting transmitters, on every fibre.
struct Field {
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  std::vector<Cell> cells;
  std::vector<Range> fibres;  ///< by fibre
};

/// Sends light forward through the fabric in topological order, powers in mW, leaks included.
class LightTracer {
 public:
  LightTracer(const Fabric& fabric, const Settings& settings, Faults& faults);
  Field trace(const std::vector<Lit>& lights);
  const std::vector<FrequencySlot>& colours() const { return colours_; }

  /// Every element and port that a transmitter's signal visits in order, with ring resonances: equal marks, equal path.
  static std::vector<std::int64_t> footprint(const Fabric& fabric, const Settings& settings, ElementId transmitter,
                                             FrequencySlot slot);

 private:
  struct Incoming {
    Cell cell;
    PortNumber input = 0;
    int output = -1;      ///< where it passes; -1: nowhere
    double factor = 1.0;  ///< a route's own attenuation
  };

  void order();
  std::vector<std::int32_t> leak_exits_of(const Element& element, const WssSetpoint& setpoint) const;
  void enter(const Element& element, const Field& field);
  void pass(const Element& element, Field& field);
  int exit_of(const Element& element, Incoming& light);
  int exit_of_wss(const Element& element, const WavelengthSelectiveSwitch& wss, Incoming& light);
  int exit_of_ring(const Element& element, const RingFilter& ring, const Cell& cell);
  void check_coupler(const Element& element);
  void check_fibre(const Fibre& fibre, const Field& field);
  std::uint16_t colour_of(FrequencySlot slot) const;
  FrequencyOffset width_of_signal(const Cell& cell) const;

  const Fabric& fabric_;
  const Settings& settings_;
  Faults& faults_;
  std::vector<FrequencySlot> colours_;  ///< of all emissions, ascending
  std::vector<ElementId> order_;        ///< topological
  std::vector<double> pass_factor_;     ///< by element, linear, insertion loss and gain
  std::vector<double> leak_factor_;     ///< by element; 0: does not leak
  std::vector<double> fibre_factor_;
  std::vector<std::vector<std::int32_t>> leak_exits_;  ///< [WSS element][input x colour]
  std::vector<Incoming> incoming_;                     ///< scratch
  std::vector<Cell> sum_;                              ///< scratch, by colour
};

/// Where a ring of this fabric drops light of this frequency.
bool drops(const RingFilter& ring, std::optional<Frequency> resonance, Frequency light);

bool check_structure(const Fabric& fabric, const Plan& plan, Faults& faults);
void check_setpoints(const Fabric& fabric, const Plan& plan, const Settings& settings, const Intent& intent, Faults& faults);
void check_light(const Fabric& fabric, const Plan& plan, const Settings& settings, Faults& faults);
void check_change(const Fabric& fabric, const Plan& plan, const Settings& settings, const Plan* base, Faults& faults);

}  // namespace loom::verifying
