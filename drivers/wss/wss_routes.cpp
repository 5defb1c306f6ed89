// SPDX-License-Identifier: Apache-2.0
// Lists of routes, judged.
#include "drivers/wss/wss_routes.hpp"

#include <utility>
#include <vector>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Two routes need different spectrum: the device has one setting for both.
Result<void> check_pair(const std::string& device, const WssRoute& a, const WssRoute& b) {
  if (overlaps(a.slot, b.slot)) {
    return fail(ErrorCode::conflict, format_text("{}: {} (input {}, output {}) overlaps {} (input {}, output {})", device,
                                                 name_of(a.slot), a.input, a.output, name_of(b.slot), b.input, b.output));
  }
  return {};
}

}  // namespace

PortMap port_map_of(PortNumber inputs, PortNumber outputs) {
  LOOM_ASSERT(inputs <= 1 || outputs <= 1);
  return inputs <= 1 ? PortMap::by_output : PortMap::by_input;
}

std::uint16_t port_of(PortMap map, const WssRoute& route) {
  return static_cast<std::uint16_t>((map == PortMap::by_output ? route.output : route.input) + 1);
}

WssRoute route_at(PortMap map, FrequencySlot slot, std::uint16_t port) {
  LOOM_ASSERT(port > 0);
  const auto place = static_cast<std::uint16_t>(port - 1);
  return map == PortMap::by_output ? WssRoute{slot, 0, place, Db{0}} : WssRoute{slot, place, 0, Db{0}};
}

Result<void> check_routes(const std::string& device, const Setpoint& setpoint,
                          const std::function<Result<void>(const WssRoute&)>& check_one) {
  const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint);
  if (wss == nullptr) {
    return fail(ErrorCode::unsupported, device + ": a WSS takes routes only");
  }
  const std::vector<WssRoute>& routes = wss->routes;
  if (routes.size() > limits::kWssRoutes) {
    return fail(ErrorCode::out_of_range, format_text("{}: {} routes, limit {}", device, routes.size(), limits::kWssRoutes));
  }
  for (std::size_t i = 0; i < routes.size(); ++i) {
    LOOM_TRY(check_one(routes[i]));
    if (i > 0 && std::pair(routes[i - 1].slot.n, routes[i - 1].input) >= std::pair(routes[i].slot.n, routes[i].input)) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{} {}: routes must ascend by (slot, input) and come once", device, name_of(routes[i].slot)));
    }
    for (std::size_t j = 0; j < i; ++j) {
      LOOM_TRY(check_pair(device, routes[j], routes[i]));
    }
  }
  return {};
}

std::string refuse_two_sides(const Fabric& fabric, const Device& device) {
  const Element& element = fabric.element(device.elements.front());
  return element.inputs <= 1 || element.outputs <= 1
             ? std::string{}
             : format_text(
                   "'{}' has {} inputs and {} outputs; a device of kind {} has one common port: expected one input or "
                   "one output (write an N x M switch as N of 1 x M before a coupler)",
                   element.name, element.inputs, element.outputs, device.model.empty() ? "wss" : device.model);
}

std::string name_of(FrequencySlot slot) { return format_text("slot n={} m={}", slot.n, slot.m); }

std::string decibel_of(std::int32_t centi) { return format_text("{}.{} dB", centi / 100, centi % 100 / 10); }

}  // namespace loom
