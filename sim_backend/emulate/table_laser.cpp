// SPDX-License-Identifier: Apache-2.0
// lightloom-emulate table-laser: a tunable laser that is set by an index into its table, behind Modbus.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>

#include "sim_backend/emulate/emulators.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/modbus_framing.hpp"
#include "sim_backend/emulate/server.hpp"

namespace loom {
namespace {

constexpr const char* kRegisters =
    "\nHolding registers (functions 03h, 06h, 10h); no maker's: the map is Lightloom's own, docs/devices.md, Table laser.\n"
    "  0 gate (1: emits)   1 channel, from 1   2 power, 0.01 dBm, signed     written as one block\n"
    "  3 status (1 tuned, 2 emitting, 4 broken)   4 frequency error, MHz   5 output power, 0.01 dBm     read only\n"
    "  6 to 8 the next gate, channel, power   9 trigger: 1 takes them over     with --trigger\n"
    "SIGHUP is a power cycle: settings, light and connections are lost.\n"
    "\nWhen it can be reached it prints 'port N' or 'pty PATH' on stdout.\n";

struct Options {
  EmulatorOptions common;
  std::uint16_t unit = 1;
  std::uint32_t baud = 115'200;
  std::int64_t retune_us = 1;
  bool has_trigger = false;
};

Element laser(const Options& options) {
  Transmitter transmitter;
  transmitter.launch_power = Dbm{1'000};
  transmitter.retune_max = std::chrono::microseconds{options.retune_us};
  transmitter.blank_max = std::chrono::microseconds{1};
  return c_band_laser("laser", transmitter);
}

int serve(const Options& options) {
  SimDeviceOptions models;
  models.modbus_baud = options.baud;
  LoneDevice lone{DeviceRole::transmitter, "table_laser", {laser(options)}, options.unit};
  lone.profile = {{"trigger", options.has_trigger}};
  const auto framing = [](const EmulatorOptions& given) {
    return given.pty ? make_modbus_rtu_framing() : make_modbus_tcp_framing();
  };
  const EmulatorOptions& common = options.common;
  return run_emulator(
      common.scenario.empty() ? lone_devices({std::move(lone)}, common) : devices_of_scenario(common, {"table_laser"}), models,
      {framing}, common);
}

}  // namespace

const EmulatorProgram kTableLaserEmulator{
    "table-laser", "a tunable laser set by an index into its table, Modbus/TCP or Modbus RTU over a pseudo terminal",
    [](CLI::App& app) -> std::function<int()> {
      const auto options = std::make_shared<Options>();
      add_common_options(app, options->common, 1'504);
      app.add_option("--unit", options->unit, "its Modbus unit")->check(CLI::Range(1, 247))->capture_default_str();
      app.add_option("--baud", options->baud, "of its serial line, which paces every request")
          ->check(CLI::Range(1'200, 1'000'000))
          ->capture_default_str();
      app.add_option("--retune-us", options->retune_us, "us that tuning takes at most; each takes 50 to 100 percent of it")
          ->check(CLI::Range(1, 60'000'000))
          ->capture_default_str();
      app.add_flag("--trigger", options->has_trigger, "it holds the next channel ready, and switches at a word");
      app.footer(kRegisters + fault_help(DeviceRole::transmitter));
      return [options] { return serve(*options); };
    }};

}  // namespace loom
