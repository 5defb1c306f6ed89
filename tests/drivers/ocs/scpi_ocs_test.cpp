// SPDX-License-Identifier: Apache-2.0
// The OCS driver against the OCS model.
#include "drivers/ocs/scpi_ocs.hpp"

#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

Rig ocs_rig(SimDeviceOptions options = {}, std::vector<DeviceSetting> profile = {}) {
  Fabric fabric = ocs_fabric();
  const DeviceId device = device_named(fabric, "ocs");
  fabric.devices[device.value].profile = std::move(profile);
  return Rig(std::move(fabric), device, options);
}

CircuitSwitchObservation seen(const Rig& rig) { return std::get<CircuitSwitchObservation>(rig.driver->observe().reading); }
OcsLight light(const Rig& rig) { return std::get<OcsLight>(rig.model->light(rig.now)); }

std::vector<std::string> lines(const Rig& rig, std::size_t from = 0) {
  std::vector<std::string> all;
  for (std::size_t i = from; i < rig.transactions.size(); ++i) {
    const auto& bytes = std::get<Frame>(rig.transactions[i].order).request;
    all.emplace_back(bytes.begin(), bytes.end() - 1);
  }
  return all;
}

std::optional<BusReply> says(const Transaction& transaction, std::string_view request, std::string_view answer) {
  const auto& bytes = std::get<Frame>(transaction.order).request;
  if (std::string(bytes.begin(), bytes.end() - 1) != request) {
    return std::nullopt;
  }
  return BusReply{BusStatus::ok, 0, {}, {answer.begin(), answer.end()}};
}

const CircuitSwitchSetpoint kTwo{{{0, 1}, {1, 0}}};

TEST_CASE("ocs_proves_its_silent_success_by_reading_back") {
  Rig rig = ocs_rig();
  rig.fire(kTwo);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig) == CircuitSwitchObservation{kTwo.connects, true});
  CHECK(light(rig) == OcsLight{kTwo.connects, {}});
  CHECK(lines(rig) == std::vector<std::string>{
                          "*idn?", ":oxc:swit:size?", ":oxc:swit:conn:stat?", ":oxc:swit:port:stat? (@1,2,5,6)", "*cls;*opc?",
                          ":oxc:swit:conn:add (@1,2),(@6,5);*opc?", ":syst:err:all?", ":oxc:swit:conn:stat?"});
}

TEST_CASE("ocs_writes_only_the_cross_connects_that_differ") {
  Rig rig = ocs_rig();
  rig.fire(kTwo);
  const std::size_t before = rig.transactions.size();
  const std::size_t changes = rig.light.changes().size();
  const CircuitSwitchSetpoint next{{{0, 1}, {1, 2}, {3, 0}}};
  rig.fire(next);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig).connects == next.connects);
  CHECK(lines(rig, before) == std::vector<std::string>{":oxc:swit:conn:stat?", ":oxc:swit:port:stat? (@1,2,4,5,6,7)",
                                                       "*cls;*opc?", ":oxc:swit:conn:sub (@2),(@5);*opc?",
                                                       ":oxc:swit:conn:add (@2,4),(@7,5);*opc?", ":syst:err:all?",
                                                       ":oxc:swit:conn:stat?"});
  for (std::size_t i = changes; i < rig.light.changes().size(); ++i) {  // the circuit that stays is lit throughout
    const auto& state = std::get<OcsLight>(rig.light.changes()[i].state);
    CHECK(std::find(state.connects.begin(), state.connects.end(), CrossConnect{0, 1}) != state.connects.end());
  }
}

TEST_CASE("ocs_second_fire_of_the_same_setpoint_writes_nothing") {
  Rig rig = ocs_rig();
  rig.fire(kTwo);
  const std::size_t before = rig.transactions.size();
  const std::size_t writes = rig.writes();
  rig.fire(kTwo);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines(rig, before) == std::vector<std::string>{":oxc:swit:conn:stat?"});
  CHECK(rig.writes() == writes);
}

TEST_CASE("ocs_is_not_settled_before_its_settle_time_whatever_the_map_says") {
  Rig rig = ocs_rig();
  rig.wire = [&](const Transaction& transaction) {  // a switch that lists what was commanded, not what is in place
    return rig.writes() > 0 ? says(transaction, ":oxc:swit:conn:stat?", "(@1,2),(@6,5)\n") : std::nullopt;
  };
  rig.fire(kTwo);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig).moving.empty());
}

TEST_CASE("ocs_that_settles_slowly_is_waited_for") {
  Rig rig = ocs_rig();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::slow_settle, .factor = 8});
  rig.fire(kTwo);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig) == OcsLight{kTwo.connects, {}});
  CHECK(rig.writes() == 2);
}

TEST_CASE("ocs_that_lost_what_a_change_keeps_moves_nothing_before_that_was_told") {
  Rig rig = ocs_rig();
  rig.fire(kTwo);
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});
  const std::size_t writes = rig.writes();
  const CircuitSwitchSetpoint next{{{0, 1}, {1, 0}, {3, 2}}};
  rig.fire(next);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault ==
        "ocs: input 0 reads nothing, held output 1 before (did its power go?); nothing was moved: light may enter it still");
  CHECK(seen(rig).connects.empty());
  CHECK(rig.writes() == writes);
  rig.fire(next);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig).connects == next.connects);
}

/// Nobody has seen to the light of a loss that nobody was told of, and light may enter a switch that moves back, too.
TEST_CASE("ocs_that_lost_what_it_held_reports_that_once_before_it_is_set_to_the_same_again") {
  Rig rig = ocs_rig();
  rig.fire(kTwo);
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});
  const std::size_t writes = rig.writes();
  SECTION("found by the change: it is refused, the next one is carried out") {
    rig.fire(kTwo);
    CHECK(rig.driver->activity() == DriverActivity::failed);
    CHECK_THAT(rig.driver->observe().fault, Catch::Contains("input 0 reads nothing, held output 1 before"));
  }
  SECTION("found by an audit: the next change is carried out") {
    rig.poll();
    CHECK(rig.driver->activity() == DriverActivity::idle);
    CHECK(rig.driver->observe().fault.empty());
  }
  CHECK(seen(rig).connects.empty());
  CHECK(rig.writes() == writes);
  rig.fire(kTwo);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig).connects == kTwo.connects);
  CHECK(rig.writes() > writes);
}

TEST_CASE("ocs_that_is_wholly_ours_takes_away_what_somebody_else_connected") {
  Rig rig = ocs_rig({}, {{"foreign", std::int64_t{1}}});
  rig.fire(kTwo);
  const std::string foreign = ":oxc:swit:conn:only (@1,3),(@6,8);*opc?\n";
  rig.now +=
      rig.model->execute(rig.now, {rig.model->device(), 1, Frame{{foreign.begin(), foreign.end()}, 0, "\n"}, milliseconds{500}})
          .service_time +
      milliseconds{25};
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  CHECK(seen(rig).connects == std::vector<CrossConnect>{{0, 1}, {2, 3}});
  rig.fire(kTwo);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig).connects == kTwo.connects);
}

TEST_CASE("ocs_check_names_the_limit") {
  Rig rig = ocs_rig();
  const auto check = [&](const CircuitSwitchSetpoint& setpoint) { return rig.driver->check(setpoint).error(); };
  CHECK(check({{{0, 4}}}).message == "ocs: input 0 to output 4: limit 4 inputs, 4 outputs");
  CHECK(check({{{0, 2}, {1, 2}}}).message == "ocs: input 1 to output 2: the output is taken by input 0");
  CHECK(check({{{1, 2}, {0, 1}}}).code == ErrorCode::invalid_argument);
  CHECK(rig.driver->check(WavelengthSwitchSetpoint{}).error().code == ErrorCode::unsupported);
}

TEST_CASE("ocs_that_ignores_its_commands_is_found_out") {
  Rig rig = ocs_rig();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::stick});
  rig.fire(kTwo);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault == "ocs: input 0 reads nothing, wanted output 1, set 3 times");
}

TEST_CASE("ocs_faults_carry_what_the_error_queue_says") {
  Rig rig = ocs_rig();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::fail});
  rig.fire(kTwo);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault ==
        "ocs: input 0 reads nothing, wanted output 1, set 3 times; the switch says -240 \"Hardware error\"");
}

TEST_CASE("ocs_errors_of_somebody_else_are_forgotten_before_the_first_write") {
  Rig rig = ocs_rig();
  const std::string nonsense = ":oxc:nonsense\n";
  rig.model->execute(rig.now, {rig.model->device(), 1, Frame{{nonsense.begin(), nonsense.end()}, 0, ""}, milliseconds{500}});
  rig.fire(kTwo);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.driver->observe().fault.empty());
}

TEST_CASE("ocs_of_another_vendor_or_size_is_refused_by_name_and_never_written") {
  Rig rig = ocs_rig();
  rig.wire = [](const Transaction& transaction) { return says(transaction, "*idn?", "ACME,X1,7,1.0\n"); };
  rig.fire(kTwo);
  CHECK(rig.driver->observe().fault == "ocs: is \"ACME,X1,7,1.0\", wanted a switch of Polatis");
  rig.wire = [](const Transaction& transaction) { return says(transaction, ":oxc:swit:size?", "8,8\n"); };
  rig.fire(kTwo);
  CHECK(rig.driver->observe().fault == "ocs: has 8 inputs and 8 outputs, the fabric says 4 and 4");
  CHECK(rig.writes() == 0);
}

TEST_CASE("ocs_newer_fire_overtakes_and_nothing_is_left_of_the_older") {
  for (std::size_t place = 1; place < 10; ++place) {
    INFO("overtaken after exchange " << place);
    Rig rig = ocs_rig();
    rig.driver->stage(kTwo);
    rig.driver->fire();
    rig.run([&] { return rig.transactions.size() == place; });
    rig.fire(CircuitSwitchSetpoint{{{0, 3}, {2, 1}}});
    REQUIRE(rig.driver->activity() == DriverActivity::settled);
    CHECK(light(rig) == OcsLight{{{0, 3}, {2, 1}}, {}});
  }
}

}  // namespace
}  // namespace loom
