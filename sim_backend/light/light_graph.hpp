// SPDX-License-Identifier: Apache-2.0
// LightGraph: the fabric laid flat for tracing light: where each output port leads, what each element does to light, and what
// it is set to now. It follows no light itself (light_model does) and shares no code with the planner or its verifier, because
// it is their judge.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace loom {

/// Light of one transmitter as it leaves it. Not emitting: nothing else in here counts.
struct LaserEmission {
  bool emitting = false;
  Frequency frequency;
  Dbm power{kNoLight};
  bool operator==(const LaserEmission&) const = default;
};

/// Light as it arrives at, or leaves, one port.
struct Ray {
  Frequency frequency;
  FrequencyOffset half_width;  ///< of the signal around the carrier
  Dbm power;
  bool clipped = false;  ///< a filter on the way cut into the signal
};

/// One way out of an element.
struct Exit {
  PortNumber output = 0;
  Dbm power;
  bool clipped = false;
};

/// What an element makes of a ray.
struct Passage {
  std::vector<Exit> exits;
  std::vector<Exit> leaks;        ///< by the ways that are closed to it; only where leak() was asked
  bool into_moving_port = false;  ///< the element moves just where this light enters
  bool on_resonance = false;      ///< of a ring filter
};

/// Excess loss of a fibre that is cut: no light is so strong that any of it would be followed on.
inline constexpr Db kCut{100'000};

class LightGraph {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  explicit LightGraph(std::shared_ptr<const Fabric> fabric);

  const Fabric& fabric() const { return *fabric_; }
  /// The fibre at an output, or kNone.
  std::uint32_t fibre_at_output(ElementId element, PortNumber output) const {
    return fibre_of_output_[first_output_[element.value] + output];
  }
  /// Where a fibre leads; not where the fabric says if somebody plugged it elsewhere.
  PortRef end_of(FibreId fibre) const { return end_of_fibre_[fibre.value]; }
  void plug(FibreId fibre, PortRef end) { end_of_fibre_[fibre.value] = end; }
  /// Of the fibre as it is now: dirty ones lose more than the fabric says.
  Db loss_of(FibreId fibre) const { return fabric_->fibres[fibre.value].loss + excess_loss_[fibre.value]; }
  /// These fibres lose so much more, and no others do; of one that is named twice both count, up to kCut.
  void set_excess_losses(std::span<const std::pair<FibreId, Db>> losses);
  /// Can this element be set, so that light through it must be traced again when it is?
  bool is_steerable(ElementId element) const { return steerable_[element.value]; }

  void set_emission(ElementId transmitter, LaserEmission emission) { emission_[transmitter.value] = emission; }
  const LaserEmission& emission(ElementId transmitter) const { return emission_[transmitter.value]; }
  void set_gain(ElementId stage, Db gain) { gain_[stage.value] = gain; }
  Db gain(ElementId stage) const { return gain_[stage.value]; }
  void set_ring(ElementId ring, Frequency resonance) { resonance_[ring.value] = resonance; }
  Frequency resonance(ElementId ring) const { return resonance_[ring.value]; }
  /// `moving`: what enters such a slot of such an input goes nowhere.
  void set_routes(ElementId wss, std::vector<WssRoute> routes, std::vector<WssRoute> moving);
  void set_connects(ElementId ocs, std::span<const CrossConnect> connects, std::span<const CrossConnect> moving);

  /// Where a ray that enters `element` at `input` comes out; `passage` is emptied first and its memory re-used.
  void pass(ElementId element, PortNumber input, const Ray& ray, Passage& passage) const;
  /// Does light leave this element by closed ways at all?
  bool leaks(ElementId element) const { return leaks_[element.value]; }
  /// After pass() of the same ray: what of it leaves by the other outputs that have a fibre, weaker by the isolation.
  void leak(ElementId element, const Ray& ray, Passage& passage) const;

 private:
  struct SwitchState {
    std::vector<WssRoute> routes;  ///< WSS: by (input, lower edge)
    std::vector<WssRoute> moving;
    std::vector<std::uint32_t> output;  ///< OCS: of each input, or kNone
    std::vector<bool> input_moving;     ///< OCS
  };
  void pass_grating(const Element& element, PortNumber input, const Ray& ray, Passage& passage) const;
  void pass_ring(const Element& element, PortNumber input, const Ray& ray, Passage& passage) const;
  void pass_wss(const Element& element, PortNumber input, const Ray& ray, Passage& passage) const;
  void pass_ocs(const Element& element, PortNumber input, const Ray& ray, Passage& passage) const;

  std::shared_ptr<const Fabric> fabric_;
  std::vector<std::uint32_t> first_output_;
  std::vector<std::uint32_t> fibre_of_output_;
  std::vector<PortRef> end_of_fibre_;
  std::vector<Db> excess_loss_;  ///< by fibre
  std::vector<bool> leaks_;      ///< by element
  std::vector<bool> steerable_;
  std::vector<LaserEmission> emission_;      ///< by element
  std::vector<Frequency> resonance_;         ///< by element
  std::vector<Db> gain_;                     ///< by element: of amplifiers; below 0 of attenuators
  std::vector<std::uint32_t> switch_place_;  ///< by element: its place in switches_, or kNone
  std::vector<SwitchState> switches_;
};

}  // namespace loom
