// LcosWssDriver: a wavelength-selective switch of the Finisar OEM flexgrid dialect. It rebuilds the channel grid only when a
// width or place is missing from it, otherwise it moves only the channels whose port or attenuation differ; it is settled only
// when the device says so and its ports read back as wanted, never on time alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/read_back_driver.hpp"
#include "drivers/registry.hpp"
#include "drivers/wss/flexgrid_dialect.hpp"

namespace loom {

struct WssProfile : DeviceProfile {
  WssProfile() { exchange = std::chrono::milliseconds{30}; }  // mean of a rebuild of 48 channels at 115200
  PortNumber inputs = 1;
  PortNumber outputs = 1;
  flexgrid::Dialect dialect;
  std::vector<FrequencySlot> comb;  ///< defined with the first grid, so that later circuits on it need no rebuild
};

/// A channel and where it leaves.
struct WssChannel {
  flexgrid::Channel channel;
  flexgrid::PortSetting setting;
  bool operator==(const WssChannel&) const = default;
};

enum class WssState : std::uint8_t { rest, decide, reading_grid, reading_ports, force_flexgrid, rebuild, route, wait, prove };

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
  std::string misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;
  void proceed(Instant now) override;
  void forget() override;

  Result<void> check_route(const WssRoute& route) const;
  Result<void> check_pair(const WssRoute& a, const WssRoute& b) const;
  WssState decide();
  std::string text() const;
  void mark_written();
  Answer absorb_refusal(std::string_view error);
  bool absorb_text(Instant now, std::string_view text);
  bool absorb_grid(std::string_view text);
  bool absorb_ports(std::string_view text);
  std::optional<std::size_t> place_of(const flexgrid::Channel& channel) const;
  bool grid_covers_target() const;
  std::vector<flexgrid::Channel> wanted_grid() const;
  std::vector<flexgrid::PortSetting> wanted_ports() const;
  std::optional<WssChannel> lost() const;
  std::vector<flexgrid::ChannelSetting> differing_ports() const;
  void observe_routes(Instant now);
  void finish();

  unsigned rebuilds_ = 0;  ///< of this fire, bounded
  unsigned routings_ = 0;  ///< of this fire, bounded
  Instant patience_since_{};
  std::vector<flexgrid::Channel> grid_;
  std::vector<flexgrid::PortSetting> ports_;  ///< by channel of grid_
  bool grid_known_ = false;
  bool ports_known_ = false;
  bool settled_ = false;  ///< said so since the last write
  bool fresh_ = false;    ///< ports were read back after it said so
  bool looked_ = false;   ///< ports were read since this procedure began; else they are remembered from an earlier one
};

/// The profile of a WSS of the fabric; its comb is the channel plan of the fabric's first transmitter.
WssProfile wss_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kLcosWss;

}  // namespace loom
