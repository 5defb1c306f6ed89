// What the files of the operators' desk share. For desk*.cpp only.
#pragma once

#include <vector>

#include "core/demand.hpp"
#include "core/report.hpp"

namespace loom {

enum class SameLight {
  by_id,    ///< equal ids are untouched light: what begins again is a change
  by_ends,  ///< ends and slot: what was dark for a moment in between and is the same light again does not differ
};

/// How two sets of circuits differ. Fills circuits, touched and changes.
ChangeReport change_between(const std::vector<Circuit>& before, const std::vector<Circuit>& after,
                            SameLight same = SameLight::by_id);

/// The one override of a device; overrides stay in ascending order.
void set_override(Intent& intent, const DeviceOverride& wanted);
void clear_override(Intent& intent, DeviceId device);

}  // namespace loom
