// The state table of LcosWssDriver and the machine that walks it.
#include "drivers/wss/lcos_wss.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace loom {

using flexgrid::Channel;
using flexgrid::ChannelSetting;
using flexgrid::PortMap;
using flexgrid::PortSetting;

namespace {

constexpr unsigned kAttempts = 3;  ///< rebuilds, and routings, that read-back did not confirm, a fire

bool overlap(const Channel& a, const Channel& b) { return a.input == b.input && a.first <= b.last && b.first <= a.last; }

std::string name_of(FrequencySlot slot) { return "slot n=" + std::to_string(slot.n) + " m=" + std::to_string(slot.m); }

std::string decibel(std::int32_t centi) { return std::to_string(centi / 100) + "." + std::to_string(centi % 100 / 10) + " dB"; }

}  // namespace

struct LcosWssDriver::Row {
  State state;
  Command command;
  State then;
  State uncertain;  ///< where to go on when the exchange failed: a write is read back before it is repeated
};

const LcosWssDriver::Row& LcosWssDriver::row_of(State state) {
  static constexpr Row kTable[] = {
      // state               order                   then                   uncertain
      {State::rest, Command::none, State::rest, State::rest},
      {State::decide, Command::none, State::decide, State::decide},
      {State::reading_grid, Command::grid_query, State::decide, State::reading_grid},
      {State::reading_ports, Command::ports_query, State::decide, State::reading_ports},
      {State::force_flexgrid, Command::force_flexgrid, State::rebuild, State::force_flexgrid},
      {State::rebuild, Command::define_channels, State::decide, State::decide},
      {State::route, Command::set_ports, State::decide, State::decide},
      {State::wait, Command::settled_query, State::decide, State::wait},  // and wait again until it says 1
      {State::prove, Command::ports_query, State::decide, State::prove},
  };
  return kTable[static_cast<std::size_t>(state)];
}

LcosWssDriver::LcosWssDriver(WssProfile profile) : profile_(std::move(profile)) {
  operation_.observation().device = profile_.device;
  staged_.reserve(limits::kWssRoutes);
  target_.reserve(limits::kWssRoutes);  // fire() copies without allocating
}

Result<void> LcosWssDriver::check_route(const WssRoute& route) const {
  const flexgrid::Dialect& dialect = profile_.dialect;
  const std::string where = profile_.name + " " + name_of(route.slot) + ": ";
  if (route.input >= profile_.inputs || route.output >= profile_.outputs || route.output + 1 >= flexgrid::kBlockedPort ||
      (dialect.map == PortMap::by_input && route.input + 1 >= flexgrid::kBlockedPort)) {
    return fail(ErrorCode::out_of_range, where + "input " + std::to_string(route.input) + " to output " +
                                             std::to_string(route.output) + ", limit " + std::to_string(profile_.inputs) +
                                             " inputs, " + std::to_string(profile_.outputs) +
                                             " outputs, port numbers below 99");
  }
  if (route.slot.m < 1 || lower_edge_of(route.slot) < dialect.window_start ||
      upper_edge_of(route.slot).mhz > dialect.window_start.mhz + dialect.slices * flexgrid::kSlice.mhz) {
    return fail(ErrorCode::out_of_range, where + "outside the window of " + to_string(dialect.window_start) + " and " +
                                             std::to_string(dialect.slices) + " slices of 6.25 GHz");
  }
  if (route.attenuation.centi < 0 || route.attenuation > dialect.attenuation_max) {
    return fail(ErrorCode::out_of_range, where + "attenuation " + decibel(route.attenuation.centi) + ", limit " +
                                             decibel(dialect.attenuation_max.centi));
  }
  return {};
}

/// Two routes need different spectrum wherever the device has one channel for both.
Result<void> LcosWssDriver::check_pair(const WssRoute& a, const WssRoute& b) const {
  const bool shared = profile_.dialect.map != PortMap::by_pair || a.input == b.input || a.output == b.output;
  if (shared && overlaps(a.slot, b.slot)) {
    return fail(ErrorCode::conflict, profile_.name + ": " + name_of(a.slot) + " (input " + std::to_string(a.input) +
                                         ", output " + std::to_string(a.output) + ") overlaps " + name_of(b.slot) + " (input " +
                                         std::to_string(b.input) + ", output " + std::to_string(b.output) + ")");
  }
  return {};
}

Result<void> LcosWssDriver::check(const Setpoint& setpoint) const {
  const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint);
  if (wss == nullptr) {
    return fail(ErrorCode::unsupported, profile_.name + ": a WSS takes routes only");
  }
  const auto& routes = wss->routes;
  if (routes.size() > limits::kWssRoutes) {
    return fail(ErrorCode::out_of_range,
                profile_.name + ": " + std::to_string(routes.size()) + " routes, limit " + std::to_string(limits::kWssRoutes));
  }
  for (std::size_t i = 0; i < routes.size(); ++i) {
    LOOM_TRY(check_route(routes[i]));
    if (i > 0 && std::pair(routes[i - 1].slot.n, routes[i - 1].input) >= std::pair(routes[i].slot.n, routes[i].input)) {
      return fail(ErrorCode::invalid_argument,
                  profile_.name + " " + name_of(routes[i].slot) + ": routes must ascend by (slot, input) and come once");
    }
    for (std::size_t j = 0; j < i; ++j) {
      LOOM_TRY(check_pair(routes[j], routes[i]));
    }
  }
  return {};
}

Duration LcosWssDriver::lead(const Setpoint&) const { return 8 * profile_.exchange + profile_.settle_max; }

void LcosWssDriver::stage(const Setpoint& setpoint) {
  LOOM_ASSERT(std::holds_alternative<WavelengthSwitchSetpoint>(setpoint));
  staged_.clear();
  for (const WssRoute& route : std::get<WavelengthSwitchSetpoint>(setpoint).routes) {
    staged_.push_back({channel_of(profile_.dialect, route.slot, route.input), setting_of(profile_.dialect, route)});
  }
  has_staged_ = true;
}

void LcosWssDriver::fire() {
  LOOM_ASSERT(has_staged_);
  target_.assign(staged_.begin(), staged_.end());
  operation_.ask_fire();
}

void LcosWssDriver::poll() {
  if (state_ == State::rest) {
    operation_.ask_audit();
  }
}

DriverActivity LcosWssDriver::activity() const { return operation_.activity(state_ == State::rest); }

Step LcosWssDriver::step(Instant now, const BusReply* reply) {
  if (reply != nullptr && retry_.received()) {
    receive(now, *reply);
  }
  if (retry_.is_waiting()) {
    return {std::nullopt, kNever};
  }
  if (operation_.is_asked()) {
    begin();
    enter(State::decide, now);
  }
  if (state_ == State::rest) {
    return {std::nullopt, kNever};
  }
  if (now < retry_.resume_at()) {
    return {std::nullopt, retry_.resume_at()};
  }
  asked_ = row_of(state_).command;
  retry_.sent();
  const std::string line = flexgrid::frame(profile_.dialect, text_of(asked_));
  return {
      Transaction{profile_.device, profile_.bus_address, Frame{{line.begin(), line.end()}, 0, "\r\n"}, profile_.reply_deadline},
      kNever};
}

void LcosWssDriver::begin() {
  retry_.start_over();
  operation_.begin();
  rebuilds_ = 0;
  routings_ = 0;
  fresh_ = false;
  looked_ = false;
  if (operation_.is_audit()) {
    grid_known_ = false;
    ports_known_ = false;
  } else {
    settled_ = false;
  }
  state_ = State::rest;
}

/// What the target needs next, from what is known.
LcosWssDriver::State LcosWssDriver::decide() {
  if (!grid_known_) {
    return State::reading_grid;
  }
  if (lost()) {
    return ports_known_ ? State::rest : State::reading_ports;  // what is left is read before it is told
  }
  if (!operation_.is_audit() && !grid_covers_target()) {
    return ++rebuilds_ <= kAttempts ? State::force_flexgrid : State::rest;
  }
  if (!ports_known_) {
    return State::reading_ports;
  }
  if (operation_.is_audit()) {
    return fresh_ ? State::rest : State::wait;
  }
  if (!differing_ports().empty()) {
    return ++routings_ <= kAttempts ? State::route : State::rest;
  }
  return !settled_ ? State::wait : !fresh_ ? State::prove : State::rest;
}

void LcosWssDriver::enter(State state, Instant now) {
  const State next = state == State::decide ? decide() : state;
  if (next == State::wait && state_ != State::wait) {
    patience_since_ = now;
  }
  state_ = next;
  if (next != State::rest) {
    return;
  }
  if (const auto gone = lost()) {
    const auto slot = slot_of(profile_.dialect, gone->channel);
    give_up("has lost " + (slot ? name_of(*slot) : std::string("a channel")) + ", which it held at port " +
            std::to_string(gone->setting.port) + " (did its power go?); nothing was moved: light may enter it still");
    return;
  }
  if (operation_.is_audit() || (rebuilds_ <= kAttempts && routings_ <= kAttempts)) {
    finish();
  } else if (rebuilds_ > kAttempts) {
    give_up("the channel grid does not read back as defined, " + std::to_string(kAttempts) + " rebuilds");
  } else {
    const ChannelSetting wanted = differing_ports().front();
    give_up("channel " + std::to_string(wanted.channel) + " reads port " +
            std::to_string(ports_[static_cast<std::size_t>(wanted.channel) - 1].port) + ", wanted " +
            std::to_string(wanted.setting.port) + ", set " + std::to_string(kAttempts) + " times");
  }
}

std::string LcosWssDriver::text_of(Command command) const {
  switch (command) {
    case Command::grid_query:
      return profile_.dialect.grid_query;
    case Command::ports_query:
      return profile_.dialect.ports_query;
    case Command::settled_query:
      return profile_.dialect.settled_query;
    case Command::force_flexgrid:
      return "CHW 0";
    case Command::define_channels:
      return flexgrid::write_grid(profile_.dialect, wanted_grid());
    case Command::set_ports:
      return flexgrid::write_ports(differing_ports());
    case Command::none:
      break;
  }
  return {};
}

void LcosWssDriver::receive(Instant now, const BusReply& reply) {
  const std::string_view line(reinterpret_cast<const char*>(reply.bytes.data()), reply.bytes.size());
  const auto text = reply.status == BusStatus::ok ? flexgrid::unframe(profile_.dialect, line) : std::nullopt;
  if (text && !flexgrid::error_name(*text).empty()) {
    mark_write_uncertain();
    if (asked_ == Command::set_ports && !looked_) {  // refused for what it held once: a power cycle took its channels
      grid_known_ = false;
      retry_.understood();
      if (!operation_.is_overtaken()) {
        enter(State::decide, now);
      }
      return;
    }
    const std::string sent = text_of(asked_);
    give_up("\"" + sent.substr(0, 40) + (sent.size() > 40 ? "...\"" : "\"") + ": refused with " +
            std::string(flexgrid::error_name(*text)));
    return;
  }
  if (!text || !absorb(now, asked_, *text)) {
    receive_failure(now, reply, text.value_or(std::string_view{}));
    return;
  }
  retry_.understood();
  if (operation_.is_overtaken()) {
    return;  // overtaken by a newer fire(): keep the knowledge, drop the procedure
  }
  if (asked_ == Command::settled_query && !settled_ && !operation_.is_audit()) {
    wait_on(now);
    return;
  }
  fresh_ = fresh_ || state_ == State::prove || (operation_.is_audit() && state_ == State::wait);
  enter(row_of(state_).then, now);
}

/// It is still moving.
void LcosWssDriver::wait_on(Instant now) {
  const Duration limit = 2 * profile_.settle_max + profile_.grace;
  if (now - patience_since_ > limit) {
    give_up(profile_.dialect.settled_query + " still says moving, limit " + describe(limit));
    return;
  }
  retry_.pause_until(
      now + std::clamp<Duration>(profile_.settle_max / 16, std::chrono::milliseconds{1}, std::chrono::milliseconds{20}));
}

void LcosWssDriver::receive_failure(Instant now, const BusReply& reply, std::string_view text) {
  mark_write_uncertain();
  const std::string what =
      "\"" + text_of(asked_).substr(0, 40) + "\": " +
      (text.empty() ? describe(reply, profile_.reply_deadline) : "\"" + std::string(text.substr(0, 40)) + "\" for an answer");
  if (!retry_.may_retry(now)) {
    give_up(what + " in " + std::to_string(RetryState::kTries) + " tries");
    return;
  }
  operation_.struggle(profile_.name + ": " + what + retry_.attempt());
  if (!operation_.is_overtaken()) {
    enter(row_of(state_).uncertain, now);
  }
}

/// What became of a write is unknown until it is read back.
void LcosWssDriver::mark_write_uncertain() {
  const bool wrote = asked_ == Command::define_channels || asked_ == Command::set_ports;
  settled_ = settled_ && !wrote;
  fresh_ = fresh_ && !wrote;
  grid_known_ = grid_known_ && asked_ != Command::define_channels;
  ports_known_ = ports_known_ && asked_ != Command::define_channels && asked_ != Command::set_ports;
}

/// Keeps what an answer tells. False: it is no answer to that order.
bool LcosWssDriver::absorb(Instant now, Command command, std::string_view text) {
  switch (command) {
    case Command::grid_query: {
      auto grid = flexgrid::read_grid(text);
      if (!grid) {
        return false;
      }
      ports_known_ = ports_known_ && *grid == grid_;
      grid_ = std::move(*grid);
      grid_known_ = true;
      return true;
    }
    case Command::ports_query:
      if (!absorb_ports(text)) {
        return false;
      }
      observe_routes(now);
      return true;
    case Command::settled_query:
      settled_ = text == "SET 1";
      reading().settled = settled_;
      return settled_ || text == "SET 0";
    case Command::define_channels:
      mark_write_uncertain();  // read back before anything rests on it
      reading().settled = false;
      return text == "OK";
    case Command::set_ports:
      if (text == "OK") {
        ports_ = wanted_ports();
        settled_ = false;
        fresh_ = false;
        reading().settled = false;
      }
      return text == "OK";
    default:
      return text == "OK";
  }
}

bool LcosWssDriver::absorb_ports(std::string_view text) {
  const auto settings = flexgrid::read_ports(text);
  if (!settings || settings->size() != grid_.size()) {
    return false;
  }
  std::vector<PortSetting> ports(grid_.size());
  for (std::size_t i = 0; i < settings->size(); ++i) {
    if ((*settings)[i].channel != static_cast<std::int32_t>(i) + 1) {
      return false;
    }
    ports[i] = (*settings)[i].setting;
  }
  ports_ = std::move(ports);
  ports_known_ = true;
  looked_ = true;
  return true;
}

std::optional<std::size_t> LcosWssDriver::place_of(const Channel& channel) const {
  const auto found = std::lower_bound(grid_.begin(), grid_.end(), channel);
  if (found != grid_.end() && *found == channel) {
    return static_cast<std::size_t>(found - grid_.begin());
  }
  const auto anywhere = std::find(grid_.begin(), grid_.end(), channel);  // a grid that somebody else defined need not ascend
  return anywhere == grid_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(anywhere - grid_.begin()));
}

bool LcosWssDriver::grid_covers_target() const {
  return std::all_of(target_.begin(), target_.end(),
                     [this](const Wanted& wanted) { return place_of(wanted.channel).has_value(); });
}

/// A channel that was proven and is gone or elsewhere though nobody rebuilt the grid.
std::optional<LcosWssDriver::Wanted> LcosWssDriver::lost() const {
  if (operation_.is_audit() || rebuilds_ > 0 || !grid_known_) {
    return std::nullopt;
  }
  return last_verified_.lost(target_, [this](const Wanted& held) {
    const auto place = place_of(held.channel);
    return place && (!ports_known_ || ports_[*place] == held.setting);
  });
}

/// The channels of the target, and of the comb what fits beside them, so that later circuits need no rebuild.
std::vector<Channel> LcosWssDriver::wanted_grid() const {
  std::vector<Channel> grid;
  for (const Wanted& wanted : target_) {
    grid.push_back(wanted.channel);
  }
  const std::size_t asked = grid.size();
  const std::uint16_t inputs = profile_.dialect.map == PortMap::by_pair ? profile_.inputs : std::uint16_t{1};
  for (std::uint16_t input = 0; input < inputs; ++input) {
    for (const FrequencySlot slot : profile_.comb) {
      const Channel channel = channel_of(profile_.dialect, slot, input);
      const auto end = grid.begin() + static_cast<std::ptrdiff_t>(asked);
      if (grid.size() < limits::kWssRoutes &&
          std::none_of(grid.begin(), end, [&](const Channel& c) { return overlap(c, channel); })) {
        grid.push_back(channel);
      }
    }
  }
  std::sort(grid.begin(), grid.end());
  return grid;
}

std::vector<PortSetting> LcosWssDriver::wanted_ports() const {
  std::vector<PortSetting> ports(grid_.size());
  for (const Wanted& wanted : target_) {
    if (const auto place = place_of(wanted.channel)) {
      ports[*place] = wanted.setting;
    }
  }
  return ports;
}

std::vector<ChannelSetting> LcosWssDriver::differing_ports() const {
  const std::vector<PortSetting> wanted = wanted_ports();
  std::vector<ChannelSetting> settings;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i >= ports_.size() || wanted[i] != ports_[i]) {
      settings.push_back({static_cast<std::int32_t>(i) + 1, wanted[i]});
    }
  }
  return settings;
}

WavelengthSwitchObservation& LcosWssDriver::reading() {
  auto* reading = std::get_if<WavelengthSwitchObservation>(&operation_.observation().reading);
  return reading != nullptr ? *reading : operation_.observation().reading.emplace<WavelengthSwitchObservation>();
}

/// Channels that no slot describes (odd widths that somebody else defined) are left out.
void LcosWssDriver::observe_routes(Instant now) {
  auto& routes = reading().routes;
  routes.clear();
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    if (const auto route = route_of(profile_.dialect, grid_[i], ports_[i])) {
      routes.push_back(*route);
    }
  }
  std::sort(routes.begin(), routes.end(),
            [](const WssRoute& a, const WssRoute& b) { return std::pair(a.slot.n, a.input) < std::pair(b.slot.n, b.input); });
  operation_.observation().read_at = now;
}

void LcosWssDriver::finish() {
  state_ = State::rest;
  const bool agrees = settled_ && grid_covers_target() && differing_ports().empty();
  operation_.finish(agrees, settled_ ? DeviceHealth::ready : DeviceHealth::moving);
  std::vector<Wanted> seen;
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    if (ports_[i] != PortSetting{}) {
      seen.push_back({grid_[i], ports_[i]});
    }
  }
  last_verified_.see(std::move(seen));
}

void LcosWssDriver::give_up(std::string sentence) {
  operation_.give_up(profile_.name + ": " + std::move(sentence));
  state_ = State::rest;
  grid_known_ = false;
  ports_known_ = false;
  last_verified_.forget();
}

WssProfile wss_profile(const Fabric& fabric, const Device& device) {
  LOOM_ASSERT(device.elements.size() == 1);
  const Element& element = fabric.element(device.elements.front());
  const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind);
  LOOM_ASSERT(wss != nullptr);
  WssProfile profile;
  profile.device = device.id;
  profile.name = device.name;
  profile.bus_address = device.bus_address;
  profile.inputs = element.inputs;
  profile.outputs = element.outputs;
  profile.dialect.map = flexgrid::port_map_of(element.inputs, element.outputs);
  profile.settle_max = wss->settle_max;
  const auto first = std::find_if(fabric.elements.begin(), fabric.elements.end(),
                                  [](const Element& e) { return std::holds_alternative<Transmitter>(e.kind); });
  const ChannelPlan comb = first == fabric.elements.end() ? ChannelPlan{} : std::get<Transmitter>(first->kind).channels;
  const std::int64_t window_end = profile.dialect.window_start.mhz + profile.dialect.slices * flexgrid::kSlice.mhz;
  for (std::int32_t channel = 0; channel < comb.count && comb.step_n * kGridStep.mhz >= width_of(comb.first).mhz; ++channel) {
    const FrequencySlot slot = comb.slot(channel);
    if (lower_edge_of(slot) >= profile.dialect.window_start && upper_edge_of(slot).mhz <= window_end) {
      profile.comb.push_back(slot);
    }
  }
  return profile;
}

constinit const DriverModel kLcosWss{
    {"wss", DeviceRole::wavelength_switch, "LCoS wavelength-selective switch, flexible-grid ASCII over TCP or a serial line"},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<LcosWssDriver>(wss_profile(fabric, device));
    }};

}  // namespace loom
