// SPDX-License-Identifier: Apache-2.0
// What the pages of a simulated CMIS module read as.
#include <algorithm>
#include <string_view>

#include "core/fabric/grid.hpp"
#include "sim_backend/devices/pluggable/cmis_model.hpp"

namespace loom {

using cmis::Page;
using cmis::PathState;

namespace {

using PageBytes = std::array<std::uint8_t, kPageBytes>;

constexpr std::uint8_t kOsfp = 0x19;      ///< SFF-8024: OSFP
constexpr std::uint8_t kRevision = 0x50;  ///< CMIS 5.0
constexpr std::uint8_t kOurLane = 0x01;
constexpr FrequencyOffset kLockRange{5'000};  ///< of the wavelength locker [K]
constexpr Db kPowerBelow{500};                ///< the launch power, adjustable [K]
constexpr Db kPowerAbove{300};
constexpr Duration kProvision = std::chrono::milliseconds{5};  ///< of ApplyDPInit [K]
/// What a plan may use of the fabric's retune_max to take the data path down; the rest is for its way up.
constexpr std::int64_t kDeinitPart = 4;

void put(PageBytes& page, unsigned byte, unsigned value) { page[byte - 128] = static_cast<std::uint8_t>(value); }
void put_word(PageBytes& page, unsigned byte, int value) {
  put(page, byte, static_cast<unsigned>(value) >> 8 & 0xFF);
  put(page, byte + 1, static_cast<unsigned>(value) & 0xFF);
}
void put_text(PageBytes& page, unsigned byte, unsigned count, std::string_view text) {
  for (unsigned i = 0; i < count; ++i) {
    put(page, byte + i, static_cast<unsigned char>(i < text.size() ? text[i] : ' '));
  }
}

/// The longest class that ends within `promised`; the shortest where none does.
unsigned code_within(Duration promised) {
  const unsigned code = cmis::code_of(promised);
  return cmis::longest(code) == promised || code == 0 ? code : code - 1;
}

PageBytes identity_page(const CmisModule& module) {
  PageBytes page{};
  put(page, 128, kOsfp);
  put_text(page, 129, 16, module.vendor);
  put_text(page, 148, 16, module.part);
  put_text(page, 164, 2, "1");
  put_text(page, 166, 16, module.serial);
  put_text(page, 182, 8, "260101");
  unsigned sum = 0;
  for (unsigned i = 0; i < 222 - 128; ++i) {
    sum += page[i];
  }
  put(page, 222, sum & 0xFF);
  return page;
}

PageBytes advertised_page(const CmisModule& module) {
  PageBytes page{};
  put(page, 142, module.has_vdm() ? 0x40U : 0U);
  put(page, 144, module.deinit << 4 | module.init);
  put(page, 155, (module.is_tunable ? 0x40U : 0U) | 0x02U);
  put(page, 160, 0x02 | (module.received ? 0x04U : 0U));
  put(page, 167, module.power_up << 4 | module.power_up);
  put(page, 168, module.turn_off << 4 | module.turn_on);
  put(page, 169, 3);  // pages change within 10 ms / 2^3
  unsigned sum = 0;
  for (unsigned i = 2; i + 1 < kPageBytes; ++i) {  // bytes 130 to 254
    sum += page[i];
  }
  put(page, 255, sum & 0xFF);
  return page;
}

PageBytes limits_page(const CmisModule& module) {
  PageBytes page{};
  const cmis::Limits& limits = module.limits;
  for (unsigned i = 0; i < cmis::kGrids; ++i) {
    if (const auto& range = limits.channels[i]) {
      const cmis::GridPlace place = cmis::place_of(static_cast<cmis::Grid>(i));
      put(page, place.byte, page[place.byte - 128] | place.bit);
      put_word(page, place.lowest, range->low);
      put_word(page, place.lowest + 2, range->high);
    }
  }
  put(page, 129, page[1] | (limits.has_fine ? 0x80U : 0U));
  put_word(page, 190, limits.fine_step);
  put_word(page, 192, limits.fine.low);
  put_word(page, 194, limits.fine.high);
  put(page, 196, limits.has_power ? 0x80 : 0);
  put_word(page, 198, limits.power.low);
  put_word(page, 200, limits.power.high);
  put(page, 255, cmis::checksum_of(page));
  return page;
}

/// Two observables on media lane 1, in no order that a host could rely on.
PageBytes vdm_page(const CmisModule& module, Page page) {
  PageBytes bytes{};
  if (page == Page::observables) {
    put(bytes, 129, module.osnr ? cmis::kOsnr : 0U);
    put(bytes, 133, module.pre_fec_ber ? cmis::kPreFecBer : 0U);
  } else if (page == Page::samples) {
    put_word(bytes, 128, module.osnr ? module.osnr->centi / 10 : 0);
    put_word(bytes, 132, module.pre_fec_ber ? cmis::to_float16(*module.pre_fec_ber) : 0);
  }
  return bytes;  // of 2Fh: the first group only, nothing frozen
}

}  // namespace

CmisModule module_for(const Transmitter& transmitter) {
  CmisModule module;
  const Frequency lowest = centre_of(transmitter.channels.slot(0));
  const Frequency highest = centre_of(transmitter.channels.slot(std::max(transmitter.channels.count, 1) - 1));
  for (unsigned i = 0; i < cmis::kGrids; ++i) {
    const auto grid = static_cast<cmis::Grid>(i);
    std::optional<cmis::Range16> range;
    for (int channel = -2'000; channel <= 2'000; ++channel) {
      const auto centre = cmis::frequency_of(grid, channel);
      if (centre && *centre >= lowest && *centre <= highest) {
        range = {range ? range->low : static_cast<std::int16_t>(channel), static_cast<std::int16_t>(channel)};
      }
    }
    module.limits.channels[i] = range;
  }
  module.limits.has_fine = true;
  module.limits.fine_step = 10;
  module.limits.fine = {-6'000, 6'000};
  module.limits.has_power = true;
  module.limits.power = {static_cast<std::int16_t>((transmitter.launch_power - kPowerBelow).centi),
                         static_cast<std::int16_t>((transmitter.launch_power + kPowerAbove).centi)};
  module.deinit = code_within(transmitter.retune_max / kDeinitPart);
  module.init = code_within(transmitter.retune_max - cmis::longest(module.deinit));
  module.turn_off = code_within(transmitter.blank_max);
  module.turn_on = code_within(transmitter.enable_max);
  return module;
}

PageBytes cmis_page(const CmisModule& module, Page page) {
  return page == Page::identity     ? identity_page(module)
         : page == Page::advertised ? advertised_page(module)
                                    : limits_page(module);
}

/// Only lane 1 has a laser. A page that is not there reads as page 00h.
PageBytes CmisModel::page_at(Instant at, std::uint8_t page) const {
  switch (module_.is_flat ? Page::identity : static_cast<Page>(page)) {
    case Page::advertised:
    case Page::limits:
      return cmis_page(module_, static_cast<Page>(page));
    case Page::control: {
      PageBytes bytes{};
      put(bytes, cmis::kDeinit, live_.deinit);
      put(bytes, cmis::kOutputDisable, live_.disable);
      std::ranges::copy(live_.staged, bytes.begin() + (cmis::kStagedConfig - 128));
      return bytes;
    }
    case Page::status:
      return status_at(at);
    case Page::tuning:
      return tuning_at(at);
    case Page::observables:
    case Page::samples:
    case Page::vdm:
      return module_.has_vdm() ? vdm_page(module_, static_cast<Page>(page)) : cmis_page(module_, Page::identity);
    default:
      return cmis_page(module_, Page::identity);
  }
}

PageBytes CmisModel::lower_at() const {
  PageBytes bytes{};
  bytes[0] = kOsfp;
  bytes[1] = kRevision;
  bytes[2] = module_.is_flat ? 0x80 : 0;
  bytes[3] = static_cast<std::uint8_t>(static_cast<unsigned>(live_.module) << 1);
  bytes[14] = 45;  // degrees
  bytes[16] = 0x80;
  bytes[17] = 0xE8;  // 3.3 V in units of 100 uV
  bytes[cmis::kGlobalControl] = live_.global;
  bytes[kPageSelect] = page_;
  return bytes;
}

PageBytes CmisModel::status_at(Instant at) const {
  PageBytes bytes{};
  const bool is_broken = has_fault(DeviceFaultKind::fail, at);
  const LaserLight light = is_broken ? LaserLight{} : nominal_light(live_);
  const auto path = static_cast<unsigned>(live_.path);
  for (unsigned i = 128; i < 132; ++i) {
    put(bytes, i, path << 4 | path);
  }
  const bool is_valid = live_.path == PathState::activated && !is_broken;
  put(bytes, cmis::kOutputValid, is_valid ? kOurLane : 0U);
  put(bytes, cmis::kTxFailure, is_broken ? kOurLane : 0U);
  put_word(bytes, cmis::kTxPower, light.emitting ? cmis::tenths_of(light.power - dimming(at, true)) : 0);
  put_word(bytes, cmis::kRxPower, module_.received ? cmis::tenths_of(*module_.received) : 0);
  const bool in_progress = live_.applied_at != kNever && at < live_.applied_at + kProvision;
  for (unsigned lane = 0; lane < cmis::kLanes; ++lane) {
    const unsigned code = in_progress ? cmis::kConfigInProgress : live_.status[lane];
    const unsigned byte = cmis::kConfigStatus + lane / 2;
    put(bytes, byte, bytes[byte - 128] | (lane % 2 == 0 ? code : code << 4));
  }
  std::ranges::copy(live_.active, bytes.begin() + (cmis::kActiveConfig - 128));
  return bytes;
}

PageBytes CmisModel::tuning_at(Instant at) const {
  PageBytes bytes{};
  const FrequencyOffset error = detuning(at, 0, true);
  const bool is_up = live_.path == PathState::initialised || live_.path == PathState::activated ||
                     live_.path == PathState::turning_on || live_.path == PathState::turning_off;
  const bool is_moving = live_.path == PathState::initialising || at < live_.fine_until;
  const bool is_locked = is_up && !is_moving && magnitude(error) <= kLockRange;
  const std::int64_t current = is_up ? (live_.current + error).mhz : live_.current.mhz;
  put(bytes, cmis::kGridByte, live_.grid);
  put_word(bytes, cmis::kChannel, live_.channel);
  put_word(bytes, cmis::kFineOffset, live_.fine);
  put_word(bytes, cmis::kCurrent, static_cast<int>(current >> 16));
  put_word(bytes, cmis::kCurrent + 2, static_cast<int>(current & 0xFFFF));
  put_word(bytes, cmis::kTargetPower, live_.power);
  put(bytes, cmis::kTuningStatus, (is_moving ? cmis::kTuningNow : 0U) | (is_locked ? 0U : cmis::kUnlocked));
  put(bytes, cmis::kTuningFlags - 1, live_.flags != 0 ? kOurLane : 0U);
  put(bytes, cmis::kTuningFlags, live_.flags);
  return bytes;
}

}  // namespace loom
