// SPDX-License-Identifier: Apache-2.0
// The state table of LcosWssDriver and the machine that walks it.
#include "drivers/wss/lcos_wss.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/fabric/channel_grid.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {

using NewGrid = WssChannels::NewGrid;
using flexgrid::Channel;
using flexgrid::ChannelSetting;
using flexgrid::PortSetting;

namespace {

constexpr unsigned kAttempts = 3;   ///< grids and patterns that read-back did not confirm, an operation
constexpr std::size_t kShown = 40;  ///< characters of a line in a sentence
constexpr std::array<std::string_view, 4> kWhoAreYou{"SNO?", "HWR?", "FWR?", "SUS?"};
constexpr Channel kBeyondCoarse{flexgrid::kCoarseSlices + 1, flexgrid::kCoarseSlices + 1};

constexpr ProcedureRow<WssState> kTable[] = {
    // state                        exchange         then              uncertain
    {WssState::rest, Exchange::none, WssState::rest, WssState::rest},
    {WssState::decide, Exchange::none, WssState::decide, WssState::decide},
    {WssState::reading_grid, Exchange::asks, WssState::decide, WssState::reading_grid},
    {WssState::reading_ports, Exchange::asks, WssState::decide, WssState::reading_ports},
    {WssState::identify, Exchange::asks, WssState::decide, WssState::identify},
    {WssState::force_flexgrid, Exchange::asks, WssState::define, WssState::force_flexgrid},
    {WssState::probe, Exchange::moves, WssState::define, WssState::decide},
    {WssState::define, Exchange::moves, WssState::decide, WssState::decide},
    {WssState::load, Exchange::asks, WssState::decide, WssState::load},
    {WssState::show, Exchange::moves, WssState::decide, WssState::decide},
    {WssState::settle, Exchange::none, WssState::decide, WssState::decide},
    {WssState::status, Exchange::asks, WssState::decide, WssState::status},
    {WssState::prove, Exchange::asks, WssState::decide, WssState::prove},
};

/// Counts one more attempt; after the last the procedure comes to rest.
WssState if_few(unsigned& attempts, WssState state) { return ++attempts <= kAttempts ? state : WssState::rest; }

}  // namespace

std::string_view WssInterview::question() const { return kWhoAreYou[next_]; }

bool WssInterview::goes_on() const { return next_ < kWhoAreYou.size() && !has_asked_; }

void WssInterview::absorb(std::string_view data, DeviceIdentity& identity) {
  static constexpr std::array<std::string_view, kWhoAreYou.size()> kWords{"", "hardware ", "firmware ", "starts "};
  std::string word(data.substr(0, kShown));
  std::ranges::replace_if(word, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  if (next_ == 0) {
    identity.serial = word;
  } else {
    identity.description += format_text("{}{}{}", identity.description.empty() ? "" : ", ", kWords[next_], word);
  }
  pass();
}

LcosWssDriver::LcosWssDriver(WssProfile profile)
    : ReadBackDriver(std::move(profile), kTable), channels_(profile_.dialect, profile_.comb) {
  target_.reserve(limits::kWssRoutes);  // fire() copies without allocating
  operation_.observation().proof = Proof::assumed;
}

Result<void> LcosWssDriver::check_route(const WssRoute& route) const {
  const flexgrid::Dialect& dialect = channels_.dialect();
  const std::string where = format_text("{} {}: ", profile_.name, name_of(route.slot));
  if (route.input >= profile_.inputs || route.output >= profile_.outputs || route.output + 1 >= flexgrid::kBlockedPort ||
      (dialect.map == flexgrid::PortMap::by_input && route.input + 1 >= flexgrid::kBlockedPort)) {
    return fail(ErrorCode::out_of_range,
                format_text("{}input {} to output {}, limit {} inputs, {} outputs, port numbers below 99", where, route.input,
                            route.output, profile_.inputs, profile_.outputs));
  }
  const Channel channel = channel_of(dialect, route.slot);
  if (route.slot.m < 1 || channel.first < 1 || channel.last > flexgrid::kSlices) {
    return fail(ErrorCode::out_of_range, format_text("{}outside the window of {} and {} slices of 6.25 GHz", where,
                                                     to_string(dialect.window_start), flexgrid::kSlices));
  }
  if (channels_.knows_slices() && !fits_slices(dialect, channel)) {
    return fail(ErrorCode::out_of_range, format_text("{}its edges do not lie on this device's slices of 12.5 GHz", where));
  }
  if (route.attenuation.centi < 0 || route.attenuation > dialect.attenuation_max) {
    return fail(ErrorCode::out_of_range, format_text("{}attenuation {}, limit {}", where, decibel_of(route.attenuation.centi),
                                                     decibel_of(dialect.attenuation_max.centi)));
  }
  return {};
}

Result<void> LcosWssDriver::check(const Setpoint& setpoint) const {
  return check_routes(profile_.name, setpoint, [this](const WssRoute& route) { return check_route(route); });
}

Duration LcosWssDriver::lead(const Setpoint&) const { return 10 * profile_.exchange + profile_.settle_max; }

std::vector<WssChannel> LcosWssDriver::held_by(const Setpoint& setpoint) const {
  LOOM_ASSERT(std::holds_alternative<WavelengthSwitchSetpoint>(setpoint));
  std::vector<WssChannel> channels;
  for (const WssRoute& route : std::get<WavelengthSwitchSetpoint>(setpoint).routes) {
    channels.push_back({channel_of(profile_.dialect, route.slot), setting_of(profile_.dialect, route)});
  }
  return channels;
}

void LcosWssDriver::prepare() {
  withdraws_ = false;
  operation_.ask_prepare();
}

void LcosWssDriver::withdraw() {
  withdraws_ = true;  // of a preparation that waits for its turn or is under way, too
  if (prepared_ || operation_.is_preparation()) {
    operation_.ask_prepare();
  }
}

void LcosWssDriver::begin() {
  definitions_ = 0;
  loads_ = 0;
  fresh_ = false;
  looked_ = false;
  status_is_good_ = !has_status_;
  status_since_ = Instant{};
  interview_.begin();
  if (operation_.is_audit() || (operation_.is_preparation() && !withdraws_)) {
    channels_.forget_grid();  // what is there is read, so that whoever fires next need not
  }
}

/// What the target needs next, from what is known.
WssState LcosWssDriver::decide(Instant now) {
  if (!channels_.has_grid()) {
    return WssState::reading_grid;
  }
  if (!channels_.has_ports()) {
    return WssState::reading_ports;
  }
  if (operation_.is_audit()) {
    return interview_.goes_on() ? WssState::identify : status_is_good_ ? WssState::rest : WssState::status;
  }
  if (operation_.is_preparation()) {
    return decide_preparation(now);
  }
  if (lost() || channels_.new_grid(target_) == NewGrid::forbidden) {
    return looked_ ? WssState::rest : WssState::reading_ports;  // what is left is read before it is told
  }
  if (channels_.new_grid(target_) == NewGrid::yes) {
    return if_few(definitions_, WssState::force_flexgrid);
  }
  if (const auto wanted = channels_.pattern_for(target_); wanted != channels_.ports()) {
    return prepared_ && prepared_->pattern == wanted ? WssState::show : load(wanted);
  }
  if (now < std::max(moving_until_, others_until_)) {
    return WssState::settle;
  }
  return !status_is_good_ ? WssState::status : !fresh_ ? WssState::prove : WssState::rest;
}

/// A pattern is prepared for the grid that is there. Where a new grid is needed it is defined now if everything is blocked, as
/// it is after: that moves no light. Else there is nothing to prepare.
WssState LcosWssDriver::decide_preparation(Instant now) {
  if (withdraws_) {
    return prepared_ && prepared_->pattern != channels_.ports() ? load(channels_.ports()) : WssState::rest;
  }
  const bool may_move = now < std::max(moving_until_, others_until_);
  if (channels_.new_grid(staged_) != NewGrid::no) {
    if (!channels_.held().empty()) {
      return WssState::rest;
    }
    return may_move && definitions_ == 0 ? WssState::settle  // what was blocked just now may still pass light
                                         : if_few(definitions_, WssState::force_flexgrid);
  }
  auto wanted = channels_.pattern_for(staged_);
  if (wanted != channels_.ports() && (!prepared_ || prepared_->pattern != wanted)) {
    return load(std::move(wanted));
  }
  return may_move && definitions_ > 0 ? WssState::settle : WssState::rest;  // a preparation takes away no proof
}

const std::vector<WssChannel>& LcosWssDriver::wanted() const { return operation_.is_preparation() ? staged_ : target_; }

WssState LcosWssDriver::load(std::vector<PortSetting> pattern) {
  to_load_ = std::move(pattern);
  return if_few(loads_, WssState::load);
}

WssState LcosWssDriver::resolve(WssState state, Instant now) {
  clock_ = now;
  if (!std::exchange(has_begun_, true)) {
    others_until_ = now + profile_.settle_max;
  }
  if (state == WssState::define && !channels_.knows_slices()) {
    return WssState::probe;
  }
  const WssState next = state == WssState::decide ? decide(now) : state;
  only_connection_ = next == WssState::show ? prepared_->connection : 0;
  return next;
}

Instant LcosWssDriver::ready_at() const {
  return state_ == WssState::settle ? std::max({moving_until_, others_until_, retry_.resume_at()}) : retry_.resume_at();
}

void LcosWssDriver::conclude() {
  const auto gone = operation_.is_fire() ? lost() : std::nullopt;
  if (gone) {
    const auto slot = slot_of(channels_.dialect(), gone->channel);
    give_up(
        Trouble::unheeded,
        format_text("has lost {}, which it held at port {} (did its power go?); nothing was moved: light may enter it still",
                    slot ? name_of(*slot) : std::string("a channel"), gone->setting.port));
  } else if (operation_.is_fire() && channels_.new_grid(target_) == NewGrid::forbidden) {
    give_up(
        Trouble::unheeded,
        "its channel grid is not the one that its routes were defined with, and a new one would disturb circuits that stay; "
        "nothing was moved: who defined it?");
  } else if (definitions_ > kAttempts) {
    give_up(Trouble::unheeded, format_text("the channel grid does not read back as defined, {} times", kAttempts));
  } else if (loads_ > kAttempts) {
    const auto& ports = channels_.ports();
    const auto differs = std::mismatch(to_load_.begin(), to_load_.end(), ports.begin(), ports.end());
    give_up(Trouble::unheeded,
            differs.first != to_load_.end() && differs.second != ports.end()
                ? format_text("channel {} reads port {}, wanted {}, set {} times", differs.second - ports.begin() + 1,
                              differs.second->port, differs.first->port, kAttempts)
                : format_text("its channels do not read back as set, {} times", kAttempts));
  } else {
    finish();
  }
}

std::string LcosWssDriver::text() const {
  const auto pattern = [this] {
    std::vector<ChannelSetting> settings;
    for (std::size_t i = 0; i < to_load_.size(); ++i) {
      settings.push_back({static_cast<std::int32_t>(i) + 1, to_load_[i]});
    }
    return flexgrid::write_ports(settings);
  };
  switch (state_) {
    case WssState::reading_grid:
      return "DCC?";
    case WssState::reading_ports:
    case WssState::prove:
      return "RRA?";
    case WssState::identify:
      return std::string(interview_.question());
    case WssState::status:
      return "OSS?";
    case WssState::force_flexgrid:
      return "CHW 0";
    case WssState::probe:
      return "DCC " + flexgrid::write_grid({}, std::span(&kBeyondCoarse, 1));
    case WssState::define:
      return "DCC " + flexgrid::write_grid(channels_.dialect(), channels_.grid_for(wanted()));
    case WssState::load:
      return "URA " + pattern();
    case WssState::show:
      return "RSW";
    case WssState::rest:
    case WssState::decide:
    case WssState::settle:
      break;
  }
  return {};
}

decltype(Transaction::order) LcosWssDriver::order() const {
  Frame frame = line_order(flexgrid::frame(checksum_, text()), "\r\n");
  frame.last_lines = flexgrid::last_lines();
  return frame;
}

std::string LcosWssDriver::question() const { return quoted(text(), kShown); }

Complaint LcosWssDriver::misread(const BusReply& reply) const {
  const auto read = flexgrid::read_reply(characters_of(reply));
  if (!read) {
    return {flexgrid::fails_check(characters_of(reply)) ? Trouble::bad_check : Trouble::garbage, {}};
  }
  return {Trouble::garbage, quoted(read->data.empty() ? read->end : read->data, kShown) + " for an answer"};
}

Answer LcosWssDriver::absorb(Instant now, const BusReply& reply) {
  clock_ = now;
  const auto read = flexgrid::read_reply(characters_of(reply));
  if (!read) {
    return Answer::none;
  }
  if (const std::string_view error = flexgrid::error_name(read->end); !error.empty()) {
    return absorb_refusal(now, error);
  }
  if (state_ == WssState::status) {
    return absorb_status(read->data);
  }
  return absorb_data(now, read->data, reply.connection) ? Answer::understood : Answer::none;
}

Answer LcosWssDriver::absorb_refusal(Instant now, std::string_view error) {
  if (state_ == WssState::reading_grid && std::exchange(checksum_, false)) {
    return Answer::understood;  // it does not know the framed form
  }
  if (state_ == WssState::identify) {
    interview_.pass();
    return Answer::understood;
  }
  if (state_ == WssState::status) {
    has_status_ = false;
    status_is_good_ = true;
    return Answer::understood;
  }
  if (state_ == WssState::probe) {
    channels_.set_slices(flexgrid::kCoarseSlices);
    const bool fit = std::ranges::all_of(
        wanted(), [this](const WssChannel& each) { return fits_slices(channels_.dialect(), each.channel); });
    if (fit) {
      return Answer::understood;
    }
    give_up(Trouble::misfit, "its slices are 12.5 GHz wide, and the edges of a route do not lie on them");
    return Answer::ended;
  }
  if (row().exchange == Exchange::moves) {
    mark_moved(now);
  }
  if ((state_ == WssState::load && !looked_) || state_ == WssState::show) {  // a power cycle took its channels, or the pattern
    prepared_.reset();
    channels_.forget_grid();
    return Answer::understood;
  }
  give_up(Trouble::refusing, format_text("{}: refused with {}", clipped(text(), kShown), error));
  return Answer::ended;
}

void LcosWssDriver::mark_uncertain(Instant now, const BusReply&) {
  if (row().exchange == Exchange::moves) {
    mark_moved(now);
  }
  if (state_ == WssState::load || state_ == WssState::show) {
    prepared_.reset();
  }
}

/// What became of a write is unknown until it is read back, and what it moved may move until then.
void LcosWssDriver::mark_moved(Instant now) {
  moving_until_ = now + profile_.settle_max;
  has_moved_ = true;
  fresh_ = false;
  if (state_ == WssState::show) {
    channels_.forget_ports();
  } else {
    channels_.forget_grid();
  }
  operation_.reading<WavelengthSwitchObservation>().settled = false;
}

/// Keeps what an answer tells. False: it is no answer to what was asked.
bool LcosWssDriver::absorb_data(Instant now, std::string_view data, std::uint32_t connection) {
  switch (state_) {
    case WssState::reading_grid: {
      const auto is_other = channels_.read_grid(data);
      if (is_other.value_or(false)) {
        prepared_.reset();
      }
      return is_other.has_value();
    }
    case WssState::reading_ports:
    case WssState::prove:
      return absorb_ports(now, data);
    case WssState::identify:
      interview_.absorb(data, operation_.observation().identity);
      return true;
    case WssState::probe:
      channels_.set_slices(flexgrid::kSlices);
      mark_moved(now);
      break;
    case WssState::define:
      mark_moved(now);
      break;
    case WssState::load:
      prepared_ = Prepared{to_load_, connection};
      break;
    case WssState::show:
      mark_moved(now);  // that it took it is read at once, that it stands when it must have settled
      prepared_.reset();
      break;
    default:
      break;
  }
  return data.empty();
}

bool LcosWssDriver::absorb_ports(Instant now, std::string_view data) {
  const std::vector<PortSetting> commanded = channels_.ports();
  const bool was_known = channels_.has_ports();
  switch (channels_.read_ports(data)) {
    case WssChannels::Ports::unreadable:
      return false;
    case WssChannels::Ports::of_another_grid:
      prepared_.reset();
      return true;
    case WssChannels::Ports::read:
      break;
  }
  const bool is_as_commanded = channels_.ports() == commanded;
  if (!is_as_commanded && !commanded.empty() && !has_moved_) {
    others_until_ = now + profile_.settle_max;  // nobody knows when
  }
  has_moved_ = false;
  fresh_ = state_ == WssState::prove ? is_as_commanded : !was_known;
  looked_ = true;
  auto& reading = operation_.reading<WavelengthSwitchObservation>();
  reading.routes = channels_.routes();
  reading.settled = now >= moving_until_;
  operation_.observation().read_at = now;
  return true;
}

/// What its bits mean no public source says, so each that is set and not ignored is trouble.
Answer LcosWssDriver::absorb_status(std::string_view data) {
  const auto status = flexgrid::read_status(data);
  if (!status) {
    return Answer::none;
  }
  status_is_good_ = (*status & ~profile_.ignored_status) == 0;
  if (status_is_good_) {
    return Answer::understood;
  }
  status_since_ = status_since_ == Instant{} ? clock_ : status_since_;
  if (!operation_.is_audit() && clock_ - status_since_ <= patience()) {
    ask_again_later(clock_);
    return Answer::understood;
  }
  give_up(Trouble::broken,
          format_text("its operation status (OSS?) is {}; if that means no trouble, say ignored_status: {} in its profile",
                      data, *status | profile_.ignored_status));
  return Answer::ended;
}

/// A channel that was proven and is gone or elsewhere though nobody defined a new grid.
std::optional<WssChannel> LcosWssDriver::lost() const {
  if (!operation_.is_fire() || definitions_ > 0 || !channels_.has_grid()) {
    return std::nullopt;
  }
  return find_lost([this](const WssChannel& held) { return channels_.keeps(held); });
}

void LcosWssDriver::finish() {
  const bool is_settled = clock_ >= moving_until_;
  operation_.reading<WavelengthSwitchObservation>().settled = is_settled;
  if (operation_.is_preparation()) {
    operation_.finish(true, is_settled ? DeviceHealth::ready : DeviceHealth::moving);
    return;
  }
  const bool agrees =
      is_settled && channels_.new_grid(target_) == NewGrid::no && channels_.pattern_for(target_) == channels_.ports();
  operation_.finish(agrees, is_settled ? DeviceHealth::ready : DeviceHealth::moving);
  last_verified_.see(channels_.held());
}

void LcosWssDriver::forget() {
  channels_.forget_grid();
  prepared_.reset();
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
  profile.ignored_status =
      static_cast<std::uint16_t>(DeviceProfileView(kLcosWss.model.keys, device.profile).integer("ignored_status"));
  for (const FrequencySlot slot : comb_of(fabric)) {
    const Channel channel = channel_of(profile.dialect, slot);
    if (channel.first >= 1 && channel.last <= flexgrid::kSlices) {
      profile.comb.push_back(slot);
    }
  }
  return profile;
}

namespace {

constexpr std::array kKeys{ProfileKey{"ignored_status", IntegerKey{0, 0, 65'535},
                                      "bits of the operation status (OSS?) that mean no trouble on this device"}};

}  // namespace

constinit const DriverModel kLcosWss{
    {"wss", DeviceRole::wavelength_switch, "LCoS wavelength-selective switch, flexible-grid ASCII over TCP or a serial line",
     kKeys, refuse_two_sides, kStreamSchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<LcosWssDriver>(wss_profile(fabric, device));
    }};

}  // namespace loom
