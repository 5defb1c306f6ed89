// SPDX-License-Identifier: Apache-2.0
// Bills by hand, prices between rates, rates that a sum buys, and price files that are wrong.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <variant>

#include "controller/architectures/sip_ocs/fabric.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "controller/architectures/topoopt/fabric.hpp"
#include "controller/arena/cost/bill.hpp"

namespace loom {
namespace {

Loaded<PriceList> read(const std::string& text) {
  const auto document = parse_yaml("p.yaml", text);
  REQUIRE(document);
  return read_prices("p.yaml", *document.value);
}

PriceList round_prices() {
  const auto list = read(
      "schema_version: 1\nkind: prices\nname: round\nfibre_length: 10 m\nparts:\n"
      "  - {part: transceiver, rate: 100 Gb/s, price: 10, source: s}\n"
      "  - {part: transceiver, rate: 200 Gb/s, price: 30, source: s}\n"
      "  - {part: nic_port, rate: 100 Gb/s, price: 100, source: s}\n"
      "  - {part: switch_port, rate: 100 Gb/s, price: 1000, source: s}\n"
      "  - {part: ocs_port, price: 500, source: s}\n"
      "  - {part: patch_panel_port, price: 50, source: s}\n"
      "  - {part: switch_1x2, price: 5, source: s}\n"
      "  - {part: fibre_m, price: 0.5, source: s}\n");
  REQUIRE(list);
  return *list.value;
}

double count_of(const Bill& bill, Part part) {
  double count = 0;
  for (const BillLine& line : bill.lines) {
    count += line.part == part ? line.count : 0;
  }
  return count;
}

Bill bill(std::string_view fabric, const BillTerms& terms) {
  const auto made = bill_of(fabric, terms);
  REQUIRE(made);
  return *made;
}

double total(std::string_view fabric, const BillTerms& terms, const PriceList& prices) {
  const auto cost = cost_of(bill(fabric, terms), prices);
  REQUIRE(cost);
  double sum = 0;
  for (const CostLine& line : cost->lines) {
    CHECK(line.total == line.of.count * line.unit.price);
    sum += line.total;
  }
  CHECK(cost->total == Approx(sum));
  return cost->total;
}

TEST_CASE("a_full_fat_tree_has_five_switch_ports_and_six_transceivers_a_server") {
  // Al-Fares et al. 2008: k = 4 joins 16 servers by 20 switches of 4 ports, 48 links.
  const Bill tree = bill("fat-tree", {16, gigabits(100), {}, 1, 10});
  CHECK(count_of(tree, Part::nic_port) == 16);
  CHECK(count_of(tree, Part::switch_port) == 20 * 4);
  CHECK(count_of(tree, Part::transceiver) == 2 * 48);
  CHECK(count_of(tree, Part::fibre_m) == 48 * 10);
  CHECK(total("fat-tree", {16, gigabits(100), {}, 1, 10}, round_prices()) == 16 * 100 + 80 * 1000 + 96 * 10 + 480 * 0.5);
  const Bill planes = bill("fat-tree", {16, gigabits(400), {}, 4, 10});
  CHECK(count_of(planes, Part::switch_port) == 4 * 80);
  CHECK(planes.lines[0].rate == gigabits(100));
}

TEST_CASE("an_oversubscribed_tree_buys_slower_ports_above_the_edge") {
  const Bill tree = bill("fat-tree-oversub", {16, gigabits(200), {}, 1, 0});
  double edge = 0;
  double above = 0;
  for (const BillLine& line : tree.lines) {
    if (line.part == Part::switch_port) {
      (line.rate == gigabits(200) ? edge : above) += line.count;
      CHECK((line.rate == gigabits(200) || line.rate == gigabits(100)));
    }
  }
  CHECK(edge == 16);
  CHECK(above == 64);
}

TEST_CASE("topoopts_bill_counts_what_its_fabric_has") {
  for (const TopooptLayer layer : {TopooptLayer::circuit_switches, TopooptLayer::look_ahead_panels}) {
    const bool has_panels = layer == TopooptLayer::look_ahead_panels;
    const Fabric fabric = make_topoopt({.nodes = 16, .degree = 4, .layer = layer});
    double transmitters = 0;
    double ends = 0;  // of the layer: ports that an interface's transmitter can come to
    for (const Element& element : fabric.elements) {
      transmitters += std::holds_alternative<Transmitter>(element.kind) ? 1 : 0;
      ends += std::holds_alternative<OpticalCircuitSwitch>(element.kind) && element.inputs == 16 ? element.inputs : 0;
      ends += std::holds_alternative<PatchPanel>(element.kind) ? element.inputs : 0;
    }
    const Bill made = bill(has_panels ? "topoopt-panels" : "topoopt", {16, gigabits(400), {}, 1, 0});
    CHECK(count_of(made, Part::transceiver) == transmitters);
    CHECK(count_of(made, Part::nic_port) == transmitters);
    CHECK(count_of(made, has_panels ? Part::patch_panel_port : Part::ocs_port) == ends);
    CHECK(count_of(made, Part::switch_1x2) == (has_panels ? transmitters : 0));
  }
}

TEST_CASE("bills_of_other_circuits_count_what_their_fabrics_have") {
  const Fabric rings = make_sip_ring({.nodes = 8, .rings = sip_rings_of(16), .wavelengths = 16});
  const auto is_transmitter = [](const Element& element) { return std::holds_alternative<Transmitter>(element.kind); };
  CHECK(count_of(bill("sip-ring", {8, gigabits(400), {}, 1, 0}), Part::sip_wavelength) ==
        static_cast<double>(std::ranges::count_if(rings.elements, is_transmitter)));
  const Fabric switches = make_sip_ocs({.nodes = 8, .switches = 4});
  const Bill of_switches = bill("sip-ocs", {8, gigabits(100), {{"switches", "4"}}, 1, 0});
  CHECK(count_of(of_switches, Part::sip_wavelength) ==
        static_cast<double>(std::ranges::count_if(switches.elements, is_transmitter)));
  double ports = 0;
  for (const Element& element : switches.elements) {
    ports += std::holds_alternative<OpticalCircuitSwitch>(element.kind) ? element.inputs : 0;
  }
  CHECK(count_of(of_switches, Part::ocs_port) == ports);
  CHECK(count_of(bill("oddl", {32, gigabits(100), {}, 1, 0}), Part::tunable_laser) == 32);
}

TEST_CASE("sums_by_hand") {
  const PriceList prices = round_prices();
  const BillTerms terms{16, gigabits(400), {}, 1, 10};
  CHECK(total("topoopt", terms, prices) == 64 * (100 + 10 + 500 + 5));
  CHECK(total("topoopt-panels", terms, prices) == 64 * (100 + 10 + 5 + 2 * 50 + 5));
  CHECK(total("expander", terms, prices) == 64 * (100 + 10) + 32 * 5);
  CHECK(total("ring", {16, gigabits(200), {}, 1, 10}, prices) == 32 * (100 + 10) + 16 * 5);
}

TEST_CASE("a_price_between_two_rates_lies_on_their_line_and_beyond_the_last_many_are_bought") {
  const PriceList prices = round_prices();
  CHECK(price_of(prices, Part::transceiver, gigabits(100))->price == 10);
  CHECK(price_of(prices, Part::transceiver, gigabits(150))->price == Approx(20));
  CHECK(price_of(prices, Part::transceiver, gigabits(400))->price == Approx(60));
  CHECK(price_of(prices, Part::transceiver, gigabits(50)).error().code == ErrorCode::out_of_range);
  CHECK(price_of(prices, Part::wss_port, {}).error().code == ErrorCode::not_found);
  CHECK(least_rate(prices) == gigabits(100));
}

TEST_CASE("the_rate_that_is_bought_costs_the_sum_and_one_step_more_costs_more") {
  const PriceList prices = round_prices();
  BillTerms terms{16, gigabits(400), {}, 4, 10};
  const double sum = 4 * total("fat-tree", {16, gigabits(100), {}, 1, 10}, prices) * 1.5;
  for (const std::string_view fabric : {"fat-tree", "fat-tree-oversub", "expander", "ring"}) {
    CAPTURE(fabric);
    const auto rate = rate_bought(fabric, terms, prices, sum);
    REQUIRE(rate);
    terms.rate = *rate;
    CHECK(total(fabric, terms, prices) <= sum);
    terms.rate.bits_per_second += 8'000'000;
    CHECK(total(fabric, terms, prices) > sum);
  }
  // NIC ports and switch ports have one price, of 100 Gb/s, so beyond it all but the fibre grows in proportion.
  const auto poor = rate_bought("fat-tree", terms, prices, 1000);
  REQUIRE_FALSE(poor);
  CHECK(poor.error().code == ErrorCode::infeasible);
}

TEST_CASE("a_fabric_without_a_bill_says_so") {
  for (const std::string_view fabric : {"ideal-switch", "mordia", "nobody"}) {
    const auto none = bill_of(fabric, {16, gigabits(100), {}, 1, 0});
    REQUIRE_FALSE(none);
    CHECK(none.error().code == ErrorCode::unsupported);
    CHECK(none.error().message.starts_with(fabric));
  }
}

TEST_CASE("the_price_file_that_ships_is_sound_and_every_row_has_a_source") {
  const auto list = read_price_file("configs/prices/topoopt.yaml");
  REQUIRE(list);
  for (const PriceRow& row : list.value->rows) {
    CHECK_FALSE(row.source.empty());
  }
  // MixNet, SIGCOMM 2025, table 4.
  CHECK(price_of(*list.value, Part::switch_port, gigabits(200))->price == 374);
  CHECK(price_of(*list.value, Part::ocs_port, {})->price == 520);
  CHECK(price_of(*list.value, Part::patch_panel_port, {})->price == 100);
}

TEST_CASE("every_error_of_a_price_file_names_its_place") {
  struct Wrong {
    std::string row;
    int line;
    int column;
    std::string says;
  };
  const std::string head = "schema_version: 1\nkind: prices\nname: p\nparts:\n  - {part: ocs_port, price: 5, source: s}\n";
  const std::vector<Wrong> all{
      {"  - {part: ocs_prot, price: 5, source: s}\n", 6, 12, "ocs_port"},
      {"  - {part: ocs_port, price: 5, source: s}\n", 6, 5, "already, on line 5"},
      {"  - {part: wss_port, price: -1, source: s}\n", 6, 29, "price"},
      {"  - {part: wss_port, price: nan, source: s}\n", 6, 29, "nan"},
      {"  - {part: wss_port, price: inf, source: s}\n", 6, 29, "inf"},
      {"  - {part: wss_port, price: 5}\n", 6, 5, "lacks the key 'source'"},
      {"  - {part: wss_port, source: s}\n", 6, 5, "lacks the key 'price'"},
      {"  - {part: wss_port, price: 5, source: s, colour: red}\n", 6, 43, "colour"},
      {"  - {part: wss_port, rate: 100 Gb/s, price: 5, source: s}\n", 6, 28, "has no rate"},
      {"  - {part: nic_port, price: 5, source: s}\n", 6, 5, "is one of a rate"},
      {"  - {part: nic_port, rate: 100 GHz, price: 5, source: s}\n", 6, 28, "bit rate"},
      {"  - {part: nic_port, rate: 10 G, price: 5, source: s}\n  - {part: nic_port, rate: 40 G, price: 4, source: s}\n", 7, 5,
       "may not fall"},
      {"fibre_length: 20 Gb/s\n", 6, 15, "length"},
      {"curency: EUR\n", 6, 1, "currency"},
  };
  for (const Wrong& wrong : all) {
    CAPTURE(wrong.row);
    const auto list = read(head + wrong.row);
    CHECK_FALSE(list);
    for (const ConfigError& error : list.errors) {
      UNSCOPED_INFO(to_string(error));
    }
    CHECK(std::ranges::any_of(list.errors, [&](const ConfigError& error) {
      return error.line == wrong.line && error.column == wrong.column && error.message.find(wrong.says) != std::string::npos;
    }));
  }
}

}  // namespace
}  // namespace loom
