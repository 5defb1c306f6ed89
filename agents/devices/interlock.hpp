// SPDX-License-Identifier: Apache-2.0
// Interlock: the latch that overrides everything, fail-static included. Closed by an order of the controller, by an order at
// the agent's own process, or by a hard-wired contact. An order of the controller is lifted by a newer one; what the agent
// latched by itself only by a rearm that names that latch, so that no order given before it, or for another reason, can lift
// it. A contact that is closed makes it another latch: a rearm that was given while it was open lifts nothing afterwards.
// Never lifted while a contact is open, and it never relights: light returns with the next commit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fabric/contact.hpp"
#include "core/journal/journal.hpp"
#include "core/message.hpp"
#include "core/result.hpp"
#include "core/step.hpp"

namespace loom {

class Interlock {
 public:
  enum class Change : std::uint8_t {
    none,
    latched,
    lifted,
    held,  ///< a lifting order that does not lift: a contact is open, or it does not name the agent's own latch
  };

  /// `contacts`: that cover this node. Until each of them was found closed there is no light, and no latch.
  explicit Interlock(const std::vector<std::string>& contacts = {});

  /// As an earlier incarnation left it.
  void restore(const LatchRecord& latch) { latch_ = latch; }
  /// Real-time safe.
  Change order(const SetLasers& order);
  /// `since`: wall-clock time, for people.
  Change contact(const InterlockChanged& change, const std::string& since);
  /// Off, by an order that was given at this process by `principal`.
  Change order_here(const std::string& principal, const std::string& since);

  bool latched() const { return latch_.latched(); }
  /// By an order about this node alone.
  bool latched_as_node() const { return latch_.node_off; }
  /// By anything else; or a contact is not known to be closed.
  bool bars_light_beside_node() const { return latch_.lasers_off || first_not_closed() != nullptr; }
  /// Latched, or a contact is not known to be closed. Real-time safe.
  bool bars_light() const;
  const LatchRecord& record() const { return latch_; }
  /// For the controller; number 0: no latch of its own stands.
  OwnLatch own_latch() const;
  /// Why nothing may be lit now, naming the latch or the contact. Precondition: bars_light().
  Error refusal(NodeId node) const;

 private:
  struct Contact {
    std::string name;
    ContactState state = ContactState::unread;
    std::string words;  ///< "is open since ..."
  };
  const Contact* first_not_closed() const;
  Contact& find(const std::string& name);
  Change latch_own(std::string cause);
  Change order_of_node(const SetLasers& order);
  void outdate_rearms(const Contact& closed, const std::string& since);

  LatchRecord latch_;
  std::vector<Contact> contacts_;
};

}  // namespace loom
