// What ItlaDriver knows from answers, and what it makes of it: readings, and whether they bear out what was ordered.
#include <algorithm>
#include <cstdlib>

#include "core/text/format_text.hpp"
#include "drivers/transceiver/itla.hpp"
#include "drivers/transceiver/itla_table.hpp"

namespace loom {

using namespace itla;

std::optional<Frequency> ItlaDriver::laser_frequency() const {
  if (!known_[index_of(Register::lf1)] || !known_[index_of(Register::lf2)]) {
    return std::nullopt;
  }
  return Frequency{value(Register::lf1) * 1'000'000LL + value(Register::lf2) * 100LL + to_signed(value(Register::lf3))};
}

void ItlaDriver::absorb_write(std::size_t index, std::uint16_t written) {
  known_[index] = written;
  if (kTable[index].reg == Register::enable) {
    dark_proven_ = false;
  }
  if (kTable[index].tunes) {
    lock_proven_ = false;
    if (kTable[index].reg != Register::channel) {
      known_[index_of(Register::channel)] = 0;  // channels count from 1: it must be written again to start the tuning
    }
  }
}

/// Keeps what an answer tells, whatever the procedure makes of it.
void ItlaDriver::absorb(Instant now, const Response& response) {
  const std::size_t index = index_of(asked_.reg);
  if (index >= kRegisters) {
    return;
  }
  if (asked_.write) {
    absorb_write(index, asked_.data);
    return;
  }
  known_[index] = response.data;
  auto* reading = std::get_if<TransmitterObservation>(&observation_.reading);
  if (reading == nullptr) {
    reading = &observation_.reading.emplace<TransmitterObservation>();
  }
  observation_.read_at = now;
  if (asked_.reg == Register::lf3) {  // read last: a frequency is never put together from two readings
    reading->frequency = laser_frequency().value_or(reading->frequency);
  }
  reading->power = Dbm{known_[index_of(Register::oop)] ? to_signed(value(Register::oop)) : reading->power.centi};
  reading->emitting = (value(Register::enable) & kSoftwareEnable) != 0 || reading->power > kDark;
  // Latched bits stay after what they tell of is over: a reading says what is.
  const auto present = [this](Register reg, std::uint16_t before) {
    return known_[index_of(reg)] ? static_cast<std::uint16_t>(value(reg) & kStatusPresent) : before;
  };
  reading->status_fatal = present(Register::status_fatal, reading->status_fatal);
  reading->status_warning = present(Register::status_warning, reading->status_warning);
  reading->locked = known_[index_of(Register::status_fatal)].has_value() && (reading->status_fatal & kStatusFrequency) == 0;
}

bool ItlaDriver::agrees_with_target() const {
  const auto frequency = laser_frequency();
  const bool on_target = frequency && magnitude(*frequency - centre_of(target_.setpoint.slot)) <= profile_.frequency_tolerance;
  const int power_error = std::abs(to_signed(value(Register::oop)) - target_.setpoint.power.centi);
  const bool lit = (value(Register::enable) & kSoftwareEnable) != 0;
  if (lit && (value(Register::status_fatal) & kStatusFrequency) != 0) {
    return false;
  }
  return on_target && !next_differing() && lit == target_.setpoint.emit &&
         (lit ? power_error <= profile_.power_tolerance.centi : to_signed(value(Register::oop)) <= kDark.centi);
}

/// "emits at 193.12000 THz, 20.000 GHz off 193.10000 THz, and says FFREQ"; empty: it does not, or shall not.
std::string ItlaDriver::astray() const {
  const bool lit = (value(Register::enable) & kSoftwareEnable) != 0 && to_signed(value(Register::oop)) > kDark.centi;
  const auto frequency = laser_frequency();
  if (!has_target_ || !lit || !frequency) {
    return {};
  }
  const Frequency wanted = centre_of(target_.setpoint.slot);
  const bool unlocked = (value(Register::status_fatal) & kStatusFrequency) != 0;
  const FrequencyOffset off = magnitude(*frequency - wanted);
  if (!unlocked && off <= profile_.frequency_tolerance) {
    return {};
  }
  return format_text("emits at {}, {}.{:03d} GHz off {}{}", to_string(*frequency), off.mhz / 1'000, off.mhz % 1'000,
                     to_string(wanted), unlocked ? ", and says FFREQ" : "");
}

/// What was proven stays settled only while read-back agrees with it.
void ItlaDriver::finish_audit() {
  if (fire_failed_) {
    return;
  }
  if (const std::string sentence = astray(); !sentence.empty()) {
    observation_.fault = format_text("{}: {}", profile_.name, sentence);
  }
  observation_.health = (value(Register::status_fatal) & kStatusFatal) != 0 ? DeviceHealth::failed : DeviceHealth::ready;
  const bool restarted = (value(Register::status_fatal) & kStatusRestarted) != 0;
  const bool still_settled = outcome_ == DriverActivity::settled && agrees_with_target() && !restarted;
  lock_proven_ = lock_proven_ && still_settled;
  if (outcome_ == DriverActivity::settled && !still_settled) {
    forget();  // somebody else was here: no remembered setting is believed, the next fire() reads all before it writes
  }
  outcome_ = still_settled ? DriverActivity::settled : DriverActivity::idle;
}

}  // namespace loom
