// SPDX-License-Identifier: Apache-2.0
// AgentKeys: the keys of one agent process while it runs. When their files change it takes them over without a restart: its own
// pair (connections are made anew, light stays as it is), the controller's public key, the other processes' public keys, and
// the keyring that says which of those may connect. What cannot be taken over leaves the old keys in force and is told once.
// Loop's thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runtime/zmq/agent_transport.hpp"
#include "runtime/zmq/keys/keyring_file.hpp"
#include "runtime/zmq/peer/peer_links.hpp"

namespace loom {

/// Where they lie.
struct AgentKeyFiles {
  std::filesystem::path own;
  std::filesystem::path controller;  ///< the public half
  std::filesystem::path keyring;
  std::uint32_t process = 0;                 ///< which of `peers` we are
  std::vector<std::filesystem::path> peers;  ///< public halves, by process, ours included
  std::string called{"the controller"};      ///< in sentences: whose key `controller` is; or "relay-0"
};

struct AgentKeySet {
  KeyPair own;
  std::string controller;
  Keyring keyring;                 ///< empty: it could not be read, nobody else may connect
  std::vector<std::string> peers;  ///< by process
};

/// What a process starts with. Errors: as load_keys() and load_public_key().
Result<AgentKeySet> load_agent_keys(const AgentKeyFiles& files);

struct AgentKeysListener {
  std::function<void(const std::string& sentence)> reported;
  std::function<void(const Error& problem)> problem;
  /// The links listen elsewhere now. Errors are told as problems.
  std::function<Result<void>(const std::string& endpoint)> listening;
};

class AgentKeys {
 public:
  /// `keys` are what `transport` and `peers` were opened with; both outlive this.
  AgentKeys(AgentKeyFiles files, AgentKeySet keys, AgentTransport& transport, PeerLinks& peers, AgentKeysListener listener);

  /// Reads what changed and takes it over.
  void look(KeysWatch::Cause cause);

 private:
  void look_at_keyring(KeysWatch::Cause cause);
  /// False: our own keys cannot be read, so nothing else of that folder is believed.
  bool look_at_own();
  void look_at_controller();
  void look_at_peers();
  bool fails(const Error& why);

  AgentKeyFiles files_;
  AgentKeySet in_force_;
  KeyringFile keyring_;
  AgentTransport& transport_;
  PeerLinks& peers_;
  AgentKeysListener listener_;
  std::string problem_;  ///< told; empty: none
  std::filesystem::file_time_type folder_seen_{};
};

}  // namespace loom
