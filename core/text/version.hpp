// SPDX-License-Identifier: Apache-2.0
// Which build this is. A program has the version that git describes (cmake/version.cmake); a test, which would be linked anew
// with every commit, has the release that is being worked on.
#pragma once

#include <cstdint>
#include <string_view>

namespace loom {

/// `schema_version` of every configuration file.
inline constexpr std::int64_t kSchemaVersion = 1;

/// "0.1.0" of the tag v0.1.0, "0.1.0+12.g4c8f5c00" twelve commits behind it, "0.1.0~2100.g4c8f5c00" before it; with ".dirty" if
/// files differ from the commit's. As Debian orders versions.
std::string_view build_version();

}  // namespace loom
