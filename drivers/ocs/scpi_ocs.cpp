// The state table of ScpiOcsDriver and the machine that walks it.
#include "drivers/ocs/scpi_ocs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace loom {
namespace {

constexpr unsigned kAttempts = 3;  ///< rounds of writing that read-back did not confirm, a fire

bool ascends(CrossConnect a, CrossConnect b) { return std::pair(a.input, a.output) < std::pair(b.input, b.output); }

std::vector<CrossConnect> without(const std::vector<CrossConnect>& some, const std::vector<CrossConnect>& others) {
  std::vector<CrossConnect> rest;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(rest), ascends);
  return rest;
}

std::string clipped(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return '"' + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "...\"" : "\"");
}

/// "output 7" or "nothing"
std::string output_of(const std::vector<CrossConnect>& connects, std::uint16_t input) {
  const auto found = std::find_if(connects.begin(), connects.end(), [&](CrossConnect c) { return c.input == input; });
  return found == connects.end() ? "nothing" : "output " + std::to_string(found->output);
}

}  // namespace

struct ScpiOcsDriver::Row {
  State state;
  State then;
  State uncertain;  ///< where to go on when the exchange failed: a write is read back before it is repeated
  bool writes;
};

const ScpiOcsDriver::Row& ScpiOcsDriver::row_of(State state) {
  static constexpr Row kTable[] = {
      // state             then                uncertain           writes
      {State::rest, State::rest, State::rest, false},
      {State::decide, State::decide, State::decide, false},
      {State::identify, State::decide, State::decide, false},                // *idn?
      {State::measure, State::decide, State::decide, false},                 // size
      {State::reading_map, State::decide, State::decide, false},             // the map, no earlier than settled_from_
      {State::clear_errors, State::disconnect, State::clear_errors, false},  // *cls: errors from here on are ours
      {State::disconnect, State::connect, State::decide, true},              // passed over where nothing is in excess
      {State::connect, State::receive_errors, State::decide, true},          // passed over where nothing is lacking
      {State::receive_errors, State::decide, State::receive_errors, false},
  };
  return kTable[static_cast<std::size_t>(state)];
}

ScpiOcsDriver::ScpiOcsDriver(OcsProfile profile) : profile_(std::move(profile)) {
  operation_.observation().device = profile_.device;
  staged_.reserve(profile_.size.inputs);
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
    const std::string where =
        profile_.name + ": input " + std::to_string(input) + " to output " + std::to_string(output) + ": ";
    if (input >= profile_.size.inputs || output >= profile_.size.outputs) {
      return fail(ErrorCode::out_of_range, where + "limit " + std::to_string(profile_.size.inputs) + " inputs, " +
                                               std::to_string(profile_.size.outputs) + " outputs");
    }
    if (i > 0 && ocs->connects[i - 1].input >= input) {
      return fail(ErrorCode::invalid_argument, where + "inputs must ascend and come once");
    }
    if (taken_by[output]) {
      return fail(ErrorCode::conflict, where + "the output is taken by input " + std::to_string(*taken_by[output]));
    }
    taken_by[output] = input;
  }
  return {};
}

/// Look, forgive, disconnect, connect, errors, look; identity and size on the first fire.
Duration ScpiOcsDriver::lead(const Setpoint&) const { return 8 * profile_.exchange + profile_.settle_max; }

void ScpiOcsDriver::stage(const Setpoint& setpoint) {
  LOOM_ASSERT(std::holds_alternative<CircuitSwitchSetpoint>(setpoint));
  staged_ = std::get<CircuitSwitchSetpoint>(setpoint).connects;
  has_staged_ = true;
}

void ScpiOcsDriver::fire() {
  LOOM_ASSERT(has_staged_);
  target_.assign(staged_.begin(), staged_.end());
  operation_.ask_fire();
}

void ScpiOcsDriver::poll() {
  if (state_ == State::rest) {
    operation_.ask_audit();
  }
}

DriverActivity ScpiOcsDriver::activity() const { return operation_.activity(state_ == State::rest); }

Step ScpiOcsDriver::step(Instant now, const BusReply* reply) {
  if (reply != nullptr && retry_.received()) {
    receive(now, *reply);
  }
  if (retry_.is_waiting()) {
    return {std::nullopt, kNever};
  }
  if (operation_.is_asked()) {
    begin();
  }
  if (state_ == State::rest) {
    return {std::nullopt, kNever};
  }
  const Instant ready = state_ == State::reading_map ? std::max(retry_.resume_at(), settled_from_) : retry_.resume_at();
  if (now < ready) {
    return {std::nullopt, ready};
  }
  retry_.sent();
  const std::string line = text_of(state_) + profile_.dialect.terminator;
  return {Transaction{profile_.device, profile_.bus_address, Frame{{line.begin(), line.end()}, 0, profile_.dialect.terminator},
                      profile_.reply_deadline},
          kNever};
}

/// The map is read anew for every fire and every audit: what somebody else, or a power cycle, did to it is not guessed.
void ScpiOcsDriver::begin() {
  retry_.start_over();
  operation_.begin();
  rounds_ = 0;
  map_known_ = false;
  complaint_.clear();
  state_ = State::rest;
  enter(State::decide);
}

/// What the target needs next, from what is known.
ScpiOcsDriver::State ScpiOcsDriver::decide() {
  if (!identified_) {
    return State::identify;
  }
  if (!measured_) {
    return State::measure;
  }
  if (!map_known_) {
    return State::reading_map;
  }
  if (operation_.is_audit() || map_ == target_ || lost()) {
    return State::rest;
  }
  return ++rounds_ <= kAttempts ? State::clear_errors : State::rest;
}

void ScpiOcsDriver::enter(State state) {
  if (state == State::disconnect && excess().empty()) {
    state = State::connect;
  }
  if (state == State::connect && lacking().empty()) {
    state = State::receive_errors;
  }
  if (state == State::receive_errors) {
    map_known_ = false;  // silent success proves nothing
  }
  state_ = state == State::decide ? decide() : state;
  if (state_ != State::rest) {
    return;
  }
  if (const auto gone = operation_.is_audit() ? std::nullopt : lost()) {
    give_up("input " + std::to_string(gone->input) + " reads " + output_of(map_, gone->input) + ", held output " +
            std::to_string(gone->output) + " before (did its power go?); nothing was moved: light may enter it still");
  } else if (rounds_ <= kAttempts) {
    operation_.finish(map_ == target_);
    last_verified_.see(map_);
  } else {
    give_up(difference());
  }
}

std::string ScpiOcsDriver::text_of(State state) const {
  const scpi::Dialect& dialect = profile_.dialect;
  switch (state) {
    case State::identify:
      return "*idn?";
    case State::measure:
      return dialect.size_query;
    case State::reading_map:
      return dialect.map_query;
    case State::clear_errors:
      return "*cls;*opc?";
    case State::disconnect:
      return scpi::write_connects(dialect.disconnect, profile_.size, excess());
    case State::connect:
      return scpi::write_connects(dialect.connect, profile_.size, lacking());
    case State::receive_errors:
      return dialect.errors_query;
    case State::rest:
    case State::decide:
      break;
  }
  return {};
}

void ScpiOcsDriver::receive(Instant now, const BusReply& reply) {
  const std::string_view line(reinterpret_cast<const char*>(reply.bytes.data()), reply.bytes.size());
  const auto text = reply.status == BusStatus::ok ? scpi::unframe(profile_.dialect, line) : std::nullopt;
  const State asked = state_;
  if (!text || !absorb(now, *text)) {
    if (state_ != State::rest) {  // an answer that settled the matter gave up by itself
      receive_failure(now, reply, text.value_or(std::string_view{}));
    }
    return;
  }
  retry_.understood();
  if (operation_.is_overtaken()) {
    return;  // overtaken by a newer fire(): keep the knowledge, drop the procedure
  }
  if (asked == State::reading_map && may_still_settle(now)) {
    map_known_ = false;
    retry_.pause_until(
        now + std::clamp<Duration>(profile_.settle_max / 16, std::chrono::milliseconds{1}, std::chrono::milliseconds{20}));
  }
  enter(row_of(asked).then);
}

void ScpiOcsDriver::receive_failure(Instant now, const BusReply& reply, std::string_view text) {
  if (row_of(state_).writes) {
    mark_map_uncertain(now);
  }
  if (reply.status == BusStatus::lost) {
    identified_ = false;  // what answers after this may be another device
    measured_ = false;
  }
  const std::string sent = clipped(text_of(state_));
  if (reply.status == BusStatus::exception) {
    give_up(sent + ": refused with " + describe(reply, profile_.reply_deadline));
    return;
  }
  const std::string why = text.empty() ? describe(reply, profile_.reply_deadline) : clipped(text) + " for an answer";
  if (!retry_.may_retry(now)) {
    give_up(sent + ": " + why + " in " + std::to_string(RetryState::kTries) + " tries");
    return;
  }
  operation_.struggle(profile_.name + ": " + sent + ": " + why + retry_.attempt());
  if (!operation_.is_overtaken()) {
    enter(row_of(state_).uncertain);
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

/// Keeps what an answer tells. False: it is no answer to what was asked, or (state_ is rest then) it ends the procedure.
bool ScpiOcsDriver::absorb(Instant now, std::string_view text) {
  switch (state_) {
    case State::identify:
      return absorb_identity(text);
    case State::measure:
      return absorb_size(text);
    case State::reading_map:
      return absorb_map(now, text);
    case State::receive_errors:
      return absorb_errors(text);
    case State::disconnect:
      if (text == "1") {
        const std::vector<CrossConnect> kept = without(map_, excess());
        mark_map_uncertain(now);
        map_ = kept;
      }
      return text == "1";
    case State::connect:
      if (text == "1") {
        mark_map_uncertain(now);
      }
      return text == "1";
    default:
      return text == "1";
  }
}

bool ScpiOcsDriver::absorb_identity(std::string_view text) {
  const auto vendor = scpi::vendor_of(text);
  if (vendor && !scpi::same_word(*vendor, profile_.dialect.vendor)) {
    give_up("is " + clipped(text) + ", wanted a switch of " + profile_.dialect.vendor);
    return false;
  }
  identified_ = vendor.has_value();
  return identified_;
}

bool ScpiOcsDriver::absorb_size(std::string_view text) {
  const auto size = scpi::read_size(text);
  if (size && *size != profile_.size) {
    give_up("has " + std::to_string(size->inputs) + " inputs and " + std::to_string(size->outputs) +
            " outputs, the fabric says " + std::to_string(profile_.size.inputs) + " and " +
            std::to_string(profile_.size.outputs));
    return false;
  }
  measured_ = size.has_value();
  return measured_;
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
      complaint_ += (complaint_.empty() ? "" : ", ") + std::to_string(error.number) + " " + clipped(error.text);
    }
  }
  return errors.has_value();
}

/// A refused write will not come true by waiting.
bool ScpiOcsDriver::may_still_settle(Instant now) const {
  const bool waits = !operation_.is_audit() && rounds_ > 0 && complaint_.empty() && map_ != target_;
  return waits && now - moved_at_ <= 2 * profile_.settle_max + profile_.grace;
}

std::optional<CrossConnect> ScpiOcsDriver::lost() const {
  return last_verified_.lost(target_,
                             [this](CrossConnect held) { return std::find(map_.begin(), map_.end(), held) != map_.end(); });
}

std::vector<CrossConnect> ScpiOcsDriver::excess() const { return without(map_, target_); }
std::vector<CrossConnect> ScpiOcsDriver::lacking() const { return without(target_, map_); }

std::string ScpiOcsDriver::difference() const {
  const std::vector<CrossConnect> lacks = lacking();
  const std::uint16_t input = lacks.empty() ? excess().front().input : lacks.front().input;
  return "input " + std::to_string(input) + " reads " + output_of(map_, input) + ", wanted " + output_of(target_, input) +
         ", set " + std::to_string(kAttempts) + " times" +
         (complaint_.empty() ? std::string{} : "; the switch says " + complaint_);
}

void ScpiOcsDriver::give_up(std::string sentence) {
  operation_.give_up(profile_.name + ": " + std::move(sentence));
  state_ = State::rest;
  identified_ = false;
  measured_ = false;
  last_verified_.forget();
}

OcsProfile ocs_profile(const Fabric& fabric, const Device& device) {
  LOOM_ASSERT(device.elements.size() == 1);
  const Element& element = fabric.element(device.elements.front());
  const auto* ocs = std::get_if<OpticalCircuitSwitch>(&element.kind);
  LOOM_ASSERT(ocs != nullptr);
  OcsProfile profile;
  profile.device = device.id;
  profile.name = device.name;
  profile.bus_address = device.bus_address;
  profile.size = {element.inputs, element.outputs};
  profile.settle_max = ocs->settle_max;
  return profile;
}

constinit const DriverModel kScpiOcs{
    {"ocs", DeviceRole::circuit_switch, "optical circuit switch, SCPI over TCP or a serial line"},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<ScpiOcsDriver>(ocs_profile(fabric, device));
    }};

}  // namespace loom
