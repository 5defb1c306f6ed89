// SPDX-License-Identifier: Apache-2.0
// A lock file: what one process has, no second one may open. The kernel releases it with the process, however that ends; the
// file stays, since whoever removes one that is locked lets a second process in.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "runtime/shm/unique_descriptor.hpp"

namespace loom {

/// Made when it is not there; its folder is not. `what` begins the sentence of an error: "journal st/agents-0.db". It is held
/// as long as the descriptor is open. Errors: conflict (another process has it), storage.
Result<UniqueDescriptor> take_process_lock(const std::string& file, std::string_view what);

}  // namespace loom
