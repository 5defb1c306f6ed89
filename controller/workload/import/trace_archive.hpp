// SPDX-License-Identifier: Apache-2.0
// Files inside a file: a plain, gzipped or tarred trace as a row of byte streams, unpacked on the way, never onto the disk.
#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <string>

#include "core/result.hpp"

namespace loom {

/// Calls `read(member, stream)` for every regular file inside `path`, in the archive's order; `member` is empty for a file
/// that is no archive. Stops at the first error of `read`. The stream ends early where unpacking fails; that error wins over
/// what `read` then says. Errors: not_found, malformed (cut short, damaged), out_of_range (`bytes_max` once unpacked).
Result<void> for_each_member(const std::string& path, std::size_t bytes_max,
                             const std::function<Result<void>(const std::string& member, std::istream& stream)>& read);

}  // namespace loom
