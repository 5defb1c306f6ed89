// SPDX-License-Identifier: Apache-2.0
// Look after look, a channel of each transmitter.
#include "controller/calibrate/laser_survey.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom {

LaserSurvey::LaserSurvey(const std::vector<WayReport>& ways) {
  std::set<ElementId> transmitters;
  for (const WayReport& way : ways) {
    for (const Probe& light : way.lights) {
      ways_[{light.transmitter, light.slot}].push_back(light.receiver);
      waiting_.insert({light.transmitter, light.slot});
      transmitters.insert(light.transmitter);
    }
  }
  at_once_ = transmitters.size();
  begin();
}

std::size_t LaserSurvey::all() const { return done() + now_.size() + waiting_.size(); }

/// Of each transmitter its first channel that has a receiver to itself; the next look has the others.
void LaserSurvey::begin() {
  now_.clear();
  std::set<ElementId> taken;
  for (const Channel& channel : waiting_) {
    if (now_.size() == at_once_ || (!now_.empty() && now_.back().transmitter == channel.first)) {
      continue;
    }
    const std::vector<ElementId>& receivers = ways_.at(channel);
    const auto free = std::ranges::find_if(receivers, [&](ElementId receiver) { return !taken.contains(receiver); });
    if (free != receivers.end()) {
      taken.insert(*free);
      now_.push_back({channel.first, *free, channel.second});
    }
  }
  for (const Probe& light : now_) {
    waiting_.erase({light.transmitter, light.slot});
  }
}

ProbeLight LaserSurvey::ask() const { return {now_, {}}; }

std::vector<ElementId> LaserSurvey::receivers() const {
  std::vector<ElementId> receivers;
  for (const Probe& light : now_) {
    receivers.push_back(light.receiver);
  }
  std::ranges::sort(receivers);
  return receivers;
}

void LaserSurvey::give_up(const Probe& light, std::string why) { unmeasured_.push_back({light, std::move(why)}); }

/// Light outside its channel is another's.
void LaserSurvey::take(const Probe& light, const ReceivedLight& seen) {
  const bool is_anothers =
      seen.frequency && (*seen.frequency < lower_edge_of(light.slot) || upper_edge_of(light.slot) < *seen.frequency);
  if (seen.power < kWeakest) {
    give_up(light, format_text("nothing comes ({})", to_string(seen.power)));
  } else if (!seen.expected) {
    give_up(light, "nobody knows what should come");
  } else if (is_anothers) {
    give_up(light, format_text("light at {} comes instead", to_string(*seen.frequency)));
  } else {
    measured_.push_back({light.transmitter, light.receiver, light.slot, seen.power - *seen.expected});
    if (seen.frequency) {
      measured_.back().detuning = *seen.frequency - centre_of(light.slot);
    }
  }
}

void LaserSurvey::take(const ReceivedLights& lights) {
  ++steps_;
  for (const Probe& light : now_) {
    if (const auto seen = lights.find(light.receiver); seen != lights.end()) {
      take(light, seen->second);
    } else {
      give_up(light, "its receiver's monitor was not read");
    }
  }
  std::ranges::sort(measured_, {}, [](const MeasuredChannel& light) { return std::pair{light.transmitter, light.slot}; });
  begin();
}

/// Half of them are tried by themselves; one that is alone is given up.
void LaserSurvey::refused(const Error& error) {
  if (now_.size() == 1) {
    give_up(now_.front(), error.message);
  } else {
    at_once_ = (now_.size() + 1) / 2;
    for (const Probe& light : now_) {
      waiting_.insert({light.transmitter, light.slot});
    }
  }
  begin();
}

}  // namespace loom
