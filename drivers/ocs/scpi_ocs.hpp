// ScpiOcsDriver: an optical circuit switch whose commands succeed in silence. It reads the map before it writes, takes away and
// adds only the cross-connects that differ (the rest of the map is never named, so it cannot be disturbed), and is settled only
// when the map reads back as wanted after the switch had its time to settle. A switch that lost what it held gets no change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/read_back_driver.hpp"
#include "drivers/registry.hpp"

namespace loom {

struct OcsProfile : DeviceProfile {
  OcsProfile() { exchange = std::chrono::milliseconds{2}; }  // of one healthy line over TCP [K]
  scpi::Size size;
  scpi::Dialect dialect;
};

enum class OcsState : std::uint8_t {
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

class ScpiOcsDriver final : public ReadBackDriver<OcsProfile, OcsState, CrossConnect> {
 public:
  explicit ScpiOcsDriver(OcsProfile profile);

  /// out_of_range: no such port; conflict: two inputs for one output; invalid_argument: inputs not ascending.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;

 private:
  std::vector<CrossConnect> held_by(const Setpoint& setpoint) const override;
  void begin() override;
  OcsState resolve(OcsState state, Instant now) override;
  void conclude() override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  std::string misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;
  void proceed(Instant now) override;
  Instant ready_at() const override;
  void forget() override;

  OcsState decide();
  std::string text() const;
  Answer absorb_identity(std::string_view text);
  Answer absorb_size(std::string_view text);
  bool absorb_map(Instant now, std::string_view text);
  bool absorb_errors(std::string_view text);
  void mark_map_uncertain(Instant now);
  /// Does the map still differ, and is there patience left for it to come?
  bool may_still_settle(Instant now) const;
  std::optional<CrossConnect> lost() const;
  std::vector<CrossConnect> excess() const;
  std::vector<CrossConnect> lacking() const;
  std::string difference() const;

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
