// ScpiOcsDriver: an optical circuit switch whose commands succeed in silence. It reads the map before it writes, takes away and
// adds only the cross-connects that differ (the rest of the map is never named, so it cannot be disturbed), and is settled only
// when the map reads back as wanted after the switch had its time to settle. A switch that lost what it held gets no change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/driver.hpp"
#include "drivers/last_verified.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/operation_state.hpp"
#include "drivers/registry.hpp"
#include "drivers/retry_state.hpp"

namespace loom {

struct OcsProfile {
  DeviceId device;
  std::string name;
  std::uint16_t bus_address = 0;
  scpi::Size size;
  scpi::Dialect dialect;
  Duration settle_max{};
  Duration grace = std::chrono::milliseconds{200};           ///< beyond twice settle_max, then it is a failure [K]
  Duration reply_deadline = std::chrono::milliseconds{500};  ///< of one line [K]
  Duration exchange = std::chrono::milliseconds{2};          ///< of one healthy line over TCP, for lead() [K]
};

class ScpiOcsDriver final : public Driver {
 public:
  explicit ScpiOcsDriver(OcsProfile profile);

  /// out_of_range: no such port; conflict: two inputs for one output; invalid_argument: inputs not ascending.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;
  void stage(const Setpoint& setpoint) override;
  void fire() override;
  void poll() override;
  Step step(Instant now, const BusReply* reply) override;
  DriverActivity activity() const override;
  Observation observe() const override { return operation_.observation(); }

 private:
  enum class State : std::uint8_t {
    rest,
    decide,
    identify,
    measure,
    reading_map,
    clear_errors,
    disconnect,
    connect,
    receive_errors
  };
  struct Row;
  static const Row& row_of(State state);

  void begin();
  State decide();
  void enter(State state);
  std::string text_of(State state) const;
  void receive(Instant now, const BusReply& reply);
  void receive_failure(Instant now, const BusReply& reply, std::string_view text);
  bool absorb(Instant now, std::string_view text);
  bool absorb_identity(std::string_view text);
  bool absorb_size(std::string_view text);
  bool absorb_map(Instant now, std::string_view text);
  bool absorb_errors(std::string_view text);
  void mark_map_uncertain(Instant now);
  /// Does the map still differ, and is there patience left for it to come?
  bool may_still_settle(Instant now) const;
  std::optional<CrossConnect> lost() const;
  std::vector<CrossConnect> excess() const;
  std::vector<CrossConnect> lacking() const;
  void give_up(std::string sentence);
  std::string difference() const;

  OcsProfile profile_;
  std::vector<CrossConnect> staged_;
  std::vector<CrossConnect> target_;
  LastVerified<CrossConnect> last_verified_;
  bool has_staged_ = false;
  OperationState operation_;
  State state_ = State::rest;
  RetryState retry_;
  unsigned rounds_ = 0;      ///< of writing, of this fire, bounded
  bool identified_ = false;  ///< vendor and size agree with the profile, since the bus was last lost
  bool measured_ = false;
  bool map_known_ = false;
  std::vector<CrossConnect> map_;
  std::string complaint_;   ///< what the error queue held after the last write
  Instant moved_at_{};      ///< of the last write that was, or may have been, carried out
  Instant settled_from_{};  ///< moved_at_ + settle_max: a map read earlier proves nothing
};

/// The profile of an OCS of the fabric.
OcsProfile ocs_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kScpiOcs;

}  // namespace loom
