// Commands and holograms of a simulated LCoS WSS. It says OK long before it is done.
#include "sim_backend/devices/wss_model.hpp"

#include <algorithm>

#include "sim_backend/devices/wire.hpp"

namespace loom {

using flexgrid::Channel;
using flexgrid::PortMap;
using flexgrid::PortSetting;

WssModel::WssModel(const Device& device, const Element& element, const SimDeviceOptions& options)
    : SimulatedDevice(device.id, options),
      inputs_(element.inputs),
      outputs_(element.outputs),
      settle_max_(std::get<WavelengthSelectiveSwitch>(element.kind).settle_max),
      reload_dip_(std::get<WavelengthSelectiveSwitch>(element.kind).reload_dip) {
  dialect_.map = flexgrid::port_map_of(element.inputs, element.outputs);
  dialect_.checksum = options.wss_checksum;
  ports_limit_ = dialect_.map == PortMap::by_input ? element.inputs : element.outputs;
}

std::vector<WssRoute> WssModel::routes() const {
  std::vector<WssRoute> routes;
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    if (const auto route = flexgrid::route_of(dialect_, grid_[i], ports_[i])) {
      routes.push_back(*route);
    }
  }
  std::sort(routes.begin(), routes.end(), [](const WssRoute& a, const WssRoute& b) { return ascends(a, b); });
  return routes;
}

OpticalState WssModel::light(Instant at) const {
  WssLight light;
  if (has_fault(DeviceFaultKind::fail, at)) {
    return light;
  }
  if (motion_.is_over(at)) {
    light.routes = routes();
    return light;
  }
  light.routes = motion_.steady();
  for (WssRoute& route : light.routes) {
    route.attenuation = route.attenuation + reload_dip_;
  }
  light.moving = motion_.moving();
  return light;
}

void WssModel::append_breakpoints(Instant, std::vector<Instant>& instants) const { instants.push_back(motion_.end()); }

/// The next output, or of a switch that has only one the next input.
void WssModel::misroute(OpticalState& state) const {
  auto& light = std::get<WssLight>(state);
  for (auto* routes : {&light.routes, &light.moving}) {
    for (WssRoute& route : *routes) {
      PortNumber& port = outputs_ > 1 ? route.output : route.input;
      port = static_cast<PortNumber>((port + 1) % (outputs_ > 1 ? outputs_ : inputs_));
    }
    std::sort(routes->begin(), routes->end(), [](const WssRoute& a, const WssRoute& b) { return ascends(a, b); });
  }
}

void WssModel::power_up(Instant) {
  grid_.clear();
  ports_.clear();
  motion_ = {};
}

void WssModel::begin_move(Instant at) { motion_.begin(at, stretched(at, part_of(settle_max_, draw(), 60, 100)), routes()); }

ModelReply WssModel::respond(Instant now, const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  if (frame == nullptr) {
    return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  }
  const std::string_view line(reinterpret_cast<const char*>(frame->request.data()), frame->request.size());
  const auto text = flexgrid::unframe(dialect_, line);
  if (!text) {
    return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};  // it waits for an end of line that never comes
  }
  const Instant at = now + wire_time(line.size(), options().serial_baud) + options().device_time;
  const std::string reply = flexgrid::frame(dialect_, answer(now, at, *text));
  return {{BusStatus::ok, 0, {}, {reply.begin(), reply.end()}}, at - now + wire_time(reply.size(), options().serial_baud)};
}

ModelReply WssModel::refuse(Instant, const Transaction&) { return {{BusStatus::nack, 0, {}, {}}, options().device_time}; }

std::string WssModel::answer(Instant now, Instant at, std::string_view text) {
  if (text == dialect_.settled_query) {
    return motion_.is_over(at) && !has_fault(DeviceFaultKind::fail, now) ? "SET 1" : "SET 0";
  }
  if (text == dialect_.ports_query) {
    std::vector<flexgrid::ChannelSetting> settings;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      settings.push_back({static_cast<std::int32_t>(i) + 1, ports_[i]});
    }
    return flexgrid::write_ports(settings);
  }
  if (text == dialect_.grid_query) {
    return flexgrid::write_grid(dialect_, grid_);
  }
  if (text == "CHW 0") {
    return "OK";
  }
  if (text.starts_with("DCC ")) {
    return define_channels(now, at, text);
  }
  return text.starts_with("UCA ") ? set_ports(now, at, text) : "CER";
}

bool WssModel::is_lawful(const std::vector<Channel>& grid) const {
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (grid[i].first < 1 || grid[i].last < grid[i].first || grid[i].last > dialect_.slices ||
        grid[i].input >= (dialect_.map == PortMap::by_pair ? inputs_ : 1)) {
      return false;
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (grid[i].input == grid[j].input && grid[i].first <= grid[j].last && grid[j].first <= grid[i].last) {
        return false;
      }
    }
  }
  return true;
}

/// A new grid blocks every channel.
std::string WssModel::define_channels(Instant now, Instant at, std::string_view text) {
  auto grid = flexgrid::read_grid(text);
  if (!grid) {
    return "AER";
  }
  if (!is_lawful(*grid)) {
    return "RER";
  }
  if (has_fault(DeviceFaultKind::stick, now)) {
    return "OK";
  }
  record(at, 0, static_cast<std::int32_t>(grid->size()));
  motion_.keep_before(at, routes());
  grid_ = std::move(*grid);
  ports_.assign(grid_.size(), {});
  begin_move(at);
  light_changed(now, at);
  return "OK";
}

std::string WssModel::set_ports(Instant now, Instant at, std::string_view text) {
  const auto settings = flexgrid::read_ports(text);
  if (!settings) {
    return "AER";
  }
  for (const auto& [channel, setting] : *settings) {
    const bool blocked = setting.port == flexgrid::kBlockedPort;
    if (channel < 1 || channel > static_cast<std::int32_t>(grid_.size()) ||
        (!blocked && (setting.port < 1 || setting.port > ports_limit_))) {
      return "RER";
    }
    if (blocked ? setting.tenths != flexgrid::kBlockedTenths : setting.tenths > dialect_.attenuation_max.centi / 10) {
      return "VER";
    }
  }
  if (has_fault(DeviceFaultKind::stick, now)) {
    return "OK";
  }
  motion_.keep_before(at, routes());
  for (const auto& [channel, setting] : *settings) {
    record(at, static_cast<std::uint32_t>(channel), setting.port);
    ports_[static_cast<std::size_t>(channel) - 1] = setting;
  }
  begin_move(at);
  light_changed(now, at);
  return "OK";
}

constinit const SimulatedModel kSimulatedWss{
    "wss", [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      return std::make_unique<WssModel>(device, fabric.element(device.elements.front()), options);
    }};

}  // namespace loom
