// Round robin over the devices, and what of it is worth a message.
#include "agents/audit.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/limits.hpp"

namespace loom {

Audit::Audit(const AuditOptions& options, const Voice& voice, DeviceLanes& lanes)
    : options_(options), voice_(voice), lanes_(lanes), reported_(lanes.size()) {}

void Audit::start(Turn turn) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].claim.owner() == Activity::none && lanes_.take(i, Activity::audit)) {
      lanes_.poll(turn, i);
    }
  }
  audit_.set(turn, later(turn.now, options_.audit_interval));
  report_.set(turn, later(turn.now, options_.report_interval));
}

void Audit::advance(Turn turn) {
  bool reading = false;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].polling) {
      lanes_.release(i, Activity::audit);
    }
    reading = reading || lanes_[i].polling;
  }
  seen_everything_ = seen_everything_ || !reading;
  if (audit_.passed(turn.now)) {
    read_next(turn);
    audit_.set(turn, next_period(audit_.at(), options_.audit_interval, turn.now));
  }
}

bool Audit::report_is_due(Turn turn) {
  if (!report_.passed(turn.now)) {
    return false;
  }
  report_.set(turn, next_period(report_.at(), options_.report_interval, turn.now));
  return true;
}

void Audit::read_next(Turn turn) {
  for (std::size_t tried = 0; tried < lanes_.size(); ++tried) {
    const std::size_t lane = next_;
    next_ = (next_ + 1) % lanes_.size();
    if (lanes_[lane].claim.owner() == Activity::none && lanes_[lane].progress != Progress::under_way &&
        lanes_.take(lane, Activity::audit)) {
      return lanes_.poll(turn, lane);
    }
  }
}

void Audit::report_all(Turn turn) {
  std::vector<Observation> all;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    all.push_back(lanes_[i].driver->observe());
    reported_[i] = all.back();
    lanes_.forget_fresh(i);
  }
  report(turn, std::move(all));
}

void Audit::report_changes(Turn turn) {
  std::vector<Observation> changed;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].fresh || lanes_[i].claim.owner() != Activity::none) {
      continue;  // in motion: whoever moves it reports
    }
    lanes_.forget_fresh(i);
    Observation now = lanes_[i].driver->observe();
    if (is_news(reported_[i], now)) {
      reported_[i] = now;
      changed.push_back(std::move(now));
    }
  }
  report(turn, std::move(changed));
}

void Audit::report(Turn turn, std::vector<Observation> observations) {
  for (std::size_t begin = 0; begin < observations.size(); begin += limits::kObservationsPerReport) {
    const std::size_t end = std::min(begin + limits::kObservationsPerReport, observations.size());
    ObservationReport report;
    report.observations.assign(observations.begin() + static_cast<std::ptrdiff_t>(begin),
                               observations.begin() + static_cast<std::ptrdiff_t>(end));
    voice_.say(turn, Revision{}, std::move(report));
  }
}

namespace {

/// A tenth of what the controller calls drift (2.5 GHz, 3 dB), and what a converter's last bits make of a heater at rest.
constexpr FrequencyOffset kFrequencyNews{250};
constexpr Db kPowerNews{30};
constexpr std::int32_t kMillivoltNews = 5;

bool is_news_of_laser(const LaserObservation& was, const LaserObservation& is) {
  const Db power = is.power - was.power;
  return was.emitting != is.emitting || was.locked != is.locked || was.status_fatal != is.status_fatal ||
         was.status_warning != is.status_warning || magnitude(is.frequency - was.frequency) > kFrequencyNews ||
         (is.emitting && (power > kPowerNews || -power > kPowerNews));
}

bool is_news_of_bank(const HeaterObservation& was, const HeaterObservation& is) {
  return !std::equal(was.millivolts.begin(), was.millivolts.end(), is.millivolts.begin(), is.millivolts.end(),
                     [](std::int32_t before, std::int32_t now) { return std::abs(now - before) <= kMillivoltNews; });
}

}  // namespace

bool is_news(const Observation& before, const Observation& after) {
  if (before.health != after.health || before.fault != after.fault || before.reading.index() != after.reading.index()) {
    return true;
  }
  if (after.health == DeviceHealth::failed && after.read_at != before.read_at) {
    return true;  // whoever returns from what failed waits for its next reading
  }
  if (const auto* laser = std::get_if<LaserObservation>(&after.reading)) {
    return is_news_of_laser(std::get<LaserObservation>(before.reading), *laser);
  }
  if (const auto* bank = std::get_if<HeaterObservation>(&after.reading)) {
    return is_news_of_bank(std::get<HeaterObservation>(before.reading), *bank);
  }
  return before.reading != after.reading;
}

}  // namespace loom
