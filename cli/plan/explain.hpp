// Accounts of schedules and topologies as sentences for people. Every number comes from an account; nothing is decided here.
#pragma once

#include <string>
#include <vector>

#include "controller/architectures/sip_ml/account.hpp"
#include "controller/architectures/topoopt/finder/finder_account.hpp"
#include "core/units.hpp"

namespace loom::cli {

using Sentences = std::vector<std::string>;

Sentences explain(const RingAccount& account);
Sentences explain(const OcsAccount& account);
/// `link`: rate of one link.
Sentences explain(const FinderAccount& account, const FinderOptions& options, std::uint32_t nodes, BitRate link);

}  // namespace loom::cli
