// The pump: stage, fire, poll, reply and wake all end in Driver::step until it has nothing more to say.
#include "agents/lanes.hpp"

#include <algorithm>
#include <utility>

#include "agents/steering.hpp"
#include "core/result.hpp"

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

}  // namespace

DeviceLanes::DeviceLanes(std::shared_ptr<const Fabric> fabric, NodeId node, std::vector<std::unique_ptr<Driver>> drivers)
    : fabric_(std::move(fabric)) {
  const std::vector<DeviceId>& devices = fabric_->devices_of_agent[node.value];
  LOOM_ASSERT(devices.size() == drivers.size());
  lanes_.resize(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    LOOM_ASSERT(drivers[i] != nullptr);
    lanes_[i].device = &fabric_->device(devices[i]);
    lanes_[i].steers = fabric_->steers_others[devices[i].value];
    lanes_[i].driver = std::move(drivers[i]);
  }
}

std::optional<std::size_t> DeviceLanes::index_of(DeviceId device) const {
  const auto found = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& lane) { return lane.device->id == device; });
  return found == lanes_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - lanes_.begin()));
}

void DeviceLanes::release_all(Activity activity) {
  for (Lane& lane : lanes_) {
    lane.claim.release(activity);
  }
}

Setpoint DeviceLanes::dark(std::size_t index) const {
  const Lane& lane = lanes_[index];
  if (lane.aim) {
    return darkened(*lane.aim);
  }
  LaserSetpoint dark;
  const Transmitter* transmitter = nullptr;
  if (!lane.device->elements.empty()) {
    transmitter = std::get_if<Transmitter>(&fabric_->element(lane.device->elements.front()).kind);
  }
  if (transmitter != nullptr) {
    dark.slot = transmitter->channels.first;
    dark.power = transmitter->launch_power;
  }
  const Observation observation = lane.driver->observe();
  if (const auto* reading = std::get_if<LaserObservation>(&observation.reading)) {
    LaserSetpoint there = dark;
    there.slot = nearest_slot(reading->frequency, dark.slot.m);
    if (lane.driver->check(there)) {
      return there;
    }
  }
  return dark;
}

void DeviceLanes::aim(Turn turn, std::size_t index, Activity activity, const Setpoint& setpoint) {
  Lane& lane = lanes_[index];
  LOOM_ASSERT(lane.claim.owner() == activity);
  // Whoever else fires it has read that it is so: that writes nothing.
  LOOM_ASSERT(lane.is_laser() || activity == Activity::commit ||
              agrees(*fabric_, lane.device->id, lane.driver->observe().reading, setpoint));
  lane.aim = light_barred_ ? darkened(setpoint) : setpoint;
  lane.progress = Progress::under_way;
  lane.polling = false;
  lane.fired_at = turn.now;
  lane.driver->stage(*lane.aim);
  lane.driver->fire();
  pump(turn, index, nullptr);
}

void DeviceLanes::keep_as_found(std::size_t index, const Setpoint& setpoint, Programme programme) {
  lanes_[index].aim = setpoint;
  lanes_[index].programme = std::move(programme);
}

void DeviceLanes::poll(Turn turn, std::size_t index) {
  Lane& lane = lanes_[index];
  if (lane.polling || lane.progress == Progress::under_way) {
    return;
  }
  lane.polling = true;
  lane.driver->poll();
  pump(turn, index, nullptr);
}

bool DeviceLanes::replied(Turn turn, const BusReplied& event) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].outstanding == event.transaction && lanes_[i].device->bus == event.bus) {
      lanes_[i].outstanding.reset();
      pump(turn, i, &event.reply);
      return true;
    }
  }
  return false;
}

void DeviceLanes::advance(Turn turn) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (turn.now >= lanes_[i].wake && lanes_[i].wake != kNever) {
      pump(turn, i, nullptr);
    }
  }
}

void DeviceLanes::pump(Turn turn, std::size_t index, const BusReply* reply) {
  Lane& lane = lanes_[index];
  Instant wake = kNever;
  for (int i = 0; i < kStepsInARow; ++i) {
    Step step = lane.driver->step(turn.now, reply);
    reply = nullptr;
    wake = step.wake;
    if (step.transaction) {
      hand_out(turn, lane, std::move(*step.transaction));
      break;
    }
    if (wake > turn.now) {
      break;
    }
  }
  if (wake <= turn.now) {
    wake = later(turn.now, kImpatientPause);
  }
  if (wake != kNever && wake != lane.wake) {
    turn.sink->emit(SetTimer{wake_timer(index), wake, Precision::ordinary});
  }
  lane.wake = wake;
  judge(turn, index);
}

void DeviceLanes::hand_out(Turn turn, Lane& lane, Transaction transaction) {
  LOOM_ASSERT(!lane.outstanding);
  const std::uint32_t write = is_read(transaction) ? 0U : 1U;
  writes_ += write;
  lane.writes += write;
  const TransactionId id{next_transaction_++};
  lane.outstanding = id;
  turn.sink->emit(Transact{lane.device->bus, id, std::move(transaction)});
}

void DeviceLanes::judge(Turn turn, std::size_t index) {
  Lane& lane = lanes_[index];
  const DriverActivity activity = lane.driver->activity();
  const bool failed = activity == DriverActivity::failed;
  if (failed && !lane.known_failed) {
    new_failures_.push_back(index);
  }
  lane.known_failed = failed || (lane.known_failed && activity == DriverActivity::busy);
  if (activity == DriverActivity::busy) {
    return;
  }
  lane.polling = false;
  lane.fresh = true;
  if (lane.progress == Progress::under_way && activity == DriverActivity::settled) {
    lane.progress = Progress::proven;
    lane.proven_at = turn.now;
  } else if (lane.progress == Progress::under_way && failed) {
    lane.progress = Progress::failed;
  } else if (lane.progress == Progress::proven && activity == DriverActivity::idle) {
    lane.progress = Progress::none;  // an audit reads otherwise than what was proven: whoever needs it aims again
  }
}

std::vector<std::size_t> DeviceLanes::take_new_failures() { return std::exchange(new_failures_, {}); }

}  // namespace loom
