// SPDX-License-Identifier: Apache-2.0
// The archive that a run bundle is: gzip around tar, regular files alone, every name below the archive's own root. What
// strangers wrote is refused before any of it touches the disk: reading gives bytes in memory, never files.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "core/result.hpp"

namespace loom::cli {

/// Bytes by path.
using BundleContents = std::map<std::string, std::string>;

inline constexpr std::size_t kBundleMembersMax = 1'000;
inline constexpr std::size_t kBundleMemberBytesMax = std::size_t{256} << 20U;
inline constexpr std::size_t kBundleBytesMax = std::size_t{512} << 20U;  ///< of all members, unpacked
inline constexpr std::size_t kBundlePathBytesMax = 512;

/// May a member be called so: relative, no "..", no ".", no empty part, printable? Errors: refused, saying why not.
Result<void> check_bundle_path(const std::string& path);

/// Errors: not_found; malformed (no archive, truncated, damaged); refused (a link or device, a name that leads out or comes
/// twice, limits), each with the member's name.
Result<BundleContents> read_bundle(const std::string& path);

/// The same contents give the same bytes: `first` comes first, the rest by name; no times, no owners. Errors: storage; refused
/// (limits).
Result<void> write_bundle(const std::string& path, const BundleContents& contents, const std::string& first);

/// SHA-256 in hexadecimal.
std::string sha256_of(const std::string& bytes);

}  // namespace loom::cli
