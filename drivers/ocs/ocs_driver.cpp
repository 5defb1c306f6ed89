// SPDX-License-Identifier: Apache-2.0
// The state table of OcsDriver, the machine that walks it, and what of a switch is ours.
#include "drivers/ocs/ocs_driver.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/fabric/occupied_ports.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr unsigned kAttempts = 3;  ///< rounds of writing that read-back did not confirm, a fire

constexpr ProcedureRow<OcsState> kTable[] = {
    // state                      exchange         then                      uncertain
    {OcsState::rest, Exchange::none, OcsState::rest, OcsState::rest},
    {OcsState::decide, Exchange::none, OcsState::decide, OcsState::decide},
    {OcsState::log_in, Exchange::asks, OcsState::decide, OcsState::decide},
    {OcsState::identify, Exchange::asks, OcsState::decide, OcsState::decide},
    {OcsState::serial, Exchange::asks, OcsState::decide, OcsState::decide},
    {OcsState::measure, Exchange::asks, OcsState::decide, OcsState::decide},
    {OcsState::reading_map, Exchange::asks, OcsState::decide, OcsState::decide},  // no earlier than settled_from_
    {OcsState::port_states, Exchange::asks, OcsState::decide, OcsState::decide},
    {OcsState::shutters, Exchange::asks, OcsState::decide, OcsState::decide},
    {OcsState::powers, Exchange::asks, OcsState::decide, OcsState::decide},
    {OcsState::clear_errors, Exchange::asks, OcsState::disconnect, OcsState::clear_errors},  // errors from here on are ours
    {OcsState::open_shutters, Exchange::moves, OcsState::decide, OcsState::decide},
    {OcsState::disconnect, Exchange::moves, OcsState::connect, OcsState::decide},      // passed over: nothing in excess
    {OcsState::connect, Exchange::moves, OcsState::receive_errors, OcsState::decide},  // passed over: nothing lacking
    {OcsState::receive_errors, Exchange::asks, OcsState::decide, OcsState::receive_errors},
};

}  // namespace

OcsDriver::OcsDriver(OcsProfile profile) : ReadBackDriver(std::move(profile), kTable) {
  target_.reserve(profile_.ports.ours.inputs);  // fire() copies without allocating
}

Result<void> OcsDriver::check(const Setpoint& setpoint) const {
  const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint);
  if (ocs == nullptr) {
    return fail(ErrorCode::unsupported, profile_.name + ": a circuit switch takes cross-connects only");
  }
  const SwitchSize size = profile_.ports.ours;
  std::vector<std::optional<std::uint16_t>> taken_by(size.outputs);
  for (std::size_t i = 0; i < ocs->connects.size(); ++i) {
    const auto [input, output] = ocs->connects[i];
    const std::string where = format_text("{}: input {} to output {}: ", profile_.name, input, output);
    if (input >= size.inputs || output >= size.outputs) {
      return fail(ErrorCode::out_of_range, format_text("{}limit {} inputs, {} outputs", where, size.inputs, size.outputs));
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

/// Read the map, what ports say, clear errors, disconnect, connect, read errors and the map; who it is on the first fire.
Duration OcsDriver::lead(const Setpoint&) const { return 12 * profile_.exchange + profile_.settle_max; }

std::vector<CrossConnect> OcsDriver::held_by(const Setpoint& setpoint) const {
  LOOM_ASSERT(std::holds_alternative<CircuitSwitchSetpoint>(setpoint));
  return std::get<CircuitSwitchSetpoint>(setpoint).connects;
}

void OcsDriver::may_hold(std::span<const Setpoint> setpoints) {
  for (const Setpoint& setpoint : setpoints) {
    if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint)) {
      book_.claim(ocs->connects);
    }
  }
}

/// The map is read anew for every fire and every audit: what somebody else, or a power cycle, did to it is not guessed.
void OcsDriver::begin() {
  rounds_ = openings_ = 0;
  map_known_ = ports_known_ = shutters_known_ = powers_known_ = false;
  powers_.clear();
  unfit_.clear();
  closed_.clear();
  complaint_.clear();
  if (operation_.is_fire()) {
    book_.claim(target_);
  }
}

Instant OcsDriver::ready_at() const {
  const bool rests = state_ == OcsState::reading_map || state_ == OcsState::shutters;
  return rests ? std::max(retry_.resume_at(), settled_from_) : retry_.resume_at();
}

void OcsDriver::lacks(OcsState state) { lacking_states_.push_back(state); }

bool OcsDriver::wants(OcsState state, bool is_known) const {
  return !is_known && knows(state) && std::ranges::find(lacking_states_, state) == lacking_states_.end();
}

/// What the target needs next, from what is known.
OcsState OcsDriver::decide() {
  if (!profile_.hindrance.empty()) {
    return OcsState::rest;
  }
  if (wants(OcsState::log_in, logged_in_)) {
    return OcsState::log_in;
  }
  if (wants(OcsState::identify, identified_)) {
    return OcsState::identify;
  }
  if (wants(OcsState::serial, has_serial_)) {
    return OcsState::serial;
  }
  if (!measured_) {
    return OcsState::measure;
  }
  if (!target_.empty() && wants(OcsState::shutters, shutters_known_)) {
    return OcsState::shutters;
  }
  if (operation_.is_audit()) {
    return decide_audit();
  }
  return map_known_ ? decide_fire() : OcsState::reading_map;
}

/// The map comes last: it is what a settled switch is believed for, and its time is that of the observation.
OcsState OcsDriver::decide_audit() const {
  if (profile_.monitors_ports && wants(OcsState::powers, powers_known_)) {
    return OcsState::powers;
  }
  if (!target_.empty() && wants(OcsState::port_states, ports_known_)) {
    return OcsState::port_states;
  }
  return map_known_ ? OcsState::rest : OcsState::reading_map;
}

OcsState OcsDriver::decide_fire() {
  if (lost() || book_.obstacle(target_)) {
    return OcsState::rest;
  }
  if (!book_.lacking(target_).empty() && wants(OcsState::port_states, ports_known_)) {
    return OcsState::port_states;
  }
  if (unfit_port()) {
    return OcsState::rest;
  }
  if (!closed_.empty()) {
    return openings_++ < kAttempts ? OcsState::open_shutters : OcsState::rest;
  }
  if (book_.is(target_)) {
    return OcsState::rest;
  }
  return ++rounds_ <= kAttempts ? OcsState::clear_errors : OcsState::rest;
}

OcsState OcsDriver::resolve(OcsState state, Instant) {
  if (state == OcsState::decide) {
    state = decide();
  }
  if (state == OcsState::clear_errors) {
    complaint_.clear();
    state = knows(state) ? state : OcsState::disconnect;
  }
  if (state == OcsState::disconnect && book_.excess(target_).empty()) {
    state = OcsState::connect;
  }
  if (state == OcsState::connect && book_.lacking(target_).empty()) {
    state = OcsState::receive_errors;
  }
  if (state == OcsState::receive_errors) {
    map_known_ = false;  // silent success proves nothing
    state = knows(state) ? state : decide();
  }
  return state;
}

void OcsDriver::conclude() {
  if (!profile_.hindrance.empty()) {
    return give_up(Trouble::misfit, profile_.hindrance);
  }
  const bool is_audit = operation_.is_audit();
  if (const auto gone = is_audit ? std::nullopt : lost()) {
    return give_up(
        Trouble::unheeded,
        format_text("input {} reads {}, held output {} before (did its power go?); nothing was moved: light may enter it still",
                    gone->input, book_.reading_of(gone->input), gone->output));
  }
  auto trouble = book_.obstacle(target_);
  trouble = trouble ? std::move(trouble) : unfit_port();
  trouble = trouble ? std::move(trouble) : shut_port();
  if (trouble && !is_audit) {
    return give_up(Trouble::refusing, *trouble);
  }
  if (rounds_ > kAttempts) {
    return give_up(Trouble::unheeded, format_text("{}, set {} times{}", book_.difference(target_), kAttempts,
                                                  complaint_.empty() ? std::string{} : "; the switch says " + complaint_));
  }
  operation_.finish(!trouble && book_.is(target_));
  last_verified_.see(book_.ours());
  if (trouble) {
    operation_.struggle({Trouble::refusing, format_text("{}: {}", profile_.name, *trouble)});
  }
}

void OcsDriver::proceed(Instant now) {
  if (state_ == OcsState::reading_map && may_still_settle(now)) {
    map_known_ = false;
    ask_again_later(now);
  }
  enter(row().then, now);
}

void OcsDriver::mark_uncertain(Instant now, const BusReply& reply) {
  if (row().exchange == Exchange::moves) {
    mark_map_uncertain(now);
  }
  if (state_ == OcsState::port_states && reply.status == BusStatus::timeout) {
    lacks(state_);  // only some firmware has it, and an unknown query is not answered
  }
  if (reply.status == BusStatus::lost) {
    forget();
  }
}

/// What became of a write is unknown until it is read back, when whatever moves has come to rest.
void OcsDriver::mark_map_uncertain(Instant now) {
  map_known_ = shutters_known_ = false;
  moved_at_ = now;
  settled_from_ = now + profile_.settle_max;
  if (auto* reading = std::get_if<CircuitSwitchObservation>(&operation_.observation().reading)) {
    reading->settled = false;
  }
}

Answer OcsDriver::take_identity(DeviceIdentity identity) {
  DeviceIdentity& known = operation_.observation().identity;
  if (!identity.serial.empty()) {
    known.serial = std::move(identity.serial);
  }
  if (!identity.description.empty()) {
    known.description = std::move(identity.description);
  }
  (state_ == OcsState::serial ? has_serial_ : identified_) = true;
  return Answer::understood;
}

Answer OcsDriver::take_size(SwitchSize size) {
  if (size != profile_.ports.whole) {
    give_up(Trouble::misfit, format_text("has {} inputs and {} outputs, the {} {} and {}", size.inputs, size.outputs,
                                         profile_.ports.is_whole() ? "fabric says" : "profile says",
                                         profile_.ports.whole.inputs, profile_.ports.whole.outputs));
    return Answer::ended;
  }
  measured_ = true;
  return Answer::understood;
}

void OcsDriver::take_map(Instant now, std::vector<CrossConnect> all) {
  seen_ = profile_.ports.seen_of(all);
  book_.see(seen_, profile_.foreign);
  const bool came_true = rounds_ > 0 && complaint_.empty() && book_.is(target_);
  if (came_true && now >= settled_from_) {
    book_.drop_claims(seen_, target_);
  }
  map_known_ = true;
  operation_.observation().reading = CircuitSwitchObservation{book_.ours(), true, book_.others(), powers_};
  operation_.observation().read_at = now;
}

void OcsDriver::take_powers(std::vector<PortPower> powers) {
  powers_ = std::move(powers);
  powers_known_ = true;
  if (map_known_) {
    operation_.reading<CircuitSwitchObservation>().powers = powers_;  // they came with the map
  }
}

void OcsDriver::take_write(Instant now) {
  mark_map_uncertain(now);
  if (state_ == OcsState::disconnect) {
    book_.take_away(book_.excess(target_));
  }
}

void OcsDriver::take_port_states(std::vector<UnfitPort> unfit) {
  unfit_ = std::move(unfit);
  ports_known_ = true;
}

void OcsDriver::take_shutters(std::vector<OcsPort> closed) {
  const std::vector<OcsPort> needed = needed_ports();
  std::erase_if(closed, [&](const OcsPort& port) { return std::ranges::find(needed, port) == needed.end(); });
  closed_ = std::move(closed);
  shutters_known_ = true;
}

std::vector<OcsPort> OcsDriver::needed_ports() const {
  std::vector<OcsPort> ports;
  for (const CrossConnect each : target_) {
    ports.push_back({each.input, true});
  }
  for (const CrossConnect each : target_) {
    ports.push_back({each.output, false});
  }
  std::sort(ports.begin() + static_cast<std::ptrdiff_t>(target_.size()), ports.end(),
            [](const OcsPort& a, const OcsPort& b) { return a.port < b.port; });
  return ports;
}

/// A refused write will not come true by waiting.
bool OcsDriver::may_still_settle(Instant now) const {
  const bool waits = !operation_.is_audit() && rounds_ > 0 && complaint_.empty() && !book_.is(target_);
  return waits && now - moved_at_ <= patience();
}

std::optional<CrossConnect> OcsDriver::lost() const {
  return find_lost([this](CrossConnect held) { return book_.holds(held); });
}

std::optional<std::string> OcsDriver::unfit_port() const {
  return unfit_.empty() ? std::nullopt
                        : std::optional(format_text("{} {}, and a connection needs it", name_of(unfit_.front().port),
                                                    unfit_.front().what));
}

std::optional<std::string> OcsDriver::shut_port() const {
  return closed_.empty()
             ? std::nullopt
             : std::optional(format_text("the shutter of {} is closed{}, and a connection needs it", name_of(closed_.front()),
                                         openings_ > kAttempts ? format_text(" after {} orders to open", kAttempts) : ""));
}

std::string OcsDriver::name_of(OcsPort port) const {
  return format_text("{} {} (port {} of the switch)", port.is_input ? "input" : "output", port.port, number_of(port));
}

void OcsDriver::forget() {
  logged_in_ = identified_ = has_serial_ = measured_ = false;
  lacking_states_.clear();
}

namespace {

/// Of the device's own numbering; nothing if a number is before it begins.
std::optional<PortRectangle> rectangle_of(const Element& element, const DeviceProfileView& given, OcsNumbers numbers) {
  PortRectangle ports;
  ports.ours = {element.inputs, element.outputs};
  const std::string size = given.text("size");
  const auto whole = size.empty() ? std::optional(ports.ours) : read_switch_size(size);
  if (!whole) {
    return std::nullopt;
  }
  ports.whole = *whole;
  const auto before = [&](std::string_view key, std::uint32_t first) -> std::optional<std::uint32_t> {
    const auto number = static_cast<std::uint32_t>(given.integer(key));
    return number == 0 ? std::optional(0U) : number >= first ? std::optional(number - first) : std::nullopt;
  };
  const auto inputs = before("first_input", numbers.first_input);
  const auto outputs = before("first_output", numbers.first_output == 0 ? whole->inputs + 1 : numbers.first_output);
  if (!inputs || !outputs) {
    return std::nullopt;
  }
  ports.before_inputs = *inputs;
  ports.before_outputs = *outputs;
  return ports.fits() ? std::optional(ports) : std::nullopt;
}

}  // namespace

OcsProfile ocs_profile(const Fabric& fabric, const Device& device, std::span<const ProfileKey> keys, OcsNumbers numbers) {
  LOOM_ASSERT(device.elements.size() == 1);
  const Element& element = fabric.element(device.elements.front());
  const auto* ocs = std::get_if<OpticalCircuitSwitch>(&element.kind);
  LOOM_ASSERT(ocs != nullptr);
  const DeviceProfileView given(keys, device.profile);
  const auto ports = rectangle_of(element, given, numbers);
  LOOM_ASSERT(ports.has_value());  // refuse_ocs() lets no other pass
  OcsProfile profile;
  profile.take(device);
  profile.ports = *ports;
  profile.first_input = numbers.first_input;
  profile.first_output = numbers.first_output == 0 ? ports->whole.inputs + 1 : numbers.first_output;
  profile.foreign = static_cast<ForeignConnects>(given.word("foreign"));
  profile.settle_max = ocs->settle_max;
  return profile;
}

std::string refuse_ocs(const Fabric& fabric, const Device& device, std::span<const ProfileKey> keys, OcsNumbers numbers) {
  const Element& element = fabric.element(device.elements.front());
  const DeviceProfileView given(keys, device.profile);
  if (rectangle_of(element, given, numbers)) {
    return {};
  }
  const std::string size = given.text("size");
  const auto whole = size.empty() ? std::optional(SwitchSize{element.inputs, element.outputs}) : read_switch_size(size);
  if (!whole) {
    return format_text("its profile says size: {}; expected inputs x outputs, as 192x192", size);
  }
  const std::uint32_t first_output = numbers.first_output == 0 ? whole->inputs + 1 : numbers.first_output;
  return format_text(
      "'{}' has {} inputs and {} outputs, which do not lie on a switch of {} x {} from first_input {} and first_output {} on; "
      "its inputs are {} to {}, its outputs {} to {} (say size: where the switch is larger than its element)",
      element.name, element.inputs, element.outputs, whole->inputs, whole->outputs, given.integer("first_input"),
      given.integer("first_output"), numbers.first_input, numbers.first_input + whole->inputs - 1, first_output,
      first_output + whole->outputs - 1);
}

}  // namespace loom
