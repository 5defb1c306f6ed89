// The arena: one job on many fabrics, each played by the predictor, side by side. Pure but for the caller's clock: who wants to
// know how long a topology took to choose measures it himself.
#pragma once

#include <string>
#include <vector>

#include "controller/arena/entries.hpp"
#include "controller/predict/predict.hpp"
#include "core/time.hpp"

namespace loom {

/// One task, or all of its kind that touch, on the busiest node: for a Gantt chart.
struct ArenaSpan {
  std::string name;
  bool is_compute = false;
  Duration start{};
  Duration finish{};
};

struct ArenaRow {
  std::string fabric;
  std::string qualifier;  ///< see Prediction
  std::string scheduler;
  Duration iteration{};
  Duration bound{};                ///< no network of this rate is faster (lower_bound)
  Duration compute{};              ///< the same iteration with communication for nothing; pipeline bubbles are in it
  Duration exposed{};              ///< iteration - compute
  Duration dark{};                 ///< part of exposed: the longest that a node was without light
  double utilisation = 0;          ///< bytes carried over what all links could have carried, 0 .. 1
  std::uint32_t circuits = 0;      ///< set up before the iteration
  std::uint32_t changes = 0;       ///< of topology, within it
  std::vector<ArenaSpan> busiest;  ///< of the node with the most communication, in order of start
  std::vector<Phase> phases;       ///< communication, equal ones of equal groups counted together
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
