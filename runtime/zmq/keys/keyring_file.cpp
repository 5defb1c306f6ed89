// SPDX-License-Identifier: Apache-2.0
// Looks, reads, compares.
#include "runtime/zmq/keys/keyring_file.hpp"

#include <sys/stat.h>

#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Change = KeysChanged::Change;

/// Named in a sentence; the others are counted.
constexpr std::size_t kNamed = 8;

Change change_of(const Grant& grant, Change::Kind kind) {
  return {grant.principal, grant.role, fingerprint_of(grant.public_key), kind};
}

std::string text_of(const struct stat& status) {
  std::string text;
  for (const auto number : {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
                            static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(status.st_mode),
                            static_cast<std::uint64_t>(status.st_uid), static_cast<std::uint64_t>(status.st_mtim.tv_sec),
                            static_cast<std::uint64_t>(status.st_mtim.tv_nsec)}) {
    text += format_text("{} ", number);
  }
  return text;
}

}  // namespace

KeysChanged keys_changed(const Keyring& before, const Keyring& after) {
  KeysChanged changed;
  changed.digest = after.digest();
  for (const Grant& was : before.grants()) {
    const Grant* is = after.find(was.public_key);
    if (is == nullptr || is->principal != was.principal) {
      changed.changes.push_back(change_of(was, Change::Kind::removed));
    }
  }
  for (const Grant& is : after.grants()) {
    const Grant* was = before.find(is.public_key);
    if (was == nullptr || was->principal != is.principal) {
      changed.changes.push_back(change_of(is, Change::Kind::added));
    } else if (*was != is) {
      changed.changes.push_back(change_of(is, Change::Kind::altered));
    }
  }
  return changed;
}

std::string sentence_of(const KeysChanged& changed) {
  std::string text;
  for (std::size_t i = 0; i < changed.changes.size() && i < kNamed; ++i) {
    const Change& change = changed.changes[i];
    text += format_text("{}{} ({}, key {}) ", i == 0 ? "" : ", ", change.principal, to_string(change.role), change.fingerprint);
    text += change.kind == Change::Kind::added ? "added" : change.kind == Change::Kind::removed ? "removed" : "altered";
  }
  if (changed.changes.size() > kNamed) {
    text += format_text(" and {} more", changed.changes.size() - kNamed);
  }
  return text;
}

/// The folder's mode and owner count as the file's own: a folder that is open to others makes the file unbelievable.
std::string KeyringFile::appearance() const {
  struct stat file{};
  struct stat folder{};
  const std::filesystem::path parent = file_.has_parent_path() ? file_.parent_path() : ".";
  if (::stat(file_.c_str(), &file) != 0 || ::stat(parent.c_str(), &folder) != 0) {
    return "missing";
  }
  return format_text("{}{} {}", text_of(file), folder.st_mode, folder.st_uid);
}

std::optional<KeysChanged> KeyringFile::look(KeysWatch::Cause cause) {
  const std::string now = appearance();
  if (cause == KeysWatch::Cause::interval && std::exchange(passed_, now) != now) {
    return std::nullopt;  // it may be half written
  }
  if (now == seen_ && cause != KeysWatch::Cause::hangup) {
    return std::nullopt;
  }
  seen_ = now;
  auto read = load_keyring(file_);
  if (read && read->is_empty()) {
    read = fail(ErrorCode::refused, file_.string() + " has no key at all: nobody could come in",
                "loom keys grant NAME --role admin");
  }
  if (!read) {
    Error why = std::move(read).error();
    const bool is_reported = std::exchange(problem_, why.message) == why.message;
    if (is_reported && cause != KeysWatch::Cause::hangup) {
      return std::nullopt;
    }
    KeysChanged kept;
    kept.digest = digest();
    kept.problem = Error{why.code, "the keyring stays as it was: " + why.message,
                         why.next_command.empty() ? "loom keys list" : why.next_command};
    return kept;
  }
  KeysChanged changed = keys_changed(in_force_, *read);
  const bool is_over = !std::exchange(problem_, {}).empty();
  if (changed.changes.empty() && !is_over) {
    return std::nullopt;
  }
  in_force_ = *std::move(read);
  return changed;
}

}  // namespace loom
