// SPDX-License-Identifier: Apache-2.0
// Interlock contacts, hazard levels and power limits of fabric files: what is read, and what is refused where.
#include <catch2/catch.hpp>

#include "controller/architectures/registry.hpp"
#include "core/config/endpoints/contact_endpoint.hpp"
#include "core/config/fabric_file.hpp"
#include "core/fabric/hazard.hpp"

using namespace loom;
using std::chrono::milliseconds;

namespace {

const std::string kHead =
    "schema_version: 1\nkind: fabric\nname: f\ntemplate: oddl\nparameters: {nodes: 8, group_size: 4, channels: 8}\n";

Loaded<Fabric> fabric_with(const std::string& lines) {
  const auto document = parse_yaml("fabric.yaml", kHead + lines);
  REQUIRE(document);
  return read_fabric("fabric.yaml", *document.value, all_fabric_kinds());
}

std::string only_error(const std::string& lines) {
  const auto loaded = fabric_with(lines);
  REQUIRE(loaded.errors.size() == 1);
  return to_string(loaded.errors.front());
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("endpoints_of_contacts_are_read_with_their_timings") {
  const auto gpio = parse_contact_endpoint("gpio:///dev/gpiochip0/17?active=low&bias=pull-up&lost=100ms");
  REQUIRE(gpio);
  CHECK(std::get<GpioLine>(gpio->place) == GpioLine{"/dev/gpiochip0", 17, true, GpioLine::Bias::pull_up});
  CHECK(gpio->timings == ContactTimings{milliseconds{50}, milliseconds{100}, milliseconds{50}});
  const auto bare = parse_contact_endpoint("gpio:///dev/gpiochip0/17");
  REQUIRE(bare);
  CHECK(std::get<GpioLine>(bare->place).bias == GpioLine::Bias::as_is);  // nothing is assumed
  const auto tcp = parse_contact_endpoint("modbus-tcp://10.0.0.7:502/1/3?poll=5ms");
  REQUIRE(tcp);
  CHECK(std::get<DiscreteInput>(tcp->place) == DiscreteInput{"modbus-tcp://10.0.0.7:502", 1, 3});
  CHECK(tcp->timings.poll == milliseconds{5});
  for (const std::string scheme : {"serial", "modbus-rtu"}) {
    const auto rtu = parse_contact_endpoint(scheme + ":///dev/ttyUSB0/17/2?baud=19200&parity=E&poll=20ms");
    REQUIRE(rtu);
    CHECK(std::get<DiscreteInput>(rtu->place) == DiscreteInput{"modbus-rtu:///dev/ttyUSB0?baud=19200&parity=E", 17, 2});
  }
  const auto file = parse_contact_endpoint("file:///run/door");
  REQUIRE(file);
  CHECK(std::get<ContactFile>(file->place).path == "/run/door");
  CHECK(file->timings == ContactTimings{});
}

TEST_CASE("endpoints_of_contacts_that_cannot_be_are_refused_with_what_is_expected") {
  for (const auto& [text, expected] :
       std::vector<std::pair<std::string, std::string>>{{"", "gpio:///dev/gpiochip0/LINE"},
                                                        {"door", "file:///PATH"},
                                                        {"gpio:///dev/gpiochip0", "LINE"},
                                                        {"gpio:///dev/gpiochip0/a", "LINE"},
                                                        {"gpio:///etc/passwd/3", "gpio:///dev/"},
                                                        {"gpio:///dev/gpiochip0/3?active=up", "active=low"},
                                                        {"gpio:///dev/gpiochip0/3?baud=9600", "active=low"},
                                                        {"modbus-tcp://10.0.0.7/1/3", "HOST:PORT/UNIT/INPUT"},
                                                        {"modbus-tcp://10.0.0.7:0/1/3", "HOST:PORT/UNIT/INPUT"},
                                                        {"modbus-tcp://10.0.0.7:502/256/3", "HOST:PORT/UNIT/INPUT"},
                                                        {"modbus-tcp://10.0.0.7:502/1", "HOST:PORT/UNIT/INPUT"},
                                                        {"modbus-tcp://10.0.0.7:502/1/3?baud=9600", "poll="},
                                                        {"serial:///dev/ttyUSB0/0/2", "1..247"},
                                                        {"serial:///dev/ttyUSB0/1/2?parity=X", "parity=N"},
                                                        {"file://door", "file:///PATH"},
                                                        {"file:///door?poll=2", "poll=100ms"},
                                                        {"file:///door?lost=30s", "10 s"},
                                                        {"file:///door?poll=200ms", "two polls"}}) {
    const auto refused = parse_contact_endpoint(text);
    INFO(text);
    REQUIRE_FALSE(refused);
    INFO(refused.error().message);
    CHECK(refused.error().code == ErrorCode::invalid_config);
    CHECK(has(refused.error().message, "'" + text + "'"));
    CHECK(has(refused.error().message, expected));
  }
}

TEST_CASE("a_fabric_names_its_contacts_and_the_nodes_that_each_covers") {
  const auto loaded = fabric_with(
      "interlocks:\n"
      "  - {name: cover, endpoint: file:///run/cover}\n"
      "  - {name: rack, endpoint: \"modbus-tcp://10.0.0.7:502/1/3\", first_node: node-4, last_node: node-7}\n"
      "  - {name: desk, endpoint: \"gpio:///dev/gpiochip0/17?active=low\", first_node: node-2}\n");
  REQUIRE(loaded);
  const auto& contacts = loaded.value->interlocks;
  REQUIRE(contacts.size() == 3);
  CHECK(contacts[0].name == "cover");
  CHECK((contacts[0].first == NodeId{0} && contacts[0].last == NodeId{7}));
  CHECK((contacts[1].first == NodeId{4} && contacts[1].last == NodeId{7}));
  CHECK((contacts[2].first == NodeId{2} && contacts[2].last == NodeId{2}));
}

TEST_CASE("errors_of_contacts_name_file_line_column_and_what_is_expected") {
  CHECK(only_error("interlocks: [{name: a, endpoint: \"telnet://x\"}]\n").starts_with("fabric.yaml:6:34: "));
  CHECK(has(only_error("interlocks: [{name: a, endpoint: file:///a, first_node: node-9}]\n"), "node-9"));
  CHECK(has(only_error("interlocks: [{name: a, endpoint: file:///a, first_node: node-3, last_node: node-1}]\n"), "before"));
  CHECK(has(only_error("interlocks: [{name: a, endpoint: file:///a}, {name: a, endpoint: file:///b}]\n"), "'a'"));
  CHECK(has(only_error("interlocks: [{name: a, endpont: file:///a, endpoint: file:///a}]\n"), "endpont"));
}

TEST_CASE("a_hazard_level_is_a_limit_of_every_fibre_and_none_is_1M_and_an_assumption") {
  const auto given = fabric_with("hazard_level: 1\n");
  REQUIRE(given);
  CHECK(given.value->hazard_level == "1");
  CHECK(power_limit_of(*given.value, FibreId{0}) == Dbm{1'000});
  const auto silent = fabric_with("");
  REQUIRE(silent);
  CHECK(power_limit_of(*silent.value, FibreId{0}) == Dbm{2'130});
  CHECK(has(silent.value->assumptions.back(), "hazard level 1M of IEC 60825-2"));
  const auto stricter = fabric_with("hazard_level: 1M\npower_limit: 13 dBm\n");
  REQUIRE(stricter);
  CHECK(power_limit_of(*stricter.value, FibreId{0}) == Dbm{1'300});
  CHECK(has(only_error("hazard_level: 1\npower_limit: 13 dBm\n"), "hazard level 1; expected at most 10"));
  CHECK(has(only_error("hazard_level: 2\n"), "hazard_level"));
}

TEST_CASE("the_limits_of_hazard_levels_are_their_milliwatts_rounded_down") {
  const std::array<double, 4> milliwatts{10, 136, 50, 500};  // core/fabric/hazard.hpp says where they are from
  for (std::size_t i = 0; i < kHazardLevels.size(); ++i) {
    INFO(kHazardLevels[i].word);
    CHECK(to_milliwatt(kHazardLevels[i].limit).value <= milliwatts[i] * (1 + 1e-9));
    CHECK(to_milliwatt(kHazardLevels[i].limit + Db{10}).value > milliwatts[i]);
  }
}
