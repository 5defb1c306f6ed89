// SPDX-License-Identifier: Apache-2.0
// lightloom-emulate heater: banks of ring heaters behind Modbus, or on electronics that are spoken to in lines of text, over
// TCP or over a pseudo terminal.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/text/format_text.hpp"
#include "sim_backend/emulate/emulators.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/modbus_framing.hpp"
#include "sim_backend/emulate/server.hpp"

namespace loom {
namespace {

constexpr const char* kRegisters =
    "\nmodbus: holding registers (functions 03h, 06h, 10h), as of a Waveshare Modbus analog output 8CH (B); RTU with --pty.\n"
    "  0x0000..  channel 1..  output, mV, 0..10000\n"
    "  0x2000    UART         0x0001: no parity, 9600 baud; read only, as the next two\n"
    "  0x4000    address      the unit\n"
    "  0x8000    version      0x0064 is 1.00\n"
    "Exceptions: 1 function, 2 address, 3 value, 4 dead, 6 busy, 11 no such unit behind this port (RTU: silence).\n"
    "\nqontrol: lines that end in \\n; E10:00 to what it does not know. V3=2.5  V3?  I3?  VMAX3=9  ID?  NCHAN?  VFULL?\n"
    "nicslab: lines that end in \\n; no answer to what it does not know, nor to what is set. CH:3:VOLT:2.5  CH:3:VAL?\n"
    "\nSIGHUP is a power cycle: outputs are off, rings cool, connections are lost.\n"
    "\nWhen it can be reached it prints 'port N' or 'pty PATH' on stdout.\n";

struct Dialect {
  const char* name;
  const char* model;
};
constexpr std::array kDialects{Dialect{"modbus", "heater_bank"}, Dialect{"qontrol", "qontrol"}, Dialect{"nicslab", "nicslab"}};

struct Options {
  EmulatorOptions common;
  std::string dialect = kDialects[0].name;
  std::uint16_t bank_channels = 8;
  std::vector<std::uint16_t> units = {1};
  std::uint32_t baud = 115'200;
  std::int64_t time_constant_us = 14;
};

/// Rings of a bank, 100 GHz apart.
std::vector<Element> rings(std::uint16_t count) {
  std::vector<Element> elements;
  for (std::uint16_t channel = 0; channel < count; ++channel) {
    RingFilter ring;
    ring.cold_resonance = {191'600'000 + channel * 100'000};
    Element element;
    element.name = format_text("ring-{}", channel);
    element.inputs = 1;
    element.outputs = 2;
    element.kind = ring;
    elements.push_back(std::move(element));
  }
  return elements;
}

/// What the board says of itself, where its model knows no register.
BusReply with_board_registers(const EmulatedRequest& request, BusReply reply) {
  const auto* registers = std::get_if<Registers>(&request.order);
  const bool is_unknown = reply.status == BusStatus::exception &&
                          reply.exception == static_cast<std::uint8_t>(ModbusException::address) && registers != nullptr;
  if (!is_unknown || registers->count != 1 || request.exception != 0) {
    return reply;
  }
  std::uint16_t value = 0;
  switch (registers->address) {
    case 0x2000:
      value = 0x0001;
      break;
    case 0x4000:
      value = request.bus_address.value_or(0);
      break;
    case 0x8000:
      value = 0x0064;
      break;
    default:
      return reply;
  }
  BusReply known;
  known.words.push_back(value);
  return known;
}

Result<EmulatedDevices> devices_of(const Options& options) {
  const EmulatorOptions& common = options.common;
  if (!common.scenario.empty()) {
    return devices_of_scenario(common, {kDialects[0].model, kDialects[1].model, kDialects[2].model});
  }
  const Dialect& dialect = *std::ranges::find(kDialects, options.dialect, &Dialect::name);
  if (&dialect != kDialects.data() && options.units != Options{}.units) {
    return fail(ErrorCode::invalid_argument,
                format_text("--unit: {} knows no units, and one place has one of them", options.dialect));
  }
  std::vector<LoneDevice> banks;
  for (const std::uint16_t unit : options.units) {
    banks.push_back({DeviceRole::filter, dialect.model, rings(options.bank_channels), unit});
  }
  return lone_devices(std::move(banks), common);
}

int serve(const Options& options) {
  SimDeviceOptions models;
  models.modbus_baud = options.baud;
  models.serial_baud = options.baud;
  models.heater_time_constant = std::chrono::microseconds{options.time_constant_us};
  const auto devices = devices_of(options);
  models.rings = devices ? devices->rings : RingHabits{};
  const bool is_modbus = !devices || model_of(*devices) == kDialects[0].model;
  const auto framing = [is_modbus](const EmulatorOptions& given) {
    return !is_modbus ? make_line_framing() : given.pty ? make_modbus_rtu_framing() : make_modbus_tcp_framing();
  };
  return run_emulator(devices, models, {framing, with_board_registers}, options.common);
}

}  // namespace

const EmulatorProgram kHeaterEmulator{
    "heater", "banks of ring heaters: Modbus/TCP, Modbus RTU over a pseudo terminal, or Qontrol's or Nicslab's lines",
    [](CLI::App& app) -> std::function<int()> {
      const auto options = std::make_shared<Options>();
      add_common_options(app, options->common, 1'502);
      app.add_option("--dialect", options->dialect, "what it speaks. With --scenario the device's model says so")
          ->check(CLI::IsMember({"modbus", "qontrol", "nicslab"}))
          ->excludes("--scenario")
          ->capture_default_str();
      app.add_option("--bank-channels", options->bank_channels, "outputs of a bank")
          ->check(CLI::Range(1, 64))
          ->capture_default_str();
      app.add_option("--unit", options->units, "Modbus unit of a bank; give several for several banks")
          ->check(CLI::Range(1, 247));
      app.add_option("--baud", options->baud, "of its serial line, which paces every request")
          ->check(CLI::Range(1'200, 1'000'000))
          ->capture_default_str();
      app.add_option("--time-constant-us", options->time_constant_us, "thermal time constant of a ring, us")
          ->check(CLI::Range(1, 1'000'000))
          ->capture_default_str();
      app.footer(kRegisters + fault_help(DeviceRole::filter));
      return [options] { return serve(*options); };
    }};

}  // namespace loom
