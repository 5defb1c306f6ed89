// SPDX-License-Identifier: Apache-2.0
// Bills of materials: how many of which parts a fabric of the arena needs for so many servers, and what a price list makes of
// that. All architectures' bills are in bill.cpp; one that has none says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/arena/cost/prices.hpp"
#include "controller/workload/settings.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

struct BillTerms {
  std::uint32_t nodes = 0;
  BitRate rate{};     ///< a node's total, each direction
  Settings settings;  ///< settings_for() of the fabric
  /// NIC ports of a node where the fabric leaves that open (fat-trees): as many planes, each with its part of the rate.
  std::uint32_t interfaces = 1;
  double fibre_metres = 0;  ///< of a link
};

struct BillLine {
  Part part = Part::transceiver;
  BitRate rate{};  ///< of a rated part
  double count = 0;
};

struct Bill {
  std::vector<BillLine> lines;
  std::string counted;  ///< how, in a sentence
};

/// Names of bill_of(): the arena's, and "topoopt-panels", TopoOpt on look-ahead patch panels. Those without a bill are not
/// here.
std::vector<std::string_view> billed_fabrics();
/// Whether the rate of its links is free, so that it can be bought for a given sum: packet switches and direct electrical
/// links.
bool is_bought_by_rate(std::string_view fabric);
/// Interfaces of a node: the degree of direct connections, or `terms`.interfaces. Errors: those of the settings.
Result<std::uint32_t> interfaces_of(std::string_view fabric, const BillTerms& terms);

/// Errors: unsupported (no bill of this fabric, and why), invalid_argument (settings, or no such network).
Result<Bill> bill_of(std::string_view fabric, const BillTerms& terms);

struct CostLine {
  BillLine of;
  UnitPrice unit;
  double total = 0;
};
struct Cost {
  std::vector<CostLine> lines;
  double total = 0;
  std::string counted;
};
/// Errors: those of price_of().
Result<Cost> cost_of(const Bill& bill, const PriceList& prices);

/// The greatest rate at which `fabric` costs no more than `sum`, to 1 Mb/s. Errors: those of bill_of() and cost_of();
/// infeasible (it costs more at the least rate that is sold).
Result<BitRate> rate_bought(std::string_view fabric, const BillTerms& terms, const PriceList& prices, double sum);

}  // namespace loom
