// SPDX-License-Identifier: Apache-2.0
// The finder's account as sentences for people. Every number comes from the account; nothing is decided here.
#pragma once

#include <string>
#include <vector>

#include "controller/architectures/topoopt/finder/finder_account.hpp"
#include "core/units.hpp"

namespace loom {

/// `link`: rate of one link.
std::vector<std::string> explain(const FinderAccount& account, const FinderOptions& options, std::uint32_t nodes, BitRate link);

}  // namespace loom
