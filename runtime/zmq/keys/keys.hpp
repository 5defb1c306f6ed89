// SPDX-License-Identifier: Apache-2.0
// CURVE key pairs on disk: who a process is. Files of one owner, mode 0600, in a directory of mode 0700; created once,
// atomically, so that two first starts at a time agree. Never prints a secret.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace loom {

/// Both halves in Z85 (ZeroMQ RFC 32), 40 characters for 32 bytes.
struct KeyPair {
  std::string public_key;
  std::string secret_key;
  bool operator==(const KeyPair&) const = default;
};

inline constexpr std::size_t kKeyCharacters = 40;

/// Fresh keys in memory.
KeyPair make_keys();

/// Writes fresh keys to `file` and the public half beside it as `file` + ".pub" (0644). Makes the directory (0700).
/// Errors: conflict (the file exists), storage.
Result<KeyPair> generate_keys(const std::filesystem::path& file);

/// Puts the pair in `fresh` (as generate_keys() wrote it) in the place of the one in `file`: the pair at once, its public half
/// right behind it. Errors: as load_keys() of `fresh`, storage.
Result<void> replace_key_files(const std::filesystem::path& fresh, const std::filesystem::path& file);

/// Errors: not_found; refused (file or directory open to others, another owner, no regular file); malformed (a line, a key's
/// length or alphabet, halves that do not belong together); storage.
Result<KeyPair> load_keys(const std::filesystem::path& file);

/// What a first start wants: loads, or generates what is not there.
Result<KeyPair> load_or_generate_keys(const std::filesystem::path& file);

/// The key in a ".pub" file. Errors: not_found, malformed.
Result<std::string> load_public_key(const std::filesystem::path& file);

/// 40 characters of Z85? `what` begins the sentence of the error (malformed).
Result<void> check_key(std::string_view what, std::string_view key);

/// Writes `text` to a file that appears whole or not at all. `replace`: over what is there; otherwise conflict if there is
/// something. Makes the directory (0700). Errors: conflict, storage.
struct WholeFile {
  std::filesystem::path file;
  std::string text;
  unsigned mode = 0600;
  bool replace = false;
};
Result<void> write_whole_file(const WholeFile& order);

/// The contents of a file that nobody else may read or change. Errors: not_found, refused, storage, out_of_range (it has more
/// than `bytes_max`).
Result<std::string> read_private_file(const std::filesystem::path& file, std::size_t bytes_max = 1u << 20);

}  // namespace loom
