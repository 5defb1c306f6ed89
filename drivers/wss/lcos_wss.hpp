// SPDX-License-Identifier: Apache-2.0
// LcosWssDriver: a wavelength-selective switch of the published flexgrid dialect. It holds the next pattern ready in the device
// (URA) and only switches to it when it fires (RSW); it defines the channel grid anew only where that was to be expected, and
// before it fires where everything is blocked. The device does not say when a switch is over nor what its light does: settled
// is the OK to RSW, the commanded pattern read back while it moves, then the end of its worst settling time and a good status,
// and its proof is *assumed*.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/read_back_driver.hpp"
#include "drivers/registry.hpp"
#include "drivers/wss/flexgrid_dialect.hpp"
#include "drivers/wss/wss_channels.hpp"

namespace loom {

struct WssProfile : DeviceProfile {
  WssProfile() { exchange = std::chrono::milliseconds{30}; }  // mean of a grid of 48 channels at 115200
  PortNumber inputs = 1;
  PortNumber outputs = 1;
  flexgrid::Dialect dialect;
  std::vector<FrequencySlot> comb;   ///< defined with every grid, so that later circuits on it need no new one
  std::uint16_t ignored_status = 0;  ///< bits of OSS? that mean no trouble; the dialect's public sources name none
};

enum class WssState : std::uint8_t {
  rest,
  decide,
  reading_grid,
  reading_ports,
  identify,
  force_flexgrid,
  probe,   ///< is there a slice that only devices of 6.25 GHz have?
  define,  ///< the grid
  load,    ///< the next pattern, unseen
  show,    ///< switches to it
  settle,
  status,
  prove
};

/// Who the device is: a few questions, one an audit. What it does not know it refuses, and is not asked again.
class WssInterview {
 public:
  /// An audit begins.
  void begin() { has_asked_ = false; }
  bool goes_on() const;
  /// Precondition: goes_on().
  std::string_view question() const;
  void absorb(std::string_view data, DeviceIdentity& identity);
  /// The next one is asked next time.
  void pass() {
    ++next_;
    has_asked_ = true;
  }

 private:
  std::size_t next_ = 0;
  bool has_asked_ = false;
};

class LcosWssDriver final : public ReadBackDriver<WssProfile, WssState, WssChannel> {
 public:
  explicit LcosWssDriver(WssProfile profile);

  /// out_of_range: port, slot or attenuation beyond the device; conflict: two routes for one piece of spectrum;
  /// invalid_argument: routes not ascending.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;

 private:
  std::vector<WssChannel> held_by(const Setpoint& setpoint) const override;
  void begin() override;
  WssState resolve(WssState state, Instant now) override;
  void conclude() override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;
  Instant ready_at() const override;
  void forget() override;

  bool can_prepare() const override { return true; }
  void prepare() override;
  bool preparation_failed() const override { return operation_.preparation_failed(); }
  void withdraw() override;

  /// What the device was made to hold ready, and on which connection: its own reading cannot show it.
  struct Prepared {
    std::vector<flexgrid::PortSetting> pattern;
    std::uint32_t connection = 0;
  };

  Result<void> check_route(const WssRoute& route) const;
  WssState decide(Instant now);
  WssState decide_preparation(Instant now);
  const std::vector<WssChannel>& wanted() const;
  WssState load(std::vector<flexgrid::PortSetting> pattern);
  std::string text() const;
  void mark_moved(Instant now);
  Answer absorb_refusal(Instant now, std::string_view error);
  bool absorb_data(Instant now, std::string_view data, std::uint32_t connection);
  bool absorb_ports(Instant now, std::string_view data);
  Answer absorb_status(std::string_view data);
  std::optional<WssChannel> lost() const;
  void finish();

  unsigned definitions_ = 0;  ///< of this operation, bounded
  unsigned loads_ = 0;        ///< likewise
  Instant clock_{};
  Instant moving_until_{};  ///< at worst, for what we moved
  Instant others_until_{};  ///< likewise, for what an earlier incarnation or somebody else may have moved: a proof waits for it
  bool has_begun_ = false;
  WssChannels channels_;
  std::vector<flexgrid::PortSetting> to_load_;
  std::optional<Prepared> prepared_;
  bool withdraws_ = false;
  bool checksum_ = true;         ///< of what we say; whoever refuses the form is spoken to plainly
  bool has_status_ = true;       ///< it knows OSS?
  bool status_is_good_ = false;  ///< asked in this operation
  Instant status_since_{};       ///< it has been bad
  WssInterview interview_;
  bool has_moved_ = false;  ///< we moved it since its ports were read: what differs is ours
  bool fresh_ = false;      ///< ports were read since it moved, or since this operation began
  bool looked_ = false;     ///< ports were read since this operation began; else they are remembered from an earlier one
};

/// The profile of a WSS of the fabric.
WssProfile wss_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kLcosWss;

}  // namespace loom
