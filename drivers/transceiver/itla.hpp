// SPDX-License-Identifier: Apache-2.0
// ItlaDriver: a tunable laser that speaks OIF-ITLA-MSA frames. It retunes in the dark: emission off, darkness proven, only the
// registers that differ written, lock proven by read-back, emission on, power proven. Before it writes anything but darkness it
// asks whether the module started again since (MRL), and after an exchange that failed it asks anew: of a newcomer nothing that
// was known holds. A module that it finds dark it tunes while it prepares; what goes wrong there is left to the fire, which
// begins anew. It never sleeps, never believes time alone, and gives up with a sentence, dark where it could not prove its
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
#include "drivers/transceiver/itla_facts.hpp"
#include "drivers/transceiver/itla_registers.hpp"
#include "drivers/transceiver/itla_table.hpp"
#include "drivers/transceiver/itla_trim.hpp"

namespace loom {

/// What the driver must know of the module and of its element. Times and tolerances are keys of its model (kItlaLaser).
struct ItlaProfile {
  DeviceId device;
  std::string name;
  std::string serial;  ///< that it must say; empty: any
  std::uint16_t bus_address = 0;
  ChannelPlan channels;
  bool tunable = true;
  Dbm power_min{-500};  ///< where the module does not tell its own limits
  Dbm power_max{300};
  Duration retune_max{};
  Duration blank_max{};
  Duration enable_max{};  ///< SENA to full power, for lead()
  Tunes tunes = Tunes::dark;
  Duration enable_limit{};                ///< SENA to full power, then it is a failure
  Duration start_max{};                   ///< it may say that it initialises
  Duration grace{};                       ///< beyond twice the worst cases above, then it is a failure
  Duration reply_deadline{};              ///< of one frame
  Duration exchange{};                    ///< of one healthy frame, for lead()
  FrequencyOffset frequency_tolerance{};  ///< LF against target
  Db power_tolerance{};                   ///< OOP against PWR
  bool trims = false;                     ///< audits bring LF back by FTF, with the output on
  itla::TrimRule trim{};
};

class ItlaDriver final : public Driver {
 public:
  explicit ItlaDriver(ItlaProfile profile);

  /// out_of_range: frequency outside the plan or the module's band, power outside its limits; device_error: it shall emit, and
  /// is not the module that was expected; unsupported: another device's setpoint.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;
  void stage(const Setpoint& setpoint) override;
  bool can_prepare() const override { return true; }
  /// Its light stays off: a module that emits, that was told to, or whose last fire failed is left alone. Dark is dark,
  /// wherever it is tuned: there is nothing to withdraw.
  void prepare() override;
  void fire() override;
  void poll() override;
  Step step(Instant now, const BusReply* reply) override;
  DriverActivity activity() const override;
  std::optional<bool> is_dark() const override {
    return purpose_ == Purpose::fire && !fired_ && dark_proven_ && !target_.setpoint.emit && verdict_.empty();
  }
  Observation observe() const override;

 private:
  struct Target {
    TransmitterSetpoint setpoint;
    itla::RegisterCopy::Words wanted{};
  };
  static constexpr unsigned kTrims = 32;  ///< writes of FTF, an audit
  enum class Purpose : std::uint8_t { none, audit, preparation, fire };

  Target target_of(const TransmitterSetpoint& setpoint) const;
  void begin(Instant now);
  itla::State decide();
  bool wants_fact() const;
  itla::State resolve(itla::State state, Instant now);
  void enter(itla::State state, Instant now);
  std::optional<itla::Request> command() const;
  bool holds(const itla::Row& row, const itla::Response& response) const;
  void receive(Instant now, const BusReply& reply);
  void receive_failure(Instant now, const BusReply& reply);
  void receive_refusal(Instant now);
  void receive_error_name(Instant now, std::uint16_t nop);
  void receive_answer(Instant now, const itla::Response& response);
  void meet_newcomer(Instant now);
  void go_otherwise(Instant now, const itla::Row& row, const itla::Response& response);
  void absorb(Instant now, const itla::Response& response);
  void absorb_write(const itla::Response& response);
  void absorb_fact(const itla::Response& response);
  void finish_audit();
  void forget();
  void struggle(Trouble trouble, std::string_view words);
  void give_up(Trouble trouble, std::string_view words);
  std::string expectation(const itla::Row& row, const itla::Response& response, const std::string& waited) const;
  std::optional<std::int16_t> next_trim() const;

  ItlaProfile profile_;
  Target staged_;
  Target target_;
  bool has_staged_ = false;
  bool fired_ = false;     ///< fire() was called and not yet begun
  bool prepares_ = false;  ///< prepare() was called and not yet begun
  bool polled_ = false;    ///< poll() was called and not yet begun
  Purpose purpose_ = Purpose::none;
  itla::State state_ = itla::State::rest;
  itla::State refused_in_ = itla::State::rest;  ///< where to go on when the error field has been read
  itla::Request asked_;
  itla::Request refused_;  ///< whose error is being named
  RetryState retry_;
  Instant patience_since_{};
  unsigned rounds_ = 0;    ///< ways back in the table, bounded
  unsigned refusals_ = 0;  ///< CIP and CII answers, bounded
  unsigned meetings_ = 0;  ///< modules that started again and exchanges that failed, bounded
  unsigned trims_ = 0;     ///< of this audit, bounded
  bool met_ = false;       ///< since begin() and the last failure: the module is the one that we knew
  bool dark_proven_ = false;
  bool lock_proven_ = false;
  std::size_t audit_cursor_ = 0;
  itla::RegisterCopy known_;
  itla::FactsReader facts_;
  unsigned fact_group_ = 0;       ///< which an audit reads
  bool facts_failed_ = false;     ///< in this audit: the rest is for the next
  bool restart_seen_ = false;     ///< its latch (MRL) was seen set, and not cleared since
  bool grid_refused_ = false;     ///< its grid register does not do the plan's step
  std::uint32_t connection_ = 0;  ///< of the bus, that answered last
  bool has_target_ = false;       ///< it was fired once
  Complaint verdict_;             ///< why the fire has failed, while the laser is made dark for it; empty: it has not
  bool fire_failed_ = false;      ///< stays failed, audits or not, until the next fire()
  DriverActivity outcome_ = DriverActivity::idle;
  Observation observation_;
};

/// The profile of a laser of the fabric, from its transmitter.
ItlaProfile itla_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kItlaLaser;

}  // namespace loom
