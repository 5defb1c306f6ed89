// SPDX-License-Identifier: Apache-2.0
// The laser driver against the laser model: retunes in the dark, proves what it claims, writes once.
#include "drivers/transceiver/itla.hpp"

#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using itla::Register;

TransmitterSetpoint laser(std::int32_t channel, bool emit, Dbm power = Dbm{0}) {
  return {{-272 + 16 * channel, 8}, power, emit};
}
Frequency frequency_of(std::int32_t channel) { return centre_of({-272 + 16 * channel, 8}); }

Rig laser_rig(SimDeviceOptions options = {}) { return Rig(small_fabric(), DeviceId{0}, options); }

TransmitterObservation seen(const Rig& rig) { return std::get<TransmitterObservation>(rig.driver->observe().reading); }

bool wrote(const Actuation& actuation, Register reg, std::int32_t value) {
  return actuation.address == static_cast<std::uint32_t>(reg) && actuation.value == value;
}

std::size_t place_of(const Rig& rig, Register reg, std::int32_t value, std::size_t from = 0) {
  const auto& log = rig.model->actuations();
  for (std::size_t i = from; i < log.size(); ++i) {
    if (wrote(log[i], reg, value)) {
      return i;
    }
  }
  return log.size();
}

TEST_CASE("laser_lights_at_its_frequency_from_power_up") {
  Rig rig = laser_rig();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  rig.fire(laser(2, true));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig).frequency == frequency_of(2));
  CHECK(seen(rig).power == Dbm{0});
  CHECK(seen(rig).emitting);
  CHECK(seen(rig).locked);
  CHECK(rig.driver->observe().health == DeviceHealth::ready);
  CHECK(std::get<LaserLight>(rig.model->light(rig.now)) == LaserLight{true, frequency_of(2), Dbm{0}});
}

TEST_CASE("laser_writes_every_register_once") {
  Rig rig = laser_rig();
  rig.fire(laser(2, true));
  std::map<std::uint32_t, int> counts;
  for (const Actuation& actuation : rig.model->actuations()) {
    ++counts[actuation.address];
  }
  for (const auto& [address, count] : counts) {
    INFO("register " << address);
    CHECK(count == 1);
  }
  CHECK(counts[static_cast<std::uint32_t>(Register::channel)] == 1);
  CHECK(counts.count(static_cast<std::uint32_t>(Register::fcf1)) == 0);  // it was right already
}

TEST_CASE("laser_second_fire_of_the_same_setpoint_writes_nothing") {
  Rig rig = laser_rig();
  rig.fire(laser(2, true));
  const std::size_t before = rig.writes();
  rig.fire(laser(2, true));
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.writes() == before);
}

TEST_CASE("laser_is_blanked_before_it_is_retuned") {
  Rig rig = laser_rig();
  rig.fire(laser(0, true));
  const std::size_t before = rig.writes();
  rig.fire(laser(3, true));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  const std::size_t cut = place_of(rig, Register::enable, 0, before);
  const std::size_t tuned = place_of(rig, Register::channel, 4, before);
  const std::size_t relit = place_of(rig, Register::enable, 8, before);
  CHECK(cut == before);
  CHECK(cut < tuned);
  CHECK(tuned < relit);
  CHECK(relit + 1 == rig.writes());
  CHECK(rig.writes() - before == 3);  // off, channel, on
  REQUIRE_FALSE(rig.light.changes().empty());
  for (const OpticalChange& change : rig.light.changes()) {
    const auto& state = std::get<LaserLight>(change.state);
    CHECK((!state.emitting || state.frequency == frequency_of(0) || state.frequency == frequency_of(3)));
  }
}

TEST_CASE("laser_says_that_it_is_dark_while_it_is_still_tuned") {
  Rig rig = laser_rig();
  rig.fire(laser(0, true));
  const std::size_t before = rig.writes();
  rig.driver->stage(laser(3, false));
  rig.driver->fire();
  CHECK(rig.driver->is_dark() == false);
  rig.run([&] { return *rig.driver->is_dark(); });
  REQUIRE(rig.driver->is_dark() == true);
  CHECK(rig.driver->activity() == DriverActivity::busy);
  CHECK_FALSE(std::get<LaserLight>(rig.model->light(rig.now)).emitting);
  CHECK(place_of(rig, Register::channel, 4, before) == rig.writes());  // not tuned yet
  rig.run();
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(place_of(rig, Register::channel, 4, before) < rig.writes());
  rig.fire(laser(3, true));
  CHECK(rig.driver->is_dark() == false);
  rig.driver->poll();  // an audit proves nobody's darkness
  rig.run([&] {
    CHECK(rig.driver->is_dark() == false);
    return false;
  });
}

TEST_CASE("laser_that_starts_again_in_any_exchange_of_an_audit_is_not_lit_where_it_powers_up") {
  for (std::size_t restarts_at = 1; restarts_at < 48; ++restarts_at) {
    CAPTURE(restarts_at);
    Rig rig = laser_rig();
    rig.fire(laser(3, true));
    rig.fire(laser(3, false));
    rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});  // an audit reads it, and meanwhile...
    const std::size_t before = rig.transactions.size();
    rig.driver->poll();
    rig.run([&] { return rig.transactions.size() == before + restarts_at; });
    rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});
    rig.run();
    rig.fire(laser(3, true));
    CHECK(rig.driver->activity() == DriverActivity::settled);
    for (const OpticalChange& change : rig.light.changes()) {
      const auto& state = std::get<LaserLight>(change.state);
      CHECK((!state.emitting || state.frequency == frequency_of(3)));
    }
    CHECK(std::get<LaserLight>(rig.model->light(rig.now)).emitting);
  }
}

TEST_CASE("laser_whose_light_stays_on_never_says_that_it_is_dark") {
  Rig rig = laser_rig();
  rig.fire(laser(0, true));
  rig.wire = [](const Transaction& transaction) -> std::optional<BusReply> {
    const auto& frame = std::get<Frame>(transaction.order);
    return frame.request.at(1) == static_cast<std::uint8_t>(Register::enable) ? std::optional(bus_reply(BusStatus::timeout))
                                                                              : std::nullopt;
  };
  rig.driver->stage(laser(3, false));
  rig.driver->fire();
  rig.run([&] {
    CHECK(rig.driver->is_dark() == false);
    return false;
  });
  CHECK(rig.driver->activity() == DriverActivity::failed);
}

TEST_CASE("laser_relight_of_an_unchanged_frequency_writes_only_the_enable_register") {
  Rig rig = laser_rig();
  rig.fire(laser(1, true));
  rig.fire(laser(1, false));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK_FALSE(seen(rig).emitting);
  const std::size_t before = rig.writes();
  rig.fire(laser(1, true));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  REQUIRE(rig.writes() == before + 1);
  CHECK(wrote(rig.model->actuations().back(), Register::enable, 8));
}

TEST_CASE("laser_that_started_again_is_read_anew_and_set_before_it_is_lit") {
  Rig rig = laser_rig();
  rig.fire(laser(3, true));
  rig.fire(laser(3, false));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});
  const std::size_t before = rig.writes();
  rig.fire(laser(3, true));  // nobody saw it: what the driver remembers is what it wants
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig).frequency == frequency_of(3));
  CHECK(rig.writes() > before + 1);
  REQUIRE_FALSE(rig.light.changes().empty());
  for (const OpticalChange& change : rig.light.changes()) {
    const auto& state = std::get<LaserLight>(change.state);
    CHECK((!state.emitting || state.frequency == frequency_of(3)));
  }
}

TEST_CASE("laser_that_starts_again_in_the_middle_of_any_exchange_is_not_lit_where_it_powers_up") {
  for (std::size_t lost = 0; lost < 12; ++lost) {
    CAPTURE(lost);
    Rig rig = laser_rig();
    rig.fire(laser(3, false));
    const std::size_t before = rig.transactions.size();
    rig.wire = [&](const Transaction&) -> std::optional<BusReply> {
      if (rig.transactions.size() != before + lost + 1) {
        return std::nullopt;
      }
      rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});
      return bus_reply(BusStatus::timeout);
    };
    rig.fire(laser(3, true));
    CHECK(rig.driver->activity() == DriverActivity::settled);
    for (const OpticalChange& change : rig.light.changes()) {
      const auto& state = std::get<LaserLight>(change.state);
      CHECK((!state.emitting || state.frequency == frequency_of(3)));
    }
  }
}

TEST_CASE("laser_that_was_never_restarted_is_asked_once_a_fire") {
  Rig rig = laser_rig();
  rig.fire(laser(1, true));
  const std::size_t before = rig.transactions.size();
  rig.fire(laser(1, true));
  const auto& first = std::get<Frame>(rig.transactions[before].order).request;
  CHECK(first[1] == static_cast<std::uint8_t>(Register::status_fatal));
  CHECK((first[0] & 1u) == 0);
}

TEST_CASE("laser_retunes_in_the_dark_and_stays_dark_when_it_shall_not_emit") {
  Rig rig = laser_rig();
  rig.fire(laser(3, false));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig).frequency == frequency_of(3));
  CHECK_FALSE(seen(rig).emitting);
  CHECK(rig.light.changes().empty());
}

TEST_CASE("laser_blanks_within_three_transactions") {
  Rig rig = laser_rig();
  rig.fire(laser(1, true));
  const std::size_t before = rig.transactions.size();
  const Instant began = rig.now;
  rig.fire(laser(1, false));
  CHECK(rig.transactions.size() - before <= 4);  // cut, read back, power (once more if the light was still going out)
  CHECK(rig.now - began < std::chrono::milliseconds{5});
}

TEST_CASE("laser_goes_off_the_plan_by_its_first_channel_frequency") {
  Rig rig = laser_rig();
  TransmitterSetpoint between = laser(1, true);
  between.slot.n += 3;  // 18.75 GHz beside the comb
  rig.fire(between);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig).frequency == centre_of(between.slot));
  rig.fire(laser(2, true));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig).frequency == frequency_of(2));
}

TEST_CASE("laser_check_names_the_limit") {
  Rig rig = laser_rig();
  const auto frequency = rig.driver->check(laser(9, true));
  REQUIRE_FALSE(frequency.has_value());
  CHECK(frequency.error().code == ErrorCode::out_of_range);
  CHECK(frequency.error().message == "laser-0: frequency 192.30000 THz is outside its band, 191.40000 THz to 191.70000 THz");
  const auto power = rig.driver->check(laser(1, true, Dbm{900}));
  REQUIRE_FALSE(power.has_value());
  CHECK(power.error().message == "laser-0: power 9.00 dBm is outside -5.00 dBm to 3.00 dBm");
  CHECK_FALSE(rig.driver->check(FilterSetpoint{}).has_value());
  CHECK(rig.transactions.empty());
}

TEST_CASE("laser_fire_while_busy_aims_at_the_newest_setpoint") {
  Rig rig = laser_rig();
  rig.fire(laser(0, true));
  for (std::size_t steps = 1; steps < 12; ++steps) {
    INFO("overtaken after transaction " << steps);
    const std::size_t before = rig.transactions.size();
    rig.driver->stage(laser(2, true));
    rig.driver->fire();
    rig.run([&] { return rig.transactions.size() >= before + steps; });
    rig.driver->stage(laser(3, false));
    rig.driver->fire();
    rig.run();
    REQUIRE(rig.driver->activity() == DriverActivity::settled);
    CHECK(seen(rig).frequency == frequency_of(3));
    CHECK_FALSE(seen(rig).emitting);
    rig.fire(laser(0, true));
    REQUIRE(rig.driver->activity() == DriverActivity::settled);
  }
}

TEST_CASE("laser_waits_while_the_module_initialises") {
  SimDeviceOptions options;
  options.power_up = std::chrono::milliseconds{15};
  Rig rig = laser_rig(options);
  rig.fire(laser(1, true));
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("laser_gives_up_on_a_module_that_never_initialises") {
  SimDeviceOptions options;
  options.power_up = std::chrono::hours{1};
  Rig rig = laser_rig(options);
  rig.fire(laser(1, true));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault == "laser-0: read of StatusF (0x20): refused with CII (the module initialises), 8 times");
}

TEST_CASE("laser_that_ignores_its_writes_is_found_out_in_the_dark") {
  Rig rig = laser_rig();
  rig.fire(laser(0, false));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::stick});
  rig.fire(laser(2, true));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().health == DeviceHealth::failed);
  CHECK_THAT(rig.driver->observe().fault,
             Catch::Contains("laser-0: LF1/LF2/LF3 read 191.40000 THz, wanted 191.60000 THz +- 500 MHz within"));
  CHECK_FALSE(std::get<LaserLight>(rig.model->light(rig.now)).emitting);
}

TEST_CASE("laser_that_does_not_go_dark_is_never_retuned") {
  Rig rig = laser_rig();
  rig.fire(laser(0, true));
  const std::size_t before = rig.writes();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::stick});
  rig.fire(laser(2, true));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(rig.driver->observe().fault, Catch::Contains("ResEna (0x32) reads 8, wanted SENA off"));
  CHECK(rig.writes() == before);
  REQUIRE_FALSE(rig.transactions.empty());
  for (const Transaction& transaction : rig.transactions) {
    const auto request = itla::decode_request(std::get<Frame>(transaction.order).request);
    CHECK_FALSE((request->write && request->reg == Register::channel && request->data == 3));
  }
}

TEST_CASE("laser_waits_until_its_light_is_really_out") {
  Fabric fabric = small_fabric();
  std::get<Transmitter>(fabric.elements[fabric.devices[0].elements[0].value].kind).blank_max = std::chrono::milliseconds{20};
  Rig rig(std::move(fabric), DeviceId{0});
  rig.fire(laser(0, true));
  const std::size_t before = rig.writes();
  rig.fire(laser(3, true));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  const Actuation& cut = rig.model->actuations()[before];
  const Actuation& tuned = rig.model->actuations()[before + 1];
  CHECK(wrote(tuned, Register::channel, 4));
  CHECK(tuned.at - cut.at >= std::chrono::milliseconds{10});  // the light goes out after 50 to 100 % of blank_max
  REQUIRE_FALSE(rig.light.changes().empty());
  for (const OpticalChange& change : rig.light.changes()) {
    const auto& state = std::get<LaserLight>(change.state);
    CHECK((!state.emitting || state.frequency == frequency_of(0) || state.frequency == frequency_of(3)));
  }
}

TEST_CASE("laser_whose_light_stays_on_after_the_cut_is_never_retuned") {
  Rig rig = laser_rig();
  rig.fire(laser(0, true));
  const std::size_t before = rig.writes();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::slow_settle, .factor = 1'000'000});
  rig.fire(laser(2, true));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault ==
        "laser-0: OOP (0x42) reads 0.00 dBm after emission was cut, wanted no light within 100.100 ms");
  CHECK(rig.writes() == before + 1);  // the cut
}

TEST_CASE("laser_off_frequency_is_cut_before_it_is_given_up") {
  Rig rig = laser_rig();
  rig.fire(laser(1, true));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{20'000}});
  rig.fire(laser(1, true));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK_FALSE(std::get<LaserLight>(rig.model->light(rig.now + std::chrono::milliseconds{1})).emitting);
}

TEST_CASE("laser_audit_sees_detuned_and_dim_light") {
  Rig rig = laser_rig();
  rig.fire(laser(1, true));
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::settled);
  rig.model->inject(
      rig.now,
      {.kind = DeviceFaultKind::detune, .until = rig.now + std::chrono::seconds{1}, .offset = FrequencyOffset{-3'000}});
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::dim, .until = rig.now + std::chrono::seconds{1}, .loss = Db{250}});
  const std::size_t before = rig.writes();
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  CHECK(seen(rig).frequency == Frequency{frequency_of(1).mhz - 3'000});
  CHECK(seen(rig).power == Dbm{-250});
  CHECK(rig.writes() == before);
}

TEST_CASE("laser_says_that_something_is_wrong_as_long_as_it_is_whatever_its_latches_remember") {
  Rig rig = laser_rig();
  rig.fire(laser(1, true));
  const Instant over = rig.now + std::chrono::seconds{1};
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::dim, .until = over, .loss = Db{1'200}});
  rig.poll();
  CHECK((seen(rig).status_fatal & itla::kStatusPower) != 0);
  rig.now = over;
  rig.poll();
  CHECK(seen(rig).status_fatal == 0);
  CHECK(seen(rig).status_warning == 0);
  CHECK(seen(rig).power == Dbm{0});
}

TEST_CASE("laser_too_dim_fails_with_the_power_named") {
  Rig rig = laser_rig();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::dim, .loss = Db{400}});
  rig.fire(laser(1, true));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(rig.driver->observe().fault, Catch::Contains("OOP (0x42) reads -4.00 dBm, wanted 0.00 dBm +- 100 cdB within"));
}

TEST_CASE("laser_slow_to_settle_is_waited_for_up_to_the_limit") {
  for (const auto& [factor, activity] : {std::pair{4, DriverActivity::settled}, std::pair{1'000, DriverActivity::failed}}) {
    Rig rig = laser_rig();
    rig.model->inject(rig.now, {.kind = DeviceFaultKind::slow_settle, .factor = factor});
    rig.fire(laser(3, false));
    CHECK(rig.driver->activity() == activity);
  }
}

TEST_CASE("laser_dead_module_is_refused_by_name") {
  Rig rig = laser_rig();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::fail});
  rig.fire(laser(0, true));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(rig.driver->observe().fault, Catch::Contains("not locked at 191.40000 THz within"));
}

TEST_CASE("laser_settles_within_its_lead_when_nothing_is_wrong") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    SimDeviceOptions options;
    options.seed = seed;
    Rig rig = laser_rig(options);
    const Instant began = rig.now;
    rig.fire(laser(3, true));
    CHECK(rig.driver->activity() == DriverActivity::settled);
    CHECK(rig.now - began <= rig.driver->lead(laser(3, true)));
  }
}

TEST_CASE("laser_that_leaves_its_place_when_it_is_lit_is_dark_again_and_named") {
  Rig rig = laser_rig();
  rig.driver->stage(laser(2, true));
  rig.driver->fire();
  rig.run([&] { return place_of(rig, Register::enable, 8) < rig.writes(); });
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{20'000}});
  rig.run();
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK_FALSE(std::get<LaserLight>(rig.model->light(rig.now)).emitting);
  CHECK(rig.driver->observe().fault ==
        "laser-0: StatusF (0x20) reads 1028: not locked at 191.60000 THz within 120.000 ms");  // tried again in the dark
}

TEST_CASE("laser_whose_locker_lets_go_in_service_is_not_settled_and_says_by_how_much") {
  Rig rig = laser_rig();
  rig.fire(laser(2, true));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.driver->observe().proof == Proof::device);
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{20'000}});
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  CHECK_FALSE(seen(rig).locked);
  CHECK(rig.driver->observe().fault == "laser-0: emits at 191.62000 THz, 20.000 GHz off 191.60000 THz, and says FFREQ");
}

TEST_CASE("laser_that_says_it_lost_its_frequency_is_not_believed_though_its_reading_agrees") {
  Rig rig = laser_rig();
  rig.fire(laser(2, true));
  rig.mangle = [&](BusReply& reply) {
    const auto response = itla::decode_response(reply.bytes);
    if (response && response->reg == Register::status_fatal) {
      const auto bytes = itla::encode(itla::Response{response->status, false, response->reg, itla::kStatusFrequency});
      reply.bytes.assign(bytes.begin(), bytes.end());
    }
  };
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  CHECK(rig.driver->observe().fault == "laser-0: emits at 191.60000 THz, 0.000 GHz off 191.60000 THz, and says FFREQ");
}

}  // namespace
}  // namespace loom
