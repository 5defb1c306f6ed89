// SPDX-License-Identifier: Apache-2.0
// CmisModel: the pages of a tunable CMIS module, with the data path behind them and the light that follows.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/pluggable/cmis_pages.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

/// What a module is, as its read-only pages have it.
struct CmisModule {
  std::string vendor = "LIGHTLOOM";
  std::string part = "SIM-400ZR";
  std::string serial = "SIM0001";
  bool is_flat = false;
  bool is_tunable = true;
  cmis::Limits limits;
  unsigned deinit = 0;  ///< codes of 01h:144, 167 and 168
  unsigned init = 0;
  unsigned power_up = 5;
  unsigned turn_off = 0;
  unsigned turn_on = 0;
  bool starts_low = true;       ///< the host board holds LPMode: it starts in LowPwr
  std::optional<Dbm> received;  ///< by its receiver; nothing: it has no monitor there
  std::optional<Db> osnr;       ///< likewise, by VDM
  std::optional<double> pre_fec_ber;
  bool has_vdm() const { return osnr || pre_fec_ber; }
};
/// What a fabric says of a module: its grids reach all channels, its times are as long as the fabric allows.
CmisModule module_for(const Transmitter& transmitter);
/// The pages that never change, with their checksums.
std::array<std::uint8_t, kPageBytes> cmis_page(const CmisModule& module, cmis::Page page);

/// A module that is dark when it gets its power, refuses (NACK) after every write, retunes only in DPDeactivated, and moves its
/// data path one state after the other, each within the time that it advertises.
class CmisModel final : public SimulatedDevice {
 public:
  CmisModel(const Device& device, const Transmitter& transmitter, CmisModule module, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;
  bool only_darkens(const Actuation& write) const override;

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;
  void misroute(OpticalState& state) const override;

 private:
  using Bytes = std::vector<std::uint8_t>;

  /// What a power cycle takes away.
  struct Volatile {
    cmis::ModuleState module = cmis::ModuleState::low_power;
    Instant module_until = kNever;
    std::uint8_t global = cmis::kLowPowerAllowHw;
    std::uint8_t deinit = 0;
    std::uint8_t disable = 0;
    std::array<std::uint8_t, cmis::kLanes> staged{};
    std::array<std::uint8_t, cmis::kLanes> active{};
    std::array<std::uint8_t, cmis::kLanes> status{};  ///< ConfigStatus codes
    Instant applied_at = kNever;
    cmis::PathState path = cmis::PathState::deactivated;
    Instant path_until = kNever;
    std::uint8_t grid = 0x50;
    std::int16_t channel = 0;
    std::int16_t fine = 0;
    std::int16_t power = 0;
    Frequency current;        ///< where it was last locked
    Instant fine_until{};     ///< it moves to a new fine offset until then
    std::uint8_t flags = 0;   ///< 12h:231
    Duration deinit_takes{};  ///< drawn anew with every write
    Duration init_takes{};
    Duration off_takes{};
    Duration on_takes{};
    Duration power_up_takes{};
  };
  Volatile at_power_up();
  void draw_times(Volatile& state);
  /// Carries `state` on to `at`.
  void advance(Volatile& state, Instant at) const;
  void leave(Volatile& state, Instant at) const;
  Instant next_change(const Volatile& state) const { return std::min(state.module_until, state.path_until); }
  Frequency commanded(const Volatile& state) const;
  LaserLight nominal_light(const Volatile& state) const;

  BusReply read(Instant at, const BytesAt& order);
  BusReply write(Instant now, Instant at, const BytesAt& order);
  void write_global(Instant at, std::uint8_t value);
  void write_control(Instant at, unsigned byte, std::uint8_t value, bool alone);
  void write_tuning(Instant at, unsigned first, const Bytes& values);
  std::array<std::uint8_t, kPageBytes> page_at(Instant at, std::uint8_t page) const;
  std::array<std::uint8_t, kPageBytes> lower_at() const;
  std::array<std::uint8_t, kPageBytes> status_at(Instant at) const;
  std::array<std::uint8_t, kPageBytes> tuning_at(Instant at) const;

  Transmitter transmitter_;
  CmisModule module_;
  Volatile live_;
  Instant busy_until_{};
  std::uint8_t page_ = 0;  ///< of the last exchange: another one takes its time
};

extern const SimulatedModel kSimulatedCmis;

}  // namespace loom
