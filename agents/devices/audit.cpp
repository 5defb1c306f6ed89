// SPDX-License-Identifier: Apache-2.0
// Round robin over the devices, and what of it is worth a message.
#include "agents/devices/audit.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "agents/devices/symptom.hpp"
#include "core/limits.hpp"
#include "core/ring/settling.hpp"
#include "core/text/format_text.hpp"

namespace loom {

Audit::Audit(const AuditOptions& options, const EnvelopeSender& envelopes, DeviceUnits& units)
    : options_(options),
      envelopes_(envelopes),
      units_(units),
      reported_(units.size()),
      due_(units.size()),
      awaited_(units.size()) {}

void Audit::start(StepContext context) {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (units_[i].claim.owner() == Activity::none && units_.take(i, Activity::audit)) {
      units_.poll(context, i);
    }
  }
  audit_.set(context, later(context.now, options_.audit_interval));
  report_.set(context, later(context.now, options_.report_interval));
}

void Audit::advance(StepContext context) {
  bool reading = false;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (!units_[i].polling) {
      units_.release(i, Activity::audit);
    }
    reading = reading || units_[i].polling;
  }
  seen_everything_ = seen_everything_ || !reading;
  if (light_.passed(context.now)) {
    light_.forget();
    mark_monitors();
  }
  read_due(context);
  if (audit_.passed(context.now)) {
    const Instant next = next_period(audit_.at(), options_.audit_interval, context.now);
    // The timer may come less often than devices are due; what a stalled host missed stays missed.
    const std::int64_t most = kRelaxedLate / options_.audit_interval + 1;
    for (std::int64_t due = std::min(between(audit_.at(), next) / options_.audit_interval, most); due > 0; --due) {
      read_next(context);
    }
    audit_.set(context, next);
  }
}

bool Audit::report_is_due(StepContext context) {
  if (!report_.passed(context.now)) {
    return false;
  }
  report_.set(context, next_period(report_.at(), options_.report_interval, context.now));
  return true;
}

void Audit::read_next(StepContext context) {
  for (std::size_t tried = 0; tried < units_.size(); ++tried) {
    const std::size_t unit = next_;
    next_ = (next_ + 1) % units_.size();
    if (read(context, unit)) {
      return;
    }
  }
}

bool Audit::read(StepContext context, std::size_t unit) {
  const bool is_too_early = context.now < light_settles_at_ && measures_light(unit);
  if (is_too_early || units_[unit].claim.owner() != Activity::none || units_[unit].progress == Progress::under_way ||
      !units_.take(unit, Activity::audit)) {
    return false;
  }
  units_.poll(context, unit);
  return true;
}

void Audit::read_light(StepContext context) {
  light_settles_at_ = later(context.now, kLightSettles);
  light_.set(context, light_settles_at_);
}

bool Audit::measures_light(std::size_t unit) const {
  const DeviceRole role = units_[unit].device->role;
  if (role != DeviceRole::transmitter) {
    return role == DeviceRole::monitor;
  }
  const Observation seen = units_.observe(unit);
  const auto* module = std::get_if<TransmitterObservation>(&seen.reading);
  return module != nullptr && module->received.has_value();
}

void Audit::mark_monitors() {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    due_[i] = due_[i] || units_[i].device->role == DeviceRole::monitor;
  }
}

bool Audit::is_unsettled(Instant now, std::size_t unit) const {
  const bool may_be_early = now < light_settles_at_ || due_[unit] || (awaited_[unit] && units_[unit].polling);
  return may_be_early && measures_light(unit) && units_.observe(unit).health != DeviceHealth::failed;
}

void Audit::read_due(StepContext context) {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (due_[i] && read(context, i)) {
      due_[i] = false;
      awaited_[i] = true;
    }
  }
}

namespace {

/// A failure with the name of the fault that it looks like.
Observation named(Observation seen, const DeviceUnit& unit) {
  if (seen.health == DeviceHealth::failed && !seen.fault.empty()) {
    seen.fault = sentence_of(*unit.device, seen);
  }
  return seen;
}

}  // namespace

void Audit::report_all(StepContext context) {
  std::vector<Observation> all;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (is_unsettled(context.now, i)) {
      continue;
    }
    if (units_[i].claim.owner() == Activity::lock && measures_light(i)) {
      awaited_[i] = true;  // rings may stand aside for a look: it is told when that is over
      continue;
    }
    reported_[i] = units_.observe(i);
    all.push_back(named(reported_[i], units_[i]));
    units_.forget_fresh(i);
  }
  report(context, std::move(all));
}

void Audit::report_changes(StepContext context) {
  std::vector<Observation> changed;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (!units_[i].fresh || units_[i].claim.owner() != Activity::none || is_unsettled(context.now, i)) {
      continue;  // in motion: whoever moves it reports
    }
    units_.forget_fresh(i);
    Observation now = units_.observe(i);
    if (is_news(reported_[i], now) || awaited_[i]) {
      awaited_[i] = false;
      reported_[i] = now;
      changed.push_back(named(std::move(now), units_[i]));
    }
  }
  report(context, std::move(changed));
}

void Audit::report(StepContext context, std::vector<Observation> observations) {
  for (std::size_t begin = 0; begin < observations.size(); begin += limits::kObservationsPerReport) {
    const std::size_t end = std::min(begin + limits::kObservationsPerReport, observations.size());
    ObservationReport report;
    report.observations.assign(observations.begin() + static_cast<std::ptrdiff_t>(begin),
                               observations.begin() + static_cast<std::ptrdiff_t>(end));
    envelopes_.send(context, Revision{}, std::move(report));
  }
}

namespace {

/// A tenth of what the controller calls drift (2.5 GHz, 3 dB), and what a converter's last bits make of a heater at rest.
constexpr FrequencyOffset kFrequencyNews{250};
constexpr Db kPowerNews{30};
constexpr std::int32_t kMillivoltNews = 5;
constexpr FrequencyOffset kTrimNews{1'000};

bool is_news_of_laser(const TransmitterObservation& was, const TransmitterObservation& is) {
  const Db power = is.power - was.power;
  return was.emitting != is.emitting || was.locked != is.locked || was.status_fatal != is.status_fatal ||
         was.status_warning != is.status_warning || magnitude(is.frequency - was.frequency) > kFrequencyNews ||
         (is.emitting && (power > kPowerNews || -power > kPowerNews));
}

/// A bit error ratio that is half as much again, or the other way round, is news; so is a third of a decibel of OSNR.
bool is_news_of_signal(const TransmitterObservation& was, const TransmitterObservation& is) {
  const Db osnr = is.osnr.value_or(Db{0}) - was.osnr.value_or(Db{0});
  const std::int64_t before = was.pre_fec_errors.value_or(0);
  const std::int64_t now = is.pre_fec_errors.value_or(0);
  return was.osnr.has_value() != is.osnr.has_value() || was.pre_fec_errors.has_value() != is.pre_fec_errors.has_value() ||
         osnr > kPowerNews || -osnr > kPowerNews || 2 * now > 3 * before || 2 * before > 3 * now;
}

/// The voltage of a ring that is held goes with its trim.
bool is_news_of_bank(const FilterObservation& was, const FilterObservation& is) {
  const auto is_same = [](const RingLock& before, const RingLock& now) {
    return before.channel == now.channel && before.state == now.state &&
           std::abs(now.trim.mhz - before.trim.mhz) <= kTrimNews.mhz;
  };
  if (was.millivolts.size() != is.millivolts.size() || !std::ranges::equal(was.locks, is.locks, is_same)) {
    return true;
  }
  for (std::size_t channel = 0; channel < is.millivolts.size(); ++channel) {
    const bool is_locked = std::ranges::find(is.locks, channel, &RingLock::channel) != is.locks.end();
    if (!is_locked && std::abs(is.millivolts[channel] - was.millivolts[channel]) > kMillivoltNews) {
      return true;
    }
  }
  return false;
}

/// A meter's last digits are noise. Light that comes or goes is a line more or less: in the dark a converter's last count may
/// come and go as well, and each time is told.
bool is_news_of_monitor(const MonitorObservation& was, const MonitorObservation& is) {
  return !std::equal(was.lights.begin(), was.lights.end(), is.lights.begin(), is.lights.end(),
                     [](const LightReading& before, const LightReading& now) {
                       const Db power = now.power - before.power;
                       const bool is_dark = before.power <= kNoLight && now.power <= kNoLight;
                       return before.channel == now.channel && (before.frequency.mhz == 0) == (now.frequency.mhz == 0) &&
                              magnitude(now.frequency - before.frequency) <= kFrequencyNews &&
                              (is_dark || (power <= kPowerNews && -power <= kPowerNews));
                     });
}

bool is_news_of_stage(const GainObservation& was, const GainObservation& is) {
  const auto moves = [](const std::optional<Dbm>& before, const std::optional<Dbm>& now) {
    const Db power = now.value_or(kNoLight) - before.value_or(kNoLight);
    return before.has_value() != now.has_value() || power > kPowerNews || -power > kPowerNews;
  };
  return was.gain != is.gain || was.settled != is.settled || moves(was.input, is.input) || moves(was.output, is.output);
}

}  // namespace

bool is_news(const Observation& before, const Observation& after) {
  if (before.health != after.health || before.fault != after.fault || before.reading.index() != after.reading.index() ||
      before.proof != after.proof || before.identity != after.identity) {
    return true;
  }
  if (after.health == DeviceHealth::failed && after.read_at != before.read_at) {
    return true;  // whoever returns from what failed waits for its next reading
  }
  if (const auto* laser = std::get_if<TransmitterObservation>(&after.reading)) {
    const auto& was = std::get<TransmitterObservation>(before.reading);
    return is_news_of_laser(was, *laser) || is_news_of_signal(was, *laser);
  }
  if (const auto* bank = std::get_if<FilterObservation>(&after.reading)) {
    return is_news_of_bank(std::get<FilterObservation>(before.reading), *bank);
  }
  if (const auto* monitor = std::get_if<MonitorObservation>(&after.reading)) {
    return is_news_of_monitor(std::get<MonitorObservation>(before.reading), *monitor);
  }
  if (const auto* stage = std::get_if<GainObservation>(&after.reading)) {
    return is_news_of_stage(std::get<GainObservation>(before.reading), *stage);
  }
  return before.reading != after.reading;
}

}  // namespace loom
