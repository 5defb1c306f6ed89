// SPDX-License-Identifier: Apache-2.0
// ContactWatch: an interlock contact under watch, on a thread of its own, so that a slow bus delays nobody. What is believed of
// the contact is core/contact's; changes are told on the loop's thread, in their order. A thread that is stuck in its bus is
// noticed by the loop, which looks at the age of the last reading.
#pragma once

#include <functional>
#include <memory>

#include "core/fabric/contact.hpp"
#include "core/result.hpp"
#include "runtime/post.hpp"
#include "runtime/seams.hpp"

namespace loom {

/// How the contact is read, called by the watch's thread only.
struct ContactPort {
  std::function<Result<bool>(Duration limit)> read;  ///< closed? Blocks for at most about `limit`
  std::function<bool(Duration limit)> wait;          ///< until it may have changed; false: cannot tell. Empty: never can
};

class ContactWatch {
 public:
  using Changed = std::function<void(const ContactChange& change)>;

  /// Begins at once. `time`, `post` and `changed` belong to the loop's thread, and live longer.
  ContactWatch(ContactTimings timings, ContactPort port, TimeSeam& time, Post post, Changed changed);
  /// Waits for a reading under way, and no longer.
  ~ContactWatch();
  ContactWatch(const ContactWatch&) = delete;
  ContactWatch& operator=(const ContactWatch&) = delete;

 private:
  class Core;
  std::shared_ptr<Core> core_;  ///< shared with timers and tasks, which do nothing once the watch is gone
};

}  // namespace loom
