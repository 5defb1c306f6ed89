// SPDX-License-Identifier: Apache-2.0
// Triggers of the table as setpoints of the lasers.
#include "agents/grant/executor.hpp"

#include <algorithm>
#include <string>

#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom {

Result<void> SoftwareExecutor::load(const NodePlan& plan) {
  LOOM_ASSERT(plan.grants.has_value());
  clear();
  lasers_.clear();
  table_.reset();
  underflows_ = 0;
  for (const AllowedWavelength& wavelength : plan.grants->wavelengths) {
    const auto unit = units_.index_of(wavelength.laser);
    const auto device = std::find_if(plan.devices.begin(), plan.devices.end(),
                                     [&](const DevicePlan& each) { return each.device == wavelength.laser; });
    const TransmitterSetpoint* light = nullptr;
    for (std::size_t i = 0; device != plan.devices.end() && i < device->timeline.size(); ++i) {
      const auto* candidate = std::get_if<TransmitterSetpoint>(&device->timeline[i].setpoint);
      light = candidate != nullptr && candidate->emit && candidate->slot == wavelength.slot ? candidate : light;
    }
    if (!unit || light == nullptr) {
      return fail(ErrorCode::invalid_argument,
                  format_text("grant table: device {}{}", wavelength.laser.value,
                              unit ? " has no such wavelength in its set" : " is not driven here"));
    }
    auto laser = std::find_if(lasers_.begin(), lasers_.end(), [&](const Laser& each) { return each.unit == *unit; });
    if (laser == lasers_.end()) {
      laser = lasers_.insert(lasers_.end(), Laser{*unit, {}});
    }
    laser->colours.push_back({wavelength.destination, *light});
  }
  if (lasers_.size() > limits::kTransmittersPerNode) {
    return fail(ErrorCode::out_of_range, format_text("grant table: {} lasers exceed limits::kTransmittersPerNode = {}",
                                                     lasers_.size(), limits::kTransmittersPerNode));
  }
  if (!lasers_.empty()) {
    table_.emplace(static_cast<std::uint32_t>(lasers_.size()), Duration{});  // the driver's proof says when it is tuned
  }
  for (Laser& laser : lasers_) {
    laser.awaiting_proof.reserve(2 * kRowsPerTransmitter);
  }
  return {};
}

Result<void> SoftwareExecutor::write(const GrantRow& row) {
  if (!table_ || row.transmitter >= lasers_.size()) {
    return fail(ErrorCode::out_of_range, format_text("grant table: transmitter {} does not exist", row.transmitter));
  }
  Laser& laser = lasers_[row.transmitter];
  if (colour_of(laser, row.stream.destination) == nullptr) {
    return fail(ErrorCode::refused,
                format_text("grant table: no wavelength leads to node {} here", row.stream.destination.value));
  }
  if (!units_.take(laser.unit, Activity::timeline)) {
    return fail(ErrorCode::refused,
                format_text("grant table: device {} is held by somebody above", units_[laser.unit].device->id.value));
  }
  return table_->write(row);
}

const TransmitterSetpoint* SoftwareExecutor::colour_of(const Laser& laser, NodeId destination) const {
  const auto found = std::find_if(laser.colours.begin(), laser.colours.end(),
                                  [&](const Colour& each) { return each.destination == destination; });
  return found == laser.colours.end() ? nullptr : &found->light;
}

bool SoftwareExecutor::is_dark(const Laser& laser) const {
  const DeviceUnit& unit = units_[laser.unit];
  const bool was_never_commanded = !unit.commanded && unit.progress == Progress::none;
  return was_never_commanded || (unit.commanded && !emits(*unit.commanded) && unit.progress == Progress::proven);
}

bool SoftwareExecutor::is_dark() const {
  return std::all_of(lasers_.begin(), lasers_.end(), [&](const Laser& laser) { return is_dark(laser); });
}

void SoftwareExecutor::pre_tune(StepContext context, const PreTuneRequest& request) {
  if (!table_ || request.transmitter >= lasers_.size() || table_->rows(request.transmitter).count > 0) {
    return;
  }
  Laser& laser = lasers_[request.transmitter];
  const TransmitterSetpoint* colour = colour_of(laser, request.destination);
  if (colour == nullptr || !laser.awaiting_proof.empty() || !is_dark(laser) || !units_.take(laser.unit, Activity::timeline)) {
    return;
  }
  laser.ahead = request.destination;
  if (!units_[laser.unit].is_proven(darkened(Setpoint{*colour}))) {
    units_.command(context, laser.unit, Activity::timeline, darkened(Setpoint{*colour}));
  }
}

void SoftwareExecutor::handle(StepContext context, const LaserCommand& order) {
  Laser& laser = lasers_[order.transmitter];
  const DeviceUnit& unit = units_[laser.unit];
  if (!owns(laser)) {
    return;
  }
  const TransmitterSetpoint& colour = *colour_of(laser, order.destination);
  switch (order.act) {
    case LaserAct::tune:
      if (!unit.is_proven(darkened(Setpoint{colour}))) {
        units_.command(context, laser.unit, Activity::timeline, darkened(Setpoint{colour}));
      }
      return;
    case LaserAct::light:
      laser.wanted = &colour;  // follow() lights it once it has settled there
      laser.lit_from.reset();
      return;
    case LaserAct::dark:
      underflows_ += laser.wanted != nullptr && !(unit.commanded && emits(*unit.commanded)) ? 1 : 0;
      laser.wanted = nullptr;
      if (unit.commanded && emits(*unit.commanded)) {
        units_.command(context, laser.unit, Activity::timeline, darkened(*unit.commanded));
      }
      return;
  }
}

/// What a laser's proofs make possible: light that is due, and the end of rows that are over.
void SoftwareExecutor::follow(StepContext context, Laser& laser, std::vector<RowEnded>& ended) {
  const DeviceUnit& unit = units_[laser.unit];
  if (laser.wanted != nullptr && owns(laser)) {
    const Setpoint light{*laser.wanted};
    if (unit.is_proven(darkened(light))) {
      units_.command(context, laser.unit, Activity::timeline, light);
    } else if (unit.is_proven(light) && !laser.lit_from) {
      laser.lit_from = unit.proven_at;
    }
  }
  if (!laser.awaiting_proof.empty() && is_dark(laser)) {
    ended.insert(ended.end(), laser.awaiting_proof.begin(), laser.awaiting_proof.end());
    laser.awaiting_proof.clear();
  }
  const auto transmitter = static_cast<std::uint32_t>(&laser - lasers_.data());
  if (laser.ahead && table_->rows(transmitter).count > 0) {
    laser.ahead.reset();  // its row tunes it
  } else if (laser.ahead && unit.is_proven(darkened(Setpoint{*colour_of(laser, *laser.ahead)}))) {
    tuned_.push_back({transmitter, *laser.ahead});
    laser.ahead.reset();
  }
  // Audits may read it until the next row; also one that failed, or nobody would learn that it answers again.
  const bool is_at_rest = (laser.awaiting_proof.empty() && is_dark(laser)) || unit.progress == Progress::failed;
  if (table_->rows(transmitter).count == 0 && owns(laser) && is_at_rest) {
    units_.release(laser.unit, Activity::timeline);
  }
}

Instant SoftwareExecutor::step(StepContext context, std::vector<RowEnded>& ended) {
  if (!table_) {
    return kNever;
  }
  TableStep done;
  do {
    done = table_->step(context.now);
    for (std::size_t i = 0; i < done.order_count; ++i) {
      handle(context, done.orders[i]);
    }
    for (std::size_t i = 0; i < done.ended_count; ++i) {
      RowEnded row = done.ended[i];
      Laser& laser = lasers_[row.row.transmitter];
      row.dark_from = context.now;
      row.lit_from = laser.lit_from.value_or(row.dark_from);  // what was never proven lit carried nothing
      laser.lit_from.reset();
      laser.awaiting_proof.push_back(row);
    }
  } while (done.wake <= context.now);
  for (Laser& laser : lasers_) {
    follow(context, laser, ended);
  }
  return done.wake;
}

void SoftwareExecutor::clear() {
  if (!table_) {
    return;
  }
  table_.reset();
  tuned_.clear();
  for (Laser& laser : lasers_) {
    laser.wanted = nullptr;
    laser.lit_from.reset();
    laser.awaiting_proof.clear();
    laser.ahead.reset();
    units_.release(laser.unit, Activity::timeline);
  }
}

}  // namespace loom
