// SPDX-License-Identifier: Apache-2.0
// lightloom-emulate itla: a tunable laser that speaks OIF-ITLA-MSA frames.
#include <CLI/CLI.hpp>
#include <memory>

#include "sim_backend/emulate/emulators.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/server.hpp"

namespace loom {
namespace {

constexpr const char* kWords =
    "\nFour bytes each way, most significant first: a BIP-4 checksum in bits 7-4 and flags, a register, two bytes of data.\n"
    "Registers are those of OIF-ITLA-MSA-01.3 that docs/devices.md lists. It powers up dark, on a 50 GHz grid whose channel 1\n"
    "is its lowest frequency, 191.350 THz. A frame that is not whole after 20 ms of silence is forgotten.\n"
    "SIGHUP is a power cycle: settings, light and connections are lost.\n"
    "\nWhen it can be reached it prints 'port N' or 'pty PATH' on stdout.\n";

struct Options {
  EmulatorOptions common;
  std::uint32_t baud = 115'200;
  std::int64_t retune_us = 100'000;
};

Element laser(const Options& options) {
  Transmitter transmitter;
  transmitter.launch_power = Dbm{1'000};
  transmitter.retune_max = std::chrono::microseconds{options.retune_us};
  transmitter.blank_max = std::chrono::milliseconds{1};
  return c_band_laser("laser", transmitter);
}

int serve(const Options& options) {
  SimDeviceOptions models;
  models.serial_baud = options.baud;
  const EmulatorOptions& common = options.common;
  return run_emulator(common.scenario.empty()
                          ? lone_devices({{DeviceRole::transmitter, "itla_laser", {laser(options)}}}, common)
                          : devices_of_scenario(common, {"itla_laser"}),
                      models, {[](const EmulatorOptions&) { return make_itla_framing(); }}, common);
}

}  // namespace

const EmulatorProgram kItlaEmulator{
    "itla", "a tunable laser, OIF-ITLA-MSA frames over TCP or a pseudo terminal", [](CLI::App& app) -> std::function<int()> {
      const auto options = std::make_shared<Options>();
      add_common_options(app, options->common, 5'200);
      app.add_option("--baud", options->baud, "of its serial line, which paces every frame")
          ->check(CLI::Range(1'200, 1'000'000))
          ->capture_default_str();
      app.add_option("--retune-us", options->retune_us, "us that tuning takes at most; each takes 50 to 100 percent of it")
          ->check(CLI::Range(0, 60'000'000))
          ->capture_default_str();
      app.footer(kWords + fault_help(DeviceRole::transmitter));
      return [options] { return serve(*options); };
    }};

}  // namespace loom
