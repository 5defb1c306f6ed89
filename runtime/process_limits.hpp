// SPDX-License-Identifier: Apache-2.0
// What a process of ours asks of the system when it starts.
#pragma once

#include <cstdint>
#include <filesystem>

namespace loom {

/// As many descriptors as the system allows, since a thousand peers need more than the usual 1024.
void raise_file_limit();

/// What this process makes from here on is its user's alone: files 0600, folders 0700. Journals, logs and addresses say who
/// asks for what and where it runs, as keys do.
void keep_files_private();
/// The same for a regular file that an earlier version made; anything else stays as it is. Never opens it, so that no lock on
/// it is lost.
void close_to_others(const std::filesystem::path& file);

/// A number that is new with every start of a process.
std::uint64_t fresh_boot_id();

}  // namespace loom
