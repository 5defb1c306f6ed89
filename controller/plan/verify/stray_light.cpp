// SPDX-License-Identifier: Apache-2.0
// An element costs what its inputs and outputs carry: what leaks to each output is what leaks of everything but that output's
// own, which sums from both ends give without a difference of two sums.
#include "controller/plan/verify/stray_light.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace loom::verifying {
namespace {

constexpr double kSettled = 1e-6;  ///< relative change of all leaks in a round

}  // namespace

/// What of signals goes where it should not, element by element: the same in every round.
void StrayLight::sort_leaking() {
  leaking_begins_.assign(order_.elements.size() + 1, 0);
  for (const auto& [place, light] : found_) {
    ++leaking_begins_[place + 1];
  }
  std::partial_sum(leaking_begins_.begin(), leaking_begins_.end(), leaking_begins_.begin());
  leaking_.resize(found_.size());
  std::vector<std::uint32_t> next(leaking_begins_.begin(), leaking_begins_.end() - 1);
  for (const auto& [place, light] : found_) {
    leaking_[next[place]++] = light;
  }
}

bool StrayLight::sum(std::vector<double>& leaks) {
  leaks.assign(fabric_.fibres.size(), 0.0);
  if (found_.empty()) {
    return true;
  }
  sort_leaking();
  ranges_.assign(fabric_.fibres.size(), {});
  double before = 0;
  for (int round = 0; round < kRoundsMax; ++round) {
    half_ = static_cast<std::uint8_t>(round % 2);  // light of the round before feeds this one until it is replaced
    strays_[half_].clear();
    round_sum_ = 0;
    for (std::size_t place = 0; place < order_.elements.size(); ++place) {
      order_.rings[place].is_ring ? pass_ring(place, leaks) : pass(place, leaks);
    }
    if (!order_.has_loops || std::abs(round_sum_ - before) <= kSettled * round_sum_) {
      return true;
    }
    before = round_sum_;
  }
  return false;
}

/// What leaves by one fibre in this round. `emit`: calls its argument with (colour, mW before the fibre), ascending colour.
template <class Emit>
void StrayLight::leave(FibreId fibre, std::vector<double>& leaks, Emit emit) {
  std::vector<Stray>& strays = strays_[half_];
  const auto begin = static_cast<std::uint32_t>(strays.size());
  const double length = order_.fibre_factor[fibre.value];
  double sum = 0;
  emit([&](std::uint16_t colour, double mw) {
    if (mw > 0) {
      strays.push_back({mw * length, colour});
      sum += mw * length;
    }
  });
  ranges_[fibre.value] = {begin, static_cast<std::uint32_t>(strays.size()) - begin, half_};
  leaks[fibre.value] = sum;
  round_sum_ += sum;
}

/// Leaks pass on as signals do; signals leak.
void StrayLight::pass(std::size_t place, std::vector<double>& leaks) {
  const Element& element = fabric_.element(order_.elements[place]);
  const auto leaking = leaking_at(place);
  passing_.assign(leaking.begin(), leaking.end());
  for (PortNumber input = 0; input < element.inputs; ++input) {
    const auto& fibre = fabric_.fibre_in[element.id.value][input];
    for (const Stray& stray : fibre ? on(*fibre) : std::span<const Stray>{}) {
      const Cell cell{stray.mw, 0, stray.colour, 0};
      passing_.push_back({cell, passages_.at(element, input, cell)});
    }
  }
  sum_exits(element);
  for (PortNumber output = 0; output < element.outputs; ++output) {
    const auto& fibre = fabric_.fibre_out[element.id.value][output];
    if (!fibre) {
      continue;
    }
    leave(*fibre, leaks, [&](auto emit) {
      for (Colour& light : here_) {
        while (light.exit < light.exits_end && exits_[light.exit].output < output) {
          ++light.exit;
        }
        const bool is_exit = light.exit < light.exits_end && exits_[light.exit].output == output;
        emit(light.colour, light.everywhere + (is_exit ? exits_[light.exit].passes + exits_[light.exit].others : light.others));
      }
    });
  }
}

/// Of passing_: by colour, and by where it passes.
void StrayLight::sum_exits(const Element& element) {
  here_.clear();
  exits_.clear();
  bound_.clear();
  auto lowest = static_cast<std::uint16_t>(passages_.colours().size());
  std::uint16_t highest = 0;
  for (std::uint32_t i = 0; i < passing_.size(); ++i) {
    const auto& [cell, way] = passing_[i];
    lowest = std::min(lowest, cell.colour);
    highest = std::max(highest, cell.colour);
    if (way.output >= 0 && element.outputs > 1) {
      bound_.push_back({cell.colour, way.output, i});
    } else {
      sum_[0][cell.colour] += cell.mw * (way.output == 0 || way.output == kEveryOutput ? way.factor : way.leak);
    }
  }
  std::ranges::sort(bound_);
  auto next = bound_.begin();
  for (std::uint16_t colour = lowest; colour <= highest; ++colour) {
    const auto first = static_cast<std::uint32_t>(exits_.size());
    Colour light{colour, std::exchange(sum_[0][colour], 0.0), 0, first, first};
    for (; next != bound_.end() && next->colour == colour; ++next) {
      if (light.exits_end == first || exits_.back().output != next->output) {
        exits_.push_back({next->output, 0, 0, light.others});
        ++light.exits_end;
      }
      const auto& [cell, way] = passing_[next->index];
      exits_.back().passes += cell.mw * way.factor;
      exits_.back().leaks += cell.mw * way.leak;
      light.others += cell.mw * way.leak;
    }
    double after = 0;
    for (std::uint32_t i = light.exits_end; i-- > first;) {
      exits_[i].others += after;
      after += exits_[i].leaks;
    }
    if (light.everywhere > 0 || light.exits_end > first) {
      here_.push_back(light);
    }
  }
}

/// Along a bus: most light passes most rings, which lie far apart in everything that is kept by element or by fibre.
void StrayLight::pass_ring(std::size_t place, std::vector<double>& leaks) {
  const LightOrder::Ring& ring = order_.rings[place];
  if (!ring.continues) {
    const auto strays = ring.bus ? on(*ring.bus) : std::span<const Stray>{};
    bus_.assign(strays.begin(), strays.end());
  }
  const bool is_added = ring.added && !on(*ring.added).empty();
  if (is_added || !leaking_at(place).empty() ||
      std::ranges::any_of(bus_, [&](const Stray& stray) { return passages_.acts(place, stray.colour); })) {
    meet_ring(place, leaks);
  } else {
    for (Stray& stray : bus_) {
      stray.mw *= passages_.along(place);
    }
  }
  double sum = 0;
  for (const Stray& stray : bus_) {
    sum += stray.mw;
  }
  if (const auto& fibre = fabric_.fibre_out[order_.elements[place].value][0]) {
    leaks[fibre->value] = sum;
    round_sum_ += sum;
  }
  if (ring.through) {
    std::vector<Stray>& strays = strays_[half_];
    ranges_[ring.through->value] = {static_cast<std::uint32_t>(strays.size()), static_cast<std::uint32_t>(bus_.size()), half_};
    strays.insert(strays.end(), bus_.begin(), bus_.end());
  }
}

/// Something drops here, leaks or is added.
void StrayLight::meet_ring(std::size_t place, std::vector<double>& leaks) {
  const LightOrder::Ring& ring = order_.rings[place];
  const ElementId id = order_.elements[place];
  const RingFactors factors = passages_.ring(id);
  auto lowest = static_cast<std::uint16_t>(passages_.colours().size());
  std::uint16_t highest = 0;
  const auto add = [&](std::size_t output, std::uint16_t colour, double mw) {
    sum_[output][colour] += mw;
    lowest = std::min(lowest, colour);
    highest = std::max(highest, colour);
  };
  for (const Stray& stray : bus_) {
    const bool drops = passages_.acts(place, stray.colour);
    add(0, stray.colour, stray.mw * (drops ? factors.leaks : factors.passes));
    add(1, stray.colour, drops ? stray.mw * factors.drops : 0);
  }
  for (const Stray& stray : ring.added ? on(*ring.added) : std::span<const Stray>{}) {
    const bool enters = passages_.acts(place, stray.colour);
    add(0, stray.colour, enters ? stray.mw * factors.drops : 0);
    add(1, stray.colour, enters ? stray.mw * factors.leaks : 0);
  }
  for (const Passing& light : leaking_at(place)) {
    add(light.way.output == 0 ? 1 : 0, light.cell.colour, light.cell.mw * light.way.leak);
  }
  const auto out = fabric_.fibre_out[id.value];
  const double length = out[0] ? order_.fibre_factor[out[0]->value] : 0;
  bus_.clear();
  for (std::uint16_t colour = lowest; colour <= highest; ++colour) {
    if (const double mw = std::exchange(sum_[0][colour], 0.0) * length; mw > 0) {
      bus_.push_back({mw, colour});
    }
  }
  if (out.size() > 1 && out[1]) {
    leave(*out[1], leaks, [&](auto emit) {
      for (std::uint16_t colour = lowest; colour <= highest; ++colour) {
        emit(colour, sum_[1][colour]);
      }
    });
  }
  std::fill(sum_[1].begin() + lowest, sum_[1].begin() + std::max<std::uint16_t>(lowest, highest + 1), 0.0);
}

}  // namespace loom::verifying
