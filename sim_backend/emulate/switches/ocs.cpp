// SPDX-License-Identifier: Apache-2.0
// lightloom-emulate ocs: an optical circuit switch that speaks SCPI or TL1, with others' connections on it.
#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <memory>

#include "core/text/format_text.hpp"
#include "drivers/ocs/scpi_ocs.hpp"
#include "drivers/ocs/tl1_ocs.hpp"
#include "sim_backend/emulate/emulators.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/monitor/light_sight.hpp"
#include "sim_backend/emulate/server.hpp"
#include "sim_backend/emulate/switches/switch_options.hpp"

namespace loom {
namespace {

constexpr const char* kWords =
    "\nPorts are of the device's own numbering: 1..N are ingress, N+1..N+M egress (Calient: 10001.., 20001..).\n"
    "\nscpi: lines end in \\n; commands succeed in silence, errors are queued.\n"
    "  *idn?  *opc?  *cls  *RST  :oxc:swit:size?\n"
    "  :oxc:swit:conn:add (@1,2),(@17,18)   :sub (@1),(@17) or (@1,2),(@)   :only (@..),(@..)   :oxc:swit:disc:all\n"
    "  :oxc:swit:conn:stat?   :oxc:swit:conn:port? 2   :oxc:swit:port:stat? (@1,17)   :syst:err?   :syst:err:all?\n"
    "Long forms, any case, several commands in a line with ';'. Ports under way are missing from :stat?.\n"
    "\npolatis-tl1: commands end in ';', 7 is their ctag.\n"
    "  ACT-USER::user:7::password;  CANC-USER::user:7:;  RTRV-NETYPE:::7:;  RTRV-INV::OCS:7:;\n"
    "  RTRV-EQPT::SYSTEM:7:::PARAMETER=SIZE;  RTRV-PATCH:::7:;  ENT-PATCH::1&2,17&18:7:;  DLT-PATCH::1&2:7:;\n"
    "  RTRV-PORT-SHUTTER::1&&4:7:;  OPR-  RLS-PORT-SHUTTER::1:7:;  RTRV-PORT-POWER::1&&4:7:;\n"
    "\ncalient-tl1:\n"
    "  rtrv-system-info:::7:;  rtrv-crs-fiber::all:7:;  ent-crs-fiber::10001,20001:7:;  dlt-crs-fiber::10001,20001:7:;\n"
    "\nSIGHUP is a power cycle: cross-connects and connections are lost.\n"
    "\nWhen it can be reached it prints 'port N' or 'pty PATH' on stdout.\n";

struct Dialect {
  const char* name;
  const DriverModel* model;
  std::uint16_t port;
};
constexpr std::array kDialects{Dialect{"scpi", &kScpiOcs, 5'025}, Dialect{"polatis-tl1", &kPolatisTl1, 3'082},
                               Dialect{"calient-tl1", &kCalientTl1, 3'082}};

struct Options {
  SwitchOptions ports;
  std::string dialect = "scpi";
  std::string size;
  std::vector<std::string> occupied;
  std::vector<std::uint32_t> disabled;
  std::vector<std::uint32_t> failed;
  std::vector<std::uint32_t> shut;
  std::vector<std::string> lit;
  std::vector<std::string> light_logs;
  std::string user;
  std::string password_file;
  CircuitSwitchOptions around;
};

std::unexpected<Error> unlawful(const char* option, std::string_view found, std::string_view expected) {
  return fail(ErrorCode::invalid_argument, format_text("{} {}: expected {}", option, found, expected));
}

/// A port counted from 0, inputs before outputs.
Result<std::uint32_t> port_of(const OcsProfile& device, std::uint32_t number, const char* option) {
  const SwitchSize size = device.ports.whole;
  if (number >= device.first_output && number - device.first_output < size.outputs) {
    return size.inputs + number - device.first_output;
  }
  if (number >= device.first_input && number - device.first_input < size.inputs) {
    return number - device.first_input;
  }
  return unlawful(
      option, std::to_string(number),
      format_text("a port of the switch, {} to {} or {} to {}", device.first_input, device.first_input + size.inputs - 1,
                  device.first_output, device.first_output + size.outputs - 1));
}

std::optional<std::uint32_t> read_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "IN-OUT"
Result<CrossConnect> connect_of(const OcsProfile& device, const std::string& text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto from = read_number(text.substr(0, dash));
  const auto to = read_number(text.substr(std::min(dash + 1, text.size())));
  if (!from || !to) {
    return unlawful("--occupied", text, "an input and an output, as 1-20");
  }
  const auto input = port_of(device, *from, "--occupied");
  const auto output = port_of(device, *to, "--occupied");
  if (!input || !output) {
    return std::unexpected(input ? output.error() : input.error());
  }
  const std::uint32_t inputs = device.ports.whole.inputs;
  if (*input >= inputs || *output < inputs) {
    return unlawful("--occupied", text, "an input and an output, as 1-20");
  }
  return CrossConnect{static_cast<std::uint16_t>(*input), static_cast<std::uint16_t>(*output - inputs)};
}

Result<void> add_ports(const OcsProfile& device, const std::vector<std::uint32_t>& numbers, const char* option,
                       std::vector<std::uint32_t>& ports) {
  for (const std::uint32_t number : numbers) {
    const auto port = port_of(device, number, option);
    if (!port) {
      return std::unexpected(port.error());
    }
    ports.push_back(*port);
  }
  return {};
}

/// "PORT=DBM"
Result<void> add_light(const OcsProfile& device, const std::string& text, CircuitSwitchOptions& around) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const auto number = read_number(text.substr(0, equals));
  const auto power = tl1::read_power(text.substr(std::min(equals + 1, text.size())));
  if (!number || !power) {
    return unlawful("--lit", text, "an input and its power in dBm, as 1=-3.5");
  }
  const auto port = port_of(device, *number, "--lit");
  if (!port) {
    return std::unexpected(port.error());
  }
  around.lit.emplace_back(*port, *power);
  return {};
}

Result<void> read_surroundings(Options& options, const EmulatedDevices& devices) {
  const Device& device = devices.fabric->device(devices.devices.front());
  const OcsProfile numbers = ocs_profile_of(*devices.fabric, device);
  for (const std::string& text : options.occupied) {
    const auto connect = connect_of(numbers, text);
    if (!connect) {
      return std::unexpected(connect.error());
    }
    options.around.occupied.push_back(*connect);
  }
  for (const std::string& text : options.lit) {
    LOOM_TRY(add_light(numbers, text, options.around));
  }
  LOOM_TRY(add_ports(numbers, options.disabled, "--disabled", options.around.disabled));
  LOOM_TRY(add_ports(numbers, options.failed, "--failed", options.around.failed));
  LOOM_TRY(add_ports(numbers, options.shut, "--shut", options.around.shut));
  if (!options.user.empty()) {
    auto password = read_password(options.password_file);
    if (!password) {
      return std::unexpected(password.error());
    }
    options.around.user = options.user;
    options.around.password = *std::move(password);
  }
  return {};
}

Result<EmulatedDevices> devices_of(Options& options, const Dialect& dialect) {
  if (!options.size.empty()) {
    const auto size = read_switch_size(options.size);
    if (!size || size->inputs > 1'024 || size->outputs > 1'024) {
      return unlawful("--size", options.size, "inputs x outputs, each 1 to 1024, as 192x192");
    }
    options.ports.inputs = static_cast<PortNumber>(size->inputs);
    options.ports.outputs = static_cast<PortNumber>(size->outputs);
  }
  OpticalCircuitSwitch kind;
  kind.settle_max = std::chrono::microseconds{options.ports.settle_us};
  Element element = switch_element(options.ports);
  element.kind = kind;
  const EmulatorOptions& common = options.ports.common;
  auto devices =
      common.scenario.empty()
          ? Result<EmulatedDevices>(lone_devices({{DeviceRole::circuit_switch, dialect.model->model.name, {element}}}, common))
          : devices_of_scenario(
                common, {kDialects[0].model->model.name, kDialects[1].model->model.name, kDialects[2].model->model.name});
  if (devices) {
    LOOM_TRY(read_surroundings(options, *devices));
  }
  return devices;
}

int serve(Options& options, bool has_port) {
  const Dialect& dialect = *std::ranges::find(kDialects, options.dialect, &Dialect::name);
  EmulatorOptions& common = options.ports.common;
  common.port = has_port ? common.port : dialect.port;
  const auto devices = devices_of(options, dialect);
  SimDeviceOptions models;
  models.ocs = options.around;
  const bool is_tl1 = devices && model_of(*devices) != kScpiOcs.model.name;
  EmulatedProtocol protocol{[is_tl1](const EmulatorOptions&) { return is_tl1 ? make_tl1_framing() : make_line_framing(); }};
  if (devices && !options.light_logs.empty()) {
    protocol.sight = sight_of_logs(devices->fabric, options.light_logs);
  }
  return run_emulator(devices, models, std::move(protocol), common);
}

void add_options(CLI::App& app, Options& options) {
  options.ports.inputs = 16;
  options.ports.outputs = 16;
  options.ports.settle_us = 25'000;
  add_switch_options(app, options.ports, kDialects.front().port);
  app.add_option("--dialect", options.dialect,
                 "what it speaks; TCP port 5025 for scpi, else 3082. With --scenario the device's model says so")
      ->check(CLI::IsMember({"scpi", "polatis-tl1", "calient-tl1"}))
      ->excludes("--scenario")
      ->capture_default_str();
  app.add_option("--size", options.size, "inputs x outputs, as 192x192")->excludes("--inputs")->excludes("--outputs");
  app.add_option("--occupied", options.occupied, "IN-OUT: a connection that somebody else made; several times");
  app.add_option("--disabled", options.disabled, "a port that is disabled; several times");
  app.add_option("--failed", options.failed, "a port that is broken; several times");
  app.add_option("--shut", options.shut, "a port whose shutter is closed (polatis-tl1); several times");
  app.add_flag("--shutters-stick", options.around.shutters_stick, "shutters stay as they are");
  app.add_option("--lit", options.lit, "PORT=DBM: light that comes to an input, for its power monitors (TL1); several times");
  add_light_logs(app, options.light_logs);
  auto* user = app.add_option("--user", options.user, "who must log in (TL1); without it anybody is let in");
  auto* file = app.add_option("--password-file", options.password_file, "file with his password, mode 0600");
  user->needs(file);
  file->needs(user);
  app.add_flag("--announce", options.around.announces, "an autonomous message before every reply (TL1)");
  app.footer(kWords + fault_help(DeviceRole::circuit_switch));
}

}  // namespace

const EmulatorProgram kOcsEmulator{
    "ocs", "an optical circuit switch, Polatis' SCPI or TL1 of Polatis or Calient, over TCP or a pseudo terminal",
    [](CLI::App& app) -> std::function<int()> {
      const auto options = std::make_shared<Options>();
      add_options(app, *options);
      return [options, port = app.get_option("--port")] { return serve(*options, port->count() > 0); };
    }};

}  // namespace loom
