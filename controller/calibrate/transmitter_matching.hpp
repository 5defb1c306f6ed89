// SPDX-License-Identifier: Apache-2.0
// A transmitter of its own for each receiver that is looked at (Kuhn's augmenting paths). Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/ids.hpp"

namespace loom {

/// A receiver and the transmitters whose light could come to it, best first.
struct Candidates {
  ElementId receiver;
  std::vector<ElementId> transmitters;
};

class TransmitterMatching {
 public:
  /// All of them, beside those that have one, or none.
  bool add(const std::vector<Candidates>& receivers);
  std::optional<ElementId> transmitter_of(ElementId receiver) const;

 private:
  bool place(ElementId receiver, std::set<ElementId>& tried);

  std::map<ElementId, std::vector<ElementId>> candidates_;  ///< by receiver
  std::map<ElementId, ElementId> receiver_of_;              ///< by transmitter
  std::map<ElementId, ElementId> transmitter_of_;           ///< by receiver: the same
};

}  // namespace loom
