// SPDX-License-Identifier: Apache-2.0
// The WSS driver against the WSS model.
#include "drivers/wss/lcos_wss.hpp"

#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

constexpr FrequencySlot kSlots[] = {{-272, 8}, {-256, 8}, {-240, 8}, {-224, 8}};

Rig wss_rig(const char* name = "wss-out-0", SimDeviceOptions options = {}) {
  Fabric fabric = small_fabric();
  const DeviceId device = device_named(fabric, name);
  return Rig(std::move(fabric), device, options);
}

WavelengthSwitchObservation seen(const Rig& rig) {
  return std::get<WavelengthSwitchObservation>(rig.driver->observe().reading);
}
WssLight light(const Rig& rig, Instant at) { return std::get<WssLight>(rig.model->light(at)); }

/// What was said from there on, without frames.
std::vector<std::string> lines(const Rig& rig, std::size_t from = 0) {
  std::vector<std::string> all;
  for (std::size_t i = from; i < rig.transactions.size(); ++i) {
    const auto& bytes = std::get<Frame>(rig.transactions[i].order).request;
    const std::string line(bytes.begin(), bytes.end() - 2);
    all.emplace_back(flexgrid::unframe(line).value_or("damaged"));
  }
  return all;
}

/// Somebody else says it to the device.
void say(Rig& rig, const std::string& text) {
  const std::string line = flexgrid::frame(false, text);
  rig.model->execute(rig.now,
                     {rig.driver->observe().device, 1, Frame{{line.begin(), line.end()}, 0, "\r\n"}, Duration{1'000'000'000}});
}

/// Brings the setpoint into the device unseen, as a commit does before its instant.
void prepare(Rig& rig, const Setpoint& setpoint) {
  REQUIRE(rig.driver->check(setpoint).has_value());
  rig.driver->stage(setpoint);
  rig.driver->prepare();
  rig.run();
}

using Lines = std::vector<std::string>;
const WavelengthSwitchSetpoint kTwoRoutes{{{kSlots[0], 0, 1, Db{0}}, {kSlots[2], 0, 0, Db{120}}}};
const WavelengthSwitchSetpoint kOther{{{kSlots[0], 0, 1, Db{0}}, {kSlots[1], 0, 0, Db{0}}}};
const std::string kComb = "1=5:20;2=21:36;3=37:52;4=53:68;5=772:772";

TEST_CASE("wss_asks_how_wide_its_slices_are_defines_its_comb_once_and_routes") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig).routes == kTwoRoutes.routes);
  CHECK(seen(rig).settled);
  CHECK(rig.driver->observe().proof == Proof::assumed);  // nothing looked at the light
  CHECK(light(rig, rig.now).routes == kTwoRoutes.routes);
  CHECK(light(rig, rig.now).moving.empty());
  CHECK(lines(rig) == Lines{"DCC?", "RRA?", "CHW 0", "DCC 1=387:387", "DCC " + kComb, "DCC?", "RRA?",
                            "URA 1,2,0.0;2,99,99.9;3,1,1.2;4,99,99.9;5,99,99.9", "RSW", "RRA?", "OSS?"});
}

TEST_CASE("wss_switches_at_once_to_what_it_was_made_to_hold_ready") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  std::size_t before = rig.transactions.size();
  const Instant read_before = rig.driver->observe().read_at;
  prepare(rig, kOther);
  CHECK(lines(rig, before) == Lines{"DCC?", "RRA?", "URA 1,2,0.0;2,1,0.0;3,99,99.9;4,99,99.9;5,99,99.9"});  // all is read now
  CHECK(rig.driver->observe().read_at > read_before);
  CHECK(rig.driver->activity() == DriverActivity::settled);  // what was proven still is
  CHECK(light(rig, rig.now).routes == kTwoRoutes.routes);
  rig.poll();  // an audit between them takes nothing away
  CHECK(rig.driver->activity() == DriverActivity::settled);
  before = rig.transactions.size();
  const Instant fired = rig.now;
  rig.fire(kOther);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines(rig, before) == Lines{"RSW", "RRA?", "OSS?"});  // what it took is read while it moves
  CHECK(rig.now - fired >= std::chrono::milliseconds{100});   // the worst settling time: nothing tells a better one
  CHECK(light(rig, rig.now).routes == kOther.routes);
}

TEST_CASE("wss_that_passes_no_light_gets_its_grid_before_it_fires") {
  Rig rig = wss_rig();
  prepare(rig, kTwoRoutes);
  CHECK(lines(rig) == Lines{"DCC?", "RRA?", "CHW 0", "DCC 1=387:387", "DCC " + kComb, "DCC?", "RRA?",
                            "URA 1,2,0.0;2,99,99.9;3,1,1.2;4,99,99.9;5,99,99.9"});
  CHECK(light(rig, rig.now).routes.empty());
  CHECK(light(rig, rig.now).moving.empty());
  CHECK(seen(rig).settled);
  CHECK_FALSE(rig.driver->preparation_failed());
  std::size_t before = rig.transactions.size();
  rig.driver->withdraw();  // of a revision that is given up; the grid may stay
  rig.run();
  CHECK(lines(rig, before) == Lines{"URA 1,99,99.9;2,99,99.9;3,99,99.9;4,99,99.9;5,99,99.9"});
  prepare(rig, kTwoRoutes);
  before = rig.transactions.size();
  rig.fire(kTwoRoutes);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines(rig, before) == Lines{"RSW", "RRA?", "OSS?"});
  CHECK(light(rig, rig.now).routes == kTwoRoutes.routes);
}

TEST_CASE("wss_that_may_still_close_gets_no_grid_before_it_has") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  const Instant closing = rig.now;
  say(rig, "URA 1,99,99.9;2,99,99.9;3,99,99.9;4,99,99.9;5,99,99.9");  // somebody else
  say(rig, "RSW");
  const std::size_t before = rig.transactions.size();
  std::optional<Instant> defined;
  rig.wire = [&](const Transaction&) -> std::optional<BusReply> {
    if (!defined && lines(rig, before).back().starts_with("DCC 1=7:14")) {
      defined = rig.now;
    }
    return std::nullopt;
  };
  prepare(rig, WavelengthSwitchSetpoint{{{{-274, 4}, 0, 1, Db{0}}}});
  REQUIRE(defined);
  CHECK(*defined - closing >= std::chrono::milliseconds{100});  // it has closed
  CHECK(rig.now - *defined >= std::chrono::milliseconds{100});  // and the grid stands
}

TEST_CASE("wss_whose_grid_cannot_be_defined_says_so_before_anything_moves") {
  Rig rig = wss_rig();
  rig.wire = [](const Transaction& transaction) {
    const auto& request = std::get<Frame>(transaction.order).request;
    const std::string line(request.begin(), request.end());
    return line.contains("DCC 1=5") ? std::optional(BusReply{BusStatus::ok, 0, {}, {'R', 'E', 'R', '\r', '\n'}}) : std::nullopt;
  };
  prepare(rig, kTwoRoutes);
  CHECK(rig.driver->preparation_failed());
  CHECK(light(rig, rig.now).routes.empty());
}

TEST_CASE("wss_overwrites_what_is_not_to_be_shown") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  prepare(rig, kOther);
  const std::size_t before = rig.transactions.size();
  rig.driver->withdraw();
  rig.run();
  CHECK(lines(rig, before) == Lines{"URA 1,2,0.0;2,99,99.9;3,1,1.2;4,99,99.9;5,99,99.9"});
  CHECK(rig.driver->activity() == DriverActivity::settled);
  rig.driver->withdraw();  // once is enough
  rig.run();
  rig.fire(kOther);
  CHECK(lines(rig, before + 1) == Lines{"URA 1,2,0.0;2,1,0.0;3,99,99.9;4,99,99.9;5,99,99.9", "RSW", "RRA?", "OSS?"});
}

TEST_CASE("wss_never_shows_what_another_connection_prepared") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  prepare(rig, kOther);
  ++rig.connection;
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::late, .until = rig.now});
  const std::size_t before = rig.transactions.size();
  rig.fire(kOther);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines(rig, before) == Lines{"RSW", "RRA?", "URA 1,2,0.0;2,1,0.0;3,99,99.9;4,99,99.9;5,99,99.9", "RSW", "RRA?", "OSS?"});
  CHECK(light(rig, rig.now).routes == kOther.routes);
}

TEST_CASE("wss_that_cannot_be_prepared_says_so_before_anything_moves") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  rig.wire = [](const Transaction&) { return bus_reply(BusStatus::timeout); };
  prepare(rig, kOther);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault == "wss-out-0: \"DCC?\": no answer within 500.000 ms in 4 tries");
  CHECK(light(rig, rig.now).routes == kTwoRoutes.routes);
}

TEST_CASE("wss_second_fire_of_the_same_setpoint_writes_nothing") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  const std::size_t before = rig.transactions.size();
  rig.fire(kTwoRoutes);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines(rig, before) == Lines{"OSS?", "RRA?"});
}

TEST_CASE("wss_defines_a_new_grid_when_a_width_changes_and_the_old_one_when_it_is_gone") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  std::size_t before = rig.transactions.size();
  const WavelengthSwitchSetpoint narrow{{{{-274, 4}, 0, 1, Db{0}}, {kSlots[2], 0, 0, Db{120}}}};
  prepare(rig, narrow);
  CHECK(lines(rig, before) == Lines{"DCC?", "RRA?"});  // nothing can be prepared for a grid that is not there
  before = rig.transactions.size();
  rig.fire(narrow);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig).routes == narrow.routes);
  CHECK(lines(rig, before)[1] == "DCC 1=7:14;2=21:36;3=37:52;4=53:68;5=772:772");
  before = rig.transactions.size();
  rig.fire(WavelengthSwitchSetpoint{{{kSlots[2], 0, 0, Db{120}}}});  // the grid would do, but whoever plans counts on the comb
  CHECK(lines(rig, before)[1] == "DCC " + kComb);
}

TEST_CASE("wss_does_not_disturb_circuits_that_stay_by_a_grid_that_nobody_expects") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  say(rig, "DCC 1=5:20;2=37:52;3=772:772");  // somebody else, who leaves the routes as they were
  say(rig, "UCA 1,2,0.0;2,1,1.2");
  rig.now += std::chrono::seconds{1};
  rig.poll();
  CHECK(seen(rig).routes == kTwoRoutes.routes);
  rig.fire(kTwoRoutes);  // it will do
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  WavelengthSwitchSetpoint more = kTwoRoutes;
  more.routes.push_back({kSlots[3], 0, 1, Db{0}});
  rig.fire(more);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(
      rig.driver->observe().fault ==
      "wss-out-0: its channel grid is not the one that its routes were defined with, and a new one would disturb circuits that "
      "stay; nothing was moved: who defined it?");
  CHECK(light(rig, rig.now).routes == kTwoRoutes.routes);
  rig.fire(WavelengthSwitchSetpoint{});
  rig.fire(more);
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("wss_of_wide_slices_is_found_out_and_driven_in_its_own_numbers") {
  SimDeviceOptions options;
  options.wss_slices = 386;
  Rig rig = wss_rig("wss-out-0", options);
  rig.fire(kTwoRoutes);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig, rig.now).routes == kTwoRoutes.routes);
  CHECK(lines(rig)[4] == "DCC 1=3:10;2=11:18;3=19:26;4=27:34;5=386:386");
  const auto odd = rig.driver->check(WavelengthSwitchSetpoint{{{{-273, 4}, 0, 0, Db{0}}}});
  REQUIRE_FALSE(odd.has_value());
  CHECK(odd.error().message == "wss-out-0 slot n=-273 m=4: its edges do not lie on this device's slices of 12.5 GHz");
  rig.driver = make_driver(rig.fabric, rig.driver->observe().device);  // a new process reads it from the grid
  rig.poll();
  CHECK(seen(rig).routes == kTwoRoutes.routes);
}

TEST_CASE("wss_of_wide_slices_that_cannot_hold_a_route_refuses_it_once_it_is_known") {
  SimDeviceOptions options;
  options.wss_slices = 386;
  Rig rig = wss_rig("wss-out-0", options);
  rig.fire(WavelengthSwitchSetpoint{{{{-273, 4}, 0, 0, Db{0}}}});
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault == "wss-out-0: its slices are 12.5 GHz wide, and the edges of a route do not lie on them");
  CHECK(light(rig, rig.now).routes.empty());
}

TEST_CASE("wss_that_knows_no_frames_is_spoken_to_plainly") {
  Rig rig = wss_rig();
  rig.wire = [](const Transaction& transaction) -> std::optional<BusReply> {
    const auto& request = std::get<Frame>(transaction.order).request;
    return request.front() == '^' ? std::optional(BusReply{BusStatus::ok, 0, {}, {'C', 'E', 'R', '\r', '\n'}}) : std::nullopt;
  };
  rig.fire(kTwoRoutes);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig, rig.now).routes == kTwoRoutes.routes);
}

TEST_CASE("wss_says_who_it_is_a_word_an_audit") {
  Rig rig = wss_rig();
  for (const char* question : {"SNO?", "HWR?", "FWR?", "SUS?"}) {
    const std::size_t before = rig.transactions.size();
    rig.poll();
    CHECK(lines(rig, before) == Lines{"DCC?", "RRA?", question, "OSS?"});
  }
  CHECK(rig.driver->observe().identity.serial.starts_with("SN"));
  CHECK(rig.driver->observe().identity.description == "hardware simulated, firmware simulated, starts SAB");
  const std::size_t before = rig.transactions.size();
  rig.poll();
  CHECK(lines(rig, before) == Lines{"DCC?", "RRA?", "OSS?"});
}

TEST_CASE("wss_that_may_still_move_from_an_earlier_life_is_waited_for_before_it_is_proven") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  rig.driver = make_driver(rig.fabric, rig.driver->observe().device);
  const Instant begun = rig.now;
  rig.fire(kTwoRoutes);
  CHECK(rig.now - begun >= std::chrono::milliseconds{100});
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("wss_untouched_channels_stay_lit_while_others_move") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  rig.driver->stage(WavelengthSwitchSetpoint{{{kSlots[0], 0, 0, Db{0}}, {kSlots[2], 0, 0, Db{120}}}});
  rig.driver->fire();
  rig.run([&] { return lines(rig).back() == "RSW"; });
  const WssLight moving = light(rig, rig.now + std::chrono::milliseconds{1});
  CHECK(moving.routes == std::vector<WssRoute>{{kSlots[2], 0, 0, Db{170}}});  // 1.2 dB and the dip of 0.5 dB
  CHECK(moving.moving == std::vector<WssRoute>{{kSlots[0], 0, 0, Db{0}}, {kSlots[0], 0, 1, Db{0}}});
  rig.run();
  CHECK(light(rig, rig.now).moving.empty());
}

TEST_CASE("wss_that_lost_what_a_change_keeps_moves_nothing_before_that_was_told") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});
  WavelengthSwitchSetpoint next = kTwoRoutes;
  next.routes.push_back({kSlots[3], 0, 1, Db{0}});
  rig.fire(next);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault.find("which it held at port") != std::string::npos);
  CHECK(light(rig, rig.now).routes.empty());
  CHECK(std::get<WavelengthSwitchObservation>(rig.driver->observe().reading).routes.empty());  // the reading tells what is left
  rig.fire(next);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig, rig.now).routes == next.routes);
}

TEST_CASE("wss_turned_around_numbers_its_ports_by_input") {
  Rig rig = wss_rig("wss-in-1");
  const WavelengthSwitchSetpoint setpoint{{{kSlots[0], 1, 0, Db{0}}, {kSlots[1], 0, 0, Db{0}}}};
  rig.fire(setpoint);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig).routes == setpoint.routes);
  CHECK(light(rig, rig.now).routes == setpoint.routes);
  const auto clash = rig.driver->check(WavelengthSwitchSetpoint{{{kSlots[0], 0, 0, Db{0}}, {kSlots[0], 1, 0, Db{0}}}});
  REQUIRE_FALSE(clash.has_value());
  CHECK(clash.error().code == ErrorCode::conflict);
}

TEST_CASE("wss_check_names_the_limit") {
  Rig rig = wss_rig();
  const auto check = [&](WssRoute route) { return rig.driver->check(WavelengthSwitchSetpoint{{route}}).error().message; };
  CHECK(check({kSlots[0], 0, 2, Db{0}}) ==
        "wss-out-0 slot n=-272 m=8: input 0 to output 2, limit 1 inputs, 2 outputs, port numbers below 99");
  CHECK(check({{-290, 8}, 0, 0, Db{0}}) ==
        "wss-out-0 slot n=-290 m=8: outside the window of 191.32500 THz and 772 slices of 6.25 GHz");
  CHECK(check({kSlots[0], 0, 0, Db{1'600}}) == "wss-out-0 slot n=-272 m=8: attenuation 16.0 dB, limit 15.0 dB");
  CHECK(rig.driver->check(WavelengthSwitchSetpoint{{{kSlots[1], 0, 0, Db{0}}, {kSlots[0], 0, 0, Db{0}}}}).error().code ==
        ErrorCode::invalid_argument);
  CHECK(rig.driver->check(WavelengthSwitchSetpoint{{{kSlots[0], 0, 0, Db{0}}, {{-264, 4}, 0, 0, Db{0}}}}).error().code ==
        ErrorCode::conflict);
}

TEST_CASE("wss_that_ignores_its_commands_is_found_out") {
  Rig rig = wss_rig();
  rig.fire(WavelengthSwitchSetpoint{});
  rig.fire(kTwoRoutes);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::stick});
  rig.fire(WavelengthSwitchSetpoint{{{kSlots[1], 0, 1, Db{0}}}});
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault == "wss-out-0: channel 1 reads port 2, wanted 99, set 3 times");
}

TEST_CASE("wss_error_replies_are_named") {
  Rig rig = wss_rig();
  rig.wire = [](const Transaction&) { return BusReply{BusStatus::ok, 0, {}, {'R', 'E', 'R', '\r', '\n'}}; };
  rig.fire(kTwoRoutes);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault == "wss-out-0: \"DCC?\": refused with RER (out of range)");
}

TEST_CASE("wss_whose_status_is_not_nought_never_settles") {
  Rig rig = wss_rig();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::fail});
  rig.fire(kTwoRoutes);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault ==
        "wss-out-0: its operation status (OSS?) is 0x8000; if that means no trouble, say ignored_status: 32768 in its profile");
}

}  // namespace
}  // namespace loom
