// SPDX-License-Identifier: Apache-2.0
// Draws and moves. The generator is SplitMix64 by number, so that a state of two integers says all about chance.
#include "controller/architectures/topoopt/search/moves.hpp"

#include <algorithm>

#include "controller/architectures/topoopt/finder/tie_break.hpp"

namespace loom {

std::uint32_t Draws::below(std::uint32_t count) { return pick(seed, drawn++, count); }

double Draws::unit() { return static_cast<double>(scatter(seed, drawn++) >> 11) * 0x1p-53; }

Moves::Moves(const OpGraph& graph, const OpTimes& times, const MoveOptions& options)
    : graph_(graph), times_(times), options_(options), neighbours_(graph.operators.size()) {
  for (std::uint32_t op = 0; op < graph.operators.size(); ++op) {
    for (const std::uint32_t input : graph.operators[op].inputs) {
      const Operator& from = graph.operators[input];
      const double bytes = static_cast<double>(output_bytes(from).count) * from.sees * graph.operators[op].sees;
      neighbours_[op].push_back({input, bytes});
      neighbours_[input].push_back({op, bytes});
    }
  }
}

OpPlacement Moves::place(std::uint32_t op, Draws& draws) const {
  const std::vector<std::uint32_t>& lawful = times_.lawful[op];
  const std::uint32_t parts = lawful[draws.below(static_cast<std::uint32_t>(lawful.size()))];
  return {parts, draws.below(graph_.nodes / parts)};
}

bool Moves::carry_on(Strategy& strategy, std::uint32_t& at, Draws& draws) const {
  const OpPlacement placement = strategy[at];
  std::vector<Neighbour> open;
  double sum = 0;
  for (const Neighbour& each : neighbours_[at]) {
    const std::vector<std::uint32_t>& lawful = times_.lawful[each.op];
    if (strategy[each.op] != placement && std::binary_search(lawful.begin(), lawful.end(), placement.parts)) {
      open.push_back(each);
      sum += each.bytes;
    }
  }
  if (open.empty()) {
    return false;
  }
  const double even = sum / static_cast<double>(open.size());
  double left = draws.unit() * sum;
  std::size_t chosen = 0;
  while (chosen + 1 < open.size()) {
    left -= (1 - options_.size_weight) * even + options_.size_weight * open[chosen].bytes;
    if (left < 0) {
      break;
    }
    ++chosen;
  }
  at = open[chosen].op;
  strategy[at] = placement;
  return true;
}

Strategy Moves::propose(const Strategy& from, Draws& draws) const {
  Strategy next = from;
  const bool carries = draws.unit() < options_.propagation;
  std::uint32_t at = draws.below(static_cast<std::uint32_t>(graph_.operators.size()));
  if (!carries) {
    next[at] = place(at, draws);
    return next;
  }
  while (carry_on(next, at, draws) && draws.unit() < options_.goes_on) {
  }
  return next;
}

}  // namespace loom
