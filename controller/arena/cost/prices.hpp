// SPDX-License-Identifier: Apache-2.0
// Unit prices of the parts that networks are made of, read from a file (`kind: prices`), each with where it comes from. Keys:
// docs/cost.md#the-file; schema: configs/schema/prices.schema.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/yaml/config_error.hpp"
#include "core/config/yaml/yaml_document.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

enum class Part : std::uint8_t {
  transceiver,       ///< one end of a link
  nic_port,          ///< of a server
  switch_port,       ///< of an electrical packet switch
  ocs_port,          ///< of a circuit switch, both directions
  patch_panel_port,  ///< both directions
  switch_1x2,        ///< an interface's to two panels, both directions
  fibre_m,           ///< a metre, both directions
  sip_wavelength,    ///< transmitter, receiver and rings of one wavelength of a SiP interface
  wss_port,          ///< of a wavelength-selective switch
  tunable_laser,
};
inline constexpr std::size_t kParts = 10;

/// As files have it.
std::string_view to_string(Part part);
/// Transceivers, NIC ports and switch ports: their price hangs on their rate.
bool is_rated(Part part);

struct PriceRow {
  Part part = Part::transceiver;
  BitRate rate{};  ///< 0: not rated
  double price = 0;
  std::string source;
};

struct PriceList {
  std::string name;
  std::string currency;
  double fibre_metres = 0;     ///< of a link, in the mean
  std::uint32_t planes = 1;    ///< of a fat-tree: NIC ports of a server, each in a tree of its own
  std::vector<PriceRow> rows;  ///< by part, ascending rate
};

struct UnitPrice {
  double price = 0;
  std::string source;
};
/// Between two rates of the list on the line that joins them; beyond the greatest, as many times its price. Errors: not_found
/// (no price of the part), out_of_range (a rate below the least of the list, which nobody sells).
Result<UnitPrice> price_of(const PriceList& list, Part part, BitRate rate);

/// The least rate at which everything of `rated` is sold: 0 where the list has none.
BitRate least_rate(const PriceList& list);

/// All that is wrong at once, by line and column: an unknown key or part, a price below 0, a rate where none belongs or none
/// where one does, a row twice, a price that falls with the rate.
Loaded<PriceList> read_price_file(const std::filesystem::path& path);
Loaded<PriceList> read_prices(const std::filesystem::path& path, const YamlNode& root);

}  // namespace loom
