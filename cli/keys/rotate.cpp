// SPDX-License-Identifier: Apache-2.0
// A new pair in the place of an old one: let in, put in place, and the old one revoked, in this order. Interrupted between any
// two of them it is run again.
#include <algorithm>
#include <thread>
#include <utility>

#include "cli/keys/change.hpp"
#include "cli/keys/keys.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"
#include "runtime/zmq/keys/keys.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// How long agents may take to come back with a new key.
constexpr auto kComeBack = std::chrono::seconds{10};

int refuse_controller(const StateFolder& files) {
  return give_up(
      {ErrorCode::refused,
       format_text(
           "every agent and operator holds the controller's public key and believes nobody else, so its pair cannot be "
           "replaced under a running controller: whoever did not receive it in time would be shut out. Light stays while it is "
           "done by hand: stop lightloomd; remove {} and {}.pub; `loom keys generate SCENARIO`; start lightloomd; agents that "
           "read this folder take the new key over by themselves, to all others copy controller.pub",
           files.controller_key(), files.controller_key()),
       "loom keys generate SCENARIO"});
}

/// The pair of that principal in this folder, and the one that takes its place (an earlier rotation may have left it).
struct Rotation {
  Grant before;
  KeyPair fresh;
};

Result<Rotation> plan_rotation(const StateFolder& files, const Keyring& keyring, const std::string& name, bool may_make) {
  LOOM_TRY(check_key_name(name));
  const std::string file = files.key(name);
  std::vector<Grant> its = grants_of(keyring, name);
  if (its.empty()) {
    return fail(ErrorCode::not_found, name + " has no key in force", "loom keys list");
  }
  const auto present = load_keys(file);
  const auto held = std::find_if(its.begin(), its.end(),
                                 [&](const Grant& grant) { return present && grant.public_key == present->public_key; });
  if (held == its.end()) {
    return fail(
        ErrorCode::refused,
        format_text("the secret half of key {} is not in {}{}: only who holds it can replace it. There, make a new pair; here, "
                    "revoke the old key and grant the new one",
                    fingerprint_of(its.front().public_key), file, present ? "" : format_text(" ({})", present.error().message)),
        format_text("loom keys revoke {}; loom keys grant {} --key NEW.pub --role {}", name, name, role_word(its.front())));
  }
  Rotation rotation{*held, {}};
  const auto fresh = may_make ? load_or_generate_keys(file + ".next") : load_keys(file + ".next");
  if (fresh) {
    rotation.fresh = *fresh;
  } else if (may_make || fresh.error().code != ErrorCode::not_found) {
    return std::unexpected(fresh.error());
  }
  for (const Grant& other : its) {
    if (other.public_key != held->public_key && other.public_key != rotation.fresh.public_key) {
      return fail(ErrorCode::conflict, format_text("{} has another key, {}, as well", name, fingerprint_of(other.public_key)),
                  "loom keys revoke " + fingerprint_of(other.public_key));
    }
  }
  return rotation;
}

std::vector<NodeId> nodes_of(const Grant& grant) {
  std::vector<NodeId> nodes;
  for (const NodeRange& range : grant.nodes) {
    for (std::uint32_t node = range.first.value; node <= range.last.value; ++node) {
      nodes.push_back(NodeId{node});
    }
  }
  return nodes;
}

/// The agents' words since the old key was revoked prove the new one. Partial: some were there before and are not yet.
int await_agents(KeysController& controller, const std::vector<NodeId>& nodes, std::size_t before, Clock::time_point revoked) {
  const auto deadline = revoked + kComeBack;
  std::size_t back = 0;
  while (Clock::now() < deadline) {
    const auto received = controller.received(nodes, Clock::now() - revoked);
    back = received.value_or(0);
    if (back >= before) {
      print_note(format_text("{} nodes speak with the new key", back));
      return kDone;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  complain(ErrorCode::timed_out,
           format_text("{} of {} nodes speak with the new key; the others' process has not taken it over: its log says why. "
                       "Their light stays",
                       back, before),
           "loom node list");
  return kPartial;
}

}  // namespace

int rotate_key(const Globals& globals, const KeysCommand& order) {
  const StateFolder files(globals.state_dir);
  if (order.name == "controller") {
    return refuse_controller(files);
  }
  const auto keyring = load_keyring(files.keyring());
  if (!keyring) {
    return give_up(keyring.error());
  }
  auto rotation = plan_rotation(files, *keyring, order.name, !globals.dry_run);
  if (!rotation) {
    return give_up(rotation.error());
  }
  if (globals.dry_run) {
    return print_dry(globals, "rotated", {rotation->before});
  }
  Grant after = rotation->before;
  after.public_key = rotation->fresh.public_key;
  const std::vector<NodeId> nodes = nodes_of(rotation->before);
  KeysController controller(globals);
  const std::size_t before = controller.received(nodes, std::chrono::seconds{2}).value_or(0);
  // The new key is let in before anybody uses it, and the old one until then.
  const auto both = write_keyring(files, [&](Keyring& edited) { return edited.add(after); }, true);
  if (!both) {
    return give_up(both.error(), "loom keys list");
  }
  if (const InForce let_in = controller.await(both->keyring.digest(), both->at, false); let_in.state == InForce::State::late) {
    complain(ErrorCode::timed_out, format_text("the new key is {}; the old one stays, run this again", sentence_of(let_in)),
             "loom alarm list");
    return kTimedOut;
  }
  if (auto replaced = replace_key_files(files.key(order.name) + ".next", files.key(order.name)); !replaced) {
    return give_up(replaced.error());
  }
  KeysController asks_with_it(globals);  // our own key may be the new one
  const auto alone = write_keyring(
      files,
      [&](Keyring& edited) -> Result<void> {
        edited.remove(rotation->before.public_key);
        return {};
      },
      true);
  if (!alone) {
    return give_up(alone.error(), "loom keys revoke " + fingerprint_of(rotation->before.public_key));
  }
  const InForce in_force = asks_with_it.await(alone->keyring.digest(), alone->at, false);
  const Clock::time_point revoked = Clock::now();  // until the controller had read the file, words with the old key counted
  const int done = conclude(globals, "rotated", {after}, in_force);
  return done != kDone || before == 0 ? done : await_agents(asks_with_it, nodes, before, revoked);
}

}  // namespace loom::cli
