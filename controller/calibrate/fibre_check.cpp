// SPDX-License-Identifier: Apache-2.0
// Numbers in light.
#include "controller/calibrate/fibre_check.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "controller/calibrate/transmitter_matching.hpp"

namespace loom {
namespace {

constexpr Dbm kHears{-2'500};  ///< a photodiode's last counts are below
constexpr Db kOff{600};        ///< light that is switched off falls by more

/// Of the transmitter that was given, one light.
std::optional<Probe> light_of(const WayReport& way, std::optional<ElementId> transmitter) {
  const auto light = std::ranges::find_if(way.lights, [&](const Probe& each) { return each.transmitter == transmitter; });
  return light == way.lights.end() ? std::nullopt : std::optional(*light);
}

}  // namespace

std::string_view to_string(FibreTrouble trouble) {
  switch (trouble) {
    case FibreTrouble::missing:
      return "missing";
    case FibreTrouble::swapped:
      return "swapped";
    case FibreTrouble::mixed:
      return "mixed";
    case FibreTrouble::dirty:
      return "dirty";
  }
  return "?";
}

FibreCheck::FibreCheck(const std::vector<WayReport>& ways) {
  TransmitterMatching matching;
  for (const WayReport& way : ways) {
    Candidates candidates{way.receiver, {}};
    for (const Probe& light : way.lights) {
      if (std::ranges::find(candidates.transmitters, light.transmitter) == candidates.transmitters.end()) {
        candidates.transmitters.push_back(light.transmitter);
      }
    }
    if (way.lights.empty()) {
      unchecked_.emplace_back(way.receiver, "no transmitter that is free can reach it");
    } else if (!matching.add({std::move(candidates)})) {
      unchecked_.emplace_back(way.receiver, "there are fewer transmitters than receivers");
    }
  }
  for (const WayReport& way : ways) {
    if (const auto light = light_of(way, matching.transmitter_of(way.receiver))) {
      waiting_.push_back({*light});
    }
  }
  std::ranges::sort(waiting_, {}, [](const Pair& pair) { return pair.light.receiver; });
  at_once_ = waiting_.size();
  begin();
}

std::size_t FibreCheck::bits() const { return static_cast<std::size_t>(std::bit_width(now_.size())); }

void FibreCheck::begin() {
  round_ = 0;
  const auto count = static_cast<std::ptrdiff_t>(std::min(at_once_, waiting_.size()));
  now_.assign(waiting_.begin(), waiting_.begin() + count);
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
}

ProbeLight FibreCheck::ask() const {
  ProbeLight ask;
  for (std::size_t i = 0; i < now_.size(); ++i) {
    ask.probes.push_back(now_[i].light);
    ask.probes.back().emit = round_ == 0 || ((i + 1) >> (round_ - 1) & 1) != 0;
  }
  std::ranges::sort(ask.probes, {}, &Probe::transmitter);
  return ask;
}

std::vector<ElementId> FibreCheck::receivers() const {
  std::vector<ElementId> receivers;
  for (const Pair& pair : now_) {
    receivers.push_back(pair.light.receiver);
  }
  return receivers;
}

void FibreCheck::take(const ReceivedLights& lights) {
  ++steps_;
  for (Pair& pair : now_) {
    const auto found = lights.find(pair.light.receiver);
    const Dbm power = found == lights.end() ? kNoLight : found->second.power;
    if (round_ == 0) {
      pair.heard = power;
      pair.expected = found == lights.end() ? std::nullopt : found->second.expected;
    } else if (power >= kHears && pair.heard - power < kOff) {
      pair.number |= std::uint64_t{1} << (round_ - 1);
    }
  }
  if (round_++ < bits()) {
    return;
  }
  judge();
  begin();
}

void FibreCheck::judge() {
  for (std::size_t i = 0; i < now_.size(); ++i) {
    const Pair& pair = now_[i];
    FibreFinding finding{FibreTrouble::mixed, pair.light.receiver, pair.light.transmitter};
    const Db excess = pair.expected ? *pair.expected - pair.heard : Db{0};
    if (pair.heard < kHears) {
      finding.trouble = FibreTrouble::missing;
    } else if (pair.number == i + 1 && excess < kDirty) {
      continue;
    } else if (pair.number == i + 1) {
      finding.trouble = FibreTrouble::dirty;
      finding.excess = excess;
    } else if (pair.number > 0 && pair.number <= now_.size()) {
      finding.trouble = FibreTrouble::swapped;
      finding.heard = now_[pair.number - 1].light.transmitter;
      finding.meant_for = now_[pair.number - 1].light.receiver;
    }
    findings_.push_back(finding);
  }
  checked_ += now_.size();
  std::ranges::sort(findings_, {}, &FibreFinding::receiver);
}

void FibreCheck::refused(const Error& error) {
  if (now_.size() == 1) {
    unchecked_.emplace_back(now_.front().light.receiver, error.message);
    now_.clear();
  } else {
    at_once_ = (now_.size() + 1) / 2;
    waiting_.insert(waiting_.begin(), now_.begin(), now_.end());
  }
  begin();
}

}  // namespace loom
