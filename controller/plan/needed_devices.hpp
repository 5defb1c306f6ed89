// SPDX-License-Identifier: Apache-2.0
// NeededDevices: which of the devices that follow no order a circuit cannot do without. Ways are tried twice: as if everything
// followed orders, and with what does not held as it is; and no new light may come where light is that nobody can put out.
#pragma once

#include <vector>

#include "controller/plan/light/paths.hpp"
#include "controller/plan/unusable.hpp"

namespace loom {

/// Light of a laser that follows no order: there, or perhaps there.
struct RogueLight {
  DeviceId device;
  ElementId transmitter;
  std::vector<FrequencySlot> slots;
  std::vector<FibreId> fibres;       ///< that it cannot avoid
  std::vector<ElementId> receivers;  ///< that it reaches as long as nothing on its way moves
};

/// The fibres that light of a transmitter cannot avoid: up to the first element that it may leave in several ways.
std::vector<FibreId> fibres_of(const Fabric& fabric, ElementId transmitter);

class NeededDevices {
 public:
  /// `positions`: of the base.
  NeededDevices(const Fabric& fabric, const UnusableDevices& unusable, const Positions& positions,
                std::vector<RogueLight> rogues);

  /// This light is there whoever wants it: its way is taken, as long as its laser follows no order.
  void keep(const Circuit& circuit);
  /// Ascending; none: it does without them, or has no way in any case. Its way is taken. `is_new`: light that is not there yet
  /// does not pass filters that may stand where they would take it.
  std::vector<DeviceId> needed_by(const Circuit& circuit, bool is_new);

 private:
  /// A filter that a commit left somewhere, or that was read to be elsewhere, and that may drop light of this slot.
  bool may_take(ElementId filter, FrequencySlot slot) const;
  bool meets(const RogueLight& rogue, const Circuit& circuit, const Path& path) const;

  const Fabric& fabric_;
  const UnusableDevices& unusable_;
  Positions open_positions_;
  Positions held_positions_;
  PathFinder open_;
  PathFinder held_;
  std::vector<RogueLight> rogues_;
};

}  // namespace loom
