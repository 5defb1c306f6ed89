// What a switch was proven to hold. A change takes no light from what it keeps, so a driver that finds such a thing gone may
// not set it again: light may enter it. The same target may (a repair), and any that comes after the loss was told: whoever
// asks for that has seen to the light.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

namespace loom {

/// `Row`: one thing that is held (a connection, a channel with its port), equality comparable.
template <class Row>
class Held {
 public:
  /// The target read back as wanted.
  void prove(const std::vector<Row>& target) { rows_ = target; }
  /// The loss was told, or what the device holds is not known any more.
  void forget() { rows_.reset(); }
  /// The first row that was proven, that another `target` keeps and that `is_there` finds gone.
  template <class IsThere>
  std::optional<Row> lost(const std::vector<Row>& target, IsThere is_there) const {
    if (!rows_ || *rows_ == target) {
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
