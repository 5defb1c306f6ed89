// SPDX-License-Identifier: Apache-2.0
// The isolation certificate: whose light shares what, how much room it has, and what a reloading hologram leaves of it.
#include <catch2/catch.hpp>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/plan/verify/verify.hpp"
#include "core/fabric/channel_grid.hpp"

namespace {

using namespace loom;

Job ring_job(std::uint64_t id, std::uint32_t nodes) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = nodes;
  job.spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}, 1}};
  return job;
}

struct Lab {
  explicit Lab(Db dip) {
    OddlParameters parameters;
    parameters.nodes = 16;
    parameters.group_size = 4;
    parameters.channels = 6;
    parameters.wss_reload_dip = dip;
    request.fabric = std::make_shared<const Fabric>(make_oddl(parameters));
  }

  Plan submit(Job job) {
    request.intent.jobs.push_back(std::move(job));
    request.revision.value += 1;
    const auto made = make_plan(all_architectures(), request);
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    request.base = {*made, &(*made)->plan};
    request.intent = (*made)->intent;
    request.next_circuit = (*made)->next_circuit;
    return (*made)->plan;
  }

  PlanRequest request{};
};

TEST_CASE("a_certificate_has_the_margins_of_the_link_budget") {
  Lab lab(Db{50});
  const LightMargins light = lab.submit(ring_job(1, 16)).certificate.light;
  CHECK(light.circuits == 16);
  // 0 dBm - 7.02 combiner + 8.97 booster - 6.5 WSS - 0.3 fibre - 6.5 WSS + 15 preamplifier - 5 AWG - 1 ring = -2.35 dBm;
  // the receiver bears -10 to +4 dBm.
  CHECK(light.link_margin == Db{635});
  CHECK(light.crosstalk < Db{-2000});
  CHECK(light.crosstalk_margin == Db{-2000} - light.crosstalk);
  CHECK(light.dipped == 0);  // nobody was lit before
}

TEST_CASE("nothing_lit_has_no_margins") {
  Lab lab(Db{50});
  lab.request.intent.lasers_off = true;
  CHECK(lab.submit(ring_job(1, 16)).certificate.light == LightMargins{});
}

TEST_CASE("untouched_light_dips_at_each_wss_that_reloads_for_others") {
  Lab lab(Db{50});
  lab.submit(ring_job(1, 2));
  const Plan second = lab.submit(ring_job(2, 2));  // in the same group: both of its WSS get routes more
  REQUIRE(switches_moved_by(second) == 2);
  CHECK(second.touched.size() == 2);
  const LightMargins& light = second.certificate.light;
  CHECK(light.circuits == 4);
  CHECK(light.dipped == 2);
  CHECK(light.dip == Db{100});
  CHECK(light.dip_time == std::chrono::milliseconds{100});
  CHECK(light.dip_margin <= Db{765} - Db{100});
  CHECK(light.dip_margin > Db{0});
}

TEST_CASE("light_elsewhere_does_not_dip") {
  Lab lab(Db{50});
  lab.submit(ring_job(1, 4));
  const Plan second = lab.submit(ring_job(2, 4));
  CHECK(second.certificate.physically_isolated);
  CHECK(second.certificate.light.dipped == 0);
}

TEST_CASE("light_that_a_dip_would_blind_goes_dark_and_counts_as_touched") {
  Lab lab(Db{500});  // twice 5 dB of 7.65
  const Plan first = lab.submit(ring_job(1, 2));
  const Plan second = lab.submit(ring_job(2, 2));
  CHECK(second.touched.size() == 6);  // two end, two begin in their place, two are new
  CHECK(second.certificate.light.dipped == 0);
  for (const Circuit& circuit : first.circuits) {
    const auto device = lab.request.fabric->device_of_element[circuit.transmitter.value];
    REQUIRE(device);
    CHECK(second.nodes[circuit.source.value].devices.at(0).touched);
  }
  const Plan third = lab.submit(ring_job(3, 4));  // in a group of its own: nobody is disturbed
  CHECK(third.touched.size() == 4);
}

TEST_CASE("a_plan_that_leaves_blinded_light_on_is_refused_by_name") {
  Lab lab(Db{50});
  const Plan first = lab.submit(ring_job(1, 2));
  const Plan second = lab.submit(ring_job(2, 2));
  Fabric deep = *lab.request.fabric;
  for (Element& element : deep.elements) {
    if (auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
      wss->reload_dip = Db{500};
    }
  }
  const Verdict verdict = examine(deep, second, &first, lab.request.intent);
  REQUIRE_FALSE(verdict.violations.empty());
  CHECK(verdict.violations[0].rule == rules::kReloadDip);
  CHECK(verdict.disturbed.size() == 2);
}

TEST_CASE("a_new_channel_grid_blocks_every_circuit_of_its_switch_and_none_may_stay_lit_in_it") {
  Lab lab(Db{0});
  const Plan first = lab.submit(ring_job(1, 2));
  Plan second = lab.submit(ring_job(2, 2));
  REQUIRE(examine(*lab.request.fabric, second, &first, lab.request.intent).violations.empty());
  std::uint32_t moved = 0;
  for (NodePlan& node : second.nodes.edit_all()) {
    for (DevicePlan& device : node.devices) {
      auto* held = device.may_hold.empty() ? nullptr : std::get_if<WavelengthSwitchSetpoint>(&device.may_hold.front());
      if (held != nullptr && moved++ == 0) {  // it may hold a narrow channel, which no grid of the comb has
        WavelengthSwitchSetpoint narrow = *held;
        narrow.routes.front().slot = {narrow.routes.front().slot.n - 1, 1};
        device.may_hold.push_back(narrow);
      }
    }
  }
  REQUIRE(moved > 0);
  const Verdict verdict = examine(*lab.request.fabric, second, &first, lab.request.intent);
  REQUIRE_FALSE(verdict.violations.empty());
  CHECK(verdict.violations[0].rule == rules::kReloadDip);
  CHECK(verdict.violations[0].evidence.find("gets a new channel grid, which blocks every channel") != std::string::npos);
  CHECK_FALSE(verdict.disturbed.empty());
}

TEST_CASE("a_grid_has_the_routes_and_what_of_the_comb_fits_beside_them") {
  const std::vector<FrequencySlot> comb{{-272, 8}, {-256, 8}, {-240, 8}};
  const auto route = [](FrequencySlot slot) { return WssRoute{slot, 0, 0, Db{0}}; };
  CHECK(channel_grid(comb, {}) == comb);
  CHECK(channel_grid(comb, std::vector{route({-256, 8})}) == comb);
  CHECK(channel_grid(comb, std::vector{route({-258, 2})}) == std::vector<FrequencySlot>{{-272, 8}, {-258, 2}, {-240, 8}});
  CHECK(channel_grid(comb, std::vector{route({-264, 8})}) == std::vector<FrequencySlot>{{-264, 8}, {-240, 8}});
  CHECK_FALSE(needs_new_grid(comb, std::vector{route({-272, 8})}, std::vector{route({-256, 8}), route({-240, 8})}));
  CHECK(needs_new_grid(comb, std::vector{route({-272, 8})}, std::vector{route({-272, 8}), route({-258, 2})}));
  CHECK(needs_new_grid(comb, std::vector{route({-258, 2})}, {}));  // back to the comb
}

}  // namespace
