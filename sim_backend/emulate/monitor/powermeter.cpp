// SPDX-License-Identifier: Apache-2.0
// lightloom-emulate powermeter: a power meter or a wavemeter that speaks SCPI. lightloom-emulate photodiode: a bank of
// photodiodes behind Modbus. Both measure what light logs tell, or what their options say.
#include <CLI/CLI.hpp>
#include <memory>

#include "core/text/format_text.hpp"
#include "sim_backend/emulate/emulators.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/modbus_framing.hpp"
#include "sim_backend/emulate/monitor/light_sight.hpp"
#include "sim_backend/emulate/server.hpp"

namespace loom {
namespace {

constexpr const char* kMeterWords =
    "\nLines end in \\n. Of a lone meter (--answers power, one channel):\n"
    "  *IDN?  :SYST:ERR?  READ?\n"
    "--answers array, a wavemeter: :READ:ARR:POW:FREQ? measures and tells how many peaks and their Hz, :FETC:ARR:POW? their\n"
    "dBm. --answers trace, a spectrum analyser: :TRAC:X? TRA in metres, :TRAC:Y? TRA in dBm. With --scenario the devices'\n"
    "profiles say what is asked and how.\n";

constexpr const char* kPlace = "\nWhen it can be reached it prints 'port N' or 'pty PATH' on stdout.\n";

struct Options {
  EmulatorOptions common;
  LightOptions light;
  std::string answers = "power";
  std::uint16_t channels = 8;
};

std::vector<Element> receivers(std::uint16_t count) {
  std::vector<Element> elements;
  for (std::uint16_t channel = 0; channel < count; ++channel) {
    Element element;
    element.name = format_text("receiver-{}", channel);
    element.inputs = 1;
    element.kind = Receiver{};
    elements.push_back(std::move(element));
  }
  return elements;
}

int serve(const Result<EmulatedDevices>& devices, EmulatedProtocol protocol, const Options& options) {
  if (devices) {
    protocol.sight = sight_of(options.light, devices->fabric);
  }
  return run_emulator(devices, {}, std::move(protocol), options.common);
}

int serve_meter(const Options& options) {
  const EmulatorOptions& common = options.common;
  LoneDevice lone{DeviceRole::monitor, options.answers == "power" ? "power_meter" : "osa", receivers(1)};
  if (options.answers != "power") {
    lone.profile = {{"answers", std::int64_t{options.answers == "trace" ? 1 : 0}}};
  }
  return serve(
      common.scenario.empty() ? lone_devices({std::move(lone)}, common) : devices_of_scenario(common, {"power_meter", "osa"}),
      {[](const EmulatorOptions&) { return make_line_framing(); }}, options);
}

int serve_photodiodes(const Options& options) {
  const EmulatorOptions& common = options.common;
  LoneDevice lone{DeviceRole::monitor, "photodiode_bank", receivers(options.channels)};
  const auto framing = [](const EmulatorOptions& told) {
    return told.pty ? make_modbus_rtu_framing() : make_modbus_tcp_framing();
  };
  return serve(
      common.scenario.empty() ? lone_devices({std::move(lone)}, common) : devices_of_scenario(common, {"photodiode_bank"}),
      {framing}, options);
}

}  // namespace

const EmulatorProgram kPowerMeterEmulator{
    "powermeter", "a power meter, wavemeter or spectrum analyser, SCPI over TCP or a pseudo terminal",
    [](CLI::App& app) -> std::function<int()> {
      const auto options = std::make_shared<Options>();
      add_common_options(app, options->common, 5'026);
      add_light_options(app, options->light);
      app.add_option("--answers", options->answers, "of a lone meter")
          ->check(CLI::IsMember({"power", "array", "trace"}))
          ->capture_default_str();
      app.footer(std::string(kMeterWords) + kLightWords + kPlace + fault_help(DeviceRole::monitor));
      return [options] { return serve_meter(*options); };
    }};

const EmulatorProgram kPhotodiodeEmulator{
    "photodiode", "a bank of photodiodes, Modbus/TCP or Modbus RTU over a pseudo terminal",
    [](CLI::App& app) -> std::function<int()> {
      const auto options = std::make_shared<Options>();
      add_common_options(app, options->common, 1'503);
      add_light_options(app, options->light);
      app.add_option("--channels", options->channels, "photodiodes of a lone bank")
          ->check(CLI::Range(1, 64))
          ->capture_default_str();
      app.footer(std::string("\nInput registers 0 .. channels - 1 (function 04h), counts of 4095 that are 2 mA at 0.95 A/W;\n"
                             "with --scenario the device's profile says so.\n") +
                 kLightWords + kPlace + fault_help(DeviceRole::monitor));
      return [options] { return serve_photodiodes(*options); };
    }};

}  // namespace loom
