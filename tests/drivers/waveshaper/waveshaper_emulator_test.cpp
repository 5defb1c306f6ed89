// SPDX-License-Identifier: Apache-2.0
// The WaveShaper emulator as a process: judged by curl and by Python's HTTP client, driven by the real driver over the real
// bus.
#include <poll.h>
#include <sys/stat.h>

#include <string>

#include "core/text/http_text.hpp"
#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/stream.hpp"
#include "drivers/wss/waveshaper.hpp"
#include "tests/drivers/emulator_process.hpp"
#include "tests/drivers/rig.hpp"
#include "tests/skip.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> kFast{"--outputs", "4", "--settle-us", "5000", "--boot-ms", "1"};
const WavelengthSwitchSetpoint kRouted{{{{-272, 8}, 0, 1, Db{0}}, {{-240, 8}, 0, 0, Db{120}}}};
const WavelengthSwitchSetpoint kOther{{{{-272, 8}, 0, 1, Db{0}}, {{-256, 8}, 0, 1, Db{0}}}};

std::vector<std::string> with(std::vector<std::string> options, std::initializer_list<const char*> more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

std::string port_of(const EmulatorProcess& emulator) {
  const std::string endpoint = emulator.endpoint();
  return endpoint.substr(endpoint.rfind(':') + 1);
}

std::unique_ptr<BusDevice> bus_to(const EmulatorProcess& emulator) {
  auto bus = make_bus("http://127.0.0.1:" + port_of(emulator));
  REQUIRE(bus.has_value());
  return std::move(*bus);
}

struct Output {
  std::string text;
  int code = 0;
};

Output output_of(const std::string& command) {
  std::FILE* out = popen(command.c_str(), "r");
  REQUIRE(out != nullptr);
  Output output;
  for (int character = std::fgetc(out); character != EOF; character = std::fgetc(out)) {
    output.text += static_cast<char>(character);
  }
  output.code = pclose(out);
  return output;
}

bool has_program(const char* path) {
  struct stat ignored{};
  return stat(path, &ignored) == 0;
}

/// Runs a driver over a real bus until it wants nothing more.
void run(Driver& driver, BusDevice& bus) {
  Step step = driver.step(steady_now(), nullptr);
  while (step.transaction || step.wake != kNever) {
    if (step.transaction) {
      const BusReply reply = bus.execute(*step.transaction);
      step = driver.step(steady_now(), &reply);
    } else {
      const std::int64_t rest_ns = std::max<std::int64_t>((step.wake - steady_now()).count(), 0);
      const timespec rest{rest_ns / 1'000'000'000, rest_ns % 1'000'000'000};
      ppoll(nullptr, 0, &rest, nullptr);
      step = driver.step(steady_now(), nullptr);
    }
  }
}

void fire(Driver& driver, BusDevice& bus, const Setpoint& setpoint) {
  REQUIRE(driver.check(setpoint).has_value());
  driver.stage(setpoint);
  driver.fire();
  run(driver, bus);
}

WaveShaperDriver waveshaper_driver(Duration deadline = std::chrono::seconds{5}) {
  const Fabric fabric = small_fabric();
  WaveShaperSettings settings = waveshaper_settings(fabric, fabric.device(device_named(fabric, "wss-out-0")));
  settings.settle_max = milliseconds{5};
  settings.reply_deadline = deadline;
  return WaveShaperDriver(settings);
}

std::vector<WssRoute> routes_of(const Driver& driver) {
  return std::get<WavelengthSwitchObservation>(driver.observe().reading).routes;
}

}  // namespace

TEST_CASE("curl_reads_and_loads_an_emulated_waveshaper") {
  if (!has_program("/usr/bin/curl")) {
    testing::skip("curl is not installed");
  }
  const EmulatorProcess emulator(with(kFast, {"--serial", "SN201234"}), "waveshaper");
  const std::string curl = "/usr/bin/curl -s --noproxy '*' --max-time 20 ";
  const std::string at = "http://127.0.0.1:" + port_of(emulator) + "/waveshaper/";
  CHECK(output_of(curl + at + "devinfo").text.find("\"sno\":\"SN201234\"") != std::string::npos);
  CHECK(output_of(curl + "-d '{\"type\":\"bandpass\",\"port\":3,\"center\":193.15,\"bandwidth\":0.1,\"attn\":2}' " + at +
                  "loadprofile")
            .text == R"({"rc":0,"rctext":"","sno":"SN201234"})");
  const std::string profile = output_of(curl + at + "getprofile").text;
  CHECK(profile.find("193.0990\t50.0000\t0.0000\t0\n193.1000\t2.0000\t0.0000\t3\n") != std::string::npos);
  CHECK(output_of(curl + "-w '%{http_code}' " + at + "nothing").text == "404");
  CHECK(output_of(curl + "-w '%{http_code}' -X DELETE " + at + "devinfo").text == "405");
  CHECK(output_of(curl + "-o /dev/null -w '%{http_code}' -H 'Expect: 100-continue' -d '{\"type\":\"blockall\"}' " + at +
                  "loadprofile")
            .text == "200");
  CHECK(
      output_of("head -c 2000000 /dev/zero | " + curl + "-o /dev/null -w '%{http_code}' --data-binary @- " + at + "loadprofile")
          .text == "413");
  CHECK(output_of(curl + "-w ' %{num_connects}' " + at + "devinfo " + at + "devinfo").text.ends_with(" 0"));  // one was kept
}

TEST_CASE("pythons_http_client_finds_no_broken_promise_of_an_emulated_waveshaper") {
  if (!has_program("/usr/bin/python3")) {
    testing::skip("python3 is not installed");
  }
  const EmulatorProcess emulator(kFast, "waveshaper");
  const Output judged = output_of("/usr/bin/python3 tests/drivers/waveshaper/http_stranger.py " + port_of(emulator));
  CHECK(judged.text == "");
  CHECK(judged.code == 0);
}

TEST_CASE("the_driver_routes_an_emulated_waveshaper_over_http") {
  const EmulatorProcess emulator(kFast, "waveshaper");
  const auto bus = bus_to(emulator);
  WaveShaperDriver driver = waveshaper_driver();
  fire(driver, *bus, kRouted);
  INFO(driver.observe().fault);
  REQUIRE(driver.activity() == DriverActivity::settled);
  CHECK(routes_of(driver) == kRouted.routes);
  fire(driver, *bus, kOther);
  REQUIRE(driver.activity() == DriverActivity::settled);
  CHECK(routes_of(driver) == kOther.routes);
  WaveShaperDriver another = waveshaper_driver();  // as an agent that was started anew
  another.poll();
  run(another, *bus);
  CHECK(routes_of(another) == kOther.routes);
  CHECK(another.observe().identity.serial == "SN000000");
}

TEST_CASE("a_power_cycle_of_an_emulated_waveshaper_is_found_and_told") {
  const EmulatorProcess emulator(kFast, "waveshaper");
  const auto bus = bus_to(emulator);
  WaveShaperDriver driver = waveshaper_driver();
  fire(driver, *bus, kRouted);
  REQUIRE(driver.activity() == DriverActivity::settled);
  emulator.power_cycle();
  std::string profile(1, '2');
  while (profile.find("\t2\n") != std::string::npos || profile.size() < 1000) {  // the test's time limit bounds it
    const BusReply reply = bus->execute({DeviceId{0}, 1, http_order({"GET", waveshaper::kProfilePath}), milliseconds{5000}});
    profile.assign(reply.bytes.begin(), reply.bytes.end());
  }
  driver.poll();
  run(driver, *bus);
  CHECK(driver.activity() == DriverActivity::idle);
  CHECK(routes_of(driver).empty());
  fire(driver, *bus, kRouted);
  CHECK(driver.activity() == DriverActivity::settled);
}

TEST_CASE("faults_of_an_emulated_waveshaper_end_as_named_faults") {
  const auto fault_of = [](std::initializer_list<const char*> options, Duration deadline) {
    const EmulatorProcess emulator(with({"--settle-us", "5000"}, options), "waveshaper");
    const auto bus = bus_to(emulator);
    WaveShaperDriver driver = waveshaper_driver(deadline);
    fire(driver, *bus, kRouted);
    CHECK(driver.activity() == DriverActivity::failed);
    return driver.observe().fault;
  };
  CHECK(fault_of({"--fault", "silent"}, milliseconds{20}) ==
        "wss-out-0: GET /waveshaper/devinfo: no answer within 20.000 ms in 4 tries");
  CHECK(fault_of({"--fault", "late=200ms"}, milliseconds{20}) ==
        "wss-out-0: GET /waveshaper/devinfo: no answer within 20.000 ms in 4 tries");
  CHECK(fault_of({"--fault", "refusing"}, milliseconds{5000}) ==
        "wss-out-0: GET /waveshaper/devinfo: HTTP 503 Service Unavailable in 4 tries");
  CHECK(fault_of({"--fault", "wss-stuck"}, milliseconds{5000}) ==
        "wss-out-0: its profile does not read back as loaded, 3 times: slot n=-272 m=8 to port 2 is missing");
  CHECK(fault_of({"--fault", "wss-dead"}, milliseconds{5000}) ==
        "wss-out-0: POST /waveshaper/loadprofile: refused with rc -100 (optics do not answer)");
  CHECK(fault_of({"--outputs", "1"}, milliseconds{5000}) ==
        "wss-out-0: has 1 port (WaveShaper simulated), the fabric gives it 2");
}

TEST_CASE("an_emulated_waveshaper_that_answers_late_or_damaged_for_a_while_poisons_nothing") {
  for (const char* fault : {"late=100ms,times=2", "damaged,times=2", "silent,times=2", "refusing,times=2"}) {
    INFO(fault);
    const EmulatorProcess emulator(with(kFast, {"--fault", fault}), "waveshaper");
    const auto bus = bus_to(emulator);
    WaveShaperDriver driver = waveshaper_driver(milliseconds{5000});
    if (std::string_view(fault).starts_with("late") || std::string_view(fault).starts_with("silent")) {
      for (int i = 0; i < 2; ++i) {
        CHECK(bus->execute({DeviceId{0}, 1, http_order({"GET", waveshaper::kInfoPath}), milliseconds{30}}).status ==
              BusStatus::timeout);
      }
    }
    fire(driver, *bus, kRouted);
    INFO(driver.observe().fault);
    CHECK(driver.activity() == DriverActivity::settled);
    CHECK(routes_of(driver) == kRouted.routes);
  }
}

}  // namespace loom
