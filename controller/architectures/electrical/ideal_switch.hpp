// SPDX-License-Identifier: Apache-2.0
// One switch without contention inside: only the nodes' own ports bound a transfer.
#pragma once

#include "controller/predict/networks/network_terms.hpp"

namespace loom {

/// `links_on_path`: how many links of the terms' latency a path has; it changes the latency only. Errors: begin_network.
Result<Network> make_ideal_switch(const NetworkTerms& terms, std::uint32_t links_on_path = 1);

/// One port's rate each, row of nodes. Errors: begin_network; invalid_argument (a rate of 0, not one a node).
Result<Network> make_uneven_switch(const NetworkTerms& terms, std::span<const BitRate> rates);

}  // namespace loom
