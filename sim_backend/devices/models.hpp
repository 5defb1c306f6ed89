// The device models that make_simulated_device() chooses from; tests build them with it too. Each is the register side of one
// protocol.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/transceiver/itla_frame.hpp"
#include "drivers/wss/flexgrid_dialect.hpp"
#include "sim_backend/devices/simulated_device.hpp"
#include "sim_backend/devices/switch_motion.hpp"

namespace loom {

/// A tunable laser of OIF-ITLA-MSA. Powers up dark, on a 50 GHz grid at its lowest frequency. Darkness, tuning and emission
/// take their time after the answer; tuned while lit, its light really is at the wrong frequencies meanwhile.
class ItlaModel final : public SimulatedDevice {
 public:
  ItlaModel(const Device& device, const Transmitter& transmitter, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;
  bool only_darkens(const Actuation& write) const override {
    return write.address == static_cast<std::uint32_t>(itla::Register::enable) && write.value == 0;
  }

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;

 private:
  itla::Response answer(Instant now, Instant at, const itla::Request& request);
  itla::Response read(Instant at, itla::Register reg);
  itla::Response write(Instant now, Instant at, const itla::Request& request);
  itla::Response write_setting(Instant at, const itla::Request& request);
  itla::Response write_enable(Instant now, Instant at, std::uint16_t value);
  itla::Response write_channel(Instant now, Instant at, std::uint16_t value);
  itla::Response refused(itla::Register reg, itla::NopError error);
  std::uint16_t status_at(Instant at, bool fatal) const;
  std::uint16_t nop_at(Instant at) const;
  Frequency frequency_at(Instant at) const;
  Frequency frequency_of_registers(std::uint16_t channel) const;
  bool emits_at(Instant at) const { return live_.emit_from <= at && at < live_.emit_until; }
  bool is_tuning(Instant at) const { return live_.tune_begin <= at && at < live_.tune_end; }

  /// What a power cycle takes away.
  struct Volatile {
    std::uint16_t channel = 1;
    std::int16_t power = 0;
    std::uint16_t enable = 0;
    std::int16_t grid = 500;
    std::uint16_t grid2 = 0;
    std::uint16_t fcf1 = 0;
    std::uint16_t fcf2 = 0;
    std::uint16_t fcf3 = 0;
    itla::NopError error = itla::NopError::none;
    std::uint16_t latched = 0;
    itla::FrameBytes last_response{};
    Frequency tune_from;
    Frequency tune_to;
    Instant tune_begin{};
    Instant tune_end{};
    std::optional<Instant> ready_at;  ///< power-up is counted from the first transaction
    Instant emit_from = kNever;
    Instant emit_until = kNever;
  };
  Volatile at_power_up() const;

  Transmitter transmitter_;
  Frequency lowest_;
  Frequency highest_;
  Volatile live_;
};

/// A bank of ring heaters behind Modbus holding registers. Cold at start; each ring follows its heater with one time constant.
class HeaterModel final : public SimulatedDevice {
 public:
  HeaterModel(const Device& device, std::vector<RingFilter> rings, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;

 private:
  struct Ring {
    RingFilter filter;
    std::uint16_t millivolts = 0;
    Frequency from;
    Frequency to;
    Instant begin{};
    Duration time_constant{};
  };
  BusReply write(Instant now, Instant at, const Registers& registers);
  Frequency resonance_at(const Ring& ring, Instant at) const;
  bool warms(const Ring& ring, Instant at) const;
  Duration service_time(std::size_t request_bytes, std::size_t reply_bytes) const;

  std::vector<Ring> rings_;
};

/// A WSS of the flexgrid dialect. A new grid blocks everything; while a hologram reloads, moved channels pass nothing and the
/// others dip.
class WssModel final : public SimulatedDevice {
 public:
  WssModel(const Device& device, const Element& element, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;
  void misroute(OpticalState& state) const override;

 private:
  std::string answer(Instant now, Instant at, std::string_view text);
  std::string define_channels(Instant now, Instant at, std::string_view text);
  std::string set_ports(Instant now, Instant at, std::string_view text);
  bool is_lawful(const std::vector<flexgrid::Channel>& grid) const;
  void begin_move(Instant at);
  std::vector<WssRoute> routes() const;

  flexgrid::Dialect dialect_;
  PortNumber ports_limit_ = 1;
  PortNumber inputs_ = 1;
  PortNumber outputs_ = 1;
  Duration settle_max_{};
  Db reload_dip_{};
  std::vector<flexgrid::Channel> grid_;
  std::vector<flexgrid::PortSetting> ports_;
  SwitchMotion<WssRoute> motion_;  ///< untouched routes pass (and dip) meanwhile
};

/// An OCS of the SCPI dialect. Success is silent; a batch with one wrong pair does nothing but queue an error. Ports under way
/// pass nothing and are missing from the map that is read back. A port that is taken refuses a second cross-connect.
class OcsModel final : public SimulatedDevice {
 public:
  OcsModel(const Device& device, const Element& element, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;
  void misroute(OpticalState& state) const override;

 private:
  using Outputs = std::vector<std::int32_t>;  ///< by input; -1 = open
  std::string answer(Instant now, Instant at, std::string_view line);
  std::string query(Instant at, std::string_view command);
  bool act(Instant now, Instant at, std::string_view command);
  std::optional<Outputs> with_pairs(Outputs outputs, std::string_view verb, std::string_view lists);
  void turn_to(Instant now, Instant at, const Outputs& wanted);
  std::string port_of(std::string_view text) const;
  void queue_error(std::int32_t number, std::string_view text);
  std::string take_errors(std::size_t limit);
  std::vector<CrossConnect> connects() const;

  std::string serial_;
  scpi::Size size_;
  Duration settle_max_{};
  Outputs outputs_;
  SwitchMotion<CrossConnect> motion_;
  std::vector<scpi::QueuedError> errors_;
};

}  // namespace loom
