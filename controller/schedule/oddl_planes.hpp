// Where the ODDL architecture seats a node (group, port of the destination AWG; the same on every plane), and who owns which
// wavelength: (plane, source group, channel) has one destination group a stage and one job at all times, which is what isolates
// jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/demand.hpp"
#include "core/fabric.hpp"
#include "core/result.hpp"

namespace loom {

struct OddlSeat {
  std::uint32_t group = 0;
  PortNumber port = 0;                  ///< of the AWGs before its receivers: channel c arrives when c mod ports == port
  std::vector<ElementId> transmitters;  ///< by plane
  std::vector<ElementId> receivers;     ///< by plane
};

struct OddlShape {
  std::vector<OddlSeat> seats;  ///< by node
  std::uint32_t groups = 0;
  std::uint32_t planes = 0;
  PortNumber ports = 0;
  ChannelPlan channels;
};

/// Errors: unsupported, naming the node that has no cyclic AWG before a receiver, another channel plan, port or number of
/// planes.
Result<OddlShape> read_oddl(const Fabric& fabric);

/// A job index within the demand.
using JobIndex = std::uint32_t;

class WavelengthOwners {
 public:
  explicit WavelengthOwners(const OddlShape& shape)
      : shape_(&shape),
        owner_(static_cast<std::size_t>(shape.planes) * shape.groups * static_cast<std::size_t>(shape.channels.count)) {}

  std::optional<JobIndex> owner(std::uint32_t plane, std::uint32_t group, std::int32_t channel) const {
    return owner_[index(plane, group, channel)];
  }
  void own(std::uint32_t plane, std::uint32_t group, std::int32_t channel, JobIndex job) {
    owner_[index(plane, group, channel)] = job;
  }
  bool admits(std::uint32_t plane, std::uint32_t group, std::int32_t channel, JobIndex job) const {
    const auto has = owner(plane, group, channel);
    return !has || *has == job;
  }

 private:
  std::size_t index(std::uint32_t plane, std::uint32_t group, std::int32_t channel) const {
    return (static_cast<std::size_t>(plane) * shape_->groups + group) * static_cast<std::size_t>(shape_->channels.count) +
           static_cast<std::size_t>(channel);
  }

  const OddlShape* shape_;
  std::vector<std::optional<JobIndex>> owner_;
};

/// The map of one stage of one job on one plane: which channel of which source group leads to which destination group.
class StageMap {
 public:
  StageMap(const OddlShape& shape, std::uint32_t plane, WavelengthOwners& owners, JobIndex job);

  /// The channel for light from `source` to `destination`; claims it. `preferred`: the channel that is lit now, or -1.
  /// `shared`: transmitters of the group take turns on it (timeslots), so an earlier claim for the same group serves. Nothing
  /// if every order of the AWG is taken.
  std::optional<std::int32_t> claim(const OddlSeat& source, const OddlSeat& destination, std::int32_t preferred, bool shared);

 private:
  const OddlShape& shape_;
  std::uint32_t plane_;
  WavelengthOwners& owners_;
  JobIndex job_;
  std::vector<std::int32_t> destination_;  ///< [group x channel]; -1: free
};

}  // namespace loom
