// SPDX-License-Identifier: Apache-2.0
// One table, one question, one number.
#include "docs/examples/line_meter.hpp"

#include <charconv>
#include <cmath>
#include <optional>

namespace loom::examples {
namespace {

constexpr ProcedureRow<LineMeterState> kTable[] = {
    {LineMeterState::rest, Exchange::none, LineMeterState::rest, LineMeterState::rest},
    {LineMeterState::decide, Exchange::none, LineMeterState::decide, LineMeterState::decide},
    {LineMeterState::asking, Exchange::asks, LineMeterState::decide, LineMeterState::asking},
};

/// "-3.20": the power in 0.01 dBm, as everywhere.
std::optional<Dbm> power_in(std::string_view line) {
  double value = 0;
  const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), value);
  const bool is_power = problem == std::errc{} && end == line.data() + line.size() && std::abs(value) < 100;
  return is_power ? std::optional(Dbm{static_cast<std::int32_t>(std::lround(value * 100))}) : std::nullopt;
}

}  // namespace

LineMeterDriver::LineMeterDriver(DeviceProfile profile) : MonitorDriver(std::move(profile), kTable) {}

LineMeterState LineMeterDriver::resolve(LineMeterState state, Instant) {
  return state != LineMeterState::decide ? state : is_read_ ? LineMeterState::rest : LineMeterState::asking;
}

decltype(Transaction::order) LineMeterDriver::order() const { return line_order("P?", "\n"); }

Answer LineMeterDriver::absorb(Instant now, const BusReply& reply) {
  const auto power = power_in(characters_of(reply));
  if (!power) {
    return Answer::none;  // asked again, four times in all, then given up in a sentence
  }
  publish(now, {LightReading{0, *power, Frequency{}}}, {});
  is_read_ = true;
  return Answer::understood;
}

Complaint LineMeterDriver::misread(const BusReply& reply) const {
  return {Trouble::garbage, quoted(characters_of(reply), 32) + " where a power in dBm was expected"};
}

constinit const DriverModel kLineMeter{
    {"line_meter", DeviceRole::monitor, "a power meter that answers P? with a number of dBm", {}, nullptr, kStreamSchemes},
    [](const Fabric&, const Device& device) -> std::unique_ptr<Driver> {
      DeviceProfile profile;
      profile.take(device);
      profile.exchange = std::chrono::milliseconds{20};
      return std::make_unique<LineMeterDriver>(std::move(profile));
    }};

}  // namespace loom::examples
