// SPDX-License-Identifier: Apache-2.0
// Read, set, answer.
#include "agents/devices/device_resets.hpp"

#include <string>
#include <utility>

#include "agents/commit/steering.hpp"
#include "agents/devices/symptom.hpp"
#include "core/text/format_text.hpp"

namespace loom {

namespace {

std::string command_that_shows(const Device& device) { return format_text("loom device show {}", device.id.value); }

std::string fault_of(const DeviceUnit& unit) {
  return format_text("{}: {}", unit.device->name, sentence_of(*unit.device, unit.driver->observe()));
}

}  // namespace

Outcome DeviceResets::refusal(std::size_t unit) const {
  const Device& device = *units_[unit].device;
  return {Error{ErrorCode::busy,
                device.name + " belongs to a commit, a timeline or the interlock; a reset waits for none of them",
                format_text("loom device reset {}  (again, when loom status is idle)", device.id.value)}};
}

void DeviceResets::order(StepContext context, const ResetDevice& order) {
  const auto unit = units_.index_of(order.device);
  if (!unit) {
    const Error error{ErrorCode::not_found,
                      format_text("device {} is not driven by node {}", order.device.value, envelopes_.node.value),
                      format_text("loom device show {}", order.device.value)};
    Observation never;
    never.device = order.device;
    return envelopes_.send(context, Revision{}, DeviceReset{order.device, order.order, {error}, 0, never});
  }
  Row& row = rows_[*unit];
  if (order.order == row.order && row.phase == Phase::idle) {
    return envelopes_.send(context, Revision{}, row.answer);
  }
  if (order.order <= row.order) {
    return;  // under way, or older than what was obeyed
  }
  row.order = order.order;
  row.writes_before = units_[*unit].writes;
  if (!units_.take(*unit, Activity::reset)) {
    return finish(context, *unit, refusal(*unit));
  }
  under_way_ += row.phase == Phase::idle ? 1U : 0U;
  row.phase = Phase::reading;
  row.asked_at = context.now;
  units_.poll(context, *unit);
}

/// Light may pass it, and no reset takes that away: what is not as it was set is left to a commit that does.
std::optional<Error> DeviceResets::must_not_be_set(std::size_t index) const {
  const DeviceUnit& unit = units_[index];
  const Observation seen = units_.observe(index);
  if (unit.is_laser()) {
    return std::nullopt;
  }
  if (seen.read_at < rows_.at(index).asked_at) {
    return Error{ErrorCode::device_error, fault_of(unit), command_that_shows(*unit.device)};
  }
  if (!agrees(units_.fabric(), unit.device->id, seen.reading, *unit.commanded)) {
    return Error{ErrorCode::refused,
                 unit.device->name +
                     " is not as it was set, and light may pass it: it was read, and is set again by a repair that "
                     "takes that light away first",
                 command_that_shows(*unit.device)};
  }
  return std::nullopt;
}

void DeviceResets::advance(StepContext context) {
  if (under_way_ == 0) {
    return;
  }
  for (auto& [i, row] : rows_) {
    if (row.phase == Phase::idle) {
      continue;
    }
    const DeviceUnit& unit = units_[i];
    if (unit.claim.owner() != Activity::reset) {
      finish(context, i, refusal(i));
    } else if (row.phase == Phase::reading && !unit.polling) {
      if (!unit.commanded) {
        finish(context, i, {});  // nobody ever told it anything: read back is all there is
      } else if (auto error = must_not_be_set(i)) {
        finish(context, i, {std::move(error)});
      } else {
        row.phase = Phase::setting;
        const Setpoint again = *unit.commanded;
        units_.command(context, i, Activity::reset, again);
      }
    }
    if (row.phase == Phase::setting && unit.progress == Progress::proven) {
      finish(context, i, {});
    } else if (row.phase == Phase::setting && unit.progress == Progress::failed) {
      finish(context, i, {Error{ErrorCode::device_error, fault_of(unit), command_that_shows(*unit.device)}});
    }
  }
}

void DeviceResets::finish(StepContext context, std::size_t unit, Outcome outcome) {
  Row& row = rows_[unit];
  under_way_ -= row.phase == Phase::idle ? 0U : 1U;
  row.phase = Phase::idle;
  units_.release(unit, Activity::reset);
  row.answer = {units_[unit].device->id, row.order, std::move(outcome), units_[unit].writes - row.writes_before,
                units_.observe(unit)};
  envelopes_.send(context, Revision{}, row.answer);
}

}  // namespace loom
