// SPDX-License-Identifier: Apache-2.0
// The driver of lasers with a table against their model.
#include "drivers/transceiver/table_laser.hpp"

#include "tests/drivers/subjects.hpp"

namespace loom {
namespace {

Rig laser_rig(bool has_trigger = false) {
  OddlParameters parameters;
  parameters.nodes = 4;
  parameters.group_size = 2;
  parameters.channels = 4;
  parameters.take(OddlLaser::table_laser);
  Fabric fabric = make_oddl(parameters);
  const DeviceId laser = device_named(fabric, "laser-0");
  if (has_trigger) {
    fabric.devices[laser.value].profile = {{"trigger", std::int64_t{1}}};
  }
  return Rig(std::move(fabric), laser);
}

TransmitterSetpoint on(std::int32_t channel, bool emit = true) { return {slot_of(channel), Dbm{0}, emit}; }

LaserLight light_of(const Rig& rig) { return std::get<LaserLight>(rig.model->light(rig.now)); }

TEST_CASE("an_oddl_fabric_of_table_lasers_has_their_driver") {
  const Rig rig = laser_rig();
  CHECK(driver_model_of(rig.fabric.device(rig.model->device())).model.name == "table_laser");
  CHECK(dynamic_cast<TableLaserDriver*>(rig.driver.get()) != nullptr);
}

TEST_CASE("a_table_laser_is_lit_within_its_lead_by_one_write_between_reads") {
  Rig rig = laser_rig();
  const Instant begin = rig.now;
  rig.fire(on(2));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.now - begin <= rig.driver->lead(on(2)));
  CHECK(light_of(rig) == LaserLight{true, centre_of(slot_of(2)), Dbm{0}});
  CHECK(rig.writes() == table_laser::kWritable);
  const auto reading = std::get<TransmitterObservation>(rig.driver->observe().reading);
  CHECK(reading.frequency == centre_of(slot_of(2)));
  CHECK((reading.emitting && reading.locked));
  rig.fire(on(2));  // it is so already: nothing is written
  CHECK(rig.writes() == table_laser::kWritable);
}

TEST_CASE("a_table_laser_is_dark_while_it_goes_from_channel_to_channel") {
  Rig rig = laser_rig();
  rig.fire(on(0));
  const Instant begin = rig.now;
  rig.fire(on(3));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.now - begin < std::chrono::microseconds{4});
  bool was_dark = false;
  for (const OpticalChange& change : rig.light.changes()) {
    const auto& light = std::get<LaserLight>(change.state);
    was_dark = was_dark || (change.at > begin && !light.emitting);
    CHECK((!light.emitting || light.frequency == centre_of(slot_of(0)) || light.frequency == centre_of(slot_of(3))));
  }
  CHECK(was_dark);
}

TEST_CASE("a_table_laser_tunes_in_the_dark") {
  Rig rig = laser_rig();
  rig.fire(on(1));
  rig.fire(on(2, false));
  CHECK(rig.model->actuations()[3].address == static_cast<std::uint32_t>(table_laser::Register::gate));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK_FALSE(light_of(rig).emitting);
  CHECK(std::get<TransmitterObservation>(rig.driver->observe().reading).locked);
}

TEST_CASE("a_table_laser_is_darkened_although_nothing_can_be_read_of_it") {
  Rig rig = laser_rig();
  rig.fire(on(1));
  rig.wire = [](const Transaction& transaction) {
    const bool reads = std::get<Registers>(transaction.order).count > 0;
    return reads ? std::optional(bus_reply(BusStatus::timeout)) : std::nullopt;
  };
  rig.fire(on(1, false));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK_FALSE(light_of(rig).emitting);
}

TEST_CASE("a_table_laser_whose_locker_holds_nothing_is_dark_when_it_is_dark") {
  Rig rig = laser_rig();
  rig.fire(on(1));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{20'000}});
  rig.fire(on(1, false));
  CHECK(rig.driver->activity() == DriverActivity::settled);
  rig.fire(on(1));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault.starts_with("laser-0: not tuned to channel 2 within"));
}

TEST_CASE("a_gate_that_is_opened_again_while_it_shuts_is_not_settled_before_it_stands_open") {
  Rig rig = laser_rig();
  rig.fire(on(1));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::slow_settle, .factor = 100});
  rig.driver->stage(on(1, false));
  rig.driver->fire();
  rig.run([&] { return rig.writes() > table_laser::kWritable; });  // the gate was ordered shut, and needs 10 us
  rig.fire(on(1));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  for (const OpticalChange& change : rig.light.changes()) {
    CHECK((change.at <= rig.now || std::get<LaserLight>(change.state).emitting));
  }
}

TEST_CASE("a_table_laser_says_what_it_does_not_take") {
  Rig rig = laser_rig();
  CHECK(rig.driver->check(TransmitterSetpoint{slot_of(4), Dbm{0}, true}).error().message ==
        "laser-0: frequency 191.80000 THz is not in its table of 4 channels from 191.40000 THz");
  CHECK(rig.driver->check(TransmitterSetpoint{slot_of(0), Dbm{400}, true}).error().code == ErrorCode::out_of_range);
  CHECK(rig.driver->check(FilterSetpoint{}).error().message == "laser-0: a laser takes laser setpoints only");
}

TEST_CASE("a_table_laser_that_does_not_move_is_given_up_with_what_it_reads") {
  Rig rig = laser_rig();
  rig.fire(on(0));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::stick});
  rig.fire(on(1));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault ==
        "laser-0: reads gate open, channel 1, 0.00 dBm after gate open, channel 2, 0.00 dBm was written 3 times");
}

TEST_CASE("a_table_laser_that_is_late_says_what_it_is_waited_for") {
  Rig rig = laser_rig();
  rig.fire(on(0));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::slow_settle, .factor = 100});
  rig.driver->stage(on(1));
  rig.driver->fire();
  std::string said;
  rig.run([&] {
    said = said.empty() ? rig.driver->observe().fault : said;
    return false;
  });
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(said.starts_with("laser-0: not tuned to channel 2 within 10.002 ms; 0.00"));
  CHECK(said.ends_with(" ms have gone by"));
  CHECK(rig.driver->observe().fault.empty());
}

TEST_CASE("a_table_laser_beside_its_channel_is_not_settled") {
  Rig rig = laser_rig();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{3'000}});
  rig.fire(on(1));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault.starts_with("laser-0: 3000 MHz beside channel 2, wanted +- 2500 MHz within"));
}

TEST_CASE("a_table_laser_that_lost_its_power_is_found_by_an_audit_and_lit_again") {
  Rig rig = laser_rig();
  rig.fire(on(1));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now + std::chrono::microseconds{10}});
  rig.now += std::chrono::microseconds{20};
  CHECK_FALSE(light_of(rig).emitting);
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  rig.fire(on(1));
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(light_of(rig).emitting);
}

TEST_CASE("words_that_a_table_laser_does_not_have_are_refused") {
  Rig rig = laser_rig();
  const auto answer = [&](Registers registers) {
    rig.now += std::chrono::microseconds{1};
    return rig.model->execute(rig.now, {rig.model->device(), 1, std::move(registers), std::chrono::milliseconds{1}}).reply;
  };
  CHECK(answer({0, table_laser::kWords + 1, {}}).exception == 2);
  CHECK(answer({3, 0, {1}}).exception == 2);
  CHECK(answer({1, 0, {5}}).exception == 3);  // four channels
  CHECK(answer({0, 0, {2}}).exception == 3);
  CHECK(answer({2, 0, {4'000}}).exception == 3);
  CHECK(rig.writes() == 0);
  CHECK(answer({0, table_laser::kWords, {}}).words == std::vector<std::uint16_t>{0, 0, 0, 0, 0, 0xEC78});  // -50 dBm
}

void prepare(Rig& rig, const TransmitterSetpoint& setpoint) {
  rig.driver->stage(setpoint);
  rig.driver->prepare();
  rig.run();
}

std::vector<std::uint32_t> addresses_from(const Rig& rig, std::size_t begin) {
  std::vector<std::uint32_t> addresses;
  for (std::size_t i = begin; i < rig.writes(); ++i) {
    addresses.push_back(rig.model->actuations()[i].address);
  }
  return addresses;
}

TEST_CASE("a_table_laser_with_a_trigger_holds_the_next_channel_unseen_and_switches_by_one_word") {
  Rig rig = laser_rig(true);
  CHECK_FALSE(laser_rig().driver->can_prepare());
  REQUIRE(rig.driver->can_prepare());
  rig.fire(on(1));
  const std::size_t changes = rig.light.changes().size();
  std::size_t before = rig.writes();
  prepare(rig, on(3));
  CHECK_FALSE(rig.driver->preparation_failed());
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(addresses_from(rig, before) == std::vector<std::uint32_t>{6, 7, 8});
  CHECK(rig.light.changes().size() == changes);
  before = rig.writes();
  rig.fire(on(3));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(addresses_from(rig, before) == std::vector<std::uint32_t>{9});
  CHECK(light_of(rig).frequency == centre_of(slot_of(3)));
  before = rig.writes();
  rig.fire(on(1));  // nothing waits any more
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(addresses_from(rig, before) == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("what_waits_in_a_table_laser_is_dropped_when_it_is_withdrawn_or_the_laser_made_dark") {
  for (const bool withdraws : {true, false}) {
    Rig rig = laser_rig(true);
    rig.fire(on(1, withdraws));
    prepare(rig, on(3));
    if (withdraws) {
      rig.driver->withdraw();
      rig.run();
    } else {
      rig.fire(on(2, false));
    }
    const LaserLight was = light_of(rig);
    rig.now += std::chrono::microseconds{1};
    rig.model->execute(rig.now, {rig.model->device(), 1, Registers{9, 0, {1}}, std::chrono::milliseconds{1}});  // an edge
    rig.now += std::chrono::milliseconds{1};
    CHECK(light_of(rig) == was);
    rig.fire(on(3));
    CHECK(rig.driver->activity() == DriverActivity::settled);
  }
}

TEST_CASE("an_edge_that_nobody_ordered_is_found_by_an_audit") {
  Rig rig = laser_rig(true);
  rig.fire(on(1));
  prepare(rig, on(3));
  rig.now += std::chrono::microseconds{1};
  rig.model->execute(rig.now, {rig.model->device(), 1, Registers{9, 0, {1}}, std::chrono::milliseconds{1}});
  rig.now += std::chrono::milliseconds{1};
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  rig.driver->stage(on(3));
  const std::size_t before = rig.writes();
  rig.fire(on(3));  // an edge that was meant: it is proven, and nothing is written
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.writes() == before);
}

TEST_CASE("a_table_laser_that_does_not_hold_what_was_prepared_says_so_and_is_set_all_the_same") {
  Rig rig = laser_rig(true);
  rig.fire(on(1));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::stick, .until = rig.now + std::chrono::seconds{1}});
  prepare(rig, on(3));
  CHECK(rig.driver->preparation_failed());
  CHECK(rig.driver->observe().fault == "laser-0: what waits for its trigger does not read back as written, 3 times");
  rig.now += std::chrono::seconds{1};
  rig.fire(on(3));
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

}  // namespace
}  // namespace loom
