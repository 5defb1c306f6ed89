// SPDX-License-Identifier: Apache-2.0
// Sums in decibels, and points that are turned until everybody can read.
#include "controller/plan/lower/level.hpp"

#include <algorithm>

#include "core/fabric/gain_stage.hpp"

namespace loom {
namespace {

/// Of what a receiver reads, at either end [K]: noise of its neighbours and of figures.
constexpr Db kHeadroom{100};
/// What is set is a multiple of this: WSS have no finer attenuation.
constexpr std::int32_t kStepCenti = 10;
/// That a WSS attenuates a channel by, at most [K]: data sheets say 15 to 20 dB.
constexpr Db kRouteMost{1'500};
constexpr int kRounds = 4;

/// What a hop loses whatever is set, the fibre behind it included.
Db loss_of(const Fabric& fabric, const Hop& hop) {
  const Element& element = fabric.element(hop.element);
  Db loss = std::holds_alternative<Transmitter>(element.kind) ? Db{0} : element.insertion_loss;
  if (const auto* ring = std::get_if<RingFilter>(&element.kind); ring && (hop.input != 0 || hop.output != 0)) {
    loss = loss + ring->drop_loss;
  }
  if (!fabric.device_of_element[hop.element.value]) {
    loss = loss - usual_gain(element.kind);
  }
  const bool leaves = hop.output < element.outputs && fabric.fibre_out[hop.element.value][hop.output].has_value();
  return leaves ? loss + fabric.fibres[fabric.fibre_out[hop.element.value][hop.output]->value].loss : loss;
}

Db whole_steps(Db by) { return {(by.centi + kStepCenti - 1) / kStepCenti * kStepCenti}; }

}  // namespace

Leveller::Leveller(const Fabric& fabric, const Positions& base)
    : fabric_(fabric),
      base_(base),
      is_frozen_(fabric.elements.size()),
      by_hand_(fabric.elements.size()),
      stage_(fabric.elements.size()) {}

bool Leveller::can_level(const Fabric& fabric) {
  return std::ranges::any_of(fabric.devices, [](const Device& device) {
    return device.role == DeviceRole::gain_stage || device.role == DeviceRole::wavelength_switch;
  });
}

std::optional<std::size_t> Leveller::point_at(const Hop& hop, FrequencySlot slot) {
  const Element& element = fabric_.element(hop.element);
  if (!fabric_.device_of_element[hop.element.value]) {
    return std::nullopt;
  }
  if (is_gain_stage(element)) {
    auto& place = stage_[hop.element.value];
    if (!place) {
      place = points_.size();
      const GainRange range = gain_range(element.kind);
      points_.push_back({hop.element, std::nullopt, usual_gain(element.kind), range.least, range.most, false, {}});
    }
    return place;
  }
  if (!std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
    return std::nullopt;
  }
  const std::uint64_t key = std::uint64_t{hop.element.value} << 32U | std::uint64_t{hop.input} << 16U |
                            static_cast<std::uint16_t>(slot.n);  // slots of one input do not overlap, so n tells them apart
  const auto [found, is_new] = route_at_.try_emplace(key, points_.size());
  if (is_new) {
    points_.push_back({hop.element, WssRoute{slot, hop.input, hop.output, Db{0}}, Db{0}, -kRouteMost, Db{0}, false, {}});
  }
  return found->second;
}

/// What somebody set by hand there, or what the base has.
Db Leveller::held_at(const Hop& hop, FrequencySlot slot) const {
  if (by_hand_[hop.element.value]) {
    return *by_hand_[hop.element.value];
  }
  if (is_gain_stage(fabric_.element(hop.element))) {
    return base_.gains[hop.element.value];
  }
  for (const WssRoute& route : base_.routes[hop.element.value]) {
    if (route.slot == slot && route.input == hop.input) {
      return -route.attenuation;
    }
  }
  return Db{0};
}

void Leveller::add(const Path& path, FrequencySlot slot, Dbm launch, bool stays) {
  const auto& receiver = std::get<Receiver>(fabric_.element(path.back().element).kind);
  Beam beam{launch, receiver.sensitivity + kHeadroom, receiver.overload - kHeadroom, &receiver, {}};
  if (beam.least > beam.most) {
    beam.least = beam.most = Dbm{(receiver.sensitivity.centi + receiver.overload.centi) / 2};
  }
  for (const Hop& hop : path) {
    beam.power = beam.power - loss_of(fabric_, hop);
    const auto at = point_at(hop, slot);
    if (!at) {
      continue;
    }
    Point& point = points_[*at];
    if ((stays || is_frozen_[hop.element.value] || by_hand_[hop.element.value]) && !point.is_held) {
      point.is_held = true;
      turn(point, held_at(hop, slot) - point.gain);
    }
    beam.power = beam.power + point.gain;
    beam.points.push_back(*at);
    point.beams.push_back(beams_.size());
  }
  beams_.push_back(std::move(beam));
}

void Leveller::turn(Point& point, Db by) {
  point.gain = point.gain + by;
  for (const std::size_t beam : point.beams) {
    beams_[beam].power = beams_[beam].power + by;
  }
}

/// Nearest to the receiver: what is before it keeps its distance from noise.
void Leveller::weaken(const Beam& beam) {
  for (auto at = beam.points.rbegin(); at != beam.points.rend() && beam.power > beam.most; ++at) {
    Point& point = points_[*at];
    Db most = std::min(whole_steps(beam.power - beam.most), point.gain - point.least);
    for (const std::size_t other : point.beams) {
      most = std::min(most, beams_[other].power - beams_[other].least);
    }
    if (!point.is_held && most > Db{0}) {
      turn(point, -most);
    }
  }
}

void Leveller::strengthen(const Beam& beam) {
  for (auto at = beam.points.begin(); at != beam.points.end() && beam.power < beam.least; ++at) {
    Point& point = points_[*at];
    if (const Db most = std::min(whole_steps(beam.least - beam.power), point.most - point.gain);
        !point.is_held && most > Db{0}) {
      turn(point, most);  // whoever gets too much by it is weakened on its own way
    }
  }
}

Levels Leveller::solve() {
  const auto is_off = [](const Beam& beam) { return beam.is_weak() || beam.is_strong(); };
  for (int round = 0; round < kRounds && std::ranges::any_of(beams_, is_off); ++round) {
    for (const Beam& beam : beams_) {
      if (beam.is_weak()) {
        strengthen(beam);
      }
    }
    for (const Beam& beam : beams_) {
      if (beam.is_strong()) {
        weaken(beam);
      }
    }
  }
  Levels levels;
  for (const Element& element : fabric_.elements) {
    levels.gains.push_back(usual_gain(element.kind));
  }
  for (const Point& point : points_) {
    if (!point.route) {
      levels.gains[point.element.value] = point.gain;
    } else if (point.gain != Db{0}) {
      levels.routes.push_back({point.element, *point.route});
      levels.routes.back().route.attenuation = -point.gain;
    }
  }
  return levels;
}

}  // namespace loom
