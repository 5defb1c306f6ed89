// SPDX-License-Identifier: Apache-2.0
// Lines in, lines out.
#include "sim_backend/devices/scpi_meter_model.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/text/format_text.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "sim_backend/devices/wire.hpp"

namespace loom {
namespace {

constexpr double kSpeedOfLight = 299'792'458;  // m/s
constexpr double kDarkDbm = -70;               ///< what a meter makes of nothing [K]
constexpr double kNoiseDb = 0.02;              ///< [K]
constexpr double kNoiseMhz = 100;              ///< a wavemeter of 0.5 ppm [K]
constexpr double kTraceFirst = 1525e-9;        // m
constexpr double kTraceStep = 0.02e-9;         ///< m; 2.5 GHz at 1550 nm
constexpr int kTracePoints = 2'251;            ///< to 1570 nm
constexpr double kTraceWidth = 0.05e-9;        ///< m: resolution of the grating, standard deviation
constexpr std::size_t kQueueMax = 16;

/// As instruments print numbers: "+1.93100000E+14".
std::string scientific(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific, 8).ptr;
  std::string text(digits.data(), end);
  std::ranges::replace(text, 'e', 'E');
  return text.starts_with('-') ? text : "+" + text;
}

}  // namespace

ScpiMeterModel::ScpiMeterModel(const Device& device, MeterProfile profile, const SimDeviceOptions& options)
    : MonitorModel(device, options),
      profile_(std::move(profile)),
      serial_(device.serial.empty() ? std::to_string(700'000 + device.id.value) : device.serial) {}

void ScpiMeterModel::power_up(Instant) {
  measured_.clear();
  errors_.clear();
}

std::string ScpiMeterModel::power_text(double milliwatt) const {
  if (profile_.unit == scpi::PowerUnit::watt) {
    return scientific(milliwatt * 1e-3);
  }
  return scientific(milliwatt > 0 ? std::max(10 * std::log10(milliwatt), kDarkDbm) : kDarkDbm);
}

void ScpiMeterModel::measure(Instant at) {
  measured_ = arriving(at, 0);
  std::erase_if(measured_, [](const ArrivingLight& light) { return light.power <= kNoLight; });  // lost in its noise
  for (ArrivingLight& light : measured_) {
    light.frequency.mhz += std::llround(kNoiseMhz * noise());
    light.power.centi += static_cast<std::int32_t>(std::lround(100 * kNoiseDb * noise()));
  }
  std::ranges::sort(measured_, {}, &ArrivingLight::frequency);
}

std::string ScpiMeterModel::array_text(bool frequencies) const {
  std::string text = std::to_string(measured_.size());
  for (const ArrivingLight& light : measured_) {
    text += "," + (frequencies ? scientific(static_cast<double>(light.frequency.mhz) * 1e6)
                               : power_text(to_milliwatt(light.power).value));
  }
  return text;
}

std::string ScpiMeterModel::trace_text(bool wavelengths) {
  std::string text;
  for (int i = 0; i < kTracePoints; ++i) {
    const double here = kTraceFirst + i * kTraceStep;
    double milliwatt = std::pow(10.0, kDarkDbm / 10);
    for (const ArrivingLight& light : measured_) {
      const double away = (here - kSpeedOfLight / (static_cast<double>(light.frequency.mhz) * 1e6)) / kTraceWidth;
      milliwatt += to_milliwatt(light.power).value * std::exp(-away * away / 2);
    }
    text += (i == 0 ? "" : ",") + scientific(wavelengths ? here : 10 * std::log10(milliwatt));
  }
  return text;
}

std::string ScpiMeterModel::take_error() {
  if (errors_.empty()) {
    return "0,\"No error\"";
  }
  std::string first = std::move(errors_.front());
  errors_.pop_front();
  return first;
}

/// Empty: silence.
std::string ScpiMeterModel::answer(Instant at, std::string_view line) {
  if (scpi::same_word(line, "*IDN?")) {
    return format_text("Lightloom,simulated meter,{},1.0", serial_);
  }
  if (scpi::same_word(line, ":SYST:ERR?")) {
    return take_error();
  }
  const auto asked =
      std::ranges::find_if(profile_.questions, [&](const std::string& each) { return scpi::same_word(each, line); });
  if (asked == profile_.questions.end()) {
    if (errors_.size() < kQueueMax) {
      errors_.emplace_back("-113,\"Undefined header\"");
    }
    return {};
  }
  const bool is_first = asked == profile_.questions.begin();
  switch (profile_.answers) {
    case MeterAnswers::power: {
      const auto channel = static_cast<std::size_t>(asked - profile_.questions.begin());
      return power_text(milliwatt_at(at, channel) * std::pow(10.0, kNoiseDb * noise() / 10));
    }
    case MeterAnswers::array:
      if (is_first) {
        measure(at);
      }
      return array_text(is_first);
    case MeterAnswers::trace:
      break;
  }
  if (is_first) {
    measure(at);
  }
  return trace_text(is_first);
}

ModelReply ScpiMeterModel::respond(Instant now, const Transaction& transaction) {
  const auto line = scpi_line_in(transaction);
  std::string reply = line ? answer(now, *line) : std::string{};
  if (reply.empty()) {
    return no_answer(transaction);
  }
  reply += '\n';
  return {{BusStatus::ok, 0, {}, {reply.begin(), reply.end()}}, options().device_time};
}

/// SCPI-99 volume 2 chapter 21.8: -300 is a device-specific error. Nobody is told but who asks the queue.
ModelReply ScpiMeterModel::refuse(Instant, const Transaction& transaction) {
  if (errors_.size() < kQueueMax) {
    errors_.emplace_back("-300,\"Device-specific error\"");
  }
  return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
}

constinit const SimulatedModel kSimulatedPowerMeter{
    "power_meter",
    [](const Fabric&, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      return std::make_unique<ScpiMeterModel>(device, meter_profile(device), options);
    },
    "powermeter"};

constinit const SimulatedModel kSimulatedOsa{
    "osa",
    [](const Fabric&, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      return std::make_unique<ScpiMeterModel>(device, osa_profile(device), options);
    },
    "powermeter"};

}  // namespace loom
