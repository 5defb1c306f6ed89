// SPDX-License-Identifier: Apache-2.0
// lightloom-emulate cmis: a pluggable module as a file.
#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "sim_backend/emulate/emulators.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/pluggable/module_files.hpp"

namespace loom {
namespace {

constexpr const char* kCmisWords =
    "\nThe file has the layout of the optoe kernel driver: byte b of page p is at (p + 1) * 128 + b - 128. Pages 00h, 01h, "
    "04h,\n"
    "10h, 11h and 12h of CMIS, and with --osnr-db or --pre-fec-ber 20h, 24h and 2Fh (VDM); one data path of eight host lanes, "
    "one media lane. It starts in LowPwr, as a board that holds\n"
    "LPMode keeps it. For up to 10 ms after a write it does not acknowledge: EREMOTEIO, ask again.\n"
    "SIGHUP is a power cycle. When it can be reached it prints 'file PATH' on stdout.\n";

constexpr const char* kSffWords =
    "\nThe file has the layout of the optoe kernel driver for SFP: A0h at 0, A2h at 256, byte b of page p of A2h at\n"
    "(p + 3) * 128 + b - 128. Page 02h is that of SFF-8690: tunable by channel number. It starts with its laser off. For up\n"
    "to 10 ms after a write it does not acknowledge: EREMOTEIO, ask again.\n"
    "SIGHUP is a power cycle. When it can be reached it prints 'file PATH' on stdout.\n";

struct Options {
  ModuleFileOptions file;
  std::uint32_t hertz = 400'000;
  std::int64_t retune_ms = 1'000;
  std::int64_t blank_ms = 100;
  std::int64_t enable_ms = 400;
  std::optional<double> received_dbm;
  std::optional<double> osnr_db;
  std::optional<double> pre_fec_ber;
};

std::int32_t centi(double value) { return static_cast<std::int32_t>(std::lround(value * 100)); }

ModuleSignal signal_of(const Options& options) {
  ModuleSignal signal;
  signal.pre_fec_ber = options.pre_fec_ber;
  if (options.received_dbm) {
    signal.received = Dbm{centi(*options.received_dbm)};
  }
  if (options.osnr_db) {
    signal.osnr = Db{centi(*options.osnr_db)};
  }
  return signal;
}

/// With the launch power of a 400ZR.
Element laser(const Options& options) {
  Transmitter transmitter;
  transmitter.launch_power = Dbm{-1'000};
  transmitter.retune_max = std::chrono::milliseconds{options.retune_ms};
  transmitter.blank_max = std::chrono::milliseconds{options.blank_ms};
  transmitter.enable_max = std::chrono::milliseconds{options.enable_ms};
  return c_band_laser("module", transmitter);
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--mount", options.file.folder, "an empty folder, in which the file eeprom appears")
      ->required()
      ->check(CLI::ExistingDirectory);
  add_device_options(app, options.file.common);
  app.add_option("--hertz", options.hertz, "of its two wires")->check(CLI::Range(10'000, 1'000'000))->capture_default_str();
  app.add_option("--retune-ms", options.retune_ms, "ms that it may take to another channel; what it advertises ends within")
      ->check(CLI::Range(1, 3'600'000))
      ->capture_default_str();
  app.add_option("--blank-ms", options.blank_ms, "ms from disabling its output to dark, likewise")
      ->check(CLI::Range(1, 60'000))
      ->capture_default_str();
  app.add_option("--enable-ms", options.enable_ms, "ms from enabling its output to full power, likewise")
      ->check(CLI::Range(1, 3'600'000))
      ->capture_default_str();
}

std::function<int()> add_module(CLI::App& app, const char* model, PageLayout layout, const char* words) {
  const auto options = std::make_shared<Options>();
  options->file.layout = layout;
  add_options(app, *options);
  if (layout == PageLayout::one_address) {
    app.add_option("--received-dbm", options->received_dbm, "what its receiver says that it gets")
        ->check(CLI::Range(-40.0, 10.0));
    app.add_option("--osnr-db", options->osnr_db, "likewise, by VDM")->check(CLI::Range(0.0, 60.0));
    app.add_option("--pre-fec-ber", options->pre_fec_ber, "likewise: bit error ratio before correction")
        ->check(CLI::Range(0.0, 0.5));
  }
  app.footer(words + fault_help(DeviceRole::transmitter));
  return [options, model] {
    SimDeviceOptions models;
    models.i2c_hertz = options->hertz;
    models.signal = signal_of(*options);
    const EmulatorOptions& common = options->file.common;
    return run_module_emulator(common.scenario.empty()
                                   ? lone_devices({{DeviceRole::transmitter, model, {laser(*options)}}}, common)
                                   : devices_of_scenario(common, {model}),
                               models, options->file);
  };
}

}  // namespace

const EmulatorProgram kCmisEmulator{
    "cmis", "a tunable coherent module, CMIS pages as a file (FUSE)",
    [](CLI::App& app) -> std::function<int()> { return add_module(app, "cmis", PageLayout::one_address, kCmisWords); }};

const EmulatorProgram kSffEmulator{
    "sff", "a tunable SFP+, SFF-8690 as a file (FUSE)",
    [](CLI::App& app) -> std::function<int()> { return add_module(app, "sff8690", PageLayout::two_addresses, kSffWords); }};

}  // namespace loom
