// SPDX-License-Identifier: Apache-2.0
// TableLaserModel: the register file of a laser with a table, with the light that follows.
#pragma once

#include <array>
#include <span>

#include "core/fabric/fabric.hpp"
#include "drivers/transceiver/table_registers.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

/// A tunable laser that is set by an index into its table. Powers up dark, on no channel. It keeps its gate shut while its
/// currents move; shutting and opening it take their time after the answer. With a trigger (its profile) it holds what comes
/// next.
class TableLaserModel final : public SimulatedDevice, public EdgeInput {
 public:
  TableLaserModel(const Device& device, const Transmitter& transmitter, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;
  void edge(Instant at) override;
  bool only_darkens(const Actuation& write) const override {
    return write.address == static_cast<std::uint32_t>(table_laser::Register::gate) && write.value == 0;
  }

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;
  void misroute(OpticalState& state) const override;

 private:
  BusReply read(Instant at, const Registers& registers) const;
  BusReply write(Instant now, Instant at, const Registers& registers);
  std::uint16_t word_at(Instant at, table_laser::Register address) const;
  LaserLight nominal_light(Instant at) const;

  /// What a power cycle takes away.
  struct Volatile {
    bool gate = false;
    std::uint16_t channel = 0;
    std::int16_t power = 0;
    std::array<std::uint16_t, table_laser::kWritable> next{};  ///< what waits for the trigger
    LaserLight before;                                         ///< what it emits still
    Instant before_until{};                                    ///< and until when
    Instant tuned_from = kNever;
    Instant emit_from = kNever;
  };
  bool is_lawful(std::span<const std::uint16_t> words) const;
  void take(Instant now, Instant at, std::span<const std::uint16_t> words);
  void go(Instant at, bool gate, std::uint16_t channel);

  Transmitter transmitter_;
  bool has_trigger_ = false;
  Volatile live_;
};

extern const SimulatedModel kSimulatedTableLaser;

}  // namespace loom
