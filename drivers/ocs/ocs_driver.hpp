// SPDX-License-Identifier: Apache-2.0
// OcsDriver: an optical circuit switch of any dialect. It reads the map before it writes, takes away and adds only connections
// of its own that differ (no other one is ever named, so none can be disturbed), and is settled only when the map reads back
// as wanted after the switch had its time to settle. What somebody else connected is reported as occupied and never removed,
// unless the profile says that the ports are wholly ours. A switch that lost what it held gets no change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/ocs/connect_book.hpp"
#include "drivers/ocs/port_rectangle.hpp"
#include "drivers/read_back_driver.hpp"
#include "drivers/registry.hpp"

namespace loom {

struct OcsProfile : DeviceProfile {
  OcsProfile() { exchange = std::chrono::milliseconds{2}; }  // of one healthy line over TCP [K]
  PortRectangle ports;
  std::uint32_t first_input = 1;   ///< number that the device has for its own first input
  std::uint32_t first_output = 1;  ///< likewise
  ForeignConnects foreign = ForeignConnects::report;
  bool monitors_ports = false;  ///< it has power monitors at its ports, which audits read
  std::string hindrance;        ///< why nothing can be said to it; empty: nothing is in the way

  /// The device's own number of a port of ours.
  std::uint32_t number_of_input(std::uint16_t input) const { return first_input + ports.before_inputs + input; }
  std::uint32_t number_of_output(std::uint16_t output) const { return first_output + ports.before_outputs + output; }
};

enum class OcsState : std::uint8_t {
  rest,
  decide,
  log_in,
  identify,
  serial,  ///< where who it is and its serial number are two questions
  measure,
  reading_map,
  port_states,  ///< is a port that is needed disabled or broken?
  shutters,
  powers,
  clear_errors,
  open_shutters,
  disconnect,
  connect,
  receive_errors
};

/// One port of ours.
struct OcsPort {
  std::uint16_t port = 0;
  bool is_input = true;
  bool operator==(const OcsPort&) const = default;
};

class OcsDriver : public ReadBackDriver<OcsProfile, OcsState, CrossConnect> {
 public:
  /// out_of_range: no such port; conflict: two inputs for one output; invalid_argument: inputs not ascending.
  Result<void> check(const Setpoint& setpoint) const final;
  Duration lead(const Setpoint& setpoint) const final;
  void may_hold(std::span<const Setpoint> setpoints) final;

 protected:
  explicit OcsDriver(OcsProfile profile);

  // The dialect.

  /// Does it have this exchange? Those that it does not have are passed over.
  virtual bool knows(OcsState state) const = 0;
  /// What the state asks, in the dialect.
  virtual std::string text() const = 0;

  // What an answer says, by its dialect. `all`: of the whole switch, counted from 0.

  Answer take_identity(DeviceIdentity identity);
  Answer take_size(SwitchSize size);
  void take_map(Instant now, std::vector<CrossConnect> all);
  void take_powers(std::vector<PortPower> powers);
  /// A write was answered: what became of it is read back.
  void take_write(Instant now);
  /// Words for ports that are needed and unfit: "is disabled", "has failed".
  struct UnfitPort {
    OcsPort port;
    std::string what;
  };
  void take_port_states(std::vector<UnfitPort> unfit);
  void take_shutters(std::vector<OcsPort> closed);
  void take_complaint(std::string complaint) { complaint_ = std::move(complaint); }
  void take_login() { logged_in_ = true; }
  /// This dialect's device does not have it: never asked again while it is the same device.
  void lacks(OcsState state);

  /// Ports that the target needs, ascending (input before output).
  std::vector<OcsPort> needed_ports() const;
  std::uint32_t number_of(OcsPort port) const {
    return port.is_input ? profile_.number_of_input(port.port) : profile_.number_of_output(port.port);
  }
  const std::vector<OcsPort>& closed_shutters() const { return closed_; }
  /// What is to be taken away and added, counted on the whole switch.
  std::vector<CrossConnect> to_disconnect() const { return profile_.ports.on_switch(book_.excess(target_)); }
  std::vector<CrossConnect> to_connect() const { return profile_.ports.on_switch(book_.lacking(target_)); }
  /// What answers after this may be another device.
  void forget() override;
  void mark_uncertain(Instant now, const BusReply& reply) override;

 private:
  std::vector<CrossConnect> held_by(const Setpoint& setpoint) const final;
  void begin() final;
  OcsState resolve(OcsState state, Instant now) final;
  void conclude() final;
  void proceed(Instant now) final;
  Instant ready_at() const final;

  OcsState decide();
  OcsState decide_fire();
  OcsState decide_audit() const;
  bool wants(OcsState state, bool is_known) const;
  void mark_map_uncertain(Instant now);
  /// Does the map still differ, and is there patience left for it to come?
  bool may_still_settle(Instant now) const;
  std::optional<CrossConnect> lost() const;
  std::optional<std::string> unfit_port() const;
  std::optional<std::string> shut_port() const;
  std::string name_of(OcsPort port) const;

  unsigned rounds_ = 0;     ///< of writing, of this fire, bounded
  unsigned openings_ = 0;   ///< of shutters, likewise
  bool logged_in_ = false;  ///< these three since the bus was last lost
  bool identified_ = false;
  bool has_serial_ = false;
  bool measured_ = false;
  bool map_known_ = false;
  bool ports_known_ = false;
  bool shutters_known_ = false;
  bool powers_known_ = false;
  std::vector<OcsState> lacking_states_;  ///< exchanges that this device turned out not to have
  SeenConnects seen_;
  ConnectBook book_;               ///< of seen_; claims: what we set or may have set
  std::vector<PortPower> powers_;  ///< read in this operation
  std::vector<UnfitPort> unfit_;
  std::vector<OcsPort> closed_;
  std::string complaint_;   ///< what the switch said of the last write
  Instant moved_at_{};      ///< of the last write that was, or may have been, carried out
  Instant settled_from_{};  ///< moved_at_ + settle_max: a map read earlier proves nothing
};

/// What the keys of a profile say, which every model of circuit switch lists: `first_input`, `first_output`, `size`, `foreign`.
/// `numbers`: of the device's own first input and, given its inputs, its own first output.
struct OcsNumbers {
  std::uint32_t first_input = 1;
  std::uint32_t first_output = 0;  ///< 0: follows the inputs
};
OcsProfile ocs_profile(const Fabric& fabric, const Device& device, std::span<const ProfileKey> keys, OcsNumbers numbers);
/// Why a device cannot be so; empty: it can.
std::string refuse_ocs(const Fabric& fabric, const Device& device, std::span<const ProfileKey> keys, OcsNumbers numbers);

namespace ocs_keys {
inline constexpr std::string_view kForeign[] = {"report", "remove"};
inline constexpr ProfileKey kFirstInput{"first_input", IntegerKey{0, 0, 0xFFFFF},
                                        "the device's own number of the port that is input 0; 0: its first"};
inline constexpr ProfileKey kFirstOutput{"first_output", IntegerKey{0, 0, 0xFFFFF},
                                         "the device's own number of the port that is output 0; 0: its first"};
inline constexpr ProfileKey kSize{"size", TextKey{""},
                                  "inputs x outputs that the device must say, as 192x192; empty: those of its element"};
inline constexpr ProfileKey kForeignKey{"foreign", WordKey{kForeign, 0},
                                        "connections between ports of ours that others made: report or remove"};
}  // namespace ocs_keys

}  // namespace loom
