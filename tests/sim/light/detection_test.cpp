// SPDX-License-Identifier: Apache-2.0
// What each fault of the catalogue comes to in a fabric that is lit: who is told, and what nobody can see.
#include "sim_backend/experiments/detection.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "controller/architectures/registry.hpp"
#include "core/config/fabric_file.hpp"
#include "core/fault_catalogue.hpp"

namespace loom {
namespace {

Scenario scenario_on(const char* file) {
  auto loaded = load_fabric(file, all_fabric_kinds());
  REQUIRE(loaded);
  return detection_scenario(std::make_shared<const Fabric>(std::move(*loaded.value)), "oddl");
}

DetectionCase case_of(const Scenario& scenario, std::string_view fault, std::string_view model) {
  for (DetectionCase& one : detection_cases(*scenario.fabric)) {
    if (one.fault == fault && one.model == model) {
      return one;
    }
  }
  FAIL("no case of " << fault << " on " << model);
  return {};
}

TEST_CASE("every fault of the catalogue that one part can have is a case of the fabric of all dialects") {
  const Scenario scenario = scenario_on("configs/fabrics/dialects_4.yaml");
  std::set<std::string> named;
  for (const DetectionCase& one : detection_cases(*scenario.fabric)) {
    named.insert(one.fault);
  }
  for (const FaultName& name : fault_catalogue()) {
    CHECK(named.contains(std::string(name.name)));
  }
  CHECK(named.contains("fibre-cut"));
  CHECK(named.contains("fibre-dirty"));
}

TEST_CASE("what registers show is told by an alarm that names the device, on every model") {
  const Scenario scenario = scenario_on("configs/fabrics/dialects_4.yaml");
  for (const auto& [fault, model] : {std::pair{"silent", "itla_laser"},
                                     {"silent", "qontrol"},
                                     {"silent", "polatis_tl1"},
                                     {"silent", "photodiode_bank"},
                                     {"laser-dead", "cmis"},
                                     {"laser-dead", "sff8690"},
                                     {"laser-mode-hop", "itla_laser"},
                                     {"heater-open", "qontrol"},
                                     {"heater-open", "nicslab"},
                                     {"wss-dead", "wss"},
                                     {"damaged", "waveshaper"}}) {
    CAPTURE(fault, model);
    const DetectionCase one = case_of(scenario, fault, model);
    const auto found = detect(scenario, one, 1);
    REQUIRE(found);
    REQUIRE(found->alarm_after);
    CHECK_THAT(found->alarm, Catch::Contains(one.what));
  }
}

TEST_CASE("answers that come two seconds late end no agent") {
  const Scenario scenario = scenario_on("configs/fabrics/dialects_4.yaml");
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    const auto found = detect(scenario, case_of(scenario, "late", "itla_laser"), seed);
    REQUIRE(found);
    CHECK_FALSE(found->harms);
  }
}

TEST_CASE("what no register shows is told where a monitor sees the light, and by nobody where none does") {
  const Scenario watched = scenario_on("configs/fabrics/dialects_4.yaml");
  const Scenario blind = scenario_on("configs/fabrics/all_elements.yaml");
  const auto seen = detect(watched, case_of(watched, "fibre-cut", "fibre"), 1);
  REQUIRE(seen);
  CHECK(seen->harms);
  CHECK(seen->alarm_after);
  CHECK(seen->unlit_after);
  const auto unseen = detect(blind, case_of(blind, "fibre-cut", "fibre"), 1);
  REQUIRE(unseen);
  CHECK(unseen->harms);
  CHECK_FALSE(unseen->alarm_after);
  CHECK_FALSE(unseen->unlit_after);
}

TEST_CASE("a fibre cut before a switch that measures its ports is told by the switch, with the port") {
  const Scenario scenario = scenario_on("configs/fabrics/dialects_4.yaml");
  const Fabric& fabric = *scenario.fabric;
  const auto ocs = std::ranges::find(fabric.devices, "ocs", &Device::name)->elements.front();
  std::size_t harmed = 0;
  for (PortNumber port = 0; port < fabric.element(ocs).inputs; ++port) {
    CAPTURE(port);
    FibreFault cut;
    cut.kind = FibreFaultKind::cut;
    cut.first = *fabric.fibre_in[ocs.value][port];
    cut.lasts = 2 * kDetectionPatience;
    const auto found = detect(scenario, {"fibre-cut", "ocs", "fibre", cut}, 1);
    REQUIRE(found);
    CHECK(found->harms == found->named_after.has_value());
    if (found->harms) {
      CHECK_THAT(found->alarm, Catch::Contains("measures no light at its input " + std::to_string(port)));
      CHECK(found->unlit_after);
      ++harmed;
    }
  }
  CHECK(harmed > 0);
}

TEST_CASE("what shows only in an order is told by the next one") {
  const Scenario scenario = [] {
    auto loaded = load_fabric("configs/fabrics/dialects_4.yaml", all_fabric_kinds());
    REQUIRE(loaded);
    return detection_scenario(std::make_shared<const Fabric>(std::move(*loaded.value)), "oddl", DetectionOrder::another_job);
  }();
  for (const auto& [fault, model] : {std::pair{"laser-stuck", "itla_laser"},
                                     {"laser-stuck", "cmis"},
                                     {"stuck-pending", "table_laser"},
                                     {"heater-stuck", "nicslab"},
                                     {"ocs-stuck", "polatis_tl1"}}) {
    CAPTURE(fault, model);
    const auto found = detect(scenario, case_of(scenario, fault, model), 1, DetectionOrder::another_job);
    REQUIRE(found);
    REQUIRE(found->named_after);
    CHECK_FALSE(found->harms);
    CHECK_THAT(found->alarm, Catch::Contains("looks like "));
  }
}

}  // namespace
}  // namespace loom
