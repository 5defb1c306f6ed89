// What a process of ours asks of the system when it starts.
#pragma once

#include <cstdint>

namespace loom {

/// As many descriptors as the system allows, since a thousand peers need more than the usual 1024.
void raise_file_limit();

/// A number that is new with every start of a process.
std::uint64_t fresh_boot_id();

}  // namespace loom
