// SPDX-License-Identifier: Apache-2.0
// Two spaces a level, a line at the end.
#include "cli/render/answer.hpp"

#include <cstdio>

namespace loom::cli {

Json answer() { return {{"api_version", kApiVersion}}; }

void print(const Json& object) { std::printf("%s\n", object.dump(2).c_str()); }

}  // namespace loom::cli
