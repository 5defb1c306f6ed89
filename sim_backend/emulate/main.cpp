// lightloom-emulate: protocol-exact stand-ins for devices, each a process of its own. Words on stderr, the port on stdout.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "runtime/process_limits.hpp"
#include "sim_backend/emulate/heater_server.hpp"
#include "sim_backend/emulate/line_server.hpp"

namespace {

constexpr const char* kHeaterMap =
    "\nRegister map (holding registers; functions 03h, 06h, 10h), as of a Waveshare Modbus analog output 8CH (B):\n"
    "  0x0000..  channel 1..  output, mV, 0..10000\n"
    "  0x2000    UART         high byte parity 0 N, 1 E, 2 O; low byte baud 0 4800 .. 7 256000\n"
    "  0x4000    address      1..255\n"
    "  0x8000    version      0x0064 is 1.00; read only\n"
    "Exceptions: 1 function, 2 address, 3 value, 6 busy, 11 no such unit behind this port.\n"
    "SIGHUP is a power cycle: outputs are off, connections are lost.\n"
    "\nWhen it listens it prints 'port N' on stdout.\n";

constexpr const char* kWssWords =
    "\nLines end in \\r\\n; each is plain or ^text$HHHH, HHHH the two's complement of the sum of its characters, and is\n"
    "answered in its own form. A reply ends in a line OK or an error: CER command, AER argument, RER range, VER value.\n"
    "  CHW 0                     force flexgrid\n"
    "  DCC 1=s0:sf;2=s0:sf       channels by inclusive slices from 191.325 THz; DCC? tells them\n"
    "  UCA 1,port,att;2,99,99.9  port and attenuation in dB, at once; port 99 with 99.9 is blocked\n"
    "  URA 1,port,att;...        prepares a pattern for all channels, unseen; RSW switches to it\n"
    "  RRA?                      port and attenuation of every channel as commanded\n"
    "  OSS?  SNO?  HWR?  FWR?  SUS?   operation status, serial number, releases, start-up state\n"
    "Nothing tells when it has settled, as with the real device.\n"
    "SIGHUP is a power cycle: settings and connections are lost.\n"
    "\nWhen it listens it prints 'port N' on stdout.\n";

constexpr const char* kOcsWords =
    "\nLines end in \\n. Ports 1..N are ingress, N+1..N+M egress; commands succeed in silence, errors are queued.\n"
    "  *idn?  *opc?  *cls  *RST  :oxc:swit:size?\n"
    "  :oxc:swit:conn:add (@1,2),(@17,18)   :sub (@1),(@17) or (@1,2),(@)   :only (@..),(@..)   :oxc:swit:disc:all\n"
    "  :oxc:swit:conn:stat?   :oxc:swit:conn:port? 2   :syst:err?   :syst:err:all?\n"
    "Long forms, any case, several commands in a line with ';'. Ports under way are missing from :stat?.\n"
    "SIGHUP is a power cycle: cross-connects and connections are lost.\n"
    "\nWhen it listens it prints 'port N' on stdout.\n";

int complain(const loom::Error& error) {
  std::fprintf(stderr, "lightloom-emulate: %s\n", error.message.c_str());
  return 1;
}

void announce(std::uint16_t port) {
  std::printf("port %u\n", static_cast<unsigned>(port));
  std::fflush(stdout);
}

int serve_heater(const loom::HeaterServerOptions& options) {
  auto server = loom::HeaterServer::open(options);
  if (!server) {
    return complain(server.error());
  }
  announce(server->port());
  return complain(server->serve().error());
}

void add_heater_options(CLI::App& heater, loom::HeaterServerOptions& options, std::int64_t& late_ms) {
  heater.add_option("--port", options.port, "TCP port; 0 takes any free one")->capture_default_str();
  heater.add_option("--bind", options.bind, "IPv4 address to listen on")->capture_default_str();
  heater.add_option("--bank-channels", options.bank_channels, "outputs of a bank")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  heater.add_option("--unit", options.units, "Modbus unit of a bank; give several for several banks")
      ->check(CLI::Range(1, 247));
  heater.add_option("--busy", options.busy, "probability that a request is answered 'busy'")->check(CLI::Range(0.0, 1.0));
  heater.add_option("--late", late_ms, "ms by which replies come late")->check(CLI::Range(0, 60'000));
  heater.add_option("--late-count", options.late_count, "only the first so many replies are late; 0 means all");
  heater.add_flag("--silent", options.silent, "take requests, answer nothing");
  heater.add_option("--seed", options.seed, "seed of the misbehaviour")->capture_default_str();
  heater.footer(kHeaterMap);
}

/// What a switch emulator is told.
struct SwitchOptions {
  loom::LineServerOptions server;
  loom::PortNumber inputs = 1;
  loom::PortNumber outputs = 8;
  std::int64_t settle_us = 100'000;
  std::int64_t late_ms = 0;
  std::int64_t boot_ms = 500;
  std::vector<std::string> faults;
};

const std::map<std::string, loom::DeviceFaultKind> kFaults{{"stick", loom::DeviceFaultKind::stick},
                                                           {"fail", loom::DeviceFaultKind::fail},
                                                           {"garbage", loom::DeviceFaultKind::garbage},
                                                           {"slow_settle", loom::DeviceFaultKind::slow_settle}};

void add_switch_options(CLI::App& app, SwitchOptions& order) {
  app.add_option("--port", order.server.port, "TCP port; 0 takes any free one")->capture_default_str();
  app.add_option("--bind", order.server.bind, "IP address to listen on")->capture_default_str();
  app.add_option("--inputs", order.inputs, "input ports")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--outputs", order.outputs, "output ports")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--settle-us", order.settle_us, "worst settling time, us; each change takes 60 to 100 percent of it")
      ->check(CLI::Range(0, 60'000'000))
      ->capture_default_str();
  app.add_option("--boot-ms", order.boot_ms, "ms from a power cycle to the first connection")
      ->check(CLI::Range(0, 600'000))
      ->capture_default_str();
  app.add_option("--light-log", order.server.light_log, "file that gets one line for each change of its light");
  app.add_option("--light-id", order.server.light_id, "the device's id in that file")->capture_default_str();
  app.add_option("--late", order.late_ms, "ms by which replies come late")->check(CLI::Range(0, 60'000));
  app.add_option("--late-count", order.server.late_count, "only the first so many replies are late; 0 means all");
  app.add_flag("--silent", order.server.silent, "take requests, answer nothing");
  app.add_option("--fault", order.faults, "stick: ignores commands; fail: dead optics; garbage: damaged answers; slow_settle")
      ->check(CLI::IsMember(kFaults));
  app.add_option("--seed", order.server.device.seed, "seed of settling times and misbehaviour")->capture_default_str();
}

int serve_switch(SwitchOptions order, loom::DeviceRole kind) {
  const loom::Duration settle = std::chrono::microseconds{order.settle_us};
  loom::Element element;
  element.name = kind == loom::DeviceRole::wavelength_switch ? "wss" : "ocs";
  element.inputs = order.inputs;
  element.outputs = order.outputs;
  if (kind == loom::DeviceRole::wavelength_switch) {
    loom::WavelengthSelectiveSwitch wss;
    wss.settle_max = settle;
    element.kind = wss;
  } else {
    element.kind = loom::OpticalCircuitSwitch{settle};
  }
  order.server.late = std::chrono::milliseconds{order.late_ms};
  order.server.boot = std::chrono::milliseconds{order.boot_ms};
  for (const std::string& fault : order.faults) {
    order.server.faults.push_back(kFaults.at(fault));
  }
  auto loop = loom::AsioLoop::open();
  if (!loop) {
    return complain(loop.error());
  }
  auto server = loom::LineServer::open(**loop, loom::lone_device(std::move(element), kind), std::move(order.server));
  if (!server) {
    return complain(server.error());
  }
  announce((*server)->port());
  (*loop)->on_signal({});
  (*loop)->run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  loom::keep_files_private();
  CLI::App app{"Device emulators that speak the devices' real protocols.", "lightloom-emulate"};
  app.require_subcommand(1);
  loom::HeaterServerOptions options;
  std::int64_t late_ms = 0;
  CLI::App& heater = *app.add_subcommand("heater", "banks of ring heaters behind Modbus/TCP");
  add_heater_options(heater, options, late_ms);
  SwitchOptions wss_options;
  wss_options.server.port = 5100;
  CLI::App& wss = *app.add_subcommand("wss", "an LCoS wavelength-selective switch, Finisar's ASCII dialect over TCP");
  add_switch_options(wss, wss_options);
  wss.add_flag("--checksum", wss_options.server.device.wss_checksum, "every reply carries a checksum, asked so or not");
  wss.add_option("--slices", wss_options.server.device.wss_slices, "772 of 6.25 GHz or 386 of 12.5 GHz")
      ->check(CLI::IsMember({772, 386}))
      ->capture_default_str();
  wss.add_option("--baud", wss_options.server.device.serial_baud, "of the serial line behind the TCP port")
      ->check(CLI::Range(1'200, 1'000'000))
      ->capture_default_str();
  wss.footer(kWssWords);
  SwitchOptions ocs_options;
  ocs_options.server.port = 5025;
  ocs_options.inputs = 16;
  ocs_options.outputs = 16;
  ocs_options.settle_us = 25'000;
  CLI::App& ocs = *app.add_subcommand("ocs", "an optical circuit switch, Polatis' SCPI over TCP");
  add_switch_options(ocs, ocs_options);
  ocs.footer(kOcsWords);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.late = std::chrono::milliseconds{late_ms};
  return heater.parsed() ? serve_heater(options)
         : wss.parsed()  ? serve_switch(std::move(wss_options), loom::DeviceRole::wavelength_switch)
                         : serve_switch(std::move(ocs_options), loom::DeviceRole::circuit_switch);
}
