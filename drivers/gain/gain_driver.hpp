// SPDX-License-Identifier: Apache-2.0
// GainDriver: an amplifier in gain mode, or an attenuator, whatever it speaks. It reads before it writes, sets its gain before
// it turns it on, and is settled when the device says that it has the gain and stands still, and its own sensors, where it has
// some and light passes, bear that out. What is said on the bus is the model's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/read_back_driver.hpp"

namespace loom {

struct GainProfile : DeviceProfile {
  Element element;            ///< that it drives
  GainRange range;            ///< kGainOff is beside it
  bool is_amplifier = false;  ///< else what it is told and tells is an attenuation
  bool may_turn_off = true;   ///< it can be told to, and tells whether it is on; else it always passes light
};

struct HeldGain {
  Db gain{0};
  bool operator==(const HeldGain&) const = default;
};

/// All that it tells of itself at one time.
struct GainWords {
  Db magnitude{0};  ///< gain, or attenuation
  bool is_on = true;
  bool is_moving = false;
  bool is_broken = false;
  std::optional<Dbm> input{};
  std::optional<Dbm> output{};
};

enum class GainState : std::uint8_t { rest, decide, identify, read, set_gain, turn, receive_errors };

class GainDriver : public ReadBackDriver<GainProfile, GainState, HeldGain> {
 public:
  /// out_of_range: a gain that it cannot be set to; unsupported: another device's setpoint.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;

 protected:
  explicit GainDriver(GainProfile profile);

  /// Exchanges of a whole reading.
  virtual std::size_t questions() const = 0;
  /// Does it say who it is, and has not yet?
  virtual bool must_identify() const { return false; }
  /// Can it be asked why it did not do as told?
  virtual bool has_errors() const { return false; }

  std::size_t asked() const { return answers_; }  ///< questions of this reading that were answered
  /// An answer of the reading that is under way; `words` after the last.
  void take_answer(Instant now, const GainWords& words);
  void take_write() { is_read_ = false; }
  /// One of what it has to say of the last write; empty: that was all.
  void take_complaint(std::string complaint);
  /// The magnitude to set: of off, the weakest that it can.
  Db wanted_magnitude() const;
  bool wants_on() const { return target_.front().gain != kGainOff; }
  void mark_uncertain(Instant now, const BusReply& reply) override;

 private:
  enum class Lack : std::uint8_t { nothing, gain, turn, health, rest, light };

  std::vector<HeldGain> held_by(const Setpoint& setpoint) const override;
  void begin() override;
  GainState resolve(GainState state, Instant now) override;
  void conclude() override;

  GainState decide(Instant now);
  GainState next_write(Lack lack);
  Db told_gain() const;
  Lack lack() const;
  std::string sentence_of(Lack lack) const;

  GainWords words_;
  std::size_t answers_ = 0;
  bool is_read_ = false;              ///< since the procedure began and since the last write
  unsigned complaints_ = 0;           ///< that it was asked for since the last write, bounded
  bool has_complained_ = true;        ///< it has nothing more to say of the last write
  std::string complaint_;             ///< the newest
  unsigned writes_ = 0;               ///< of this fire, bounded
  Lack written_for_ = Lack::nothing;  ///< the last of them
  Instant patience_since_{};
};

/// What a device of the fabric can be set to.
GainProfile gain_profile(const Fabric& fabric, const Device& device);
/// Why a device of a model for amplifiers (or for attenuators) cannot drive that element; empty: it can.
std::string refuse_gain(const Fabric& fabric, const Device& device, bool is_amplifier);

}  // namespace loom
