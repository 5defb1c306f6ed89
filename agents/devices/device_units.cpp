// SPDX-License-Identifier: Apache-2.0
// The pump: stage, fire, poll, reply and wake all end in Driver::step until it has nothing more to say.
#include "agents/devices/device_units.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "agents/commit/steering.hpp"
#include "core/result.hpp"
#include "core/ring/ring.hpp"

namespace loom {

namespace {

/// A driver that asks to be woken at once, again and again without an order, is held to this pace.
constexpr int kStepsInARow = 16;
constexpr Duration kImpatientPause = std::chrono::milliseconds{1};

bool is_read(const Transaction& transaction) {
  if (const auto* words = std::get_if<Registers>(&transaction.order)) {
    return words->count != 0;
  }
  const auto* bytes = std::get_if<BytesAt>(&transaction.order);
  return bytes != nullptr && bytes->count != 0;
}

FrequencySlot nearest_slot(Frequency frequency, std::int32_t m) {
  const std::int64_t offset = (frequency - kGridAnchor).mhz;
  const std::int64_t half = offset < 0 ? -kGridStep.mhz / 2 : kGridStep.mhz / 2;
  return {static_cast<std::int32_t>((offset + half) / kGridStep.mhz), m};
}

/// Of its model; begun if it is the first device of it.
std::size_t index_for(const Device& device, std::vector<DriverFigures>& figures) {
  const auto known = std::ranges::find_if(
      figures, [&](const DriverFigures& each) { return each.like->role == device.role && each.like->model == device.model; });
  if (known != figures.end()) {
    return static_cast<std::size_t>(known - figures.begin());
  }
  figures.push_back({&device});
  return figures.size() - 1;
}

/// What the bank's setpoint has of a ring that is locked; null: it has it without lock, or cold.
const RingResonance* locked_in(const DeviceUnit& unit, std::uint16_t channel) {
  const auto* bank = unit.commanded ? std::get_if<FilterSetpoint>(&*unit.commanded) : nullptr;
  const RingResonance* wanted = bank == nullptr ? nullptr : wanted_of(*bank, channel);
  return wanted != nullptr && wanted->locked ? wanted : nullptr;
}

/// By which a ring is moved now.
FrequencyOffset trim_of(const DeviceUnit& unit, std::uint16_t channel) {
  for (const auto* locks : {&unit.aside, &unit.locks}) {
    if (const auto lock = std::ranges::find(*locks, channel, &RingLock::channel); lock != locks->end()) {
      return lock->trim;
    }
  }
  return FrequencyOffset{0};
}

Observation seen_by(const DeviceUnit& unit) {
  Observation seen = unit.driver->observe();
  if (auto* bank = std::get_if<FilterObservation>(&seen.reading)) {
    for (const RingLock& lock : unit.locks) {
      if (locked_in(unit, lock.channel) != nullptr) {
        bank->locks.push_back({lock.channel, lock.state, trim_of(unit, lock.channel)});
      }
    }
  }
  return seen;
}

/// A ring that is set and not locked stands where it is put: it is measured, or set by hand. One that is cold keeps its trim
/// for when it is set again: it is its chip's temperature. No trim is more than the heater can do from where it is put now.
void fit_locks(const Fabric& fabric, DeviceUnit& unit) {
  std::erase_if(unit.locks, [&](const RingLock& lock) {
    return wanted_of(std::get<FilterSetpoint>(*unit.commanded), lock.channel) != nullptr && !locked_in(unit, lock.channel);
  });
  for (RingLock& lock : unit.locks) {
    if (const RingResonance* wanted = locked_in(unit, lock.channel)) {
      const auto& ring = std::get<RingFilter>(fabric.element(unit.device->elements[lock.channel]).kind);
      lock.trim = trim_range(ring, *wanted).within(lock.trim);
    }
  }
}

/// What its driver is told: the setpoint, with what keeps its rings on their light.
void stage(const Fabric& fabric, const DeviceUnit& unit) {
  if (unit.locks.empty()) {
    return unit.driver->stage(*unit.commanded);
  }
  Setpoint setpoint = *unit.commanded;
  for (RingResonance& wanted : std::get<FilterSetpoint>(setpoint).rings) {
    const FrequencyOffset trim = trim_of(unit, wanted.channel);
    if (wanted.locked && trim.mhz != 0) {
      const auto& ring = std::get<RingFilter>(fabric.element(unit.device->elements[wanted.channel]).kind);
      wanted.drive = trimmed(ring, drive_of(ring, wanted), trim);
    }
  }
  unit.driver->stage(setpoint);
}

}  // namespace

DeviceUnits::DeviceUnits(std::shared_ptr<const Fabric> fabric, NodeId node, std::vector<std::unique_ptr<Driver>> drivers,
                         std::vector<EdgeLine> edges)
    : fabric_(std::move(fabric)), edges_(std::make_unique<EdgeLines>(std::move(edges))) {
  const std::vector<DeviceId>& devices = fabric_->devices_of_agent[node.value];
  LOOM_ASSERT(devices.size() == drivers.size());
  LOOM_ASSERT(std::ranges::is_sorted(devices));
  units_.resize(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    LOOM_ASSERT(drivers[i] != nullptr);
    units_[i].device = &fabric_->device(devices[i]);
    units_[i].steers = fabric_->steers_others[devices[i].value];
    units_[i].driver = std::move(drivers[i]);
    units_[i].figures = index_for(*units_[i].device, figures_);
  }
}

std::uint64_t writes_of(const DeviceUnits& units) {
  std::uint64_t writes = 0;
  for (const DriverFigures& figures : units.figures()) {
    writes += figures.writes;
  }
  return writes;
}

Observation DeviceUnits::observe(std::size_t index) const {
  const DeviceUnit& unit = units_[index];
  const bool is_looked_at = unit.claim.owner() == Activity::lock && unit.resting;
  return is_looked_at && unit.driver->activity() != DriverActivity::failed ? *unit.resting : seen_by(unit);
}

std::optional<std::size_t> DeviceUnits::index_of(DeviceId device) const {
  const auto found = std::ranges::lower_bound(units_, device, {}, [](const DeviceUnit& unit) { return unit.device->id; });
  return found == units_.end() || found->device->id != device ? std::nullopt
                                                              : std::optional(static_cast<std::size_t>(found - units_.begin()));
}

void release_all(DeviceUnits& units, Activity activity) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    units.release(i, activity);
  }
}

bool DeviceUnits::take(std::size_t index, Activity activity) {
  DeviceUnit& unit = units_[index];
  if (activity == Activity::lock && unit.claim.owner() < Activity::lock && unit.device->role == DeviceRole::filter) {
    unit.resting = std::make_unique<Observation>(seen_by(unit));
  }
  return unit.claim.take(activity);
}

Setpoint DeviceUnits::dark(std::size_t index) const {
  const DeviceUnit& unit = units_[index];
  const auto* commanded = unit.commanded ? std::get_if<TransmitterSetpoint>(&*unit.commanded) : nullptr;
  if (unit.commanded && (commanded == nullptr || commanded->emit || unit.progress == Progress::under_way)) {
    return darkened(*unit.commanded);
  }
  TransmitterSetpoint dark;  // a dark laser may have been tuned for a revision that came to nothing
  const Transmitter* transmitter = nullptr;
  if (!unit.device->elements.empty()) {
    transmitter = std::get_if<Transmitter>(&fabric_->element(unit.device->elements.front()).kind);
  }
  if (commanded != nullptr) {
    dark = *commanded;
  } else if (transmitter != nullptr) {
    dark.slot = transmitter->channels.first;
    dark.power = transmitter->launch_power;
  }
  const Observation observation = unit.driver->observe();
  if (const auto* reading = std::get_if<TransmitterObservation>(&observation.reading)) {
    TransmitterSetpoint there = dark;
    there.slot = nearest_slot(reading->frequency, dark.slot.m);
    if (unit.driver->check(there)) {
      return there;
    }
  }
  return dark;
}

void DeviceUnits::command(StepContext context, std::size_t index, Activity activity, const Setpoint& setpoint) {
  DeviceUnit& unit = units_[index];
  LOOM_ASSERT(unit.claim.owner() == activity);
  // Whoever else fires it has read that it is so: that writes nothing.
  LOOM_ASSERT(unit.is_laser() || activity == Activity::commit ||
              agrees(*fabric_, unit.device->id, observe(index).reading, setpoint));
  edges_->disarm(context, unit.device->id);
  unit.commanded = light_barred_ ? darkened(setpoint) : setpoint;
  unit.progress = Progress::under_way;
  unit.polling = false;
  unit.preparing = false;
  unit.holds_prepared = false;
  unit.is_dark = false;
  unit.fired_at = context.now;
  unit.aside.clear();
  fit_locks(*fabric_, unit);
  stage(*fabric_, unit);
  unit.driver->fire();
  pump(context, index, nullptr);
}

void DeviceUnits::trim(StepContext context, std::size_t index, std::vector<RingLock> locks, std::vector<RingLock> aside) {
  DeviceUnit& unit = units_[index];
  LOOM_ASSERT(unit.claim.owner() == Activity::lock && unit.progress != Progress::under_way && unit.commanded);
  unit.locks = std::move(locks);
  unit.aside = std::move(aside);
  unit.progress = Progress::under_way;
  unit.polling = false;
  unit.fired_at = context.now;
  stage(*fabric_, unit);
  unit.driver->fire();
  pump(context, index, nullptr);
}

void DeviceUnits::keep_as_found(std::size_t index, const Setpoint& setpoint, Programme programme) {
  units_[index].commanded = setpoint;
  units_[index].driver->may_hold({&setpoint, 1});
  units_[index].programme = std::move(programme);
}

void DeviceUnits::prepare(StepContext context, std::size_t index, const Setpoint* next) {
  DeviceUnit& unit = units_[index];
  unit.preparing = unit.holds_prepared = next != nullptr;
  if (next != nullptr) {
    unit.driver->stage(light_barred_ ? darkened(*next) : *next);
    unit.driver->prepare();
  } else {
    edges_->disarm(context, unit.device->id);
    unit.driver->withdraw();
  }
  pump(context, index, nullptr);
}

void DeviceUnits::poll(StepContext context, std::size_t index) {
  DeviceUnit& unit = units_[index];
  if (unit.polling || unit.progress == Progress::under_way) {
    return;
  }
  unit.polling = true;
  unit.polled_at = context.now;
  unit.driver->poll();
  pump(context, index, nullptr);
}

DeviceNews DeviceUnits::replied(StepContext context, const BusReplied& event) {
  const std::size_t index = units_.empty() ? 0 : event.transaction.value % units_.size();  // as pump() numbers them
  if (!units_.empty() && units_[index].outstanding == event.transaction && units_[index].device->bus == event.bus) {
    units_[index].outstanding.reset();
    figures_[units_[index].figures].add(event.reply.status);
    return pump(context, index, &event.reply);
  }
  return edges_->replied(event) ? DeviceNews::came_to_rest : DeviceNews::foreign;
}

DeviceNews DeviceUnits::woke(StepContext context, TimerId timer) {
  const auto index = unit_of_wake(timer);
  if (!index || *index >= units_.size()) {
    return DeviceNews::foreign;
  }
  const DeviceUnit& unit = units_[*index];
  return unit.wake != kNever && context.now >= unit.wake ? pump(context, *index, nullptr) : DeviceNews::goes_on;
}

void DeviceUnits::advance(StepContext context) {
  if (context.now < first_wake_) {
    return;
  }
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (context.now >= units_[i].wake && units_[i].wake != kNever) {
      pump(context, i, nullptr);
    }
  }
  first_wake_ = kNever;
  for (const DeviceUnit& unit : units_) {
    first_wake_ = std::min(first_wake_, unit.wake);
  }
}

DeviceNews DeviceUnits::pump(StepContext context, std::size_t index, const BusReply* reply) {
  DeviceUnit& unit = units_[index];
  Instant wake = kNever;
  for (int i = 0; i < kStepsInARow; ++i) {
    Step step = unit.driver->step(context.now, reply);
    reply = nullptr;
    wake = step.wake;
    if (step.transaction) {
      LOOM_ASSERT(!unit.outstanding);
      const std::uint32_t write = is_read(*step.transaction) ? 0U : 1U;
      figures_[unit.figures].writes += write;
      unit.writes += write;
      unit.outstanding = TransactionId{++transactions_ * units_.size() + index};  // its number says whose it is
      context.sink->emit(Transact{unit.device->bus, *unit.outstanding, std::move(*step.transaction)});
      break;
    }
    if (wake > context.now) {
      break;
    }
  }
  if (wake <= context.now) {
    wake = later(context.now, kImpatientPause);
  }
  if (wake != kNever && wake != unit.wake) {
    context.sink->emit(SetTimer{wake_timer(index), wake, Precision::ordinary});
  }
  unit.wake = wake;
  first_wake_ = std::min(first_wake_, wake);
  return judge(context, index);
}

DeviceNews DeviceUnits::judge(StepContext context, std::size_t index) {
  DeviceUnit& unit = units_[index];
  const DriverActivity activity = unit.driver->activity();
  const bool failed = activity == DriverActivity::failed;
  DriverFigures& figures = figures_[unit.figures];
  if (failed && !unit.known_failed) {
    new_failures_.push_back(index);
    figures.add(DeviceErrorCode::gave_up);
  }
  unit.known_failed = failed || (unit.known_failed && activity == DriverActivity::busy);
  if (activity == DriverActivity::busy) {
    const bool is_dark = unit.progress == Progress::under_way && unit.driver->is_dark().value_or(false);
    return is_dark && !std::exchange(unit.is_dark, is_dark) ? DeviceNews::came_to_rest : DeviceNews::goes_on;
  }
  if (std::exchange(unit.polling, false) && !failed) {
    figures.add(DeviceOp::audit, context.now - unit.polled_at);
  }
  unit.fresh = true;
  unit.preparing = false;
  if (unit.progress == Progress::under_way && activity == DriverActivity::settled) {
    unit.progress = Progress::proven;
    unit.proven_at = context.now;
    figures.add(DeviceOp::fire, context.now - unit.fired_at);
  } else if (unit.progress == Progress::under_way && failed) {
    unit.progress = Progress::failed;
  } else if (unit.progress == Progress::proven && activity == DriverActivity::idle) {
    unit.progress = Progress::none;  // an audit reads otherwise than what was proven: whoever needs it aims again
  }
  return DeviceNews::came_to_rest;
}

std::vector<std::size_t> DeviceUnits::take_new_failures() { return std::exchange(new_failures_, {}); }

}  // namespace loom
