// SPDX-License-Identifier: Apache-2.0
// PlanHistory: which light the controller decided for each job, and when, as overheard from the rows of its journal. What the
// account of a job's light (job_light.hpp) measures ground truth against. It remembers of a plan what jobs need and no more,
// and nothing that it tells ever reaches a controller.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/journal/journal.hpp"
#include "sim_backend/judge/time_spans.hpp"
#include "sim_backend/snapshot_news.hpp"

namespace loom {

struct PlannedLink {
  ElementId transmitter;
  ElementId receiver;
  NodeId source;
  NodeId destination;
  bool operator==(const PlannedLink&) const = default;
};

enum class LightKind : std::uint8_t {
  standing,   ///< every link is lit as long as the plan holds
  timeslots,  ///< each link in its timeslots, from the relight on for `cycles` passes
  granted,    ///< each link as its receiver grants it
  dark,       ///< lasers are ordered off: the links are there, the light is not
};

/// The light of one job under one plan.
struct PlannedLight {
  LightKind kind = LightKind::standing;
  Duration cycle{};
  std::uint32_t cycles = 0;        ///< 0: until the next revision
  bool repeats = false;            ///< once an iteration, as its nodes agree
  Duration compute{};              ///< between two of them, by the model; a minute where training paces them
  std::vector<PlannedLink> links;  ///< ascending receiver, then transmitter
  bool operator==(const PlannedLight&) const = default;
};

/// One commit, from the decision to go until it was confirmed or given up.
struct PlannedRevision {
  Revision revision;
  Instant going{};
  Instant ended = kNever;
  bool confirmed = false;
  std::map<JobId, std::shared_ptr<const PlannedLight>> jobs;
  std::vector<ElementId> touched;  ///< transmitters that go dark for it, ascending
};

class PlanHistory {
 public:
  explicit PlanHistory(std::shared_ptr<const Fabric> fabric) : fabric_(std::move(fabric)) {}

  /// Rows in the order of their writing. Of a snapshot what the rows before it have not told.
  void learn(Instant now, const Record& record);

  const Fabric& fabric() const { return *fabric_; }
  /// Ascending `going`.
  std::span<const PlannedRevision> revisions() const { return revisions_; }
  /// When an operator wanted lasers off.
  TimeSpans lasers_off() const { return lasers_off_; }
  /// What an operator's intent said of a job from an instant on.
  struct Placement {
    Instant from{};
    std::vector<NodeId> nodes;           ///< rank -> node
    std::vector<Collective> measured{};  ///< what its light is made for, if not for what it declares
  };
  /// As of `at`, or the first one after it. Null: never placed.
  const Placement* placement(JobId job, Instant at) const;

 private:
  void begin(Instant now, const CommitRecord& record);
  void end(Instant now, Revision revision, bool confirmed);

  std::shared_ptr<const Fabric> fabric_;
  RevisionsRead read_;
  std::vector<PlannedRevision> revisions_;
  TimeSpans lasers_off_;
  std::map<JobId, std::vector<Placement>> placements_;
};

}  // namespace loom
