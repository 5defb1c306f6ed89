// SPDX-License-Identifier: Apache-2.0
// Look after look, a channel of each transmitter.
#include "controller/calibrate/power_survey.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom {

PowerSurvey::PowerSurvey(const std::vector<WayReport>& ways) {
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

std::size_t PowerSurvey::all() const { return done() + now_.size() + waiting_.size(); }

/// Of each transmitter its first channel that has a receiver to itself; the next look has the others.
void PowerSurvey::begin() {
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

ProbeLight PowerSurvey::ask() const { return {now_, {}}; }

std::vector<ElementId> PowerSurvey::receivers() const {
  std::vector<ElementId> receivers;
  for (const Probe& light : now_) {
    receivers.push_back(light.receiver);
  }
  std::ranges::sort(receivers);
  return receivers;
}

void PowerSurvey::give_up(const Probe& light, std::string why) { unmeasured_.push_back({light, std::move(why)}); }

void PowerSurvey::take(const std::map<ElementId, Dbm>& powers) {
  ++steps_;
  for (const Probe& light : now_) {
    const auto seen = powers.find(light.receiver);
    const auto should = expected_.find(light.receiver);
    if (seen == powers.end()) {
      give_up(light, "its receiver's monitor was not read");
    } else if (seen->second < kWeakest) {
      give_up(light, format_text("nothing comes ({})", to_string(seen->second)));
    } else if (should == expected_.end()) {
      give_up(light, "nobody knows what should come");
    } else {
      powers_.push_back({light.transmitter, light.receiver, light.slot, seen->second - should->second});
    }
  }
  std::ranges::sort(powers_, {}, [](const MeasuredPower& power) { return std::pair{power.transmitter, power.slot}; });
  begin();
}

/// Half of them are tried by themselves; one that is alone is given up.
void PowerSurvey::refused(const Error& error) {
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
