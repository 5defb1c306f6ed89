// SPDX-License-Identifier: Apache-2.0
// ScpiGainDriver: amplifiers and attenuators that are told and asked in lines of text. Attenuators speak alike (Keysight 8157x,
// N776x; EXFO); of amplifiers each maker has its own words, and IEC 61291-6-1 others again, so the words are keys of the
// device's profile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drivers/gain/gain_driver.hpp"
#include "drivers/registry.hpp"

namespace loom {

/// Lines without their end; of a power meter's number the unit is dBm. Empty: it has no such word.
struct GainDialect {
  std::string set_gain;       ///< with "{db}"
  std::string gain_query;     ///< answers dB
  std::string turn;           ///< with "{on}", 1 or 0
  std::string on_query;       ///< answers 1 or 0, ON or OFF
  std::string input_query;    ///< answers dBm
  std::string output_query;   ///< likewise
  std::string confirm_query;  ///< asked behind a command, answered with a number once that is done
  bool identifies = true;     ///< it answers *IDN? and :SYST:ERR?
};

struct ScpiGainProfile : GainProfile {
  GainDialect dialect;
};

class ScpiGainDriver final : public GainDriver {
 public:
  explicit ScpiGainDriver(ScpiGainProfile profile);

 private:
  enum class Question : std::uint8_t { gain, is_on, input, output };

  std::size_t questions() const override { return questions_.size(); }
  bool must_identify() const override { return dialect_.identifies && !is_identified_; }
  bool has_errors() const override { return dialect_.identifies; }
  std::string text() const;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Answer absorb_reading(Instant now, std::string_view text);
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;

  GainDialect dialect_;
  std::vector<Question> questions_;
  GainWords reading_;  ///< under way
  bool is_identified_ = false;
};

ScpiGainProfile scpi_gain_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kScpiVoa;
extern const DriverModel kScpiEdfa;

}  // namespace loom
