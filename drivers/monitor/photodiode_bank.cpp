// SPDX-License-Identifier: Apache-2.0
// One exchange; the scale, and what a bank of photodiodes must be able to tell apart.
#include "drivers/monitor/photodiode_bank.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr ProcedureRow<PhotodiodeState> kTable[] = {
    {PhotodiodeState::rest, Exchange::none, PhotodiodeState::rest, PhotodiodeState::rest},
    {PhotodiodeState::decide, Exchange::none, PhotodiodeState::decide, PhotodiodeState::decide},
    {PhotodiodeState::reading_counts, Exchange::asks, PhotodiodeState::decide, PhotodiodeState::reading_counts},
};

/// A converter at rest reads its dark count give or take a few; one that reads nothing at all is not connected.
constexpr std::int64_t kDarkCountsSure = 8;

}  // namespace

std::optional<Dbm> PhotodiodeScale::power_of(std::int64_t count) const {
  const double milliwatt = static_cast<double>(count - zero) * milliwatt_per_count;
  return milliwatt > 0 ? std::optional(to_dbm(Milliwatt{milliwatt})) : std::nullopt;
}

std::int64_t PhotodiodeScale::count_of(double milliwatt) const {
  const double count = std::round(milliwatt / milliwatt_per_count) + static_cast<double>(zero);
  return static_cast<std::int64_t>(std::clamp(count, 0.0, static_cast<double>(full_scale)));
}

PhotodiodeBankDriver::PhotodiodeBankDriver(PhotodiodeProfile profile) : MonitorDriver(std::move(profile), kTable) {}

Duration PhotodiodeBankDriver::lead(const Setpoint&) const { return profile_.exchange; }

PhotodiodeState PhotodiodeBankDriver::resolve(PhotodiodeState state, Instant) {
  return state != PhotodiodeState::decide ? state : is_read_ ? PhotodiodeState::rest : PhotodiodeState::reading_counts;
}

decltype(Transaction::order) PhotodiodeBankDriver::order() const {
  return Registers{profile_.base, static_cast<std::uint16_t>(profile_.channels), {}, profile_.is_input};
}

std::string PhotodiodeBankDriver::question() const {
  return format_text("read of {} registers {} to {}", profile_.is_input ? "input" : "holding", profile_.base,
                     profile_.base + profile_.channels - 1);
}

Answer PhotodiodeBankDriver::absorb(Instant now, const BusReply& reply) {
  if (reply.words.size() != profile_.channels) {
    return Answer::none;
  }
  const PhotodiodeScale& scale = profile_.scale;
  std::vector<LightReading> lights;
  std::string remarks;
  for (std::size_t channel = 0; channel < reply.words.size(); ++channel) {
    const std::int64_t count = reply.words[channel];
    const char* comma = remarks.empty() ? "" : "; ";
    if (count >= scale.full_scale) {
      remarks += format_text("{}channel {} reads {} counts of {}: saturated", comma, channel, count, scale.full_scale);
    } else if (count == 0 && scale.zero >= kDarkCountsSure) {
      remarks +=
          format_text("{}channel {} reads 0 counts, in the dark it reads {}: is it connected?", comma, channel, scale.zero);
    }
    if (const auto power = scale.power_of(count)) {
      lights.push_back({static_cast<std::uint16_t>(channel), *power, Frequency{}});
    }
  }
  publish(now, std::move(lights), remarks);
  is_read_ = true;
  return Answer::understood;
}

Complaint PhotodiodeBankDriver::misread(const BusReply& reply) const {
  return {Trouble::garbage, format_text("{} words where {} were asked", reply.words.size(), profile_.channels)};
}

namespace {

constexpr std::array<std::string_view, 2> kTables{"holding", "input"};

constexpr std::array kKeys{
    ProfileKey{"register_base", IntegerKey{0, 0, 65'535}, "register of channel 0; the others follow"},
    ProfileKey{"table", WordKey{kTables, 1}, "input registers (function 04) or holding registers (03)"},
    ProfileKey{"full_scale_counts", IntegerKey{4'095, 255, 65'535}, "highest count of the converter"},
    ProfileKey{"zero_counts", IntegerKey{0, 0, 65'534}, "count in the dark"},
    ProfileKey{"full_scale_current", RealKey{2e-3, 1e-9, 1}, "photocurrent at the highest count, A"},
    ProfileKey{"responsivity", RealKey{0.95, 0.01, 2}, "photocurrent per light, A/W (InGaAs at 1550 nm: 0.95)"}};

/// A count in the dark that is at the top, light that it must tell from darkness and cannot, or from too much of it.
std::string refuse(const Fabric& fabric, const Device& device) {
  const PhotodiodeProfile profile = photodiode_profile(fabric, device);
  const PhotodiodeScale& scale = profile.scale;
  if (scale.zero >= scale.full_scale) {
    return format_text("zero_counts {} is not below full_scale_counts {}", scale.zero, scale.full_scale);
  }
  if (profile.base + profile.channels > 65'536) {
    return format_text("register_base {} leaves no room for {} channels below 65536", profile.base, profile.channels);
  }
  const Dbm least = *scale.power_of(scale.zero + 1);
  const Dbm most = *scale.power_of(scale.full_scale);
  for (const ElementId id : device.elements) {
    const auto* receiver = std::get_if<Receiver>(&fabric.element(id).kind);
    if (receiver != nullptr && (least > receiver->sensitivity || most < receiver->overload)) {
      return format_text(
          "'{}' is judged by {} to {}, and the photodiode measures {} (one count) to {} (full scale): expected "
          "another full_scale_current, full_scale_counts or range of the receiver",
          fabric.element(id).name, to_string(receiver->sensitivity), to_string(receiver->overload), to_string(least),
          to_string(most));
    }
  }
  return {};
}

}  // namespace

PhotodiodeProfile photodiode_profile(const Fabric&, const Device& device) {
  const DeviceProfileView keys(kKeys, device.profile);
  PhotodiodeProfile profile;
  profile.take(device);
  profile.channels = device.elements.size();
  profile.base = static_cast<std::uint16_t>(keys.integer("register_base"));
  profile.is_input = kTables[keys.word("table")] == "input";
  profile.scale.full_scale = keys.integer("full_scale_counts");
  profile.scale.zero = keys.integer("zero_counts");
  profile.scale.milliwatt_per_count =
      keys.real("full_scale_current") / static_cast<double>(profile.scale.full_scale) / keys.real("responsivity") * 1e3;
  return profile;
}

constinit const DriverModel kPhotodiodeBank{
    {"photodiode_bank", DeviceRole::monitor, "photodiodes on the analogue inputs of a Modbus device, over TCP or RTU", kKeys,
     refuse, kRegisterSchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<PhotodiodeBankDriver>(photodiode_profile(fabric, device));
    }};

}  // namespace loom
