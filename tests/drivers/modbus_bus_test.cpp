// SPDX-License-Identifier: Apache-2.0
// Modbus/TCP against a real emulator process: what is written is read, refusals have names, and a late reply poisons nothing.
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "drivers/bus/bus_device.hpp"
#include "runtime/lanes.hpp"
#include "runtime/loop.hpp"
#include "tests/drivers/emulator_process.hpp"
#include "tests/skip.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<BusDevice> bus_to(const EmulatorProcess& emulator) {
  auto bus = make_bus(emulator.endpoint());
  REQUIRE(bus.has_value());
  return std::move(*bus);
}

Transaction registers(Registers order, milliseconds deadline = milliseconds{5000}) {
  Transaction transaction;
  transaction.bus_address = 1;
  transaction.order = std::move(order);
  transaction.deadline = deadline;
  return transaction;
}

Transaction read(std::uint16_t address, std::uint16_t count, milliseconds deadline = milliseconds{5000}) {
  return registers({address, count, {}}, deadline);
}

Transaction write(std::uint16_t address, std::vector<std::uint16_t> values) {
  return registers({address, 0, std::move(values)});
}

using Words = std::vector<std::uint16_t>;

}  // namespace

TEST_CASE("reads_back_what_it_wrote_to_a_heater_bank") {
  const EmulatorProcess emulator;
  const auto bus = bus_to(emulator);
  CHECK(bus->execute(write(2, {1234})).status == BusStatus::ok);               // 06h
  CHECK(bus->execute(write(3, {5000, 6000, 10000})).status == BusStatus::ok);  // 10h
  const BusReply reply = bus->execute(read(0, 8));                             // 03h
  CHECK(reply.status == BusStatus::ok);
  CHECK(reply.words == Words{0, 0, 1234, 5000, 6000, 10000, 0, 0});
  CHECK(bus->execute(read(0x8000, 1)).words == Words{0x0064});
  CHECK(bus->execute(read(0x4000, 1)).words == Words{1});
}

TEST_CASE("a_heater_bank_is_reached_over_ipv6_and_over_both_families_at_every_interface") {
  if (!std::filesystem::exists("/proc/net/if_inet6")) {
    testing::skip("this kernel has no IPv6");
    return;
  }
  const EmulatorProcess emulator({}, "heater", "::1");
  CHECK(emulator.endpoint().starts_with("modbus-tcp://[::1]:"));
  CHECK(bus_to(emulator)->execute(write(2, {1234})).status == BusStatus::ok);
  CHECK(bus_to(emulator)->execute(read(2, 1)).words == Words{1234});
  const EmulatorProcess everywhere({}, "heater", "::");
  const std::string port = everywhere.endpoint().substr(everywhere.endpoint().rfind(':'));
  for (const char* host : {"[::1]", "127.0.0.1", "localhost"}) {
    INFO(host);
    auto bus = make_bus("modbus-tcp://" + std::string(host) + port);
    REQUIRE(bus.has_value());
    CHECK((*bus)->execute(read(0, 1)).status == BusStatus::ok);
  }
}

TEST_CASE("names_the_exception_of_a_lawless_request") {
  const EmulatorProcess emulator({"--bank-channels", "4"});
  const auto bus = bus_to(emulator);
  const auto exception_of = [&bus](const Transaction& transaction) {
    const BusReply reply = bus->execute(transaction);
    CHECK(reply.status == BusStatus::exception);
    return int{reply.exception};
  };
  CHECK(exception_of(read(4, 1)) == 2);
  CHECK(exception_of(read(3, 2)) == 2);
  CHECK(exception_of(write(0x8000, {1})) == 2);
  CHECK(exception_of(write(0, {10001})) == 3);
  CHECK(exception_of(write(0, {1, 2, 10001})) == 3);
  CHECK(exception_of(read(0, 126)) == 3);
  Transaction elsewhere = read(0, 1);
  elsewhere.bus_address = 9;
  CHECK(exception_of(elsewhere) == 11);
  Transaction frame;
  frame.order = Frame{};
  CHECK(exception_of(frame) == 1);
  CHECK(bus->execute(read(0, 4)).words == Words{0, 0, 0, 0});  // and nothing of it was written
}

TEST_CASE("a_busy_device_is_a_nack") {
  const EmulatorProcess emulator({"--fault", "refusing"});
  CHECK(bus_to(emulator)->execute(read(0, 1)).status == BusStatus::nack);
}

TEST_CASE("busy_answers_come_from_the_seed") {
  const auto statuses = [](const std::string& seed) {
    const EmulatorProcess emulator({"--fault", "refusing=50%", "--seed", seed});
    const auto bus = bus_to(emulator);
    std::vector<BusStatus> seen;
    for (int i = 0; i < 32; ++i) {
      seen.push_back(bus->execute(read(0, 1)).status);
    }
    return seen;
  };
  CHECK(statuses("3") == statuses("3"));
  CHECK(statuses("3") != statuses("4"));
}

TEST_CASE("a_late_reply_does_not_answer_the_next_request") {
  const EmulatorProcess emulator({"--fault", "late=120ms,times=1"});
  const auto bus = bus_to(emulator);
  CHECK(bus->execute(read(0x8000, 1, milliseconds{40})).status == BusStatus::timeout);
  for (int i = 0; i < 5; ++i) {  // while the late reply (0x0064) arrives
    const BusReply reply = bus->execute(read(0, 1));
    CHECK(reply.status == BusStatus::ok);
    CHECK(reply.words == Words{0});
  }
}

TEST_CASE("a_silent_device_times_out") {
  const EmulatorProcess emulator({"--fault", "silent"});
  CHECK(bus_to(emulator)->execute(read(0, 1, milliseconds{30})).status == BusStatus::timeout);
}

TEST_CASE("a_dead_device_is_lost_and_a_new_one_is_found") {
  EmulatorProcess emulator;
  const auto bus = bus_to(emulator);
  CHECK(bus->execute(read(0, 1)).status == BusStatus::ok);
  emulator.end();
  CHECK(bus->execute(read(0, 1)).status == BusStatus::lost);
  const BusReply lost = bus->execute(read(0, 1));
  CHECK(lost.status == BusStatus::lost);
  CHECK_THAT(lost.cause, Catch::Contains(" port ") && Catch::EndsWith("Connection refused (errno 111)"));
}

TEST_CASE("serves_several_clients_at_once") {
  const EmulatorProcess emulator;
  std::vector<std::jthread> clients;
  std::vector<int> good(8, 0);
  for (std::uint16_t channel = 0; channel < 8; ++channel) {
    clients.emplace_back([&, channel, bus = std::shared_ptr<BusDevice>(bus_to(emulator))] {
      for (std::uint16_t round = 0; round < 50; ++round) {
        const bool written = bus->execute(write(channel, {round})).status == BusStatus::ok;
        good[channel] += written && bus->execute(read(channel, 1)).words == Words{round} ? 1 : 0;
      }
    });
  }
  clients.clear();
  CHECK(good == std::vector<int>(8, 50));
}

TEST_CASE("several_units_behind_one_port_are_several_banks") {
  const EmulatorProcess emulator({"--unit", "1", "2"});
  const auto bus = bus_to(emulator);
  CHECK(bus->execute(write(0, {111})).status == BusStatus::ok);
  Transaction second = read(0, 1);
  second.bus_address = 2;
  CHECK(bus->execute(second).words == Words{0});
}

TEST_CASE("a_power_cycle_takes_outputs_and_connections_away") {
  const EmulatorProcess emulator;
  const auto bus = bus_to(emulator);
  CHECK(bus->execute(write(0, {4'000, 5'000})).status == BusStatus::ok);
  emulator.power_cycle();
  while (bus->execute(read(0, 2)).words != Words{0, 0}) {  // the test's time limit bounds it
  }
  CHECK(bus->execute(write(1, {5'000})).status == BusStatus::ok);
  CHECK(bus->execute(read(0, 2)).words == Words{0, 5'000});
}

TEST_CASE("lanes_answer_on_the_loop_in_the_order_of_each_bus") {
  const EmulatorProcess emulator;
  const EmulatorProcess silent({"--fault", "silent"});
  auto loop = AsioLoop::open();
  REQUIRE(loop.has_value());
  BusLanes lanes((*loop)->poster(), nullptr);
  const std::shared_ptr<BusDevice> bus = bus_to(emulator);
  const std::shared_ptr<BusDevice> dead = bus_to(silent);
  lanes.add(BusId{1}, [bus](const Transaction& transaction) { return bus->execute(transaction); });
  lanes.add(BusId{2}, [dead](const Transaction& transaction) { return dead->execute(transaction); });
  std::vector<Words> replies;
  BusStatus of_the_dead = BusStatus::ok;
  const auto thread = std::this_thread::get_id();
  const auto keep = [&](BusReply reply) {
    CHECK(std::this_thread::get_id() == thread);
    replies.push_back(std::move(reply.words));
  };
  lanes.submit(BusId{2}, read(0, 1, milliseconds{60}), [&](BusReply reply) {
    of_the_dead = reply.status;
    (*loop)->stop();
  });
  lanes.submit(BusId{1}, write(0, {17}), keep);
  lanes.submit(BusId{1}, read(0, 1), keep);
  lanes.submit(BusId{1}, write(0, {18}), keep);
  lanes.submit(BusId{1}, read(0, 1), keep);
  CHECK(replies.empty());  // never from inside submit
  (*loop)->run();
  CHECK(of_the_dead == BusStatus::timeout);
  CHECK(lanes.counters(BusId{2}).executed == 1);
  while (replies.size() < 4) {
    (*loop)->context().restart();
    (*loop)->context().run_one();
  }
  CHECK(replies == std::vector<Words>{{}, {17}, {}, {18}});
}

}  // namespace loom
