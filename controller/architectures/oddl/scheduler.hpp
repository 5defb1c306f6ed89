// SPDX-License-Identifier: Apache-2.0
// The scheduler of ODDL at work. Inner header of oddl.cpp (jobs, rings) and oddl_all_to_all.cpp; everybody else wants oddl.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/architectures/oddl/maps.hpp"
#include "controller/architectures/oddl/options.hpp"
#include "controller/architectures/oddl/planes.hpp"
#include "controller/architectures/oddl/schedule.hpp"
#include "controller/architectures/oddl/turns.hpp"
#include "controller/schedule/traffic.hpp"
#include "core/text/format_text.hpp"

namespace loom {

Duration time_on_wire(double bits, BitRate rate);
double time_of(const Stage& stage);
/// Light comes up to control_max after its instant, and leaves at once: bytes need that much more room.
Duration room_of(const Fabric& fabric, const Timeslot& timeslot);

/// A timeslot's circuit before its plane is known.
struct NodeTransfer {
  NodeId source;
  NodeId destination;
  std::int64_t bytes = 0;
  std::uint32_t way = 0;  ///< see SequencedTransfer
};

class OddlScheduler {
 public:
  OddlScheduler(const Fabric& fabric, const Demand& demand, const Intent& intent, const OddlShape& shape, Budget budget)
      : fabric_(fabric), demand_(demand), intent_(intent), shape_(shape), owners_(shape), budget_(budget) {}

  Result<Schedule> run();

 private:
  /// One plane's light from node to node.
  struct Link {
    NodeId source;
    NodeId destination;
    std::uint32_t plane = 0;
    auto operator<=>(const Link&) const = default;
  };

  /// [plane of the job][receiver port] -> the channels before the WSS that are the job's own in all of its groups; none: it
  /// takes as needed.
  using Ways = std::vector<std::vector<std::vector<std::int32_t>>>;

  /// What a job has lit stays its own before anybody chooses anew.
  void reserve_held();
  /// Orders that a job was given alone: its channels for its ports, in its groups.
  void reserve_orders();
  Result<void> add_job(JobIndex job);
  /// The same stages, whose circuits are lit whenever a stream is granted. One stream a stage and pair for what goes directly,
  /// and behind that one an edge of each ring.
  void hand_to_grants(const JobDemand& demand, const JobTraffic& traffic, JobSchedule& result) const;
  struct RingParts {
    std::int64_t count = 1;
    std::int64_t bytes = 0;  ///< of one part, an edge
  };
  RingParts ring_parts_of(const RingGroup& ring, const Timeslot& timeslot) const;
  Result<void> spend(std::uint64_t steps);
  /// A circuit a plane for every edge, each with its part of the bytes. `stands`: nothing else moves, so that its light need
  /// not end. Else it is one more timeslot of the stage before where that stage's maps let its light through, so that no WSS
  /// moves between the two; or a stage of its own.
  Result<void> add_ring(JobIndex job, const RingGroup& ring, bool stands, JobSchedule& result);
  Result<Timeslot> ring_over(JobIndex job, const RingGroup& ring, std::vector<StageMap>& maps, bool shared);
  /// Worst job of all: what it needs and what nobody could undercut (each rank's bytes at its rate, no guard).
  void rate_job(const JobDemand& demand, const JobTraffic& traffic, const JobSchedule& result);
  /// In words: the only node of `group` that light of `source` reaches, behind routers.
  std::string partner_of(const OddlPosition& source, std::uint32_t group) const;
  /// Who stands in the way, and the nearest request that fits.
  Error refuse(JobIndex job, std::uint32_t plane, NodeId source, NodeId destination) const;
  Circuit circuit(JobId job, const Link& link, std::int32_t channel) const;
  /// Dark time before a timeslot: blank, retune, the commands for both, and the receivers' acquisition, each at its worst.
  Duration guard_of(const Timeslot& timeslot) const;
  std::int32_t held_channel(JobIndex job, const Link& link) const;
  /// As the job asks, or whichever takes less time, WSS moves included.
  Result<void> add_all_to_all(JobIndex job, const PairTraffic& traffic, JobSchedule& result);
  /// Dark time while the WSS go from one map to the next, at its worst; the commits' messages are not counted.
  double moves_between(std::size_t stages) const;
  /// A timeslot takes longer than that.
  double least_guard(const JobDemand& demand) const;
  /// Maps in turn, as few as there can be.
  Result<void> add_maps(JobIndex job, const RankGrid& grid, PairTraffic traffic, JobSchedule& result);
  Ways ways_of(JobIndex job) const;
  SequenceRules rules_for(const Ways& ways) const;
  /// Behind routers: makes `traffic` the hops of what goes by relays.
  Result<void> relay_by_partners(JobIndex job, const RankGrid& grid, PairTraffic& traffic, JobSchedule& result);
  /// One map for all, played twice: first every rank sends what it has itself, to its destinations and to relays; then the
  /// relays send what they hold.
  Result<void> add_relayed(JobIndex job, MapChoice choice, const RankGrid& grid, const PairTraffic& traffic,
                           JobSchedule& result);
  std::vector<StageMap> stage_maps(JobIndex job);
  /// The transfers together, each split over the job's planes.
  Result<void> add_timeslot(JobIndex job, const std::vector<NodeTransfer>& transfers, const Ways& ways,
                            std::vector<StageMap>& maps, Stage& stage);

  /// Behind the jobs of the demand come those whose schedules are pinned.
  std::string name_of(JobIndex job) const {
    const std::size_t demanded = demand_.jobs.size();
    return job < demanded ? format_text("job {}", demand_.jobs[job].job.value)
                          : format_text("job {}, whose schedule is pinned", intent_.pinned[job - demanded].job.value);
  }
  static bool may_use(const JobDemand& demand, std::uint32_t plane) {
    const std::vector<std::uint32_t>& planes = numbers_of(demand.share, kPlanesShare);
    return planes.empty() || std::binary_search(planes.begin(), planes.end(), plane);
  }
  const OddlPosition& position(NodeId node) const { return shape_.positions[node.value]; }

  const Fabric& fabric_;
  const Demand& demand_;
  const Intent& intent_;
  const OddlShape& shape_;
  std::vector<OddlOptions> options_;  ///< by job
  WavelengthOwners owners_;
  Budget budget_;
  std::vector<std::uint32_t> planes_;  ///< of the job that is being added, ascending
  std::vector<StageMap> last_maps_;    ///< by plane of that job: of its last stage; empty: none, or it holds no timeslots
  std::vector<std::pair<std::size_t, std::size_t>> rings_at_;  ///< of that job, by ring: its stage and timeslot
  std::vector<std::map<Link, std::int32_t>> held_;
  Schedule schedule_;
};

}  // namespace loom
