// SPDX-License-Identifier: Apache-2.0
// What a controller's rows say of a look's lights.
#include "controller/calibrate/light_survey.hpp"

#include <algorithm>

namespace loom {

ReceivedLights lights_at(const std::vector<ReceiverReport>& rows, const std::vector<ElementId>& receivers) {
  ReceivedLights lights;
  for (const ReceiverReport& row : rows) {
    if (row.since_commit && std::ranges::binary_search(receivers, row.receiver)) {
      lights[row.receiver].power = row.power;
    }
  }
  return lights;
}

bool add_ways(const std::vector<WayReport>& rows, ReceivedLights& lights) {
  bool is_whole = true;
  for (const WayReport& row : rows) {
    if (const auto light = lights.find(row.receiver); light != lights.end()) {
      light->second.expected = row.expected;
      light->second.frequency = row.measured;
      is_whole = is_whole && (row.measured || !row.wavemeter);
    }
  }
  return is_whole;
}

}  // namespace loom
