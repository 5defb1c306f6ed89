// SPDX-License-Identifier: Apache-2.0
// Circuits are compared by their ends and slot, then by their ids.
#include "controller/control/requests/change_report.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/limits.hpp"

namespace loom {
namespace {

auto key_of(const Circuit& circuit) {
  return std::tuple{circuit.job, circuit.source, circuit.destination, circuit.transmitter, circuit.receiver, circuit.slot};
}

/// Equal ids are untouched light; a circuit that ends and begins again is one that moves.
std::vector<CircuitChange> changes_between(std::vector<Circuit> before, std::vector<Circuit> after) {
  const auto by_key = [](const Circuit& a, const Circuit& b) {
    return std::pair{key_of(a), a.id} < std::pair{key_of(b), b.id};
  };
  std::sort(before.begin(), before.end(), by_key);
  std::sort(after.begin(), after.end(), by_key);
  std::vector<CircuitChange> changes;
  auto a = before.begin();
  auto b = after.begin();
  while (a != before.end() || b != after.end()) {
    if (b == after.end() || (a != before.end() && key_of(*a) < key_of(*b))) {
      changes.push_back({CircuitChangeKind::removed, *a++});
    } else if (a == before.end() || key_of(*b) < key_of(*a)) {
      changes.push_back({CircuitChangeKind::added, *b++});
    } else {
      if (a->id != b->id) {
        changes.push_back({CircuitChangeKind::moved, *b});
      }
      ++a;
      ++b;
    }
  }
  return changes;
}

}  // namespace

std::vector<JobMove> moves_between(const Intent& before, const Intent& after) {
  std::vector<JobMove> moves;
  for (const Job& job : after.jobs) {
    const auto was = std::find_if(before.jobs.begin(), before.jobs.end(), [&](const Job& each) { return each.id == job.id; });
    for (std::size_t rank = 0; was != before.jobs.end() && rank < std::min(was->nodes.size(), job.nodes.size()); ++rank) {
      if (was->nodes[rank] != job.nodes[rank]) {
        moves.push_back({job.id, was->nodes[rank], job.nodes[rank]});
      }
    }
  }
  return moves;
}

ChangeReport change_between(const std::vector<Circuit>& before, const std::vector<Circuit>& after, SameLight same) {
  ChangeReport report;
  report.changes = changes_between(before, after);
  if (same == SameLight::by_ends) {
    std::erase_if(report.changes, [](const CircuitChange& change) { return change.kind == CircuitChangeKind::moved; });
  }
  report.circuits = static_cast<std::uint32_t>(after.size());
  report.touched = static_cast<std::uint32_t>(report.changes.size());
  if (report.changes.size() > limits::kChangesPerReport) {
    report.changes.resize(limits::kChangesPerReport);
  }
  return report;
}

}  // namespace loom
