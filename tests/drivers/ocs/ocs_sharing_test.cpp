// SPDX-License-Identifier: Apache-2.0
// A circuit switch that is shared: a rectangle of its ports is ours, and others connect what they like, there and outside.
#include <set>

#include "core/fabric/occupied_ports.hpp"
#include "drivers/ocs/scpi_ocs.hpp"
#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using Connects = std::vector<CrossConnect>;

/// Inputs 5 to 8 and outputs 3 to 6 (its own 15 to 18) of a switch of 12 x 8, in whatever dialect.
std::vector<DeviceSetting> rectangle_of(std::string_view model) {
  const bool is_calient = model == "calient_tl1";
  return {{"first_input", std::int64_t{is_calient ? 10'005 : 5}},
          {"first_output", std::int64_t{is_calient ? 20'003 : 15}},
          {"size", std::string("12x8")}};
}

/// Ours to ours (2 -> 3), ours to theirs (input 0), theirs to ours (output 1), theirs to theirs; from 0 on the whole switch.
const Connects kOthers{{0, 0}, {2, 3}, {4, 7}, {6, 5}};
const Connects kOccupied{{0, kPortElsewhere}, {2, 3}, {kPortElsewhere, 1}};

struct Shared {
  Rig rig;

  explicit Shared(std::string model, std::vector<DeviceSetting> more = {}, SimDeviceOptions options = {})
      : rig(make(std::move(model), std::move(more), std::move(options))) {}

  static Rig make(std::string model, std::vector<DeviceSetting> more, SimDeviceOptions options) {
    Fabric fabric = ocs_fabric();
    const DeviceId device = device_named(fabric, "ocs");
    Device& row = fabric.devices[device.value];
    row.profile = rectangle_of(model);
    row.profile.insert(row.profile.end(), more.begin(), more.end());
    row.model = std::move(model);
    options.ocs.occupied = kOthers;
    return Rig(std::move(fabric), device, options);
  }

  CircuitSwitchObservation seen() const { return std::get<CircuitSwitchObservation>(rig.driver->observe().reading); }
  Connects light() const { return std::get<OcsLight>(rig.model->light(rig.now)).connects; }
  std::string fault() const { return rig.driver->observe().fault; }
  /// Of the whole switch from 0, that anybody touched.
  std::set<std::uint32_t> touched() const {
    std::set<std::uint32_t> inputs;
    for (const Actuation& each : rig.model->actuations()) {
      inputs.insert(each.address);
    }
    return inputs;
  }
};

const char* const kModels[] = {"ocs", "polatis_tl1", "calient_tl1"};

TEST_CASE("what others connected on a shared switch is reported as occupied and stays") {
  for (const char* model : kModels) {
    INFO(model);
    Shared shared(model);
    shared.rig.fire(CircuitSwitchSetpoint{{{1, 0}, {3, 2}}});
    CHECK(shared.fault().empty());
    REQUIRE(shared.rig.driver->activity() == DriverActivity::settled);
    CHECK(shared.seen() == CircuitSwitchObservation{{{1, 0}, {3, 2}}, true, kOccupied, {}});
    CHECK(shared.light() == Connects{{1, 0}, {2, 3}, {3, 2}});
    shared.rig.fire(CircuitSwitchSetpoint{});
    REQUIRE(shared.rig.driver->activity() == DriverActivity::settled);
    CHECK(shared.seen() == CircuitSwitchObservation{{}, true, kOccupied, {}});
    CHECK(shared.light() == Connects{{2, 3}});
    CHECK(shared.touched() == std::set<std::uint32_t>{5, 7});  // inputs 1 and 3 of ours, and nobody else's
  }
}

TEST_CASE("a port that somebody else connected is named, and nothing is moved for it") {
  for (const char* model : kModels) {
    INFO(model);
    Shared shared(model);
    shared.rig.fire(CircuitSwitchSetpoint{{{1, 0}, {2, 2}}});
    CHECK(shared.rig.driver->activity() == DriverActivity::failed);
    CHECK(shared.fault() ==
          "ocs: input 2 is connected to output 3 by somebody else; disconnect it there, or set foreign: remove in its profile");
    shared.rig.fire(CircuitSwitchSetpoint{{{0, 0}}});
    CHECK(shared.fault() == "ocs: input 0 is connected to a port that is none of ours; disconnect it there");
    shared.rig.fire(CircuitSwitchSetpoint{{{1, 1}}});
    CHECK(shared.fault() == "ocs: output 1 is connected to a port that is none of ours; disconnect it there");
    CHECK(shared.rig.writes() == 0);
  }
}

TEST_CASE("with foreign: remove a connection between ports of ours goes, and one that leaves them stays") {
  for (const char* model : kModels) {
    INFO(model);
    Shared shared(model, {{"foreign", std::int64_t{1}}});
    shared.rig.fire(CircuitSwitchSetpoint{{{2, 2}}});
    CHECK(shared.fault().empty());
    REQUIRE(shared.rig.driver->activity() == DriverActivity::settled);
    CHECK(shared.seen() == CircuitSwitchObservation{{{2, 2}}, true, {{0, kPortElsewhere}, {kPortElsewhere, 1}}, {}});
    CHECK(shared.touched() == std::set<std::uint32_t>{6});
  }
}

TEST_CASE("a connection that the plan names and that is there is ours from then on") {
  Shared shared("ocs");
  shared.rig.fire(CircuitSwitchSetpoint{{{2, 3}}});
  REQUIRE(shared.rig.driver->activity() == DriverActivity::settled);
  CHECK(shared.rig.writes() == 0);
  CHECK(shared.seen().connects == Connects{{2, 3}});
  shared.rig.fire(CircuitSwitchSetpoint{});
  CHECK(shared.light().empty());
}

TEST_CASE("a driver that begins anew takes away what an earlier plan set, and nothing else") {
  Shared shared("ocs");
  shared.rig.fire(CircuitSwitchSetpoint{{{1, 0}}});
  shared.rig.driver = make_driver(shared.rig.fabric, shared.rig.model->device());
  shared.rig.poll();
  CHECK(shared.seen().connects.empty());
  CHECK(shared.seen().occupied == Connects{{0, kPortElsewhere}, {1, 0}, {2, 3}, {kPortElsewhere, 1}});
  const std::vector<Setpoint> held{CircuitSwitchSetpoint{{{1, 0}}}};
  shared.rig.driver->may_hold(held);
  shared.rig.fire(CircuitSwitchSetpoint{{{3, 0}}});
  CHECK(shared.fault().empty());
  REQUIRE(shared.rig.driver->activity() == DriverActivity::settled);
  CHECK(shared.light() == Connects{{2, 3}, {3, 0}});
}

TEST_CASE("what we took away and somebody else connects again is his") {
  Shared shared("ocs");
  shared.rig.fire(CircuitSwitchSetpoint{{{1, 0}}});
  shared.rig.fire(CircuitSwitchSetpoint{});
  const std::string line = ":oxc:swit:conn:add (@6),(@15)\n";  // the same ports
  shared.rig.model->execute(shared.rig.now,
                            {shared.rig.model->device(), 1, Frame{{line.begin(), line.end()}, 0, ""}, milliseconds{500}});
  shared.rig.now += milliseconds{100};
  shared.rig.poll();
  CHECK(shared.seen().connects.empty());
  CHECK(shared.seen().occupied == Connects{{0, kPortElsewhere}, {1, 0}, {2, 3}, {kPortElsewhere, 1}});
  CHECK(shared.rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("what a switch that was ill lists again when it is well is ours to take away, as before") {
  for (const char* model : kModels) {
    INFO(model);
    Shared shared(model);
    shared.rig.fire(CircuitSwitchSetpoint{{{1, 0}}});
    const Instant well_at = shared.rig.now + milliseconds{500};
    shared.rig.model->inject(shared.rig.now, {.kind = DeviceFaultKind::fail, .until = well_at});
    shared.rig.poll();  // lists nothing
    shared.rig.fire(CircuitSwitchSetpoint{});
    CHECK(shared.rig.writes() == 1);
    shared.rig.now = std::max(shared.rig.now, well_at);
    shared.rig.poll();
    CHECK(shared.seen().connects == Connects{{1, 0}});
    CHECK(shared.seen().occupied == kOccupied);
    shared.rig.fire(CircuitSwitchSetpoint{});
    REQUIRE(shared.rig.driver->activity() == DriverActivity::settled);
    CHECK(shared.light() == Connects{{2, 3}});
  }
}

TEST_CASE("a switch of another size than its profile says is refused with both") {
  Shared shared("ocs", {});
  shared.rig.wire = [](const Transaction& transaction) -> std::optional<BusReply> {
    const auto& bytes = std::get<Frame>(transaction.order).request;
    const std::string answer = "16,16\n";
    return std::string(bytes.begin(), bytes.end()) == ":oxc:swit:size?\n"
               ? std::optional(BusReply{BusStatus::ok, 0, {}, {answer.begin(), answer.end()}})
               : std::nullopt;
  };
  shared.rig.fire(CircuitSwitchSetpoint{{{1, 0}}});
  CHECK(shared.fault() == "ocs: has 16 inputs and 16 outputs, the profile says 12 and 8");
}

TEST_CASE("a rectangle that does not lie on its switch is refused with the numbers that there are") {
  const Fabric fabric = ocs_fabric();
  Device device = fabric.device(device_named(fabric, "ocs"));
  const auto refusal = [&](std::vector<DeviceSetting> profile, const DriverModel& model = kScpiOcs) {
    device.profile = std::move(profile);
    return model.model.refuse(fabric, device);
  };
  CHECK(refusal({}).empty());
  CHECK(refusal(rectangle_of("ocs")).empty());
  CHECK_THAT(refusal({{"first_input", std::int64_t{2}}}),
             Catch::Contains("do not lie on a switch of 4 x 4 from first_input 2") &&
                 Catch::Contains("its inputs are 1 to 4, its outputs 5 to 8"));
  CHECK_THAT(refusal({{"first_output", std::int64_t{3}}}), Catch::Contains("first_output 3"));
  CHECK_THAT(refusal({{"size", std::string("12 by 8")}}), Catch::Contains("size: 12 by 8; expected inputs x outputs"));
  CHECK_THAT(refusal({{"size", std::string("3x8")}}), Catch::Contains("on a switch of 3 x 8"));
}

TEST_CASE("a port that is disabled or broken and that a connection needs is named before anything is moved") {
  SimDeviceOptions options;
  options.ocs.disabled = {5};
  options.ocs.failed = {12 + 4};
  Shared shared("ocs", {}, options);
  shared.rig.fire(CircuitSwitchSetpoint{{{1, 0}}});
  CHECK(shared.fault() == "ocs: input 1 (port 6 of the switch) is disabled, and a connection needs it");
  shared.rig.fire(CircuitSwitchSetpoint{{{3, 2}}});
  CHECK(shared.fault() == "ocs: output 2 (port 17 of the switch) has failed, and a connection needs it");
  CHECK(shared.rig.writes() == 0);
  shared.rig.fire(CircuitSwitchSetpoint{{{3, 0}}});
  CHECK(shared.rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("a switch that does not know port states is asked once and driven without") {
  Shared shared("ocs");
  int asked = 0;
  shared.rig.wire = [&](const Transaction& transaction) -> std::optional<BusReply> {
    const auto& bytes = std::get<Frame>(transaction.order).request;
    const bool asks = std::string(bytes.begin(), bytes.end()).starts_with(":oxc:swit:port:stat?");
    asked += asks ? 1 : 0;
    return asks ? std::optional(bus_reply(BusStatus::timeout)) : std::nullopt;
  };
  shared.rig.fire(CircuitSwitchSetpoint{{{1, 0}}});
  CHECK(shared.rig.driver->activity() == DriverActivity::settled);
  CHECK(shared.fault().empty());
  shared.rig.fire(CircuitSwitchSetpoint{{{3, 0}}});
  CHECK(shared.rig.driver->activity() == DriverActivity::settled);
  CHECK(asked == 1);
}

TEST_CASE("a switch says who it is, and one with another serial number is refused with both") {
  for (const char* model : {"ocs", "polatis_tl1"}) {
    INFO(model);
    Shared shared(model);
    shared.rig.poll();
    const DeviceIdentity identity = shared.rig.driver->observe().identity;
    CHECK_FALSE(identity.serial.empty());
    CHECK_THAT(identity.description, Catch::StartsWith("Polatis "));
    Fabric other = shared.rig.fabric;
    other.devices[shared.rig.model->device().value].serial = "002414";
    shared.rig.driver = make_driver(other, shared.rig.model->device());
    shared.rig.poll();
    const auto lawful = shared.rig.driver->check(CircuitSwitchSetpoint{{{1, 0}}});
    REQUIRE_FALSE(lawful.has_value());
    CHECK_THAT(lawful.error().message, Catch::Contains(identity.serial) && Catch::Contains("002414"));
  }
}

}  // namespace
}  // namespace loom
