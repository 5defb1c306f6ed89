// SPDX-License-Identifier: Apache-2.0
// The latch and its rules: off at once, on only by a newer order that means this latch, and by none while a contact is open.
#include "agents/devices/interlock.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::string_view kReadClosed = ", and is read closed since ";

/// The same cause, of a contact that is closed now.
std::string was_open(std::string cause) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kWords{
      {{" is open since ", " was open since "}, {" counts as open: ", " counted as open: "}}};
  for (const auto& [is, was] : kWords) {
    if (const auto at = cause.find(is); at != std::string::npos) {
      cause.replace(at, is.size(), was);
    }
  }
  return cause;
}

}  // namespace

Interlock::Interlock(const std::vector<std::string>& contacts) {
  for (const std::string& name : contacts) {
    contacts_.push_back({name, ContactState::unread, "has not been read closed yet"});
  }
}

Interlock::Change Interlock::order(const SetLasers& order) {
  if (order.of_node) {
    return order_of_node(order);
  }
  const bool repeated = order.order == latch_.order && (order.on || (latch_.lasers_off && !latch_.is_own));
  if (order.order < latch_.order || repeated) {
    return Change::none;
  }
  latch_.order = order.order;
  if (!order.on) {
    const bool was_off = latch_.lasers_off;
    latch_.lasers_off = true;  // an own latch stays one: whoever lifts the order has not seen to what closed it
    return was_off && latch_.is_own ? Change::none : Change::latched;
  }
  const bool is_meant = !latch_.is_own || order.own_latch == latch_.own_count;
  if (latch_.lasers_off && (!is_meant || first_not_closed() != nullptr)) {
    return Change::held;
  }
  latch_.is_own = false;
  latch_.cause.clear();
  return std::exchange(latch_.lasers_off, false) && !latch_.node_off ? Change::lifted : Change::none;
}

/// Whoever takes a node into service again knows of nothing else that keeps it dark.
Interlock::Change Interlock::order_of_node(const SetLasers& order) {
  if (order.order < latch_.node_order || (order.order == latch_.node_order && (order.on || latch_.node_off))) {
    return Change::none;
  }
  latch_.node_order = order.order;
  const bool was_latched = latched();
  latch_.node_off = !order.on;
  if (was_latched == latched()) {
    return Change::none;
  }
  return latched() ? Change::latched : Change::lifted;
}

Interlock::Change Interlock::latch_own(std::string cause) {
  const bool was_off = latch_.lasers_off;
  latch_.lasers_off = true;
  latch_.is_own = true;
  ++latch_.own_count;
  latch_.cause = std::move(cause);
  return was_off ? Change::none : Change::latched;
}

Interlock::Change Interlock::contact(const InterlockChanged& change, const std::string& since) {
  Contact& contact = find(change.contact);
  const ContactState before = std::exchange(contact.state, change.open ? ContactState::open : ContactState::closed);
  if (!change.open) {
    if (before != ContactState::closed) {
      outdate_rearms(contact, since);
    }
    return Change::none;
  }
  contact.words = format_text("{} since {}", change.problem.empty() ? "is open" : "counts as open: " + change.problem, since);
  return latch_own(format_text("interlock contact {} {}", contact.name, contact.words));
}

/// Whoever rearmed before the contact was closed, or before this process has read it so, did not know that it would be: what he
/// ordered names another latch from now on. The same darkness goes on.
void Interlock::outdate_rearms(const Contact& closed, const std::string& since) {
  if (!latch_.lasers_off || !latch_.is_own) {
    return;
  }
  ++latch_.own_count;
  const Contact* next = first_not_closed();
  if (!latch_.cause.contains(format_text("contact {} ", closed.name))) {
    return;  // something else latched it
  }
  if (next != nullptr && next->state == ContactState::open) {
    latch_.cause = format_text("interlock contact {} {}", next->name, next->words);
  } else if (!latch_.cause.contains(kReadClosed)) {  // else an earlier process has said so
    latch_.cause = was_open(latch_.cause) + format_text("{}{}", kReadClosed, since);
  }
}

Interlock::Change Interlock::order_here(const std::string& principal, const std::string& since) {
  return latch_own(format_text("lasers off was ordered at this agent by {} at {}", principal, since));
}

Interlock::Contact& Interlock::find(const std::string& name) {
  const auto found = std::find_if(contacts_.begin(), contacts_.end(), [&](const Contact& each) { return each.name == name; });
  return found == contacts_.end() ? contacts_.emplace_back(Contact{name, ContactState::unread, {}}) : *found;
}

const Interlock::Contact* Interlock::first_not_closed() const {
  const auto found =
      std::find_if(contacts_.begin(), contacts_.end(), [](const Contact& each) { return each.state != ContactState::closed; });
  return found == contacts_.end() ? nullptr : &*found;
}

bool Interlock::bars_light() const { return latched() || first_not_closed() != nullptr; }

OwnLatch Interlock::own_latch() const {
  return latch_.lasers_off && latch_.is_own ? OwnLatch{latch_.own_count, latch_.cause} : OwnLatch{};
}

Error Interlock::refusal(NodeId node) const {
  const std::string lasers = format_text("lasers of node {}", node.value);
  const Contact* contact = first_not_closed();
  const std::string of_node =
      latch_.node_off
          ? format_text(
                "as a node out of service (order {}); `loom node maintenance {} off`, or else `loom lasers rearm`, lifts that",
                latch_.node_order, node.value)
          : std::string{};
  if (!latch_.lasers_off && contact == nullptr) {
    return {ErrorCode::refused, format_text("{} are latched off {}", lasers, of_node)};
  }
  if (!latch_.lasers_off) {
    return {ErrorCode::refused, format_text("{} stay dark: interlock contact {} {}{}{}", lasers, contact->name, contact->words,
                                            of_node.empty() ? "" : "; and are latched off ", of_node)};
  }
  const std::string cause = latch_.is_own ? latch_.cause : format_text("order {}", latch_.order);
  const bool is_held = contact != nullptr && contact->state != ContactState::closed;
  const bool is_reported = is_held && cause.contains(format_text("contact {} ", contact->name));
  return {ErrorCode::refused,
          format_text("{} are latched off ({}{}); {}`loom lasers rearm` lifts it{}{}", lasers, cause,
                      is_held && !is_reported ? format_text("; contact {} {}", contact->name, contact->words) : "",
                      is_held ? "close the contact, then " : "", of_node.empty() ? "" : "; and ", of_node)};
}

}  // namespace loom
