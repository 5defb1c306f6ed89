// SPDX-License-Identifier: Apache-2.0
// lightloom-emulate gain-lines, gain-registers: amplifiers in gain mode and attenuators, behind lines of text and behind
// Modbus.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <utility>

#include "sim_backend/emulate/emulators.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/modbus_framing.hpp"
#include "sim_backend/emulate/monitor/light_sight.hpp"
#include "sim_backend/emulate/server.hpp"

namespace loom {
namespace {

constexpr const char* kLineWords =
    "\nLines end in \\n. Of a lone attenuator (Keysight's words):\n"
    "  *IDN?  :SYST:ERR?  :INP1:ATT 3.00;*OPC?  :INP1:ATT?  :OUTP1 1;*OPC?  :OUTP1?\n"
    "of a lone amplifier (no maker's words, docs/devices.md, Gain stages):\n"
    "  :AMPL1:GAIN 12.00;*OPC?  :AMPL1:GAIN?  :AMPL1:STAT 1;*OPC?  :AMPL1:STAT?  :AMPL1:INP:POW?  :AMPL1:OUTP:POW?\n"
    "*OPC? behind a command is answered once that is done. With --scenario the devices' profiles say what is asked and how.\n";

constexpr const char* kRegisterWords =
    "\nHolding registers (functions 03h, 06h, 10h); no maker's: the map is Lightloom's own, docs/devices.md, Gain stages.\n"
    "  0 on (1: it passes light)   1 gain, or attenuation, wanted, 0.01 dB     written as one block\n"
    "  2 status (1 moving, 2 broken)   3 gain or attenuation that it has, 0.01 dB\n"
    "  4 power in   5 power out, 0.01 dBm, signed     all four read only\n";

constexpr const char* kPlace =
    "SIGHUP is a power cycle: settings and connections are lost, and no light passes.\n"
    "\nWhen it can be reached it prints 'port N' or 'pty PATH' on stdout.\n";

struct Options {
  EmulatorOptions common;
  LightOptions light;
  bool is_amplifier = false;
  double most_db = 30;
  std::int64_t settle_ms = 20;
  std::uint16_t unit = 1;
  std::uint32_t baud = 115'200;
};

Element stage(const Options& options) {
  Element element;
  element.name = options.is_amplifier ? "amplifier" : "attenuator";
  element.inputs = element.outputs = 1;
  const Db most{static_cast<std::int32_t>(options.most_db * 100 + 0.5)};
  const Duration settle_max = std::chrono::milliseconds{options.settle_ms};
  if (options.is_amplifier) {
    element.kind = Amplifier{.gain_min = Db{0}, .gain_max = most, .settle_max = settle_max};
  } else {
    element.kind = Attenuator{.loss_max = most, .settle_max = settle_max};
  }
  return element;
}

LoneDevice lone_device(const Options& options, std::string_view attenuator, std::string_view amplifier) {
  return {DeviceRole::gain_stage, options.is_amplifier ? amplifier : attenuator, {stage(options)}, options.unit};
}

int serve(const Result<EmulatedDevices>& devices, SimDeviceOptions models, EmulatedProtocol protocol, const Options& options) {
  if (devices) {
    protocol.sight = sight_of(options.light, devices->fabric);
  }
  models.modbus_baud = options.baud;
  return run_emulator(devices, models, std::move(protocol), options.common);
}

int serve_lines(const Options& options) {
  const EmulatorOptions& common = options.common;
  return serve(common.scenario.empty() ? lone_devices({lone_device(options, "scpi_voa", "scpi_edfa")}, common)
                                       : devices_of_scenario(common, {"scpi_voa", "scpi_edfa"}),
               {}, {[](const EmulatorOptions&) { return make_line_framing(); }}, options);
}

int serve_registers(const Options& options) {
  const EmulatorOptions& common = options.common;
  const auto framing = [](const EmulatorOptions& told) {
    return told.pty ? make_modbus_rtu_framing() : make_modbus_tcp_framing();
  };
  return serve(common.scenario.empty() ? lone_devices({lone_device(options, "modbus_voa", "modbus_edfa")}, common)
                                       : devices_of_scenario(common, {"modbus_voa", "modbus_edfa"}),
               {}, {framing}, options);
}

void add_stage_options(CLI::App& app, Options& options, std::uint16_t usual_port) {
  add_common_options(app, options.common, usual_port);
  add_light_options(app, options.light);
  app.add_flag("--amplifier", options.is_amplifier, "a lone amplifier; else a lone attenuator");
  app.add_option("--most-db", options.most_db, "gain or attenuation of a lone one, at most")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  app.add_option("--settle-ms", options.settle_ms, "ms that a lone one takes at most; each takes 50 to 100 percent of it")
      ->check(CLI::Range(0, 60'000))
      ->capture_default_str();
}

}  // namespace

const EmulatorProgram kGainLinesEmulator{
    "gain-lines", "an amplifier or attenuator, SCPI over TCP or a pseudo terminal", [](CLI::App& app) -> std::function<int()> {
      const auto options = std::make_shared<Options>();
      add_stage_options(app, *options, 5'027);
      app.footer(std::string(kLineWords) + kLightWords + kPlace + fault_help(DeviceRole::gain_stage));
      return [options] { return serve_lines(*options); };
    }};

const EmulatorProgram kGainRegistersEmulator{
    "gain-registers", "an amplifier or attenuator, Modbus/TCP or Modbus RTU over a pseudo terminal",
    [](CLI::App& app) -> std::function<int()> {
      const auto options = std::make_shared<Options>();
      add_stage_options(app, *options, 1'505);
      app.add_option("--unit", options->unit, "its Modbus unit")->check(CLI::Range(1, 247))->capture_default_str();
      app.add_option("--baud", options->baud, "of its serial line, which paces every request")
          ->check(CLI::Range(1'200, 1'000'000))
          ->capture_default_str();
      app.footer(std::string(kRegisterWords) + kLightWords + kPlace + fault_help(DeviceRole::gain_stage));
      return [options] { return serve_registers(*options); };
    }};

}  // namespace loom
