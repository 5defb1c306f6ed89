// SPDX-License-Identifier: Apache-2.0
// The arena: one job on many fabrics, each played by the predictor, side by side. Pure but for the caller's clock: who wants to
// know how long a topology took to choose measures it himself.
#pragma once

#include <string>
#include <vector>

#include "controller/arena/entries.hpp"
#include "controller/predict/predict.hpp"
#include "core/time.hpp"

namespace loom {

struct ArenaRow {
  std::string fabric;
  std::string qualifier;  ///< see Prediction
  std::string scheduler;
  Duration iteration{};
  Duration bound{};    ///< no network of this rate is faster (lower_bound)
  Duration compute{};  ///< the same iteration with communication for nothing; pipeline bubbles are in it
  Duration exposed{};  ///< iteration - compute
  /// The longest that a node was without light, whatever it did (`lane` says what lies behind compute); predicted from a
  /// schedule, the part of exposed that light that is always there would save.
  Duration dark{};
  double utilisation = 0;      ///< bytes carried over what all links could have carried, 0 .. 1
  std::uint32_t circuits = 0;  ///< set up before the iteration
  std::uint32_t changes = 0;   ///< of topology, within it
  bool is_played = true;       ///< by the engine on its network; false: predicted from its schedule
  NodeLane lane;               ///< of the node that is dark longest, of equals the busiest; empty: nobody knows
  std::vector<Phase> phases;   ///< communication, equal ones of equal groups counted together
  std::vector<std::string> assumptions;
  bool is_approximate = false;  ///< collectives were fluids; an assumption says so
};

/// Communication for nothing: what compute alone takes, pipeline bubbles included. Errors: those of Predictor.
Result<Duration> compute_alone(const TaskGraph& graph);

/// A second or so.
constexpr std::uint64_t kExactLooks = 300'000'000;

struct PlayTerms {
  /// A play of more looks (PlayOptions::looks_max) is begun anew with collectives as fluids (RoundOrder::fluid), unless its
  /// light changes; 0: every round is played, however long it takes.
  std::uint64_t exact_looks = 0;
  std::string* trace = nullptr;  ///< where the iteration goes as Perfetto JSON; null: nowhere
};

/// `compute`: compute_alone() of the job's graph, the same for every entry; closed forms bring their own. Errors: those of
/// Predictor, naming the fabric; unsupported (a trace of closed forms).
Result<ArenaRow> play(ArenaEntry& entry, Duration compute, const PlayTerms& terms = {});

/// The row as the predictor says it of one fabric; assumptions of the graph first.
Prediction prediction_of(const ArenaRow& row, const TaskGraph& graph, BitRate rate);

/// The iteration and nothing else. Errors: as play().
Result<Duration> iteration_time(ArenaEntry& entry);

}  // namespace loom
