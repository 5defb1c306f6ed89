// SPDX-License-Identifier: Apache-2.0
// Drivers of amplifiers and attenuators against their models: what they say, in which order, and what they make of light.
#include <algorithm>

#include "core/fabric/gain_stage.hpp"
#include "sim_backend/devices/gain/gain_models.hpp"
#include "tests/drivers/subjects.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

Rig stage_rig(const std::string& model, std::vector<DeviceSetting> profile = {}) {
  const bool is_amplifier = model.ends_with("edfa");
  return rig_of({is_amplifier ? "edfa" : "voa", model, {}, std::move(profile)});
}

std::vector<std::string> lines_of(const Rig& rig) {
  std::vector<std::string> lines;
  for (const Transaction& each : rig.transactions) {
    const auto& request = std::get<Frame>(each.order).request;
    lines.emplace_back(request.begin(), request.end());
    lines.back().pop_back();
  }
  return lines;
}

void shine(Rig& rig, Dbm power) {
  dynamic_cast<LightObserver&>(*rig.model).look_through([power](PortRef) {
    return std::vector<ArrivingLight>{{Frequency{193'100'000}, power}};
  });
}

GainObservation seen_by(const Rig& rig) { return std::get<GainObservation>(rig.driver->observe().reading); }
Db gain_of(const Rig& rig) { return std::get<GainLight>(rig.model->light(rig.now)).gain; }

TEST_CASE("an_attenuator_is_set_before_it_is_opened_in_the_words_of_keysight") {
  Rig rig = stage_rig("scpi_voa");
  rig.fire(GainSetpoint{Db{-325}});
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines_of(rig) == std::vector<std::string>{"*IDN?", ":INP1:ATT?", ":OUTP1?", ":INP1:ATT 3.25;*OPC?", ":INP1:ATT?",
                                                  ":OUTP1?", ":OUTP1 1;*OPC?", ":INP1:ATT?", ":OUTP1?"});
  CHECK(gain_of(rig) == Db{-325});
  CHECK(seen_by(rig) == GainObservation{Db{-325}, true});
  CHECK(rig.driver->observe().proof == Proof::assumed);  // it has no sensor
  CHECK(rig.driver->observe().identity.description == "Lightloom simulated gain stage 1.0");
}

TEST_CASE("an_amplifier_that_is_turned_off_passes_nothing_and_says_so") {
  Rig rig = stage_rig("scpi_edfa");
  rig.fire(GainSetpoint{Db{1'200}});
  rig.fire(GainSetpoint{kGainOff});
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(gain_of(rig) == kGainOff);
  CHECK(seen_by(rig).gain == kGainOff);
  CHECK(lines_of(rig).back() == ":AMPL1:STAT?");
}

TEST_CASE("words_and_place_of_a_stage_are_its_profiles_and_its_address") {
  Fabric fabric = fabric_of_subjects();
  Device& edfa = fabric.devices[device_named(fabric, "edfa").value];
  edfa.model = "scpi_edfa";
  edfa.bus_address = 3;
  edfa.profile = {{"set_gain", std::string("SMODE {slot} G {db}")},
                  {"gain_query", std::string("GAIN{slot}?")},
                  {"turn", std::string()},
                  {"on_query", std::string()},
                  {"input_query", std::string()},
                  {"output_query", std::string()},
                  {"confirm_query", std::string("GAIN{slot}?")},
                  {"identifies", std::int64_t{0}}};
  const DeviceId device = edfa.id;
  Rig rig(std::move(fabric), device, {});
  rig.fire(GainSetpoint{Db{1'250}});
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines_of(rig) == std::vector<std::string>{"GAIN3?", "SMODE 3 G 12.50;GAIN3?", "GAIN3?"});
  const auto off = rig.driver->check(GainSetpoint{kGainOff});
  REQUIRE_FALSE(off);
  CHECK_THAT(off.error().message, Catch::Contains("a gain of off is outside 0.00 dB to 30.00 dB; it cannot be turned off"));
}

TEST_CASE("a_gain_beyond_the_range_is_refused_with_the_range") {
  const Rig rig = stage_rig("modbus_voa");
  for (const Db gain : {Db{10}, Db{-3'001}}) {
    const auto refused = rig.driver->check(GainSetpoint{gain});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::out_of_range);
    CHECK_THAT(refused.error().message, Catch::Contains("is outside -30.00 dB to 0.00 dB"));
  }
  CHECK(rig.driver->check(TransmitterSetpoint{}).error().code == ErrorCode::unsupported);
}

TEST_CASE("registers_of_a_stage_are_written_as_one_block_and_settled_when_it_stands") {
  Rig rig = stage_rig("modbus_edfa");
  const Instant begin = rig.now;
  rig.fire(GainSetpoint{Db{1'500}});
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  std::size_t writes = 0;
  for (const Transaction& each : rig.transactions) {
    const auto& registers = std::get<Registers>(each.order);
    writes += registers.values.empty() ? 0 : 1;
    CHECK((registers.values.empty() || registers.values == std::vector<std::uint16_t>{1, 1'500}));
  }
  CHECK(writes == 1);
  CHECK(rig.now - begin >= milliseconds{2});  // half of settle_max at least, and nobody takes it for settled before
  CHECK(gain_of(rig) == Db{1'500});
}

TEST_CASE("a_stage_that_is_as_wanted_is_only_read") {
  for (const char* model : {"scpi_voa", "modbus_voa", "scpi_edfa", "modbus_edfa"}) {
    INFO(model);
    Rig rig = stage_rig(model);
    const GainSetpoint wanted{std::string_view(model).ends_with("edfa") ? Db{900} : Db{-900}};
    rig.fire(wanted);
    const std::size_t written = rig.writes();
    rig.fire(wanted);
    CHECK(rig.driver->activity() == DriverActivity::settled);
    CHECK(rig.writes() == written);
  }
}

TEST_CASE("why_a_device_did_not_do_as_told_is_asked_of_it") {
  Rig rig = stage_rig("scpi_voa");
  bool has_erred = false;
  rig.wire = [&](const Transaction& each) -> std::optional<BusReply> {
    const auto& bytes = std::get<Frame>(each.order).request;
    const std::string line(bytes.begin(), bytes.end());
    const auto answer = [](std::string_view text) { return BusReply{BusStatus::ok, 0, {}, {text.begin(), text.end()}}; };
    if (line.starts_with(":INP1:ATT 3")) {
      return answer("1\n");  // it says that it is done, and is not
    }
    if (line.starts_with(":SYST:ERR?") && !has_erred) {
      has_erred = true;
      return answer("-221,\"Settings conflict\"\n");
    }
    return std::nullopt;
  };
  rig.fire(GainSetpoint{Db{-300}});
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().trouble == Trouble::refusing);
  CHECK_THAT(rig.driver->observe().fault, Catch::Contains("was set several times; it says -221 \"Settings conflict\""));
}

TEST_CASE("a_queue_of_errors_is_read_until_it_is_empty_and_its_newest_is_told") {
  Rig rig = stage_rig("scpi_voa");
  std::vector<std::string> queue{"-240,\"Hardware error\""};  // somebody else's, of long ago
  rig.wire = [&](const Transaction& each) -> std::optional<BusReply> {
    const auto& bytes = std::get<Frame>(each.order).request;
    const std::string line(bytes.begin(), bytes.end());
    const auto answer = [](std::string_view text) { return BusReply{BusStatus::ok, 0, {}, {text.begin(), text.end()}}; };
    if (line.starts_with(":INP1:ATT 3")) {
      queue.emplace_back("-222,\"Data out of range\"");
      return answer("1\n");
    }
    if (line.starts_with(":SYST:ERR?")) {
      const std::string first = queue.empty() ? "0,\"No error\"" : queue.front();
      queue.erase(queue.begin(), queue.begin() + (queue.empty() ? 0 : 1));
      return answer(first + "\n");
    }
    return std::nullopt;
  };
  rig.fire(GainSetpoint{Db{-300}});
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(rig.driver->observe().fault, Catch::Contains("it says -222 \"Data out of range\""));
  CHECK(queue.empty());
}

TEST_CASE("a_queue_that_never_ends_is_left_after_a_while") {
  Rig rig = stage_rig("scpi_voa");
  rig.wire = [](const Transaction& each) -> std::optional<BusReply> {
    const auto& bytes = std::get<Frame>(each.order).request;
    const std::string line(bytes.begin(), bytes.end());
    const std::string answer = line.starts_with(":SYST:ERR?") ? "-350,\"Queue overflow\"\n" : "1\n";
    return line.starts_with(":INP1:ATT 3") || line.starts_with(":SYST:ERR?")
               ? std::optional(BusReply{BusStatus::ok, 0, {}, {answer.begin(), answer.end()}})
               : std::nullopt;
  };
  rig.fire(GainSetpoint{Db{-300}});
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().trouble == Trouble::refusing);
}

TEST_CASE("what_a_stage_measures_of_its_light_has_the_last_word") {
  Rig rig = stage_rig("modbus_edfa");
  shine(rig, Dbm{-1'500});
  rig.fire(GainSetpoint{Db{1'000}});
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.driver->observe().proof == Proof::device);
  CHECK(seen_by(rig) == GainObservation{Db{1'000}, true, Dbm{-1'500}, Dbm{-550}});  // it inserts half a decibel
  const Element& element = rig.fabric.element(rig.fabric.device(rig.model->device()).elements.front());
  CHECK(gain_error(element, seen_by(rig), Db{1'000}) == Db{0});

  DeviceFault dim;
  dim.kind = DeviceFaultKind::dim;
  dim.loss = Db{400};
  rig.model->inject(rig.now, dim);
  rig.poll();
  CHECK(seen_by(rig).gain == Db{1'000});  // its registers say what it was told
  CHECK(gain_error(element, seen_by(rig), Db{1'000}) == Db{-400});
  rig.fire(GainSetpoint{Db{1'100}});
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(rig.driver->observe().fault, Catch::Contains("its light shows a gain of 7.00 dB, wanted 11.00 dB"));
}

TEST_CASE("light_too_weak_to_judge_by_proves_nothing") {
  Rig rig = stage_rig("modbus_voa");
  shine(rig, Dbm{-2'000});
  rig.fire(GainSetpoint{Db{-2'500}});  // leaves -45 dBm, and half a decibel
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.driver->observe().proof == Proof::assumed);
}

TEST_CASE("an_amplifiers_own_noise_beside_weak_light_is_no_fault_of_its_gain") {
  Element edfa;
  edfa.kind = Amplifier{};
  const GainObservation weak{Db{2'500}, true, Dbm{-2'001}, Dbm{720}};  // 2.2 dB of noise
  const GainObservation strong{Db{2'500}, true, Dbm{-2'000}, Dbm{720}};
  CHECK(gain_error(edfa, weak, Db{2'500}) == Db{0});
  CHECK(gain_error(edfa, strong, Db{2'500}) == Db{220});
  Element voa;
  voa.kind = Attenuator{};
  CHECK(gain_error(voa, {Db{-500}, true, Dbm{-2'500}, Dbm{-2'800}}, Db{-500}) == Db{200});
  CHECK(gain_error(voa, {Db{-500}, true, Dbm{-2'501}, Dbm{-2'801}}, Db{-500}) == Db{0});  // -30.01 dBm behind it
}

TEST_CASE("a_stage_that_lost_its_power_is_off") {
  Rig rig = stage_rig("scpi_edfa");
  rig.fire(GainSetpoint{Db{1'000}});
  DeviceFault reboot;
  reboot.kind = DeviceFaultKind::reboot;
  reboot.until = rig.now + milliseconds{1};
  rig.model->inject(rig.now, reboot);
  rig.now += milliseconds{2};
  rig.poll();
  CHECK(seen_by(rig).gain == kGainOff);
  CHECK(gain_of(rig) == kGainOff);
}

TEST_CASE("a_model_for_attenuators_refuses_an_amplifier") {
  const Fabric fabric = fabric_of_subjects();
  const Device& edfa = fabric.device(device_named(fabric, "edfa"));
  CHECK(kScpiVoa.model.refuse(fabric, edfa) == "edfa is an amplifier; a device of this kind drives an attenuator");
  CHECK(kScpiEdfa.model.refuse(fabric, edfa).empty());
  Device wordless = edfa;
  wordless.profile = {{"set_gain", std::string("GAIN")}};
  CHECK_THAT(kScpiEdfa.model.refuse(fabric, wordless), Catch::Contains("expected set_gain with {db}"));
}

}  // namespace
}  // namespace loom
