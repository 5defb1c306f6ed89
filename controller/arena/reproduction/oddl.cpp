// SPDX-License-Identifier: Apache-2.0
// ODDL's abstract (docs/systems/oddl.md#calibration): a reconstruction, once with knobs that were fitted to it and once as
// everything comes.
#include <algorithm>
#include <array>
#include <cstdio>

#include "controller/arena/arena.hpp"
#include "controller/arena/reproduction/figures.hpp"
#include "controller/arena/reproduction/oddl_claims.hpp"
#include "controller/workload/fabric_settings.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/text/format_text.hpp"

namespace loom {

const Settings& oddl_calibration() {
  static const Settings kKnobs{{"compute_ms", "100"},
                               {"overlap", "none"},
                               {"fabric.fat-tree.efficiency", "0.444"},
                               {"fabric.fat-tree.ways", "sprayed"},
                               {"fabric.sip-ring.directions", "one"},
                               {"fabric.sip-ring.all_stop", "always"}};
  return kKnobs;
}

namespace reproduction {
namespace {

/// VGG19 on 1024 nodes as `knobs` say, and what its fabrics assume on the way.
class Claim {
 public:
  static Result<Claim> make(const Settings& knobs) {
    SplitSettings split = split_settings(knobs);
    auto graph = make_task_graph("vgg19", {1024, split.workload});
    return graph ? Result<Claim>(Claim(std::move(*graph), std::move(split.fabric))) : std::unexpected(graph.error());
  }

  Settings knobs_of(std::string_view fabric) const { return settings_for(fabric, fabric_knobs_); }

  Result<double> iteration_on(std::string_view fabric, const Settings& settings) {
    auto entry = make_entry(fabric, graph_, gigabits(100), settings);
    const auto row = entry ? play(*entry, Duration{}) : Result<ArenaRow>(std::unexpected(entry.error()));
    if (!row) {
      return std::unexpected(row.error());
    }
    assume(row->assumptions);
    return in_ms(row->iteration);
  }

  const std::vector<std::string>& assumptions() const { return assumptions_; }

 private:
  Claim(TaskGraph graph, Settings fabric_knobs) : graph_(std::move(graph)), fabric_knobs_(std::move(fabric_knobs)) {
    assume(graph_.assumptions);
  }
  void assume(const std::vector<std::string>& sentences) {
    for (const std::string& each : sentences) {
      if (std::find(assumptions_.begin(), assumptions_.end(), each) == assumptions_.end()) {
        assumptions_.push_back(each);
      }
    }
  }

  TaskGraph graph_;
  Settings fabric_knobs_;
  std::vector<std::string> assumptions_;
};

struct Reading {
  std::string name;
  Settings knobs;
  bool is_judged = false;
};

std::string three_digits(double ratio) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", ratio);
  return text.data();
}

/// What is left of the fat-tree's row when no link and no switch takes any time of its own.
Result<void> add_latency_note(const std::string& reading, Claim claim, const Settings& tree_knobs, Figure& figure) {
  const auto oddl = claim.iteration_on("oddl", {{"latency_us", "0"}});
  Settings knobs = tree_knobs;
  knobs.insert_or_assign("latency_us", "0");
  const auto tree = claim.iteration_on("fat-tree", knobs);
  if (!oddl || !tree) {
    return std::unexpected(!oddl ? oddl.error() : tree.error());
  }
  figure.assumptions.push_back(
      format_text("{}: the fat-tree's row is {} with the latency of its links, paid in every round of a ring, and {} without "
                  "latency on either side",
                  reading, three_digits(figure.ours), three_digits(*tree / *oddl)));
  return {};
}

constexpr Rows kRows{"T13", "fitted"};

std::string begin_of(const Reading& reading) { return reading.name + ": VGG19, 1024 nodes: "; }

/// The fat-tree's row; ODDL's iteration, ms.
Result<double> tree_row(std::vector<Figure>& figures, const Reading& reading, Claim& claim) {
  const auto oddl = claim.iteration_on("oddl", {});
  const Settings tree_knobs = claim.knobs_of("fat-tree");
  const auto tree = claim.iteration_on("fat-tree", tree_knobs);
  if (!oddl || !tree) {
    return std::unexpected(!oddl ? oddl.error() : tree.error());
  }
  const auto efficiency = tree_knobs.find("efficiency");
  const std::string what = format_text("{}fat-tree (efficiency {}) / ODDL (reconstruction)", begin_of(reading),
                                       efficiency == tree_knobs.end() ? "1" : efficiency->second);
  figures.push_back(reading.is_judged ? kRows.between(what, 1.6, *tree / *oddl, 1.45, 1.75)
                                      : kRows.unjudged(what, 1.6, *tree / *oddl));
  LOOM_TRY(add_latency_note(reading.name, claim, tree_knobs, figures.back()));
  return *oddl;
}

/// What the fabrics of a reading assume, with its first row.
void add_assumptions(Figure& first, const Reading& reading, const Claim& claim) {
  for (const std::string& each : claim.assumptions()) {
    first.assumptions.push_back(format_text("{}: {}", reading.name, each));
  }
}

Result<void> add_tree(std::vector<Figure>& figures, const Reading& reading) {
  auto claim = Claim::make(reading.knobs);
  if (!claim) {
    return std::unexpected(claim.error());
  }
  const std::size_t first = figures.size();
  if (const auto oddl = tree_row(figures, reading, *claim); !oddl) {
    return std::unexpected(oddl.error());
  }
  add_assumptions(figures[first], reading, *claim);
  return {};
}

Result<void> add_reading(std::vector<Figure>& figures, const Reading& reading) {
  auto claim = Claim::make(reading.knobs);
  if (!claim) {
    return std::unexpected(claim.error());
  }
  const std::size_t first = figures.size();
  const auto oddl = tree_row(figures, reading, *claim);
  if (!oddl) {
    return std::unexpected(oddl.error());
  }
  const Settings published = kSipRingVariants.front().settings();
  for (const SipRingVariant& variant : kSipRingVariants) {
    const auto ring = claim->iteration_on("sip-ring", variant.settings());
    if (!ring) {
      return std::unexpected(ring.error());
    }
    const bool is_published = variant.settings() == published;
    const std::string which = format_text("{}SiP-Ring ({}) / ODDL (reconstruction)", begin_of(reading), variant.name);
    figures.push_back(is_published && reading.is_judged ? kRows.between(which, 1.7, *ring / *oddl, 1.5, 1.9)
                      : is_published                    ? kRows.unjudged(which, 1.7, *ring / *oddl)
                                                        : kRows.unjudged(which, {}, *ring / *oddl));
  }
  add_assumptions(figures[first], reading, *claim);
  return {};
}

}  // namespace

/// Two knobs (compute time, the fat-tree's efficiency) fitted to two numbers, and all four variants of SiP-Ring; then all of
/// it with the defaults of everything, and with what can be chosen without fitting: no overlap, a tree of half the uplinks.
Figures oddl_claims(const std::string&) {
  std::vector<Figure> figures;
  LOOM_TRY(add_reading(figures, {"calibrated reconstruction", oddl_calibration(), true}));
  LOOM_TRY(add_reading(figures, {"uncalibrated", {}, false}));
  const Settings no_overlap{{"overlap", "none"}};
  const Settings half_tree{{"overlap", "none"}, {"fabric.fat-tree.oversubscription", "2"}};
  const std::size_t first_chosen = figures.size();
  LOOM_TRY(add_reading(figures, {"chosen: no overlap", no_overlap, false}));
  LOOM_TRY(add_tree(figures, {"chosen: no overlap, fat-tree 2:1 oversubscribed", half_tree, false}));
  for (std::size_t i = first_chosen; i < figures.size(); ++i) {
    figures[i].label = "chosen";
  }
  return figures;
}

}  // namespace reproduction
}  // namespace loom
