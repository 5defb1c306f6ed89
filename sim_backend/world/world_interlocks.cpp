// SPDX-License-Identifier: Apache-2.0
// Interlock contacts of the simulated world: each node has one of its own beside those of the fabric, so that a fault can open
// it. A process that starts reads its contacts first, and somebody closes the cover and rearms when a fault is over.
#include <algorithm>
#include <string>

#include "core/text/format_text.hpp"
#include "sim_backend/world/world.hpp"

namespace loom {
namespace {

/// Whoever has closed the contact walks to a terminal, and tries again until light may return.
constexpr Duration kRearmAfter = std::chrono::milliseconds{300};

std::string contact_of(NodeId node) { return format_text("of-node-{}", node.value); }

}  // namespace

/// Of a process that has just started: nothing is delivered where the fabric has no contact and no fault ever opened one.
void World::read_contacts(NodeId node) {
  Host& host = *place_of(agent_peer(node)).host;
  for (const InterlockContact& contact : fabric_->interlocks) {
    if (contact.first <= node && node <= contact.last) {
      host.deliver(InterlockChanged{false, contact.name, {}});
    }
  }
  if (const auto contact = open_contacts_.find(node); contact != open_contacts_.end()) {
    unseen_contacts_.erase(node);
    host.deliver(InterlockChanged{contact->second > 0, contact_of(node), {}});
  }
}

void World::set_contact(NodeId node, bool open) {
  open_contacts_[node] += open ? 1 : -1;
  const bool is_open = open_contacts_[node] > 0;  // faults may overlap
  const bool is_read = is_up(agent_peer(node));
  if (open && open_contacts_[node] == 1 && !is_read) {
    unseen_contacts_.insert(node);
  }
  // What opened and closed while no process was there to read it cannot be known to any software.
  const bool was_seen = is_read || !unseen_contacts_.contains(node);
  checker_->note_contact(loop_.now(), node,
                         is_open    ? ContactState::open
                         : was_seen ? ContactState::closed
                                    : ContactState::unread);
  watch_bounds();
  if (is_read) {
    unseen_contacts_.erase(node);
    place_of(agent_peer(node)).host->deliver(InterlockChanged{is_open, contact_of(node), {}});
  }
}

void World::open_interlock(const MachineFault& fault) {
  const NodeId node = *fault.node;
  const Instant end = loop_.now() + fault.lasts;
  history_.note_fault({loop_.now(), end + kRearmAfter, text_of(fault)});
  set_contact(node, true);
  loop_.call_at(end, Precision::ordinary, [this, node] { set_contact(node, false); });
  loop_.call_at(end + kRearmAfter, Precision::ordinary, [this, node] { rearm_until_lit(node); });
}

/// Everything off by an order, or a node in maintenance, is somebody else's to lift.
void World::rearm_until_lit(NodeId node) {
  if (open_contacts_[node] > 0) {
    return;  // another fault has opened it again, and its end looks after it
  }
  const bool is_agent_up = is_up(agent_peer(node));
  if (is_agent_up && agent(node).interlock().own_latch().number == 0) {
    return;
  }
  const auto is_kept_dark = [&](const Intent& intent) {
    return intent.lasers_off || std::ranges::find(intent.maintenance, node) != intent.maintenance.end();
  };
  if (is_agent_up && is_up(controller_peer()) && !is_kept_dark(controller_->intent())) {
    lasers_request(true);
  }
  loop_.call_at(loop_.now() + kRearmAfter, Precision::ordinary, [this, node] { rearm_until_lit(node); });
}

/// What the operator has typed, as it comes to a controller.
void World::note_rearm(const Event& event) {
  const auto* message = std::get_if<MessageArrived>(&event);
  const auto* request = message == nullptr ? nullptr : std::get_if<OperatorRequest>(&message->envelope.body);
  const auto* lasers = request == nullptr ? nullptr : std::get_if<LasersRequest>(&request->ask);
  if (lasers != nullptr && lasers->on) {
    checker_->note_rearm();
  }
}

}  // namespace loom
