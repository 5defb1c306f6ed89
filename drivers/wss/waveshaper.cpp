// SPDX-License-Identifier: Apache-2.0
// The state table of WaveShaperDriver and the machine that walks it.
#include "drivers/wss/waveshaper.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"
#include "core/text/http_text.hpp"

namespace loom {

using waveshaper::Pass;
using waveshaper::Spectrum;

namespace {

constexpr unsigned kAttempts = 3;  ///< loads that read-back did not confirm, a fire

constexpr ProcedureRow<WaveShaperState> kTable[] = {
    // state                          exchange         then                     uncertain
    {WaveShaperState::rest, Exchange::none, WaveShaperState::rest, WaveShaperState::rest},
    {WaveShaperState::decide, Exchange::none, WaveShaperState::decide, WaveShaperState::decide},
    {WaveShaperState::identify, Exchange::asks, WaveShaperState::decide, WaveShaperState::identify},
    {WaveShaperState::read, Exchange::asks, WaveShaperState::decide, WaveShaperState::read},
    {WaveShaperState::load, Exchange::moves, WaveShaperState::decide, WaveShaperState::decide},
    {WaveShaperState::settle, Exchange::none, WaveShaperState::decide, WaveShaperState::decide},
    {WaveShaperState::prove, Exchange::asks, WaveShaperState::decide, WaveShaperState::prove},
};

std::string in_words(const Pass& pass) { return format_text("{} to port {}", name_of(slot_of(pass)), pass.port); }

bool lies_in(const waveshaper::Band& band, FrequencySlot slot) {
  return lower_edge_of(slot) >= band.first && upper_edge_of(slot) <= band.last;
}

/// Try later: what a web server says that is there and cannot yet.
bool is_passing(int status) { return status >= 500 || status == 429; }

}  // namespace

WaveShaperDriver::WaveShaperDriver(WaveShaperSettings settings) : ReadBackDriver(std::move(settings), kTable) {
  target_.reserve(limits::kWssRoutes);  // fire() copies without allocating
  operation_.observation().proof = Proof::assumed;
}

Result<void> WaveShaperDriver::check_route(const WssRoute& route) const {
  const std::string where = format_text("{} {}: ", profile_.name, name_of(route.slot));
  if (route.input >= profile_.inputs || route.output >= profile_.outputs) {
    return fail(ErrorCode::out_of_range, format_text("{}input {} to output {}, limit {} inputs, {} outputs", where, route.input,
                                                     route.output, profile_.inputs, profile_.outputs));
  }
  if (route.slot.m < 1 || route.slot.m > limits::kSlotM || std::abs(route.slot.n) > limits::kSlotN) {
    return fail(ErrorCode::out_of_range, where + "no slot of the grid");
  }
  if (info_ && !lies_in(info_->band, route.slot)) {  // before it has said its band, a fire judges
    return fail(ErrorCode::out_of_range, format_text("{}outside the band of {} to {}", where, to_string(info_->band.first),
                                                     to_string(info_->band.last)));
  }
  if (route.attenuation < Db{0} || route.attenuation > waveshaper::kCalibratedMax) {
    return fail(ErrorCode::out_of_range, format_text("{}attenuation {}, limit {}", where, decibel_of(route.attenuation.centi),
                                                     decibel_of(waveshaper::kCalibratedMax.centi)));
  }
  return {};
}

Result<void> WaveShaperDriver::check(const Setpoint& setpoint) const {
  return check_routes(profile_.name, setpoint, [this](const WssRoute& route) { return check_route(route); });
}

/// Who it is on the first fire, a reading, the load, a reading.
Duration WaveShaperDriver::lead(const Setpoint&) const { return 4 * profile_.exchange + profile_.settle_max; }

std::vector<Pass> WaveShaperDriver::held_by(const Setpoint& setpoint) const {
  LOOM_ASSERT(std::holds_alternative<WavelengthSwitchSetpoint>(setpoint));
  std::vector<Pass> passes;
  for (const WssRoute& route : std::get<WavelengthSwitchSetpoint>(setpoint).routes) {
    passes.push_back(waveshaper::pass_of(route.slot, port_of(profile_.map, route), route.attenuation));
  }
  return passes;
}

/// The profile is read anew for every fire: a load replaces all of it, and what a power cycle took away is not laid again under
/// light that nobody asked about.
void WaveShaperDriver::begin() {
  forget();
  loads_ = 0;
  asked_who_ = asked_at_rest_ = proven_ = false;
}

WaveShaperState WaveShaperDriver::decide(Instant now) {
  if (!info_ || (operation_.is_audit() && !asked_who_)) {
    return WaveShaperState::identify;
  }
  if (!misfit().empty()) {
    return WaveShaperState::rest;
  }
  if (!spectrum_) {
    return WaveShaperState::read;
  }
  if (operation_.is_audit() || lost()) {
    return WaveShaperState::rest;
  }
  if (!lets_through_only(*spectrum_, target_)) {
    loading_ = target_;  // a newer fire() may aim elsewhere before this is answered
    return ++loads_ <= kAttempts ? WaveShaperState::load : WaveShaperState::rest;
  }
  if (now < settled_from()) {
    return WaveShaperState::settle;
  }
  return proven_ ? WaveShaperState::rest : WaveShaperState::prove;
}

WaveShaperState WaveShaperDriver::resolve(WaveShaperState state, Instant now) {
  clock_ = now;
  if (!std::exchange(has_begun_, true)) {
    others_until_ = now + profile_.settle_max;
  }
  asked_at_rest_ = now >= settled_from();
  return state == WaveShaperState::decide ? decide(now) : state;
}

Instant WaveShaperDriver::ready_at() const {
  return state_ == WaveShaperState::settle ? std::max(settled_from(), retry_.resume_at()) : retry_.resume_at();
}

void WaveShaperDriver::conclude() {
  const std::string misfit_words = misfit();
  const auto gone = operation_.is_fire() ? lost() : std::nullopt;
  if (!misfit_words.empty()) {
    give_up(Trouble::misfit, misfit_words);
  } else if (gone) {
    give_up(Trouble::unheeded,
            format_text("has lost {} (did its power go?); nothing was moved: light may enter it still", in_words(*gone)));
  } else if (loads_ > kAttempts) {
    const auto differs =
        std::ranges::find_if(target_, [this](const Pass& wanted) { return !waveshaper::lets_through(*spectrum_, wanted); });
    give_up(Trouble::unheeded, format_text("its profile does not read back as loaded, {} times: {}", kAttempts,
                                           differs == target_.end() ? "it lets through more than it was told"
                                                                    : in_words(*differs) + " is missing"));
  } else {
    finish();
  }
}

decltype(Transaction::order) WaveShaperDriver::order() const {
  switch (state_) {
    case WaveShaperState::identify:
      return http_order({"GET", waveshaper::kInfoPath});
    case WaveShaperState::load: {
      const auto points = waveshaper::points_of(info_->band, loading_);
      const std::string body = waveshaper::write_load(waveshaper::write_profile(points));
      return http_order({"POST", waveshaper::kLoadPath, body});
    }
    default:
      return http_order({"GET", waveshaper::kProfilePath});
  }
}

std::string WaveShaperDriver::question() const {
  switch (state_) {
    case WaveShaperState::identify:
      return format_text("GET {}", waveshaper::kInfoPath);
    case WaveShaperState::load:
      return format_text("POST {}", waveshaper::kLoadPath);
    default:
      return format_text("GET {}", waveshaper::kProfilePath);
  }
}

Complaint WaveShaperDriver::misread(const BusReply& reply) const {
  const auto http = read_http_reply(reply.bytes);
  if (!http) {
    return {Trouble::garbage, {}};
  }
  if (http->status != kHttpOk) {
    return {Trouble::refusing, to_string(*http)};
  }
  const auto words = [](const auto& read) {
    return Complaint{Trouble::garbage, read ? std::string{} : "an answer that is none: " + read.error().message};
  };
  return state_ == WaveShaperState::identify ? words(waveshaper::read_info(http->body))
         : state_ == WaveShaperState::load   ? words(waveshaper::read_verdict(http->body))
                                             : words(waveshaper::read_profile(http->body));
}

Answer WaveShaperDriver::absorb(Instant now, const BusReply& reply) {
  clock_ = now;
  const auto http = read_http_reply(reply.bytes);
  if (!http || is_passing(http->status)) {
    return Answer::none;
  }
  if (http->status != kHttpOk) {
    give_up(Trouble::refusing, format_text("{}: refused with {}", question(), to_string(*http)));
    return Answer::ended;
  }
  return state_ == WaveShaperState::identify ? absorb_info(http->body)
         : state_ == WaveShaperState::load   ? absorb_verdict(now, http->body)
                                             : absorb_profile(now, http->body);
}

Answer WaveShaperDriver::absorb_info(std::string_view body) {
  Result<waveshaper::Info> info = waveshaper::read_info(body);
  if (!info && info.error().code == ErrorCode::device_error) {
    give_up(Trouble::refusing, format_text("{}: {}", question(), info.error().message));
    return Answer::ended;
  }
  if (!info) {
    return Answer::none;
  }
  info_ = std::move(*info);
  asked_who_ = true;
  operation_.observation().identity = {
      info_->serial, format_text("{}, release {}, {} ports, {} to {}", info_->model, info_->release, info_->ports,
                                 to_string(info_->band.first), to_string(info_->band.last))};
  return Answer::understood;
}

Answer WaveShaperDriver::absorb_profile(Instant now, std::string_view body) {
  const auto points = waveshaper::read_profile(body);
  if (!points) {
    return Answer::none;
  }
  const std::optional<Spectrum> known = spectrum_ ? std::move(spectrum_) : std::move(last_known_);
  spectrum_ = waveshaper::spectrum_of(*points);
  last_known_.reset();
  const bool is_as_known = known && waveshaper::joined(known->passes) == waveshaper::joined(spectrum_->passes) &&
                           known->foreign == spectrum_->foreign;
  if (known && !is_as_known) {
    others_until_ = now + profile_.settle_max;  // nobody knows when
  }
  proven_ = asked_at_rest_ && is_as_known;
  auto& reading = operation_.reading<WavelengthSwitchObservation>();
  reading.routes = routes();
  reading.settled = now >= moved_until_;
  operation_.observation().read_at = now;
  return Answer::understood;
}

Answer WaveShaperDriver::absorb_verdict(Instant now, std::string_view body) {
  const Result<waveshaper::Verdict> verdict = waveshaper::read_verdict(body);
  if (!verdict) {
    return Answer::none;
  }
  if (verdict->code != 0) {
    give_up(Trouble::refusing, format_text("{}: refused with rc {} ({})", question(), verdict->code, verdict->text));
    return Answer::ended;
  }
  mark_moved(now);
  spectrum_ = Spectrum{loading_, {}};
  return Answer::understood;
}

void WaveShaperDriver::mark_uncertain(Instant now, const BusReply&) {
  if (state_ == WaveShaperState::load) {
    mark_moved(now);
    forget();
  }
}

/// What it moved may move until then.
void WaveShaperDriver::mark_moved(Instant now) {
  moved_until_ = now + profile_.settle_max;
  proven_ = false;
  operation_.reading<WavelengthSwitchObservation>().settled = false;
}

std::string WaveShaperDriver::misfit() const {
  const PortNumber needed = profile_.map == PortMap::by_output ? profile_.outputs : profile_.inputs;
  if (!info_) {
    return {};
  }
  if (info_->ports < needed) {
    return format_text("has {} {} ({}), the fabric gives it {}", info_->ports, info_->ports == 1 ? "port" : "ports",
                       info_->model, needed);
  }
  const auto beyond =
      std::ranges::find_if_not(target_, [this](const Pass& pass) { return lies_in(info_->band, slot_of(pass)); });
  return beyond == target_.end() || operation_.is_audit()
             ? std::string{}
             : format_text("{} lies outside its band of {} to {}", in_words(*beyond), to_string(info_->band.first),
                           to_string(info_->band.last));
}

std::optional<Pass> WaveShaperDriver::lost() const {
  return spectrum_ ? find_lost([this](const Pass& held) { return waveshaper::lets_through(*spectrum_, held); }) : std::nullopt;
}

/// By the names that were commanded where all is as commanded; else by the profile's own edges.
std::vector<WssRoute> WaveShaperDriver::routes() const {
  const PortNumber ports = profile_.map == PortMap::by_output ? profile_.outputs : profile_.inputs;
  return waveshaper::routes_of(lets_through_only(*spectrum_, target_) ? target_ : waveshaper::all_of(*spectrum_), profile_.map,
                               ports);
}

void WaveShaperDriver::finish() {
  const bool is_settled = clock_ >= moved_until_;
  operation_.reading<WavelengthSwitchObservation>().settled = is_settled;
  operation_.finish(is_settled && lets_through_only(*spectrum_, target_),
                    is_settled ? DeviceHealth::ready : DeviceHealth::moving);
  last_verified_.see(lets_through_only(*spectrum_, target_) ? target_ : spectrum_->passes);
}

/// What it was is remembered only to be compared with what is read next.
void WaveShaperDriver::forget() {
  if (spectrum_) {
    last_known_ = std::exchange(spectrum_, std::nullopt);
  }
}

namespace {

constexpr std::array kKeys{
    ProfileKey{"reply_max", DurationKey{std::chrono::seconds{2}, std::chrono::milliseconds{50}, std::chrono::minutes{1}},
               "longest time of one answer of its web server, an upload of 150 KB included; clients wait 1 to 20 s"}};

}  // namespace

WaveShaperSettings waveshaper_settings(const Fabric& fabric, const Device& device) {
  LOOM_ASSERT(device.elements.size() == 1);
  const Element& element = fabric.element(device.elements.front());
  const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind);
  LOOM_ASSERT(wss != nullptr);
  WaveShaperSettings settings;
  settings.take(device);
  settings.inputs = element.inputs;
  settings.outputs = element.outputs;
  settings.map = port_map_of(element.inputs, element.outputs);
  settings.settle_max = wss->settle_max;
  settings.reply_deadline = DeviceProfileView(kKeys, device.profile).duration("reply_max");
  settings.exchange = std::chrono::milliseconds{50};  // 150 KB at 100 Mbit/s are 12 ms; the rest is the device's [K]
  return settings;
}

constinit const DriverModel kWaveShaper{
    {"waveshaper", DeviceRole::wavelength_switch, "WaveShaper programmable filter as a WSS, HTTP and WSP profiles", kKeys,
     refuse_two_sides, kWebSchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<WaveShaperDriver>(waveshaper_settings(fabric, device));
    }};

}  // namespace loom
