// SPDX-License-Identifier: Apache-2.0
// Modules that are not as usual: who they say they are, what they can do, when they tune, how late and how damaged they answer.
#include <array>
#include <random>
#include <string>

#include "drivers/transceiver/itla.hpp"
#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using itla::Register;
using std::chrono::milliseconds;
using std::chrono::seconds;

TransmitterSetpoint laser(std::int32_t channel, bool emit, Dbm power = Dbm{0}) {
  return {{-272 + 16 * channel, 8}, power, emit};
}
Frequency frequency_of(std::int32_t channel) { return centre_of({-272 + 16 * channel, 8}); }

Transmitter& transmitter_of(Fabric& fabric) {
  return std::get<Transmitter>(fabric.elements[fabric.devices[0].elements[0].value].kind);
}

Fabric fabric_of(std::vector<DeviceSetting> profile, std::string serial = {}) {
  Fabric fabric = small_fabric();
  fabric.devices[0].profile = std::move(profile);
  fabric.devices[0].serial = std::move(serial);
  return fabric;
}

Fabric fabric_tuning(Tunes tunes) {
  Fabric fabric = small_fabric();
  transmitter_of(fabric).tunes = tunes;
  transmitter_of(fabric).enable_max = milliseconds{1'500};
  return fabric;
}

DeviceSetting setting(std::string key, Duration value) { return {std::move(key), std::int64_t{value.count()}}; }

/// The laser's own driver, without the one around it that asks for nothing until the serial number has been said.
void unwrap(Rig& rig) { rig.driver = std::make_unique<ItlaDriver>(itla_profile(rig.fabric, rig.fabric.devices[0])); }

void audit(Rig& rig, int times) {
  for (int i = 0; i < times; ++i) {
    rig.poll();
  }
}

itla::Request request_of(const Transaction& transaction) {
  return itla::decode_request(std::get<Frame>(transaction.order).request).value();
}

std::size_t times_asked(const Rig& rig, Register reg, bool write = false) {
  return static_cast<std::size_t>(std::ranges::count_if(rig.transactions, [&](const Transaction& each) {
    const itla::Request request = request_of(each);
    return request.reg == reg && request.write == write;
  }));
}

void check_light_only_at(const Rig& rig, std::initializer_list<std::int32_t> channels) {
  for (const OpticalChange& change : rig.light.changes()) {
    const auto& state = std::get<LaserLight>(change.state);
    const bool is_right =
        std::ranges::any_of(channels, [&](std::int32_t each) { return state.frequency == frequency_of(each); });
    CHECK((!state.emitting || is_right));
  }
}

constexpr int kAudits = 9;  ///< until all facts are read: one group each

TEST_CASE("laser_says_who_it_is_one_audit_after_the_other") {
  Rig rig(small_fabric(), DeviceId{0});
  audit(rig, 1);
  CHECK(rig.driver->observe().identity == DeviceIdentity{"SIM10000", ""});
  audit(rig, kAudits - 1);
  CHECK(rig.driver->observe().identity == DeviceIdentity{"SIM10000", "Lightloom, type CW ITLA, simulated, release 01.3"});
  const std::size_t asked = times_asked(rig, Register::extended);
  audit(rig, 3);
  CHECK(times_asked(rig, Register::extended) == asked);
  CHECK(rig.driver->observe().fault.empty());
}

TEST_CASE("laser_is_asked_again_who_it_is_after_it_started_again_or_its_line_was_lost") {
  Rig rig(small_fabric(), DeviceId{0});
  audit(rig, kAudits);
  rig.fire(laser(1, true));
  audit(rig, 1);
  REQUIRE(times_asked(rig, Register::serial) == 2);  // before and after the latch of its first start was cleared
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});
  audit(rig, kAudits);
  CHECK(times_asked(rig, Register::serial) == 3);
  CHECK(times_asked(rig, Register::maker) == 2);
  rig.connection = 2;
  audit(rig, 2);
  CHECK(times_asked(rig, Register::serial) == 4);
  CHECK(times_asked(rig, Register::maker) == 2);  // the same number: the rest holds
}

TEST_CASE("laser_that_tells_nothing_of_itself_is_none_the_worse") {
  SimDeviceOptions options;
  options.laser_tells = false;
  Rig rig(small_fabric(), DeviceId{0}, options);
  audit(rig, kAudits + 2);
  rig.fire(laser(2, true));
  CHECK(rig.driver->activity() == DriverActivity::settled);
  audit(rig, 2);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.driver->observe().identity == DeviceIdentity{});
  CHECK(rig.driver->observe().fault.empty());
}

TEST_CASE("laser_with_another_serial_number_is_never_lit_and_both_are_named") {
  SimDeviceOptions options;
  options.laser_serial = "B200";
  for (const bool was_audited : {false, true}) {
    Rig rig(fabric_of({}, "A100"), DeviceId{0}, options);
    if (was_audited) {
      rig.poll();
      CHECK(rig.driver->observe().fault == "laser-0: its serial number is 'B200'; the inventory expects 'A100'");
      CHECK(rig.driver->observe().health == DeviceHealth::failed);
      const auto refused = rig.driver->check(laser(1, true));
      REQUIRE_FALSE(refused.has_value());
      CHECK(refused.error().message == "laser-0: its serial number is 'B200'; the inventory expects 'A100'");
      CHECK(rig.driver->check(laser(1, false)).has_value());
    } else {
      unwrap(rig);
      rig.fire(laser(1, true));
      CHECK(rig.driver->activity() == DriverActivity::failed);
      CHECK(rig.driver->observe().fault == "laser-0: its serial number is 'B200'; the inventory expects 'A100'");
    }
    CHECK(rig.light.changes().empty());
    unwrap(rig);
    rig.fire(laser(1, false));
    CHECK(rig.driver->activity() == DriverActivity::settled);  // dark is what whoever it is shall be
    SimDeviceOptions right = options;
    right.laser_serial = "A100";
    right.keep_actuations = true;
    rig.model = make_simulated_device(rig.fabric, DeviceId{0}, right);
    rig.poll();
    rig.fire(laser(1, true));
    CHECK(rig.driver->activity() == DriverActivity::settled);
    CHECK(rig.driver->observe().identity.serial == "A100");
  }
}

TEST_CASE("laser_that_was_exchanged_behind_a_lost_line_is_found_out_before_it_is_lit") {
  Rig rig(fabric_of({}, "A100"), DeviceId{0});
  unwrap(rig);
  rig.fire(laser(1, true));
  rig.fire(laser(1, false));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  rig.model = make_simulated_device(fabric_of({}, "B200"), DeviceId{0}, {});
  rig.connection = 2;
  rig.mangle = [](BusReply& reply) {  // somebody cleared its latch
    auto response = itla::decode_response(reply.bytes).value();
    if (response.reg == Register::status_fatal) {
      response.data &= static_cast<std::uint16_t>(~itla::kStatusRestarted);
      const auto bytes = encode(response);
      reply.bytes.assign(bytes.begin(), bytes.end());
    }
  };
  rig.fire(laser(1, true));
  CHECK(rig.driver->observe().fault == "laser-0: its serial number is 'B200'; the inventory expects 'A100'");
  CHECK_FALSE(std::get<LaserLight>(rig.model->light(rig.now + seconds{1})).emitting);
}

TEST_CASE("laser_one_damaged_reading_of_its_serial_number_makes_no_stranger") {
  Rig rig(fabric_of({}, "A100"), DeviceId{0});
  unwrap(rig);
  bool is_damaged = false;
  rig.mangle = [&](BusReply& reply) {
    auto response = itla::decode_response(reply.bytes).value();
    if (response.reg == Register::extended && !std::exchange(is_damaged, true)) {
      response.data ^= 0x0101;  // two bits of a column of the parity: it passes
      const auto bytes = encode(response);
      reply.bytes.assign(bytes.begin(), bytes.end());
    }
  };
  rig.fire(laser(1, true));
  CHECK(is_damaged);
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("laser_checks_against_the_limits_that_its_module_tells") {
  Rig rig(small_fabric(), DeviceId{0});
  Fabric narrow = small_fabric();
  transmitter_of(narrow).channels.count = 2;
  transmitter_of(narrow).launch_power = Dbm{-200};
  SimDeviceOptions options;
  options.keep_actuations = true;
  rig.model = make_simulated_device(narrow, DeviceId{0}, options);
  CHECK(rig.driver->check(laser(3, true)).has_value());
  audit(rig, 4);
  const auto frequency = rig.driver->check(laser(3, true));
  REQUIRE_FALSE(frequency.has_value());
  CHECK(frequency.error().message ==
        "laser-0: frequency 191.70000 THz is outside the band that its module tells, 191.40000 THz to 191.50000 THz");
  const auto power = rig.driver->check(laser(1, true, Dbm{200}));
  REQUIRE_FALSE(power.has_value());
  CHECK(power.error().message == "laser-0: power 2.00 dBm is outside -7.00 dBm to 1.00 dBm");
  CHECK(rig.driver->check(laser(1, true)).has_value());
}

TEST_CASE("laser_whose_limits_are_not_read_yet_says_what_the_module_refuses") {
  Rig rig(small_fabric(), DeviceId{0});
  Fabric narrow = small_fabric();
  transmitter_of(narrow).channels.count = 2;
  SimDeviceOptions options;
  options.keep_actuations = true;
  rig.model = make_simulated_device(narrow, DeviceId{0}, options);
  rig.fire(laser(3, true));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault == "laser-0: write of Channel (0x30) <- 4: refused with RVE (value out of range)");
  CHECK_FALSE(std::get<LaserLight>(rig.model->light(rig.now)).emitting);
}

TEST_CASE("laser_whose_grid_register_does_not_do_the_step_goes_by_its_first_frequency_alone") {
  SimDeviceOptions options;
  options.laser_grid = FrequencyOffset{150'000};
  for (const bool was_audited : {false, true}) {
    Rig rig(small_fabric(), DeviceId{0}, options);
    audit(rig, was_audited ? kAudits : 0);
    for (const std::int32_t channel : {2, 3, 0}) {
      rig.fire(laser(channel, true));
      REQUIRE(rig.driver->activity() == DriverActivity::settled);
      CHECK(std::get<LaserLight>(rig.model->light(rig.now)).frequency == frequency_of(channel));
    }
    CHECK(times_asked(rig, Register::grid, true) == (was_audited ? 0 : 1));  // refused once, and remembered
    check_light_only_at(rig, {2, 3, 0});
  }
}

TEST_CASE("laser_that_tunes_when_its_output_goes_on_is_waited_for_and_proven_then") {
  for (const Tunes tunes : {Tunes::lit, Tunes::blanked}) {
    Rig rig(fabric_tuning(tunes), DeviceId{0});
    const Instant began = rig.now;
    rig.fire(laser(3, true));
    INFO(rig.driver->observe().fault);
    REQUIRE(rig.driver->activity() == DriverActivity::settled);
    CHECK(rig.now - began > milliseconds{700});
    CHECK(rig.now - began < rig.driver->lead(laser(3, true)));
    CHECK(std::get<LaserLight>(rig.model->light(rig.now)).frequency == frequency_of(3));
    const bool strayed = std::ranges::any_of(rig.light.changes(), [](const OpticalChange& change) {
      const auto& state = std::get<LaserLight>(change.state);
      return state.emitting && state.frequency != frequency_of(3);
    });
    CHECK(strayed == (tunes == Tunes::lit));
    rig.fire(laser(1, false));
    REQUIRE(rig.driver->activity() == DriverActivity::settled);
    rig.poll();
    CHECK(rig.driver->activity() == DriverActivity::settled);  // it says no frequency in the dark, and is believed dark
    CHECK(std::get<TransmitterObservation>(rig.driver->observe().reading).frequency == Frequency{});
    rig.fire(laser(1, true));
    REQUIRE(rig.driver->activity() == DriverActivity::settled);
    rig.poll();
    CHECK(rig.driver->activity() == DriverActivity::settled);
  }
}

TEST_CASE("laser_that_never_locks_in_its_own_light_goes_dark_with_the_reason") {
  Rig rig(fabric_tuning(Tunes::lit), DeviceId{0});
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{20'000}});
  rig.fire(laser(3, true));
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault == "laser-0: StatusF (0x20) reads 1028: not locked at 191.70000 THz within 3100.000 ms");
  CHECK_FALSE(std::get<LaserLight>(rig.model->light(rig.now)).emitting);
}

TEST_CASE("laser_that_answers_in_120_ms_needs_a_profile_that_says_so") {
  SimDeviceOptions options;
  options.device_time = milliseconds{120};
  Rig usual(small_fabric(), DeviceId{0}, options);
  usual.fire(laser(2, true));
  CHECK(usual.driver->activity() == DriverActivity::failed);
  CHECK(usual.driver->observe().fault == "laser-0: read of StatusF (0x20): no answer within 100.000 ms in 4 tries");
  Rig slow(fabric_of({setting("reply_max", milliseconds{150}), setting("exchange", milliseconds{121})}), DeviceId{0}, options);
  const Instant began = slow.now;
  slow.fire(laser(2, true));
  CHECK(slow.driver->activity() == DriverActivity::settled);
  CHECK(slow.now - began <= slow.driver->lead(laser(2, true)));
}

TEST_CASE("laser_that_initialises_for_seconds_is_waited_for_where_its_profile_says_so") {
  SimDeviceOptions options;
  options.power_up = seconds{5};
  Rig usual(small_fabric(), DeviceId{0}, options);
  usual.fire(laser(2, true));
  CHECK(usual.driver->activity() == DriverActivity::failed);
  Rig slow(fabric_of({setting("start_max", seconds{8})}), DeviceId{0}, options);
  slow.driver->stage(laser(2, true));
  slow.driver->fire();
  slow.run([&] { return slow.transactions.size() == 2; });
  slow.run([&] { return slow.transactions.size() == 3; });
  CHECK(slow.driver->observe().fault ==
        "laser-0: read of StatusF (0x20): refused with CII (the module initialises), 1 of 8 times");
  slow.run();
  CHECK(slow.driver->activity() == DriverActivity::settled);
  CHECK(slow.driver->observe().fault.empty());
}

TEST_CASE("laser_that_locks_late_says_what_it_is_waited_for") {
  Rig rig(small_fabric(), DeviceId{0});
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::slow_settle, .factor = 8});
  rig.driver->stage(laser(3, false));
  rig.driver->fire();
  std::string said;
  rig.run([&] {
    said = said.empty() ? rig.driver->observe().fault : said;
    return false;
  });
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK_THAT(said, Catch::Contains("laser-0: NOP (0x00) reads") && Catch::Contains("not locked at 191.70000 THz after") &&
                       Catch::Contains("ms of 120.000 ms"));
  CHECK(rig.driver->observe().fault.empty());
}

TEST_CASE("laser_that_starts_again_at_any_moment_is_never_lit_beside_its_place") {
  for (std::size_t exchange = 1; exchange < 45; ++exchange) {
    INFO("restart after exchange " << exchange);
    Rig rig(small_fabric(), DeviceId{0});
    rig.fire(laser(0, true));
    const std::size_t before = rig.transactions.size();
    rig.driver->stage(laser(3, true));
    rig.driver->fire();
    rig.run([&] { return rig.transactions.size() == before + exchange; });
    rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now + milliseconds{50}});
    rig.light.take(*rig.model);
    rig.run();
    CHECK(rig.driver->activity() != DriverActivity::busy);
    check_light_only_at(rig, {0, 3});
    const bool is_lit = std::get<LaserLight>(rig.model->light(rig.now)).emitting;
    rig.poll();
    CHECK((is_lit || rig.driver->activity() != DriverActivity::settled));
    rig.fire(laser(3, true));
    CHECK(rig.driver->activity() == DriverActivity::settled);
    CHECK(std::get<LaserLight>(rig.model->light(rig.now)).frequency == frequency_of(3));
  }
}

/// A line that damages `percent` of the exchanges: bursts of up to four bits either way (which BIP-4 finds), lost bytes,
/// silence.
void damage(Rig& rig, std::mt19937& chance, unsigned percent) {
  const auto burst = [&](std::vector<std::uint8_t>& bytes) {
    const auto first = static_cast<unsigned>(chance() % 29);
    const auto bits = static_cast<unsigned>(1 + chance() % 4);
    for (unsigned bit = first; bit < first + bits; ++bit) {
      bytes[bit / 8] ^= static_cast<std::uint8_t>(0x80u >> (bit % 8));
    }
  };
  rig.wire = [&, percent, burst](const Transaction& transaction) -> std::optional<BusReply> {
    if (chance() % 100 >= percent) {
      return std::nullopt;
    }
    Transaction said = transaction;
    const auto kind = static_cast<unsigned>(chance() % 4);
    if (kind == 0) {
      burst(std::get<Frame>(said.order).request);
    }
    BusReply reply = rig.model->execute(rig.now, said).reply;
    rig.light.take(*rig.model);
    if (kind == 1 && !reply.bytes.empty()) {
      burst(reply.bytes);
    } else if (kind == 2) {
      return BusReply{BusStatus::timeout, 0, {}, {}};
    } else if (kind == 3) {
      return BusReply{BusStatus::malformed, 0, {}, {}, "3 bytes after its end"};
    }
    return reply;
  };
}

TEST_CASE("laser_behind_a_line_that_damages_every_fifth_exchange_is_set_or_says_why_not") {
  std::size_t settled = 0;
  std::size_t fires = 0;
  std::size_t known = 0;
  constexpr std::uint32_t kSeeds = 200;
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    std::mt19937 chance(seed);
    Rig rig(fabric_of({}, "A100"), DeviceId{0});
    unwrap(rig);
    damage(rig, chance, 20);
    audit(rig, kAudits);
    known += rig.driver->observe().identity.description == "Lightloom, type CW ITLA, simulated, release 01.3";
    for (const auto& [channel, emit] : {std::pair{2, true}, std::pair{0, true}, std::pair{3, false}, std::pair{1, true}}) {
      if (!rig.driver->check(laser(channel, emit))) {
        FAIL(rig.driver->check(laser(channel, emit)).error().message);
      }
      rig.fire(laser(channel, emit));
      ++fires;
      const bool is_settled = rig.driver->activity() == DriverActivity::settled;
      settled += is_settled;
      const auto light = std::get<LaserLight>(rig.model->light(rig.now));
      CHECK((is_settled || rig.driver->observe().fault.starts_with("laser-0: ")));
      CHECK((!is_settled || (light.emitting == emit && (!emit || light.frequency == frequency_of(channel)))));
    }
    check_light_only_at(rig, {2, 0, 3, 1});
  }
  INFO(settled << " of " << fires << " fires settled, " << known << " of " << kSeeds << " modules fully known");
  CHECK(settled * 100 >= fires * 98);
  CHECK(known * 100 >= kSeeds * 80);
}

TEST_CASE("laser_whose_answers_are_noise_that_may_pass_for_frames_comes_to_rest") {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    std::mt19937 chance(seed);
    Rig rig(fabric_of({}, "A100"), DeviceId{0});
    unwrap(rig);
    rig.mangle = [&](BusReply& reply) {
      if (chance() % 5 == 0 && reply.bytes.size() == 4) {
        const auto reg = static_cast<Register>(chance() % 4 == 0 ? static_cast<std::uint8_t>(chance()) : reply.bytes[1]);
        const itla::Response noise{static_cast<itla::Status>(chance() % 4), chance() % 8 == 0, reg,
                                   static_cast<std::uint16_t>(chance())};
        const auto bytes = encode(noise);
        reply.bytes.assign(bytes.begin(), bytes.end());
      }
    };
    for (int round = 0; round < 4; ++round) {
      rig.poll();
      rig.driver->stage(laser(round, true));
      rig.driver->fire();
      rig.run();
      CHECK(rig.driver->activity() != DriverActivity::busy);
    }
  }
}

Fabric trimming_fabric() { return fabric_of({{"trim", std::int64_t{1}}}); }

TEST_CASE("laser_that_drifts_within_its_tolerance_is_trimmed_in_service") {
  Rig rig(trimming_fabric(), DeviceId{0});
  rig.fire(laser(2, true));
  audit(rig, kAudits);
  const std::size_t before = rig.writes();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{90}});
  rig.poll();
  CHECK(rig.writes() == before);  // near enough
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{210}});
  rig.light.take(*rig.model);
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::settled);
  const auto& log = rig.model->actuations();
  REQUIRE(log.size() == before + 5);  // 300 MHz in steps of 50, until half the threshold is left
  for (std::size_t i = before; i < log.size(); ++i) {
    CHECK(log[i].address == static_cast<std::uint32_t>(Register::ftf));
    CHECK(log[i].value == -50 * static_cast<std::int32_t>(i - before + 1));
  }
  for (const OpticalChange& change : rig.light.changes()) {
    CHECK((change.at < log[before].at || std::get<LaserLight>(change.state).emitting));  // never dark meanwhile
  }
  CHECK(std::get<LaserLight>(rig.model->light(rig.now)).frequency == Frequency{frequency_of(2).mhz + 50});
  rig.fire(laser(2, true));
  CHECK(rig.writes() == before + 5);  // as it is, it is as wanted
  rig.poll();
  CHECK(rig.writes() == before + 5);
  rig.fire(laser(3, true));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  const auto reset = std::find_if(log.begin() + static_cast<std::ptrdiff_t>(before + 5), log.end(), [](const Actuation& each) {
    return each.address == static_cast<std::uint32_t>(Register::ftf);
  });
  REQUIRE(reset != log.end());
  CHECK(reset->value == 0);  // in the dark: the trim was another channel's
  CHECK(log[before + 5].address == static_cast<std::uint32_t>(Register::enable));
}

TEST_CASE("laser_does_not_jump_when_an_answer_to_a_trim_is_lost") {
  for (const bool was_heard : {false, true}) {
    Rig rig(trimming_fabric(), DeviceId{0});
    rig.fire(laser(2, true));
    audit(rig, kAudits);
    rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{400}});
    int writes = 0;
    rig.wire = [&](const Transaction& transaction) -> std::optional<BusReply> {
      const itla::Request request = request_of(transaction);
      if (!request.write || ++writes % 2 != 0) {
        return std::nullopt;
      }
      if (was_heard) {
        rig.model->execute(rig.now, transaction);
        rig.light.take(*rig.model);
      }
      return bus_reply(BusStatus::timeout);
    };
    audit(rig, 2);
    CHECK(writes > 6);
    CHECK(rig.driver->activity() == DriverActivity::settled);
    std::int32_t before = 0;
    for (const Actuation& each : rig.model->actuations()) {
      if (each.address == static_cast<std::uint32_t>(Register::ftf)) {
        CHECK(std::abs(each.value - before) <= 50);
        before = each.value;
      }
    }
    CHECK(before == -350);
  }
}

TEST_CASE("laser_is_trimmed_no_further_than_its_module_goes") {
  SimDeviceOptions options;
  options.laser_trim_max = FrequencyOffset{120};
  Rig rig(trimming_fabric(), DeviceId{0}, options);
  rig.fire(laser(2, true));
  audit(rig, kAudits);
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{-400}});
  audit(rig, 2);
  CHECK(rig.model->actuations().back().value == 120);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.driver->observe().fault ==
        "laser-0: 0.280 GHz off 191.60000 THz, and its fine tuning (FTF) ended at 120 MHz, limit 120 MHz");
}

TEST_CASE("laser_that_refuses_to_be_trimmed_stays_as_it_is") {
  Rig rig(trimming_fabric(), DeviceId{0});
  rig.fire(laser(2, true));
  audit(rig, kAudits);
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{400}});
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::stick});
  audit(rig, 2);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(std::get<LaserLight>(rig.model->light(rig.now)).emitting);
}

TEST_CASE("laser_that_is_not_to_be_trimmed_is_never_written_to_by_an_audit") {
  Rig rig(small_fabric(), DeviceId{0});
  rig.fire(laser(2, true));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{400}});
  const std::size_t before = rig.writes();
  audit(rig, kAudits);
  CHECK(rig.writes() == before);
}

TEST_CASE("laser_operations_take_little_more_than_their_bytes_and_its_own_times") {
  for (const std::uint32_t baud : {9'600u, 115'200u}) {
    SimDeviceOptions options;
    options.serial_baud = baud;
    Rig rig(small_fabric(), DeviceId{0}, options);
    rig.poll();
    rig.fire(laser(0, false));
    const auto measure = [&](const char* what, const TransmitterSetpoint& setpoint) {
      const std::size_t before = rig.transactions.size();
      const Instant began = rig.now;
      rig.fire(setpoint);
      REQUIRE(rig.driver->activity() == DriverActivity::settled);
      const auto exchanges = static_cast<std::int64_t>(rig.transactions.size() - before);
      const Duration bus = exchanges * Duration{8 * 10'000'000'000 / baud};
      const Duration took = rig.now - began;
      UNSCOPED_INFO(baud << " baud, " << what << ": " << exchanges << " exchanges, bus " << milliseconds_of(bus) << " ms, took "
                         << milliseconds_of(took) << " ms");
      const Transmitter& own = transmitter_of(rig.fabric);
      CHECK(took <= bus + exchanges * options.device_time + own.retune_max + own.blank_max + own.enable_max);
    };
    measure("dark to lit", laser(0, true));
    measure("retune", laser(3, true));
    measure("to dark", laser(3, false));
  }
}

}  // namespace
}  // namespace loom
