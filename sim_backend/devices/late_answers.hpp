// SPDX-License-Identifier: Apache-2.0
// LateAnswers: frames on a line that come when nobody waits for them any more, or when somebody waits for another.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/time.hpp"
#include "core/transaction.hpp"

namespace loom {

struct ModelReply {
  BusReply reply;
  Duration service_time{};  ///< wire (baud, bytes) and device; the lane is busy for it and delivers the reply after it
};

class LateAnswers {
 public:
  /// What comes first after a question of `now` that is answered so: a lane empties its input before it asks, and takes the
  /// next frame for the answer, whichever it is. A timeout: nothing comes in time.
  ModelReply first(Instant now, Duration deadline, ModelReply answer) {
    std::erase_if(waiting_, [now](const Waiting& each) { return each.at < now; });
    const Instant at = now + answer.service_time;
    waiting_.insert(std::ranges::upper_bound(waiting_, at, {}, &Waiting::at), {at, std::move(answer.reply)});
    if (waiting_.front().at - now > deadline) {
      return {{BusStatus::timeout, 0, {}, {}}, deadline};
    }
    ModelReply first{std::move(waiting_.front().reply), waiting_.front().at - now};
    waiting_.erase(waiting_.begin());
    return first;
  }
  void clear() { waiting_.clear(); }

 private:
  struct Waiting {
    Instant at{};
    BusReply reply;
  };
  std::vector<Waiting> waiting_;  ///< ascending
};

}  // namespace loom
