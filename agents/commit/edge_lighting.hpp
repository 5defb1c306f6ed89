// SPDX-License-Identifier: Apache-2.0
// EdgeLighting: lasers of a revision that an edge lights (EdgeLines): made to hold their light ready, the edge asked for ahead,
// and asked after it whether it came. Whatever of it fails, a word lights them, and that is told.
#pragma once

#include <optional>
#include <vector>

#include "agents/devices/device_units.hpp"
#include "agents/envelope_sender.hpp"

namespace loom {

class EdgeLighting {
 public:
  EdgeLighting(const EnvelopeSender& envelopes, DeviceUnits& units)
      : envelopes_(envelopes), units_(units), lasers_(units.size()) {}

  /// Again and again before `at`. The laser is dark, and a commit has its lane; one that no line fires is left alone.
  void ready(StepContext context, std::size_t unit, const Setpoint& light, Instant at);
  /// At `at`: true: its edge is given, and it is asked later; false: a word has to light it.
  bool takes(StepContext context, std::size_t unit, Instant at);
  /// The lasers whose edge must have come: each is to be commanded its light now, which writes nothing where it came.
  std::vector<std::size_t> take_due(Instant now);
  /// Is an edge due that has not been asked after?
  bool awaits() const { return proof_.is_set(); }
  /// All is lit: counts, and tells of what was lit by a word.
  void conclude(StepContext context, Revision revision);
  /// No edge of this revision matters any more.
  void forget();

 private:
  struct Laser {
    bool is_readied = false;
    bool awaits_edge = false;
    std::optional<std::uint32_t> writes{};  ///< its writes when it was asked after its edge
  };
  const EnvelopeSender& envelopes_;
  DeviceUnits& units_;
  std::vector<Laser> lasers_;  ///< by unit
  Deadline proof_{kEdgeProofTimer};
};

}  // namespace loom
