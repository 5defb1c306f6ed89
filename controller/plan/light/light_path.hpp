// SPDX-License-Identifier: Apache-2.0
// LightPaths: which measured elements every circuit of a plan passes, found once a plan by following its light through the
// plan's own settings. Where nothing is set, no light goes: it never searches for another way. For light_state and whoever
// asks which jobs a device serves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "controller/plan/light/paths.hpp"
#include "controller/plan/light/sightings.hpp"
#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/plan.hpp"

namespace loom {

/// The way of `circuit` as the plan's switches, rings and gratings carry it, transmitter to receiver; nothing: they do not.
class LightFollower {
 public:
  LightFollower(const Fabric& fabric, const Plan& plan);
  std::optional<Path> follow(const Circuit& circuit) const;
  /// The outputs by which light that came by `input` may leave at all: of a circuit switch the connected one, if there is.
  struct Exits {
    PortNumber first = 0;
    PortNumber end = 0;
  };
  Exits exits(const Element& element, PortNumber input) const;
  /// Does light of this slot leave `element` by `output` when it came by `input`? A tap passes it by output 0 alone.
  bool passes(const Element& element, PortNumber input, PortNumber output, FrequencySlot slot) const;
  /// Null: the plan does not name the device.
  const DevicePlan* device(DeviceId id) const { return devices_[id.value]; }

 private:
  bool descend(PortRef at, const Circuit& circuit, Path& path) const;

  const Fabric& fabric_;
  Positions positions_;
  std::vector<std::optional<Frequency>> resonances_;  ///< by element
  std::vector<const DevicePlan*> devices_;            ///< by device
};

/// Outlives nothing: it keeps its fabric and plan alive.
class LightPaths {
 public:
  LightPaths(std::shared_ptr<const Fabric> fabric, std::shared_ptr<const Plan> plan);

  const Fabric& fabric() const { return *fabric_; }
  const Plan& plan() const { return *plan_; }
  /// Of the `index`-th circuit of the plan: its hops that a device holds, in the order of its light, then its receiver. Empty:
  /// the plan does not carry the circuit.
  std::span<const Hop> hops(std::size_t index) const;
  /// Where its light may be measured, its own receiver first. Empty too where it plays: a reading may fall between timeslots.
  std::span<const Sighting> sightings(std::size_t index) const;
  /// Circuits with a sighting at this receiver, ascending, if a monitor watches it.
  std::span<const std::size_t> sighted_at(ElementId receiver) const;
  const DevicePlan* device(DeviceId id) const { return devices_[id.value]; }
  /// Index of a circuit in the plan; nothing: it has none of this number.
  std::optional<std::size_t> index_of(CircuitId id) const;

 private:
  std::shared_ptr<const Fabric> fabric_;
  std::shared_ptr<const Plan> plan_;
  std::vector<const DevicePlan*> devices_;  ///< by device
  std::vector<std::uint32_t> begins_;       ///< by circuit; one more at the end
  std::vector<Hop> hops_;
  Sightings sightings_;
};

}  // namespace loom
