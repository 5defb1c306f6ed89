// The WSS driver against the WSS model.
#include "drivers/wss/lcos_wss.hpp"

#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

constexpr FrequencySlot kSlots[] = {{-272, 8}, {-256, 8}, {-240, 8}, {-224, 8}};

Rig wss_rig(const char* name = "wss-out-0", SimDeviceOptions options = {}) {
  Fabric fabric = std::string_view(name) == "wss-2x2" ? pair_fabric() : small_fabric();
  const DeviceId device = device_named(fabric, name);
  return Rig(std::move(fabric), device, options);
}

WavelengthSwitchObservation seen(const Rig& rig) {
  return std::get<WavelengthSwitchObservation>(rig.driver->observe().reading);
}
WssLight light(const Rig& rig, Instant at) { return std::get<WssLight>(rig.model->light(at)); }

std::vector<std::string> lines(const Rig& rig, std::size_t from = 0) {
  std::vector<std::string> all;
  for (std::size_t i = from; i < rig.transactions.size(); ++i) {
    const auto& bytes = std::get<Frame>(rig.transactions[i].order).request;
    const std::string line(bytes.begin(), bytes.end() - 2);
    if (all.empty() || all.back() != line || line != "SET?") {
      all.push_back(line);
    }
  }
  return all;
}

const WavelengthSwitchSetpoint kTwoRoutes{{{kSlots[0], 0, 1, Db{0}}, {kSlots[2], 0, 0, Db{120}}}};

TEST_CASE("wss_defines_its_comb_once_and_routes") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig).routes == kTwoRoutes.routes);
  CHECK(seen(rig).settled);
  CHECK(light(rig, rig.now).routes == kTwoRoutes.routes);
  CHECK(light(rig, rig.now).moving.empty());
  CHECK(lines(rig) == std::vector<std::string>{"DCC?", "CHW 0", "DCC 1=5:20;2=21:36;3=37:52;4=53:68", "DCC?", "UCA?",
                                               "UCA 1,2,0.0;3,1,1.2", "SET?", "UCA?"});
}

TEST_CASE("wss_moves_only_the_channels_that_differ") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  const std::size_t before = rig.transactions.size();
  rig.fire(WavelengthSwitchSetpoint{{{kSlots[0], 0, 1, Db{0}}, {kSlots[1], 0, 0, Db{0}}}});
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines(rig, before) == std::vector<std::string>{"UCA 2,1,0.0;3,99,99.9", "SET?", "UCA?"});
}

TEST_CASE("wss_second_fire_of_the_same_setpoint_writes_nothing") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  const std::size_t before = rig.transactions.size();
  rig.fire(kTwoRoutes);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines(rig, before) == std::vector<std::string>{"SET?", "UCA?"});
}

TEST_CASE("wss_rebuilds_its_grid_when_a_width_changes") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  const std::size_t before = rig.writes();
  const WavelengthSwitchSetpoint narrow{{{{-274, 4}, 0, 1, Db{0}}, {kSlots[2], 0, 0, Db{0}}}};
  rig.fire(narrow);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig).routes == narrow.routes);
  CHECK(rig.model->actuations()[before].address == 0);
}

TEST_CASE("wss_is_settled_on_the_report_and_never_on_time_alone") {
  Rig rig = wss_rig();
  rig.wire = [](const Transaction& transaction) -> std::optional<BusReply> {
    const auto& request = std::get<Frame>(transaction.order).request;
    if (std::string(request.begin(), request.end()) != "SET?\r\n") {
      return std::nullopt;
    }
    BusReply reply;
    for (const char character : std::string_view("SET 0\r\n")) {
      reply.bytes.push_back(static_cast<std::uint8_t>(character));
    }
    return reply;
  };
  rig.fire(kTwoRoutes);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault == "wss-out-0: SET? still says moving, limit 400.000 ms");
  CHECK_FALSE(seen(rig).settled);
}

TEST_CASE("wss_untouched_channels_stay_lit_while_others_move") {
  Rig rig = wss_rig();
  rig.fire(kTwoRoutes);
  rig.driver->stage(WavelengthSwitchSetpoint{{{kSlots[0], 0, 0, Db{0}}, {kSlots[2], 0, 0, Db{120}}}});
  rig.driver->fire();
  rig.run([&] { return lines(rig).back().starts_with("UCA 1,"); });
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

TEST_CASE("wss_of_pairs_sends_one_slot_two_ways") {
  Rig rig = wss_rig("wss-2x2");
  const WavelengthSwitchSetpoint crossed{{{kSlots[0], 0, 1, Db{0}}, {kSlots[0], 1, 0, Db{0}}}};
  rig.fire(crossed);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig, rig.now).routes == crossed.routes);
  CHECK(rig.driver->check(WavelengthSwitchSetpoint{{{kSlots[0], 0, 1, Db{0}}, {kSlots[0], 1, 1, Db{0}}}}).error().code ==
        ErrorCode::conflict);
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

TEST_CASE("wss_dead_optics_never_settle") {
  Rig rig = wss_rig();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::fail});
  rig.fire(kTwoRoutes);
  CHECK(rig.driver->activity() == DriverActivity::failed);
}

}  // namespace
}  // namespace loom
