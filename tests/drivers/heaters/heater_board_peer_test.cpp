// SPDX-License-Identifier: Apache-2.0
// Heater banks before a Modbus server of another hand (pymodbus) that has each board's registers and no others: what the driver
// and libmodbus ask for is there, and what they write is what the server holds.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "drivers/bus/bus_device.hpp"
#include "drivers/heater/heater_bank.hpp"
#include "tests/drivers/rig.hpp"
#include "tests/skip.hpp"

namespace loom {
namespace {

class BoardServer {
 public:
  explicit BoardServer(std::vector<std::string> ranges) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    REQUIRE(pipe2(in.data(), O_CLOEXEC) == 0);
    REQUIRE(pipe2(out.data(), O_CLOEXEC) == 0);
    std::vector<std::string> words{"python3", LOOM_SOURCE_DIR "/tests/drivers/heaters/heater_board_server.py"};
    words.insert(words.end(), ranges.begin(), ranges.end());
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execv("/usr/bin/python3", arguments.data());
      _exit(77);
    }
    close(in[0]);
    close(out[1]);
    questions_ = fdopen(in[1], "w");
    answers_ = fdopen(out[0], "r");
    if (std::sscanf(line().c_str(), "port %u", &port_) != 1) {
      testing::skip("no Modbus server of another hand: install python3-pymodbus");
    }
  }
  BoardServer(const BoardServer&) = delete;
  BoardServer& operator=(const BoardServer&) = delete;
  ~BoardServer() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    std::fclose(questions_);
    std::fclose(answers_);
  }

  bool is_there() const { return port_ != 0; }
  std::string endpoint() const { return "modbus-tcp://127.0.0.1:" + std::to_string(port_); }
  /// As the server holds them.
  std::vector<int> registers(int first, int count) {
    std::fprintf(questions_, "%d %d\n", first, count);
    std::fflush(questions_);
    std::istringstream words(line());
    std::vector<int> values;
    for (int value = 0; words >> value;) {
      values.push_back(value);
    }
    return values;
  }

 private:
  std::string line() {
    std::array<char, 256> text{};
    return std::fgets(text.data(), text.size(), answers_) == nullptr ? std::string{} : std::string(text.data());
  }

  pid_t process_ = -1;
  std::FILE* questions_ = nullptr;
  std::FILE* answers_ = nullptr;
  unsigned port_ = 0;
};

struct Peer {
  const char* board;
  std::vector<std::string> ranges;  ///< of the server: FIRST:COUNT:VALUE
  int base;
  std::vector<int> held;  ///< for 5 V and 10 V into 1 kohm on rings 0 and 1
};

const std::array kPeers{Peer{"waveshare_mv", {"0:8:0", "32768:1:100"}, 0, {5'000, 10'000}},
                        Peer{"waveshare_ua", {"0:8:0", "32768:1:100"}, 0, {5'000, 10'000}},
                        Peer{"adam_6224", {"0:4:0", "100:8:0"}, 0, {2'048, 4'095}},
                        Peer{"adam_4024", {"0:4:0", "200:4:48"}, 0, {1'024, 2'048}},
                        Peer{"adam_6024", {"10:2:0"}, 10, {2'048, 4'095}}};

Fabric bank_on(const Peer& peer) {
  Fabric fabric = bank_fabric();
  Device& bank = fabric.devices.back();
  bank.elements.resize(2);  // as many as the smallest board has
  bank.profile = {
      {"board", static_cast<std::int64_t>(std::ranges::find(kHeaterBoardNames, peer.board) - kHeaterBoardNames.begin())}};
  return fabric;
}

/// Until the driver has come to rest. Its pauses are jumped over: the server is as quick as it is.
void run(Driver& driver, BusDevice& bus) {
  Instant now = instant_from_ns(1'000'000);
  Step step = driver.step(now, nullptr);
  while (step.transaction || step.wake != kNever) {
    if (!step.transaction) {
      now = step.wake;
      step = driver.step(now, nullptr);
      continue;
    }
    step.transaction->deadline = std::chrono::seconds{10};
    const BusReply reply = bus.execute(*step.transaction);
    now += std::chrono::milliseconds{1};
    step = driver.step(now, &reply);
  }
}

const FilterSetpoint kTwoRings{{{0, Frequency{193'075'000}}, {1, Frequency{190'300'000}}}};

}  // namespace

TEST_CASE("every_board_is_set_and_read_back_through_a_server_of_another_hand") {
  for (const Peer& peer : kPeers) {
    INFO(peer.board);
    BoardServer server(peer.ranges);
    if (!server.is_there()) {
      return;
    }
    const Fabric fabric = bank_on(peer);
    const auto bus = make_bus(server.endpoint());
    REQUIRE(bus.has_value());
    const auto driver = make_driver(fabric, fabric.devices.back().id);
    driver->poll();
    run(*driver, **bus);
    CHECK(driver->observe().fault.empty());
    CHECK(driver->observe().health == DeviceHealth::ready);
    REQUIRE(driver->check(kTwoRings));
    driver->stage(kTwoRings);
    driver->fire();
    run(*driver, **bus);
    CHECK(driver->observe().fault.empty());
    CHECK(driver->activity() == DriverActivity::settled);
    CHECK(server.registers(peer.base, 2) == peer.held);
  }
}

TEST_CASE("a_server_of_another_hand_with_another_boards_registers_is_refused_by_name") {
  BoardServer server({"0:8:0", "32768:1:0"});
  if (!server.is_there()) {
    return;
  }
  const auto fault_on = [&server](const Peer& peer) {
    const Fabric fabric = bank_on(peer);
    const auto bus = make_bus(server.endpoint());
    REQUIRE(bus.has_value());
    const auto driver = make_driver(fabric, fabric.devices.back().id);
    driver->stage(kTwoRings);
    driver->fire();
    run(*driver, **bus);
    CHECK(driver->activity() == DriverActivity::failed);
    return driver->observe().fault;
  };
  CHECK_THAT(fault_on(kPeers[0]), Catch::StartsWith("bank: version register 0x8000 reads 0x0000, expected 0x0064 to 0x03E7"));
  CHECK(fault_on(kPeers[3]) == "bank: read of version registers 200 to 201: refused with exception 2 (illegal address)");
  CHECK(server.registers(0, 8) == std::vector<int>(8, 0));
}

}  // namespace loom
