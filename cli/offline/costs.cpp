// SPDX-License-Identifier: Apache-2.0
// Reference first, then everybody by its bill.
#include "cli/offline/costs.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/render/term.hpp"
#include "controller/arena/entries.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

std::string fixed(double value, int digits) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

/// "topoopt-panels" has the settings of the fabric that it is a form of.
std::string settings_name(std::string_view fabric) {
  const auto names = arena_names();
  if (std::ranges::find(names, fabric) != names.end()) {
    return std::string(fabric);
  }
  return std::string(fabric.substr(0, fabric.find('-')));
}

BillTerms terms_of(std::string_view fabric, const CostQuestion& question, const PriceList& prices) {
  return {question.nodes, question.rate, settings_for(settings_name(fabric), question.settings), prices.planes,
          prices.fibre_metres};
}

FabricCost counted(const std::string& fabric, const BillTerms& terms, const PriceList& prices) {
  FabricCost made{fabric, terms.rate, terms.interfaces, {}, {}, false};
  const auto interfaces = interfaces_of(fabric, terms);
  const auto bill = bill_of(fabric, terms);
  auto cost = bill ? cost_of(*bill, prices) : Result<Cost>(std::unexpected(bill.error()));
  made.interfaces = interfaces ? *interfaces : terms.interfaces;
  if (cost) {
    made.cost = std::move(*cost);
  } else {
    const std::string& why = cost.error().message;
    made.why_not = why.starts_with(fabric) ? why : format_text("{}: {}", fabric, why);
  }
  return made;
}

/// The electrical fabrics at the rate that `sum` buys, the others as they are.
FabricCost counted_for(const std::string& fabric, const BillTerms& terms, const PriceList& prices, double sum) {
  if (!is_bought_by_rate(fabric)) {
    return counted(fabric, terms, prices);
  }
  const auto rate = rate_bought(fabric, terms, prices, sum);
  if (!rate) {
    FabricCost none{fabric, terms.rate, terms.interfaces, {}, rate.error().message, true};
    return none;
  }
  BillTerms own = terms;
  own.rate = *rate;
  FabricCost made = counted(fabric, own, prices);
  made.is_bought = true;
  return made;
}

std::string unit_text(const CostLine& line) {
  return is_rated(line.of.part) ? format_text("{} of {}", to_string(line.of.part), text_of(line.of.rate))
                                : std::string(to_string(line.of.part));
}

std::string count_text(double count) {
  return fixed(count, count == static_cast<double>(static_cast<std::int64_t>(count)) ? 0 : 1);
}

std::string lines_of(const FabricCost& each, const std::string& currency) {
  std::string text = format_text("{} at {} a server: {}\n", each.fabric, text_of(each.rate), each.cost->counted);
  for (const CostLine& line : each.cost->lines) {
    text += format_text("  {} x {} {} = {} {}: {} ({})\n", count_text(line.of.count), fixed(line.unit.price, 2), currency,
                        fixed(line.total, 2), currency, unit_text(line), line.unit.source);
  }
  return text;
}

}  // namespace

void add_cost_options(CLI::App& verb, ArenaCommand& options) {
  CLI::Option* prices = verb.add_option("--prices", options.prices,
                                        "Unit prices (.yaml with kind: prices): what each fabric costs: docs/cost.md");
  std::string names;
  for (const std::string_view name : billed_fabrics()) {
    names += (names.empty() ? "" : ",") + std::string(name);
  }
  verb.add_option("--equal-cost", options.equal_cost, "Electrical fabrics at the rate that this one's cost buys: " + names)
      ->needs(prices);
}

Result<std::optional<Costs>> read_costs(const ArenaCommand& order, const CostQuestion& question) {
  if (order.prices.empty()) {
    return std::optional<Costs>{};
  }
  const auto loaded = read_price_file(order.prices);
  if (!loaded) {
    Error error{ErrorCode::invalid_config, {}};
    for (const ConfigError& each : loaded.errors) {
      error.message += (error.message.empty() ? "" : "\n") + to_string(each);
    }
    return std::unexpected(std::move(error));
  }
  const PriceList& prices = *loaded.value;
  Costs costs{prices.name, prices.currency, order.equal_cost, question.nodes, {}};
  std::vector<std::string> fabrics(question.fabrics.begin(), question.fabrics.end());
  double sum = 0;
  if (!order.equal_cost.empty()) {
    const auto known = billed_fabrics();
    if (std::ranges::find(known, order.equal_cost) == known.end()) {
      return fail(ErrorCode::invalid_argument,
                  format_text("--equal-cost {}: no bill of it; did you mean '{}'?", order.equal_cost.substr(0, 128),
                              loom::nearest(order.equal_cost, known)));
    }
    const BillTerms terms = terms_of(order.equal_cost, question, prices);
    FabricCost reference = counted(order.equal_cost, terms, prices);
    if (!reference.cost) {
      return fail(ErrorCode::invalid_argument, "--equal-cost: " + reference.why_not);
    }
    sum = reference.cost->total;
    if (std::ranges::find(fabrics, order.equal_cost) == fabrics.end()) {
      costs.fabrics.push_back(std::move(reference));
    }
  }
  for (const std::string& fabric : fabrics) {
    const BillTerms terms = terms_of(fabric, question, prices);
    const bool is_equal = !order.equal_cost.empty() && fabric != order.equal_cost;
    costs.fabrics.push_back(is_equal ? counted_for(fabric, terms, prices, sum) : counted(fabric, terms, prices));
  }
  return costs;
}

BitRate rate_on(const std::optional<Costs>& costs, const std::string& fabric, BitRate otherwise) {
  if (costs) {
    const auto found = std::ranges::find(costs->fabrics, fabric, &FabricCost::fabric);
    return found != costs->fabrics.end() && found->is_bought && found->cost ? found->rate : otherwise;
  }
  return otherwise;
}

std::string refusal_on(const std::optional<Costs>& costs, const std::string& fabric) {
  if (costs) {
    const auto found = std::ranges::find(costs->fabrics, fabric, &FabricCost::fabric);
    return found != costs->fabrics.end() && found->is_bought && !found->cost ? found->why_not : std::string{};
  }
  return {};
}

std::string text_of(const Costs& costs) {
  std::string text = format_text(
      "\ncost by prices '{}'{}\n", costs.prices,
      costs.reference.empty() ? "" : format_text("; electrical fabrics at the rate that the cost of {} buys", costs.reference));
  Table table({"fabric", "a server", "interfaces", costs.currency, "a server, " + costs.currency});
  std::string lines;
  std::string missing;
  for (const FabricCost& each : costs.fabrics) {
    if (!each.cost) {
      missing += format_text("no cost: {}\n", each.why_not);
      continue;
    }
    table.add({each.fabric, loom::text_of(each.rate) + (each.is_bought ? " (bought)" : ""), std::to_string(each.interfaces),
               fixed(each.cost->total, 2), fixed(each.cost->total / costs.nodes, 2)});
    lines += lines_of(each, costs.currency);
  }
  return text + table.text() + lines + missing;
}

nlohmann::ordered_json as_json(const Costs& costs) {
  nlohmann::ordered_json object;
  object["prices"] = costs.prices;
  object["currency"] = costs.currency;
  object["equal_to"] = costs.reference.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(costs.reference);
  object["fabrics"] = nlohmann::ordered_json::array();
  for (const FabricCost& each : costs.fabrics) {
    nlohmann::ordered_json entry;
    entry["fabric"] = each.fabric;
    entry["rate_bps"] = each.rate.bits_per_second;
    entry["bought"] = each.is_bought;
    entry["interfaces"] = each.interfaces;
    entry["total"] = each.cost ? nlohmann::ordered_json(each.cost->total) : nlohmann::ordered_json();
    entry["reason"] = each.cost ? nlohmann::ordered_json() : nlohmann::ordered_json(each.why_not);
    entry["lines"] = nlohmann::ordered_json::array();
    for (const CostLine& line : each.cost ? each.cost->lines : std::vector<CostLine>{}) {
      entry["lines"].push_back({{"part", to_string(line.of.part)},
                                {"rate_bps", line.of.rate.bits_per_second},
                                {"count", line.of.count},
                                {"price", line.unit.price},
                                {"total", line.total},
                                {"source", line.unit.source}});
    }
    object["fabrics"].push_back(std::move(entry));
  }
  return object;
}

}  // namespace loom::cli
