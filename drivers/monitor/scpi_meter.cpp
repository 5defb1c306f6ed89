// SPDX-License-Identifier: Apache-2.0
// The state table of ScpiMeterDriver, what answers add up to, and the two models that speak so.
#include "drivers/monitor/scpi_meter.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/scpi_identity.hpp"

namespace loom {
namespace {

constexpr std::size_t kShown = 60;           ///< characters of a line in a sentence
constexpr std::size_t kTracePoints = 4'001;  ///< what fits into one reply of a bus (stream.hpp: 65536 bytes) in 16 characters
constexpr unsigned kRounds = 3;

const scpi::Dialect& framing() {
  static const scpi::Dialect kFraming;
  return kFraming;
}

constexpr ProcedureRow<MeterState> kTable[] = {
    {MeterState::rest, Exchange::none, MeterState::rest, MeterState::rest},
    {MeterState::decide, Exchange::none, MeterState::decide, MeterState::decide},
    {MeterState::identify, Exchange::asks, MeterState::decide, MeterState::decide},  // *IDN?
    {MeterState::asking, Exchange::asks, MeterState::decide, MeterState::receive_errors},
    {MeterState::receive_errors, Exchange::asks, MeterState::decide, MeterState::decide},  // SYST:ERR?
};

std::optional<std::vector<double>> numbers_of(const MeterProfile& profile, std::string_view text) {
  switch (profile.answers) {
    case MeterAnswers::power:
      return scpi::read_numbers(text, 1);
    case MeterAnswers::array:
      return scpi::read_counted(text, limits::kLightReadings);
    case MeterAnswers::trace:
      break;
  }
  return scpi::read_numbers(text, kTracePoints);
}

/// Adds the power of one channel or peak.
void add(const scpi::PowerReading& power, LightReading light, const std::string& what, MeterReading& reading) {
  using Kind = scpi::PowerReading::Kind;
  light.power = power.kind == Kind::above_range ? kAboveRange : power.power;
  if (power.kind == Kind::not_a_number) {
    reading.failure = format_text("{} reads no number that is a power", what);
  } else if (power.kind != Kind::dark) {
    reading.lights.push_back(light);
  }
  if (power.kind == Kind::above_range) {
    reading.remarks += format_text("{}{} is above its range: saturated", reading.remarks.empty() ? "" : "; ", what);
  }
}

MeterReading read_array(const MeterProfile& profile, const std::vector<double>& frequencies,
                        const std::vector<double>& powers) {
  MeterReading reading;
  if (frequencies.size() != powers.size()) {
    reading.failure = format_text("tells {} frequencies and {} powers", frequencies.size(), powers.size());
    return reading;
  }
  for (std::size_t i = 0; i < powers.size() && reading.failure.empty(); ++i) {
    constexpr double kHertzMost = 3e15;
    if (!(frequencies[i] > 0) || frequencies[i] > kHertzMost) {
      reading.failure = format_text("tells as frequency {} of {} one that is none", i + 1, frequencies.size());
      return reading;
    }
    const Frequency frequency{static_cast<std::int64_t>(frequencies[i] / 1e6 + 0.5)};
    add(scpi::power_of(powers[i], profile.unit), {0, kNoLight, frequency}, "the peak at " + to_string(frequency), reading);
  }
  std::ranges::sort(reading.lights, {}, &LightReading::frequency);
  return reading;
}

MeterReading read_trace(const MeterProfile& profile, const std::vector<double>& wavelengths,
                        const std::vector<double>& powers) {
  MeterReading reading;
  const auto peaks = scpi::find_peaks(wavelengths, powers, profile.floor, profile.excursion);
  if (!peaks) {
    reading.failure = format_text("tells {} wavelengths and {} powers that are no trace", wavelengths.size(), powers.size());
    return reading;
  }
  for (std::size_t i = 0; i < std::min(peaks->size(), limits::kLightReadings); ++i) {
    reading.lights.push_back({0, (*peaks)[i].power, (*peaks)[i].frequency});
  }
  return reading;
}

}  // namespace

MeterReading read_meter(const MeterProfile& profile, const std::vector<std::vector<double>>& answers) {
  LOOM_ASSERT(answers.size() == profile.questions.size());
  if (profile.answers != MeterAnswers::power) {
    return profile.answers == MeterAnswers::array ? read_array(profile, answers[0], answers[1])
                                                  : read_trace(profile, answers[0], answers[1]);
  }
  MeterReading reading;
  for (std::size_t channel = 0; channel < answers.size() && reading.failure.empty(); ++channel) {
    add(scpi::power_of(answers[channel].front(), profile.unit), {static_cast<std::uint16_t>(channel), kNoLight, Frequency{}},
        format_text("channel {}", channel), reading);
  }
  return reading;
}

ScpiMeterDriver::ScpiMeterDriver(MeterProfile profile) : MonitorDriver(std::move(profile), kTable) {}

Duration ScpiMeterDriver::lead(const Setpoint&) const {
  return static_cast<std::int64_t>(profile_.questions.size() + 1) * profile_.exchange;
}

void ScpiMeterDriver::begin() {
  answers_.clear();
  rounds_ = 0;
  failures_ = 0;
  complaint_.clear();
}

MeterState ScpiMeterDriver::resolve(MeterState state, Instant) { return state == MeterState::decide ? decide() : state; }

MeterState ScpiMeterDriver::decide() {
  if (!is_identified_) {
    return MeterState::identify;
  }
  if (answers_.size() < profile_.questions.size()) {
    return failures_ < RetryState::kTries ? MeterState::asking : MeterState::rest;
  }
  const bool fits = read_meter(profile_, answers_).failure.empty();
  if (!fits && ++rounds_ < kRounds) {
    answers_.clear();  // something else was measured between two questions
    return MeterState::asking;
  }
  return MeterState::rest;
}

void ScpiMeterDriver::conclude() {
  if (answers_.size() < profile_.questions.size()) {
    return give_up(failure_trouble_, format_text("{} in {} tries{}", failure_, RetryState::kTries,
                                                 complaint_.empty() ? std::string{} : "; it says " + complaint_));
  }
  MeterReading reading = read_meter(profile_, answers_);
  if (!reading.failure.empty()) {
    return give_up(Trouble::garbage, reading.failure);
  }
  publish(answered_at_, std::move(reading.lights), reading.remarks);
  finish();
}

std::string ScpiMeterDriver::text() const {
  switch (state_) {
    case MeterState::identify:
      return "*IDN?";
    case MeterState::asking:
      return profile_.questions[answers_.size()];
    case MeterState::receive_errors:
      return ":SYST:ERR?";
    case MeterState::rest:
    case MeterState::decide:
      break;
  }
  return {};
}

decltype(Transaction::order) ScpiMeterDriver::order() const {
  return line_order(text() + framing().terminator, framing().terminator);
}

std::string ScpiMeterDriver::question() const { return clipped(text(), kShown); }

Complaint ScpiMeterDriver::misread(const BusReply& reply) const {
  const std::string_view text = scpi::unframe(framing(), characters_of(reply)).value_or(std::string_view{});
  return {Trouble::garbage, text.empty() ? std::string{} : clipped(text, kShown) + " for an answer"};
}

void ScpiMeterDriver::mark_uncertain(Instant, const BusReply& reply) {
  if (reply.status == BusStatus::lost) {
    is_identified_ = false;  // what answers after this may be another device
  }
  if (state_ == MeterState::asking) {
    ++failures_;
    const std::string said = reply.status == BusStatus::ok ? misread(reply).words : std::string{};
    failure_trouble_ = trouble_of(reply);
    failure_ = format_text("{}: {}", clipped(text(), kShown), said.empty() ? describe(reply, profile_.reply_deadline) : said);
  }
}

Answer ScpiMeterDriver::absorb(Instant now, const BusReply& reply) {
  const auto text = scpi::unframe(framing(), characters_of(reply));
  if (!text) {
    return Answer::none;
  }
  if (state_ == MeterState::identify) {
    return absorb_identity(*text);
  }
  if (state_ == MeterState::receive_errors) {
    const auto errors = scpi::read_errors(*text);
    if (errors && !errors->empty()) {
      complaint_ = format_text("{} {}", errors->front().number, clipped(errors->front().text, kShown));
    }
    return errors ? Answer::understood : Answer::none;
  }
  auto numbers = numbers_of(profile_, *text);
  if (!numbers) {
    return Answer::none;
  }
  failures_ = 0;
  answers_.push_back(*std::move(numbers));
  answered_at_ = answers_.size() == 1 ? now : answered_at_;  // as old as the oldest of it
  return Answer::understood;
}

Answer ScpiMeterDriver::absorb_identity(std::string_view text) {
  const auto identity = scpi::read_identity(text);
  if (!identity) {
    return Answer::none;
  }
  if (!profile_.serial.empty() && identity->serial != profile_.serial) {
    give_up(Trouble::misfit, format_text("says serial number {}, the fabric says {}: it is another device",
                                         clipped(identity->serial, kShown), clipped(profile_.serial, kShown)));
    return Answer::ended;
  }
  operation_.observation().identity = {identity->serial,
                                       format_text("{} {} {}", identity->vendor, identity->model, identity->release)};
  is_identified_ = true;
  return Answer::understood;
}

namespace {

constexpr std::array<std::string_view, 4> kQueries{"read", "fetch", "measure", "slot"};
constexpr std::array<std::string_view, 2> kUnits{"dbm", "w"};
constexpr std::array<std::string_view, 2> kSpectra{"array", "trace"};
constexpr DurationKey kReplyMax{std::chrono::seconds{1}, std::chrono::milliseconds{10}, std::chrono::seconds{60}};

constexpr std::array kMeterKeys{
    ProfileKey{"query", WordKey{kQueries, 0},
               "how a power is asked for: READ?, FETC?, MEAS:POW?, or :READ{slot}:POW? with the channel's place from 1"},
    ProfileKey{"unit", WordKey{kUnits, 0}, "of its answers"},
    ProfileKey{"reply_max", kReplyMax, "one answer of the device, averaging included"}};

constexpr std::array kOsaKeys{
    ProfileKey{"answers", WordKey{kSpectra, 0},
               "array: a wavemeter lists its peaks (:READ:ARR:POW:FREQ?, :FETC:ARR:POW?); trace: a spectrum analyser's trace "
               "is read (:TRAC:X? TRA, :TRAC:Y? TRA)"},
    ProfileKey{"unit", WordKey{kUnits, 0}, "of an array's powers; a trace is read in dBm"},
    ProfileKey{"reply_max", kReplyMax, "one answer of the device, its measurement included"},
    ProfileKey{"floor_dbm", RealKey{-60, -100, 30}, "trace: weaker tops are noise"},
    ProfileKey{"excursion_db", RealKey{3, 0.1, 60}, "trace: how far it falls at either side of a peak"}};

MeterProfile profile_of(const Device& device, const DeviceProfileView& keys) {
  MeterProfile profile;
  profile.take(device);
  profile.serial = device.serial;
  profile.reply_deadline = keys.duration("reply_max");
  profile.unit = kUnits[keys.word("unit")] == "w" ? scpi::PowerUnit::watt : scpi::PowerUnit::dbm;
  return profile;
}

std::string refuse_meter(const Fabric&, const Device& device) {
  const bool has_slots = kQueries[DeviceProfileView(kMeterKeys, device.profile).word("query")] == "slot";
  return has_slots || device.elements.size() <= 1
             ? std::string{}
             : format_text("{} receivers, and its query names no channel: expected one receiver, or query: slot",
                           device.elements.size());
}

std::string refuse_osa(const Fabric&, const Device& device) {
  return device.elements.size() <= 1 ? std::string{}
                                     : format_text("{} receivers; a spectrum analyser has one input", device.elements.size());
}

}  // namespace

MeterProfile meter_profile(const Device& device) {
  static constexpr std::array<std::string_view, 4> kQuestions{"READ?", "FETC?", "MEAS:POW?", ":READ{}:POW?"};
  const DeviceProfileView keys(kMeterKeys, device.profile);
  MeterProfile profile = profile_of(device, keys);
  for (std::size_t channel = 0; channel < device.elements.size(); ++channel) {
    const std::string_view question = kQuestions[keys.word("query")];
    const std::size_t place = question.find("{}");
    profile.questions.push_back(place == std::string_view::npos ? std::string(question)
                                                                : format_text("{}{}{}", question.substr(0, place), channel + 1,
                                                                              question.substr(place + 2)));
  }
  return profile;
}

MeterProfile osa_profile(const Device& device) {
  const DeviceProfileView keys(kOsaKeys, device.profile);
  MeterProfile profile = profile_of(device, keys);
  profile.answers = kSpectra[keys.word("answers")] == "trace" ? MeterAnswers::trace : MeterAnswers::array;
  profile.questions = profile.answers == MeterAnswers::trace
                          ? std::vector<std::string>{":TRAC:X? TRA", ":TRAC:Y? TRA"}
                          : std::vector<std::string>{":READ:ARR:POW:FREQ?", ":FETC:ARR:POW?"};
  profile.floor = Dbm{static_cast<std::int32_t>(keys.real("floor_dbm") * 100)};
  profile.excursion = Db{static_cast<std::int32_t>(keys.real("excursion_db") * 100)};
  return profile;
}

constinit const DriverModel kPowerMeter{
    {"power_meter", DeviceRole::monitor, "optical power meter, SCPI over TCP or a serial line", kMeterKeys, refuse_meter,
     kStreamSchemes},
    [](const Fabric&, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<ScpiMeterDriver>(meter_profile(device));
    }};

constinit const DriverModel kOsa{
    {"osa", DeviceRole::monitor, "wavemeter or optical spectrum analyser, SCPI over TCP or a serial line", kOsaKeys, refuse_osa,
     kStreamSchemes},
    [](const Fabric&, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<ScpiMeterDriver>(osa_profile(device));
    }};

}  // namespace loom
