// SPDX-License-Identifier: Apache-2.0
// The properties of meters' answers.
#include "tests/fuzz/meter_codecs.hpp"

#include <algorithm>
#include <string>

#include "core/limits.hpp"
#include "core/result.hpp"
#include "drivers/monitor/photodiode_bank.hpp"
#include "drivers/monitor/scpi_meter.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/scpi_identity.hpp"
#include "sim_backend/devices/scpi_meter_model.hpp"

namespace loom::fuzz {
namespace {

MeterProfile profile_of(MeterAnswers answers) {
  MeterProfile profile;
  profile.answers = answers;
  profile.questions = answers == MeterAnswers::power ? std::vector<std::string>{"READ?"} : std::vector<std::string>{"X?", "Y?"};
  return profile;
}

void check_reading(const MeterReading& reading) {
  LOOM_ASSERT(reading.lights.size() <= limits::kLightReadings);
  LOOM_ASSERT(std::ranges::is_sorted(reading.lights, {}, [](const LightReading& light) { return light.frequency; }));
  for (const LightReading& light : reading.lights) {
    LOOM_ASSERT(light.power >= Dbm{-10'000} && light.power <= Dbm{10'000} && light.frequency.mhz >= 0);
  }
}

}  // namespace

void check_meter_line(std::string_view line) {
  if (const auto identity = scpi::read_identity(line)) {
    LOOM_ASSERT(identity->serial.size() <= line.size());
  }
  const auto list = scpi::read_numbers(line, 64);
  LOOM_ASSERT(!list || (!list->empty() && list->size() <= 64));
  const auto counted = scpi::read_counted(line, 64);
  LOOM_ASSERT(!counted || counted->size() <= 64);
  for (const auto unit : {scpi::PowerUnit::dbm, scpi::PowerUnit::watt}) {
    for (const double value : list.value_or(std::vector<double>{})) {
      static_cast<void>(scpi::power_of(value, unit));
    }
  }
  if (list && list->size() == 1) {
    check_reading(read_meter(profile_of(MeterAnswers::power), {*list}));
  }
  if (counted) {
    check_reading(read_meter(profile_of(MeterAnswers::array), {*counted, *counted}));
  }
  if (list) {  // a trace whose wavelengths or powers a device made up
    std::vector<double> ascending;
    for (std::size_t i = 0; i < list->size(); ++i) {
      ascending.push_back(1.5e-6 + static_cast<double>(i) * 1e-10);
    }
    check_reading(read_meter(profile_of(MeterAnswers::trace), {ascending, *list}));
    check_reading(read_meter(profile_of(MeterAnswers::trace), {*list, ascending}));
  }
}

void check_meter_model(std::string_view line) {
  const Device device{DeviceId{0}, "meter", DeviceRole::monitor, NodeId{0}, BusId{0}, 1, {ElementId{0}}};
  ScpiMeterModel meter(device, osa_profile(device), {});
  meter.look_through([](PortRef) { return std::vector<ArrivingLight>{{Frequency{193'100'000}, Dbm{-500}}}; });
  const auto say = [&](Instant now, std::string text) {
    const ModelReply reply =
        meter.execute(now, {device.id, 1, Frame{{text.begin(), text.end()}, 0, "\n"}, std::chrono::seconds{1}});
    return std::string(reply.reply.bytes.begin(), reply.reply.bytes.end());
  };
  const Instant begin = instant_from_ns(1'000'000);
  say(begin, std::string(line) + "\n");
  const std::string error = say(begin + std::chrono::seconds{2}, ":SYST:ERR?\n");
  LOOM_ASSERT(scpi::read_errors(scpi::unframe({}, error).value_or("?")).has_value());
  const std::string peaks = say(begin + std::chrono::seconds{4}, ":READ:ARR:POW:FREQ?\n");
  LOOM_ASSERT(scpi::read_counted(scpi::unframe({}, peaks).value_or("?"), 4).has_value());
}

std::vector<std::string_view> meter_seeds() {
  return {"-12.34",
          "+1.23400000E-005",
          "9.9E37",
          "-9.9E+37",
          "9.91E37",
          "2,+1.93100000E+014,+1.93200000E+014",
          "0",
          "-70.0,-12.5,-70.0,-3,-80",
          "1.55e-6,1.551e-6,1.552e-6",
          "Maker,PM100,P0001,1.2.0",
          "*IDN?",
          ":READ:ARR:POW:FREQ?",
          ":FETC:ARR:POW?"};
}

}  // namespace loom::fuzz
