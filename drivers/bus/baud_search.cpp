// SPDX-License-Identifier: Apache-2.0
// Speeds in turn.
#include "drivers/bus/baud_search.hpp"

namespace loom {

int BaudSearch::speed_for(const std::vector<std::uint8_t>& request) {
  if (!is_found_ && heard_ && request == request_) {
    go_on();  // bytes that made no sense
  } else if (heard_) {
    is_found_ = true;
  }
  request_ = request;
  return speed();
}

void BaudSearch::ended(bool heard) {
  heard_ = heard;
  failures_ = heard ? 0 : failures_ + 1;
  if (!heard && (!is_found_ || failures_ >= kPatience)) {
    go_on();
  }
}

/// A module that lost its power speaks as it was delivered: the search begins there again.
void BaudSearch::go_on() {
  place_ = is_found_ && place_ != 0 ? 0 : (place_ + 1) % kSpeeds.size();
  is_found_ = false;
  heard_ = false;
  failures_ = 0;
}

}  // namespace loom
