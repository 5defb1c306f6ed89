// SPDX-License-Identifier: Apache-2.0
// ItlaModel: the register side of OIF-ITLA-MSA, with the light that follows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/transceiver/itla_frame.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

/// A tunable laser of OIF-ITLA-MSA. Powers up dark, on a 50 GHz grid at its lowest frequency. Darkness, tuning and emission
/// take their time after the answer; tuned while lit, its light really is at the wrong frequencies meanwhile. Where its
/// transmitter tunes blanked or lit, it tunes each time that its output goes on, and has no frequency while it is off.
class ItlaModel final : public SimulatedDevice {
 public:
  ItlaModel(const Device& device, const Transmitter& transmitter, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;
  bool only_darkens(const Actuation& write) const override {
    return write.address == static_cast<std::uint32_t>(itla::Register::enable) && write.value == 0;
  }

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;
  ModelReply unread(Instant now, const Transaction& transaction) override;
  void misroute(OpticalState& state) const override;

 private:
  itla::Response answer(Instant now, Instant at, const itla::Request& request);
  itla::Response read(Instant at, itla::Register reg);
  itla::Response read_text(itla::Register reg);
  itla::Response read_limit(itla::Register reg);
  itla::Response write(Instant now, Instant at, const itla::Request& request);
  itla::Response write_setting(Instant at, const itla::Request& request);
  itla::Response write_enable(Instant now, Instant at, std::uint16_t value);
  itla::Response write_channel(Instant now, Instant at, std::uint16_t value);
  itla::Response refused(itla::Register reg, itla::NopError error);
  std::uint16_t status_at(Instant at, bool fatal) const;
  std::uint16_t nop_at(Instant at) const;
  Frequency frequency_at(Instant at) const;
  Frequency frequency_of_registers(std::uint16_t channel) const;
  bool emits_at(Instant at) const { return live_.emit_from <= at && at < live_.emit_until; }
  bool is_tuning(Instant at) const { return live_.tune_begin <= at && at < live_.tune_end; }

  /// What a power cycle takes away.
  struct Volatile {
    std::uint16_t channel = 1;
    std::int16_t power = 0;
    std::uint16_t enable = 0;
    std::int16_t grid = 500;
    std::uint16_t grid2 = 0;
    std::uint16_t fcf1 = 0;
    std::uint16_t fcf2 = 0;
    std::uint16_t fcf3 = 0;
    std::int16_t trim = 0;
    std::string text{};  ///< that is being read
    itla::NopError error = itla::NopError::none;
    std::uint16_t latched = 0;
    itla::FrameBytes last_response{};
    Frequency tune_from;
    Frequency tune_to;
    Instant tune_begin{};
    Instant tune_end{};
    std::optional<Instant> ready_at;  ///< power-up is counted from the first transaction
    Instant emit_from = kNever;
    Instant emit_until = kNever;
  };
  Volatile at_power_up() const;

  std::string serial_;
  Transmitter transmitter_;
  Frequency lowest_;
  Frequency highest_;
  Volatile live_;
};

extern const SimulatedModel kSimulatedItla;

}  // namespace loom
