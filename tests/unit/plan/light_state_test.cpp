// SPDX-License-Identifier: Apache-2.0
// What is said of a circuit's light, element by element: by the latest reading, its age and nothing else.
#include "controller/plan/light/light_state.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kRead{seconds{100}};

/// A lit job on a small fabric, and readings that may be spoilt one by one.
struct Bench {
  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const PlanResult> result;
  LightPaths paths;
  std::vector<std::optional<Observation>> seen;
  std::vector<Instant> proven;
  std::vector<AgentLight> agents;
  std::vector<DeviceId> ordered;
  std::vector<JobId> played;
  std::vector<std::optional<ReceivedPower>> received;
  Instant now = kRead + milliseconds{500};

  static std::shared_ptr<const PlanResult> plan(const std::shared_ptr<const Fabric>& fabric, CollectiveKind kind) {
    Planning planning(fabric);
    planning.request.intent.jobs = {job_of(1, static_cast<std::uint32_t>(fabric->nodes.size()), kind)};
    const auto made = planning.attempt();
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    return *made;
  }

  explicit Bench(std::size_t index, CollectiveKind kind = CollectiveKind::all_reduce)
      : fabric(small_fabric(index)),
        result(plan(fabric, kind)),
        paths(fabric, {result, &result->plan}),
        seen(perfect_readings(*fabric, result->plan, kRead)),
        proven(fabric->devices.size(), Instant::min()),
        agents(fabric->nodes.size(), AgentLight::present) {}

  LightReadings readings() const {
    LightReadings all{now, seen, proven, agents, ordered, played, received, {}};
    return all;
  }
  MeasuredLight light(std::size_t circuit = 0) const { return measure_light(paths, circuit, readings()); }
  std::string why(std::size_t circuit = 0) const { return describe_light(paths, circuit, light(circuit), readings()); }
  std::string_view word(std::size_t circuit = 0) const { return oper_state(light(circuit)); }

  /// The first device of this kind on the way of a circuit; its element there.
  Hop hop_with(DeviceRole role, std::size_t circuit = 0, bool drops = true) const {
    for (const Hop& hop : paths.hops(circuit)) {
      const auto device = fabric->device_of_element[hop.element.value];
      const bool is_meant = role != DeviceRole::filter || (hop.input + hop.output == 1) == drops;
      if (device && fabric->device(*device).role == role && is_meant) {
        return hop;
      }
    }
    FAIL("no such device on the way");
    return {};
  }
  DeviceId device_at(const Hop& hop) const { return *fabric->device_of_element[hop.element.value]; }
  Observation& reading_at(const Hop& hop) { return *seen[device_at(hop).value]; }
  TransmitterObservation& laser(std::size_t circuit = 0) {
    return std::get<TransmitterObservation>(reading_at(hop_with(DeviceRole::transmitter, circuit)).reading);
  }
};

TEST_CASE("every circuit of every architecture is lit by readings that are as planned") {
  for (std::size_t index = 0; index < kSmallFabrics; ++index) {
    const Bench bench(index);
    INFO(bench.fabric->architecture << " " << index);
    REQUIRE_FALSE(bench.result->plan.circuits.empty());
    for (std::size_t i = 0; i < bench.result->plan.circuits.size(); ++i) {
      INFO(bench.why(i));
      CHECK(bench.light(i).state == LightState::lit);
      CHECK(bench.light(i).age == milliseconds{500});
      CHECK(bench.word(i) == "CONNECTED");
    }
  }
}

TEST_CASE("a healthy laser is lit anywhere within its frequency accuracy") {
  Bench bench(0);
  const Frequency planned = bench.laser().frequency;
  for (const std::int64_t off : {50, -50, 2'500, -2'500}) {
    bench.laser().frequency.mhz = planned.mhz + off;
    CHECK(bench.light().state == LightState::lit);
    CHECK(bench.word() == "CONNECTED");
  }
  for (const std::int64_t off : {2'501, -2'501}) {
    bench.laser().frequency.mhz = planned.mhz + off;
    CHECK(bench.light().state == LightState::degraded);
    CHECK(bench.word() == "CONNECTED");
    CHECK_THAT(bench.why(), Catch::Contains("limit +2.5 GHz"));
  }
  bench.laser().frequency.mhz = planned.mhz + width_of(bench.result->plan.circuits[0].slot).mhz / 2 + 1;
  CHECK(bench.light().state == LightState::dark);
  CHECK(bench.word() == "FAILED");
}

TEST_CASE("a weak, an unlocked and a broken laser that emits are degraded, one that does not emit is dark") {
  Bench bench(0);
  const Dbm power = bench.laser().power;
  bench.laser().power = power + (-Db{300});
  CHECK(bench.light().state == LightState::lit);
  bench.laser().power = power + (-Db{301});
  CHECK(bench.light().cause == LightCause::weak);
  CHECK(bench.light().state == LightState::degraded);
  bench.laser().power = power;
  bench.laser().locked = false;
  CHECK(bench.light().state == LightState::degraded);
  bench.laser().locked = true;
  bench.laser().status_fatal = 1;
  bench.reading_at(bench.hop_with(DeviceRole::transmitter)).health = DeviceHealth::failed;
  CHECK(bench.light().cause == LightCause::says_it_is_broken);
  bench.laser().emitting = false;
  CHECK(bench.light().state == LightState::dark);
  CHECK(bench.word() == "FAILED");
  CHECK_THAT(bench.why(), Catch::Contains("does not emit") && Catch::Contains("(read 500 ms ago)"));
}

TEST_CASE("what was not read for too long is unknown, and says how old it is") {
  Bench bench(0);
  bench.now = kRead + seconds{10};
  CHECK(bench.light().state == LightState::lit);
  bench.now = kRead + seconds{16};
  CHECK(bench.light().state == LightState::unknown);
  CHECK(bench.light().age == seconds{16});
  CHECK(bench.word() == "UNKNOWN");
  CHECK_THAT(bench.why(), Catch::Contains("was read 16000 ms ago, limit 10000 ms"));
  bench.seen[bench.device_at(bench.hop_with(DeviceRole::filter)).value].reset();
  CHECK(bench.light().age == Duration{-1});
}

TEST_CASE("a driver that gave up knows nothing, but darkness that it read stays dark") {
  Bench bench(0);
  const Hop laser = bench.hop_with(DeviceRole::transmitter);
  bench.reading_at(laser).health = DeviceHealth::failed;
  bench.reading_at(laser).fault = "laser-0: read of LF1: no answer within 500.000 ms in 4 tries";
  CHECK(bench.light().state == LightState::unknown);
  CHECK_THAT(bench.why(), Catch::Contains("no answer within"));
  bench.laser().emitting = false;
  CHECK(bench.light().state == LightState::dark);
  bench.now = kRead + seconds{60};
  CHECK(bench.light().state == LightState::dark);
}

TEST_CASE("a heater that failed takes its circuits with it, and the worst element is named") {
  Bench bench(0);
  const Hop ring = bench.hop_with(DeviceRole::filter);
  bench.reading_at(ring).health = DeviceHealth::failed;
  bench.reading_at(ring).fault = "heater-1: no answer";
  CHECK(bench.light().state == LightState::unknown);
  CHECK(bench.light().element == ring.element);
  bench.laser().emitting = false;  // known to be dark is worse than not known
  CHECK(bench.light().state == LightState::dark);
  CHECK(bench.light().element == bench.result->plan.circuits[0].transmitter);
}

TEST_CASE("a ring beside its light degrades it, one further away leaves it dark") {
  for (const std::size_t index : {std::size_t{0}, std::size_t{2}}) {
    Bench bench(index);
    const Hop hop = bench.hop_with(DeviceRole::filter);
    const auto& ring = std::get<RingFilter>(bench.fabric->element(hop.element).kind);
    const std::size_t channel = bench.fabric->index_in_device[hop.element.value];
    auto& bank = std::get<FilterObservation>(bench.reading_at(hop).reading);
    const Frequency light = centre_of(bench.result->plan.circuits[0].slot);
    const auto set = [&](std::int64_t off) { bank.millivolts[channel] = millivolts_for(ring, {light.mhz + off}); };
    set(-ring.fwhm.mhz / 8 + 200);
    CHECK(bench.light().state == LightState::lit);
    set(-ring.fwhm.mhz / 8 - 200);
    CHECK(bench.light().state == LightState::degraded);
    set(-ring.fwhm.mhz / 2 + 200);
    CHECK(bench.light().state == LightState::degraded);
    set(-ring.fwhm.mhz / 2 - 200);
    CHECK(bench.light().state == LightState::dark);
    CHECK(bench.light().cause == LightCause::ring_away);
  }
}

TEST_CASE("a ring that couples where light shall pass takes it off its way") {
  Bench bench(2);
  std::size_t circuit = 0;
  const auto passes = [&](const Hop& hop) {
    const auto device = bench.fabric->device_of_element[hop.element.value];
    return device && bench.fabric->device(*device).role == DeviceRole::filter && hop.input == 0 && hop.output == 0;
  };
  while (std::none_of(bench.paths.hops(circuit).begin(), bench.paths.hops(circuit).end(), passes)) {
    REQUIRE(++circuit < bench.result->plan.circuits.size());
  }
  const Hop hop = bench.hop_with(DeviceRole::filter, circuit, false);
  const auto& ring = std::get<RingFilter>(bench.fabric->element(hop.element).kind);
  auto& bank = std::get<FilterObservation>(bench.reading_at(hop).reading);
  const Frequency light = centre_of(bench.result->plan.circuits[circuit].slot);
  if (light < ring.cold_resonance) {
    bank.millivolts[bench.fabric->index_in_device[hop.element.value]] = millivolts_for(ring, light);
    CHECK(bench.light(circuit).cause == LightCause::ring_in_the_way);
    CHECK(bench.light(circuit).state == LightState::dark);
  }
}

TEST_CASE("a switch without the row is dark, one that moves as ordered is unknown, one that attenuates more degrades") {
  Bench bench(0);
  const Hop hop = bench.hop_with(DeviceRole::wavelength_switch);
  auto& wss = std::get<WavelengthSwitchObservation>(bench.reading_at(hop).reading);
  wss.settled = false;
  CHECK(bench.light().cause == LightCause::not_settled);
  CHECK(bench.light().state == LightState::dark);
  CHECK_THAT(bench.why(), Catch::Contains("does not settle"));
  bench.ordered = {bench.reading_at(hop).device};
  CHECK(bench.light().cause == LightCause::moving);
  CHECK(bench.light().state == LightState::unknown);
  wss.settled = true;
  for (WssRoute& route : wss.routes) {
    route.attenuation = Db{301};
  }
  CHECK(bench.light().state == LightState::degraded);
  wss.routes.clear();
  CHECK(bench.light().state == LightState::dark);
  CHECK(bench.light().cause == LightCause::not_connected);

  Bench switched(3);
  auto& ocs = std::get<CircuitSwitchObservation>(switched.reading_at(switched.hop_with(DeviceRole::circuit_switch)).reading);
  for (CrossConnect& connect : ocs.connects) {
    connect.output = static_cast<std::uint16_t>(connect.output ^ 1U);
  }
  CHECK(switched.light().state == LightState::dark);
}

TEST_CASE("an agent that is away leaves its light unknown, one that is latched leaves it dark and pending") {
  Bench bench(0);
  const NodeId source = bench.result->plan.circuits[0].source;
  bench.agents[source.value] = AgentLight::away;
  CHECK(bench.light().state == LightState::unknown);
  CHECK(bench.light().cause == LightCause::agent_away);
  bench.agents[source.value] = AgentLight::latched;
  CHECK(bench.light().state == LightState::dark);
  CHECK(bench.word() == "PENDING_CONNECTION");
  CHECK_THAT(bench.why(), Catch::Contains("latched off"));
  bench.agents[source.value] = AgentLight::darkening;
  CHECK(bench.light().state == LightState::unknown);
  bench.laser().emitting = false;
  CHECK(bench.light().state == LightState::dark);
}

TEST_CASE("what a commit read back since is newer than the reading of before") {
  Bench bench(0);
  bench.laser().emitting = false;
  bench.proven[bench.device_at(bench.hop_with(DeviceRole::transmitter)).value] = kRead + milliseconds{1};
  CHECK(bench.light().state == LightState::lit);
  bench.reading_at(bench.hop_with(DeviceRole::transmitter)).read_at = kRead + milliseconds{2};
  CHECK(bench.light().state == LightState::dark);
}

TEST_CASE("what a commit read back is known without any report since, for as long as a reading is") {
  Bench bench(0);
  for (std::optional<Observation>& seen : bench.seen) {
    seen.reset();
  }
  CHECK(bench.light().cause == LightCause::never_read);
  CHECK(bench.light().age == Duration{-1});
  bench.proven.assign(bench.proven.size(), kRead);
  CHECK(bench.light().state == LightState::lit);
  CHECK(bench.light().age == milliseconds{500});
  bench.now = kRead + seconds{11};
  CHECK(bench.light().cause == LightCause::read_too_long_ago);
}

TEST_CASE("a laser that plays agrees with any of its timeslots, until they are played") {
  Bench bench(0, CollectiveKind::all_to_all);
  std::size_t circuit = 0;
  const auto plays = [&](std::size_t i) {
    const auto device = bench.fabric->device_of_element[bench.result->plan.circuits[i].transmitter.value];
    return bench.paths.device(*device)->timeline.size() > 1;
  };
  while (!plays(circuit)) {
    REQUIRE(++circuit < bench.result->plan.circuits.size());
  }
  const DevicePlan* plan = bench.paths.device(bench.device_at(bench.hop_with(DeviceRole::transmitter, circuit)));
  for (const TimedSetpoint& entry : plan->timeline) {
    const auto& wanted = std::get<TransmitterSetpoint>(entry.setpoint);
    bench.laser(circuit).emitting = wanted.emit;
    bench.laser(circuit).frequency = centre_of(wanted.slot);
    bench.laser(circuit).power = wanted.power;
    CHECK(bench.light(circuit).state == LightState::lit);
  }
  bench.laser(circuit).emitting = false;
  CHECK(bench.light(circuit).cause == LightCause::between_timeslots);
  CHECK(bench.light(circuit).state == LightState::lit);
  bench.played = {JobId{1}};
  CHECK(bench.light(circuit).state == LightState::dark);
  CHECK(bench.light(circuit).cause == LightCause::played);
  CHECK(bench.word(circuit) == "PENDING_CONNECTION");
}

TEST_CASE("a receiver that measures its light has the last word") {
  Bench bench(0);
  bench.received.resize(bench.fabric->elements.size());
  const ElementId element = bench.result->plan.circuits[0].receiver;
  const auto& receiver = std::get<Receiver>(bench.fabric->element(element).kind);
  bench.received[element.value] = ReceivedPower{receiver.sensitivity, kRead};
  CHECK(bench.light().state == LightState::lit);
  bench.received[element.value]->power = receiver.sensitivity + (-Db{1});
  CHECK(bench.light().state == LightState::dark);
  CHECK_THAT(bench.why(), Catch::Contains("receives too little"));
  bench.received[element.value]->power = receiver.overload + Db{1};
  CHECK(bench.light().state == LightState::degraded);
}

TEST_CASE("a circuit that the plan does not carry is dark") {
  Bench bench(0);
  auto plan = std::make_shared<Plan>(bench.result->plan);
  for (NodePlan& node : plan->nodes.edit_all()) {
    for (DevicePlan& device : node.devices) {
      if (auto* wss = std::get_if<WavelengthSwitchSetpoint>(&device.timeline.front().setpoint)) {
        wss->routes.clear();
      }
    }
  }
  const LightPaths paths(bench.fabric, plan);
  CHECK(measure_light(paths, 0, bench.readings()).cause == LightCause::no_path);
  CHECK(measure_light(paths, 0, bench.readings()).state == LightState::dark);
}

}  // namespace
}  // namespace loom::test
