// SPDX-License-Identifier: Apache-2.0
// What the targets share: how a row is made, and how a fabric of the arena is played for one number. The targets themselves are
// one function each, a file a subject; reproduction.cpp has the table of them. For this folder only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/arena/entries.hpp"
#include "controller/arena/reproduction/reproduction.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/time.hpp"

namespace loom::reproduction {

using Figures = Result<std::vector<Figure>>;

constexpr double in_ms(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

/// One iteration of the job on a fabric of the arena. Errors: of the entry and of its play.
Result<double> iteration_ms(const TaskGraph& graph, std::string_view fabric, BitRate rate, const Settings& settings);

/// A public task graph of TopoOpt's figure 16, "100vgg" for its switch of 100 Gb/s. Errors: not_found (naming the file, or what
/// to give), and those of the import.
Result<TaskGraph> public_graph(const std::string& data, const std::string& name);

/// `data` + `file`, or what to give instead. Errors: not_found.
Result<std::string> file_in(const std::string& data, const std::string& file);

/// Who makes rows of one target and one kind of check.
struct Rows {
  std::string_view target;
  std::string_view label;

  Figure between(std::string what, double published, double ours, double least, double most) const {
    return {std::string(target), std::string(label), std::move(what), published, ours, Accepted{least, most}};
  }
  /// `tolerance`: part of the published figure, either way.
  Figure near(std::string what, double published, double ours, double tolerance) const {
    return between(std::move(what), published, ours, published * (1 - tolerance), published * (1 + tolerance));
  }
  Figure exactly(std::string what, double published, double ours) const {
    return between(std::move(what), published, ours, published, published);
  }
  /// Nothing published but a bound.
  Figure bounded(std::string what, double ours, double least, double most) const {
    return {std::string(target), std::string(label), std::move(what), {}, ours, Accepted{least, most}};
  }
  Figure unjudged(std::string what, std::optional<double> published, double ours) const {
    return {std::string(target), "for comparison", std::move(what), published, ours, {}};
  }
  Figure words(std::string what, std::string published, std::string ours) const {
    return {std::string(target), std::string(label), std::move(what), {}, 0, {}, std::move(published), std::move(ours)};
  }
};

/// Beyond any figure: a bound on one side only.
inline constexpr double kUnbounded = 1e9;

Figures ring_jumps(const std::string& data);             // T1
Figures hop_histograms(const std::string& data);         // T2
Figures discounted_matchings(const std::string& data);   // T3
Figures ideal_switches(const std::string& data);         // T4
Figures compute_bound_direct(const std::string& data);   // T5
Figures dlrm_direct(const std::string& data);            // T6
Figures searched_candle(const std::string& data);        // T7
Figures shared_cluster(const std::string& data);         // T8
Figures all_to_all_crossover(const std::string& data);   // T9
Figures sip_range(const std::string& data);              // T10
Figures small_rings(const std::string& data);            // T11
Figures small_switches(const std::string& data);         // T12
Figures oddl_claims(const std::string& data);            // T13
Figures switches_in_motion(const std::string& data);     // T15
Figures reconfiguration_times(const std::string& data);  // T16

}  // namespace loom::reproduction
