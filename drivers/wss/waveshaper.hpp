// SPDX-License-Identifier: Apache-2.0
// WaveShaperDriver: a WaveShaper behind its web server, as a wavelength-selective switch. It loads one profile of the whole
// band and reads it back; there is no staged pattern, so nothing can be prepared, and a fire uploads some 150 KB. What reads
// back is what was commanded: settled is the worst settling time after the upload, then the profile as loaded, and its proof is
// *assumed*. A profile that somebody else loaded is read as routes and never kept beside ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/read_back_driver.hpp"
#include "drivers/registry.hpp"
#include "drivers/wss/waveshaper_json.hpp"
#include "drivers/wss/waveshaper_profile.hpp"
#include "drivers/wss/wss_routes.hpp"

namespace loom {

struct WaveShaperSettings : DeviceProfile {
  PortNumber inputs = 1;
  PortNumber outputs = 1;
  PortMap map = PortMap::by_output;
};

enum class WaveShaperState : std::uint8_t { rest, decide, identify, read, load, settle, prove };

class WaveShaperDriver final : public ReadBackDriver<WaveShaperSettings, WaveShaperState, waveshaper::Pass> {
 public:
  explicit WaveShaperDriver(WaveShaperSettings settings);

  /// out_of_range: port, spectrum or attenuation beyond the device; conflict: two routes for one piece of spectrum;
  /// invalid_argument: routes not ascending.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;

 private:
  std::vector<waveshaper::Pass> held_by(const Setpoint& setpoint) const override;
  void begin() override;
  WaveShaperState resolve(WaveShaperState state, Instant now) override;
  void conclude() override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;
  Instant ready_at() const override;
  void forget() override;

  Result<void> check_route(const WssRoute& route) const;
  WaveShaperState decide(Instant now);
  Answer absorb_info(std::string_view body);
  Answer absorb_profile(Instant now, std::string_view body);
  Answer absorb_verdict(Instant now, std::string_view body);
  void mark_moved(Instant now);
  /// A profile that is asked for from here on tells what has settled.
  Instant settled_from() const { return std::max(moved_until_, others_until_); }
  /// Why this device cannot be what the fabric says that it is; empty: it can.
  std::string misfit() const;
  std::optional<waveshaper::Pass> lost() const;
  std::vector<WssRoute> routes() const;
  void finish();

  std::optional<waveshaper::Info> info_;
  std::optional<waveshaper::Spectrum> spectrum_;    ///< read, or loaded since; nothing: not known
  std::optional<waveshaper::Spectrum> last_known_;  ///< before it was forgotten: did somebody change it meanwhile?
  std::vector<waveshaper::Pass> loading_;
  unsigned loads_ = 0;  ///< of this operation, bounded
  Instant clock_{};
  Instant moved_until_{};   ///< at worst, for what we moved
  Instant others_until_{};  ///< likewise, for what an earlier incarnation or somebody else may have moved
  bool has_begun_ = false;
  bool asked_who_ = false;      ///< in this operation
  bool asked_at_rest_ = false;  ///< the profile was asked for when everything had settled
  bool proven_ = false;         ///< and read back as it was known
};

WaveShaperSettings waveshaper_settings(const Fabric& fabric, const Device& device);

extern const DriverModel kWaveShaper;

}  // namespace loom
