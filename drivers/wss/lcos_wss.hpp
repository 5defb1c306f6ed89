// LcosWssDriver: a wavelength-selective switch of the Finisar OEM flexgrid dialect. It rebuilds the channel grid only when a
// width or place is missing from it, otherwise it moves only the channels whose port or attenuation differ; it is settled only
// when the device says so and its ports read back as wanted, never on time alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/driver.hpp"
#include "drivers/last_verified.hpp"
#include "drivers/operation_state.hpp"
#include "drivers/registry.hpp"
#include "drivers/retry_state.hpp"
#include "drivers/wss/flexgrid_dialect.hpp"

namespace loom {

struct WssProfile {
  DeviceId device;
  std::string name;
  std::uint16_t bus_address = 0;
  PortNumber inputs = 1;
  PortNumber outputs = 1;
  flexgrid::Dialect dialect;
  std::vector<FrequencySlot> comb;  ///< defined with the first grid, so that later circuits on it need no rebuild
  Duration settle_max{};
  Duration grace = std::chrono::milliseconds{200};           ///< beyond twice settle_max, then it is a failure [K]
  Duration reply_deadline = std::chrono::milliseconds{500};  ///< of one line [K]
  Duration exchange = std::chrono::milliseconds{30};         ///< mean of a rebuild of 48 channels at 115200, for lead()
};

class LcosWssDriver final : public Driver {
 public:
  explicit LcosWssDriver(WssProfile profile);

  /// out_of_range: port, slot or attenuation beyond the device; conflict: two routes for one piece of spectrum;
  /// invalid_argument: routes not ascending.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;
  void stage(const Setpoint& setpoint) override;
  void fire() override;
  void poll() override;
  Step step(Instant now, const BusReply* reply) override;
  DriverActivity activity() const override;
  Observation observe() const override { return operation_.observation(); }

 private:
  struct Wanted {
    flexgrid::Channel channel;
    flexgrid::PortSetting setting;
    bool operator==(const Wanted&) const = default;
  };
  enum class State : std::uint8_t { rest, decide, reading_grid, reading_ports, force_flexgrid, rebuild, route, wait, prove };
  enum class Command : std::uint8_t {
    none,
    grid_query,
    ports_query,
    settled_query,
    force_flexgrid,
    define_channels,
    set_ports
  };
  struct Row;
  static const Row& row_of(State state);

  Result<void> check_route(const WssRoute& route) const;
  Result<void> check_pair(const WssRoute& a, const WssRoute& b) const;
  void begin();
  State decide();
  void enter(State state, Instant now);
  std::string text_of(Command command) const;
  void receive(Instant now, const BusReply& reply);
  void receive_failure(Instant now, const BusReply& reply, std::string_view text);
  bool absorb(Instant now, Command command, std::string_view text);
  bool absorb_ports(std::string_view text);
  void mark_write_uncertain();
  void wait_on(Instant now);
  std::optional<std::size_t> place_of(const flexgrid::Channel& channel) const;
  bool grid_covers_target() const;
  std::vector<flexgrid::Channel> wanted_grid() const;
  std::vector<flexgrid::PortSetting> wanted_ports() const;
  std::optional<Wanted> lost() const;
  std::vector<flexgrid::ChannelSetting> differing_ports() const;
  void observe_routes(Instant now);
  WavelengthSwitchObservation& reading();
  void finish();
  void give_up(std::string sentence);

  WssProfile profile_;
  std::vector<Wanted> staged_;
  std::vector<Wanted> target_;
  LastVerified<Wanted> last_verified_;
  bool has_staged_ = false;
  OperationState operation_;
  State state_ = State::rest;
  Command asked_ = Command::none;
  RetryState retry_;
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
