// SPDX-License-Identifier: Apache-2.0
// Words in, numbers out.
#include "drivers/gain/scpi_gain.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/monitor/scpi_readings.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/scpi_identity.hpp"

namespace loom {
namespace {

constexpr std::size_t kShown = 60;  ///< characters of a line in a sentence

const scpi::Dialect& framing() {
  static const scpi::Dialect kFraming;
  return kFraming;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  if (const std::size_t at = text.find(what); at != std::string::npos) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// "3.25"
std::string decibels(Db magnitude) {
  const std::int32_t centi = magnitude.centi;
  return format_text("{}{}.{}{}", centi < 0 ? "-" : "", std::abs(centi) / 100, std::abs(centi) % 100 / 10,
                     std::abs(centi) % 10);
}

std::optional<bool> read_flag(std::string_view text) {
  if (text == "1" || text == "+1" || scpi::same_word(text, "ON")) {
    return true;
  }
  return text == "0" || text == "+0" || scpi::same_word(text, "OFF") ? std::optional(false) : std::nullopt;
}

}  // namespace

ScpiGainDriver::ScpiGainDriver(ScpiGainProfile profile) : GainDriver(profile), dialect_(std::move(profile.dialect)) {
  const auto ask = [this](const std::string& words, Question question) {
    if (!words.empty()) {
      questions_.push_back(question);
    }
  };
  // What a power cycle takes away comes last: a reading that it came between does not look whole.
  ask(dialect_.input_query, Question::input);
  ask(dialect_.output_query, Question::output);
  ask(dialect_.gain_query, Question::gain);
  ask(dialect_.on_query, Question::is_on);
}

std::string ScpiGainDriver::text() const {
  const std::string done = ";" + dialect_.confirm_query;
  switch (state_) {
    case GainState::identify:
      return "*IDN?";
    case GainState::receive_errors:
      return ":SYST:ERR?";
    case GainState::set_gain:
      return replaced(dialect_.set_gain, "{db}", decibels(wanted_magnitude())) + done;
    case GainState::turn:
      return replaced(dialect_.turn, "{on}", wants_on() ? "1" : "0") + done;
    case GainState::read:
      switch (questions_[asked()]) {
        case Question::gain:
          return dialect_.gain_query;
        case Question::is_on:
          return dialect_.on_query;
        case Question::input:
          return dialect_.input_query;
        case Question::output:
          return dialect_.output_query;
      }
      break;
    case GainState::rest:
    case GainState::decide:
      break;
  }
  return {};
}

decltype(Transaction::order) ScpiGainDriver::order() const {
  return line_order(text() + framing().terminator, framing().terminator);
}

std::string ScpiGainDriver::question() const { return clipped(text(), kShown); }

Complaint ScpiGainDriver::misread(const BusReply& reply) const {
  const std::string_view text = scpi::unframe(framing(), characters_of(reply)).value_or(std::string_view{});
  return {Trouble::garbage, text.empty() ? std::string{} : clipped(text, kShown) + " for an answer"};
}

void ScpiGainDriver::mark_uncertain(Instant now, const BusReply& reply) {
  is_identified_ = is_identified_ && reply.status != BusStatus::lost;  // what answers after that may be another device
  reading_ = {};
  GainDriver::mark_uncertain(now, reply);
}

Answer ScpiGainDriver::absorb(Instant now, const BusReply& reply) {
  const auto text = scpi::unframe(framing(), characters_of(reply));
  if (!text) {
    return Answer::none;
  }
  switch (state_) {
    case GainState::identify: {
      const auto identity = scpi::read_identity(*text);
      if (!identity) {
        return Answer::none;
      }
      operation_.observation().identity = {identity->serial,
                                           format_text("{} {} {}", identity->vendor, identity->model, identity->release)};
      is_identified_ = true;
      return Answer::understood;
    }
    case GainState::receive_errors: {
      const auto errors = scpi::read_errors(*text);
      if (errors) {
        take_complaint(errors->empty() ? std::string{}
                                       : format_text("{} {}", errors->back().number, clipped(errors->back().text, kShown)));
      }
      return errors ? Answer::understood : Answer::none;
    }
    case GainState::read:
      return absorb_reading(now, *text);
    default:  // the answer to what confirms a command
      break;
  }
  if (!scpi::read_number(*text)) {
    return Answer::none;
  }
  take_write();
  return Answer::understood;
}

Answer ScpiGainDriver::absorb_reading(Instant now, std::string_view text) {
  if (asked() == 0) {
    reading_ = {};
  }
  const Question asks = questions_[asked()];
  if (asks == Question::is_on) {
    const auto flag = read_flag(text);
    if (!flag) {
      return Answer::none;
    }
    reading_.is_on = *flag;
  } else {
    const auto number = scpi::read_number(text);
    constexpr double kMostDb = 1e4;
    if (!number || (asks == Question::gain && std::abs(*number) > kMostDb)) {
      return Answer::none;
    }
    if (asks == Question::gain) {
      reading_.magnitude = Db{static_cast<std::int32_t>(std::lround(*number * 100))};
    } else {
      const scpi::PowerReading power = scpi::power_of(*number, scpi::PowerUnit::dbm);
      (asks == Question::input ? reading_.input : reading_.output) =
          power.kind == scpi::PowerReading::Kind::measured ? std::optional(power.power)
          : power.kind == scpi::PowerReading::Kind::dark   ? std::optional(kNoLight)
                                                           : std::nullopt;
    }
  }
  take_answer(now, reading_);
  return Answer::understood;
}

namespace {

/// Of a model: its words, and what people are told of them.
struct GainWordsKeys {
  std::string_view set_gain, set_meaning, gain_query, gain_meaning, turn, on_query, input_query, output_query, output_meaning;
};

constexpr DurationKey kReplyMax{std::chrono::seconds{1}, std::chrono::milliseconds{10}, std::chrono::seconds{60}};

constexpr std::array<ProfileKey, 9> keys_of(const GainWordsKeys& words) {
  return {ProfileKey{"reply_max", kReplyMax, "one answer of the device; of *OPC? the time to set it included"},
          ProfileKey{"set_gain", TextKey{words.set_gain}, words.set_meaning},
          ProfileKey{"gain_query", TextKey{words.gain_query}, words.gain_meaning},
          ProfileKey{"turn", TextKey{words.turn}, "turns it on and off, with {on} for 1 or 0; empty: it always passes light"},
          ProfileKey{"on_query", TextKey{words.on_query}, "is it on? 1 or 0, ON or OFF; empty: it always passes light"},
          ProfileKey{"input_query", TextKey{words.input_query}, "power that comes to it, dBm; empty: it does not tell"},
          ProfileKey{"output_query", TextKey{words.output_query}, words.output_meaning},
          ProfileKey{"confirm_query", TextKey{"*OPC?"}, "asked behind a command, and answered with a number once that is done"},
          ProfileKey{"identifies", FlagKey{true}, "it answers *IDN? and :SYST:ERR?"}};
}

// Keysight 81570A/N7761A programming guides: the attenuation is beside the insertion loss where :INP:OFFS is 0.
constexpr std::array kVoaKeys =
    keys_of({.set_gain = ":INP{slot}:ATT {db}",
             .set_meaning = "sets its attenuation, with {db}",
             .gain_query = ":INP{slot}:ATT?",
             .gain_meaning = "its attenuation, dB",
             .turn = ":OUTP{slot} {on}",
             .on_query = ":OUTP{slot}?",
             .input_query = "",
             .output_query = "",
             .output_meaning = "power that leaves it, dBm (N776x: :READ{slot}:POW?); empty: it does not tell"});

// Ours, because nothing public has SCPI words for amplifiers.
constexpr std::array kEdfaKeys = keys_of({.set_gain = ":AMPL{slot}:GAIN {db}",
                                          .set_meaning = "sets its gain, with {db}; no maker's word",
                                          .gain_query = ":AMPL{slot}:GAIN?",
                                          .gain_meaning = "its gain, dB",
                                          .turn = ":AMPL{slot}:STAT {on}",
                                          .on_query = ":AMPL{slot}:STAT?",
                                          .input_query = ":AMPL{slot}:INP:POW?",
                                          .output_query = ":AMPL{slot}:OUTP:POW?",
                                          .output_meaning = "power that leaves it, dBm; empty: it does not tell"});

std::string refuse_words(const Device& device, std::span<const ProfileKey> keys) {
  const DeviceProfileView view(keys, device.profile);
  if (view.text("set_gain").find("{db}") == std::string::npos || view.text("gain_query").empty() ||
      view.text("confirm_query").empty()) {
    return "its words do not set a gain: expected set_gain with {db}, a gain_query and a confirm_query";
  }
  if (view.text("turn").empty() != view.text("on_query").empty() ||
      (!view.text("turn").empty() && view.text("turn").find("{on}") == std::string::npos)) {
    return "its words turn it on without telling, or tell without turning: expected turn with {on} and on_query, or neither";
  }
  return {};
}

template <bool kIsAmplifier>
std::string refuse_device(const Fabric& fabric, const Device& device) {
  std::string refusal = refuse_gain(fabric, device, kIsAmplifier);
  return refusal.empty() ? refuse_words(device, kIsAmplifier ? std::span<const ProfileKey>(kEdfaKeys) : kVoaKeys) : refusal;
}

}  // namespace

ScpiGainProfile scpi_gain_profile(const Fabric& fabric, const Device& device) {
  ScpiGainProfile profile;
  static_cast<GainProfile&>(profile) = gain_profile(fabric, device);
  const DeviceProfileView keys(profile.is_amplifier ? std::span<const ProfileKey>(kEdfaKeys) : kVoaKeys, device.profile);
  const std::string slot = std::to_string(device.bus_address);
  const auto words = [&](std::string_view key) { return replaced(std::string(keys.text(key)), "{slot}", slot); };
  profile.dialect = {words("set_gain"),    words("gain_query"),   words("turn"),          words("on_query"),
                     words("input_query"), words("output_query"), words("confirm_query"), keys.flag("identifies")};
  profile.may_turn_off = !profile.dialect.turn.empty();
  profile.reply_deadline = keys.duration("reply_max");
  return profile;
}

namespace {

std::unique_ptr<Driver> make(const Fabric& fabric, const Device& device) {
  return std::make_unique<ScpiGainDriver>(scpi_gain_profile(fabric, device));
}

}  // namespace

constinit const DriverModel kScpiVoa{
    {"scpi_voa", DeviceRole::gain_stage, "variable optical attenuator, SCPI over TCP or a serial line", kVoaKeys,
     refuse_device<false>, kStreamSchemes, true},
    make};

constinit const DriverModel kScpiEdfa{
    {"scpi_edfa", DeviceRole::gain_stage, "fibre amplifier in gain mode, lines over TCP or a serial line", kEdfaKeys,
     refuse_device<true>, kStreamSchemes, true},
    make};

}  // namespace loom
