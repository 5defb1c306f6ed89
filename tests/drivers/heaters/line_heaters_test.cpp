// SPDX-License-Identifier: Apache-2.0
// Qontrol and Nicslab before their models: what is said, what is believed, and what ends as a fault with a name.
#include "drivers/heater/line_heaters.hpp"

#include <random>

#include "drivers/heater/nicslab.hpp"
#include "drivers/heater/qontrol.hpp"
#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

const Frequency kCold{194'000'000};
const Frequency kFiveVolts{193'075'000};  // 925 GHz: 25 mW in 1 kohm
const Frequency kTenVolts{190'300'000};   // 100 mW
const FilterSetpoint kTwoRings{{{0, kFiveVolts}, {2, kTenVolts}}};

struct LineRig : Rig {
  explicit LineRig(std::string kind, std::vector<DeviceSetting> profile = {}, std::uint64_t seed = 1,
                   RingFilter ring = {.cold_resonance = kCold})
      : Rig(fabric_of(std::move(kind), std::move(profile), ring),
            DeviceId{static_cast<std::uint32_t>(bank_fabric().devices.size() - 1)}, {.seed = seed}) {}

  static Fabric fabric_of(std::string kind, std::vector<DeviceSetting> profile, const RingFilter& ring) {
    Fabric fabric = bank_fabric();
    fabric.devices.back().model = std::move(kind);
    fabric.devices.back().profile = std::move(profile);
    for (const ElementId element : fabric.devices.back().elements) {
      fabric.elements[element.value].kind = ring;
    }
    return fabric;
  }
  /// What was said since the last call, a line each.
  std::string said() {
    std::string text;
    for (const Transaction& transaction : transactions) {
      const auto& request = std::get<Frame>(transaction.order).request;
      text += (text.empty() ? "" : " ") + std::string(request.begin(), request.end() - 1);
    }
    transactions.clear();
    return text;
  }
  std::string fault() const { return driver->observe().fault; }
  bool stands(const FilterSetpoint& setpoint) const {
    std::vector<Frequency> wanted(4, kCold);
    for (const RingResonance& ring : setpoint.rings) {
      wanted[ring.channel] = ring.resonance;
    }
    const std::vector<Frequency> resonances = std::get<RingLight>(model->light(now)).resonances;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (magnitude(resonances[i] - wanted[i]) > FrequencyOffset{500}) {
        return false;
      }
    }
    return true;
  }
  /// Answers the exchange whose request is `line` with `text` instead of the device.
  void answer(std::string line, std::string text, BusStatus status = BusStatus::ok) {
    wire = [line = line + "\n", text, status](const Transaction& transaction) -> std::optional<BusReply> {
      const auto& request = std::get<Frame>(transaction.order).request;
      return std::string(request.begin(), request.end()) == line
                 ? std::optional(BusReply{status, 0, {}, {text.begin(), text.end()}})
                 : std::nullopt;
    };
  }
};

TEST_CASE("qontrol_is_introduced_bounded_set_and_measured") {
  LineRig rig("qontrol");
  rig.fire(kTwoRings);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.said() == "id? nchan? v1? v3? v0? v2? vmax0=10.000 v0=5.000 vmax2=10.000 v2=10.000 v1? v3? i0? i2? v0? v2?");
  CHECK(rig.stands(kTwoRings));
  const Observation seen = rig.driver->observe();
  CHECK(seen.identity == DeviceIdentity{format_text("{:04}", rig.model->device().value), "Qontrol Q8iv"});
  CHECK(seen.proof == Proof::device);
  const auto& millivolts = std::get<FilterObservation>(seen.reading).millivolts;
  REQUIRE(millivolts.size() == 4);
  CHECK(std::abs(millivolts[0] - 5'000) <= 2);
  CHECK(std::abs(millivolts[2] - 10'000) <= 2);
  rig.fire(kTwoRings);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.said() == "v1? v3? v0? v2? i0? i2? v0? v2?");  // nothing is set again
  rig.fire(FilterSetpoint{{{0, Frequency{193'074'000}}, {2, kTenVolts}}});
  CHECK(rig.said() == "v1? v3? v0? v2? v0=5.003 v1? v3? i0? i2? v0? v2?");  // a GHz is a change, though within what light tells
}

TEST_CASE("nicslab_is_set_in_silence_and_measured") {
  LineRig rig("nicslab");
  rig.fire(kTwoRings);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.said() ==
        "CH:2:VAL? CH:4:VAL? CH:1:VAL? CH:3:VAL? CH:1:VOLT:5.000 CH:3:VOLT:10.000 CH:2:VAL? CH:4:VAL? CH:1:VAL? CH:3:VAL?");
  CHECK(rig.stands(kTwoRings));
  CHECK(rig.driver->observe().proof == Proof::device);
}

TEST_CASE("a_bank_may_hang_further_along_a_chain") {
  LineRig rig("qontrol", {{"first_channel", std::int64_t{8}}});
  rig.fire(FilterSetpoint{{{1, kFiveVolts}}});
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK_THAT(rig.said(), Catch::Contains("v9=5.000"));
  LineRig other("nicslab", {{"first_channel", std::int64_t{5}}});
  other.fire(FilterSetpoint{{{1, kFiveVolts}}});
  REQUIRE(other.driver->activity() == DriverActivity::settled);
  CHECK_THAT(other.said(), Catch::Contains("CH:6:VOLT:5.000"));
}

TEST_CASE("another_module_or_too_few_channels_are_refused_with_both_sides") {
  LineRig rig("qontrol");
  rig.answer("id?", "Q8b-0042\n");
  rig.fire(kTwoRings);
  CHECK(rig.fault() == "bank: it is a Q8b (serial number 0042), expected a Q8iv");
  CHECK(rig.writes() == 0);
  rig.answer("nchan?", "2\n");
  rig.fire(kTwoRings);
  CHECK(rig.fault() == "bank: it has 2 channels, its rings need 4");
  rig.answer("nchan?", "E12:00\n");  // older firmware does not know the question
  rig.fire(kTwoRings);
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("a_complaint_that_comes_unasked_is_kept_and_never_taken_for_the_answer") {
  LineRig rig("qontrol");
  bool once = true;
  const auto complain_at = [&](std::string request, std::string complaint, bool alone) {
    once = true;
    rig.mangle = [&rig, &once, request, complaint, alone](BusReply& reply) {
      const auto& line = std::get<Frame>(rig.transactions.back().order).request;
      if (std::string(line.begin(), line.end() - 1) != request || !std::exchange(once, false)) {
        return;
      }
      if (alone) {  // the answer is still on its way, and the bus will drop it
        reply.bytes.assign(complaint.begin(), complaint.end());
      } else {
        reply.bytes.insert(reply.bytes.begin(), complaint.begin(), complaint.end());
        reply.status = BusStatus::malformed;
      }
    };
  };
  for (const bool alone : {false, true}) {
    complain_at("v0=5.000", "E02:02\n", alone);
    rig.fire(kTwoRings);
    CHECK_FALSE(once);
    CHECK(rig.driver->activity() == DriverActivity::failed);
    CHECK(rig.fault() == "bank: over-current on channel 2 (error 2)");
    rig.fire(FilterSetpoint{});
    CHECK(rig.driver->activity() == DriverActivity::settled);
    complain_at("v0=5.000", "E02:11\n", alone);  // of another bank of the chain
    rig.fire(kTwoRings);
    CHECK(rig.driver->activity() == DriverActivity::settled);
    CHECK(rig.stands(kTwoRings));
    CHECK(rig.fault() == "bank: over-current on the device's channel 11, which is none of its own (error 2)");
    rig.fire(FilterSetpoint{});
    CHECK(rig.fault().empty());
  }
  const std::size_t before = rig.writes();
  complain_at("v0=5.000", "E15:00\n", false);  // it took the command for all that
  rig.fire(kTwoRings);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.writes() == before + 2);
}

TEST_CASE("a_device_that_goes_on_complaining_is_given_up_in_its_words") {
  LineRig rig("qontrol");
  rig.answer("v1?", "E10:01\n");
  rig.fire(kTwoRings);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.fault() == "bank: 16 exchanges of one operation failed, the last: \"v1?\": answered with bad command (E10:01)");
  rig.answer("v1?", "E12:01\n");
  rig.fire(kTwoRings);
  CHECK(rig.fault() == "bank: \"v1?\": refused with bad channel (error 12)");
}

TEST_CASE("an_open_heater_is_named_by_its_missing_current") {
  for (const char* kind : {"qontrol", "nicslab"}) {
    INFO(kind);
    LineRig rig(kind);
    rig.model->inject(rig.now, {.kind = DeviceFaultKind::fail, .until = rig.now + std::chrono::seconds{1}});
    rig.fire(kTwoRings);
    CHECK(rig.driver->activity() == DriverActivity::failed);
    CHECK_THAT(rig.fault(), Catch::Matches("bank: heater open on channel 0: (4998|4999|500\\d) mV and \\d uA measured, "
                                           "(4998|4999|500\\d) uA expected through 1000 ohm"));
    rig.now += std::chrono::seconds{2};
    rig.fire(kTwoRings);
    CHECK(rig.driver->activity() == DriverActivity::settled);
    rig.model->inject(rig.now, {.kind = DeviceFaultKind::fail});
    rig.poll();
    CHECK(rig.driver->activity() == DriverActivity::failed);
    CHECK_THAT(rig.fault(), Catch::StartsWith("bank: heater open on channel 0: "));
  }
}

TEST_CASE("a_voltage_or_a_current_beyond_full_scale_is_refused_with_both_numbers") {
  const auto refused = [](const char* kind, const RingFilter& ring, Frequency wanted, std::vector<DeviceSetting> profile = {}) {
    LineRig rig(kind, std::move(profile), 1, ring);
    const auto lawful = rig.driver->check(FilterSetpoint{{{3, wanted}}});
    REQUIRE_FALSE(lawful.has_value());
    CHECK(rig.transactions.empty());
    return lawful.error().message;
  };
  const RingFilter strong{.cold_resonance = kCold, .heater_volt_max = 40};
  const RingFilter small{.cold_resonance = kCold, .heater_ohm = 100};
  CHECK(refused("qontrol", strong, Frequency{185'000'000}) ==
        "bank channel 3: resonance 185.00000 THz needs 15596 mV of heating, full scale 12000 mV");
  CHECK(refused("nicslab", strong, Frequency{150'000'000}) ==
        "bank channel 3: resonance 150.00000 THz needs 34485 mV of heating, full scale 29000 mV");
  CHECK(refused("qontrol", small, Frequency{191'000'000}) ==
        "bank channel 3: resonance 191.00000 THz needs 28475 uA through 100 ohm, full scale 24000 uA");
  LineRig wide("qontrol", {{"type", std::int64_t{1}}}, 1, small);
  CHECK(wide.driver->check(FilterSetpoint{{{3, Frequency{191'000'000}}}}).has_value());
  const Fabric fabric = LineRig::fabric_of("nicslab", {{"first_channel", std::int64_t{6}}}, strong);
  CHECK(kNicslab.model.refuse(fabric, fabric.devices.back()) == "it has 4 rings from channel 6 on, and an XPOW has 8 channels");
  CHECK(kQontrol.model.refuse(fabric, fabric.devices.back()) ==
        "'ring' may be heated with 40000 mV (heater_voltage_max), full scale of its device is 12000 mV into 1000 ohm");
}

TEST_CASE("what_somebody_else_set_is_seen_by_an_audit_and_put_right_by_the_next_fire") {
  for (const auto& [kind, line] : {std::pair{"qontrol", "v1=3.000\n"}, std::pair{"nicslab", "CH:2:VOLT:3.000\n"}}) {
    INFO(kind);
    LineRig rig(kind);
    rig.fire(kTwoRings);
    const std::string text = line;
    rig.now +=
        rig.model->execute(rig.now, {rig.model->device(), 7, Frame{{text.begin(), text.end()}, 0, {}}, milliseconds{500}})
            .service_time;
    rig.poll();
    CHECK(rig.driver->activity() == DriverActivity::idle);
    rig.fire(kTwoRings);
    CHECK(rig.driver->activity() == DriverActivity::settled);
    CHECK(rig.stands(kTwoRings));
  }
}

TEST_CASE("a_bank_that_loses_its_power_at_any_exchange_is_set_again_or_says_so") {
  for (const char* kind : {"qontrol", "nicslab"}) {
    for (const Duration boot : {Duration{0}, Duration{milliseconds{10}}, Duration{std::chrono::seconds{3}}}) {
      for (std::size_t place = 1; place <= 30; ++place) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
          INFO(kind << ", power cut after exchange " << place << ", boots in " << boot.count() << " ns, seed " << seed);
          LineRig rig(kind, {}, seed);
          rig.fire(FilterSetpoint{{{0, kFiveVolts}}});
          REQUIRE(rig.driver->activity() == DriverActivity::settled);
          rig.transactions.clear();
          rig.driver->stage(kTwoRings);
          rig.driver->fire();
          rig.run([&] { return rig.transactions.size() == place; });
          if (rig.handed_out) {
            rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now + boot});
            rig.run();
            REQUIRE((rig.driver->activity() == DriverActivity::failed || rig.stands(kTwoRings)));
          }
          rig.now += boot;
          rig.fire(kTwoRings);
          rig.fire(kTwoRings);
          REQUIRE(rig.driver->activity() == DriverActivity::settled);
          REQUIRE(rig.stands(kTwoRings));
        }
      }
    }
  }
}

TEST_CASE("a_bank_is_settled_only_in_truth_whatever_its_line_does") {
  const std::vector<FilterSetpoint> setpoints{
      kTwoRings, {}, {{{1, kFiveVolts}, {2, kFiveVolts}, {3, kTenVolts}}}, {{{0, Frequency{193'070'000}}, {2, kTenVolts}}}};
  std::size_t settled = 0;
  std::size_t failed = 0;
  for (const char* kind : {"qontrol", "nicslab"}) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      INFO(kind << ", seed " << seed);
      std::mt19937_64 chance(seed);
      LineRig rig(kind, {}, seed);
      const std::uint64_t percent = chance() % 20;
      const auto damage = [&](BusReply& reply) {
        constexpr std::array kTexts{"E02:07\n", "E15:00\n", "5.000 V\n", "OK\n", "Q8iv-0001\n", "CH:9:VAL:1.0:0.1\n", ""};
        const std::string_view text = kTexts.at(chance() % kTexts.size());
        // No reading of a wrong value in the right form: no driver can tell it from a true one.
        const bool is_form = std::get<Frame>(rig.transactions.back().order).request[0] == 'v' && text == "5.000 V\n";
        reply.status = is_form || text.empty() ? BusStatus::timeout : BusStatus::ok;
        reply.bytes.assign(text.begin(), text.end());
      };
      rig.wire = [&](const Transaction& transaction) -> std::optional<BusReply> {
        static_cast<void>(transaction);
        BusReply reply;
        if (chance() % 100 >= percent) {
          return std::nullopt;
        }
        damage(reply);
        const auto& request = std::get<Frame>(rig.transactions.back().order).request;
        const bool is_set = std::ranges::find(request, '=') != request.end();
        reply.status = is_set ? BusStatus::timeout : reply.status;  // an OK for what was never heard is a lie, not a bad line
        return reply;
      };
      rig.mangle = [&](BusReply& reply) {
        if (chance() % 100 < percent && std::get<Frame>(rig.transactions.back().order).terminator != "") {
          damage(reply);
        }
      };
      for (int fires = 0; fires < 6; ++fires) {
        const FilterSetpoint& setpoint = setpoints[chance() % setpoints.size()];
        if (chance() % 3 == 0) {
          rig.poll();
        }
        rig.fire(setpoint);
        const bool is_settled = rig.driver->activity() == DriverActivity::settled;
        REQUIRE((is_settled || rig.driver->activity() == DriverActivity::failed));
        REQUIRE((!is_settled || rig.stands(setpoint)));
        (is_settled ? settled : failed) += 1;
      }
    }
  }
  CHECK(settled > 1'000);  // both ways are really taken
  CHECK(failed > 100);
}

TEST_CASE("lines_of_a_qontrol_are_read_in_the_forms_of_its_makers_library") {
  CHECK(qontrol::read_volts("4.500 V") == 4.5);
  CHECK(qontrol::read_volts("+4.5 V") == 4.5);
  CHECK(qontrol::read_volts("-0.001 V") == -0.001);
  CHECK_FALSE(qontrol::read_volts("4.5 mA"));
  CHECK_FALSE(qontrol::read_volts("4.5"));
  CHECK_FALSE(qontrol::read_volts("nan V"));
  CHECK_FALSE(qontrol::read_volts("1e300 V"));
  CHECK(qontrol::read_amperes("12.000 mA") == Approx(0.012));
  const auto complaint = qontrol::read_complaint("E01:07");
  REQUIRE(complaint);
  CHECK(complaint->code == 1);
  CHECK(complaint->channel == 7);
  CHECK(complaint->kind == LineComplaint::Kind::broken);
  CHECK(qontrol::read_complaint("Err99:3")->meaning == "an error that no paper names");
  CHECK_FALSE(qontrol::read_complaint("Erro1:3"));
  CHECK_FALSE(qontrol::read_complaint("E1:3 "));
  CHECK_FALSE(qontrol::read_complaint("Q8iv-0001"));
  const LineQuestion write{LineHeaterState::write, 3, 4'500};
  CHECK(qontrol::say(write) == "v3=4.500");
  const LineAnswer answer = qontrol::read(write, "E16:00\r\nOK\r\n");
  CHECK(answer.is_done);
  CHECK(answer.complaints.size() == 1);
  CHECK_FALSE(qontrol::read(write, "E16:00\nOK\n4.500 V\n").is_done);
  CHECK(qontrol::read({LineHeaterState::introduce}, "Q8b-A2F3\n").serial == "A2F3");
  CHECK(qontrol::read({LineHeaterState::introduce}, "4.500 V\n").type.empty());
}

TEST_CASE("lines_of_a_nicslab_are_read_with_their_word_or_without") {
  const auto read = [](std::string_view line) { return nicslab::read({LineHeaterState::reading_volts, 3}, line); };
  CHECK(read("CH:3:VAL:1.250:0.0125\r\n").volts == 1.25);
  CHECK(read("CH:3:VAL:1.250:0.0125\n").amperes == 0.0125);
  CHECK(read("CH:3:1.250:0.0125\n").volts == 1.25);
  CHECK_FALSE(read("CH:4:VAL:1.250:0.0125\n").volts);  // of another channel
  CHECK_FALSE(read("CH:3:1:1.250:0.0125\n").volts);
  CHECK_FALSE(read("CH:3:VAL:1.250\n").amperes);
  CHECK_FALSE(read("CH:3:VAL:inf:nan\n").volts);
  CHECK_FALSE(read("").volts);
}

}  // namespace
}  // namespace loom
