// SPDX-License-Identifier: Apache-2.0
// Role: what a key may do. The transport stamps it on what arrives, from what the key proves.
#pragma once

#include <cstdint>
#include <string_view>

namespace loom {

enum class Role : std::uint8_t { viewer, operator_, admin, agent, controller };
std::string_view to_string(Role role);

}  // namespace loom
