// SPDX-License-Identifier: Apache-2.0
// Boards of a heater bank: which registers they are asked for, what their counts mean, who they say that they are, and what
// they say of their outputs.
#include "drivers/heater/heater_board.hpp"

#include "drivers/heater/heater_bank.hpp"
#include "tests/drivers/subjects.hpp"

namespace loom {
namespace {

DeviceSetting board_named(std::string_view name) {
  const auto found = std::ranges::find(kHeaterBoardNames, name);
  REQUIRE(found != kHeaterBoardNames.end());
  return {"board", static_cast<std::int64_t>(found - kHeaterBoardNames.begin())};
}

struct BankRig : Rig {
  explicit BankRig(std::vector<DeviceSetting> profile, RingFilter ring = {.cold_resonance = Frequency{194'000'000}})
      : Rig(fabric_of(std::move(profile), ring), DeviceId{static_cast<std::uint32_t>(bank_fabric().devices.size() - 1)}) {}

  static Fabric fabric_of(std::vector<DeviceSetting> profile, const RingFilter& ring) {
    Fabric fabric = bank_fabric();
    fabric.devices.back().profile = std::move(profile);
    for (const ElementId element : fabric.devices.back().elements) {
      fabric.elements[element.value].kind = ring;
    }
    return fabric;
  }
  std::vector<Registers> asked() const {
    std::vector<Registers> asked;
    for (const Transaction& transaction : transactions) {
      asked.push_back(std::get<Registers>(transaction.order));
    }
    return asked;
  }
  std::string fault() const { return driver->observe().fault; }
};

std::string refusal_of(const std::vector<DeviceSetting>& profile, const RingFilter& ring = {}) {
  const Fabric fabric = BankRig::fabric_of(profile, ring);
  return kHeaterBank.model.refuse(fabric, fabric.devices.back());
}

const FilterSetpoint kTwoRings{
    {{0, Frequency{193'075'000}}, {2, Frequency{190'300'000}}}};  // 25 mW and 100 mW: 5 V and 10 V, 5 mA and 10 mA

TEST_CASE("boards_are_written_in_their_own_registers_and_counts") {
  const auto registers_on = [](std::vector<DeviceSetting> profile) {
    BankRig rig(std::move(profile));
    rig.fire(kTwoRings);
    REQUIRE(rig.driver->activity() == DriverActivity::settled);
    CHECK(std::get<FilterObservation>(rig.driver->observe().reading).millivolts.size() == 4);
    return rig.asked();
  };
  CHECK(registers_on({board_named("waveshare_ua")}) ==
        std::vector<Registers>{{0x8000, 1, {}}, {0, 4, {}}, {0, 0, {5'000, 0, 10'000}}, {0, 4, {}}});
  CHECK(registers_on({board_named("adam_6224")}) ==
        std::vector<Registers>{{0, 4, {}}, {0, 0, {2'048, 0, 4'095}}, {0, 4, {}}, {100, 8, {}}});
  CHECK(registers_on({board_named("adam_4024")}) ==
        std::vector<Registers>{{200, 4, {}}, {0, 4, {}}, {0, 0, {1'024, 0, 2'048}}, {0, 4, {}}});
  CHECK(registers_on({board_named("adam_6024")}) ==
        std::vector<Registers>{{10, 4, {}}, {10, 0, {2'048, 0, 4'095}}, {10, 4, {}}});
  CHECK(registers_on({board_named("custom"), {"register_base", std::int64_t{40}}, {"scale", 100.0}}) ==
        std::vector<Registers>{{40, 4, {}}, {40, 0, {500, 0, 1'000}}, {40, 4, {}}});
}

TEST_CASE("a_board_without_function_16_is_written_a_register_at_a_time_and_read_once") {
  BankRig rig({board_named("adam_6024"), {"block_writes", std::int64_t{0}}});
  rig.fire(kTwoRings);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.asked() == std::vector<Registers>{{10, 4, {}}, {10, 0, {2'048}}, {12, 0, {4'095}}, {10, 4, {}}});
}

TEST_CASE("currents_are_reported_as_the_volts_that_they_make") {
  BankRig rig({board_named("waveshare_ua")}, {.cold_resonance = Frequency{194'000'000}, .heater_ohm = 500});
  rig.fire(FilterSetpoint{{{0, Frequency{193'075'000}}}});  // 25 mW in 500 ohm: 7.071 mA, 3.536 V
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.asked().at(2) == Registers{0, 0, {7'071}});
  CHECK(std::get<FilterObservation>(rig.driver->observe().reading).millivolts == std::vector<std::int32_t>{3'536, 0, 0, 0});
}

TEST_CASE("a_board_that_says_that_it_is_another_one_is_refused_with_both_sides") {
  for (const auto& [board, word, sentence] :
       {std::tuple{
            "waveshare_mv", 0,
            "bank: version register 0x8000 reads 0x0000, expected 0x0064 to 0x03E7: it is no waveshare_mv (or say version: "
            "0 in its profile)"},
        std::tuple{"adam_4024", 0x32,
                   "bank: version register 0x00C8 reads 0x0032, expected 0x0030: it is no adam_4024 (or say version: 50 in its "
                   "profile)"}}) {
    BankRig rig({board_named(board)});
    rig.mangle = [&](BusReply& reply) { reply.words.assign(reply.words.size(), static_cast<std::uint16_t>(word)); };
    rig.fire(kTwoRings);
    CHECK(rig.driver->activity() == DriverActivity::failed);
    CHECK(rig.fault() == sentence);
    CHECK(rig.writes() == 0);
    rig.mangle = nullptr;
    rig.fire(kTwoRings);
    CHECK(rig.driver->activity() == DriverActivity::settled);
  }
}

TEST_CASE("a_version_that_a_profile_gives_is_the_one_that_is_expected") {
  BankRig rig({{"version", std::int64_t{0x0064}}});
  rig.mangle = [](BusReply& reply) { reply.words.assign(reply.words.size(), 0x0065); };
  rig.fire(kTwoRings);
  CHECK_THAT(rig.fault(), Catch::Contains("reads 0x0065, expected 0x0064:"));
  BankRig unasked({{"checks_version", std::int64_t{0}}});
  unasked.fire(kTwoRings);
  CHECK(unasked.asked().front() == Registers{0, 4, {}});
}

TEST_CASE("a_board_that_was_out_of_reach_is_asked_again_who_it_is") {
  BankRig rig({});
  rig.poll();
  REQUIRE(rig.transactions.size() == 2);
  rig.wire = [&](const Transaction&) {
    return rig.transactions.size() == 3 ? std::optional(bus_reply(BusStatus::lost)) : std::nullopt;
  };
  rig.poll();
  CHECK(rig.asked() == std::vector<Registers>{{0x8000, 1, {}}, {0, 4, {}}, {0, 4, {}}, {0x8000, 1, {}}, {0, 4, {}}});
}

TEST_CASE("an_open_heater_is_named_where_the_board_knows_of_it") {
  BankRig rig({board_named("adam_6224")});
  const auto open_on = [&](std::size_t channel, std::uint16_t bits) {
    rig.mangle = [&rig, channel, bits](BusReply& reply) {
      if (std::get<Registers>(rig.transactions.back().order).address == 100) {
        reply.words[2 * channel] = bits;
      }
    };
  };
  open_on(2, 1 << 3);
  rig.fire(kTwoRings);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.fault() == "bank: heater open on channel 2 (its status is 0x0008 0x0000)");
  open_on(0, 1 << 1);
  rig.poll();
  CHECK(rig.fault() == "bank: output over range on channel 0 (its status is 0x0002 0x0000)");
  rig.mangle = nullptr;
  rig.fire(kTwoRings);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  open_on(3, 1 << 3);  // a ring that nobody heats
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.fault() == "bank: heater open on channel 3 (its status is 0x0008 0x0000); it is cold");
  open_on(2, 1 << 3);
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.fault() == "bank: heater open on channel 2 (its status is 0x0008 0x0000)");
}

TEST_CASE("a_setpoint_beyond_full_scale_or_finer_than_the_counts_is_refused_with_both_numbers") {
  const auto refused = [](std::vector<DeviceSetting> profile, const RingFilter& ring, Frequency wanted) {
    BankRig rig(std::move(profile), ring);
    const auto lawful = rig.driver->check(FilterSetpoint{{{1, wanted}}});
    REQUIRE_FALSE(lawful.has_value());
    CHECK(lawful.error().code == ErrorCode::out_of_range);
    CHECK(rig.transactions.empty());
    return lawful.error().message;
  };
  const RingFilter ring{.cold_resonance = Frequency{194'000'000}, .heater_volt_max = 30};
  CHECK(refused({}, ring, Frequency{190'000'000}) ==
        "bank channel 1: resonance 190.00000 THz needs 10398 mV of heating, full scale 10000 mV");
  const RingFilter small{.cold_resonance = Frequency{194'000'000}, .heater_ohm = 100, .heater_volt_max = 30};
  CHECK(refused({board_named("waveshare_ua")}, small, Frequency{190'300'000}) ==
        "bank channel 1: resonance 190.30000 THz needs 31623 uA through 100 ohm, full scale 20000 uA");
  const RingFilter narrow{.fwhm = FrequencyOffset{800}, .cold_resonance = Frequency{194'000'000}};
  CHECK(
      refused({board_named("custom"), {"scale", 10.0}}, narrow, Frequency{193'074'000}) ==
      "bank channel 1: resonance 193.07400 THz: the nearest count, 50, leaves it 1000 MHz off, limit 100 MHz (its width / 8)");
}

TEST_CASE("banks_that_their_board_cannot_be_are_refused_when_the_file_is_read") {
  CHECK(refusal_of({}).empty());
  CHECK(refusal_of({board_named("adam_6224")}).empty());
  CHECK(refusal_of({board_named("adam_6024")}) == "it has 4 rings, and a board adam_6024 has 2 outputs");
  CHECK(refusal_of({board_named("custom")}) ==
        "board custom has no scale of its own: expected scale (counts a volt, or an ampere) in its profile");
  CHECK(refusal_of({{"scale", 1e4}}) == "its full_scale is 100000 counts of its scale, limit 65535");
  CHECK(refusal_of({{"register_base", std::int64_t{65'533}}}) == "4 rings from register 65533 on end beyond 65535");
  CHECK(refusal_of({}, {.cold_resonance = {}, .heater_volt_max = 12}) ==
        "'ring' may be heated with 12000 mV (heater_voltage_max), full scale of its device is 10000 mV into 1000 ohm");
  CHECK(refusal_of({board_named("waveshare_ua")}, {.cold_resonance = {}, .heater_ohm = 200}) ==
        "'ring' may be heated with 10000 mV (heater_voltage_max), full scale of its device is 4000 mV into 200 ohm");
}

}  // namespace
}  // namespace loom
