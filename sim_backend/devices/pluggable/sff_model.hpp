// SPDX-License-Identifier: Apache-2.0
// SffModel: the bytes of a tunable SFP+ (SFF-8690), with the light that follows.
#pragma once

#include "core/fabric/fabric.hpp"
#include "drivers/pluggable/sff_pages.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

/// What a module is, as its read-only bytes have it.
struct SffModule {
  std::string vendor = "LIGHTLOOM";
  std::string part = "SIM-T-SFP+";
  std::string serial = "SIM0001";
  bool is_tunable = true;
  sff::Limits limits;
};
SffModule sff_module_for(const Transmitter& transmitter);

/// It starts with its laser off, as a board that disables it first has it. Its light is off while it tunes; after every write
/// it does not acknowledge for a while; dither is on until it is told otherwise.
class SffModel final : public SimulatedDevice {
 public:
  SffModel(const Device& device, const Transmitter& transmitter, SffModule module, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;
  bool only_darkens(const Actuation& write) const override {
    return write.address == sff::at_a2(sff::kStatus) && (write.value & sff::kSoftDisable) != 0;
  }

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;
  void misroute(OpticalState& state) const override;

 private:
  /// What a power cycle takes away.
  struct Volatile {
    bool is_disabled = true;
    std::uint8_t control = 0;  ///< of byte 110, what is kept
    std::uint16_t channel = 1;
    std::uint16_t wavelength = 0;
    std::uint8_t manners = 0;
    std::uint8_t flags = 0;
    Frequency tuned;
    Instant tuned_from{};
    LaserLight before;  ///< what it emits still
    Instant before_until{};
    Instant emit_from = kNever;
  };
  Volatile at_power_up() const;
  LaserLight nominal_light(Instant at) const;
  std::vector<std::uint8_t> memory(Instant at) const;
  void write(Instant at, std::uint32_t offset, const std::vector<std::uint8_t>& values);
  void tune(Instant at, Frequency wanted);
  void darken(Instant at);

  Transmitter transmitter_;
  SffModule module_;
  Volatile live_;
  Instant busy_until_{};
};

extern const SimulatedModel kSimulatedSff;

}  // namespace loom
