// SPDX-License-Identifier: Apache-2.0
// Who has a transmitter keeps one: a path that augments only exchanges them.
#include "controller/calibrate/transmitter_matching.hpp"

#include <algorithm>

namespace loom {

bool TransmitterMatching::add(const std::vector<Candidates>& receivers) {
  if (std::ranges::any_of(receivers, [this](const Candidates& each) { return candidates_.contains(each.receiver); })) {
    return false;
  }
  for (const Candidates& each : receivers) {
    std::set<ElementId> tried;
    if (candidates_.emplace(each.receiver, each.transmitters).second && place(each.receiver, tried)) {
      continue;
    }
    // Whoever had one before has one still, if another: only these go.
    for (const Candidates& gone : receivers) {
      candidates_.erase(gone.receiver);
      if (const auto given = transmitter_of_.find(gone.receiver); given != transmitter_of_.end()) {
        receiver_of_.erase(given->second);
        transmitter_of_.erase(given);
      }
    }
    return false;
  }
  return true;
}

bool TransmitterMatching::place(ElementId receiver, std::set<ElementId>& tried) {
  for (const ElementId transmitter : candidates_.at(receiver)) {
    if (!tried.insert(transmitter).second) {
      continue;
    }
    const auto taken = receiver_of_.find(transmitter);
    if (taken == receiver_of_.end() || place(taken->second, tried)) {
      receiver_of_[transmitter] = receiver;
      transmitter_of_[receiver] = transmitter;
      return true;
    }
  }
  return false;
}

std::optional<ElementId> TransmitterMatching::transmitter_of(ElementId receiver) const {
  const auto found = transmitter_of_.find(receiver);
  return found == transmitter_of_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace loom
