// SPDX-License-Identifier: Apache-2.0
// A fake device and its driver for the agent's tests: less obliging than hardware. It needs several transactions for
// everything, settles late, refuses, falls silent, and logs every actuation that reached it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/driver.hpp"
#include "drivers/heater/heater_bank.hpp"

namespace loom::test {

enum class Op : std::uint16_t { dark = 1, move, light, read, hold };

/// One write that was carried out.
struct Actuation {
  DeviceId device;
  Op op = Op::read;
  Instant ordered{};  ///< handed to the bus
  Instant done{};
  Setpoint setpoint;
};

/// The thing behind the bus. `setpoint` is ground truth (without emission), `emitting` too.
struct FakeDevice {
  DeviceId id;
  DeviceRole role = DeviceRole::transmitter;
  Setpoint setpoint;
  bool emitting = false;
  Instant settled_at{};
  Duration reply_delay = std::chrono::microseconds{100};
  Duration settle_time = std::chrono::milliseconds{3};
  std::vector<RingFilter> rings;  ///< of a heater bank, by channel
  bool can_hold = false;          ///< holds the next setpoint ready, unseen
  std::optional<Setpoint> held;   ///< that one
  bool tells_dark = false;        ///< its driver says so while it still moves
  std::optional<Op> refuses;      ///< answers this with an exception, every time
  bool silent = false;            ///< answers nothing: the lane reports a timeout
  std::vector<Setpoint> orders;   ///< what `values[0]` of a write means
  std::vector<Actuation>* log = nullptr;

  BusReply execute(const Registers& order, Instant ordered, Instant now) {
    const auto op = static_cast<Op>(order.address);
    if (silent) {
      return {BusStatus::timeout, 0, {}, {}};
    }
    if (refuses == op) {
      return {BusStatus::exception, 4, {}, {}};
    }
    if (op == Op::read) {
      return {BusStatus::ok, 0, {static_cast<std::uint16_t>(emitting), static_cast<std::uint16_t>(now < settled_at)}, {}};
    }
    const Setpoint wanted = orders.at(order.values.at(0));
    if (op == Op::hold) {
      held = wanted;
    } else if (op == Op::move) {
      setpoint = darkened(wanted);
      settled_at = now + settle_time;
    } else {
      emitting = op == Op::light;
      held.reset();  // no edge lights what was made dark
    }
    log->push_back({id, op, ordered, now, wanted});
    return {};
  }
};

class FakeDriver : public Driver {
 public:
  explicit FakeDriver(std::shared_ptr<FakeDevice> device) : device_(std::move(device)) {}

  Result<void> check(const Setpoint& setpoint) const override {
    if (const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint); laser != nullptr && laser->slot.n < -10'000) {
      return fail(ErrorCode::out_of_range, "n = " + std::to_string(laser->slot.n) + " is below the grid of this laser");
    }
    return {};
  }
  Duration lead(const Setpoint&) const override { return std::chrono::milliseconds{10}; }
  void stage(const Setpoint& setpoint) override { staged_ = setpoint; }
  bool can_prepare() const override { return device_->can_hold; }
  void prepare() override {
    to_hold_ = staged_;
    hold_failed_ = false;
  }
  bool preparation_failed() const override { return hold_failed_; }
  void withdraw() override { to_hold_ = device_->setpoint; }
  void fire() override {
    commanded_ = staged_;
    to_hold_.reset();
    begin();
  }
  void poll() override {
    if (activity_ != DriverActivity::busy) {
      commanded_.reset();
      begin();
    }
  }
  Step step(Instant now, const BusReply* reply) override {
    if (reply != nullptr) {
      outstanding_ = false;
      take(now, *reply);
    }
    if (!outstanding_ && activity_ != DriverActivity::busy && to_hold_) {
      return order(Op::hold);
    }
    if (outstanding_ || activity_ != DriverActivity::busy) {
      return {};
    }
    if (now < look_again_) {
      return {std::nullopt, look_again_};
    }
    return next();
  }
  std::optional<bool> is_dark() const override {
    const bool is_told = activity_ == DriverActivity::busy && commanded_ && !emits(*commanded_) && is_read_dark_;
    return device_->tells_dark ? std::optional(is_told) : std::nullopt;
  }
  DriverActivity activity() const override { return to_hold_ ? DriverActivity::busy : activity_; }
  Observation observe() const override {
    Observation seen;
    seen.device = device_->id;
    seen.read_at = read_at_;
    seen.fault = activity_ == DriverActivity::failed ? "the fake gave up" : "";
    if (activity_ == DriverActivity::failed) {
      seen.health = DeviceHealth::failed;
    } else if (known_) {
      seen.health = activity_ == DriverActivity::busy ? DeviceHealth::moving : DeviceHealth::ready;
    }
    if (known_ && std::holds_alternative<TransmitterSetpoint>(known_->setpoint)) {
      const auto& laser = std::get<TransmitterSetpoint>(known_->setpoint);
      TransmitterObservation reading;
      reading.frequency = centre_of(laser.slot);
      reading.power = known_->emitting ? laser.power : kNoLight;
      reading.emitting = known_->emitting;
      reading.locked = true;
      seen.reading = reading;
    } else if (known_ && std::holds_alternative<WavelengthSwitchSetpoint>(known_->setpoint)) {
      seen.reading = WavelengthSwitchObservation{std::get<WavelengthSwitchSetpoint>(known_->setpoint).routes, !known_->moving};
    } else if (known_ && std::holds_alternative<FilterSetpoint>(known_->setpoint)) {
      FilterObservation bank;
      bank.millivolts.resize(device_->rings.size());
      for (const RingResonance& ring : std::get<FilterSetpoint>(known_->setpoint).rings) {
        bank.millivolts[ring.channel] = heater_millivolts(device_->rings[ring.channel], ring.resonance).value();
      }
      seen.reading = bank;
    } else if (known_ && std::holds_alternative<MonitorSetpoint>(known_->setpoint)) {
      seen.reading = MonitorObservation{{LightReading{0, Dbm{-1'000 + static_cast<std::int32_t>(reads_ % 2) * 500}, {}}}};
    }
    return seen;
  }

 private:
  struct Known {
    Setpoint setpoint;
    bool emitting = false;
    bool moving = false;
  };

  void begin() {
    activity_ = DriverActivity::busy;
    must_read_ = true;
    is_read_dark_ = false;
    errors_ = 0;
    look_again_ = Instant{};
  }
  void take(Instant now, const BusReply& reply) {
    if (last_ == Op::hold) {
      hold_failed_ = reply.status != BusStatus::ok;
      if (hold_failed_ || to_hold_ == device_->held) {
        to_hold_.reset();  // else another one was asked for meanwhile
      }
      return;
    }
    if (activity_ != DriverActivity::busy) {
      return;
    }
    if (reply.status != BusStatus::ok) {
      must_read_ = true;
      activity_ = ++errors_ >= 2 ? DriverActivity::failed : DriverActivity::busy;
      return;
    }
    if (last_ != Op::read || superseded()) {
      must_read_ = true;
      last_commanded_ = commanded_;
      return;
    }
    must_read_ = false;
    read_at_ = now;
    ++reads_;
    is_read_dark_ = reply.words.at(0) == 0;
    known_ = Known{device_->setpoint, reply.words.at(0) != 0, reply.words.at(1) != 0};
    if (!commanded_) {
      activity_ = DriverActivity::idle;
    } else if (known_->moving) {
      must_read_ = true;
      look_again_ = now + std::chrono::microseconds{500};
    }
  }
  /// The aim changed while the read was under way: its answer proves nothing.
  bool superseded() const { return last_commanded_ != commanded_; }
  Step next() {
    if (must_read_) {
      return order(Op::read);
    }
    const bool there = known_->setpoint == darkened(*commanded_);
    if (known_->emitting && (!emits(*commanded_) || !there)) {
      return order(Op::dark);
    }
    if (!there) {
      return order(Op::move);
    }
    if (emits(*commanded_) && !known_->emitting) {
      return order(Op::light);
    }
    activity_ = DriverActivity::settled;
    return {};
  }
  Step order(Op op) {
    last_ = op;
    last_commanded_ = commanded_;
    outstanding_ = true;
    Registers registers;
    registers.address = static_cast<std::uint16_t>(op);
    if (op == Op::read) {
      registers.count = 2;
    } else {
      device_->orders.push_back(op == Op::hold ? *to_hold_ : *commanded_);
      registers.values = {static_cast<std::uint16_t>(device_->orders.size() - 1)};
    }
    return {Transaction{device_->id, 1, registers, std::chrono::milliseconds{5}}, kNever};
  }

  std::shared_ptr<FakeDevice> device_;
  Setpoint staged_;
  std::optional<Setpoint> to_hold_;
  bool hold_failed_ = false;
  std::optional<Setpoint> commanded_;
  std::optional<Setpoint> last_commanded_;
  std::optional<Known> known_;
  DriverActivity activity_ = DriverActivity::idle;
  Op last_ = Op::read;
  bool must_read_ = true;
  bool is_read_dark_ = false;  ///< since it was fired
  bool outstanding_ = false;
  int errors_ = 0;
  Instant look_again_{};
  Instant read_at_{};
  std::uint32_t reads_ = 0;  ///< a monitor sees other light each time
};

}  // namespace loom::test
