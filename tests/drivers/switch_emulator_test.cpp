// SPDX-License-Identifier: Apache-2.0
// WSS and OCS emulators as processes: the bytes on the wire, the real drivers over the real bus, power cycles, bad manners.
#include <string>

#include "drivers/ocs/scpi_ocs.hpp"
#include "drivers/wss/lcos_wss.hpp"
#include "tests/drivers/ocs/driver_over_bus.hpp"
#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

/// One line out, one line in; the answer without its end, or the name of what went wrong.
std::string ask(BusDevice& bus, const std::string& text, const char* terminator, milliseconds deadline = milliseconds{5000}) {
  const std::string line = text + terminator;
  const BusReply reply = bus.execute({DeviceId{0}, 1, Frame{{line.begin(), line.end()}, 0, terminator}, deadline});
  if (reply.status != BusStatus::ok) {
    return reply.status == BusStatus::timeout ? "timeout" : reply.status == BusStatus::lost ? "lost" : "malformed";
  }
  return {reply.bytes.begin(), reply.bytes.end() - static_cast<std::ptrdiff_t>(std::string_view(terminator).size())};
}

/// One line to a WSS; its lines of answer without the last end, or the name of what went wrong.
std::string say(BusDevice& bus, const std::string& text, milliseconds deadline = milliseconds{5000}) {
  const std::string line = text + "\r\n";
  const BusReply reply =
      bus.execute({DeviceId{0}, 1, Frame{{line.begin(), line.end()}, 0, "\r\n", flexgrid::last_lines()}, deadline});
  if (reply.status != BusStatus::ok) {
    return reply.status == BusStatus::timeout ? "timeout" : reply.status == BusStatus::lost ? "lost" : "malformed";
  }
  std::string answer(reply.bytes.begin(), reply.bytes.end() - 2);
  std::erase(answer, '\r');
  return answer;
}

/// Asks until the answer is `wanted`; the test's time limit bounds it.
void ask_until(BusDevice& bus, const std::string& text, const char* terminator, const std::string& wanted) {
  while (ask(bus, text, terminator) != wanted) {
  }
}

ScpiOcsDriver ocs_driver() {
  const Fabric fabric = ocs_fabric();
  OcsProfile profile = ocs_profile(fabric, fabric.device(device_named(fabric, "ocs")));
  profile.settle_max = milliseconds{5};
  return ScpiOcsDriver(profile);
}

LcosWssDriver wss_driver() {
  const Fabric fabric = small_fabric();
  WssProfile profile = wss_profile(fabric, fabric.device(device_named(fabric, "wss-out-0")));
  profile.settle_max = milliseconds{5};
  return LcosWssDriver(profile);
}

const std::vector<std::string> kOcs{"--inputs", "4", "--outputs", "4", "--settle-us", "5000", "--boot-ms", "1"};
const std::vector<std::string> kWss{"--inputs", "1", "--outputs", "2", "--settle-us", "5000", "--boot-ms", "1"};

std::vector<std::string> with(std::vector<std::string> options, std::initializer_list<const char*> more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

const CircuitSwitchSetpoint kCrossed{{{0, 1}, {1, 0}}};
const WavelengthSwitchSetpoint kRouted{{{{-272, 8}, 0, 1, Db{0}}, {{-240, 8}, 0, 0, Db{120}}}};

bool is_settled(const Driver& driver) { return driver.activity() == DriverActivity::settled; }

}  // namespace

TEST_CASE("ocs_emulator_speaks_scpi_to_whoever_connects") {
  const EmulatorProcess emulator({"--settle-us", "0"}, "ocs");
  const auto bus = bus_to(emulator);
  CHECK(ask(*bus, "*idn?", "\n").starts_with("Polatis,I-OST-16x16-LU1-DMHNS,"));
  CHECK(ask(*bus, ":oxc:swit:size?", "\n") == "16,16");
  CHECK(ask(*bus, ":oxc:swit:conn:stat?", "\n") == "(@),(@)");
  CHECK(ask(*bus, ":oxc:swit:conn:add (@1,2,3),(@19,18,22);*opc?", "\n") == "1");
  CHECK(ask(*bus_to(emulator), ":oxc:swit:conn:stat?", "\n") == "(@1,2,3),(@19,18,22)");  // another client, the same switch
  CHECK(ask(*bus, ":oxc:swit:conn:port? 2", "\n") == "\"18\"");
  CHECK(ask(*bus, ":oxc:swit:disc:all;:oxc:swit:conn:stat?", "\n") == "(@),(@)");
  CHECK(ask(*bus, ":oxc:swit:conn:add (@1),(@2);:syst:err:all?", "\n") == "-222,\"Data out of range\"");
  CHECK(ask(*bus, ":oxc:swit:disc:all", "\n", milliseconds{50}) == "timeout");  // silent success
  CHECK(ask(*bus, ":syst:err?\r", "\n") == "0,\"No error\"");
}

TEST_CASE("wss_emulator_speaks_the_flexgrid_dialect_with_and_without_checksums") {
  const EmulatorProcess plain({"--inputs", "1", "--outputs", "2", "--settle-us", "0"}, "wss");
  const auto bus = bus_to(plain);
  CHECK(say(*bus, "CHW 0") == "OK");
  CHECK(say(*bus, "DCC 1=5:20;2=21:36;") == "OK");
  CHECK(say(*bus, "UCA 1,2,0.0;2,99,99.9;") == "OK");
  CHECK(say(*bus, "RRA?") == "1,2,0.0;2,99,99.9\nOK");
  CHECK(say(*bus, "URA 1,1,3.0;2,99,99.9") == "OK");
  CHECK(say(*bus, "RSW") == "OK");
  CHECK(say(*bus, "RRA?") == "1,1,3.0;2,99,99.9\nOK");
  CHECK(say(*bus, "UCA 1,3,0.0") == "RER");
  CHECK(say(*bus, "HELLO") == "CER");
  const EmulatorProcess framed(with(kWss, {"--checksum"}), "wss");
  const auto strict = bus_to(framed);
  CHECK(say(*strict, "^CHW 0$FECE") == "^OK$FF66");
  CHECK(say(*strict, "^UCA 1,3,0.0;$FD82") == "^RER$FF17");  // the request of a client of the real device
  CHECK(say(*strict, "^UCA 1,3,0.0;$FD83", milliseconds{50}) == "timeout");
}

TEST_CASE("a_client_that_says_one_line_and_no_more_is_answered") {
  const EmulatorProcess emulator({}, "ocs");
  const std::string endpoint = emulator.endpoint();
  const std::string port = endpoint.substr(endpoint.rfind(':') + 1);
  const std::string python =
      "/usr/bin/python3 -c \"import socket;s=socket.create_connection(('127.0.0.1'," + port +
      "));s.sendall(b'*idn?\\n*cls\\n:oxc:swit:size?\\n');s.shutdown(1);print(s.makefile().read(),end='')\"";
  std::FILE* out = popen(python.c_str(), "r");
  REQUIRE(out != nullptr);
  std::array<char, 256> text{};
  const std::size_t count = std::fread(text.data(), 1, text.size(), out);
  pclose(out);
  const std::string answers(text.data(), count);
  CHECK(answers.starts_with("Polatis,"));
  CHECK(answers.ends_with("16,16\n"));  // and the connection was closed after it
}

TEST_CASE("drivers_bring_emulated_switches_to_their_setpoints_and_leave_them_alone") {
  const EmulatorProcess switches(kOcs, "ocs");
  const auto ocs_bus = bus_to(switches);
  ScpiOcsDriver ocs = ocs_driver();
  fire(ocs, *ocs_bus, kCrossed);
  CHECK(ocs.observe().fault.empty());
  REQUIRE(is_settled(ocs));
  CHECK(ask(*ocs_bus, ":oxc:swit:conn:stat?", "\n") == "(@1,2),(@6,5)");
  for (const bool checksum : {false, true}) {
    const EmulatorProcess selective(checksum ? with(kWss, {"--checksum"}) : kWss, "wss");
    const auto bus = bus_to(selective);
    LcosWssDriver wss = wss_driver();
    fire(wss, *bus, kRouted);
    CHECK(wss.observe().fault.empty());
    REQUIRE(is_settled(wss));
    CHECK(std::get<WavelengthSwitchObservation>(wss.observe().reading).routes == kRouted.routes);
  }
}

TEST_CASE("a_power_cycle_between_fires_is_seen_by_the_audit_and_repaired_by_the_next_fire") {
  const EmulatorProcess switches(kOcs, "ocs");
  const auto ocs_bus = bus_to(switches);
  ScpiOcsDriver ocs = ocs_driver();
  fire(ocs, *ocs_bus, kCrossed);
  switches.power_cycle();
  ask_until(*ocs_bus, ":oxc:swit:conn:stat?", "\n", "(@),(@)");
  ocs.poll();
  run(ocs, *ocs_bus);
  CHECK(ocs.activity() == DriverActivity::idle);
  CHECK(std::get<CircuitSwitchObservation>(ocs.observe().reading).connects.empty());
  fire(ocs, *ocs_bus, kCrossed);
  CHECK(is_settled(ocs));
  CHECK(ask(*ocs_bus, ":oxc:swit:conn:stat?", "\n") == "(@1,2),(@6,5)");

  const EmulatorProcess selective(kWss, "wss");
  const auto wss_bus = bus_to(selective);
  LcosWssDriver wss = wss_driver();
  fire(wss, *wss_bus, kRouted);
  selective.power_cycle();
  while (say(*wss_bus, "DCC?") != "OK") {
  }
  wss.poll();
  run(wss, *wss_bus);
  CHECK(wss.activity() == DriverActivity::idle);
  CHECK(std::get<WavelengthSwitchObservation>(wss.observe().reading).routes.empty());
  fire(wss, *wss_bus, kRouted);
  CHECK(is_settled(wss));
}

TEST_CASE("a_power_cycle_at_any_point_of_a_fire_ends_settled_in_truth_or_named") {
  for (int place = 0; place < 9; ++place) {
    INFO("power cycle before exchange " << place);
    const EmulatorProcess switches(kOcs, "ocs");
    const auto bus = bus_to(switches);
    const auto other = bus_to(switches);
    ScpiOcsDriver ocs = ocs_driver();
    fire(ocs, *bus, CircuitSwitchSetpoint{{{0, 1}, {2, 2}}});
    ocs.stage(kCrossed);
    ocs.fire();
    int exchanges = 0;
    run(ocs, *bus, [&](const Transaction&) {
      if (exchanges++ == place) {
        switches.power_cycle();
        ask_until(*other, ":oxc:swit:conn:stat?", "\n", "(@),(@)");
      }
    });
    if (is_settled(ocs) && exchanges > place) {
      CHECK(ask(*bus, ":oxc:swit:conn:stat?", "\n") == "(@1,2),(@6,5)");
    } else if (!is_settled(ocs)) {
      CHECK_FALSE(ocs.observe().fault.empty());
    }
    fire(ocs, *bus, kCrossed);
    CHECK(is_settled(ocs));
    CHECK(ask(*bus, ":oxc:swit:conn:stat?", "\n") == "(@1,2),(@6,5)");
  }
}

TEST_CASE("emulated_switches_that_are_silent_dead_or_deaf_end_as_named_faults") {
  const auto fault_of = [](const std::vector<std::string>& options, Duration deadline) {
    const EmulatorProcess switches(options, "ocs");
    const auto bus = bus_to(switches);
    const Fabric fabric = ocs_fabric();
    OcsProfile profile = ocs_profile(fabric, fabric.device(device_named(fabric, "ocs")));
    profile.reply_deadline = deadline;
    profile.settle_max = milliseconds{5};
    profile.grace = milliseconds{5};
    ScpiOcsDriver ocs{profile};
    fire(ocs, *bus, kCrossed);
    CHECK(ocs.activity() == DriverActivity::failed);
    return ocs.observe().fault;
  };
  const auto is_silent = [](const std::string& fault) {
    return fault.starts_with("ocs: \"*idn?\": no answer within 20.000 ms: 127.0.0.1 port ") &&
           fault.ends_with(": silence in 4 tries");
  };
  CHECK(is_silent(fault_of(with(kOcs, {"--fault", "silent"}), milliseconds{20})));
  CHECK(is_silent(fault_of(with(kOcs, {"--fault", "late=200ms"}), milliseconds{20})));
  CHECK(fault_of(with(kOcs, {"--fault", "ocs-stuck"}), milliseconds{5000}) ==
        "ocs: input 0 reads nothing, wanted output 1, set 3 times");
  CHECK(fault_of(with(kOcs, {"--fault", "ocs-dead"}), milliseconds{5000}) ==
        "ocs: input 0 reads nothing, wanted output 1, set 3 times; the switch says -240 \"Hardware error\"");
  CHECK(fault_of({"--inputs", "8", "--outputs", "8"}, milliseconds{5000}) ==
        "ocs: has 8 inputs and 8 outputs, the fabric says 4 and 4");
}

TEST_CASE("a_switch_that_answers_late_for_a_while_poisons_nothing") {
  const EmulatorProcess switches(with(kOcs, {"--fault", "late=150ms,times=2"}), "ocs");
  const auto bus = bus_to(switches);
  CHECK(ask(*bus, ":oxc:swit:size?", "\n", milliseconds{50}) == "timeout");
  CHECK(ask(*bus, "*idn?", "\n", milliseconds{50}) == "timeout");
  CHECK(ask(*bus, "*opc?", "\n") == "1");
  CHECK(ask(*bus, ":oxc:swit:conn:stat?", "\n") == "(@),(@)");
}

}  // namespace loom
