// SPDX-License-Identifier: Apache-2.0
// Tl1OcsDriver: a circuit switch that speaks TL1. Every command has a ctag of its own, so that a late reply and messages that
// nobody asked for are told apart; a session belongs to one connection, and is begun anew on the next. The models Polatis and
// Calient differ in their verbs and rows.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"
#include "drivers/ocs/ocs_driver.hpp"
#include "drivers/ocs/tl1_dialect.hpp"

namespace loom {

/// Who logs in; without a user nobody does.
struct Tl1Login {
  std::string user;
  std::string password;
};

/// The first line of a file that only its owner may read. Errors: not_found, unauthorised (others may read it),
/// invalid_argument (no word of TL1).
Result<std::string> read_password(const std::string& path);

class Tl1OcsDriver : public OcsDriver {
 protected:
  Tl1OcsDriver(OcsProfile profile, Tl1Login login) : OcsDriver(std::move(profile)), login_(std::move(login)) {}

  /// Verb, access id and parameters of the state's command, around the ctag: "RTRV-PATCH::" and "".
  struct Command {
    std::string verb;
    std::string access;
    std::string parameters{};  ///< with their colon: "PARAMETER=SIZE"
  };
  virtual Command command() const = 0;
  /// Keeps what rows of a reply that was completed say.
  virtual Answer absorb_rows(Instant now, const std::vector<std::string>& rows) = 0;
  bool knows(OcsState state) const override;
  void forget() override;
  tl1::Numbers numbers() const { return {profile_.first_input, profile_.first_output}; }
  /// A port of ours by the device's number.
  std::optional<OcsPort> port_of(std::uint32_t number) const;

 private:
  std::string text() const final;
  std::string ctag() const;
  decltype(Transaction::order) order() const final;
  std::string question() const final;
  Answer absorb(Instant now, const BusReply& reply) final;
  Answer absorb_denial(Instant now, const tl1::Reply& reply);
  Complaint misread(const BusReply& reply) const final;
  void mark_uncertain(Instant now, const BusReply& reply) final;

  Tl1Login login_;
  std::uint32_t exchanges_ = 0;  ///< counted for ctags
};

class PolatisTl1Driver final : public Tl1OcsDriver {
 public:
  PolatisTl1Driver(OcsProfile profile, Tl1Login login) : Tl1OcsDriver(std::move(profile), std::move(login)) {}

 private:
  Command command() const override;
  Answer absorb_rows(Instant now, const std::vector<std::string>& rows) override;
  bool knows(OcsState state) const override;
  std::string our_ports() const;
  Answer absorb_shutters(const std::vector<std::string>& rows);
  Answer absorb_powers(const std::vector<std::string>& rows);
};

class CalientTl1Driver final : public Tl1OcsDriver {
 public:
  CalientTl1Driver(OcsProfile profile, Tl1Login login) : Tl1OcsDriver(std::move(profile), std::move(login)) {}

 private:
  Command command() const override;
  Answer absorb_rows(Instant now, const std::vector<std::string>& rows) override;
  bool knows(OcsState state) const override;
  Answer absorb_map(Instant now, const std::vector<std::string>& rows);
};

extern const DriverModel kPolatisTl1;
extern const DriverModel kCalientTl1;

/// The profile of a circuit switch of any model.
OcsProfile ocs_profile_of(const Fabric& fabric, const Device& device);

}  // namespace loom
