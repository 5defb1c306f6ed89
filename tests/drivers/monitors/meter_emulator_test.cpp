// SPDX-License-Identifier: Apache-2.0
// Emulated monitors as processes: the real drivers over real buses, and light that other processes' logs tell of.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/stream.hpp"
#include "drivers/monitor/photodiode_bank.hpp"
#include "drivers/monitor/scpi_meter.hpp"
#include "sim_backend/judge/light_log.hpp"
#include "tests/drivers/emulator_process.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with its test.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = fs::temp_directory_path() / "loom-meter-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary | std::ios::app) << text;
    return path / name;
  }
};

/// A laser, a tap behind it, a receiver at the end: 20 dB less at the tap than at the receiver.
constexpr const char* kFabric = R"(schema_version: 1
kind: fabric
name: tapped
architecture: oddl
nodes:
  - {name: node-0, transmitters: [tx-0], receivers: [rx-0]}
elements:
  - name: tx-0
    kind: transmitter
    rate: 100 Gb/s
    signal_width: 75 GHz
    launch_power: 0 dBm
    first_channel: 193.1 THz
    channel_spacing: 100 GHz
    channel_width: 100 GHz
    channels: 8
    retune_max: 10 ms
    blank_max: 100 us
  - {name: rx-0, kind: receiver, sensitivity: -18 dBm, overload: 2 dBm}
  - {name: tap-0, kind: tap, insertion_loss: 0.5 dB}
  - {name: watched, kind: receiver, sensitivity: -40 dBm, overload: 0 dBm}
fibres:
  - {from: tx-0, to: tap-0}
  - {from: 'tap-0:0', to: rx-0}
  - {from: 'tap-0:1', to: watched, loss: 20 dB}
buses:
  - {name: lasers, agent: node-0}
  - {name: meters, agent: node-0}
devices:
  - {name: laser-0, kind: itla_laser, agent: node-0, bus: lasers, elements: [tx-0]}
  - {name: meter, kind: power_meter, agent: node-0, bus: meters, elements: [watched], profile: {unit: w}}
)";
constexpr const char* kScenario = R"(schema_version: 1
kind: scenario
name: tapped
mode: sim
fabric: fabric.yaml
duration: 1 s
)";

std::string line_of(Instant at, bool emits) {
  std::string line;
  append_line(line, {at, DeviceId{0}, 1, LaserLight{emits, Frequency{193'100'000}, emits ? Dbm{300} : kNoLight}});
  return line;
}

/// Polls a driver over a real bus until it is at rest.
std::vector<LightReading> read(Driver& driver, BusDevice& bus) {
  driver.poll();
  Step step = driver.step(steady_now(), nullptr);
  while (step.transaction || step.wake != kNever) {
    if (step.transaction) {
      const BusReply reply = bus.execute(*step.transaction);
      step = driver.step(steady_now(), &reply);
    } else {
      step = driver.step(step.wake, nullptr);
    }
  }
  const Observation seen = driver.observe();
  INFO(seen.fault);
  REQUIRE(seen.health == DeviceHealth::ready);
  return std::get<MonitorObservation>(seen.reading).lights;
}

std::unique_ptr<BusDevice> bus_to(const std::string& endpoint) {
  auto bus = make_bus(endpoint);
  REQUIRE(bus.has_value());
  return std::move(*bus);
}

Device monitor(std::vector<ElementId> elements, std::vector<DeviceSetting> profile = {}) {
  return {DeviceId{0}, "monitor", DeviceRole::monitor, NodeId{0}, BusId{0}, 1, std::move(elements), {}, std::move(profile)};
}

TEST_CASE("an_emulated_meter_reads_the_same_power_whichever_way_it_is_asked") {
  for (const std::string answers : {"power", "array", "trace"}) {
    INFO(answers);
    const EmulatorProcess emulator({"--dbm", "-7.5", "--answers", answers}, "powermeter");
    const auto bus = bus_to(emulator.endpoint());
    const Device device = answers == "power" ? monitor({ElementId{0}})
                                             : monitor({ElementId{0}}, {{"answers", std::int64_t{answers == "trace" ? 1 : 0}}});
    ScpiMeterDriver driver(answers == "power" ? meter_profile(device) : osa_profile(device));
    const auto lights = read(driver, *bus);
    REQUIRE(lights.size() == 1);
    CHECK(std::abs(lights[0].power.centi + 750) <= 60);
    CHECK((answers == "power" || magnitude(lights[0].frequency - Frequency{193'100'000}) <= FrequencyOffset{1'000}));
    CHECK(driver.observe().identity.description == "Lightloom simulated meter 1.0");
  }
}

TEST_CASE("emulated_photodiodes_answer_by_input_registers_and_by_no_others") {
  const EmulatorProcess emulator({"--dbm", "-7.5", "--channels", "2"}, "photodiode");
  const auto bus = bus_to("modbus-" + emulator.endpoint());
  PhotodiodeBankDriver driver(photodiode_profile({}, monitor({ElementId{0}, ElementId{1}})));
  const auto lights = read(driver, *bus);
  REQUIRE(lights.size() == 2);
  CHECK(std::abs(lights[1].power.centi + 750) <= 20);
  const BusReply holding = bus->execute({DeviceId{0}, 1, Registers{0, 2, {}}, std::chrono::seconds{5}});
  CHECK(holding.status == BusStatus::exception);
  CHECK(holding.exception == 1);
  const BusReply written = bus->execute({DeviceId{0}, 1, Registers{0, 0, {7}}, std::chrono::seconds{5}});
  CHECK(written.status == BusStatus::exception);
}

TEST_CASE("an_emulated_meter_measures_the_light_that_other_processes_log") {
  const Folder folder;
  folder.file("fabric.yaml", kFabric);
  const std::string scenario = folder.file("scenario.yaml", kScenario);
  const EmulatorProcess emulator({"--scenario", scenario, "--bus", "meters", "--light-logs", folder.path}, "powermeter");
  const auto bus = bus_to(emulator.endpoint());
  ScpiMeterDriver driver(meter_profile(monitor({ElementId{3}}, {{"unit", std::int64_t{1}}})));
  CHECK(read(driver, *bus).empty());
  folder.file("laser.light", line_of(Instant{std::chrono::seconds{1}}, true));
  auto lights = read(driver, *bus);
  REQUIRE(lights.size() == 1);
  CHECK(std::abs(lights[0].power.centi + 1'750) <= 10);  // 3 dBm - 0.5 dB - 20 dB
  folder.file("laser.light", "no line of a light log\n7 99 1 laser 1 193100000 0\n");
  CHECK(read(driver, *bus).size() == 1);
  const std::string dark = line_of(Instant{std::chrono::seconds{2}}, false);
  folder.file("laser.light", dark.substr(0, 5));  // its writer is not through
  CHECK(read(driver, *bus).size() == 1);
  folder.file("laser.light", dark.substr(5));
  CHECK(read(driver, *bus).empty());
}

}  // namespace
}  // namespace loom
