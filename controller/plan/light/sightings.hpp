// SPDX-License-Identifier: Apache-2.0
// Sightings: which receivers may measure a circuit's light, and whether what they read can be anybody else's. Found once a plan
// along the ways of its light; nothing here reads a reading.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "controller/plan/light/paths.hpp"
#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/plan.hpp"

namespace loom {

class LightFollower;

/// A circuit's own receiver, or one that a monitor watches behind a tap or a coupler on its way.
struct Sighting {
  ElementId receiver;
  bool is_alone = false;          ///< no other light of the plan comes there, in any timeslot
  bool is_alone_in_slot = false;  ///< none does that overlaps its slot
  bool is_final = false;          ///< no other device lies between it and the circuit's own receiver
};

struct Sightings {
  std::vector<std::vector<Sighting>> by_circuit;              ///< of the plan; none where it plays timeslots or grants
  std::map<ElementId, std::vector<std::size_t>> circuits_at;  ///< by watched receiver, ascending
};

class SightingFinder {
 public:
  SightingFinder(const Fabric& fabric, const LightFollower& follower);

  /// The plan's circuits in their order; `path` null: the plan does not carry it.
  void add(const Circuit& circuit, const Path* path);
  Sightings finish();

 private:
  /// One transmitter's light of one slot, as it comes to a receiver.
  struct Arrival {
    ElementId transmitter;
    FrequencySlot slot;
    bool operator==(const Arrival&) const = default;
  };
  struct Row {
    Arrival arrival;
    std::vector<Sighting> sightings;
    bool plays = false;
  };
  bool is_watched(ElementId element) const;
  bool plays(const Circuit& circuit) const;
  void mark_ways_to_watched();
  /// Watched receivers behind a fibre, as the light goes by itself.
  void spread(FibreId from, FrequencySlot slot, std::vector<ElementId>& found) const;
  void arrive(ElementId receiver, const Arrival& arrival);

  const Fabric& fabric_;
  const LightFollower& follower_;
  std::vector<bool> leads_to_watched_;  ///< by fibre; empty: nobody watches anything
  std::map<ElementId, std::vector<Arrival>> arrivals_;
  std::vector<Row> rows_;
};

}  // namespace loom
