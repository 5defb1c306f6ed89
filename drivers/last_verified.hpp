// SPDX-License-Identifier: Apache-2.0
// What a device that steers light was last seen to hold. A change takes no light from what it keeps, so a driver that finds
// such a thing gone may not set it again: light may enter it. It says so and gives up; whoever asks for it after that, or after
// an audit has told the loss, has seen to the light.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace loom {

/// `Row`: one thing that is held (a connection, a channel with its port, a heater's voltage), equality comparable.
template <class Row>
class LastVerified {
 public:
  /// What a complete reading at rest found: an audit, or the proof of a fire.
  void see(std::vector<Row> rows) { rows_ = std::move(rows); }
  /// The loss was told, or what the device holds is not known any more.
  void forget() { rows_.reset(); }
  /// The first row that was held, that `target` keeps and that `is_there` finds gone.
  template <class IsThere>
  std::optional<Row> lost(const std::vector<Row>& target, IsThere is_there) const {
    if (!rows_) {
      return std::nullopt;
    }
    const auto gone = std::find_if(rows_->begin(), rows_->end(), [&](const Row& row) {
      return std::find(target.begin(), target.end(), row) != target.end() && !is_there(row);
    });
    return gone == rows_->end() ? std::nullopt : std::optional(*gone);
  }

 private:
  std::optional<std::vector<Row>> rows_;
};

}  // namespace loom
