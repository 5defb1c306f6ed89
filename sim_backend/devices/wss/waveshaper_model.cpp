// SPDX-License-Identifier: Apache-2.0
// Requests and holograms of a simulated WaveShaper.
#include "sim_backend/devices/wss/waveshaper_model.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"
#include "sim_backend/devices/wss/waveshaper_order.hpp"

namespace loom {

using waveshaper::Pass;
using waveshaper::Point;

namespace {

constexpr std::int64_t kNsPerByte = 80;                       ///< 100 Mbit/s [K]
constexpr std::size_t kHeadBytes = 160;                       ///< header fields of a message, about
constexpr Duration kHologram = std::chrono::milliseconds{5};  ///< to compute one and to say so [K]
constexpr std::uint32_t kEdgeZero = 1u << 16;                 ///< of addresses in actuations

Duration wire(std::size_t bytes) { return Duration{static_cast<std::int64_t>(bytes + kHeadBytes) * kNsPerByte}; }

}  // namespace

WaveShaperModel::WaveShaperModel(const Device& device, const Element& element, const SimDeviceOptions& options)
    : SimulatedWss(device, element, options), map_(port_map_of(element.inputs, element.outputs)) {
  info_.model = "WaveShaper simulated";
  info_.serial = device.serial.empty() ? format_text("SN{:06d}", device.id.value % 1'000'000) : device.serial;
  info_.release = "1.0";
  info_.ports = std::max(element.inputs, element.outputs);
  points_ = waveshaper::points_of(info_.band, {});
}

ModelReply WaveShaperModel::respond(Instant now, const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  const auto request = frame == nullptr ? std::nullopt : read_http_request(frame->request);
  if (!request) {
    return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  }
  Instant at = now + wire(frame->request.size()) + options().device_time;
  at += request->path == waveshaper::kLoadPath ? kHologram : Duration{};
  const Answer answered = answer(now, at, *request);
  const std::string_view reason = answered.status == kHttpOk ? "OK"
                                  : answered.status == 404   ? "Not Found"
                                                             : "Method Not Allowed";
  BusReply reply;
  reply.bytes = http_reply_bytes({answered.status, reason, answered.body});
  const Duration back = wire(reply.bytes.size());
  return {std::move(reply), at - now + back};
}

ModelReply WaveShaperModel::refuse(Instant, const Transaction&) {
  BusReply reply;
  reply.bytes = http_reply_bytes({503, "Service Unavailable", {}});
  return {std::move(reply), options().device_time + wire(0)};
}

void WaveShaperModel::power_up(Instant) {
  points_ = waveshaper::points_of(info_.band, {});
  passes_.clear();
  routes_.clear();
  stop_moving();
}

WaveShaperModel::Answer WaveShaperModel::answer(Instant now, Instant at, const HttpRequest& request) {
  const std::string_view wanted = waveshaper::method_of(request.path);
  if (wanted.empty()) {
    return {404, {}};
  }
  if (request.method != wanted) {
    return {405, {}};
  }
  if (request.path == waveshaper::kLoadPath) {
    return {kHttpOk, load(now, at, request.body)};
  }
  return {kHttpOk, request.path == waveshaper::kInfoPath ? waveshaper::write_info(info_) : waveshaper::write_profile(points_)};
}

std::string WaveShaperModel::load(Instant now, Instant at, std::string_view order) {
  auto ordered = waveshaper::points_of_order(info_, order);
  if (const auto* verdict = std::get_if<waveshaper::Verdict>(&ordered)) {
    return waveshaper::write_verdict(*verdict, info_.serial);
  }
  if (has_fault(DeviceFaultKind::fail, now)) {
    return waveshaper::write_verdict(refused(waveshaper::Refusal::optics, "optics do not answer"), info_.serial);
  }
  if (!has_fault(DeviceFaultKind::stick, now)) {
    show(now, at, std::get<std::vector<Point>>(std::move(ordered)));
  }
  return waveshaper::write_verdict({}, info_.serial);
}

void WaveShaperModel::show(Instant now, Instant at, std::vector<Point> points) {
  before_move(at);
  points_ = std::move(points);
  const std::vector<Pass> before = std::exchange(passes_, waveshaper::all_of(waveshaper::spectrum_of(points_)));
  const auto has = [](const std::vector<Pass>& passes, const Pass& pass) {
    return std::ranges::find(passes, pass) != passes.end();
  };
  const auto address_of = [](const Pass& pass) { return kEdgeZero + static_cast<std::uint32_t>(pass.lower); };
  for (const Pass& pass : before) {
    if (!has(passes_, pass)) {
      record(at, address_of(pass), 0);
    }
  }
  for (const Pass& pass : passes_) {
    if (!has(before, pass)) {
      record(at, address_of(pass), pass.port);
    }
  }
  routes_ = waveshaper::routes_of(passes_, map_, info_.ports);
  begin_move(now, at);
}

constinit const SimulatedModel kSimulatedWaveShaper{
    "waveshaper",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      return std::make_unique<WaveShaperModel>(device, fabric.element(device.elements.front()), options);
    },
    "waveshaper"};

}  // namespace loom
