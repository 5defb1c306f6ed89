// SPDX-License-Identifier: Apache-2.0
// KeyBundle: the keys that one host needs, and no other: its agents' own pair, the controller's public key, the public keys of
// the other hosts' agents and of relays, and a keyring of whom its agents listen to. A tar of one owner, made where the keyring
// is and taken to the host by hand; no host needs another's files. Never prints a secret.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "runtime/state/state_folder.hpp"

namespace loom {

struct KeyBundle {
  std::string host;                          ///< or "relay-0"
  std::string own;                           ///< the name of its pair: "agents-3", or "relay-0"
  std::map<std::string, std::string> files;  ///< text by name in the key folder

  /// Which of the installation's agent processes it is; nothing: a relay.
  std::optional<std::uint32_t> process() const;
};

/// Of the keys in the folder. Errors: not_found (naming every key that is missing), refused (the keyring does not grant the
/// host's key to an agent), and those of the keys' files.
Result<KeyBundle> make_key_bundle(const StateFolder& files, const std::string& host);

/// Mode 0600. Errors: conflict (the file is there already), storage.
Result<void> write_key_bundle(const std::filesystem::path& file, const KeyBundle& bundle);

/// Errors: not_found; refused (open to others, of another owner, a link); malformed (no such tar, a member that no key bundle
/// has, one that is too long).
Result<KeyBundle> read_key_bundle(const std::filesystem::path& file);

/// Puts into the folder what differs from what is there; returns those names. Errors: refused (the folder has the pair of
/// another process), storage.
Result<std::vector<std::string>> unpack(const KeyBundle& bundle, const StateFolder& files);

}  // namespace loom
