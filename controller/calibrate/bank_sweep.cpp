// SPDX-License-Identifier: Apache-2.0
// Which light and which heat in which round.
#include "controller/calibrate/bank_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr double kSomebodyElses = 0.4;  ///< a heater that moves a ring by more of what its own does has it for its own

double square_volts(std::int32_t millivolts) { return 1e-6 * millivolts * millivolts; }
double mhz(FrequencyOffset offset) { return static_cast<double>(offset.mhz); }
double shift_of(const RingLaw& law, std::size_t channel) { return 1e-3 * static_cast<double>(law.shift[channel]); }
double own_shift(const RingLaw& law) { return shift_of(law, law.channel); }

std::string in_gigahertz(double mhz) { return format_text("{} GHz", std::llround(mhz / 1e3)); }

}  // namespace

BankSweep::BankSweep(std::vector<RingReport> rings, const DeviceCalibration* before)
    : rings_(std::move(rings)), channels_(rings_.front().channels), millivolts_(channels_, 0) {
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const RingReport& ring = rings_[i];
    Place& place = places_.emplace_back();
    place.kind.channel = static_cast<std::uint16_t>(ring.channel);
    place.kind.cold_resonance = ring.cold_resonance;
    place.kind.shift.assign(channels_, 0);
    place.kind.shift[ring.channel] = static_cast<std::int64_t>(ring.shift);
    const RingLaw* known = before == nullptr ? nullptr : law_of(*before, ring.channel);
    place.warm = known != nullptr;
    place.known = known != nullptr ? *known : place.kind;
    place.law = place.known;
    choose_lights(i);
  }
  begin_round();
}

/// How far down its heater takes it, MHz, by its kind.
double BankSweep::reach(std::size_t index) const {
  return own_shift(places_[index].kind) * square_volts(static_cast<std::int32_t>(rings_[index].millivolts_max));
}

/// As near and as far as it is sure to come, and one between; else the one that it comes to most likely.
void BankSweep::choose_lights(std::size_t index) {
  Place& place = places_[index];
  const double most = own_shift(place.law) * square_volts(static_cast<std::int32_t>(rings_[index].millivolts_max));
  const double doubt = place.warm ? mhz(rings_[index].fwhm) : mhz(kColdSpread);
  const double part = place.warm ? 0 : kShiftSpread;
  const auto down = [&](const Probe& light) { return mhz(place.law.cold_resonance - centre_of(light.slot)); };
  std::vector<Probe> sure = rings_[index].lights;
  std::ranges::sort(sure, {}, down);
  std::erase_if(sure, [&](const Probe& light) { return down(light) < doubt || down(light) * (1 + part) + doubt > most; });
  if (!sure.empty()) {
    place.lights = {sure.front()};
    if (sure.size() > 1) {
      place.lights.push_back(sure.back());
    }
    if (sure.size() > 2) {
      place.lights.push_back(sure[sure.size() / 2]);
    }
    return;
  }
  for (const Probe& light : rings_[index].lights) {
    const bool may_come = down(light) + doubt > 0 && down(light) * (1 - part) - doubt < most;
    if (may_come && (place.lights.empty() || std::abs(2 * down(light) - most) < std::abs(2 * down(place.lights[0]) - most))) {
      place.lights = {light};
    }
  }
  if (place.lights.empty()) {
    place.trouble = format_text("none of the {} lights that can be sent to it is within the {} that its heater reaches",
                                rings_[index].lights.size(), in_gigahertz(most));
  }
}

double BankSweep::heat_wanted(const Place& place) const {
  double down = mhz(place.law.cold_resonance - centre_of(place.lights[place.light].slot));
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    down -= channel == place.law.channel ? 0 : shift_of(place.law, channel) * square_volts(millivolts_[channel]);
  }
  return down / own_shift(place.law);
}

/// Places of a search are those of the ring's own heater, by its kind.
void BankSweep::aim(std::size_t index) {
  Place& place = places_[index];
  const double width = mhz(rings_[index].fwhm);
  const double expected = heat_wanted(place) * own_shift(place.kind);
  if (place.warm || (round_ != Round::first && round_ != Round::far)) {
    place.search = PeakSearch::about(expected, 0, reach(index), width);
    return;
  }
  const double doubt =
      place.peaks.empty()
          ? mhz(kColdSpread) + kShiftSpread * std::abs(expected)
          : 2 * width + kShiftSpread * std::abs(mhz(place.peaks.front().light - centre_of(place.lights[place.light].slot)));
  place.search = PeakSearch::scan(std::clamp(expected - doubt, 0.0, reach(index) - width),
                                  std::clamp(expected + doubt, width, reach(index)), width);
}

bool BankSweep::looks_in_round(const Place& place) const {
  if (!place.trouble.empty()) {
    return false;
  }
  switch (round_) {
    case Round::first_again:
      return !place.warm;  // one that was where it should be was not scanned for
    case Round::far:
      return place.lights.size() > 1;
    case Round::far_again:
      return place.lights.size() > 1 && !place.warm;
    case Round::neighbours:
      return &place != &places_[neighbour_];
    default:
      return true;
  }
}

std::optional<std::size_t> BankSweep::light_of_round(const Place& place) const {
  if (!place.trouble.empty() || (round_ == Round::neighbours && &place == &places_[neighbour_])) {
    return std::nullopt;
  }
  switch (round_) {
    case Round::far:
    case Round::far_again:
    case Round::neighbours:  // what a heater does to the others is told best where it does most
      return std::min<std::size_t>(1, place.lights.size() - 1);
    case Round::proof:  // every second one on another light: heat that no peak before was seen with
      return (&place - places_.data()) % 2 == 0 ? place.lights.size() - 1 : 0;
    default:
      return 0;
  }
}

void BankSweep::begin_round() {
  constexpr int kSettled = 4;  // crosstalk of a few percent is a millionth after four
  std::ranges::fill(millivolts_, 0);
  for (Place& place : places_) {
    place.search.reset();
    place.light = light_of_round(place).value_or(0);
  }
  for (int i = 0; i < kSettled; ++i) {
    for (Place& place : places_) {
      place.rest = light_of_round(place) ? std::max(0.0, heat_wanted(place)) : 0;
    }
    set_heaters();
  }
  bool looks = false;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (looks_in_round(places_[i])) {
      aim(i);
      looks = true;
    }
  }
  looks ? set_heaters() : end_round();
}

void BankSweep::set_heaters() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const bool looks = place.search && !place.search->is_over();
    const double heat = looks ? place.search->next() / own_shift(place.kind) : place.rest;
    millivolts_[place.law.channel] = static_cast<std::int32_t>(
        std::min(std::lround(std::sqrt(std::max(0.0, heat)) * 1e3), static_cast<long>(rings_[i].millivolts_max)));
  }
}

std::optional<Probe> BankSweep::light(std::size_t index) const {
  const Place& place = places_[index];
  return place.search && !place.search->is_over() ? std::optional(place.lights[place.light]) : std::nullopt;
}

/// All heat of the bank as the ring came by its peak: the others were on their own ways between the looks.
std::vector<double> BankSweep::heats_at(const Place& place, double peak) {
  std::vector<Look> looks = place.looks;
  std::ranges::sort(looks, {}, &Look::place);
  const std::size_t right = looks.size() > 2 && peak > looks[1].place ? 2 : 1;
  const Look& from = looks[right - 1];
  const Look& to = looks[right];
  const double part = to.place > from.place ? (peak - from.place) / (to.place - from.place) : 0;
  std::vector<double> heats;
  for (std::size_t channel = 0; channel < from.heat.size(); ++channel) {
    heats.push_back(from.heat[channel] + part * (to.heat[channel] - from.heat[channel]));
  }
  heats[place.law.channel] = place.rest;
  return heats;
}

void BankSweep::keep_peak(std::size_t index, double peak) {
  Place& place = places_[index];
  place.rest = peak / own_shift(place.kind);
  RingPeak seen{centre_of(place.lights[place.light].slot), heats_at(place, peak)};
  if (round_ == Round::proof) {
    place.missed = {std::llround(std::abs(misfit(place.law, seen)))};
  }
  if (round_ == Round::first_again || round_ == Round::far_again) {
    std::erase_if(place.peaks, [&](const RingPeak& each) { return each.light == seen.light; });  // found while others scanned
  }
  place.peaks.push_back(std::move(seen));
}

void BankSweep::take(const std::vector<Dbm>& powers) {
  bool looks = false;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    if (!place.search || place.search->is_over()) {
      continue;
    }
    Look look{own_shift(place.kind) * square_volts(millivolts_[place.law.channel]), {}};
    for (const std::int32_t each : millivolts_) {
      look.heat.push_back(square_volts(each));
    }
    place.search->take(look.place, powers[i]);
    place.looks.push_back(std::move(look));
    if (place.looks.size() > 3) {
      place.looks.erase(place.looks.begin());
    }
    if (place.search->is_over() && place.search->peak()) {
      keep_peak(i, *place.search->peak());
    } else if (place.search->is_over() && place.warm && round_ == Round::first) {
      place.warm = false;  // not where it was: as if it had never been measured
      place.law = place.known = place.kind;
      choose_lights(i);
      aim(i);
    } else if (place.search->is_over()) {
      place.trouble = place.search->trouble();
      place.rest = 0;
    }
    looks = looks || !place.search->is_over();
  }
  looks ? set_heaters() : end_round();
}

/// Two rings on one heater, or a heater's wire at another ring.
void BankSweep::judge_neighbours(Place& place) {
  for (std::size_t channel = 0; channel < place.law.shift.size(); ++channel) {
    const double part = shift_of(place.law, channel) / own_shift(place.law);
    if (channel != place.law.channel && std::abs(part) > kSomebodyElses) {
      place.trouble =
          format_text("heater {} of its bank moves it by {} % of what its own does: two rings on one, or wires swapped",
                      channel, std::llround(100 * part));
    }
  }
}

void BankSweep::end_round() {
  for (Place& place : places_) {
    if (!place.trouble.empty() || place.peaks.empty()) {
      continue;
    }
    place.law = fit_law(place.known, place.peaks);
    if (own_shift(place.law) < own_shift(place.kind) / 10) {
      place.trouble = "its heater moves it by less than a tenth of what its kind's does";
    } else if (round_ == Round::neighbours) {
      judge_neighbours(place);
    }
  }
  if (round_ == Round::neighbours && neighbour_ + 1 < places_.size()) {
    ++neighbour_;
  } else {
    round_ = static_cast<Round>(static_cast<int>(round_) + 1);
    round_ = round_ == Round::neighbours && places_.size() == 1 ? Round::proof : round_;
  }
  if (round_ == Round::over) {
    std::ranges::fill(millivolts_, 0);
  } else {
    begin_round();
  }
}

std::vector<RingLaw> BankSweep::laws() const {
  std::vector<RingLaw> laws;
  for (const Place& place : places_) {
    if (place.trouble.empty() && !place.peaks.empty()) {
      laws.push_back(place.law);
      laws.back().residual = std::max(laws.back().residual, place.missed);
    }
  }
  return laws;
}

}  // namespace loom
