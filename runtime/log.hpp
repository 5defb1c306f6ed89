// SPDX-License-Identifier: Apache-2.0
// Log: one sentence a line on stderr, through spdlog. On a terminal with time and colour; elsewhere with journald's <N>
// priority. Never on a firing path: formatting allocates.
#pragma once

#include <string_view>

namespace loom {

void log_info(std::string_view sentence);
void log_warning(std::string_view sentence);
void log_error(std::string_view sentence);

}  // namespace loom
