// SPDX-License-Identifier: Apache-2.0
// A list of streams, and when who is free.
#include "controller/predict/granted_light.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/messages/iteration.hpp"

namespace loom {
namespace {

struct Way {
  BitRate rate;
  Duration guard{};  ///< to tune to it in the dark
};

class Rotation {
 public:
  Rotation(const Stage& stage, const ScheduleTimings& timings) : timings_(timings) {
    std::map<NodeId, std::set<ElementId>> transmitters;
    std::set<NodeId> nodes;
    for (const Timeslot& timeslot : stage.timeslots) {
      for (const Circuit& circuit : timeslot.circuits) {
        ways_.try_emplace({circuit.source, circuit.destination}, Way{circuit.rate, timeslot.guard});
        transmitters[circuit.source].insert(circuit.transmitter);
        nodes.insert({circuit.source, circuit.destination});
      }
    }
    for (const auto& [node, each] : transmitters) {
      sending_[node].resize(each.size());
    }
    for (const NodeId node : nodes) {
      place_.emplace(node, static_cast<std::uint32_t>(place_.size()));
    }
  }

  /// The streams of one phase, offered at `at`; when all are dark again.
  Instant play(std::vector<const OfferedStream*> streams, Instant at, LightTimeline& light) {
    std::ranges::stable_sort(streams, {}, [this](const OfferedStream* stream) { return distance(*stream); });
    receiving_.clear();
    for (auto& [node, free] : sending_) {
      std::ranges::fill(free, Free{});
    }
    Instant end = at;
    for (const OfferedStream* stream : streams) {
      end = std::max(end, grant(*stream, at, light));
    }
    return end;
  }

 private:
  struct Free {
    bool was_busy = false;
    Instant at{};
  };

  std::size_t distance(const OfferedStream& stream) const {
    const std::size_t nodes = place_.size();
    return (place_.at(stream.destination) + nodes - place_.at(stream.source)) % nodes;
  }

  /// Request and grant are a word each. A transmitter that idles while it waits for its receiver has tuned meanwhile.
  Instant grant(const OfferedStream& stream, Instant at, LightTimeline& light) {
    const auto way = ways_.find({stream.source, stream.destination});
    if (way == ways_.end()) {
      return at;
    }
    auto& transmitters = sending_.at(stream.source);
    Free& sender = *std::ranges::min_element(transmitters, {}, [](const Free& each) { return each.at; });
    Free& receiver = receiving_[stream.destination];
    const Instant tuned = std::max(sender.was_busy ? sender.at : at, at) + way->second.guard;
    const Instant asked = std::max(receiver.was_busy ? receiver.at : at, at);
    Instant from = std::max(tuned, asked) + 2 * timings_.trip + timings_.granted_late;
    Duration left{static_cast<std::int64_t>(transfer_seconds(stream.bytes, way->second.rate) * 1e9) + 1};
    while (left > Duration{}) {
      const Duration window = std::min(left, kGrantQuantum);
      light.push_back({stream.source, stream.destination, from, from + window, way->second.rate});
      left -= window;
      from += window + timings_.granted_dark + (left > Duration{} ? 2 * timings_.trip + timings_.granted_late : Duration{});
    }
    sender = receiver = {true, from};
    return from;
  }

  static double transfer_seconds(Bytes bytes, BitRate rate) {
    return 8.0 * static_cast<double>(bytes.count) / static_cast<double>(rate.bits_per_second);
  }

  const ScheduleTimings& timings_;
  std::map<std::pair<NodeId, NodeId>, Way> ways_;
  std::map<NodeId, std::uint32_t> place_;
  std::map<NodeId, std::vector<Free>> sending_;  ///< by transmitter
  std::map<NodeId, Free> receiving_;
};

}  // namespace

bool is_granted(const JobSchedule& schedule) {
  return schedule.stages.size() == 1 && schedule.stages.front().transmit == Transmit::grants;
}

LightTimeline granted_light(const JobSchedule& schedule, std::uint32_t nodes, Instant start, const ScheduleTimings& timings) {
  const Stage& stage = schedule.stages.front();
  std::map<std::uint64_t, std::vector<const OfferedStream*>> phases;
  for (const OfferedStream& stream : stage.streams) {
    phases[stream.collective].push_back(&stream);
  }
  LightTimeline light;
  Rotation rotation(stage, timings);
  Instant at = start;
  for (const auto& [number, streams] : phases) {
    at = rotation.play(streams, at, light) + pass_lead(nodes, timings.trip) + timings.trip;
  }
  return light;
}

}  // namespace loom
