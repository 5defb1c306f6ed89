// SPDX-License-Identifier: Apache-2.0
// Shapes of filters.
#include "sim_backend/devices/wss/waveshaper_order.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom::waveshaper {
namespace {

using Json = nlohmann::json;
using Ordered = std::variant<std::vector<Point>, Verdict>;

constexpr double kMhzPerThz = 1e6;
constexpr double kAttenuationMaxDb = 100.0;

std::optional<double> number_at(const Json& order, const char* key) {
  const auto found = order.find(key);
  if (found == order.end() || !found->is_number()) {
    return std::nullopt;
  }
  const double value = found->get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// A filter around a centre.
struct Shape {
  double centre_mhz = 0;
  double bandwidth_mhz = 0;
  double attenuation_db = 0;
  std::uint16_t port = 1;
};

std::optional<std::uint16_t> port_of(const Info& device, const Json& order) {
  const auto found = order.find("port");
  if (found == order.end()) {
    return std::uint16_t{1};
  }
  const auto port = found->is_number_integer() ? found->get<std::int64_t>() : 0;
  return port >= 1 && port <= device.ports ? std::optional(static_cast<std::uint16_t>(port)) : std::nullopt;
}

Verdict wrong_port(const Info& device) { return refused(Refusal::port, format_text("port: expected 1 to {}", device.ports)); }

std::variant<Shape, Verdict> shape_of(const Info& device, const Json& order) {
  const auto port = port_of(device, order);
  if (!port) {
    return wrong_port(device);
  }
  const auto centre = number_at(order, "center");
  const auto bandwidth = number_at(order, "bandwidth");
  const double attenuation = order.contains("attn") ? number_at(order, "attn").value_or(-1) : 0;
  if (!centre || !bandwidth || *bandwidth <= 0 || attenuation < 0 || attenuation > kAttenuationMaxDb) {
    return refused(Refusal::parameter, "expected center and bandwidth in THz and attn in dB");
  }
  const Shape shape{*centre * kMhzPerThz, *bandwidth * kMhzPerThz, attenuation, *port};
  if (shape.centre_mhz < static_cast<double>(device.band.first.mhz) ||
      shape.centre_mhz > static_cast<double>(device.band.last.mhz)) {
    return refused(Refusal::band,
                   format_text("center lies outside {} to {}", to_string(device.band.first), to_string(device.band.last)));
  }
  return shape;
}

/// `loss_at`: dB at so many MHz from the centre; more than 40 blocks.
template <class Loss>
std::vector<Point> shaped(const Info& device, const Shape& shape, Loss loss_at) {
  std::vector<Point> points = points_of(device.band, {});
  for (Point& point : points) {
    const double loss = loss_at(static_cast<double>(point.frequency.mhz) - shape.centre_mhz);
    const Point passing{point.frequency, static_cast<std::int32_t>(std::lround(std::min(loss, 1'000.0) * 1e4)), shape.port};
    point = passes(passing) ? passing : point;
  }
  return points;
}

Ordered filter_of(const Info& device, std::string_view type, const Json& order) {
  const auto read = shape_of(device, order);
  if (const auto* verdict = std::get_if<Verdict>(&read)) {
    return *verdict;
  }
  const Shape& shape = std::get<Shape>(read);
  constexpr double kBlocks = 1'000;
  if (type == "gaussian") {  // the bandwidth is where half of the light passes [K]
    return shaped(device, shape, [&](double offset) {
      const double part = 2 * offset / shape.bandwidth_mhz;
      return shape.attenuation_db + 10 * std::log10(2.0) * part * part;
    });
  }
  const bool passes_inside = type == "bandpass";
  return shaped(device, shape, [&](double offset) {
    const bool is_inside = std::abs(offset) <= shape.bandwidth_mhz / 2;
    return is_inside == passes_inside ? shape.attenuation_db : kBlocks;
  });
}

Ordered profile_of(const Info& device, const Json& order) {
  const auto text = order.find("wsp");
  if (text == order.end() || !text->is_string()) {
    return refused(Refusal::parameter, "expected the profile as a text, wsp");
  }
  auto points = read_profile(text->get_ref<const std::string&>());
  if (!points) {
    return refused(Refusal::profile, points.error().message);
  }
  if (points->empty()) {
    return refused(Refusal::profile, "a profile without a line");
  }
  if (points->front().frequency < device.band.first || points->back().frequency > device.band.last) {
    return refused(Refusal::band,
                   format_text("a frequency outside {} to {}", to_string(device.band.first), to_string(device.band.last)));
  }
  const bool has_ports = std::ranges::all_of(*points, [&](const Point& point) { return point.port <= device.ports; });
  return has_ports ? Ordered(std::move(*points)) : Ordered(wrong_port(device));
}

}  // namespace

Verdict refused(Refusal why, std::string words) { return {static_cast<std::int64_t>(why), std::move(words)}; }

std::variant<std::vector<Point>, Verdict> points_of_order(const Info& device, std::string_view text) {
  const Json order = Json::parse(text, nullptr, false);
  if (!order.is_object()) {
    return refused(Refusal::no_json, "no JSON object");
  }
  const auto found = order.find("type");
  const std::string type = found != order.end() && found->is_string() ? found->get<std::string>() : std::string{};
  if (type == "wsp") {
    return profile_of(device, order);
  }
  if (type == "bandpass" || type == "bandstop" || type == "gaussian") {
    return filter_of(device, type, order);
  }
  if (type == "blockall") {
    return points_of(device.band, {});
  }
  if (type == "transmit") {
    const auto port = port_of(device, order);
    return port ? Ordered(shaped(device, {0, 0, 0, *port}, [](double) { return 0.0; })) : Ordered(wrong_port(device));
  }
  return refused(Refusal::type, "type: expected wsp, bandpass, bandstop, gaussian, blockall or transmit");
}

}  // namespace loom::waveshaper
