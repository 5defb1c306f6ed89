// A job's schedule in pieces that a page of a reply has room for: who asks for the schedule that is lit gets its pieces in
// order and puts them together again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ids.hpp"
#include "core/schedule.hpp"

namespace loom {

/// The first piece of a job has everything but stages and routes. Of the others each has routes, or a piece of stage number
/// `stage`: some of its timeslots, in order, or some of its streams.
struct SchedulePart {
  JobId job;
  std::uint32_t stage = 0;
  JobSchedule part;
  bool operator==(const SchedulePart&) const = default;
};

/// Pieces of at most some hundred circuits, streams or routes each; a timeslot is never divided.
std::vector<SchedulePart> parts_of(const JobSchedule& schedule);

/// `parts`: of one job, in the order of parts_of; nothing of no parts.
JobSchedule join_parts(std::span<const SchedulePart> parts);

}  // namespace loom
