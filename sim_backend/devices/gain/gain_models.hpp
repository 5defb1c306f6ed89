// SPDX-License-Identifier: Apache-2.0
// GainStageModel: a simulated amplifier in gain mode or attenuator, with the light that follows; behind lines and behind
// registers.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "core/fabric/fabric.hpp"
#include "drivers/gain/modbus_gain.hpp"
#include "drivers/gain/scpi_gain.hpp"
#include "sim_backend/devices/light_observer.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

/// Powers up off, as weak as it can be. A new gain is reached in a part of settle_max, along a line in decibels of a few steps.
/// `dim` weakens its light, which its own sensor behind it sees; `fail` turns it off, and it says that it is broken.
class GainStageModel : public SimulatedDevice, public LightObserver {
 public:
  GainStageModel(const Device& device, const GainProfile& profile, const SimDeviceOptions& options);
  OpticalState light(Instant at) const final;
  void look_through(LightSight sight) final { sight_ = std::move(sight); }

 protected:
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const final;

  /// False: it cannot be set so. A device that sticks says true and does nothing.
  bool set(Instant now, Instant at, std::optional<Db> magnitude, std::optional<bool> is_on);
  bool is_on() const { return live_.is_on; }
  Instant settles_at() const { return live_.until; }
  bool is_broken(Instant at) const { return has_fault(DeviceFaultKind::fail, at); }
  bool is_moving(Instant at) const { return at < live_.until; }
  /// That it has now.
  Db magnitude(Instant at) const;
  Dbm input_power();
  Dbm output_power(Instant at);

 private:
  struct Volatile {
    bool is_on = false;
    Db gain{0};           ///< wanted
    Db before{kGainOff};  ///< it comes from
    Instant since{};
    Instant until{};
  };
  Db gain_at(Instant at) const;

  GainProfile profile_;
  PortRef input_;
  LightSight sight_;
  Volatile live_;
};

class ScpiGainModel final : public GainStageModel {
 public:
  ScpiGainModel(const Device& device, const ScpiGainProfile& profile, const SimDeviceOptions& options);

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;

 private:
  std::string answer(Instant now, std::string_view line);
  bool obey(Instant now, std::string_view command);
  std::string query(Instant at, std::string_view words);

  GainDialect dialect_;
  std::string serial_;
  std::deque<std::string> errors_;
  bool is_refusing_ = false;
};

class ModbusGainModel final : public GainStageModel {
 public:
  ModbusGainModel(const Device& device, const ModbusGainProfile& profile, const SimDeviceOptions& options);

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;

 private:
  BusReply read(Instant at, const Registers& registers);
  BusReply write(Instant now, Instant at, const Registers& registers);

  std::uint16_t base_ = 0;
  std::uint16_t count_ = 0;
};

extern const SimulatedModel kSimulatedScpiVoa;
extern const SimulatedModel kSimulatedScpiEdfa;
extern const SimulatedModel kSimulatedModbusVoa;
extern const SimulatedModel kSimulatedModbusEdfa;

}  // namespace loom
