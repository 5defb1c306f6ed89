// The state table of ScpiOcsDriver and the machine that walks it.
#include "drivers/ocs/scpi_ocs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr unsigned kAttempts = 3;  ///< rounds of writing that read-back did not confirm, a fire

bool ascends(CrossConnect a, CrossConnect b) { return std::pair(a.input, a.output) < std::pair(b.input, b.output); }

std::vector<CrossConnect> without(const std::vector<CrossConnect>& some, const std::vector<CrossConnect>& others) {
  std::vector<CrossConnect> rest;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(rest), ascends);
  return rest;
}

constexpr std::size_t kShown = 60;  ///< characters of a line in a sentence

/// "output 7" or "nothing"
std::string output_of(const std::vector<CrossConnect>& connects, std::uint16_t input) {
  const auto found = std::find_if(connects.begin(), connects.end(), [&](CrossConnect c) { return c.input == input; });
  return found == connects.end() ? "nothing" : format_text("output {}", found->output);
}

constexpr ProcedureRow<OcsState> kTable[] = {
    // state                     exchange         then                 uncertain
    {OcsState::rest, Exchange::none, OcsState::rest, OcsState::rest},
    {OcsState::decide, Exchange::none, OcsState::decide, OcsState::decide},
    {OcsState::identify, Exchange::asks, OcsState::decide, OcsState::decide},                // *idn?
    {OcsState::measure, Exchange::asks, OcsState::decide, OcsState::decide},                 // size
    {OcsState::reading_map, Exchange::asks, OcsState::decide, OcsState::decide},             // no earlier than settled_from_
    {OcsState::clear_errors, Exchange::asks, OcsState::disconnect, OcsState::clear_errors},  // errors from here on are ours
    {OcsState::disconnect, Exchange::moves, OcsState::connect, OcsState::decide},            // passed over: nothing in excess
    {OcsState::connect, Exchange::moves, OcsState::receive_errors, OcsState::decide},        // passed over: nothing lacking
    {OcsState::receive_errors, Exchange::asks, OcsState::decide, OcsState::receive_errors},
};

}  // namespace

ScpiOcsDriver::ScpiOcsDriver(OcsProfile profile) : ReadBackDriver(std::move(profile), kTable) {
  target_.reserve(profile_.size.inputs);  // fire() copies without allocating
}

Result<void> ScpiOcsDriver::check(const Setpoint& setpoint) const {
  const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint);
  if (ocs == nullptr) {
    return fail(ErrorCode::unsupported, profile_.name + ": a circuit switch takes cross-connects only");
  }
  std::vector<std::optional<std::uint16_t>> taken_by(profile_.size.outputs);
  for (std::size_t i = 0; i < ocs->connects.size(); ++i) {
    const auto [input, output] = ocs->connects[i];
    const std::string where = format_text("{}: input {} to output {}: ", profile_.name, input, output);
    if (input >= profile_.size.inputs || output >= profile_.size.outputs) {
      return fail(ErrorCode::out_of_range,
                  format_text("{}limit {} inputs, {} outputs", where, profile_.size.inputs, profile_.size.outputs));
    }
    if (i > 0 && ocs->connects[i - 1].input >= input) {
      return fail(ErrorCode::invalid_argument, where + "inputs must ascend and come once");
    }
    if (taken_by[output]) {
      return fail(ErrorCode::conflict, format_text("{}the output is taken by input {}", where, *taken_by[output]));
    }
    taken_by[output] = input;
  }
  return {};
}

/// Read the map, clear errors, disconnect, connect, read errors and the map; identity and size on the first fire.
Duration ScpiOcsDriver::lead(const Setpoint&) const { return 8 * profile_.exchange + profile_.settle_max; }

std::vector<CrossConnect> ScpiOcsDriver::held_by(const Setpoint& setpoint) const {
  LOOM_ASSERT(std::holds_alternative<CircuitSwitchSetpoint>(setpoint));
  return std::get<CircuitSwitchSetpoint>(setpoint).connects;
}

/// The map is read anew for every fire and every audit: what somebody else, or a power cycle, did to it is not guessed.
void ScpiOcsDriver::begin() {
  rounds_ = 0;
  map_known_ = false;
  complaint_.clear();
}

Instant ScpiOcsDriver::ready_at() const {
  return state_ == OcsState::reading_map ? std::max(retry_.resume_at(), settled_from_) : retry_.resume_at();
}

/// What the target needs next, from what is known.
OcsState ScpiOcsDriver::decide() {
  if (!identified_) {
    return OcsState::identify;
  }
  if (!measured_) {
    return OcsState::measure;
  }
  if (!map_known_) {
    return OcsState::reading_map;
  }
  if (operation_.is_audit() || map_ == target_ || lost()) {
    return OcsState::rest;
  }
  return ++rounds_ <= kAttempts ? OcsState::clear_errors : OcsState::rest;
}

OcsState ScpiOcsDriver::resolve(OcsState state, Instant) {
  if (state == OcsState::disconnect && excess().empty()) {
    state = OcsState::connect;
  }
  if (state == OcsState::connect && lacking().empty()) {
    state = OcsState::receive_errors;
  }
  if (state == OcsState::receive_errors) {
    map_known_ = false;  // silent success proves nothing
  }
  return state == OcsState::decide ? decide() : state;
}

void ScpiOcsDriver::conclude() {
  if (const auto gone = operation_.is_audit() ? std::nullopt : lost()) {
    give_up(
        format_text("input {} reads {}, held output {} before (did its power go?); nothing was moved: light may enter it still",
                    gone->input, output_of(map_, gone->input), gone->output));
  } else if (rounds_ <= kAttempts) {
    operation_.finish(map_ == target_);
    last_verified_.see(map_);
  } else {
    give_up(difference());
  }
}

std::string ScpiOcsDriver::text() const {
  const scpi::Dialect& dialect = profile_.dialect;
  switch (state_) {
    case OcsState::identify:
      return "*idn?";
    case OcsState::measure:
      return dialect.size_query;
    case OcsState::reading_map:
      return dialect.map_query;
    case OcsState::clear_errors:
      return "*cls;*opc?";
    case OcsState::disconnect:
      return scpi::write_connects(dialect.disconnect, profile_.size, excess());
    case OcsState::connect:
      return scpi::write_connects(dialect.connect, profile_.size, lacking());
    case OcsState::receive_errors:
      return dialect.errors_query;
    case OcsState::rest:
    case OcsState::decide:
      break;
  }
  return {};
}

decltype(Transaction::order) ScpiOcsDriver::order() const {
  return line_order(text() + profile_.dialect.terminator, profile_.dialect.terminator);
}

std::string ScpiOcsDriver::question() const { return clipped(text(), kShown); }

std::string ScpiOcsDriver::misread(const BusReply& reply) const {
  const std::string_view text = scpi::unframe(profile_.dialect, characters_of(reply)).value_or(std::string_view{});
  return text.empty() ? std::string{} : clipped(text, kShown) + " for an answer";
}

void ScpiOcsDriver::proceed(Instant now) {
  if (state_ == OcsState::reading_map && may_still_settle(now)) {
    map_known_ = false;
    ask_again_later(now);
  }
  enter(row().then, now);
}

void ScpiOcsDriver::mark_uncertain(Instant now, const BusReply& reply) {
  if (row().exchange == Exchange::moves) {
    mark_map_uncertain(now);
  }
  if (reply.status == BusStatus::lost) {
    identified_ = false;  // what answers after this may be another device
    measured_ = false;
  }
}

/// What became of a write is unknown until it is read back, when whatever moves has come to rest.
void ScpiOcsDriver::mark_map_uncertain(Instant now) {
  map_known_ = false;
  moved_at_ = now;
  settled_from_ = now + profile_.settle_max;
  if (auto* reading = std::get_if<CircuitSwitchObservation>(&operation_.observation().reading)) {
    reading->settled = false;
  }
}

Answer ScpiOcsDriver::absorb(Instant now, const BusReply& reply) {
  const auto text = scpi::unframe(profile_.dialect, characters_of(reply));
  if (!text) {
    return Answer::none;
  }
  switch (state_) {
    case OcsState::identify:
      return absorb_identity(*text);
    case OcsState::measure:
      return absorb_size(*text);
    case OcsState::reading_map:
      return absorb_map(now, *text) ? Answer::understood : Answer::none;
    case OcsState::receive_errors:
      return absorb_errors(*text) ? Answer::understood : Answer::none;
    default:  // the answer to *opc?
      break;
  }
  if (*text != "1") {
    return Answer::none;
  }
  if (row().exchange == Exchange::moves) {
    mark_map_uncertain(now);
  }
  if (state_ == OcsState::disconnect) {
    map_ = without(map_, excess());
  }
  return Answer::understood;
}

Answer ScpiOcsDriver::absorb_identity(std::string_view text) {
  const auto vendor = scpi::vendor_of(text);
  if (vendor && !scpi::same_word(*vendor, profile_.dialect.vendor)) {
    give_up(format_text("is {}, wanted a switch of {}", clipped(text, kShown), profile_.dialect.vendor));
    return Answer::ended;
  }
  identified_ = vendor.has_value();
  return identified_ ? Answer::understood : Answer::none;
}

Answer ScpiOcsDriver::absorb_size(std::string_view text) {
  const auto size = scpi::read_size(text);
  if (size && *size != profile_.size) {
    give_up(format_text("has {} inputs and {} outputs, the fabric says {} and {}", size->inputs, size->outputs,
                        profile_.size.inputs, profile_.size.outputs));
    return Answer::ended;
  }
  measured_ = size.has_value();
  return measured_ ? Answer::understood : Answer::none;
}

bool ScpiOcsDriver::absorb_map(Instant now, std::string_view text) {
  auto map = scpi::read_map(profile_.size, text);
  if (!map) {
    return false;
  }
  map_ = std::move(*map);
  map_known_ = true;
  operation_.observation().reading = CircuitSwitchObservation{map_, true};
  operation_.observation().read_at = now;
  return true;
}

bool ScpiOcsDriver::absorb_errors(std::string_view text) {
  const auto errors = scpi::read_errors(text);
  if (errors) {
    complaint_.clear();
    for (const scpi::QueuedError& error : *errors) {
      complaint_ += format_text("{}{} {}", complaint_.empty() ? "" : ", ", error.number, clipped(error.text, kShown));
    }
  }
  return errors.has_value();
}

/// A refused write will not come true by waiting.
bool ScpiOcsDriver::may_still_settle(Instant now) const {
  const bool waits = !operation_.is_audit() && rounds_ > 0 && complaint_.empty() && map_ != target_;
  return waits && now - moved_at_ <= patience();
}

std::optional<CrossConnect> ScpiOcsDriver::lost() const {
  return find_lost([this](CrossConnect held) { return std::find(map_.begin(), map_.end(), held) != map_.end(); });
}

std::vector<CrossConnect> ScpiOcsDriver::excess() const { return without(map_, target_); }
std::vector<CrossConnect> ScpiOcsDriver::lacking() const { return without(target_, map_); }

std::string ScpiOcsDriver::difference() const {
  const std::vector<CrossConnect> lacks = lacking();
  const std::uint16_t input = lacks.empty() ? excess().front().input : lacks.front().input;
  return format_text("input {} reads {}, wanted {}, set {} times{}", input, output_of(map_, input), output_of(target_, input),
                     kAttempts, complaint_.empty() ? std::string{} : "; the switch says " + complaint_);
}

void ScpiOcsDriver::forget() {
  identified_ = false;
  measured_ = false;
}

OcsProfile ocs_profile(const Fabric& fabric, const Device& device) {
  LOOM_ASSERT(device.elements.size() == 1);
  const Element& element = fabric.element(device.elements.front());
  const auto* ocs = std::get_if<OpticalCircuitSwitch>(&element.kind);
  LOOM_ASSERT(ocs != nullptr);
  OcsProfile profile;
  profile.take(device);
  profile.size = {element.inputs, element.outputs};
  profile.settle_max = ocs->settle_max;
  return profile;
}

constinit const DriverModel kScpiOcs{
    {"ocs", DeviceRole::circuit_switch, "optical circuit switch, SCPI over TCP or a serial line", {}, nullptr, kStreamSchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<ScpiOcsDriver>(ocs_profile(fabric, device));
    }};

}  // namespace loom
