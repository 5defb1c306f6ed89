// Cut and joined.
#include "core/messages/schedule_part.hpp"

#include <algorithm>

namespace loom {
namespace {

constexpr std::size_t kPieces = 512;  ///< circuits, streams or routes of one part, unless one timeslot has more

void cut(ScheduleCut::Of of, std::uint32_t stage, std::size_t count, std::vector<ScheduleCut>& cuts) {
  for (std::size_t first = 0; first < count; first += kPieces) {
    cuts.push_back(
        {of, stage, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(std::min(count, first + kPieces))});
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
  cut(ScheduleCut::Of::routes, 0, schedule.routes.size(), cuts);
  for (std::uint32_t stage = 0; stage < schedule.stages.size(); ++stage) {
    cut_timeslots(schedule.stages[stage].timeslots, stage, cuts);
    cut(ScheduleCut::Of::streams, stage, schedule.stages[stage].streams.size(), cuts);
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
      part.part.forwards = schedule.forwards;
      part.part.waiting = schedule.waiting;
      part.part.forwarding = schedule.forwarding;
      part.part.note = schedule.note;
      break;
    case ScheduleCut::Of::routes:
      part.part.routes = slice(schedule.routes, cut);
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

JobSchedule join_parts(std::span<const SchedulePart> parts) {
  JobSchedule whole;
  for (const SchedulePart& each : parts) {
    const JobSchedule& part = each.part;
    if (&each == &parts.front()) {
      whole = part;
      continue;
    }
    whole.routes.insert(whole.routes.end(), part.routes.begin(), part.routes.end());
    for (const Stage& piece : part.stages) {
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
