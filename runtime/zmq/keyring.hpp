// Keyring: which keys a controller knows, and what each may be: principal, role, and the nodes that it may speak for. One line
// a key; a key that is not here never gets a word through.
//
//   <public key, Z85> <viewer|operator|admin|agent> <principal> [<nodes, e.g. 0-1023,2000>]
//
// Lines that begin with "# " are comments (a key may begin with '#', but has no space).
#pragma once

#include <cstdint>
#include <filesystem>
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

struct Grant {
  std::string public_key;  ///< Z85
  Role role = Role::viewer;
  std::string principal;         ///< 1..255 characters without white space
  std::vector<NodeRange> nodes;  ///< of an agent's key; others have none

  bool may_speak_for(NodeId node) const;
  bool operator==(const Grant&) const = default;
};

class Keyring {
 public:
  /// Null: nobody that we know.
  const Grant* find(std::string_view public_key) const;
  /// Adds, or replaces what the key had. Errors: malformed, out_of_range (a node beyond limits::kNodes).
  Result<void> add(Grant grant);
  bool remove(std::string_view public_key);
  /// By ascending key.
  std::vector<Grant> grants() const;

  std::string to_text() const;
  /// Errors: malformed, out_of_range, conflict (a key twice); each names the line.
  static Result<Keyring> from_text(std::string_view name, std::string_view text);

 private:
  std::map<std::string, Grant, std::less<>> grants_;
};

/// Errors: as read_private_file() and Keyring::from_text().
Result<Keyring> load_keyring(const std::filesystem::path& file);

/// Adds one grant to the file (made when it is not there); several at a time wait for each other. Blocks on the disk.
Result<void> grant(const std::filesystem::path& file, const Grant& grant);
/// Errors: not_found (the key is not in the file).
Result<void> revoke(const std::filesystem::path& file, std::string_view public_key);

/// "0-1023,2000". Errors: malformed, out_of_range.
Result<std::vector<NodeRange>> parse_node_ranges(std::string_view text);

}  // namespace loom
