// ItlaDriver: a tunable laser that speaks OIF-ITLA-MSA frames. It retunes in the dark: emission off, darkness proven, only the
// registers that differ written, lock proven by read-back, emission on, power proven. Before it writes anything but darkness it
// asks whether the module started again since (MRL), and after an exchange that failed it asks anew: of a newcomer nothing that
// was known holds. It never sleeps, never believes time alone, and gives up with a sentence, dark where it could not prove its
// frequency.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/fabric/fabric.hpp"
#include "drivers/driver.hpp"
#include "drivers/registry.hpp"
#include "drivers/retry_state.hpp"
#include "drivers/transceiver/itla_table.hpp"

namespace loom {

/// What the driver must know of the module and of its element.
struct ItlaProfile {
  DeviceId device;
  std::string name;
  std::uint16_t bus_address = 0;
  ChannelPlan channels;
  bool tunable = true;
  Dbm power_min{-500};
  Dbm power_max{300};
  Duration retune_max{};
  Duration blank_max{};
  Duration enable_max = std::chrono::milliseconds{10};  ///< SENA to full power, for lead(). CMIS 5.4 table 10-8, fast mode
  Tunes tunes = Tunes::dark;
  Duration enable_limit = std::chrono::milliseconds{400};    ///< then it is a failure. CMIS 5.4 table 10-8, ordinary mode
  Duration grace = std::chrono::milliseconds{100};           ///< beyond the worst cases above, then it is a failure [K]
  Duration reply_deadline = std::chrono::milliseconds{100};  ///< of one frame [K]
  Duration exchange = std::chrono::milliseconds{2};          ///< of one healthy frame, for lead(); 8 bytes at 9600 take 8.3 ms
  FrequencyOffset frequency_tolerance{500};                  ///< LF against target [K]
  Db power_tolerance{100};                                   ///< OOP against PWR [K]
};

class ItlaDriver final : public Driver {
 public:
  explicit ItlaDriver(ItlaProfile profile);

  /// out_of_range: frequency outside the module's band, power outside its limits; unsupported: another device's setpoint.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;
  void stage(const Setpoint& setpoint) override;
  void fire() override;
  void poll() override;
  Step step(Instant now, const BusReply* reply) override;
  DriverActivity activity() const override;
  Observation observe() const override;

 private:
  struct Target {
    TransmitterSetpoint setpoint;
    std::array<std::uint16_t, itla::kRegisters> wanted{};
  };
  enum class Purpose : std::uint8_t { none, audit, fire };

  Target target_of(const TransmitterSetpoint& setpoint) const;
  void begin(Instant now);
  itla::State decide() const;
  itla::State resolve(itla::State state, Instant now);
  void enter(itla::State state, Instant now);
  std::optional<itla::Request> command() const;
  std::optional<std::size_t> next_unknown() const;
  std::optional<std::size_t> next_differing() const;
  bool holds(const itla::Row& row, const itla::Response& response) const;
  void receive(Instant now, const BusReply& reply);
  void receive_failure(Instant now, const BusReply& reply);
  void receive_refusal(Instant now);
  void receive_error_name(Instant now, std::uint16_t nop);
  void receive_answer(Instant now, const itla::Response& response);
  void meet_newcomer(Instant now);
  void go_otherwise(Instant now, const itla::Row& row, const itla::Response& response);
  void absorb(Instant now, const itla::Response& response);
  void absorb_write(std::size_t index, std::uint16_t value);
  void finish_audit();
  void forget();
  void give_up(std::string sentence);
  std::string expectation(const itla::Row& row, const itla::Response& response) const;
  Duration limit_of(itla::State state) const;
  std::optional<Frequency> laser_frequency() const;
  std::uint16_t value(itla::Register reg) const;
  bool agrees_with_target() const;
  std::string astray() const;

  ItlaProfile profile_;
  Target staged_;
  Target target_;
  bool has_staged_ = false;
  bool fired_ = false;   ///< fire() was called and not yet begun
  bool polled_ = false;  ///< poll() was called and not yet begun
  Purpose purpose_ = Purpose::none;
  itla::State state_ = itla::State::rest;
  itla::State refused_in_ = itla::State::rest;  ///< where to go on when the error field has been read
  itla::Request asked_;
  RetryState retry_;
  Instant patience_since_{};
  unsigned rounds_ = 0;    ///< ways back in the table, bounded
  unsigned refusals_ = 0;  ///< CIP and CII answers, bounded
  unsigned meetings_ = 0;  ///< modules that started again and exchanges that failed, bounded
  bool met_ = false;       ///< since begin() and the last failure: the module is the one that we knew
  bool dark_proven_ = false;
  bool lock_proven_ = false;
  std::size_t audit_cursor_ = 0;
  std::array<std::optional<std::uint16_t>, itla::kRegisters> known_{};
  bool has_target_ = false;   ///< it was fired once
  std::string verdict_;       ///< why the fire has failed, while the laser is made dark for it; empty: it has not
  bool fire_failed_ = false;  ///< stays failed, audits or not, until the next fire()
  DriverActivity outcome_ = DriverActivity::idle;
  Observation observation_;
};

/// The profile of a laser of the fabric, from its transmitter.
ItlaProfile itla_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kItlaLaser;

}  // namespace loom
