// Closed tours by dynamic programming, then repair.
#include "controller/schedule/ring_waves.hpp"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

constexpr double kServedWorth = 0.7;   ///< of one more wavelength for a pair, against the one before
constexpr double kLongWayWorth = 0.3;  ///< of an arc the long way round, against the short way

class Granting {
 public:
  Granting(WaveMap& map, const std::vector<RingPair>& pairs, const WaveLimits& limits)
      : map_(map), pairs_(pairs), limits_(limits), worth_(pairs.size(), 1.0), used_(map.buses().size()) {
    result_.served.assign(pairs.size(), 0);
    for (const RingPair& pair : pairs) {
      largest_ = std::max(largest_, pair.demand);
    }
  }

  WaveGrants run() {
    for (std::uint32_t bus = 0; bus < map_.buses().size(); ++bus) {
      const auto arcs = arcs_of(bus);
      for (std::uint32_t channel = 0; channel < map_.buses()[bus].channels && !is_spent(); ++channel) {
        if (used_[bus] < limits_.channels_max) {
          used_[bus] += grant_tour(bus, channel, arcs) ? 1 : 0;
        }
      }
    }
    while (limits_.repair && !is_spent() && repair_once()) {
    }
    std::sort(result_.grants.begin(), result_.grants.end());
    return std::move(result_);
  }

 private:
  struct Arc {
    std::uint32_t pair = 0;
    RingArc arc;
    double worth = 0;  ///< before what its pair has already
  };

  bool is_spent() const { return result_.steps_used > limits_.steps; }

  RingArc arc(std::uint32_t bus, std::uint32_t pair) const {
    return arc_of(map_.nodes(), map_.buses()[bus].direction, pairs_[pair].source, pairs_[pair].destination);
  }

  bool is_open(RingArc arc) const {
    for (std::uint32_t i = 0; i < arc.length && !limits_.closed.empty(); ++i) {
      if (limits_.closed[(arc.first + i) % map_.nodes()]) {
        return false;
      }
    }
    return arc.length <= limits_.reach;
  }

  /// By their first segment.
  std::vector<std::vector<Arc>> arcs_of(std::uint32_t bus) const {
    std::vector<std::vector<Arc>> arcs(map_.nodes());
    for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) {
      const RingArc way = arc(bus, pair);
      if (is_open(way)) {
        const std::uint32_t shorter = std::min(way.length, map_.nodes() - way.length);
        arcs[way.first].push_back({pair, way, shorter * (way.length == shorter ? 1.0 : kLongWayWorth)});
      }
    }
    return arcs;
  }

  /// Gives the best closed tour its wavelength; false: nothing fits.
  bool grant_tour(std::uint32_t bus, std::uint32_t channel, const std::vector<std::vector<Arc>>& arcs) {
    const std::uint32_t nodes = map_.nodes();
    std::optional<std::uint32_t> wall;  // no tour crosses a segment that is taken: one cut behind it is enough
    for (std::uint32_t segment = 0; segment < nodes && !wall; ++segment) {
      if (map_.is_taken(bus, channel, segment)) {
        wall = (segment + 1) % nodes;
      }
    }
    std::vector<const Arc*> best;
    double best_worth = 0;
    for (std::uint32_t cut = wall.value_or(0); cut < (wall ? *wall + 1 : nodes) && !is_spent(); ++cut) {
      const double worth = tour_from(cut, bus, channel, arcs);
      if (worth > best_worth) {
        best_worth = worth;
        best.clear();
        for (std::uint32_t x = nodes; x > 0; x = chosen_[x] == nullptr ? x - 1 : x - chosen_[x]->arc.length) {
          if (chosen_[x] != nullptr) {
            best.push_back(chosen_[x]);
          }
        }
      }
    }
    for (const Arc* each : best) {
      give(each->pair, bus, channel);
    }
    return !best.empty();
  }

  /// Weighted interval scheduling on the ring cut open before segment `cut`: the best worth, and in chosen_[x] the arc that
  /// ends x segments on in the best choice so far, or null for an idle segment.
  double tour_from(std::uint32_t cut, std::uint32_t bus, std::uint32_t channel, const std::vector<std::vector<Arc>>& arcs) {
    const std::uint32_t nodes = map_.nodes();
    value_.assign(nodes + 1, -1);
    chosen_.assign(nodes + 1, nullptr);
    value_[0] = 0;
    for (std::uint32_t x = 0; x < nodes; ++x) {
      if (value_[x] > value_[x + 1]) {
        value_[x + 1] = value_[x];
        chosen_[x + 1] = nullptr;
      }
      const std::uint32_t segment = (cut + x) % nodes;
      result_.steps_used += 1 + arcs[segment].size();
      std::uint32_t room = 0;
      while (x + room < nodes && !arcs[segment].empty() && !map_.is_taken(bus, channel, (segment + room) % nodes)) {
        ++room;
      }
      for (const Arc& each : arcs[segment]) {
        const std::uint32_t end = x + each.arc.length;
        const double value = value_[x] + each.worth * worth_[each.pair];
        if (each.arc.length <= room && value >= value_[end]) {
          value_[end] = value;
          chosen_[end] = &each;
        }
      }
    }
    return value_[nodes];
  }

  void give(std::uint32_t pair, std::uint32_t bus, std::uint32_t channel) {
    map_.set(bus, channel, arc(bus, pair), true);
    result_.grants.push_back({pair, bus, channel});
    ++result_.served[pair];
    reprice(pair);
  }

  void take(const WaveGrant& grant) {
    map_.set(grant.bus, grant.channel, arc(grant.bus, grant.pair), false);
    result_.grants.erase(std::find(result_.grants.begin(), result_.grants.end(), grant));
    --result_.served[grant.pair];
    reprice(grant.pair);
  }

  void reprice(std::uint32_t pair) { worth_[pair] = std::pow(kServedWorth, level(pair, result_.served[pair])); }

  /// Wavelengths over demand, if the pair had so many.
  double level(std::uint32_t pair, std::uint32_t served) const { return served * largest_ / pairs_[pair].demand; }
  double level(std::uint32_t pair) const { return level(pair, result_.served[pair]); }

  std::vector<WaveGrant> blockers_of(std::uint32_t bus, std::uint32_t channel, RingArc wanted) const {
    std::vector<WaveGrant> found;
    for (const WaveGrant& grant : result_.grants) {
      if (grant.bus == bus && grant.channel == channel) {
        const RingArc other = arc(bus, grant.pair);
        const auto offset = [&](RingArc a, RingArc b) { return (b.first + map_.nodes() - a.first) % map_.nodes(); };
        if (offset(wanted, other) < wanted.length || offset(other, wanted) < other.length) {
          found.push_back(grant);
        }
      }
    }
    return found;
  }

  /// A wavelength on which this pair's arc is free.
  std::optional<WaveGrant> room_for(std::uint32_t pair) {
    for (std::uint32_t bus = 0; bus < map_.buses().size(); ++bus) {
      const RingArc wanted = arc(bus, pair);
      for (std::uint32_t channel = 0; is_open(wanted) && channel < map_.buses()[bus].channels; ++channel) {
        result_.steps_used += 1;
        if (may_use(bus, channel) && map_.is_free(bus, channel, wanted)) {
          return WaveGrant{pair, bus, channel};
        }
      }
    }
    return std::nullopt;
  }

  /// Within channels_max: a channel of this request's, or one more if it may have one more.
  bool may_use(std::uint32_t bus, std::uint32_t channel) const {
    return used_[bus] < limits_.channels_max ||
           std::any_of(
               result_.grants.begin(), result_.grants.end(),
               [&](const WaveGrant& grant) { return grant.bus == bus && grant.channel == channel; });
  }

  /// One more wavelength for the worst-served pair that can have one, at the cost of none that would then be as bad.
  bool repair_once() {
    std::vector<std::uint32_t> order(pairs_.size());
    for (std::uint32_t pair = 0; pair < order.size(); ++pair) {
      order[pair] = pair;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return level(a) < level(b); });
    for (const std::uint32_t pair : order) {
      if (level(pair) > level(order.front())) {
        return false;
      }
      for (std::uint32_t bus = 0; bus < map_.buses().size(); ++bus) {
        for (std::uint32_t channel = 0; channel < map_.buses()[bus].channels && !is_spent(); ++channel) {
          if (is_open(arc(bus, pair)) && may_use(bus, channel) && force(pair, bus, channel)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /// Puts the pair here; whoever is in the way moves to free segments elsewhere, or bears the loss. False: nothing has changed.
  bool force(std::uint32_t pair, std::uint32_t bus, std::uint32_t channel) {
    const std::vector<WaveGrant> before = blockers_of(bus, channel, arc(bus, pair));
    if (std::any_of(before.begin(), before.end(), [&](const WaveGrant& blocker) { return blocker.pair == pair; })) {
      return false;  // its own light: it would only move
    }
    result_.steps_used += 1 + result_.grants.size();
    for (const WaveGrant& blocker : before) {
      take(blocker);
    }
    std::vector<WaveGrant> moved;
    bool good = map_.is_free(bus, channel, arc(bus, pair));
    if (good) {
      give(pair, bus, channel);
      moved.push_back({pair, bus, channel});
      const double floor = level(pair, result_.served[pair] - 1);
      for (const WaveGrant& blocker : before) {
        if (const auto place = room_for(blocker.pair)) {
          give(place->pair, place->bus, place->channel);
          moved.push_back(*place);
        } else {
          good = good && level(blocker.pair) > floor;
        }
      }
    }
    if (!good) {
      for (const WaveGrant& grant : moved) {
        take(grant);
      }
      for (const WaveGrant& grant : before) {
        give(grant.pair, grant.bus, grant.channel);
      }
    }
    return good;
  }

  WaveMap& map_;
  const std::vector<RingPair>& pairs_;
  const WaveLimits& limits_;
  double largest_ = 0;
  std::vector<double> worth_;        ///< by pair: of one more wavelength
  std::vector<std::uint32_t> used_;  ///< by bus: channels with a grant
  WaveGrants result_;
  std::vector<double> value_;
  std::vector<const Arc*> chosen_;
};

}  // namespace

RingArc arc_of(std::uint32_t nodes, RingDirection direction, std::uint32_t source, std::uint32_t destination) {
  const bool clockwise = direction == RingDirection::clockwise;
  const std::uint32_t first = clockwise ? source : destination;
  const std::uint32_t last = clockwise ? destination : source;
  return {first, (last + nodes - first) % nodes};
}

WaveMap::WaveMap(std::uint32_t nodes, std::vector<RingBus> buses) : nodes_(nodes), buses_(std::move(buses)) {
  std::size_t rows = 0;
  for (const RingBus& bus : buses_) {
    first_row_.push_back(rows);
    rows += bus.channels;
  }
  taken_.resize(rows * nodes);
}

bool WaveMap::is_free(std::uint32_t bus, std::uint32_t channel, RingArc arc) const {
  for (std::uint32_t i = 0; i < arc.length; ++i) {
    if (is_taken(bus, channel, (arc.first + i) % nodes_)) {
      return false;
    }
  }
  return true;
}

void WaveMap::set(std::uint32_t bus, std::uint32_t channel, RingArc arc, bool taken) {
  for (std::uint32_t i = 0; i < arc.length; ++i) {
    taken_[row(bus, channel) + (arc.first + i) % nodes_] = taken;
  }
}

WaveGrants grant_waves(WaveMap& taken, const std::vector<RingPair>& pairs, const WaveLimits& limits) {
  return Granting(taken, pairs, limits).run();
}

double worst_served(const std::vector<RingPair>& pairs, const std::vector<std::uint32_t>& served) {
  double largest = 0;
  double worst = pairs.empty() ? 0 : HUGE_VAL;
  for (const RingPair& pair : pairs) {
    largest = std::max(largest, pair.demand);
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    worst = std::min(worst, served[i] * largest / pairs[i].demand);
  }
  return worst;
}

}  // namespace loom
