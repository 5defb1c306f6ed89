// SPDX-License-Identifier: Apache-2.0
// Emulated circuit switches as processes: clients that we did not write, and the drivers over TCP among others' connections.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/fabric/occupied_ports.hpp"
#include "drivers/ocs/scpi_ocs.hpp"
#include "drivers/ocs/tl1_ocs.hpp"
#include "tests/drivers/ocs/driver_over_bus.hpp"
#include "tests/drivers/rig.hpp"
#include "tests/skip.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using Connects = std::vector<CrossConnect>;

std::string port_of(const EmulatorProcess& emulator) {
  const std::string endpoint = emulator.endpoint();
  return endpoint.substr(endpoint.rfind(':') + 1);
}

/// What a command of the shell prints.
std::string output_of(const std::string& command) {
  std::FILE* out = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(out != nullptr);
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t count = 0; (count = std::fread(part.data(), 1, part.size(), out)) > 0;) {
    text.append(part.data(), count);
  }
  pclose(out);
  return text;
}

/// False, and the test is skipped, where there is no such program.
bool has_program(const char* path, const char* package) {
  const bool is_there = std::filesystem::exists(path);
  if (!is_there) {
    testing::skip(std::string(path) + " is absent (package " + package + ")");
  }
  return is_there;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

const std::vector<std::string> kSwitch{"--size", "12x8", "--settle-us", "5000", "--boot-ms", "1"};

std::vector<std::string> with(std::initializer_list<const char*> more) {
  std::vector<std::string> options = kSwitch;
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

struct Secret {
  std::string path = "/tmp/loom-ocs-" + std::to_string(getpid());
  Secret() {
    std::ofstream(path) << "open-sesame\n";
    ::chmod(path.c_str(), 0600);
  }
  ~Secret() { ::unlink(path.c_str()); }
};

/// Inputs 5 to 8, outputs 3 to 6 of a switch of 12 x 8.
std::unique_ptr<Driver> driver_of(const std::string& model, std::vector<DeviceSetting> more = {}) {
  Fabric fabric = ocs_fabric();
  Device& device = fabric.devices[device_named(fabric, "ocs").value];
  const bool is_calient = model == "calient_tl1";
  device.model = model;
  device.profile = {{"first_input", std::int64_t{is_calient ? 10'005 : 5}},
                    {"first_output", std::int64_t{is_calient ? 20'003 : 15}},
                    {"size", std::string("12x8")}};
  device.profile.insert(device.profile.end(), more.begin(), more.end());
  std::get<OpticalCircuitSwitch>(fabric.elements[device.elements.front().value].kind).settle_max = milliseconds{5};
  return make_driver(fabric, device.id);
}

CircuitSwitchObservation seen(const Driver& driver) { return std::get<CircuitSwitchObservation>(driver.observe().reading); }

}  // namespace

TEST_CASE("pyvisa-py reads and sets an emulated switch over SCPI") {
  if (!has_program("/usr/lib/python3/dist-packages/pyvisa_py", "python3-pyvisa-py")) {
    return;
  }
  const EmulatorProcess emulator(with({"--occupied", "1-13"}), "ocs");
  const std::string said = output_of(
      "/usr/bin/python3 -c \"import pyvisa;d=pyvisa.ResourceManager('@py').open_resource('TCPIP::127.0.0.1::" +
      port_of(emulator) +
      "::SOCKET',read_termination='\\n',write_termination='\\n');print(d.query('*IDN?'));print(d.query(':OXC:SWIT:SIZE?'));"
      "d.write(':OXC:SWITCH:CONNECT:ADD (@2,3),(@20,19)');print(d.query('*OPC?'));print(d.query(':SYST:ERR:ALL?'));"
      "print(d.query(':OXC:SWIT:PORT:STAT? (@1,20)'))\"");
  INFO(said);
  CHECK(contains(said, "Polatis,I-OST-12x8-LU1-DMHNS,"));
  CHECK(contains(said, "12,8\n1\n0,\"No error\"\n(E,E)\n"));
}

TEST_CASE("lxi-tools asks an emulated switch who it is") {
  if (!has_program("/usr/bin/lxi", "lxi-tools")) {
    return;
  }
  const EmulatorProcess emulator(with({"--serial", "002414"}), "ocs");
  const std::string said = output_of("/usr/bin/lxi scpi --raw --address 127.0.0.1 --port " + port_of(emulator) + " '*IDN?'");
  INFO(said);
  CHECK(contains(said, "Polatis,I-OST-12x8-LU1-DMHNS,002414,6.5.2.18"));
}

TEST_CASE("netcat speaks TL1 to emulated switches, a batch and no more") {
  if (!has_program("/usr/bin/nc", "netcat-openbsd")) {
    return;
  }
  const Secret secret;
  const EmulatorProcess polatis(with({"--dialect", "polatis-tl1", "--user", "admin", "--password-file", secret.path.c_str(),
                                      "--occupied", "1-13", "--lit", "1=-3.5"}),
                                "ocs");
  const auto nc = [](const EmulatorProcess& emulator, const std::string& commands) {
    return output_of("printf '" + commands + "' | /usr/bin/nc -N 127.0.0.1 " + port_of(emulator));
  };
  CHECK(contains(nc(polatis, "RTRV-PATCH:::7:;"), "M  7 DENY\r\n   PLNA"));
  CHECK(contains(nc(polatis, "ACT-USER::admin:7::wrong;"), "M  7 DENY\r\n   PICC"));
  const std::string said = nc(polatis,
                              "ACT-USER::admin:1::open-sesame;\\nRTRV-PATCH:::123:;\\nRTRV-EQPT::SYSTEM:2:::PARAMETER=SIZE;"
                              "RTRV-PORT-POWER::1&&2&13:3:;ENT-PATCH::1,14:4:;CANC-USER::admin:5:;RTRV-PATCH:::6:;");
  INFO(said);
  CHECK(contains(said, "M  123 COMPLD\r\n   \"1,13\"\r\n;"));
  CHECK(contains(said, "\"SYSTEM:SIZE=12x8\""));
  CHECK(contains(said, "M  3 COMPLD\r\n   \"1:-3.50\"\r\n   \"2:-60.00\"\r\n   \"13:-4.50\"\r\n;"));
  CHECK(contains(said, "M  4 DENY\r\n   SARB"));  // the port is taken
  CHECK(contains(said, "M  5 COMPLD"));
  CHECK(contains(said, "M  6 DENY\r\n   PLNA"));
  const EmulatorProcess calient(with({"--dialect", "calient-tl1", "--occupied", "10001-20001"}), "ocs");
  const std::string fibres = nc(calient, "rtrv-system-info:::1:;rtrv-crs-fiber::all:2:;");
  INFO(fibres);
  CHECK(contains(fibres, "LicensedPortMatrix=12x8"));
  CHECK(contains(fibres, "\"GGN:IPORTID=10001,IPORTNAME=,OPORTID=20001,"));
}

TEST_CASE("drivers share an emulated switch with others, and say what they find") {
  const Secret secret;
  struct Case {
    const char* model;
    std::vector<std::string> options;
    std::vector<DeviceSetting> profile;
  };
  const std::vector<DeviceSetting> login{
      {"user", std::string("admin")}, {"password_file", secret.path}, {"monitors_ports", std::int64_t{1}}};
  const std::vector<Case> cases{
      {"ocs", with({"--occupied", "1-13", "--occupied", "5-20", "--occupied", "7-18"}), {}},
      {"polatis_tl1",
       with({"--dialect", "polatis-tl1", "--occupied", "1-13", "--occupied", "5-20", "--occupied", "7-18", "--user", "admin",
             "--password-file", secret.path.c_str(), "--announce", "--shut", "6", "--lit", "6=-3"}),
       login},
      {"calient_tl1",
       with({"--dialect", "calient-tl1", "--occupied", "10001-20001", "--occupied", "10005-20008", "--occupied", "10007-20006",
             "--user", "admin", "--password-file", secret.path.c_str(), "--announce", "--lit", "10006=-3"}),
       login},
  };
  for (const Case& each : cases) {
    INFO(each.model);
    const EmulatorProcess emulator(each.options, "ocs");
    const auto bus = bus_to(emulator);
    const auto driver = driver_of(each.model, each.profile);
    int exchanges = 0;
    const auto timed_fire = [&](const CircuitSwitchSetpoint& setpoint) {
      exchanges = 0;
      const Instant begin = steady_now();
      driver->stage(setpoint);
      driver->fire();
      run(*driver, *bus, [&](const Transaction&) { ++exchanges; });
      std::printf("%s: %.2f ms in %d exchanges\n", each.model, milliseconds_of(steady_now() - begin), exchanges);
    };
    timed_fire(CircuitSwitchSetpoint{{{1, 0}}});
    CHECK(driver->observe().fault.empty());
    REQUIRE(driver->activity() == DriverActivity::settled);
    timed_fire(CircuitSwitchSetpoint{{{3, 2}}});
    REQUIRE(driver->activity() == DriverActivity::settled);
    timed_fire(CircuitSwitchSetpoint{{{1, 0}, {3, 2}}});
    REQUIRE(driver->activity() == DriverActivity::settled);
    CHECK(seen(*driver).connects == Connects{{1, 0}, {3, 2}});
    CHECK(seen(*driver).occupied == Connects{{0, kPortElsewhere}, {2, 3}});
    driver->poll();
    run(*driver, *bus);
    CHECK(driver->activity() == DriverActivity::settled);
    CHECK(seen(*driver).powers.empty() == each.profile.empty());
    for (const PortPower& power : seen(*driver).powers) {
      if (power.port == 1 && power.is_input) {
        CHECK(power.power == Dbm{-300});
      }
    }
    timed_fire(CircuitSwitchSetpoint{{{2, 0}}});
    CHECK_THAT(driver->observe().fault, Catch::Contains("input 2 is connected to output 3 by somebody else"));
    emulator.power_cycle();  // a new session, and a map without anybody's connections
    timed_fire(CircuitSwitchSetpoint{});
    timed_fire(CircuitSwitchSetpoint{{{2, 0}}});
    CHECK(driver->activity() == DriverActivity::settled);
  }
}

TEST_CASE("an emulated switch that is told nonsense says what it expected") {
  const auto refusal = [](const std::string& options) {
    return output_of(std::string(LOOM_EMULATE_PROGRAM) + " ocs --port 0 " + options);
  };
  CHECK(contains(refusal("--size 12by8"), "--size 12by8: expected inputs x outputs"));
  CHECK(contains(refusal("--size 4x4 --occupied 1-4"), "--occupied 1-4: expected an input and an output, as 1-20"));
  CHECK(contains(refusal("--size 4x4 --occupied 9-5"), "--occupied 9: expected a port of the switch, 1 to 4 or 5 to 8"));
  CHECK(contains(refusal("--size 4x4 --lit 1=bright"), "--lit 1=bright: expected an input and its power in dBm"));
  CHECK(contains(refusal("--dialect telnet"), "telnet"));
}

TEST_CASE("emulated switches survive whatever is said to them") {
  for (const char* dialect : {"scpi", "polatis-tl1", "calient-tl1"}) {
    INFO(dialect);
    const EmulatorProcess emulator(with({"--dialect", dialect}), "ocs");
    output_of(
        "/usr/bin/python3 -c \"import socket,random;random.seed(7);"
        "s=[socket.create_connection(('127.0.0.1'," +
        port_of(emulator) +
        ")) for _ in range(4)];"
        "[c.sendall(bytes(random.choice(b'RTRV-PATCH::&&;,()@:*?\\\\n\\\\r0123456789oxcswit\\\\x00\\\\xff') for _ in "
        "range(20000))) "
        "for c in s];[c.close() for c in s]\"");
    const auto bus = bus_to(emulator);
    const bool is_scpi = std::string(dialect) == "scpi";
    const std::string line = is_scpi ? "*opc?\n" : "RTRV-SYSTEM-INFO:::77:;";
    const BusReply reply =
        bus->execute({DeviceId{0}, 1, Frame{{line.begin(), line.end()}, 0, is_scpi ? "\n" : ";", {}, is_scpi ? "" : " 77 "},
                      milliseconds{5'000}});
    CHECK(reply.status == BusStatus::ok);
  }
}

}  // namespace loom
