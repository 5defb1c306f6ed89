// SPDX-License-Identifier: Apache-2.0
// Cut and joined.
#include "core/messages/schedule_part.hpp"

#include <algorithm>

#include "core/forwarding/forwarding_builder.hpp"

namespace loom {
namespace {

constexpr std::size_t kPieces = 512;  ///< circuits or streams of one part, unless one timeslot has more

void cut_streams(std::size_t count, std::uint32_t stage, std::vector<ScheduleCut>& cuts) {
  for (std::size_t first = 0; first < count; first += kPieces) {
    cuts.push_back({ScheduleCut::Of::streams, stage, static_cast<std::uint32_t>(first),
                    static_cast<std::uint32_t>(std::min(count, first + kPieces))});
  }
}

/// A piece says nodes and rows of all ranks anew, so it has some numbers of its own for each of those: of entries two, and
/// their paths.
void cut_forwarding(const ForwardingTable& table, std::vector<ScheduleCut>& cuts) {
  const std::size_t most = 8 * std::max<std::size_t>(kPieces, table.ranks());
  ScheduleCut next{ScheduleCut::Of::forwarding};
  std::size_t numbers = 0;
  for (const ForwardingTable::Entry& entry : table.entries) {
    const std::size_t more = 2 + table.path(entry.path).size();
    if (next.last > next.first && numbers + more > most) {
      cuts.push_back(next);
      next.first = next.last;
      numbers = 0;
    }
    ++next.last;
    numbers += more;
  }
  if (next.last > next.first) {
    cuts.push_back(next);
  }
}

/// At least one, also of a stage without a timeslot.
void cut_timeslots(const std::vector<Timeslot>& timeslots, std::uint32_t stage, std::vector<ScheduleCut>& cuts) {
  ScheduleCut next{ScheduleCut::Of::timeslots, stage, 0, 0};
  std::size_t circuits = 0;
  for (const Timeslot& timeslot : timeslots) {
    if (next.last > next.first && circuits + timeslot.circuits.size() > kPieces) {
      cuts.push_back(next);
      next.first = next.last;
      circuits = 0;
    }
    ++next.last;
    circuits += timeslot.circuits.size() + 1;
  }
  cuts.push_back(next);
}

template <class Rows>
Rows slice(const Rows& rows, const ScheduleCut& cut) {
  return {rows.begin() + cut.first, rows.begin() + cut.last};
}

}  // namespace

std::vector<ScheduleCut> cuts_of(const JobSchedule& schedule) {
  std::vector<ScheduleCut> cuts{ScheduleCut{}};
  cut_forwarding(schedule.forwarding, cuts);
  for (std::uint32_t stage = 0; stage < schedule.stages.size(); ++stage) {
    cut_timeslots(schedule.stages[stage].timeslots, stage, cuts);
    cut_streams(schedule.stages[stage].streams.size(), stage, cuts);
  }
  return cuts;
}

SchedulePart part_of(const JobSchedule& schedule, const ScheduleCut& cut) {
  SchedulePart part{schedule.job, cut.stage, {}};
  part.part.job = schedule.job;
  const auto stage = [&]() -> Stage& {
    const Stage& whole = schedule.stages[cut.stage];
    part.part.stages.push_back({{}, whole.cycles, whole.transmit, {}});
    return part.part.stages.back();
  };
  switch (cut.of) {
    case ScheduleCut::Of::head:
      part.part.forwarding = piece_of(schedule.forwarding, 0, 0);
      part.part.waiting = schedule.waiting;
      part.part.note = schedule.note;
      break;
    case ScheduleCut::Of::forwarding:
      part.part.forwarding = piece_of(schedule.forwarding, cut.first, cut.last);
      break;
    case ScheduleCut::Of::timeslots:
      stage().timeslots = slice(schedule.stages[cut.stage].timeslots, cut);
      break;
    case ScheduleCut::Of::streams:
      stage().streams = slice(schedule.stages[cut.stage].streams, cut);
      break;
  }
  return part;
}

/// The entries of all parts in one table.
static ForwardingTable joined_forwarding(std::span<const SchedulePart> parts) {
  const ForwardingTable& head = parts.front().part.forwarding;
  if (head.mode == ForwardingMode::none) {
    return {};
  }
  ForwardingBuilder whole(head.mode, head.nodes, head.row_of);
  for (const SchedulePart& each : parts) {
    const ForwardingTable& piece = each.part.forwarding;
    if (whole.is_followed_by(piece)) {
      whole.add(piece, 0, static_cast<std::uint32_t>(piece.entries.size()));
    }
  }
  return whole.take();
}

JobSchedule join_parts(std::span<const SchedulePart> parts) {
  if (parts.empty()) {
    return {};
  }
  JobSchedule whole = parts.front().part;
  whole.forwarding = joined_forwarding(parts);
  for (const SchedulePart& each : parts.subspan(1)) {
    for (const Stage& piece : each.part.stages) {
      if (whole.stages.size() <= each.stage) {
        whole.stages.push_back({{}, piece.cycles, piece.transmit, {}});
      }
      Stage& stage = whole.stages.back();
      stage.timeslots.insert(stage.timeslots.end(), piece.timeslots.begin(), piece.timeslots.end());
      stage.streams.insert(stage.streams.end(), piece.streams.begin(), piece.streams.end());
    }
  }
  return whole;
}

}  // namespace loom
