// SPDX-License-Identifier: Apache-2.0
// Lines of a keyring, and changing them under a lock.
#include "runtime/zmq/keys/keyring.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

#include "core/digest.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"
#include "runtime/zmq/keys/keys.hpp"

namespace loom {
namespace {

constexpr std::size_t kKeyringBytes = 16u << 20;  ///< of the file: 65,536 agents' keys take half of it
constexpr std::string_view kRevoked = "revoked";
constexpr std::string_view kRelay = "relay";
constexpr std::array kGrantable{Role::viewer, Role::operator_, Role::admin, Role::agent};

Result<NodeId> parse_node(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return fail(ErrorCode::malformed, format_text("'{}' is no node number", text));
  }
  if (value >= limits::kNodes) {
    return fail(ErrorCode::out_of_range, format_text("node {} is above {}", value, limits::kNodes - 1));
  }
  return NodeId{static_cast<std::uint32_t>(value)};
}

struct KeyLine {
  Grant grant;
  bool is_revoked = false;
};

Result<KeyLine> parse_line(const std::string& line) {
  std::istringstream words(line);
  KeyLine read;
  Grant& grant = read.grant;
  std::string role;
  std::string nodes;
  std::string rest;
  words >> grant.public_key >> role >> grant.principal >> nodes >> rest;
  if (grant.principal.empty() || !rest.empty()) {
    return fail(ErrorCode::malformed, "expected: KEY ROLE PRINCIPAL [NODES]");
  }
  if (role == kRevoked && nodes.empty()) {
    read.is_revoked = true;
    return read;
  }
  if (!set_role(grant, role)) {
    return fail(ErrorCode::malformed, format_text("role '{}' is none of viewer, operator, admin, agent, relay, revoked", role));
  }
  if (!nodes.empty()) {
    auto ranges = parse_node_ranges(nodes);
    if (!ranges) {
      return std::unexpected(ranges.error());
    }
    grant.nodes = std::move(*ranges);
  }
  return read;
}

Result<void> check_grant(const Grant& grant) {
  LOOM_TRY(check_key("the public key", grant.public_key));
  if (!is_principal(grant.principal)) {
    return fail(ErrorCode::malformed,
                format_text("principal '{}' must be one word of 1..{} characters", grant.principal, kPrincipalCharacters));
  }
  if (std::find(kGrantable.begin(), kGrantable.end(), grant.role) == kGrantable.end()) {
    return fail(ErrorCode::malformed, format_text("role {} cannot be granted to a key", to_string(grant.role)));
  }
  if (grant.role != Role::agent && !grant.nodes.empty()) {
    return fail(ErrorCode::malformed,
                format_text("only an agent's key speaks for nodes, this one is a key of role {}", to_string(grant.role)));
  }
  for (const NodeRange& range : grant.nodes) {
    if (range.first > range.last || range.last.value >= limits::kNodes) {
      return fail(ErrorCode::out_of_range,
                  format_text("nodes {}-{} are no range below {}", range.first.value, range.last.value, limits::kNodes));
    }
  }
  return {};
}

}  // namespace

bool is_principal(std::string_view name) {
  const bool is_word = std::ranges::none_of(name, [](unsigned char c) { return c <= ' ' || c == 0x7F; });
  return !name.empty() && name.size() <= kPrincipalCharacters && is_word;
}

std::string_view role_word(const Grant& grant) { return grant.is_relay ? kRelay : to_string(grant.role); }

bool set_role(Grant& grant, std::string_view word) {
  grant.is_relay = word == kRelay;
  const auto* role =
      std::ranges::find(kGrantable, grant.is_relay ? to_string(Role::agent) : word, [](Role one) { return to_string(one); });
  if (role == kGrantable.end()) {
    return false;
  }
  grant.role = *role;
  return true;
}

/// While nobody else does.
Result<void> change_keyring(const std::filesystem::path& file, const std::function<Result<void>(Keyring&)>& edit) {
  // A first write makes the directory, so that there is something to lock.
  const auto begun = write_whole_file({file, "", 0600, false});
  if (!begun && begun.error().code != ErrorCode::conflict) {
    return begun;
  }
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0 || ::flock(lock, LOCK_EX) != 0) {
    return fail(ErrorCode::storage, format_text("cannot lock {}: {}", folder, std::strerror(errno)));
  }
  const auto result = [&]() -> Result<void> {
    auto keyring = load_keyring(file);
    if (!keyring) {
      return std::unexpected(keyring.error());
    }
    const std::string before = keyring->to_text();
    LOOM_TRY(edit(*keyring));
    const std::string after = keyring->to_text();
    return after == before ? Result<void>{} : write_whole_file({file, after, 0600, true});
  }();
  ::close(lock);
  return result;
}

bool Grant::may_speak_for(NodeId node) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const NodeRange& range) { return range.first <= node && node <= range.last; });
}

const Grant* Keyring::find(std::string_view public_key) const {
  const auto at = grants_.find(public_key);
  return at == grants_.end() ? nullptr : &at->second;
}

Result<void> Keyring::add(Grant grant) {
  LOOM_TRY(check_grant(grant));
  std::string key = grant.public_key;
  revoked_.erase(key);
  if (const auto before = grants_.find(key); before != grants_.end()) {
    forget(before->second);
  }
  if (grant.role == Role::agent && !grant.is_relay) {
    agents_.emplace(grant.principal, key);
  }
  grants_.insert_or_assign(std::move(key), std::move(grant));
  return {};
}

bool Keyring::remove(std::string_view public_key) {
  const auto at = grants_.find(public_key);
  if (at == grants_.end()) {
    return false;
  }
  revoked_.insert_or_assign(at->first, at->second.principal);
  forget(at->second);
  grants_.erase(at);
  return true;
}

void Keyring::forget(const Grant& grant) {
  const auto [first, last] = agents_.equal_range(grant.principal);
  const auto its = std::find_if(first, last, [&](const auto& entry) { return entry.second == grant.public_key; });
  if (its != last) {
    agents_.erase(its);
  }
}

Result<std::string> Keyring::speaker_of(const Grant& grant, NodeId node, std::string_view said) const {
  if (!grant.is_relay) {
    return grant.principal;
  }
  if (!is_principal(said)) {
    return fail(ErrorCode::malformed,
                format_text("{} passes on an envelope and does not say whose, in one word of 1..{} characters", grant.principal,
                            kPrincipalCharacters));
  }
  const auto [first, last] = agents_.equal_range(said);
  const bool is_known = std::any_of(first, last, [&](const auto& entry) { return find(entry.second)->may_speak_for(node); });
  if (!is_known) {
    return fail(ErrorCode::refused, format_text("{} passes on what {} says for node {}, for which no key of {} may speak",
                                                grant.principal, said, node.value, said));
  }
  return format_text("{}/{}", grant.principal, said);
}

std::vector<Grant> Keyring::grants() const {
  std::vector<Grant> all;
  for (const auto& [key, grant] : grants_) {
    all.push_back(grant);
  }
  return all;
}

std::uint64_t Keyring::digest() const {
  Digest digest;
  for (const auto& [key, grant] : grants_) {
    digest.add(key);
    digest.add(static_cast<std::uint64_t>(grant.role) | (grant.is_relay ? 0x100U : 0U));
    digest.add(grant.principal);
    for (const NodeRange& range : grant.nodes) {
      digest.add(std::uint64_t{range.first.value} << 32U | range.last.value);
    }
  }
  return digest.value() == 0 ? 1 : digest.value();
}

std::string fingerprint_of(std::string_view public_key) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<std::uint8_t, 32> bytes{};
  const std::string terminated{public_key};
  LOOM_ASSERT(public_key.size() == kKeyCharacters && zmq_z85_decode(bytes.data(), terminated.c_str()) != nullptr);
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) {
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 15U];
  }
  return text;
}

std::string Keyring::to_text() const {
  std::string text = "# public key, role, principal, nodes that it may speak for\n";
  for (const auto& [key, grant] : grants_) {
    text += format_text("{} {} {}", key, role_word(grant), grant.principal);
    for (std::size_t i = 0; i < grant.nodes.size(); ++i) {
      text += format_text("{}{}-{}", i == 0 ? " " : ",", grant.nodes[i].first.value, grant.nodes[i].last.value);
    }
    text += '\n';
  }
  for (const auto& [key, principal] : revoked_) {
    text += format_text("{} {} {}\n", key, kRevoked, principal);
  }
  return text;
}

Result<Keyring> Keyring::from_text(std::string_view name, std::string_view text) {
  Keyring keyring;
  std::istringstream lines{std::string{text}};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with("# ")) {
      continue;
    }
    const std::string where = format_text("{}:{}: ", name, number);
    auto line_of_key = parse_line(line);
    if (!line_of_key) {
      return fail(line_of_key.error().code, where + line_of_key.error().message);
    }
    const std::string key = line_of_key->grant.public_key;
    if (keyring.find(key) != nullptr || keyring.is_revoked(key)) {
      return fail(ErrorCode::conflict, where + "this key has a line already");
    }
    if (auto added = keyring.add(std::move(line_of_key->grant)); !added) {
      return fail(added.error().code, where + added.error().message);
    }
    if (line_of_key->is_revoked) {
      keyring.remove(key);
    }
  }
  return keyring;
}

Result<Keyring> load_keyring(const std::filesystem::path& file) {
  const auto text = read_private_file(file, kKeyringBytes);
  if (!text) {
    return std::unexpected(text.error());
  }
  return Keyring::from_text(file.string(), *text);
}

Result<void> grant(const std::filesystem::path& file, const Grant& one) {
  return change_keyring(file, [&](Keyring& keyring) { return keyring.add(one); });
}

Result<void> revoke(const std::filesystem::path& file, std::string_view public_key) {
  return change_keyring(file, [&](Keyring& keyring) -> Result<void> {
    if (!keyring.remove(public_key)) {
      return fail(ErrorCode::not_found, format_text("key {} is not in {}", public_key, file.string()));
    }
    return {};
  });
}

Result<std::vector<NodeRange>> parse_node_ranges(std::string_view text) {
  std::vector<NodeRange> ranges;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = parse_node(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_node(part.substr(dash + 1));
    if (!first || !last) {
      return std::unexpected(first ? last.error() : first.error());
    }
    if (*first > *last) {
      return fail(ErrorCode::malformed, format_text("'{}' runs backwards", part));
    }
    ranges.push_back({*first, *last});
    if (comma == std::string_view::npos) {
      return ranges;
    }
    text.remove_prefix(comma + 1);
  }
}

}  // namespace loom
