// SPDX-License-Identifier: Apache-2.0
// Rounds sorted by lane; pairs sorted by source.
#include "controller/predict/collectives/round_plan.hpp"

#include <algorithm>
#include <map>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

bool is_full_exchange(std::uint32_t parameter, std::uint32_t size) {
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    if ((rank ^ parameter) >= size) {
      return false;
    }
  }
  return true;
}

bool is_alike(const RoundPlan::Lane& a, const RoundPlan::Lane& b) {
  return std::equal(a.runs.begin(), a.runs.end(), b.runs.begin(), b.runs.end(),
                    [](const RoundPlan::Run& x, const RoundPlan::Run& y) {
                      return x.pattern == y.pattern && x.repeats == y.repeats && x.bytes == y.bytes;
                    });
}

bool is_symmetric(const RoundPlan& plan) {
  for (const RoundPlan::Lane& lane : plan.lanes) {
    for (const RoundPlan::Run& run : lane.runs) {
      if (run.pattern == RoundPattern::pairs ||
          (run.pattern == RoundPattern::exchange && !is_full_exchange(run.parameter, plan.size))) {
        return false;
      }
    }
    if (!is_alike(lane, plan.lanes.front())) {
      return false;
    }
  }
  return true;
}

Result<void> add_pairs(RoundPlan::Run& run, std::vector<RoundTransfer> pairs, std::uint32_t size) {
  run.first_of.assign(size + 1, 0);
  run.awaited.assign(size, 0);
  std::stable_sort(pairs.begin(), pairs.end(), [](const RoundTransfer& a, const RoundTransfer& b) {
    return std::pair{a.source, a.destination} < std::pair{b.source, b.destination};
  });
  for (const RoundTransfer& pair : pairs) {
    if (pair.source >= size || pair.destination >= size || pair.source == pair.destination || !(pair.bytes >= 0)) {
      return fail(ErrorCode::invalid_argument, format_text("a round sends {} B from rank {} to {} of {}",
                                                           std::to_string(pair.bytes), pair.source, pair.destination, size));
    }
    ++run.first_of[pair.source + 1];
    ++run.awaited[pair.destination];
  }
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    run.first_of[rank + 1] += run.first_of[rank];
  }
  run.pairs = std::move(pairs);
  return {};
}

}  // namespace

std::uint32_t awaited_by(const RoundPlan& plan, const RoundPlan::Run& run, std::uint32_t rank) {
  switch (run.pattern) {
    case RoundPattern::shift:
      return 1;
    case RoundPattern::all_pairs:
      return plan.size - 1;
    case RoundPattern::exchange:
      return (rank ^ run.parameter) < plan.size ? 1 : 0;
    case RoundPattern::pairs:
      return run.awaited[rank];
  }
  return 0;
}

Result<RoundPlan> plan_of(const CollectiveRounds& rounds) {
  RoundPlan plan;
  plan.size = rounds.size;
  std::map<std::uint32_t, RoundPlan::Lane> lanes;
  for (const RoundRun& run : rounds.runs) {
    if (run.repeats == 0 || rounds.size < 2) {
      continue;
    }
    const bool is_still = (run.pattern == RoundPattern::shift && run.parameter % rounds.size == 0) ||
                          (run.pattern == RoundPattern::exchange && run.parameter == 0);
    if (is_still || !(run.bytes >= 0)) {
      return fail(ErrorCode::invalid_argument,
                  format_text("a round of {} ranks sends to its own sender, or a negative number of bytes", rounds.size));
    }
    RoundPlan::Run made{run.pattern, run.parameter, run.repeats, run.bytes, {}, {}, {}};
    if (run.pattern == RoundPattern::pairs) {
      LOOM_TRY(add_pairs(made, run.pairs, rounds.size));
    }
    RoundPlan::Lane& lane = lanes[run.lane];
    lane.rounds += run.repeats;
    lane.runs.push_back(std::move(made));
  }
  for (auto& [index, lane] : lanes) {
    lane.is_ring = lane.runs.size() == 1 && lane.runs.front().pattern == RoundPattern::shift;
    plan.lanes.push_back(std::move(lane));
  }
  plan.is_symmetric = is_symmetric(plan);
  return plan;
}

}  // namespace loom
