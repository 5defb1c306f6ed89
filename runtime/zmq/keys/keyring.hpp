// SPDX-License-Identifier: Apache-2.0
// Keyring: which keys a controller knows, and what each may be: principal, role, and the nodes that it may speak for. One line
// a key; a key that is not here never gets a word through.
//
//   <public key, Z85> <viewer|operator|admin|agent|relay> <principal> [<nodes, e.g. 0-1023,2000>]
//   <public key, Z85> revoked <principal>
//
// Lines that begin with "# " are comments (a key may begin with '#', but has no space). A revoked key keeps its line, so that
// nothing that makes missing keys by itself (a lab that starts, `loom keys generate`) grants it anew.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/message.hpp"
#include "core/result.hpp"

namespace loom {

/// Both ends included.
struct NodeRange {
  NodeId first;
  NodeId last;
  bool operator==(const NodeRange&) const = default;
};

inline constexpr std::size_t kPrincipalCharacters = 255;
/// One word of 1 to kPrincipalCharacters characters.
bool is_principal(std::string_view name);

struct Grant {
  std::string public_key;  ///< Z85
  Role role = Role::viewer;
  std::string principal;         ///< 1..255 characters without white space
  std::vector<NodeRange> nodes;  ///< of an agent's or a relay's key; others have none
  bool is_relay = false;         ///< of an agent's: it passes on what others say, and says who they are

  bool may_speak_for(NodeId node) const;
  bool operator==(const Grant&) const = default;
};

/// viewer, operator, admin, agent, relay.
std::string_view role_word(const Grant& grant);
/// Gives the grant the role of this word. False: there is none.
bool set_role(Grant& grant, std::string_view word);

class Keyring {
 public:
  /// Null: nobody that we know.
  const Grant* find(std::string_view public_key) const;
  /// Adds, or replaces what the key had. Errors: malformed, out_of_range (a node beyond limits::kNodes).
  Result<void> add(Grant grant);
  /// False: it has no such key. The key is known as revoked from then on, until it is added again.
  bool remove(std::string_view public_key);
  /// Who speaks for the node with a key that this keyring has: its principal; with a relay's "RELAY/PRINCIPAL", where an
  /// agent's key of that principal may speak for the node. Errors: malformed (a relay that does not say for whom, in one word),
  /// refused (for somebody whose key is not here, or not for that node).
  Result<std::string> speaker_of(const Grant& grant, NodeId node, std::string_view said) const;
  /// Had it once, and was told to let it in no more.
  bool is_revoked(std::string_view public_key) const { return revoked_.contains(public_key); }
  /// By ascending key.
  std::vector<Grant> grants() const;
  bool is_empty() const { return grants_.empty(); }
  /// Of what it grants, so that two can be compared without showing them; never 0. No protection against a forger.
  std::uint64_t digest() const;

  std::string to_text() const;
  /// Errors: malformed, out_of_range, conflict (a key twice); each names the line.
  static Result<Keyring> from_text(std::string_view name, std::string_view text);

 private:
  void forget(const Grant& grant);

  std::map<std::string, Grant, std::less<>> grants_;
  std::multimap<std::string, std::string, std::less<>> agents_;  ///< keys of agents, by principal
  std::map<std::string, std::string, std::less<>> revoked_;      ///< key -> whose it was
};

/// What people call a key: its first 8 bytes in hexadecimal. Precondition: check_key() has passed it.
std::string fingerprint_of(std::string_view public_key);

/// Errors: as read_private_file() and Keyring::from_text().
Result<Keyring> load_keyring(const std::filesystem::path& file);

/// Reads the file (made when it is not there), has it changed and writes it, if that made a difference; several at a time wait
/// for each other. Blocks on the disk. Errors: as load_keyring() and `edit`, storage.
Result<void> change_keyring(const std::filesystem::path& file, const std::function<Result<void>(Keyring&)>& edit);

/// Adds one grant to the file (made when it is not there); several at a time wait for each other. Blocks on the disk.
Result<void> grant(const std::filesystem::path& file, const Grant& grant);
/// Errors: not_found (the key is not in the file).
Result<void> revoke(const std::filesystem::path& file, std::string_view public_key);

/// "0-1023,2000". Errors: malformed, out_of_range.
Result<std::vector<NodeRange>> parse_node_ranges(std::string_view text);

}  // namespace loom
