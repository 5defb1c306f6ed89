// SPDX-License-Identifier: Apache-2.0
// Death and return of the world's machines: what a process loses when it is killed, and what its next incarnation starts from.
#include <utility>

#include "sim_backend/world/world.hpp"

namespace loom {
namespace {

/// Of the messages that a process has sent and that are still under way when it dies: how many stood in its own buffers.
constexpr std::uint32_t kUnsentPerMillion = 500'000;

}  // namespace

void World::crash(Peer who, Duration down_for) {
  Place& place = place_of(who);
  if (!place.host) {
    return;
  }
  // At a kill point every effect before it counts as done, so a message sent is a message on its way.
  const std::uint32_t unsent = place.dying ? 0 : kUnsentPerMillion;
  ++crashes_;
  add_counters(buried_, place.host->counters());
  place.host.reset();
  place.dying = false;
  place.kill.at = kNoKillPoint;
  place.disk->crash();
  network_->crash(who, unsent);
  if (who == controller_peer()) {
    controller_.reset();
  } else {
    const NodeId node{static_cast<std::uint32_t>(who.id)};
    agents_[node.value].machine.reset();
    bus_->abandon(node);
  }
  if (down_for != kForever) {
    loop_.call_at(loop_.now() + down_for, Precision::ordinary, [this, who] {
      if (!place_of(who).host) {
        LOOM_ASSERT(revive(who).has_value());  // a simulated disk can always be read
      }
    });
  }
}

Result<void> World::revive(Peer who) {
  if (who == controller_peer()) {
    make_controller();
  } else {
    make_agent(NodeId{static_cast<std::uint32_t>(who.id)});
  }
  const std::uint64_t boot = boot_random_.next();
  LOOM_TRY(place_of(who).host->start(boot));
  if (who.kind == Peer::Kind::agent) {
    read_contacts(NodeId{static_cast<std::uint32_t>(who.id)});
  }
  return {};
}

void World::crash_at(Peer who, std::uint64_t kill_point, Duration down_for) { place_of(who).kill = {kill_point, 0, down_for}; }

/// Cuts the step's effects short at its kill point, if that is here. The host carries out what is left, and then hears no more.
void World::pass_kill_points(Peer who, EffectSink& sink) {
  Place& place = place_of(who);
  std::vector<Effect>& effects = sink.effects();
  const std::uint64_t first = place.kill.passed;
  place.kill.passed += effects.size() + 1;
  if (place.kill.at < first || place.kill.at >= place.kill.passed) {
    return;
  }
  const auto kept = static_cast<std::ptrdiff_t>(place.kill.at - first);
  effects.erase(effects.begin() + kept, effects.end());
  place.dying = true;
  loop_.call_at(loop_.now(), Precision::ordinary, [this, who, down_for = place.kill.down_for] { crash(who, down_for); });
}

void World::add_counters(HostCounters& sum, const HostCounters& counters) {
  sum.events += counters.events;
  sum.effects += counters.effects;
  sum.sent += counters.sent;
  sum.received += counters.received;
  sum.malformed += counters.malformed;
  sum.transactions += counters.transactions;
}

}  // namespace loom
