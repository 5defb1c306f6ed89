// SPDX-License-Identifier: Apache-2.0
// Many banks at once: as far as transmitters go, and as far as the controller agrees.
#include "controller/calibrate/campaign.hpp"

#include <catch2/catch.hpp>

#include <set>

#include "tests/unit/calibrate/true_bank.hpp"

using namespace loom;
using namespace loom::test;

namespace {

/// `banks` banks of `rings` rings; transmitter k serves ring k of every bank where `shared`.
std::vector<RingReport> banks_of(std::size_t banks, std::size_t rings, bool shared) {
  std::vector<RingReport> all;
  for (std::uint32_t bank = 0; bank < banks; ++bank) {
    for (RingReport ring : kind_of(rings)) {
      ring.bank = {bank};
      ring.ring.value += 1'000 * bank;
      ring.receiver.value += 1'000 * bank;
      for (Probe& light : ring.lights) {
        light.receiver = ring.receiver;
        light.transmitter.value += shared ? 0 : 1'000 * bank;
      }
      all.push_back(std::move(ring));
    }
  }
  return all;
}

ReceivedLights seen(const ProbeLight& ask, TrueBank& truth, std::size_t rings) {
  std::map<std::uint32_t, std::vector<std::int32_t>> millivolts;
  for (const RingDrive& drive : ask.drives) {
    auto& bank = millivolts[drive.ring.value / 1'000];
    bank.resize(rings);
    bank[drive.ring.value % 1'000 - 100] = drive.millivolts;
  }
  ReceivedLights lights;
  for (const Probe& probe : ask.probes) {
    const std::size_t ring = probe.receiver.value % 1'000 - 200;
    lights[probe.receiver] = {truth.dropped(ring, millivolts.at(probe.receiver.value / 1'000), centre_of(probe.slot))};
  }
  return lights;
}

std::size_t run(Campaign& campaign, TrueBank& truth, std::size_t rings) {
  std::size_t most = 0;
  while (!campaign.is_over() && campaign.steps() < 5'000) {
    const ProbeLight ask = campaign.ask();
    std::set<ElementId> transmitters;
    for (const Probe& probe : ask.probes) {
      CHECK(transmitters.insert(probe.transmitter).second);
    }
    most = std::max(most, ask.probes.size());
    campaign.take(seen(ask, truth, rings));
  }
  REQUIRE(campaign.is_over());
  return most;
}

}  // namespace

TEST_CASE("banks with lights of their own are measured at once") {
  TrueBank truth = true_bank(4, 0.02);
  Campaign one(banks_of(1, 4, false), {});
  run(one, truth, 4);
  Campaign many(banks_of(16, 4, false), {});
  CHECK(run(many, truth, 4) == 64);
  CHECK(many.steps() == one.steps());
  CHECK(many.calibrations().size() == 16);
  CHECK(many.troubles().empty());
  CHECK(many.done() == 16);
}

TEST_CASE("banks that share transmitters are measured one after the other") {
  TrueBank truth = true_bank(2, 0.02);
  Campaign campaign(banks_of(3, 2, true), {});
  CHECK(run(campaign, truth, 2) == 2);
  CHECK(campaign.calibrations().size() == 3);
}

TEST_CASE("where the controller refuses fewer are tried at once and the last one is given up by its words") {
  TrueBank truth = true_bank(2, 0.02);
  Campaign campaign(banks_of(4, 2, false), {});
  std::size_t refusals = 0;
  while (!campaign.is_over() && campaign.steps() < 5'000) {
    const ProbeLight ask = campaign.ask();
    const bool has_bank_2 =
        std::ranges::any_of(ask.drives, [](const RingDrive& drive) { return drive.ring.value / 1'000 == 2; });
    if (has_bank_2) {
      ++refusals;
      campaign.refused({ErrorCode::conflict, "it carries light of job 7"});
    } else {
      campaign.take(seen(ask, truth, 2));
    }
  }
  CHECK(refusals <= 4);
  CHECK(campaign.calibrations().size() == 3);
  REQUIRE(campaign.troubles().size() == 2);
  CHECK(campaign.troubles()[0].bank == DeviceId{2});
  CHECK(campaign.troubles()[0].why == "it carries light of job 7");
}

TEST_CASE("rings that nothing measures or lights are named and the others measured") {
  TrueBank truth = true_bank(2, 0.02);
  std::vector<RingReport> rings = banks_of(3, 2, false);
  for (RingReport& ring : rings) {
    ring.monitor = ring.bank == DeviceId{0} ? std::nullopt : ring.monitor;
    if (ring.bank == DeviceId{1}) {
      ring.lights.clear();
    }
  }
  Campaign campaign(rings, {});
  run(campaign, truth, 2);
  REQUIRE(campaign.troubles().size() == 4);
  CHECK_THAT(campaign.troubles()[0].why, Catch::Contains("nothing measures"));
  CHECK_THAT(campaign.troubles()[2].why, Catch::Contains("no transmitter that is free"));
  REQUIRE(campaign.calibrations().size() == 1);
  CHECK(campaign.calibrations()[0].device == DeviceId{2});
}

TEST_CASE("a monitor that says nothing is darkness and its ring is not found") {
  Campaign campaign(banks_of(1, 2, false), {});
  while (!campaign.is_over() && campaign.steps() < 5'000) {
    campaign.take({});
  }
  CHECK(campaign.calibrations().empty());
  REQUIRE(campaign.troubles().size() == 2);
  CHECK_THAT(campaign.troubles()[0].why, Catch::Contains("sees no light"));
}
