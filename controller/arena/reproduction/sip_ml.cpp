// SPDX-License-Identifier: Apache-2.0
// SiP-ML's figures: the range over electrical baselines (T10), small cases with a known optimum (T11, T12), and how little a
// faster reconfiguration is worth (T16).
#include <algorithm>
#include <cmath>

#include "controller/architectures/sip_ring/waves.hpp"
#include "controller/arena/reproduction/figures.hpp"
#include "controller/arena/reproduction/sip_models.hpp"
#include "controller/schedule/permutations.hpp"
#include "core/text/format_text.hpp"

namespace loom::reproduction {
namespace {

using std::chrono::microseconds;

struct Range {
  double least = HUGE_VAL;
  double most = 0;
  void take(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

std::vector<RingPair> ring_pairs(std::uint32_t nodes, bool all) {
  std::vector<RingPair> pairs;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (std::uint32_t hop = 1; hop < (all ? nodes : 2); ++hop) {
      pairs.push_back({i, (i + hop) % nodes, 1});
    }
  }
  return pairs;
}

}  // namespace

/// T10. 400 Gb/s fat-tree over SiP-ML, by three readings of T_MP; the other baselines stand beside for comparison.
Figures sip_range(const std::string&) {
  const auto sweep = sip_sweep();
  if (!sweep) {
    return std::unexpected(sweep.error());
  }
  struct Reading {
    const char* name;
    double (*ratio)(const SipRangeRow&);
    bool is_judged;
  };
  static constexpr Reading kReadings[] = {
      {"hybrid at 400 Gb/s, closed form, T_MP = single / 8",
       [](const SipRangeRow& row) { return (row.single_part + row.gradients_400) / (row.single_part + row.gradients); }, true},
      {"hybrid at 400 Gb/s, T_MP played, gradients alone capped (code)",
       [](const SipRangeRow& row) { return (row.group + row.gradients_400) / row.sip(); }, true},
      {"hybrid at 400 Gb/s, T_MP played at that rate",
       [](const SipRangeRow& row) { return (row.electric_group + row.gradients_400) / row.sip(); }, true},
      {"hybrid at 200 Gb/s, T_MP played at that rate",
       [](const SipRangeRow& row) { return (row.electric_group_200 + row.gradients_200) / row.sip(); }, false},
      {"data parallel at 400 Gb/s", [](const SipRangeRow& row) { return (row.data_parallel + row.gradients_400) / row.sip(); },
       false},
      {"data parallel at 200 Gb/s", [](const SipRangeRow& row) { return (row.data_parallel + row.gradients_200) / row.sip(); },
       false}};
  constexpr Rows kRows{"T10", "consistency"};
  std::vector<Figure> figures;
  for (const Reading& reading : kReadings) {
    Range range;
    for (const SipRangeRow& row : *sweep) {
      range.take(reading.ratio(row));
    }
    const std::string what = format_text("{} / SiP-ML, 3 models x 0.5 .. 8 Tb/s: ", reading.name);
    figures.push_back(reading.is_judged ? kRows.between(what + "least", 1.3, range.least, 1.1, 1.5)
                                        : kRows.unjudged(what + "least", {}, range.least));
    figures.push_back(reading.is_judged ? kRows.between(what + "most", 9.1, range.most, 7, 11)
                                        : kRows.unjudged(what + "most", {}, range.most));
  }
  return figures;
}

/// T11: the production heuristic on rings whose optimum is known (tests/oracle proves it again by integer programming).
Figures small_rings(const std::string&) {
  struct Golden {
    std::uint32_t nodes;
    std::uint32_t channels;
    bool all;
    double worst;
  };
  constexpr Rows kRows{"T11", "exact"};
  std::vector<Figure> figures;
  for (const Golden& golden : {Golden{4, 4, false, 5}, Golden{4, 4, true, 2}, Golden{8, 32, false, 36}, Golden{8, 8, true, 1},
                               Golden{8, 16, true, 2}, Golden{8, 32, true, 4}}) {
    const auto pairs = ring_pairs(golden.nodes, golden.all);
    WavelengthUse map(golden.nodes,
                      {{RingDirection::clockwise, golden.channels}, {RingDirection::counter_clockwise, golden.channels}});
    figures.push_back(kRows.exactly(format_text("SiP-Ring, {} nodes, {} wavelengths a direction, {}: least", golden.nodes,
                                                golden.channels, golden.all ? "all-to-all" : "neighbours"),
                                    golden.worst, worst_served(pairs, grant_wavelengths(map, pairs, {}).served)));
  }
  return figures;
}

/// T12: circuits of the worst-served pair; 0: refused, as more peers than switches deserve.
Figures small_switches(const std::string&) {
  struct Golden {
    bool all;
    std::uint32_t switches;
    double worst;
  };
  constexpr Rows kRows{"T12", "exact"};
  std::vector<Figure> figures;
  for (const Golden& golden :
       {Golden{false, 2, 2}, Golden{false, 4, 4}, Golden{true, 2, 0}, Golden{true, 3, 1}, Golden{true, 4, 1}}) {
    std::vector<SwitchPair> pairs;
    for (const RingPair& pair : ring_pairs(4, golden.all)) {
      pairs.push_back({pair.source, pair.destination, 1});
    }
    const auto counts = share_ports(4, golden.switches, pairs);
    figures.push_back(kRows.exactly(format_text("SiP-OCS, 4 nodes, {} switches, {}: least circuits", golden.switches,
                                                golden.all ? "all-to-all" : "neighbours"),
                                    golden.worst, counts ? *std::min_element(counts->begin(), counts->end()) : 0));
  }
  return figures;
}

/// T16: what 20 us cost against 1 us, accepted below a tenth, at the authors' interval and at each delay's own best.
Figures reconfiguration_times(const std::string&) {
  constexpr Rows kRows{"T16", "consistency"};
  std::vector<Figure> figures;
  for (const SipModel& each : sip_models()) {
    const auto group = group_of(each);
    if (!group) {
      return std::unexpected(group.error());
    }
    const double gradients = in_ms(gradient_time(each.weights, gigabits(1'000), {}));
    std::vector<double> fixed;
    std::vector<double> best;
    std::vector<double> partial;
    for (const int delay : {0, 1, 20}) {
      const auto at_100 = episodes_ms(*group, {microseconds{100}, microseconds{delay}, true});
      const auto changes = episodes_ms(*group, {microseconds{100}, microseconds{delay}, false});
      const auto own = best_interval(*group, microseconds{delay});
      if (!at_100 || !changes || !own) {
        return std::unexpected(!at_100 ? at_100.error() : !changes ? changes.error() : own.error());
      }
      fixed.push_back(*at_100 + gradients);
      partial.push_back(*changes + gradients);
      best.push_back(own->ms + gradients);
    }
    const auto loss = [](const std::vector<double>& ms, int from) {
      return 100 * (ms[2] / ms[static_cast<std::size_t>(from)] - 1);
    };
    const std::string of = each.name + ", SiP-Ring 1 Tb/s, ";
    figures.push_back(
        kRows.bounded(of + "interval 100 us, all-stop: % lost by 20 us against 1 us", loss(fixed, 1), -kUnbounded, 10));
    figures.push_back(
        kRows.bounded(of + "best interval, all-stop: % lost by 20 us against 1 us", loss(best, 1), -kUnbounded, 10));
    figures.push_back(kRows.bounded(of + "interval 100 us, only what changes: % lost by 20 us against 1 us", loss(partial, 1),
                                    -kUnbounded, 10));
    figures.push_back(kRows.unjudged(of + "interval 100 us, all-stop: % lost by 20 us against none", {}, loss(fixed, 0)));
    figures.push_back(kRows.unjudged(of + "best interval, all-stop: % lost by 20 us against none", {}, loss(best, 0)));
  }
  return figures;
}

}  // namespace loom::reproduction
