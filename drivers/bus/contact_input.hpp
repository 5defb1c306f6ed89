// SPDX-License-Identifier: Apache-2.0
// ContactInput: one interlock contact that can be read. Blocking; one thread owns it. It never judges: what an unreadable
// contact means, and when a closing counts, is core/contact's.
#pragma once

#include <memory>

#include "core/fabric/contact.hpp"
#include "core/result.hpp"

namespace loom {

class ContactInput {
 public:
  virtual ~ContactInput() = default;
  /// Is it closed, and was it not open since the last reading, as far as the input can tell? Blocks for at most about `limit`;
  /// opens what is closed. Errors: unreachable, timed_out, malformed, device_error, naming the place.
  virtual Result<bool> read(Duration limit) = 0;
  /// Returns when it may have changed, at most after `limit`. False: it cannot tell, and did not wait.
  virtual bool wait(Duration limit) = 0;
};

/// Touches nothing yet. Errors: invalid_config (a serial line that cannot be).
Result<std::unique_ptr<ContactInput>> make_contact_input(const ContactEndpoint& endpoint);

}  // namespace loom
