// Cut and joined.
#include "core/messages/schedule_part.hpp"

#include <algorithm>
#include <utility>

namespace loom {
namespace {

constexpr std::size_t kPieces = 512;  ///< circuits, streams or routes of one part, unless one timeslot has more

SchedulePart stage_part(const JobSchedule& schedule, std::uint32_t number) {
  SchedulePart part{schedule.job, number, {}};
  part.part.job = schedule.job;
  const Stage& stage = schedule.stages[number];
  part.part.stages.push_back({{}, stage.cycles, stage.transmit, {}});
  return part;
}

void cut_stage(const JobSchedule& schedule, std::uint32_t number, std::vector<SchedulePart>& parts) {
  const Stage& stage = schedule.stages[number];
  SchedulePart next = stage_part(schedule, number);
  std::size_t circuits = 0;
  for (const Timeslot& timeslot : stage.timeslots) {
    auto& timeslots = next.part.stages.front().timeslots;
    if (!timeslots.empty() && circuits + timeslot.circuits.size() > kPieces) {
      parts.push_back(std::exchange(next, stage_part(schedule, number)));
      circuits = 0;
    }
    next.part.stages.front().timeslots.push_back(timeslot);
    circuits += timeslot.circuits.size() + 1;
  }
  parts.push_back(std::move(next));
  for (std::size_t at = 0; at < stage.streams.size(); at += kPieces) {
    next = stage_part(schedule, number);
    const auto end = std::min(stage.streams.size(), at + kPieces);
    next.part.stages.front().streams.assign(stage.streams.begin() + static_cast<std::ptrdiff_t>(at),
                                            stage.streams.begin() + static_cast<std::ptrdiff_t>(end));
    parts.push_back(std::move(next));
  }
}

}  // namespace

std::vector<SchedulePart> parts_of(const JobSchedule& schedule) {
  std::vector<SchedulePart> parts;
  SchedulePart head{schedule.job, 0, {}};
  head.part.job = schedule.job;
  head.part.forwards = schedule.forwards;
  head.part.waiting = schedule.waiting;
  head.part.forwarding = schedule.forwarding;
  head.part.note = schedule.note;
  parts.push_back(std::move(head));
  for (std::size_t at = 0; at < schedule.routes.size(); at += kPieces) {
    SchedulePart next{schedule.job, 0, {}};
    next.part.job = schedule.job;
    const auto end = std::min(schedule.routes.size(), at + kPieces);
    next.part.routes.assign(schedule.routes.begin() + static_cast<std::ptrdiff_t>(at),
                            schedule.routes.begin() + static_cast<std::ptrdiff_t>(end));
    parts.push_back(std::move(next));
  }
  for (std::uint32_t number = 0; number < schedule.stages.size(); ++number) {
    cut_stage(schedule, number, parts);
  }
  return parts;
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
