// SPDX-License-Identifier: Apache-2.0
// Each file on its own: what can be read is taken over.
#include "runtime/zmq/keys/agent_keys.hpp"

#include <utility>

#include "core/text/format_text.hpp"

namespace loom {

Result<AgentKeySet> load_agent_keys(const AgentKeyFiles& files) {
  AgentKeySet keys;
  auto own = load_keys(files.own);
  auto controller = load_public_key(files.controller);
  if (!own || !controller) {
    return std::unexpected(!own ? own.error() : controller.error());
  }
  keys.own = *std::move(own);
  keys.controller = *std::move(controller);
  if (auto keyring = load_keyring(files.keyring)) {
    keys.keyring = *std::move(keyring);
  }
  for (std::size_t process = 0; process < files.peers.size(); ++process) {
    // Ours may be behind our pair, whose rotation was interrupted between the two files.
    auto key = process == files.process ? Result<std::string>(keys.own.public_key) : load_public_key(files.peers[process]);
    if (!key) {
      return std::unexpected(key.error());
    }
    keys.peers.push_back(*std::move(key));
  }
  return keys;
}

AgentKeys::AgentKeys(AgentKeyFiles files, AgentKeySet keys, AgentTransport& transport, PeerLinks& peers,
                     AgentKeysListener listener)
    : files_(std::move(files)),
      in_force_(std::move(keys)),
      keyring_(files_.keyring, in_force_.keyring),
      transport_(transport),
      peers_(peers),
      listener_(std::move(listener)) {
  look_at_keyring(KeysWatch::Cause::written);  // says why, if it could not be read
}

void AgentKeys::look(KeysWatch::Cause cause) {
  look_at_keyring(cause);
  // Files of pairs are replaced by rename, which the folder's time shows: no reason to read them all every two seconds.
  std::error_code unknown;
  const auto changed = std::filesystem::last_write_time(files_.own.parent_path(), unknown);
  const bool is_known = std::exchange(folder_seen_, changed) == changed && !unknown;
  if (cause == KeysWatch::Cause::interval && is_known && problem_.empty()) {
    return;
  }
  if (look_at_own()) {
    look_at_controller();
    look_at_peers();
  }
}

void AgentKeys::look_at_keyring(KeysWatch::Cause cause) {
  const auto changed = keyring_.look(cause);
  if (!changed) {
    return;
  }
  if (changed->problem) {
    return listener_.problem(*changed->problem);
  }
  peers_.replace_keyring(keyring_.in_force());
  if (!changed->changes.empty()) {
    listener_.reported("keys: " + sentence_of(*changed));
  }
}

bool AgentKeys::fails(const Error& why) {
  if (std::exchange(problem_, why.message) != why.message) {
    listener_.problem({why.code, "our keys stay as they were: " + why.message,
                       why.next_command.empty() ? "loom keys list" : why.next_command});
  }
  return false;
}

/// A pair that the keyring does not grant would only shut us out.
bool AgentKeys::look_at_own() {
  auto own = load_keys(files_.own);
  if (!own) {
    return fails(own.error());
  }
  if (*own == in_force_.own) {
    problem_.clear();
    return true;
  }
  const Grant* grant = keyring_.in_force().find(own->public_key);
  if (grant == nullptr || grant->role != Role::agent) {
    return fails({ErrorCode::refused,
                  format_text("{} has another key ({}), which {} does not grant to an agent", files_.own.string(),
                              fingerprint_of(own->public_key), files_.keyring.string()),
                  format_text("loom keys grant {} --role agent --nodes FIRST-LAST", files_.own.filename().string())});
  }
  if (auto done = peers_.replace_keys(*own); !done) {
    return fails(done.error());
  }
  if (auto published = listener_.listening(peers_.endpoint()); !published) {
    fails(published.error());  // the others do not find us; the controller shall
  }
  if (auto done = transport_.replace_keys(*own, in_force_.controller); !done) {
    return fails(done.error());
  }
  in_force_.own = *std::move(own);
  problem_.clear();
  listener_.reported(format_text("our key is {} from now on", fingerprint_of(in_force_.own.public_key)));
  return true;
}

void AgentKeys::look_at_controller() {
  auto key = load_public_key(files_.controller);
  if (!key || *key == in_force_.controller) {
    return;  // it is being replaced; the next look finds it whole
  }
  if (auto done = transport_.replace_keys(in_force_.own, *key); !done) {
    fails(done.error());
    return;
  }
  in_force_.controller = *std::move(key);
  listener_.reported(format_text("{}'s key is {} from now on", files_.called, fingerprint_of(in_force_.controller)));
}

void AgentKeys::look_at_peers() {
  for (std::uint32_t process = 0; process < files_.peers.size(); ++process) {
    if (process == files_.process) {
      continue;
    }
    auto key = load_public_key(files_.peers[process]);
    if (key && *key != in_force_.peers[process]) {
      peers_.replace_peer_key(process, *key);
      in_force_.peers[process] = *std::move(key);
    }
  }
}

}  // namespace loom
