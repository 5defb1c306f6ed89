// The state table of LcosWssDriver and the machine that walks it.
#include "drivers/wss/lcos_wss.hpp"

#include <algorithm>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {

using flexgrid::Channel;
using flexgrid::ChannelSetting;
using flexgrid::PortMap;
using flexgrid::PortSetting;

namespace {

constexpr unsigned kAttempts = 3;   ///< rebuilds, and routings, that read-back did not confirm, a fire
constexpr std::size_t kShown = 40;  ///< characters of a line in a sentence

bool overlap(const Channel& a, const Channel& b) { return a.input == b.input && a.first <= b.last && b.first <= a.last; }

std::string name_of(FrequencySlot slot) { return format_text("slot n={} m={}", slot.n, slot.m); }

std::string decibel(std::int32_t centi) { return format_text("{}.{} dB", centi / 100, centi % 100 / 10); }

constexpr ProcedureRow<WssState> kTable[] = {
    // state                        exchange         then               uncertain
    {WssState::rest, Exchange::none, WssState::rest, WssState::rest},
    {WssState::decide, Exchange::none, WssState::decide, WssState::decide},
    {WssState::reading_grid, Exchange::asks, WssState::decide, WssState::reading_grid},
    {WssState::reading_ports, Exchange::asks, WssState::decide, WssState::reading_ports},
    {WssState::force_flexgrid, Exchange::asks, WssState::rebuild, WssState::force_flexgrid},
    {WssState::rebuild, Exchange::moves, WssState::decide, WssState::decide},
    {WssState::route, Exchange::moves, WssState::decide, WssState::decide},
    {WssState::wait, Exchange::asks, WssState::decide, WssState::wait},  // and wait again until it says 1
    {WssState::prove, Exchange::asks, WssState::decide, WssState::prove},
};

}  // namespace

LcosWssDriver::LcosWssDriver(WssProfile profile) : ReadBackDriver(std::move(profile), kTable) {
  target_.reserve(limits::kWssRoutes);  // fire() copies without allocating
}

Result<void> LcosWssDriver::check_route(const WssRoute& route) const {
  const flexgrid::Dialect& dialect = profile_.dialect;
  const std::string where = format_text("{} {}: ", profile_.name, name_of(route.slot));
  if (route.input >= profile_.inputs || route.output >= profile_.outputs || route.output + 1 >= flexgrid::kBlockedPort ||
      (dialect.map == PortMap::by_input && route.input + 1 >= flexgrid::kBlockedPort)) {
    return fail(ErrorCode::out_of_range,
                format_text("{}input {} to output {}, limit {} inputs, {} outputs, port numbers below 99", where, route.input,
                            route.output, profile_.inputs, profile_.outputs));
  }
  if (route.slot.m < 1 || lower_edge_of(route.slot) < dialect.window_start ||
      upper_edge_of(route.slot).mhz > dialect.window_start.mhz + dialect.slices * flexgrid::kSlice.mhz) {
    return fail(ErrorCode::out_of_range, format_text("{}outside the window of {} and {} slices of 6.25 GHz", where,
                                                     to_string(dialect.window_start), dialect.slices));
  }
  if (route.attenuation.centi < 0 || route.attenuation > dialect.attenuation_max) {
    return fail(ErrorCode::out_of_range, format_text("{}attenuation {}, limit {}", where, decibel(route.attenuation.centi),
                                                     decibel(dialect.attenuation_max.centi)));
  }
  return {};
}

/// Two routes need different spectrum wherever the device has one channel for both.
Result<void> LcosWssDriver::check_pair(const WssRoute& a, const WssRoute& b) const {
  const bool shared = profile_.dialect.map != PortMap::by_pair || a.input == b.input || a.output == b.output;
  if (shared && overlaps(a.slot, b.slot)) {
    return fail(ErrorCode::conflict,
                format_text("{}: {} (input {}, output {}) overlaps {} (input {}, output {})", profile_.name, name_of(a.slot),
                            a.input, a.output, name_of(b.slot), b.input, b.output));
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
                format_text("{}: {} routes, limit {}", profile_.name, routes.size(), limits::kWssRoutes));
  }
  for (std::size_t i = 0; i < routes.size(); ++i) {
    LOOM_TRY(check_route(routes[i]));
    if (i > 0 && std::pair(routes[i - 1].slot.n, routes[i - 1].input) >= std::pair(routes[i].slot.n, routes[i].input)) {
      return fail(ErrorCode::invalid_argument, format_text("{} {}: routes must ascend by (slot, input) and come once",
                                                           profile_.name, name_of(routes[i].slot)));
    }
    for (std::size_t j = 0; j < i; ++j) {
      LOOM_TRY(check_pair(routes[j], routes[i]));
    }
  }
  return {};
}

Duration LcosWssDriver::lead(const Setpoint&) const { return 8 * profile_.exchange + profile_.settle_max; }

std::vector<WssChannel> LcosWssDriver::held_by(const Setpoint& setpoint) const {
  LOOM_ASSERT(std::holds_alternative<WavelengthSwitchSetpoint>(setpoint));
  std::vector<WssChannel> channels;
  for (const WssRoute& route : std::get<WavelengthSwitchSetpoint>(setpoint).routes) {
    channels.push_back({channel_of(profile_.dialect, route.slot, route.input), setting_of(profile_.dialect, route)});
  }
  return channels;
}

void LcosWssDriver::begin() {
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
}

/// What the target needs next, from what is known.
WssState LcosWssDriver::decide() {
  if (!grid_known_) {
    return WssState::reading_grid;
  }
  if (lost()) {
    return ports_known_ ? WssState::rest : WssState::reading_ports;  // what is left is read before it is told
  }
  if (!operation_.is_audit() && !grid_covers_target()) {
    return ++rebuilds_ <= kAttempts ? WssState::force_flexgrid : WssState::rest;
  }
  if (!ports_known_) {
    return WssState::reading_ports;
  }
  if (operation_.is_audit()) {
    return fresh_ ? WssState::rest : WssState::wait;
  }
  if (!differing_ports().empty()) {
    return ++routings_ <= kAttempts ? WssState::route : WssState::rest;
  }
  return !settled_ ? WssState::wait : !fresh_ ? WssState::prove : WssState::rest;
}

WssState LcosWssDriver::resolve(WssState state, Instant now) {
  const WssState next = state == WssState::decide ? decide() : state;
  if (next == WssState::wait && state_ != WssState::wait) {
    patience_since_ = now;
  }
  return next;
}

void LcosWssDriver::conclude() {
  if (const auto gone = lost()) {
    const auto slot = slot_of(profile_.dialect, gone->channel);
    give_up(
        format_text("has lost {}, which it held at port {} (did its power go?); nothing was moved: light may enter it still",
                    slot ? name_of(*slot) : std::string("a channel"), gone->setting.port));
    return;
  }
  if (operation_.is_audit() || (rebuilds_ <= kAttempts && routings_ <= kAttempts)) {
    finish();
  } else if (rebuilds_ > kAttempts) {
    give_up(format_text("the channel grid does not read back as defined, {} rebuilds", kAttempts));
  } else {
    const ChannelSetting wanted = differing_ports().front();
    give_up(format_text("channel {} reads port {}, wanted {}, set {} times", wanted.channel,
                        ports_[static_cast<std::size_t>(wanted.channel) - 1].port, wanted.setting.port, kAttempts));
  }
}

std::string LcosWssDriver::text() const {
  switch (state_) {
    case WssState::reading_grid:
      return profile_.dialect.grid_query;
    case WssState::reading_ports:
    case WssState::prove:
      return profile_.dialect.ports_query;
    case WssState::wait:
      return profile_.dialect.settled_query;
    case WssState::force_flexgrid:
      return "CHW 0";
    case WssState::rebuild:
      return flexgrid::write_grid(profile_.dialect, wanted_grid());
    case WssState::route:
      return flexgrid::write_ports(differing_ports());
    case WssState::rest:
    case WssState::decide:
      break;
  }
  return {};
}

decltype(Transaction::order) LcosWssDriver::order() const {
  return line_order(flexgrid::frame(profile_.dialect, text()), "\r\n");
}

std::string LcosWssDriver::question() const { return quoted(text(), kShown); }

std::string LcosWssDriver::misread(const BusReply& reply) const {
  const std::string_view text = flexgrid::unframe(profile_.dialect, characters_of(reply)).value_or(std::string_view{});
  return text.empty() ? std::string{} : quoted(text, kShown) + " for an answer";
}

Answer LcosWssDriver::absorb(Instant now, const BusReply& reply) {
  const auto text = flexgrid::unframe(profile_.dialect, characters_of(reply));
  if (!text) {
    return Answer::none;
  }
  if (const std::string_view error = flexgrid::error_name(*text); !error.empty()) {
    return absorb_refusal(error);
  }
  return absorb_text(now, *text) ? Answer::understood : Answer::none;
}

Answer LcosWssDriver::absorb_refusal(std::string_view error) {
  mark_written();
  if (state_ == WssState::route && !looked_) {  // refused for what it held once: a power cycle took its channels
    grid_known_ = false;
    return Answer::understood;
  }
  give_up(format_text("{}: refused with {}", clipped(text(), kShown), error));
  return Answer::ended;
}

void LcosWssDriver::proceed(Instant now) {
  if (state_ != WssState::wait || settled_ || operation_.is_audit()) {
    fresh_ = fresh_ || state_ == WssState::prove || (operation_.is_audit() && state_ == WssState::wait);
    enter(row().then, now);
  } else if (now - patience_since_ <= patience()) {
    ask_again_later(now);  // it is still moving
  } else {
    give_up(format_text("{} still says moving, limit {}", profile_.dialect.settled_query, describe(patience())));
  }
}

void LcosWssDriver::mark_uncertain(Instant, const BusReply&) { mark_written(); }

/// What became of a write is unknown until it is read back.
void LcosWssDriver::mark_written() {
  if (row().exchange == Exchange::moves) {
    settled_ = false;
    fresh_ = false;
    ports_known_ = false;
    grid_known_ = grid_known_ && state_ != WssState::rebuild;
  }
}

/// Keeps what an answer tells. False: it is no answer to what was asked.
bool LcosWssDriver::absorb_text(Instant now, std::string_view text) {
  const auto say_settled = [this](bool settled) { operation_.reading<WavelengthSwitchObservation>().settled = settled; };
  switch (state_) {
    case WssState::reading_grid:
      return absorb_grid(text);
    case WssState::reading_ports:
    case WssState::prove:
      if (!absorb_ports(text)) {
        return false;
      }
      observe_routes(now);
      return true;
    case WssState::wait:
      settled_ = text == "SET 1";
      say_settled(settled_);
      return settled_ || text == "SET 0";
    case WssState::rebuild:
      mark_written();  // read back before anything rests on it
      say_settled(false);
      return text == "OK";
    case WssState::route:
      if (text == "OK") {
        ports_ = wanted_ports();
        settled_ = false;
        fresh_ = false;
        say_settled(false);
      }
      return text == "OK";
    default:
      return text == "OK";
  }
}

bool LcosWssDriver::absorb_grid(std::string_view text) {
  auto grid = flexgrid::read_grid(text);
  if (!grid) {
    return false;
  }
  ports_known_ = ports_known_ && *grid == grid_;
  grid_ = std::move(*grid);
  grid_known_ = true;
  return true;
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
                     [this](const WssChannel& wanted) { return place_of(wanted.channel).has_value(); });
}

/// A channel that was proven and is gone or elsewhere though nobody rebuilt the grid.
std::optional<WssChannel> LcosWssDriver::lost() const {
  if (operation_.is_audit() || rebuilds_ > 0 || !grid_known_) {
    return std::nullopt;
  }
  return find_lost([this](const WssChannel& held) {
    const auto place = place_of(held.channel);
    return place && (!ports_known_ || ports_[*place] == held.setting);
  });
}

/// The channels of the target, and of the comb what fits beside them, so that later circuits need no rebuild.
std::vector<Channel> LcosWssDriver::wanted_grid() const {
  std::vector<Channel> grid;
  for (const WssChannel& wanted : target_) {
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
  for (const WssChannel& wanted : target_) {
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

/// Channels that no slot describes (odd widths that somebody else defined) are left out.
void LcosWssDriver::observe_routes(Instant now) {
  auto& routes = operation_.reading<WavelengthSwitchObservation>().routes;
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
  const bool agrees = settled_ && grid_covers_target() && differing_ports().empty();
  operation_.finish(agrees, settled_ ? DeviceHealth::ready : DeviceHealth::moving);
  std::vector<WssChannel> seen;
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    if (ports_[i] != PortSetting{}) {
      seen.push_back({grid_[i], ports_[i]});
    }
  }
  last_verified_.see(std::move(seen));
}

void LcosWssDriver::forget() {
  grid_known_ = false;
  ports_known_ = false;
}

WssProfile wss_profile(const Fabric& fabric, const Device& device) {
  LOOM_ASSERT(device.elements.size() == 1);
  const Element& element = fabric.element(device.elements.front());
  const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind);
  LOOM_ASSERT(wss != nullptr);
  WssProfile profile;
  profile.take(device);
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
