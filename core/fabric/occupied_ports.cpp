// SPDX-License-Identifier: Apache-2.0
// Searches.
#include "core/fabric/occupied_ports.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom {

bool ascends(CrossConnect a, CrossConnect b) { return a.input != b.input ? a.input < b.input : a.output < b.output; }

bool contains(const std::vector<CrossConnect>& connects, CrossConnect wanted) {
  return std::ranges::binary_search(connects, wanted, ascends);
}

std::vector<CrossConnect> with_ours(std::vector<CrossConnect> connects, std::vector<CrossConnect> more) {
  if (more.empty()) {
    return connects;
  }
  connects.insert(connects.end(), more.begin(), more.end());
  std::ranges::sort(connects, ascends);
  const auto again = std::ranges::unique(connects);
  connects.erase(again.begin(), again.end());
  return connects;
}

bool is_connected(const CircuitSwitchObservation& seen, CrossConnect wanted) {
  return contains(seen.connects, wanted) || contains(seen.occupied, wanted);
}

std::optional<CrossConnect> occupant_of(const std::vector<CrossConnect>& occupied, CrossConnect wanted) {
  const auto found = std::ranges::find_if(
      occupied, [&](CrossConnect each) { return (each.input == wanted.input) != (each.output == wanted.output); });
  return found == occupied.end() ? std::nullopt : std::optional(*found);
}

std::vector<CrossConnect> connects_between_ours(const CircuitSwitchObservation& seen) {
  std::vector<CrossConnect> all = seen.connects;
  std::ranges::copy_if(seen.occupied, std::back_inserter(all),
                       [](CrossConnect each) { return each.input != kPortElsewhere && each.output != kPortElsewhere; });
  std::ranges::sort(all, ascends);
  return all;
}

std::vector<CrossConnect> others_beside(const CircuitSwitchObservation& seen, const std::vector<CrossConnect>& ours) {
  std::vector<CrossConnect> others;
  std::ranges::copy_if(seen.occupied, std::back_inserter(others), [&](CrossConnect each) { return !contains(ours, each); });
  return others;
}

std::string describe_occupant(CrossConnect occupant) {
  if (occupant.output == kPortElsewhere || occupant.input == kPortElsewhere) {
    const bool is_input = occupant.output == kPortElsewhere;
    return format_text("{} {} is connected to a port that is none of ours; disconnect it there", is_input ? "input" : "output",
                       is_input ? occupant.input : occupant.output);
  }
  return format_text(
      "input {} is connected to output {} by somebody else; disconnect it there, or set foreign: remove in its profile",
      occupant.input, occupant.output);
}

}  // namespace loom
