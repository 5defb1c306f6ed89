// SPDX-License-Identifier: Apache-2.0
// Ejection chains with an undo log.
#include "controller/architectures/sip_ring/repair.hpp"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

constexpr double kNowhere = HUGE_VAL;
constexpr std::uint32_t kSegmentsPerStep = 8;  ///< looked at or written in the time of a step

}  // namespace

RingRepair::RingRepair(LitArcs& light, std::uint64_t seed, std::uint64_t steps_most)
    : light_(light),
      state_(seed),
      steps_most_(steps_most),
      need_(light.pairs().size()),
      floor_(light.pairs().size()),
      penalty_(light.pairs().size(), 1.0) {
  for (std::uint32_t row = 0; row < light.rows(); ++row) {
    rows_of_[static_cast<std::size_t>(light.direction_of(row))].push_back(row);
  }
}

bool RingRepair::run() {
  bool has_moved = false;
  while (!need_.empty() && steps_used_ < steps_most_) {
    double worst = HUGE_VAL;
    for (std::uint32_t pair = 0; pair < need_.size(); ++pair) {
      worst = std::min(worst, light_.level(pair));
    }
    steps_used_ += need_.size();
    set_needs(worst);
    if (is_out_of_reach()) {
      break;
    }
    const bool is_reached = reach_needs();
    has_moved = has_moved || !moves_.empty();
    if (!is_reached) {
      break;
    }
  }
  return has_moved;
}

void RingRepair::set_needs(double worst) {
  for (std::uint32_t pair = 0; pair < need_.size(); ++pair) {
    const double one = light_.level(pair, 1);
    auto count = static_cast<std::uint32_t>(worst / one);
    while (count > 0 && light_.level(pair, count) > worst) {
      --count;
    }
    while (light_.level(pair, count) <= worst) {
      ++count;
    }
    need_[pair] = count;
    floor_[pair] = light_.level(pair, count - 1) == worst ? count - 1 : count;
  }
}

/// By load of all segments (what the short way has no wavelengths for goes the long way), or by what one node sends or
/// receives: it uses a wavelength of a direction once.
bool RingRepair::is_out_of_reach() const {
  std::vector<std::uint64_t> sends(light_.nodes());
  std::vector<std::uint64_t> receives(light_.nodes());
  std::uint64_t load = 0;
  for (std::uint32_t pair = 0; pair < need_.size(); ++pair) {
    const RingPair& ends = light_.pairs()[pair];
    const std::uint32_t clockwise = light_.arc(RingDirection::clockwise, pair).length;
    const std::uint32_t shorter = std::min(clockwise, light_.nodes() - clockwise);
    const auto rows = static_cast<std::uint32_t>(rows_of_[shorter == clockwise ? 0 : 1].size());
    const std::uint32_t there = 2 * shorter == light_.nodes() ? need_[pair] : std::min(need_[pair], rows);
    load += std::uint64_t{there} * shorter + std::uint64_t{need_[pair] - there} * (light_.nodes() - shorter);
    sends[ends.source] += need_[pair];
    receives[ends.destination] += need_[pair];
  }
  const auto exceeds = [&](std::uint64_t count) { return count > light_.rows(); };
  return load > std::uint64_t{light_.rows()} * light_.nodes() || std::any_of(sends.begin(), sends.end(), exceeds) ||
         std::any_of(receives.begin(), receives.end(), exceeds);
}

bool RingRepair::reach_needs() {
  moves_.clear();
  pool_.clear();
  missing_ = 0;
  sunk_ = 0;
  for (std::uint32_t pair = 0; pair < need_.size(); ++pair) {
    for (std::uint32_t have = light_.served(pair); have < need_[pair]; ++have) {
      pool_.push_back(pair);
      ++missing_;
    }
  }
  const auto length = [&](std::uint32_t pair) {
    const std::uint32_t clockwise = light_.arc(RingDirection::clockwise, pair).length;
    return std::min(clockwise, light_.nodes() - clockwise);
  };
  std::stable_sort(pool_.begin(), pool_.end(), [&](std::uint32_t a, std::uint32_t b) { return length(a) < length(b); });
  bool is_reached = true;
  std::uint64_t fewest = missing_;
  std::size_t kept = 0;
  while (!pool_.empty() && steps_used_ < steps_most_) {
    const std::uint32_t pair = pool_.back();
    pool_.pop_back();
    const Place place = place_for(pair);
    if (place.cost == kNowhere) {
      is_reached = false;  // it has light wherever it can, or others' light is everywhere; the rest of the pool goes on
      continue;
    }
    insert(pair, place.row);
    if (place.cost > 0) {
      penalty_[pair] += 1;
      shake();
    }
    if (missing_ < fewest && sunk_ == 0) {
      fewest = missing_;
      kept = moves_.size();
    }
  }
  undo_to(kept);
  return is_reached && fewest == 0;
}

/// The cheapest place; of equal ones those of the shorter way, and of these any.
RingRepair::Place RingRepair::place_for(std::uint32_t pair) {
  Place best{0, kNowhere, 0};
  const std::uint32_t clockwise = light_.arc(RingDirection::clockwise, pair).length;
  const bool goes_clockwise = 2 * clockwise <= light_.nodes();
  for (const bool is_short : {true, false}) {
    const auto direction = goes_clockwise == is_short ? RingDirection::clockwise : RingDirection::counter_clockwise;
    if (!light_.is_open(direction, pair)) {
      continue;
    }
    const RingArc way = light_.arc(direction, pair);
    const double before = best.cost;
    for (const std::uint32_t row : rows_of_[static_cast<std::size_t>(direction)]) {
      if (!light_.may_use(row)) {
        continue;
      }
      const double cost = cost_of(pair, row, way, best.cost);
      if (cost < best.cost) {
        best = {row, cost, 1};
        if (cost == 0) {
          return best;
        }
      } else if (cost == best.cost && cost < before && draw() % ++best.alike == 0) {
        best.row = row;
      }
    }
  }
  return best;
}

/// What it costs to clear the way: a penalty for everyone who needs the light that is in it. kNowhere: it cannot be cleared,
/// or costs more than `most`.
double RingRepair::cost_of(std::uint32_t pair, std::uint32_t row, RingArc way, double most) {
  double cost = 0;
  steps_used_ += 1 + way.length / kSegmentsPerStep;
  const bool is_whole = light_.each_blocker(row, way, [&](std::uint32_t blocker) {
    ++steps_used_;
    if (blocker == LitArcs::kStranger || blocker == pair) {
      return false;
    }
    cost += light_.served(blocker) > need_[blocker] ? 0 : penalty_[blocker];
    return cost <= most;
  });
  return is_whole ? cost : kNowhere;
}

void RingRepair::insert(std::uint32_t pair, std::uint32_t row) {
  in_way_.clear();
  light_.each_blocker(row, light_.arc(light_.direction_of(row), pair), [&](std::uint32_t blocker) {
    in_way_.push_back(blocker);
    return true;
  });
  for (const std::uint32_t blocker : in_way_) {
    take(blocker, row);
    if (light_.served(blocker) < need_[blocker]) {
      pool_.push_back(blocker);
    }
  }
  give(pair, row);
}

void RingRepair::give(std::uint32_t pair, std::uint32_t row) {
  sunk_ -= light_.served(pair) < floor_[pair] ? 1 : 0;
  missing_ -= light_.served(pair) < need_[pair] ? 1 : 0;
  light_.give(pair, row);
  steps_used_ += light_.arc(light_.direction_of(row), pair).length / kSegmentsPerStep;
  moves_.push_back({pair, row, true});
}

void RingRepair::take(std::uint32_t pair, std::uint32_t row) {
  light_.take(pair, row);
  steps_used_ += light_.arc(light_.direction_of(row), pair).length / kSegmentsPerStep;
  sunk_ += light_.served(pair) < floor_[pair] ? 1 : 0;
  missing_ += light_.served(pair) < need_[pair] ? 1 : 0;
  moves_.push_back({pair, row, false});
}

/// Someone, anywhere, moves to where there is room, so that the next chain meets other light.
void RingRepair::shake() {
  const auto row = static_cast<std::uint32_t>(draw() % light_.rows());
  const auto segment = static_cast<std::uint32_t>(draw() % light_.nodes());
  std::uint32_t pair = LitArcs::kStranger;
  light_.each_blocker(row, {segment, 1}, [&](std::uint32_t found) {
    pair = found;
    return false;
  });
  if (pair == LitArcs::kStranger) {
    return;
  }
  const auto start = static_cast<std::uint32_t>(draw() % light_.rows());
  for (std::uint32_t i = 0; i < light_.rows(); ++i) {
    const std::uint32_t other = start + i < light_.rows() ? start + i : start + i - light_.rows();
    const RingDirection direction = light_.direction_of(other);
    ++steps_used_;
    if (light_.may_use(other) && light_.is_open(direction, pair) && light_.is_free(other, light_.arc(direction, pair))) {
      take(pair, row);
      give(pair, other);
      return;
    }
  }
}

void RingRepair::undo_to(std::size_t moves) {
  while (moves_.size() > moves) {
    const Move move = moves_.back();
    moves_.pop_back();
    if (move.is_given) {
      light_.take(move.pair, move.row);
    } else {
      light_.give(move.pair, move.row);
    }
  }
}

std::uint64_t RingRepair::draw() {  // splitmix64
  std::uint64_t value = state_ += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

}  // namespace loom
