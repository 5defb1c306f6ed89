// SPDX-License-Identifier: Apache-2.0
// Light to measure by and what comes of it, as a controller takes it: who may ask for what, how long it lasts, and which
// calibrations are believed.
#include "tests/unit/requests/request_bench.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::seconds;

namespace {

std::string refusal(RequestBench& bench, OperatorAsk ask) {
  const OperatorReply reply = bench.ask(std::move(ask));
  REQUIRE_FALSE(reply.outcome.ok());
  return reply.outcome.error->message;
}

RingReport ring_of(RequestBench& bench, NodeId node) {
  for (const RingReport& row : bench.rows<RingReport>(Noun::rings)) {
    if (bench.fabric->device(row.bank).agent == node) {
      return row;
    }
  }
  FAIL("no ring");
  return {};
}

ProbeLight look(const RingReport& ring, std::int32_t millivolts) { return {{ring.lights.front()}, {{ring.ring, millivolts}}}; }

DeviceCalibration found(const RingReport& ring, std::int64_t shift_khz = 38'000'000) {
  return {ring.bank, 0, {}, {}, {{0, ring.cold_resonance, {shift_khz}, {}, 3}}};
}

const FilterSetpoint& heater_of(const RequestBench& bench, DeviceId bank) {
  const auto plan = bench.controller->confirmed_plan();
  for (const NodePlan& node : plan->plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      if (device.device == bank) {
        return std::get<FilterSetpoint>(device.timeline.front().setpoint);
      }
    }
  }
  FAIL("no such bank");
  throw 0;
}

}  // namespace

TEST_CASE("light to measure by is lit for no job and goes out when nobody asks for it again") {
  RequestBench bench;
  const RingReport ring = ring_of(bench, NodeId{3});
  const OperatorReply reply = bench.ask(look(ring, 3'000));
  REQUIRE(reply.outcome.ok());
  CHECK(reply.revision.value > 0);
  bench.settle();
  CHECK(bench.controller->confirmed_plan()->plan.circuits.empty());
  REQUIRE(heater_of(bench, ring.bank).rings.size() == 1);
  CHECK(heater_of(bench, ring.bank).rings[0].drive == 3'000);
  bench.run_for(seconds{20});
  REQUIRE(bench.ask(look(ring, 4'000)).outcome.ok());  // asked again in time
  bench.settle();
  bench.run_for(seconds{20});
  CHECK(bench.controller->intent().probes.size() == 1);
  bench.run_for(seconds{15});
  bench.settle();
  CHECK(bench.controller->intent().probes.empty());
  CHECK(bench.controller->intent().drives.empty());
  CHECK(heater_of(bench, ring.bank).rings.empty());
}

TEST_CASE("a controller that comes back does not shine for whoever asked the one before it") {
  RequestBench bench;
  REQUIRE(bench.ask(look(ring_of(bench, NodeId{3}), 3'000)).outcome.ok());
  bench.settle();
  bench.start(kVirtualClock);
  bench.run_for(seconds{2});
  bench.settle();
  CHECK(bench.controller->intent().probes.empty());
}

TEST_CASE("light to measure by comes to no ring and takes no laser of a job") {
  RequestBench bench;
  const RingReport ring = ring_of(bench, NodeId{3});
  bench.light(8);
  CHECK(ring_of(bench, NodeId{3}).lights.empty());  // all transmitters have a job
  CHECK_THAT(refusal(bench, look(ring, 3'000)), Catch::Contains("measure"));
  CHECK_THAT(refusal(bench, ProbeLight{{}, {{ring.ring, 3'000}}}),
             Catch::Contains("which is being measured: it may stand anywhere"));
}

TEST_CASE("maintenance and lasers off take light that measures away as they take any") {
  RequestBench bench;
  const RingReport ring = ring_of(bench, NodeId{3});
  REQUIRE(bench.ask(look(ring, 3'000)).outcome.ok());
  bench.settle();
  const NodeId sender = bench.fabric->device(*bench.fabric->device_of_element[ring.lights.front().transmitter.value]).agent;
  const auto emits = [&] {
    for (const DevicePlan& device : bench.controller->confirmed_plan()->plan.nodes[sender.value].devices) {
      const auto* laser = std::get_if<TransmitterSetpoint>(&device.timeline.front().setpoint);
      if (laser != nullptr && laser->emit) {
        return true;
      }
    }
    return false;
  };
  CHECK(emits());
  const OperatorReply reply = bench.ask(NodeRequest{sender, NodeAction::maintain, true, false});
  INFO((reply.outcome.ok() ? "" : reply.outcome.error->message));
  REQUIRE(reply.outcome.ok());
  bench.settle();
  CHECK_FALSE(emits());
}

TEST_CASE("what is no laser, no ring, no channel or too much is refused by name") {
  RequestBench bench;
  const RingReport ring = ring_of(bench, NodeId{3});
  CHECK_THAT(refusal(bench, ProbeLight{{}, {{ElementId{9'999}, 10}}}), Catch::Contains("element 9999 is no ring filter"));
  CHECK_THAT(refusal(bench, ProbeLight{{}, {{ring.receiver, 10}}}), Catch::Contains("is no ring filter"));
  CHECK_THAT(refusal(bench, ProbeLight{{}, {{ring.ring, 10'001}}}), Catch::Contains("10001 mV, allowed 0 to 10000 mV"));
  Probe light = ring.lights.front();
  light.slot.n += 3;
  CHECK_THAT(refusal(bench, ProbeLight{{light}, {}}), Catch::Contains("none of its"));
  light = ring.lights.front();
  light.transmitter = ring.ring;
  CHECK_THAT(refusal(bench, ProbeLight{{light}, {}}), Catch::Contains("is no transmitter"));
  light = ring.lights.front();
  light.receiver = ring.ring;
  CHECK_THAT(refusal(bench, ProbeLight{{light}, {}}), Catch::Contains("is no receiver"));
  const Probe twice = ring.lights.front();
  CHECK_THAT(refusal(bench, ProbeLight{{twice, twice}, {}}), Catch::Contains("ascend"));
  bench.ask(LasersRequest{false});
  bench.settle();
  CHECK_THAT(refusal(bench, look(ring, 100)), Catch::Contains("its lasers are latched off"));
}

TEST_CASE("a calibration is kept by version, drives the heaters from then on and can be forgotten") {
  RequestBench bench;
  const RingReport ring = ring_of(bench, NodeId{3});
  REQUIRE(bench.ask(Calibrate{{found(ring)}, false}).outcome.ok());
  bench.settle();
  REQUIRE(bench.ask(Calibrate{{found(ring, 39'000'000)}, false}).outcome.ok());
  bench.settle();
  REQUIRE(bench.ask(Calibrate{{found(ring, 40'000'000)}, false}).outcome.ok());
  bench.settle();
  const auto rows = bench.rows<CalibrationReport>(Noun::calibrations);
  REQUIRE(rows.size() == limits::kCalibrationsKept);
  CHECK(rows[0].calibration.version == 2);
  CHECK_FALSE(rows[0].in_force);
  CHECK(rows[1].calibration.version == 3);
  CHECK(rows[1].in_force);
  const JobId job = bench.light(8);
  const FilterSetpoint lit = heater_of(bench, ring.bank);
  REQUIRE(lit.rings.size() == 1);
  REQUIRE(lit.rings[0].drive);
  const double volts = *lit.rings[0].drive * 1e-3;
  CHECK(std::abs(static_cast<double>((ring.cold_resonance - lit.rings[0].resonance).mhz) - 40'000 * volts * volts) < 200);
  const auto device = bench.rows<DeviceReport>(Noun::devices, ring.bank.value);
  REQUIRE(device.size() == 1);
  REQUIRE(device[0].calibration);
  CHECK(device[0].calibration->version == 3);
  CHECK_THAT(refusal(bench, Calibrate{{found(ring)}, false}), Catch::Contains("carries"));
  REQUIRE(bench.ask(CancelJob{job, false}).outcome.ok());
  bench.settle();
  REQUIRE(bench.ask(Calibrate{{{ring.bank, 0, {}, {}, {}}}, false}).outcome.ok());
  bench.settle();
  CHECK(calibration_of(bench.controller->intent(), ring.bank) == nullptr);
  CHECK_FALSE(bench.rows<DeviceReport>(Noun::devices, ring.bank.value)[0].calibration);
}

TEST_CASE("what was measured of lasers is kept by device and version and refused where it cannot be") {
  RequestBench bench;
  const Probe light = ring_of(bench, NodeId{3}).lights.front();
  const DeviceId laser = *bench.fabric->device_of_element[light.transmitter.value];
  const auto told = [&](Db offset) { return Calibrate{{}, false, {{light.transmitter, light.receiver, light.slot, offset}}}; };
  REQUIRE(bench.ask(told(Db{-150})).outcome.ok());
  bench.settle();
  REQUIRE(bench.ask(told(Db{-180})).outcome.ok());
  bench.settle();
  const auto rows = bench.rows<CalibrationReport>(Noun::calibrations);
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].calibration.device == laser);
  CHECK(rows[1].calibration.version == 2);
  CHECK(rows[1].calibration.lights == std::vector{ChannelLight{light.slot, Db{-180}, light.receiver}});
  CHECK(power_offset(*bench.fabric, bench.controller->intent(), light.transmitter, light.slot) == Db{-180});
  CHECK_FALSE(bench.rows<DeviceReport>(Noun::devices, laser.value)[0].calibration);  // that is of rings

  Calibrate placed = told(Db{-180});
  placed.channels[0].detuning = FrequencyOffset{-1'250};
  REQUIRE(bench.ask(placed).outcome.ok());
  bench.settle();
  CHECK(bench.rows<CalibrationReport>(Noun::calibrations).back().calibration.lights[0].detuning == FrequencyOffset{-1'250});
  placed.channels[0].detuning = FrequencyOffset{width_of(light.slot).mhz / 2 + 1};
  CHECK_THAT(refusal(bench, placed), Catch::Contains("that is another's light"));

  CHECK_THAT(refusal(bench, told(Db{-2'010})), Catch::Contains("no light is more than 20.00 dB beside"));
  Calibrate wrong = told(Db{0});
  wrong.channels[0].slot.n += 1;
  CHECK_THAT(refusal(bench, wrong), Catch::Contains("beside its figures; it has"));
  wrong = told(Db{0});
  wrong.channels.push_back(wrong.channels[0]);
  CHECK_THAT(refusal(bench, wrong), Catch::Contains("channels must ascend"));
  wrong = told(Db{0});
  wrong.channels[0].transmitter = light.receiver;
  CHECK_THAT(refusal(bench, wrong), Catch::Contains("is no transmitter"));
  wrong = told(Db{0});
  wrong.banks = {{laser, 0, {}, {}, {}}};
  CHECK_THAT(refusal(bench, wrong), Catch::Contains("devices must ascend and come once"));

  REQUIRE(bench.ask(Calibrate{{{laser, 0, {}, {}, {}}}, false}).outcome.ok());
  bench.settle();
  CHECK(power_offset(*bench.fabric, bench.controller->intent(), light.transmitter, light.slot) == Db{0});
}

TEST_CASE("a calibration survives its controller") {
  RequestBench bench;
  const RingReport ring = ring_of(bench, NodeId{3});
  REQUIRE(bench.ask(Calibrate{{found(ring)}, false}).outcome.ok());
  bench.settle();
  bench.start(kVirtualClock);
  const auto rows = bench.rows<CalibrationReport>(Noun::calibrations);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].calibration.rings[0].shift[0] == 38'000'000);
}

TEST_CASE("a calibration of other rings, of another bank or of no bank is refused by what is wrong with it") {
  RequestBench bench;
  const RingReport ring = ring_of(bench, NodeId{3});
  CHECK_THAT(refusal(bench, Calibrate{}), Catch::Contains("ascend"));
  DeviceCalibration laser = found(ring);
  laser.device = bench.laser_of(NodeId{3});
  CHECK_THAT(refusal(bench, Calibrate{{laser}, false}), Catch::Contains("is a laser: it has no rings"));
  DeviceCalibration monitor = found(ring);
  monitor.device = DeviceId{9'999};
  CHECK_THAT(refusal(bench, Calibrate{{monitor}, false}), Catch::Contains("is neither a bank of rings nor a laser"));
  DeviceCalibration wide = found(ring);
  wide.rings[0].shift = {1, 2};
  CHECK_THAT(refusal(bench, Calibrate{{wide}, false}), Catch::Contains("is of a bank of 2 rings, this one has 1"));
  CHECK_THAT(refusal(bench, Calibrate{{found(ring, 1'000'000)}, false}),
             Catch::Contains("no ring is ten times beside its kind"));
}

TEST_CASE("a calibration of another device is refused and one whose device was exchanged is forgotten") {
  RequestBench bench;
  const RingReport ring = ring_of(bench, NodeId{3});
  const auto says = [&](const std::string& serial) {
    Observation seen{ring.bank, DeviceHealth::ready, bench.now, FilterObservation{{0}}, {}};
    seen.identity.serial = serial;
    bench.receive(NodeId{3}, ObservationReport{{seen}});
    bench.pump();
  };
  says("A-17");
  DeviceCalibration other = found(ring);
  other.serial = "B-4";
  CHECK_THAT(refusal(bench, Calibrate{{other}, false}), Catch::Contains("A-17") && Catch::Contains("B-4"));
  REQUIRE(bench.ask(Calibrate{{found(ring)}, false}).outcome.ok());
  bench.settle();
  REQUIRE(calibration_of(bench.controller->intent(), ring.bank) != nullptr);
  CHECK(calibration_of(bench.controller->intent(), ring.bank)->serial == "A-17");
  bench.run_for(seconds{2});
  CHECK(calibration_of(bench.controller->intent(), ring.bank) != nullptr);
  says("C-9");
  bench.run_for(seconds{2});
  CHECK(calibration_of(bench.controller->intent(), ring.bank) == nullptr);
}

TEST_CASE("who measures is not disturbed by another one and is one row of the audit") {
  RequestBench bench;
  const RingReport ring = ring_of(bench, NodeId{3});
  const auto rows = [&] {
    const auto all = bench.rows<AuditRecord>(Noun::audit);
    return std::ranges::count_if(all, [](const AuditRecord& row) { return row.asked.find("measure by") == 0; });
  };
  for (const std::int32_t millivolts : {1'000, 1'500, 2'000, 2'500}) {
    REQUIRE(bench.ask(look(ring, millivolts)).outcome.ok());
    bench.settle();
  }
  CHECK(rows() == 1);
  const auto by_another = [&](const char* principal, RequestId request, ProbeLight order) {
    bench.replies.clear();
    Envelope envelope;
    envelope.principal = principal;
    envelope.role = Role::operator_;
    envelope.body = OperatorRequest{request, std::move(order)};
    bench.feed(MessageArrived{Peer{Peer::Kind::operator_, 8}, std::move(envelope)});
    bench.settle();
    REQUIRE(bench.replies.size() == 1);
    return bench.replies.front().outcome;
  };
  const Outcome eve = by_another("eve", RequestId{1}, look(ring, 3'000));
  REQUIRE_FALSE(eve.ok());
  CHECK_THAT(eve.error->message, Catch::Contains("ada measures:") && Catch::Contains("goes out in 30 s"));
  CHECK_FALSE(by_another("eve", RequestId{2}, {}).ok());
  const Outcome namesake = by_another("ada", RequestId{900}, look(ring, 3'000));
  REQUIRE_FALSE(namesake.ok());
  CHECK_THAT(namesake.error->message, Catch::Contains("ada measures over another connection"));
  CHECK(by_another("ada", RequestId{901}, {}).ok());  // of a client that was killed
  CHECK(by_another("ada", RequestId{902}, look(ring, 3'000)).ok());
}

TEST_CASE("looks push no revision out that an operator may go back to, and going back forgets no calibration") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const Revision lit = bench.controller->confirmed_plan()->plan.revision;
  std::optional<RingReport> ring;
  for (RingReport& row : bench.rows<RingReport>(Noun::rings)) {
    const bool carries = !bench.ask(Calibrate{{found(row)}, true}).outcome.ok();
    if (!carries && !row.lights.empty() && !ring) {
      ring = std::move(row);
    }
  }
  REQUIRE(ring);
  for (std::size_t i = 0; i < 2 * limits::kRevisionsKept; ++i) {
    REQUIRE(bench.ask(look(*ring, static_cast<std::int32_t>(1'000 + 100 * i))).outcome.ok());
    bench.settle();
  }
  REQUIRE(bench.ask(ProbeLight{}).outcome.ok());
  bench.settle();
  REQUIRE(bench.ask(Calibrate{{found(*ring)}, false}).outcome.ok());
  bench.settle();
  REQUIRE(bench.ask(CancelJob{job, false}).outcome.ok());
  bench.settle();
  const OperatorReply back = bench.ask(RollBackSchedule{lit, false});
  INFO((back.outcome.ok() ? "" : back.outcome.error->message));
  REQUIRE(back.outcome.ok());
  bench.settle();
  CHECK(calibration_of(bench.controller->intent(), ring->bank) != nullptr);
  CHECK(bench.controller->intent().probes.empty());
  CHECK(bench.controller->confirmed_plan()->plan.circuits.size() > 0);
}
