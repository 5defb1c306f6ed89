// SPDX-License-Identifier: Apache-2.0
// Where the ODDL architecture seats a node (group, port of the AWG; the same on every plane), which channels lead from seat to
// seat, and who owns which wavelength: (plane, source group, channel) before the WSS has one destination group a stage and one
// job at all times, which is what isolates jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/result.hpp"

namespace loom {

struct OddlPosition {
  std::uint32_t group = 0;
  PortNumber port = 0;                  ///< of the AWGs before its receivers
  std::vector<ElementId> transmitters;  ///< by plane
  std::vector<ElementId> receivers;     ///< by plane
};

constexpr std::int32_t kNoChannel = -1;

struct OddlShape {
  /// Ports of the router inside a group that lead to its WSS and come from there.
  struct Uplink {
    PortNumber output = 0;
    PortNumber input = 0;
    bool operator==(const Uplink&) const = default;
  };

  std::vector<OddlPosition> positions;  ///< by node
  std::uint32_t groups = 0;
  std::uint32_t planes = 0;
  PortNumber ports = 0;  ///< receivers of a group
  ChannelPlan channels;
  std::int32_t period = 0;       ///< outputs of an AWG: channels of one order
  std::optional<Uplink> uplink;  ///< the variant with a router inside each group
  bool is_open = false;          ///< no drop filters: a receiver receives every order of its AWG output

  std::uint32_t orders() const { return static_cast<std::uint32_t>((channels.count + period - 1) / period); }
  bool by_wss(const OddlPosition& source, const OddlPosition& destination) const {
    return !uplink || source.group != destination.group;
  }

  /// Lowest channel by which light of `source` arrives at `destination`, the WSS willing; each order has one more, `period`
  /// higher. kNoChannel: in no way (behind routers a node has one partner in each other group).
  std::int32_t first_channel(const OddlPosition& source, const OddlPosition& destination) const;

  /// The channel of `order` before the WSS that leads to `port` of whatever group; may lie beyond the last.
  std::int32_t channel_to(PortNumber port, std::uint32_t order) const;

  /// The port of its group on whose channels before the WSS light can reach `port` of another one.
  PortNumber partner(PortNumber port) const;
};

/// Errors: unsupported, naming the node that has no cyclic AWG before a receiver, another channel plan, port or number of
/// planes, or the router that has another uplink.
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

  /// The channel for light from `source` to `destination`; claims it. `preferred`: taken if it serves, or kNoChannel.
  /// `shared`: transmitters of the group take turns on it (timeslots), so an earlier claim for the same group serves. Nothing
  /// if no channel leads there, every order of the AWG is taken, or the filter behind it has another one to pass.
  std::optional<std::int32_t> claim(const OddlPosition& source, const OddlPosition& destination, std::int32_t preferred,
                                    bool shared);

 private:
  std::int32_t& group_led_to(std::uint32_t group, std::int32_t channel) {
    return destination_[static_cast<std::size_t>(group) * static_cast<std::size_t>(shape_.channels.count) +
                        static_cast<std::size_t>(channel)];
  }
  std::int32_t& group_let_in(std::uint32_t group, std::int32_t channel) {
    return source_[static_cast<std::size_t>(group) * static_cast<std::size_t>(shape_.channels.count) +
                   static_cast<std::size_t>(channel)];
  }

  const OddlShape& shape_;
  std::uint32_t plane_;
  WavelengthOwners& owners_;
  JobIndex job_;
  std::vector<std::int32_t> destination_;  ///< [source group x channel]; -1: free
  std::vector<std::int32_t> source_;       ///< [destination group x channel]; -1: free
};

}  // namespace loom
