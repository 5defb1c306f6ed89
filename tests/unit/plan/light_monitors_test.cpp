// SPDX-License-Identifier: Apache-2.0
// What a monitor's reading says of a circuit: whose light it may be, what outranks what, and what proves.
#include <catch2/catch.hpp>

#include "controller/plan/light/light_state.hpp"
#include "tests/drivers/monitors/monitored_fabric.hpp"
#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kRead{seconds{100}};

/// A ring of all nodes; monitors at every receiver, and a spectrum at a tap behind the first laser.
struct Bench {
  DeviceId osa;
  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const PlanResult> result;
  LightPaths paths;
  std::vector<std::optional<Observation>> seen;
  std::vector<Instant> proven;
  std::vector<DeviceId> ordered;
  std::vector<std::optional<ReceivedPower>> received;
  std::vector<LightReading> peaks;
  std::size_t tapped = 0;  ///< circuit behind the tap

  static std::shared_ptr<const Fabric> build(DeviceId& osa) {
    Fabric fabric = small_oddl();
    build_index(fabric);
    watch_receivers(fabric);
    osa = tap_behind(fabric, fabric.nodes[0].transmitters.front(), "osa");
    REQUIRE(check_fabric(fabric).empty());
    return std::make_shared<const Fabric>(std::move(fabric));
  }
  static std::shared_ptr<const PlanResult> plan(const std::shared_ptr<const Fabric>& fabric) {
    Planning planning(fabric);
    planning.request.intent.jobs = {job_of(1, static_cast<std::uint32_t>(fabric->nodes.size()))};
    const auto made = planning.attempt();
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    return *made;
  }

  Bench()
      : fabric(build(osa)),
        result(plan(fabric)),
        paths(fabric, {result, &result->plan}),
        seen(perfect_readings(*fabric, result->plan, kRead)),
        proven(fabric->devices.size(), Instant::min()),
        received(fabric->elements.size()) {
    for (std::size_t i = 0; i < result->plan.circuits.size(); ++i) {
      const Circuit& circuit = result->plan.circuits[i];
      receive(circuit.receiver, range_of(circuit.receiver).sensitivity);
      tapped = circuit.transmitter == fabric->nodes[0].transmitters.front() ? i : tapped;
    }
    measure(slot(), Dbm{-2'000}, 0);
  }
  const Receiver& range_of(ElementId receiver) const { return std::get<Receiver>(fabric->element(receiver).kind); }
  FrequencySlot slot() const { return result->plan.circuits[tapped].slot; }
  ElementId tap() const { return fabric->device(osa).elements.front(); }
  ElementId own() const { return result->plan.circuits[tapped].receiver; }
  void receive(ElementId receiver, Dbm power) { received[receiver.value] = ReceivedPower{power, kRead}; }
  /// One peak at the tap, so far beside the slot's centre.
  void measure(FrequencySlot at, Dbm power, std::int64_t off_mhz) {
    peaks = {{0, power, centre_of(at) + FrequencyOffset{off_mhz}}};
    received[tap().value] = ReceivedPower{power, kRead, peaks};
  }
  TransmitterObservation& laser() {
    const auto id = *fabric->device_of_element[result->plan.circuits[tapped].transmitter.value];
    return std::get<TransmitterObservation>(seen[id.value]->reading);
  }
  LightReadings readings() const { return {kRead + milliseconds{500}, seen, proven, {}, ordered, {}, received, {}}; }
  MeasuredLight light() const { return measure_light(paths, tapped, readings()); }
  std::string why() const { return describe_light(paths, tapped, light(), readings()); }
};

TEST_CASE("the power at a circuits receiver decides at its borders and proves it in between") {
  Bench bench;
  CHECK(bench.light().state == LightState::lit);
  CHECK(bench.light().proof == Proof::monitor);
  bench.receive(bench.own(), bench.range_of(bench.own()).overload);
  CHECK(bench.light().state == LightState::lit);
  bench.receive(bench.own(), bench.range_of(bench.own()).overload + Db{1});
  CHECK(bench.light().cause == LightCause::received_high);
  CHECK(bench.light().proof != Proof::monitor);
  bench.receive(bench.own(), bench.range_of(bench.own()).sensitivity - Db{1});
  CHECK(bench.light().state == LightState::dark);
  CHECK(bench.light().element == bench.own());
  CHECK_THAT(bench.why(), Catch::Contains("receives too little: desired") && Catch::Contains("measured by photodiodes-") &&
                              Catch::Contains("(read 500 ms ago)"));
  CHECK(missing_at(bench.paths, bench.own(), bench.readings()) == bench.tapped);
}

TEST_CASE("light is missing at a monitor only where no device on its way says why") {
  Bench bench;
  bench.receive(bench.own(), kNoLight);
  bench.laser().emitting = false;
  CHECK_FALSE(missing_at(bench.paths, bench.own(), bench.readings()).has_value());
  bench.laser().emitting = true;
  CHECK(missing_at(bench.paths, bench.own(), bench.readings()) == bench.tapped);
}

TEST_CASE("a reading that is older than the light says nothing of it") {
  Bench bench;
  const DeviceId laser = *bench.fabric->device_of_element[bench.result->plan.circuits[bench.tapped].transmitter.value];
  bench.receive(bench.own(), kNoLight);
  bench.proven[laser.value] = kRead;
  CHECK(bench.light().state == LightState::unknown);
  CHECK(bench.light().cause == LightCause::not_measured_since);
  CHECK_FALSE(missing_at(bench.paths, bench.own(), bench.readings()).has_value());
  bench.proven[laser.value] = kRead - std::chrono::nanoseconds{1};
  CHECK(bench.light().state == LightState::dark);
  bench.ordered = {laser};  // a commit is about to change it
  CHECK(bench.light().state == LightState::lit);
  CHECK(bench.light().proof != Proof::monitor);
}

TEST_CASE("a monitor that was not read or gave up leaves its circuit unknown") {
  Bench bench;
  const DeviceId monitor = *bench.fabric->device_of_element[bench.own().value];
  bench.received[bench.own().value].reset();
  bench.seen[monitor.value]->health = DeviceHealth::failed;
  bench.seen[monitor.value]->fault = "photodiodes: no answer";
  CHECK(bench.light().cause == LightCause::driver_gave_up);
  CHECK(bench.light().state == LightState::unknown);
  CHECK_THAT(bench.why(), Catch::Contains("photodiodes: no answer"));
  bench.seen[monitor.value].reset();
  CHECK(bench.light().cause == LightCause::never_read);
}

TEST_CASE("a measured frequency outranks the lasers own word in both directions") {
  Bench bench;
  bench.laser().frequency = centre_of(bench.slot()) + FrequencyOffset{2'501};
  bench.laser().locked = false;
  CHECK(bench.light().state == LightState::lit);  // its own reference is off, its light is not
  bench.received[bench.tap().value].reset();
  bench.seen[bench.osa.value]->read_at = kRead;
  CHECK(bench.light().state != LightState::lit);

  bench.laser().frequency = centre_of(bench.slot());
  bench.laser().locked = true;
  for (const std::int64_t off : {2'500, -2'500}) {
    bench.measure(bench.slot(), Dbm{-2'000}, off);
    CHECK(bench.light().state == LightState::lit);
  }
  for (const std::int64_t off : {2'501, -2'501}) {
    bench.measure(bench.slot(), Dbm{-2'000}, off);
    CHECK(bench.light().state == LightState::degraded);
    CHECK(bench.light().cause == LightCause::measured_beside);
    CHECK_THAT(bench.why(), Catch::Contains("is measured by osa-") && Catch::Contains("limit +2.5 GHz"));
  }
  bench.measure(bench.slot(), Dbm{-2'000}, width_of(bench.slot()).mhz / 2 + 1);
  CHECK(bench.light().state == LightState::dark);
  CHECK(bench.light().cause == LightCause::measured_elsewhere);
  const auto measured = measured_frequency(bench.paths, bench.tapped, bench.readings());
  REQUIRE(measured);
  CHECK(measured->receiver == bench.tap());
}

TEST_CASE("a tap before a switch proves the laser and not the circuit") {
  Bench bench;
  for (const Sighting& sighting : bench.paths.sightings(bench.tapped)) {
    CHECK(sighting.is_alone);
    CHECK(sighting.is_final == (sighting.receiver == bench.own()));
  }
  REQUIRE(bench.paths.sightings(bench.tapped).size() == 2);
  CHECK(bench.paths.sighted_at(bench.tap()).size() == 1);
  CHECK(bench.paths.sightings(bench.tapped == 0 ? 1 : 0).size() == 1);
}

TEST_CASE("of light that may be others' a sum of power proves darkness only and a spectrum its own slot") {
  const FrequencySlot slot{0, 8};
  const FrequencySlot next{16, 8};
  Receiver receiver;
  Sighting shared{ElementId{0}, false, true, true};
  CHECK(seen_light(shared, receiver, {receiver.sensitivity, kRead, {}}, slot).power == std::nullopt);
  CHECK(seen_light(shared, receiver, {receiver.sensitivity - Db{1}, kRead, {}}, slot).power.has_value());

  const std::vector<LightReading> both{{0, Dbm{-900}, centre_of(slot) + FrequencyOffset{300}}, {0, Dbm{-100}, centre_of(next)}};
  const SeenLight own = seen_light(shared, receiver, {Dbm{0}, kRead, both}, slot);
  CHECK(own.power == Dbm{-900});
  CHECK(own.frequency == centre_of(slot) + FrequencyOffset{300});
  const std::vector<LightReading> others{{0, Dbm{-100}, centre_of(next)}};
  CHECK(seen_light(shared, receiver, {Dbm{-100}, kRead, others}, slot).power == kNoLight);
  shared.is_alone_in_slot = false;
  CHECK(seen_light(shared, receiver, {Dbm{0}, kRead, both}, slot).power == std::nullopt);
  shared.is_alone = shared.is_alone_in_slot = true;
  CHECK(seen_light(shared, receiver, {Dbm{-100}, kRead, others}, slot).frequency == centre_of(next));
}

}  // namespace
}  // namespace loom::test
