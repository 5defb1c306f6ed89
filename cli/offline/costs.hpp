// SPDX-License-Identifier: Apache-2.0
// What the fabrics of a comparison cost by a price list, and the rates that equal sums buy: `--prices` and `--equal-cost`.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/offline/arena.hpp"
#include "controller/arena/cost/bill.hpp"

namespace loom::cli {

struct FabricCost {
  std::string fabric;
  BitRate rate{};  ///< a node's, that was counted
  std::uint32_t interfaces = 1;
  std::optional<Cost> cost;
  std::string why_not;     ///< no cost
  bool is_bought = false;  ///< `rate` is what the reference's cost buys
};

struct Costs {
  std::string prices;  ///< name of the list
  std::string currency;
  std::string reference;  ///< of equal cost; empty: none
  std::uint32_t nodes = 0;
  std::vector<FabricCost> fabrics;
};

struct CostQuestion {
  std::span<const std::string> fabrics;
  std::uint32_t nodes = 0;
  BitRate rate{};
  const Settings& settings;  ///< of fabrics
};

/// `--prices` and `--equal-cost` of `verb`.
void add_cost_options(CLI::App& verb, ArenaCommand& options);

/// Nothing: no prices were named. Errors: invalid_config (all that is wrong with the file), invalid_argument (a reference that
/// has no bill, with those that have), and those of its cost.
Result<std::optional<Costs>> read_costs(const ArenaCommand& order, const CostQuestion& question);
/// What `fabric` is played at. Nothing was bought: `otherwise`.
BitRate rate_on(const std::optional<Costs>& costs, const std::string& fabric, BitRate otherwise);
/// Why `fabric` cannot be played at equal cost; empty: it can.
std::string refusal_on(const std::optional<Costs>& costs, const std::string& fabric);

/// A table of sums, then every bill line by line: count x price = total.
std::string text_of(const Costs& costs);
nlohmann::ordered_json as_json(const Costs& costs);

}  // namespace loom::cli
