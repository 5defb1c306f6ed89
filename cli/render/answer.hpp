// SPDX-License-Identifier: Apache-2.0
// An answer of --json: one object with `api_version`, on stdout.
#pragma once

#include <nlohmann/json.hpp>

namespace loom::cli {

using Json = nlohmann::ordered_json;

inline constexpr int kApiVersion = 1;

/// Its outermost object.
Json answer();
void print(const Json& object);

}  // namespace loom::cli
