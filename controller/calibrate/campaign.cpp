// SPDX-License-Identifier: Apache-2.0
// Transmitters for rings by augmenting paths, bank after bank; what finds none waits.
#include "controller/calibrate/campaign.hpp"

#include <algorithm>
#include <utility>

#include "controller/calibrate/transmitter_matching.hpp"

namespace loom {
namespace {

std::vector<ElementId> transmitters_of(const RingReport& ring) {
  std::vector<ElementId> transmitters;
  for (const Probe& light : ring.lights) {
    if (std::ranges::find(transmitters, light.transmitter) == transmitters.end()) {
      transmitters.push_back(light.transmitter);
    }
  }
  return transmitters;
}

std::vector<Candidates> candidates_of(const std::vector<RingReport>& rings) {
  std::vector<Candidates> candidates;
  for (const RingReport& ring : rings) {
    candidates.push_back({ring.receiver, transmitters_of(ring)});
  }
  return candidates;
}

/// Of the ring its lights that the transmitter which it was given sends.
RingReport only_given(RingReport ring, const TransmitterMatching& matching) {
  const auto given = matching.transmitter_of(ring.receiver);
  std::erase_if(ring.lights, [&](const Probe& light) { return light.transmitter != given; });
  return ring;
}

std::string why_not(const RingReport& ring) {
  if (ring.receiver.value == 0 && ring.lights.empty() && !ring.monitor) {
    return "no receiver is behind its drop";
  }
  return !ring.monitor         ? "nothing measures the light behind its drop: neither a monitor nor the module of that receiver"
         : ring.lights.empty() ? "no transmitter that is free can reach it"
                               : "";
}

}  // namespace

Campaign::Campaign(const std::vector<RingReport>& rings, const std::vector<DeviceCalibration>& before) : before_(before) {
  std::map<DeviceId, std::vector<RingReport>> by_bank;
  for (const RingReport& ring : rings) {
    if (const std::string why = why_not(ring); !why.empty()) {
      troubles_.push_back({ring.bank, ring.name, why});
    } else {
      by_bank[ring.bank].push_back(ring);
    }
  }
  for (auto& [device, of_bank] : by_bank) {
    std::ranges::sort(of_bank, {}, &RingReport::channel);
    const auto known = std::ranges::find(before_, device, &DeviceCalibration::device);
    waiting_.push_back(banks_.size());
    banks_.push_back({device, std::move(of_bank), known == before_.end() || known->rings.empty() ? nullptr : &*known});
  }
  at_once_ = banks_.size();
  begin_some();
}

void Campaign::begin_some() {
  while (now_.empty() && !waiting_.empty()) {
    TransmitterMatching matching;
    std::vector<std::size_t> chosen;
    for (const std::size_t bank : waiting_) {
      if (chosen.size() < at_once_ && matching.add(candidates_of(banks_[bank].rings))) {
        chosen.push_back(bank);
      }
    }
    if (chosen.empty()) {
      give_up(banks_[waiting_.front()], "there are fewer transmitters whose light comes to its rings than rings");
      waiting_.erase(waiting_.begin());
      continue;
    }
    for (const std::size_t bank : chosen) {
      std::vector<RingReport> rings;
      for (const RingReport& ring : banks_[bank].rings) {
        rings.push_back(only_given(ring, matching));
      }
      now_.push_back({bank, BankSweep(std::move(rings), banks_[bank].before)});
    }
    std::erase_if(waiting_, [&](std::size_t bank) { return std::ranges::binary_search(chosen, bank); });
    std::erase_if(now_, [&](const Running& running) { return running.sweep.is_over() ? (close(running), true) : false; });
  }
}

ProbeLight Campaign::ask() const {
  ProbeLight ask;
  for (const Running& running : now_) {
    for (std::size_t i = 0; i < running.sweep.rings().size(); ++i) {
      const RingReport& ring = running.sweep.rings()[i];
      ask.drives.push_back({ring.ring, running.sweep.millivolts()[ring.channel]});
      if (const auto light = running.sweep.light(i)) {
        ask.probes.push_back(*light);
      }
    }
  }
  std::ranges::sort(ask.probes, {}, &Probe::transmitter);
  std::ranges::sort(ask.drives, {}, &RingDrive::ring);
  return ask;
}

std::vector<ElementId> Campaign::receivers() const {
  std::vector<ElementId> receivers;
  for (const Probe& probe : ask().probes) {
    receivers.push_back(probe.receiver);
  }
  std::ranges::sort(receivers);
  return receivers;
}

void Campaign::take(const ReceivedLights& lights) {
  ++steps_;
  for (Running& running : now_) {
    std::vector<Dbm> seen;
    for (const RingReport& ring : running.sweep.rings()) {
      const auto found = lights.find(ring.receiver);
      seen.push_back(found == lights.end() ? kNoLight : found->second.power);
    }
    running.sweep.take(seen);
  }
  std::erase_if(now_, [&](const Running& running) { return running.sweep.is_over() ? (close(running), true) : false; });
  begin_some();
}

void Campaign::refused(const Error& error) {
  if (now_.size() == 1) {
    give_up(banks_[now_.front().bank], error.message);
    now_.clear();
  } else {
    at_once_ = (now_.size() + 1) / 2;
    for (const Running& running : now_) {
      waiting_.push_back(running.bank);
    }
    std::ranges::sort(waiting_);
    now_.clear();
  }
  begin_some();
}

void Campaign::give_up(const Bank& bank, const std::string& why) {
  ++done_;
  for (const RingReport& ring : bank.rings) {
    troubles_.push_back({bank.device, ring.name, why});
  }
}

void Campaign::close(const Running& running) {
  ++done_;
  const Bank& bank = banks_[running.bank];
  for (std::size_t i = 0; i < bank.rings.size(); ++i) {
    if (!running.sweep.trouble(i).empty()) {
      troubles_.push_back({bank.device, bank.rings[i].name, running.sweep.trouble(i)});
    }
  }
  DeviceCalibration found;
  found.device = bank.device;
  found.rings = running.sweep.laws();
  if (!found.rings.empty()) {
    const auto place = std::ranges::lower_bound(calibrations_, found.device, {}, &DeviceCalibration::device);
    calibrations_.insert(place, std::move(found));
  }
}

}  // namespace loom
