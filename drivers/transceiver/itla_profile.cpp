// SPDX-License-Identifier: Apache-2.0
// What ItlaDriver is told of its module, what that module can do, and which registers a setpoint comes to.
#include <algorithm>
#include <array>

#include "core/text/format_text.hpp"
#include "drivers/transceiver/itla.hpp"
#include "drivers/transceiver/itla_table.hpp"

namespace loom {

using namespace itla;

namespace {

std::uint16_t to_word(std::int64_t number) { return static_cast<std::uint16_t>(number & 0xFFFF); }

}  // namespace

Result<void> ItlaDriver::check(const Setpoint& setpoint) const {
  const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint);
  if (laser == nullptr) {
    return fail(ErrorCode::unsupported, profile_.name + ": a laser takes laser setpoints only");
  }
  if (const std::string stranger = facts_.stranger(); laser->emit && !stranger.empty()) {
    return fail(ErrorCode::device_error, format_text("{}: {}", profile_.name, stranger));
  }
  const Frequency wanted = centre_of(laser->slot);
  const Frequency lowest = centre_of(profile_.channels.slot(0));
  const Frequency highest = centre_of(profile_.channels.slot(std::max(profile_.channels.count, 1) - 1));
  if (wanted < lowest || wanted > highest) {
    return fail(ErrorCode::out_of_range, format_text("{}: frequency {} is outside its band, {} to {}", profile_.name,
                                                     to_string(wanted), to_string(lowest), to_string(highest)));
  }
  if (!profile_.tunable && wanted != lowest) {
    return fail(ErrorCode::out_of_range, format_text("{}: frequency {} asked of a fixed laser at {}", profile_.name,
                                                     to_string(wanted), to_string(lowest)));
  }
  const Facts& facts = facts_.facts();
  if (facts.first && facts.last && (wanted < *facts.first || wanted > *facts.last)) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: frequency {} is outside the band that its module tells, {} to {}", profile_.name,
                            to_string(wanted), to_string(*facts.first), to_string(*facts.last)));
  }
  const Dbm power_min = facts.power_min.value_or(profile_.power_min);
  const Dbm power_max = facts.power_max.value_or(profile_.power_max);
  if (laser->power < power_min || laser->power > power_max) {
    return fail(ErrorCode::out_of_range, format_text("{}: power {} is outside {} to {}", profile_.name, to_string(laser->power),
                                                     to_string(power_min), to_string(power_max)));
  }
  return {};
}

Duration ItlaDriver::lead(const Setpoint& setpoint) const {
  constexpr int kDarkExchanges = 3 + 9 + 3 + 9 + 5;  // meet, survey, blank, write, prove lock
  constexpr int kLitExchanges = 8;
  const Duration dark = profile_.blank_max + profile_.retune_max + kDarkExchanges * profile_.exchange;
  return emits(setpoint) ? dark + profile_.enable_max + kLitExchanges * profile_.exchange : dark;
}

/// On the plan: the module's own grid, first frequency and step set up once, then only Channel. Else, and where its grid
/// register does not do the plan's step: FCF alone, Channel 1, whatever the grid.
ItlaDriver::Target ItlaDriver::target_of(const TransmitterSetpoint& setpoint) const {
  Target target{setpoint, {}};
  const FrequencyOffset step{profile_.channels.step_n * kGridStep.mhz};
  const bool has_grid = !grid_refused_ && step >= facts_.facts().grid.value_or(step);
  const std::int32_t channel = has_grid ? profile_.channels.channel_of(setpoint.slot) : -1;
  const std::int64_t first = (channel >= 0 ? centre_of(profile_.channels.first) : centre_of(setpoint.slot)).mhz;
  auto& wanted = target.wanted;
  wanted[index_of(Register::enable)] = setpoint.emit ? kSoftwareEnable : 0;
  wanted[index_of(Register::ftf)] = 0;
  if (has_grid) {
    wanted[index_of(Register::grid)] = to_word(step.mhz / 100);
    wanted[index_of(Register::grid2)] = to_word(step.mhz % 100);
  }
  wanted[index_of(Register::fcf1)] = to_word(first / 1'000'000);
  wanted[index_of(Register::fcf2)] = to_word(first / 100 % 10'000);
  wanted[index_of(Register::fcf3)] = to_word(first % 100);
  wanted[index_of(Register::power)] = to_word(setpoint.power.centi);
  wanted[index_of(Register::channel)] = to_word(channel >= 0 ? channel + 1 : 1);
  return target;
}

ItlaProfile itla_profile(const Fabric& fabric, const Device& device) {
  LOOM_ASSERT(device.elements.size() == 1);
  const auto* transmitter = std::get_if<Transmitter>(&fabric.element(device.elements.front()).kind);
  LOOM_ASSERT(transmitter != nullptr);
  ItlaProfile profile;
  profile.device = device.id;
  profile.name = device.name;
  profile.serial = device.serial;
  profile.bus_address = device.bus_address;
  profile.channels = transmitter->channels;
  profile.tunable = transmitter->tunable;
  profile.power_min = transmitter->launch_power - Db{500};  // adjustment range of the module [K]
  profile.power_max = transmitter->launch_power + Db{300};
  profile.retune_max = transmitter->retune_max;
  profile.blank_max = transmitter->blank_max;
  profile.tunes = transmitter->tunes;
  profile.enable_max = transmitter->enable_max;
  const DeviceProfileView keys(kItlaLaser.model.keys, device.profile);
  profile.grace = keys.duration("grace");
  profile.enable_limit = std::max(keys.duration("enable_limit"), 2 * transmitter->enable_max + profile.grace);
  profile.start_max = keys.duration("start_max");
  profile.reply_deadline = keys.duration("reply_max");
  profile.exchange = keys.duration("exchange");
  profile.frequency_tolerance = FrequencyOffset{keys.integer("frequency_tolerance")};
  profile.power_tolerance = Db{static_cast<std::int32_t>(keys.real("power_tolerance") * 100)};
  profile.trims = keys.flag("trim");
  profile.trim = {FrequencyOffset{keys.integer("trim_threshold")}, FrequencyOffset{keys.integer("trim_step")}};
  return profile;
}

namespace {

using std::chrono::milliseconds;

constexpr std::array kKeys{
    ProfileKey{"reply_max", DurationKey{milliseconds{100}, milliseconds{1}, std::chrono::seconds{10}},
               "one answer of the module, worst case"},
    ProfileKey{"exchange", DurationKey{milliseconds{2}, std::chrono::microseconds{100}, std::chrono::seconds{10}},
               "one healthy request and its answer, for predictions: 8 bytes take 8.4 ms at 9600 baud"},
    ProfileKey{"start_max", DurationKey{Duration{}, Duration{}, std::chrono::minutes{10}},
               "how long it may say that it initialises (CII) after it started; never below twice retune_max"},
    ProfileKey{"enable_limit", DurationKey{milliseconds{400}, milliseconds{1}, std::chrono::minutes{10}},
               "output on to full power, then it has failed (CMIS 5.4 table 10-8, ordinary mode); never below twice enable_max "
               "and grace"},
    ProfileKey{"grace", DurationKey{milliseconds{100}, Duration{}, std::chrono::minutes{10}},
               "waited beyond twice retune_max, and beyond blank_max, then it has failed"},
    ProfileKey{"frequency_tolerance", IntegerKey{500, 1, 12'500}, "its frequency against the wanted one, MHz"},
    ProfileKey{"power_tolerance", RealKey{1.0, 0.05, 10.0}, "its power against the wanted one, dB"},
    ProfileKey{"trim", FlagKey{false}, "audits bring its frequency back by fine tuning (FTF), with the output on"},
    ProfileKey{"trim_threshold", IntegerKey{100, 2, 12'500}, "beside its frequency by more than this, it is trimmed, MHz"},
    ProfileKey{"trim_step", IntegerKey{50, 1, 1'000}, "of one write of FTF, MHz"},
};

}  // namespace

constinit const DriverModel kItlaLaser{
    {"itla_laser", DeviceRole::transmitter, "tunable laser of OIF-ITLA-MSA-01.3, frames of four bytes over a serial line",
     kKeys, nullptr, kStreamSchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<ItlaDriver>(itla_profile(fabric, device));
    }};

}  // namespace loom
