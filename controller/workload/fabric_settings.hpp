// SPDX-License-Identifier: Apache-2.0
// Settings of a fabric beside a workload's on one command line: keys that begin with "fabric.", and a node's bandwidth.
#pragma once

#include <string_view>

#include "controller/workload/settings.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

struct SplitSettings {
  Settings workload;
  Settings fabric;  ///< without the prefix
};
/// Keys that begin with "fabric." apart from the workload's.
SplitSettings split_settings(const Settings& settings);

/// "100G", "400 Gb/s"; a number alone is refused, with what it may have meant. Errors: invalid_argument, out_of_range (0 or
/// beyond 100 Tb/s).
Result<BitRate> parse_bit_rate(std::string_view text);

}  // namespace loom
