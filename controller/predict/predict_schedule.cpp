// SPDX-License-Identifier: Apache-2.0
// Prediction from an actual schedule: its stages become light as every device's worst case would make it, and the job is
// replayed over that light. A run whose devices do no worse than promised is never slower.
#include <algorithm>
#include <utility>

#include "controller/predict/collective_time.hpp"
#include "controller/predict/forwarded_light.hpp"
#include "controller/predict/granted_light.hpp"
#include "controller/predict/predict.hpp"
#include "controller/predict/replay.hpp"
#include "core/messages/iteration.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kEndlessCycles = 16;

std::string in_ms(Duration duration) { return std::to_string(milliseconds_of(duration)) + " ms"; }

/// Where the timeslots of an iteration begin, counted from when compute is done: lasers had all of it to tune for the first
/// one, and the nodes agree on the instant of its light.
Instant repeated_start(const JobSpec& job, const JobSchedule& schedule, Duration agreement) {
  if (is_granted(schedule)) {
    return Instant{} + agreement;  // streams are offered then
  }
  const Duration guard = schedule.stages.front().timeslots.front().guard;
  const Duration untuned = std::max(Duration{}, guard - job.compute);
  return Instant{} + untuned + agreement - guard;
}

BitRate slowest_rate(const JobSchedule& schedule) {
  BitRate slowest;
  for (const Stage& stage : schedule.stages) {
    for (const Timeslot& timeslot : stage.timeslots) {
      for (const Circuit& circuit : timeslot.circuits) {
        slowest = slowest.bits_per_second == 0 ? circuit.rate : std::min(slowest, circuit.rate);
      }
    }
  }
  return slowest;
}

/// With the most bytes to send or pass on; the lowest of equals.
std::uint32_t busiest_rank(const JobSpec& job) {
  std::vector<std::int64_t> bytes(job.node_count);
  for (const Collective& collective : job.collectives) {
    const Movement movement = plan_of(collective, job.node_count).movement;
    if (movement == Movement::direct || movement == Movement::single) {
      for (const Flow& flow : flows_of(collective, job.node_count)) {
        bytes[flow.source] += flow.bytes * collective.count;
        bytes[flow.destination] += flow.bytes * collective.count;
      }
      continue;
    }
    for (const std::uint32_t rank : ranks_of(collective, job.node_count)) {
      bytes[rank] += collective.bytes.count * collective.count;
    }
  }
  return static_cast<std::uint32_t>(std::ranges::max_element(bytes) - bytes.begin());
}

}  // namespace

std::string label_of(std::string_view fabric, std::string_view qualifier) {
  return std::string(fabric) + (qualifier.empty() ? "" : format_text(" ({})", qualifier));
}

TransferOrder order_of(const JobSchedule& schedule) {
  if (schedule.forwarding.mode == ForwardingMode::cut_through) {
    return TransferOrder::forwarded;
  }
  for (const Stage& stage : schedule.stages) {
    for (const Timeslot& timeslot : stage.timeslots) {
      if (timeslot.hold != kForever) {
        return TransferOrder::merged;
      }
    }
  }
  return TransferOrder::issue;
}

LightTimeline light_of(const JobSchedule& schedule, Instant start, const ScheduleTimings& timings) {
  LightTimeline light;
  Instant at = start;
  for (const Stage& stage : schedule.stages) {
    const std::uint32_t cycles = stage.cycles == 0 ? kEndlessCycles : stage.cycles;
    for (std::uint32_t cycle = 0; cycle < cycles; ++cycle) {
      for (const Timeslot& timeslot : stage.timeslots) {
        at += timeslot.guard;
        const Instant end = timeslot.hold == kForever ? kNever : at + timeslot.hold;
        for (const Circuit& circuit : timeslot.circuits) {
          light.push_back({circuit.source, circuit.destination, at, end, circuit.rate});
        }
        if (end == kNever) {
          return light;  // what comes after light without an end is never reached
        }
        at = end;
      }
    }
    at += timings.stage_change;
  }
  return light;
}

Result<Prediction> predict_schedule(const JobSpec& job, const JobSchedule& schedule, const ScheduleTimings& timings) {
  const TransferOrder order = is_granted(schedule) ? TransferOrder::merged : order_of(schedule);
  if (order == TransferOrder::forwarded) {
    return predict_forwarded(job, schedule, timings);
  }
  const bool is_repeated = is_repeated_by_nodes(schedule) && order == TransferOrder::merged;
  const Duration agreement = pass_lead(job.node_count, timings.trip) + timings.trip;
  const Instant start = is_repeated ? repeated_start(job, schedule, agreement) : Instant{};
  const LightTimeline light =
      is_granted(schedule) ? granted_light(schedule, job.node_count, start, timings) : light_of(schedule, start, timings);
  ReplayOptions options{Instant{}, timings.latency, order, &schedule};
  if (timings.wants_lane && job.node_count > 0) {
    options.watched = busiest_rank(job);
  }
  auto outcome = replay(job, light, options);
  if (!outcome) {
    return std::unexpected(outcome.error());
  }
  Prediction prediction{job.workload,           timings.fabric,     timings.qualifier, job.node_count,
                        slowest_rate(schedule), outcome->iteration, outcome->compute,  outcome->exposed,
                        outcome->dark,          outcome->phases,    job.assumptions};
  prediction.assumptions.push_back(label_of(timings.fabric, timings.qualifier) +
                                   ": predicted from the schedule, every device at its worst case");
  prediction.assumptions.push_back(format_text("latency of a circuit {}, one way", in_ms(timings.latency)));
  if (order == TransferOrder::merged) {
    std::erase_if(prediction.assumptions, [](const std::string& each) { return each.starts_with("overlap = "); });
    prediction.assumptions.emplace_back(
        "overlap = none: the schedule moves an iteration's direct transfers together in its timeslots, then the rings");
  }
  if (is_granted(schedule)) {
    prediction.assumptions.emplace_back(
        "under grants: as if streams rotated over their receivers, every laser and every word at its worst; an estimate, no "
        "bound: who is granted first is decided while it runs");
  }
  if (is_repeated) {
    prediction.assumptions.push_back(format_text(
        "one iteration after the other: its nodes agree on each beginning within {} of the last one's readiness, and tune for "
        "the first timeslot meanwhile",
        in_ms(agreement)));
  }
  if (schedule.forwarding.mode == ForwardingMode::store_and_forward) {
    prediction.assumptions.push_back(
        timings.fabric +
        ": nodes relay what one hop does not reach, at most once; a relay sends on when it holds all that it will pass on");
  }
  if (schedule.stages.size() > 1) {
    if (!outcome->lane.spans.empty()) {
      outcome->lane.spans.push_back({prediction.iteration, prediction.iteration + timings.stage_change, NodeDoes::dark});
    }
    prediction.iteration += timings.stage_change;
    prediction.exposed += timings.stage_change;
    prediction.dark += timings.stage_change;
    prediction.assumptions.push_back(
        format_text("one iteration is a pass over {} stages, {} dark between two and before the first", schedule.stages.size(),
                    in_ms(timings.stage_change)));
  }
  prediction.lane = std::move(outcome->lane);
  return prediction;
}

}  // namespace loom
