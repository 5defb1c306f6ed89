// The latch and its one rule: off at once, on only by a newer order.
#include "agents/interlock.hpp"

#include <string>

namespace loom {

Interlock::Change Interlock::order(const SetLasers& order) {
  const bool repeated = order.order == latch_.order && (order.on || latch_.lasers_off);
  if (order.order < latch_.order || repeated) {
    return Change::none;
  }
  latch_.order = order.order;
  if (order.on && contact_open_) {
    return Change::held;
  }
  const bool was_off = latch_.lasers_off;
  latch_.lasers_off = !order.on;
  if (order.on) {
    return was_off ? Change::lifted : Change::none;
  }
  return Change::latched;
}

Interlock::Change Interlock::contact(bool open) {
  contact_open_ = open;
  if (!open || latch_.lasers_off) {
    return Change::none;
  }
  latch_.lasers_off = true;
  return Change::latched;
}

Error Interlock::refusal(NodeId node) const {
  return {ErrorCode::refused,
          "lasers of node " + std::to_string(node.value) + " are latched off (" +
              (contact_open_ ? std::string("interlock contact open") : "order " + std::to_string(latch_.order)) +
              "); `loom lasers rearm` lifts it"};
}

}  // namespace loom
