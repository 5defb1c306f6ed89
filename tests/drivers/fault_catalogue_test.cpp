// SPDX-License-Identifier: Apache-2.0
// The one list of faults, and what those of it do that no driver's test rests on: in light and on the wire, model by model.
#include "core/fault_catalogue.hpp"

#include <set>

#include "drivers/transceiver/itla_frame.hpp"
#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using itla::Register;
using std::chrono::milliseconds;

struct Bare {
  Fabric fabric;
  std::unique_ptr<SimulatedDevice> model;
  Instant now = instant_from_ns(1'000'000);

  explicit Bare(const char* device)
      : fabric(std::string_view(device) == "bank" ? bank_fabric() : ocs_fabric()),
        model(make_simulated_device(fabric, device_named(fabric, device), {})) {}

  BusReply send(decltype(Transaction::order) order) {
    const ModelReply answer = model->execute(now, {model->device(), 1, std::move(order), milliseconds{500}});
    now += answer.service_time;
    return answer.reply;
  }
  BusReply itla(bool write, Register reg, std::uint16_t data = 0) {
    const auto bytes = encode(itla::Request{write, reg, data});
    return send(Frame{{bytes.begin(), bytes.end()}, 4, {}});
  }
  std::uint16_t read(Register reg) { return itla::decode_response(itla(false, reg).bytes).value().data; }
  void light_up() {
    itla(true, Register::enable, itla::kSoftwareEnable);
    now += milliseconds{5};
  }
  Frequency emitted() const { return std::get<LaserLight>(model->true_light(now)).frequency; }
  std::vector<Frequency> resonances() const { return std::get<RingLight>(model->true_light(now)).resonances; }
};

}  // namespace

TEST_CASE("each_fault_has_one_name_for_a_role_and_no_name_has_two_meanings") {
  std::set<std::string_view> names;
  for (const FaultName& row : fault_catalogue()) {
    INFO(std::string(row.name));
    CHECK(names.insert(row.name).second);
    CHECK(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK(fault_named(row.name) == &row);
    CHECK(row.roles != 0);
    CHECK_FALSE(row.meaning.empty());
    CHECK_FALSE(row.shows.empty());
    CHECK_FALSE((row.must_have_value && row.value == FaultValue::none));
    for (const DeviceRole role : kDeviceRoles) {
      if (row.is_of(role)) {
        CHECK(fault_of(row.kind, role) == &row);
        CHECK(name_of(row.kind, role) == row.name);
      } else {
        CHECK_THAT(refusal_of(row, role, "x"), Catch::StartsWith("'x' is a ") && Catch::Contains(std::string(row.name)));
      }
    }
  }
  for (const char* wanted : {"heater-open", "wss-stuck", "laser-mode-hop", "bus-crc"}) {
    CHECK(names.contains(wanted));
  }
  CHECK(fault_named("stick") == nullptr);
  CHECK(fault_of(DeviceFaultKind::open, DeviceRole::transmitter) == nullptr);
}

TEST_CASE("a_mode_hop_is_in_the_light_and_the_locker_says_so") {
  Bare laser("laser-0");
  laser.light_up();
  const Frequency before = laser.emitted();
  laser.model->inject(laser.now, {.kind = DeviceFaultKind::mode_hop, .offset = FrequencyOffset{50'000}});
  CHECK(laser.emitted() == before + FrequencyOffset{50'000});
  CHECK((laser.read(Register::status_fatal) & itla::kStatusFrequency) != 0);
}

TEST_CASE("a_laser_on_the_wrong_channel_says_the_right_one") {
  Bare laser("laser-0");
  laser.light_up();
  const Frequency before = laser.emitted();
  laser.model->inject(laser.now, {.kind = DeviceFaultKind::misroute});
  CHECK(laser.emitted() == before + FrequencyOffset{100'000});  // the fabric's spacing
  CHECK(laser.read(Register::lf2) == before.mhz / 100 % 10'000);
  CHECK((laser.read(Register::status_fatal) & itla::kStatusFrequency) == 0);
}

TEST_CASE("an_open_heater_is_cold_whatever_its_register_says_and_its_neighbours_are_not") {
  Bare bank("bank");
  const std::vector<Frequency> cold = bank.resonances();
  REQUIRE(cold.size() == 4);
  bank.model->inject(bank.now, {.kind = DeviceFaultKind::open, .channel = 1});
  REQUIRE(bank.send(Registers{0, 0, {2'000, 2'000}}).status == BusStatus::ok);
  bank.now += milliseconds{10};
  CHECK(bank.send(Registers{0, 2, {}}).words == std::vector<std::uint16_t>{2'000, 2'000});
  CHECK(bank.resonances()[0] < cold[0]);
  CHECK(bank.resonances()[1] == cold[1]);
}

TEST_CASE("a_bank_on_the_wrong_channel_warms_the_next_ring") {
  Bare bank("bank");
  const std::vector<Frequency> cold = bank.resonances();
  bank.model->inject(bank.now, {.kind = DeviceFaultKind::misroute});
  REQUIRE(bank.send(Registers{0, 0, {2'000}}).status == BusStatus::ok);
  bank.now += milliseconds{10};
  CHECK(bank.resonances()[0] == cold[0]);
  CHECK(bank.resonances()[1] < cold[1]);
}

TEST_CASE("a_device_that_is_stuck_pending_says_so_for_ever") {
  Bare laser("laser-0");
  laser.model->inject(laser.now, {.kind = DeviceFaultKind::stuck_pending});
  laser.itla(true, Register::grid, 1'000);
  laser.itla(true, Register::channel, 4);
  laser.now += std::chrono::hours{1};
  CHECK((laser.read(Register::nop) & itla::kNopPending) != 0);
}

TEST_CASE("power_that_goes_with_a_command_takes_its_effect_and_its_answer") {
  Bare bank("bank");
  bank.model->inject(bank.now, {.kind = DeviceFaultKind::reboot_mid_command, .delay = milliseconds{50}});
  CHECK(bank.send(Registers{0, 1, {}}).status == BusStatus::ok);  // no command
  CHECK(bank.send(Registers{0, 0, {2'000}}).status == BusStatus::lost);
  CHECK(bank.send(Registers{0, 1, {}}).status == BusStatus::timeout);
  bank.now += milliseconds{100};
  CHECK(bank.send(Registers{0, 1, {}}).words == std::vector<std::uint16_t>{0});
  CHECK(bank.send(Registers{0, 0, {2'000}}).status == BusStatus::ok);  // once
}

TEST_CASE("a_noisy_line_loses_requests_and_damages_answers_and_only_its_share_of_them") {
  Bare laser("laser-0");
  laser.model->inject(laser.now, {.kind = DeviceFaultKind::bus_crc, .percent = 40});
  int sound = 0;
  int unread = 0;
  int damaged = 0;
  for (int i = 0; i < 400; ++i) {
    const auto response = itla::decode_response(laser.itla(false, Register::nop).bytes);
    damaged += response ? 0 : 1;
    unread += response && response->communication_error ? 1 : 0;
    sound += response && !response->communication_error ? 1 : 0;
  }
  INFO("seed 1: " << sound << " sound, " << unread << " unread, " << damaged << " damaged");
  CHECK(sound > 200);
  CHECK(sound < 280);
  CHECK(unread > 40);
  CHECK(damaged > 40);
}

TEST_CASE("a_fault_of_so_many_transactions_is_over_after_them") {
  Bare laser("laser-0");
  laser.model->inject(laser.now, {.kind = DeviceFaultKind::silence, .times = 2});
  CHECK(laser.itla(false, Register::nop).status == BusStatus::timeout);
  CHECK(laser.itla(false, Register::nop).status == BusStatus::timeout);
  CHECK(laser.itla(false, Register::nop).status == BusStatus::ok);
}

}  // namespace loom
