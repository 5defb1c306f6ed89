// SPDX-License-Identifier: Apache-2.0
// The state table of LineHeatersDriver and the machine that walks it.
#include "drivers/heater/line_heaters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/ring/ring.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr unsigned kRounds = 3;          ///< of writing that measurement did not confirm, a fire
constexpr unsigned kIntroductions = 16;  ///< an operation, one after each exchange that failed
constexpr std::size_t kShown = 40;       ///< characters of a line in a sentence

constexpr ProcedureRow<LineHeaterState> kTable[] = {
    // state                        exchange         then                 uncertain
    {LineHeaterState::rest, Exchange::none, LineHeaterState::rest, LineHeaterState::rest},
    {LineHeaterState::decide, Exchange::none, LineHeaterState::decide, LineHeaterState::decide},
    {LineHeaterState::introduce, Exchange::asks, LineHeaterState::decide, LineHeaterState::introduce},
    {LineHeaterState::count, Exchange::asks, LineHeaterState::decide, LineHeaterState::decide},
    {LineHeaterState::limit, Exchange::asks, LineHeaterState::decide, LineHeaterState::decide},
    {LineHeaterState::reading_current, Exchange::asks, LineHeaterState::decide, LineHeaterState::decide},
    {LineHeaterState::reading_volts, Exchange::asks, LineHeaterState::decide, LineHeaterState::decide},
    {LineHeaterState::write, Exchange::moves, LineHeaterState::decide, LineHeaterState::decide},
    {LineHeaterState::soak, Exchange::none, LineHeaterState::decide, LineHeaterState::decide},
};

bool is_refused(const LineAnswer& answer) {
  return std::ranges::find(answer.complaints, LineComplaint::Kind::refused, &LineComplaint::kind) != answer.complaints.end();
}

}  // namespace

LineHeatersDriver::LineHeatersDriver(LineHeaterProfile profile)
    : ReadBackDriver(std::move(profile), kTable), heaters_(profile_.rings, profile_.accuracy_millivolts) {
  target_.reserve(profile_.rings.size());  // fire() copies without allocating
  operation_.observation().proof = Proof::device;
}

Result<void> LineHeatersDriver::check(const Setpoint& setpoint) const {
  return check_heaters(profile_.name, profile_.rings, profile_.source, setpoint);
}

/// Volts of all, a write of all, and volts and currents of all.
Duration LineHeatersDriver::lead(const Setpoint&) const {
  const auto rings = static_cast<std::int64_t>(profile_.rings.size());
  return (profile_.dialect->reads_both ? 3 : 4) * rings * profile_.exchange + profile_.settle_max;
}

std::vector<HeaterVoltage> LineHeatersDriver::held_by(const Setpoint& setpoint) const {
  std::vector<HeaterVoltage> voltages;
  for (const double volts : volts_by_channel(profile_.rings, setpoint)) {
    voltages.push_back({voltages.size(), static_cast<std::int32_t>(std::lround(volts * 1e3))});
  }
  return voltages;
}

void LineHeatersDriver::begin() {
  rounds_ = 0;
  introductions_ = 0;
  complaint_.clear();
  others_complaint_.clear();
  proves_ = operation_.is_audit();
  heaters_.begin_pass();
}

Instant LineHeatersDriver::ready_at() const {
  return state_ == LineHeaterState::soak ? std::max(soaked_at_, retry_.resume_at()) : retry_.resume_at();
}

LineHeaterState LineHeatersDriver::resolve(LineHeaterState state, Instant now) {
  return state == LineHeaterState::decide ? decide(now) : state;
}

LineHeaterState LineHeatersDriver::decide(Instant now) {
  if (const auto introduction = next_introduction()) {
    return *introduction;
  }
  if (heaters_.has_written()) {
    return next_change(now);
  }
  const LineHeaterState reading = read_next();
  return reading != LineHeaterState::rest || operation_.is_audit() || lost() ? reading : next_change(now);
}

std::optional<LineHeaterState> LineHeatersDriver::next_introduction() const {
  if (!profile_.dialect->introduces_itself || (introduced_ && counted_)) {
    return std::nullopt;
  }
  return introduced_ ? LineHeaterState::count : LineHeaterState::introduce;
}

/// Rest: everything is read.
LineHeaterState LineHeatersDriver::read_next() {
  const auto reading = heaters_.next_reading(target_, proves_ && !profile_.dialect->reads_both);
  if (!reading) {
    return LineHeaterState::rest;
  }
  channel_ = reading->channel;
  return reading->is_current ? LineHeaterState::reading_current : LineHeaterState::reading_volts;
}

/// Every channel has been read, or some have been written since.
LineHeaterState LineHeatersDriver::next_change(Instant now) {
  if (const auto next = heaters_.next_write(target_)) {
    channel_ = *next;
    if (profile_.dialect->bounds_channels && !heaters_.is_limited(channel_)) {
      return LineHeaterState::limit;
    }
    rounds_ += heaters_.has_written() ? 0 : 1;
    return rounds_ <= kRounds ? LineHeaterState::write : LineHeaterState::rest;
  }
  if (heaters_.has_written()) {
    if (now < soaked_at_) {
      return LineHeaterState::soak;
    }
    proves_ = true;
    heaters_.begin_pass();
  } else if (!std::exchange(proves_, true)) {
    heaters_.begin_pass_of_hot(target_);
  }
  return read_next();
}

std::optional<HeaterVoltage> LineHeatersDriver::lost() const {
  return rounds_ > 0
             ? std::nullopt
             : find_lost([this](const HeaterVoltage& held) { return heaters_.stands_at(held.channel, held.millivolts); });
}

void LineHeatersDriver::conclude() {
  const auto gone = operation_.is_audit() ? std::nullopt : lost();
  if (!complaint_.empty()) {
    give_up(Trouble::broken, complaint_);
  } else if (gone) {
    give_up(Trouble::unheeded,
            format_text(
                "channel {} reads {} mV, held {} mV before (did its power go?); nothing was written: light may pass it still",
                gone->channel, heaters_.millivolts(gone->channel), gone->millivolts));
  } else if (const std::string open = heaters_.open_heater(); !open.empty()) {
    give_up(Trouble::open, open);
  } else if (const auto wrong = heaters_.next_write(target_); wrong && !operation_.is_audit()) {
    give_up(Trouble::unheeded, format_text("channel {} reads {} mV after {} mV was set {} times", *wrong,
                                           heaters_.millivolts(*wrong), target_[*wrong].millivolts, kRounds));
  } else {
    last_verified_.see(heaters_.held(target_));
    operation_.finish(heaters_.agrees(target_));
    if (!others_complaint_.empty()) {
      operation_.struggle({Trouble::broken, format_text("{}: {}", profile_.name, others_complaint_)});
    }
  }
}

LineQuestion LineHeatersDriver::asked() const {
  LineQuestion question{state_, profile_.dialect->first_channel + profile_.first_ring + channel_, 0};
  if (state_ == LineHeaterState::write) {
    question.millivolts = target_[channel_].millivolts;
  } else if (state_ == LineHeaterState::limit) {
    question.millivolts = static_cast<std::int32_t>(
        std::lround(std::min(profile_.rings[channel_].heater_volt_max, profile_.source.volt_max) * 1e3));
  }
  return question;
}

decltype(Transaction::order) LineHeatersDriver::order() const {
  const LineHeaterDialect& dialect = *profile_.dialect;
  const std::string line = dialect.say(asked()) + std::string(dialect.terminator);
  return line_order(line,
                    state_ == LineHeaterState::write && !dialect.answers_writes ? std::string_view{} : dialect.terminator);
}

std::string LineHeatersDriver::question() const { return quoted(profile_.dialect->say(asked()), kShown); }

Complaint LineHeatersDriver::misread(const BusReply& reply) const {
  std::string_view text = characters_of(reply);
  text = text.substr(0, text.find_last_not_of("\r\n") + 1);
  const LineAnswer answer = profile_.dialect->read(asked(), text);
  if (!answer.complaints.empty()) {
    return {Trouble::garbage, format_text("answered with {} ({})", answer.complaints.back().meaning, text.substr(0, kShown))};
  }
  std::string shown(text.substr(0, kShown));
  std::ranges::replace_if(shown, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return {Trouble::garbage, quoted(shown, kShown) + " for an answer"};
}

/// Of outputs: told when the operation is over. A complaint is never the answer to a question.
void LineHeatersDriver::note(const std::vector<LineComplaint>& complaints) {
  for (const LineComplaint& each : complaints) {
    const std::size_t first = profile_.dialect->first_channel + profile_.first_ring;
    const bool is_ours = each.channel >= first && each.channel < first + heaters_.size();
    if (each.kind == LineComplaint::Kind::broken && is_ours) {
      complaint_ = format_text("{} on channel {} (error {})", each.meaning, each.channel - first, each.code);
    } else if (each.kind == LineComplaint::Kind::broken) {
      others_complaint_ = format_text("{} on the device's channel {}, which is none of its own (error {})", each.meaning,
                                      each.channel, each.code);
    } else if (each.kind == LineComplaint::Kind::restarted) {
      forget();
      heaters_.begin_pass();
    }
  }
}

Answer LineHeatersDriver::absorb(Instant now, const BusReply& reply) {
  if (std::exchange(connection_, reply.connection) != reply.connection && state_ != LineHeaterState::introduce) {
    forget();  // a new connection, and perhaps another device at its end
  }
  if (state_ == LineHeaterState::write && !profile_.dialect->answers_writes) {
    mark_written(now, std::nullopt);  // nobody said that it was taken
    return Answer::understood;
  }
  const LineAnswer answer = profile_.dialect->read(asked(), characters_of(reply));
  note(answer.complaints);
  if (is_refused(answer) && state_ != LineHeaterState::count && state_ != LineHeaterState::limit) {
    const auto refusal = std::ranges::find(answer.complaints, LineComplaint::Kind::refused, &LineComplaint::kind);
    give_up(Trouble::refusing, format_text("{}: refused with {} (error {})", question(), refusal->meaning, refusal->code));
    return Answer::ended;
  }
  switch (state_) {
    case LineHeaterState::introduce:
      return absorb_introduction(answer);
    case LineHeaterState::count:
      return absorb_count(answer);
    case LineHeaterState::reading_volts:
    case LineHeaterState::reading_current:
      return absorb_reading(now, answer);
    case LineHeaterState::limit:
      if (!answer.is_done && !is_refused(answer)) {  // some have no such bound
        return Answer::none;
      }
      heaters_.keep_limit(channel_);
      return Answer::understood;
    default:
      break;
  }
  if (!answer.is_done) {
    return Answer::none;
  }
  mark_written(now, target_[channel_].millivolts);
  return Answer::understood;
}

Answer LineHeatersDriver::absorb_introduction(const LineAnswer& answer) {
  if (answer.type.empty()) {
    return Answer::none;
  }
  if (++introductions_ > kIntroductions) {
    give_up(last_failure_.trouble,
            format_text("{} exchanges of one operation failed, the last: {}", kIntroductions, last_failure_.words));
    return Answer::ended;
  }
  DeviceIdentity& identity = operation_.observation().identity;
  identity = {answer.serial, format_text("{} {}", profile_.dialect->name, answer.type)};
  if (!profile_.type.empty() && answer.type != profile_.type) {
    give_up(Trouble::misfit,
            format_text("it is a {} (serial number {}), expected a {}", answer.type, answer.serial, profile_.type));
    return Answer::ended;
  }
  introduced_ = true;
  return Answer::understood;
}

/// A device that does not know the question is taken at its rings' word: it refuses the channels that it has not.
Answer LineHeatersDriver::absorb_count(const LineAnswer& answer) {
  const std::size_t needed = profile_.first_ring + heaters_.size();
  if (answer.channels && *answer.channels < needed) {
    give_up(Trouble::misfit, format_text("it has {} channels, its rings need {}", *answer.channels, needed));
    return Answer::ended;
  }
  counted_ = answer.channels || is_refused(answer);
  return counted_ ? Answer::understood : Answer::none;
}

Answer LineHeatersDriver::absorb_reading(Instant now, const LineAnswer& answer) {
  const bool asked_volts = state_ == LineHeaterState::reading_volts;
  if ((asked_volts && !answer.volts) || ((!asked_volts || profile_.dialect->reads_both) && !answer.amperes)) {
    return Answer::none;
  }
  heaters_.keep(channel_, answer.volts, answer.amperes);
  if (auto millivolts = heaters_.all_millivolts()) {
    operation_.reading<FilterObservation>().millivolts = std::move(*millivolts);
    operation_.observation().read_at = now;
  }
  return Answer::understood;
}

void LineHeatersDriver::mark_written(Instant now, std::optional<std::int32_t> commanded) {
  heaters_.keep_write(channel_, operation_.is_overtaken() ? std::nullopt : commanded);  // target_ is another one by then
  soaked_at_ = now + profile_.settle_max;
}

/// What became of a write is unknown until it is measured; and an answer that came late would be taken for the next one's, so
/// a device that says who it is is asked for that first.
void LineHeatersDriver::mark_uncertain(Instant now, const BusReply& reply) {
  if (!reply.bytes.empty() && reply.status != BusStatus::ok) {
    note(profile_.dialect->read(asked(), characters_of(reply)).complaints);
  }
  if (state_ == LineHeaterState::write) {
    mark_written(now, std::nullopt);
  }
  if (state_ != LineHeaterState::introduce) {
    last_failure_ = {trouble_of(reply), format_text("{}: {}", question(),
                                                    reply.status == BusStatus::ok ? misread(reply).words
                                                                                  : describe(reply, profile_.reply_deadline))};
  }
  introduced_ = false;
}

void LineHeatersDriver::forget() {
  introduced_ = counted_ = false;
  heaters_.forget_commands();
}

LineHeaterProfile line_heater_profile(const Fabric& fabric, const Device& device, const LineHeaterDialect& dialect) {
  LineHeaterProfile profile;
  profile.take(device);
  profile.dialect = &dialect;
  profile.rings = rings_of(fabric, device);
  return profile;
}

}  // namespace loom
