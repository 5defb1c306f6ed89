// SPDX-License-Identifier: Apache-2.0
// Lights that can come to a ring, and what measures them, walked through fabrics that are built.
#include "controller/calibrate/ring_ways.hpp"

#include <catch2/catch.hpp>

#include <set>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"

using namespace loom;

namespace {

Fabric oddl(bool photodiodes) {
  OddlParameters parameters;
  parameters.nodes = 16;
  parameters.group_size = 4;
  parameters.channels = 12;
  parameters.planes = 2;
  parameters.photodiodes = photodiodes;
  return make_oddl(parameters);
}

ElementId first_ring(const Fabric& fabric) {
  for (const Element& element : fabric.elements) {
    if (std::holds_alternative<RingFilter>(element.kind)) {
      return element.id;
    }
  }
  FAIL("no ring");
  return {};
}

}  // namespace

TEST_CASE("a ring behind a grating gets only the channels that leave there") {
  const Fabric fabric = oddl(true);
  for (const Element& element : fabric.elements) {
    const auto* filter = std::get_if<RingFilter>(&element.kind);
    if (filter == nullptr) {
      continue;
    }
    const RingReport row = ring_ways(fabric, element.id);
    CHECK(row.channels == 2);
    REQUIRE(row.monitor);
    CHECK(fabric.device(*row.monitor).role == DeviceRole::monitor);
    CHECK(row.shift == 37'000'000);
    std::set<ElementId> transmitters;
    std::set<std::int64_t> channels;
    for (const Probe& light : row.lights) {
      transmitters.insert(light.transmitter);
      channels.insert(centre_of(light.slot).mhz);
      CHECK(light.receiver == row.receiver);
    }
    CHECK(transmitters.size() == kWaysToRing);
    REQUIRE(channels.size() == 3);  // of 12, every fourth
    CHECK(row.cold_resonance.mhz - *channels.rbegin() == 400'000);
    CHECK(*channels.rbegin() - *channels.begin() == 800'000);
  }
}

TEST_CASE("without photodiodes nothing measures a ring of lasers that tell no received light") {
  const Fabric fabric = oddl(false);
  CHECK_FALSE(ring_ways(fabric, first_ring(fabric)).monitor);
}

TEST_CASE("a ring of a bus gets the light of its wavelength from elsewhere") {
  SipRingParameters parameters;
  parameters.nodes = 4;
  const Fabric fabric = make_sip_ring(parameters);
  const RingReport row = ring_ways(fabric, first_ring(fabric));
  CHECK_FALSE(row.lights.empty());
  CHECK(row.receiver.value != 0);
}
