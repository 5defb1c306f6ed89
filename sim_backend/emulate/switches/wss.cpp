// SPDX-License-Identifier: Apache-2.0
// lightloom-emulate wss: an LCoS wavelength-selective switch that speaks the flexgrid dialect.
#include <CLI/CLI.hpp>
#include <memory>

#include "sim_backend/emulate/emulators.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/server.hpp"
#include "sim_backend/emulate/switches/switch_options.hpp"

namespace loom {
namespace {

constexpr const char* kWords =
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
    "\nWhen it can be reached it prints 'port N' or 'pty PATH' on stdout.\n";

struct Options {
  SwitchOptions ports;
  SimDeviceOptions models;
};

int serve(const Options& options) {
  WavelengthSelectiveSwitch kind;
  kind.settle_max = std::chrono::microseconds{options.ports.settle_us};
  Element element = switch_element(options.ports);
  element.kind = kind;
  const EmulatorOptions& common = options.ports.common;
  return run_emulator(common.scenario.empty() ? lone_devices({{DeviceRole::wavelength_switch, "wss", {element}}}, common)
                                              : devices_of_scenario(common, {"wss"}),
                      options.models, {[](const EmulatorOptions&) { return make_line_framing(); }}, common);
}

}  // namespace

const EmulatorProgram kWssEmulator{
    "wss", "an LCoS wavelength-selective switch, Finisar's ASCII dialect over TCP or a pseudo terminal",
    [](CLI::App& app) -> std::function<int()> {
      const auto options = std::make_shared<Options>();
      add_switch_options(app, options->ports, 5'100);
      app.add_flag("--checksum", options->models.wss_checksum, "every reply carries a checksum, asked so or not");
      app.add_option("--slices", options->models.wss_slices, "772 of 6.25 GHz or 386 of 12.5 GHz")
          ->check(CLI::IsMember({772, 386}))
          ->capture_default_str();
      app.add_option("--baud", options->models.serial_baud, "of its serial line, which paces every line")
          ->check(CLI::Range(1'200, 1'000'000))
          ->capture_default_str();
      app.footer(kWords + fault_help(DeviceRole::wavelength_switch));
      return [options] { return serve(*options); };
    }};

}  // namespace loom
