// Read, set, answer.
#include "agents/device_resets.hpp"

#include <string>
#include <utility>

#include "agents/steering.hpp"

namespace loom {

namespace {

std::string command_that_shows(const Device& device) { return "loom device show " + std::to_string(device.id.value); }

std::string fault_of(const Lane& lane) {
  const std::string fault = lane.driver->observe().fault;
  return lane.device->name + ": " + (fault.empty() ? "its driver gave up" : fault);
}

}  // namespace

Outcome DeviceResets::refusal(std::size_t lane) const {
  const Device& device = *lanes_[lane].device;
  return {Error{ErrorCode::busy,
                device.name + " belongs to a commit, a timeline or the interlock; a reset waits for none of them",
                "loom device reset " + std::to_string(device.id.value) + "  (again, when loom status is idle)"}};
}

void DeviceResets::order(Turn turn, const ResetDevice& order) {
  const auto lane = lanes_.index_of(order.device);
  if (!lane) {
    const Error error{
        ErrorCode::not_found,
        "device " + std::to_string(order.device.value) + " is not driven by node " + std::to_string(voice_.node.value),
        "loom device show " + std::to_string(order.device.value)};
    Observation never;
    never.device = order.device;
    return voice_.say(turn, Revision{}, DeviceReset{order.device, order.order, {error}, 0, never});
  }
  Row& row = rows_[*lane];
  if (order.order == row.order && row.phase == Phase::idle) {
    return voice_.say(turn, Revision{}, row.answer);
  }
  if (order.order <= row.order) {
    return;  // under way, or older than what was obeyed
  }
  row.order = order.order;
  row.writes_before = lanes_[*lane].writes;
  if (!lanes_.take(*lane, Activity::reset)) {
    return finish(turn, *lane, refusal(*lane));
  }
  row.phase = Phase::reading;
  row.asked_at = turn.now;
  lanes_.poll(turn, *lane);
}

/// Light may pass it, and no reset takes that away: what is not as it was set is left to a commit that does.
std::optional<Error> DeviceResets::must_not_be_set(std::size_t index) const {
  const Lane& lane = lanes_[index];
  const Observation seen = lane.driver->observe();
  if (lane.is_laser()) {
    return std::nullopt;
  }
  if (seen.read_at < rows_[index].asked_at) {
    return Error{ErrorCode::device_error, fault_of(lane), command_that_shows(*lane.device)};
  }
  if (!agrees(lanes_.fabric(), lane.device->id, seen.reading, *lane.aim)) {
    return Error{ErrorCode::refused,
                 lane.device->name +
                     " is not as it was set, and light may pass it: it was read, and is set again by a repair that "
                     "takes that light away first",
                 command_that_shows(*lane.device)};
  }
  return std::nullopt;
}

void DeviceResets::advance(Turn turn) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    if (row.phase == Phase::idle) {
      continue;
    }
    const Lane& lane = lanes_[i];
    if (lane.claim.owner() != Activity::reset) {
      finish(turn, i, refusal(i));
    } else if (row.phase == Phase::reading && !lane.polling) {
      if (!lane.aim) {
        finish(turn, i, {});  // nobody ever told it anything: read back is all there is
      } else if (auto error = must_not_be_set(i)) {
        finish(turn, i, {std::move(error)});
      } else {
        row.phase = Phase::setting;
        const Setpoint again = *lane.aim;
        lanes_.aim(turn, i, Activity::reset, again);
      }
    }
    if (row.phase == Phase::setting && lane.progress == Progress::proven) {
      finish(turn, i, {});
    } else if (row.phase == Phase::setting && lane.progress == Progress::failed) {
      finish(turn, i, {Error{ErrorCode::device_error, fault_of(lane), command_that_shows(*lane.device)}});
    }
  }
}

void DeviceResets::finish(Turn turn, std::size_t lane, Outcome outcome) {
  Row& row = rows_[lane];
  row.phase = Phase::idle;
  lanes_.release(lane, Activity::reset);
  row.answer = {lanes_[lane].device->id, row.order, std::move(outcome), lanes_[lane].writes - row.writes_before,
                lanes_[lane].driver->observe()};
  voice_.say(turn, Revision{}, row.answer);
}

}  // namespace loom
