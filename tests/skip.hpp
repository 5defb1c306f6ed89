// SPDX-License-Identifier: Apache-2.0
// For tests that need what this machine may not have. Such a test is skipped aloud, and CTest counts it as skipped: a test that
// returns quietly would count as passed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace loom::testing {

/// The exit code of a test program whose every test case was skipped; CTest knows it (cmake/loom.cmake).
inline constexpr int kSkippedExitCode = 77;

/// Prints `SKIPPED: why` and marks the test case; return from it then.
void skip(const std::string& why);

/// A file or folder of the public data (LIGHTLOOM_DATA, or shared/data beside the tree). Nothing: it is absent, and the test is
/// skipped.
std::optional<std::filesystem::path> public_data(const std::filesystem::path& name);

}  // namespace loom::testing
