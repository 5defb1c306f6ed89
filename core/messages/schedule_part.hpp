// SPDX-License-Identifier: Apache-2.0
// A job's schedule in pieces that a page of a reply has room for: who asks for the schedule that is lit gets its pieces in
// order and puts them together again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ids.hpp"
#include "core/schedule.hpp"

namespace loom {

/// The first piece of a job has everything but stages and entries of its forwarding table. Of the others each has such entries,
/// in a table with all ranks and rows, or a piece of stage number `stage`: some of its timeslots, in order, or some of its
/// streams.
struct SchedulePart {
  JobId job;
  std::uint32_t stage = 0;
  JobSchedule part;
  bool operator==(const SchedulePart&) const = default;
};

/// What one part has of a schedule: [first, last) of its forwarding table's entries, or of a stage's timeslots or streams.
struct ScheduleCut {
  enum class Of : std::uint8_t { head, forwarding, timeslots, streams };
  Of of = Of::head;
  std::uint32_t stage = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Cuts of at most some hundred circuits or streams each, or of as much of the forwarding table as a few numbers a rank, in
/// order; a timeslot is never divided. Nothing is copied: a page makes only the parts that it has room for.
std::vector<ScheduleCut> cuts_of(const JobSchedule& schedule);
SchedulePart part_of(const JobSchedule& schedule, const ScheduleCut& cut);

/// `parts`: of one job, in the order of cuts_of; nothing of no parts. Entries that do not continue the table of the first part
/// are left out: the schedule changed between two pages.
JobSchedule join_parts(std::span<const SchedulePart> parts);

}  // namespace loom
