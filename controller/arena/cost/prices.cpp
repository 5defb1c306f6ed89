// SPDX-License-Identifier: Apache-2.0
// Rows, and lines between them.
#include "controller/arena/cost/prices.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "controller/workload/quantity_text.hpp"
#include "core/config/yaml/yaml_reader.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, kParts> kWords{"transceiver",      "nic_port",     "switch_port", "ocs_port",
                                                      "patch_panel_port", "switch_1x2",   "fibre_m",     "sip_wavelength",
                                                      "wss_port",         "tunable_laser"};
constexpr std::size_t kRowsMost = 1'024;
constexpr double kPriceMost = 1e9;
constexpr std::int64_t kFibreMostMm = 100'000'000;
constexpr Range<BitRate> kRates{{1'000'000}, gigabits(100'000)};

struct ReadRow {
  PriceRow row;
  const YamlNode* place = nullptr;
};

std::optional<ReadRow> row_of(const YamlNode& node, ErrorList& errors) {
  YamlMap map(node, "a price", errors);
  const std::vector<std::string> words(kWords.begin(), kWords.end());
  const auto part = map.word("part", words, Rule::required);
  PriceRow row;
  const bool has_rate = map.find("rate") != nullptr;
  row.rate = has_rate ? map.bit_rate("rate", kRates, Rule::required) : BitRate{};
  row.price = map.real("price", {0, kPriceMost}, Rule::required);
  row.source = map.text("source", Rule::required);
  map.finish();
  if (!part) {
    return std::nullopt;
  }
  row.part = static_cast<Part>(*part);
  if (is_rated(row.part) != has_rate) {
    map.error("rate", format_text("rate: the price of a {} {}", to_string(row.part),
                                  has_rate ? "has no rate; leave it out" : "is one of a rate; give it, e.g. 100 Gb/s"));
  }
  return ReadRow{std::move(row), &node};
}

std::vector<PriceRow> in_order(std::vector<ReadRow> rows, ErrorList& errors) {
  std::ranges::stable_sort(rows, {},
                           [](const ReadRow& each) { return std::tuple{each.row.part, each.row.rate.bits_per_second}; });
  std::vector<PriceRow> sorted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PriceRow& row = rows[i].row;
    if (i > 0 && rows[i - 1].row.part == row.part) {
      const PriceRow& before = rows[i - 1].row;
      if (before.rate == row.rate) {
        errors.add(*rows[i].place,
                   format_text("{}: there is a price of it already, on line {}", to_string(row.part), rows[i - 1].place->line));
      } else if (before.price > row.price) {
        errors.add(*rows[i].place, format_text("{} of {} costs less than that of {}; a price may not fall with the rate",
                                               to_string(row.part), text_of(row.rate), text_of(before.rate)));
      }
    }
    sorted.push_back(row);
  }
  return sorted;
}

}  // namespace

std::string_view to_string(Part part) { return kWords[static_cast<std::size_t>(part)]; }

bool is_rated(Part part) { return part == Part::transceiver || part == Part::nic_port || part == Part::switch_port; }

Result<UnitPrice> price_of(const PriceList& list, Part part, BitRate rate) {
  const PriceRow* below = nullptr;  // or equal
  const PriceRow* above = nullptr;
  for (const PriceRow& row : list.rows) {
    if (row.part == part && (!is_rated(part) || row.rate <= rate)) {
      below = &row;
    } else if (row.part == part && above == nullptr) {
      above = &row;
    }
  }
  if (below == nullptr && above == nullptr) {
    return fail(ErrorCode::not_found, format_text("prices '{}' have no {}", list.name, to_string(part)));
  }
  if (below == nullptr) {
    return fail(ErrorCode::out_of_range, format_text("prices '{}' have no {} below {}; asked for {}", list.name,
                                                     to_string(part), text_of(above->rate), text_of(rate)));
  }
  if (!is_rated(part) || below->rate == rate) {
    return UnitPrice{below->price, below->source};
  }
  const auto wanted = static_cast<double>(rate.bits_per_second);
  const auto low = static_cast<double>(below->rate.bits_per_second);
  if (above == nullptr) {
    return UnitPrice{below->price * wanted / low, format_text("as many of {}: {}", text_of(below->rate), below->source)};
  }
  const double along = (wanted - low) / (static_cast<double>(above->rate.bits_per_second) - low);
  return UnitPrice{below->price + along * (above->price - below->price),
                   format_text("between {} and {}: {}", text_of(below->rate), text_of(above->rate), below->source)};
}

BitRate least_rate(const PriceList& list) {
  std::array<std::int64_t, kParts> least{};
  BitRate greatest{};
  for (const PriceRow& row : list.rows) {
    std::int64_t& of_part = least[static_cast<std::size_t>(row.part)];
    if (is_rated(row.part) && of_part == 0) {  // rows ascend
      of_part = row.rate.bits_per_second;
      greatest.bits_per_second = std::max(greatest.bits_per_second, of_part);
    }
  }
  return greatest;
}

Loaded<PriceList> read_prices(const std::filesystem::path& path, const YamlNode& root) {
  ErrorList errors(path.string());
  YamlMap file(root, "the prices", errors);
  check_header(file, "prices");
  PriceList list;
  list.name = file.name("name", Rule::required);
  list.currency = file.name("currency", std::string("USD"));
  list.fibre_metres =
      static_cast<double>(file.quantity("fibre_length", kLengthUnits, {0, kFibreMostMm}, std::int64_t{20'000})) / 1e3;
  list.planes = static_cast<std::uint32_t>(file.integer("planes", {1, 64}, 1));
  std::vector<ReadRow> rows;
  for (const YamlNode& each : file.list("parts", kRowsMost, Rule::required)) {
    if (auto row = row_of(each, errors)) {
      rows.push_back(std::move(*row));
    }
  }
  file.finish();
  list.rows = in_order(std::move(rows), errors);
  return errors.empty() ? Loaded<PriceList>{std::move(list), {}} : Loaded<PriceList>{std::nullopt, errors.sorted()};
}

Loaded<PriceList> read_price_file(const std::filesystem::path& path) {
  const Loaded<YamlNode> document = read_yaml(path);
  return document ? read_prices(path, *document.value) : Loaded<PriceList>{std::nullopt, document.errors};
}

}  // namespace loom
