// SPDX-License-Identifier: Apache-2.0
// Commands and holograms of a simulated LCoS WSS. It says OK long before it is done.
#include "sim_backend/devices/wss_model.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"
#include "sim_backend/devices/wire.hpp"

namespace loom {

using flexgrid::Channel;
using flexgrid::PortMap;
using flexgrid::PortSetting;

WssModel::WssModel(const Device& device, const Element& element, const SimDeviceOptions& options)
    : SimulatedWss(device, element, options),
      serial_(device.serial.empty() ? format_text("SN{:06d}", device.id.value % 1'000'000) : device.serial) {
  dialect_.map = flexgrid::port_map_of(element.inputs, element.outputs);
  dialect_.slices = options.wss_slices;
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

void WssModel::power_up(Instant) {
  grid_.clear();
  ports_.clear();
  prepared_.reset();
  stop_moving();
}

ModelReply WssModel::respond(Instant now, const Transaction& transaction) {
  constexpr std::string_view kEnd = "\r\n";
  const auto said = line_in(transaction, kEnd);
  const auto text = said ? flexgrid::unframe(*said) : std::nullopt;
  if (!text) {
    return no_answer(transaction);  // damaged: what it would answer is not known
  }
  const Instant at = now + wire_time(said->size() + kEnd.size(), options().serial_baud) + options().device_time;
  const std::string answered = answer(now, at, *text);
  const bool is_framed = options().wss_checksum || flexgrid::is_framed(*said);
  std::string reply;
  if (const std::size_t end = answered.find('\n'); end != std::string::npos) {
    reply = flexgrid::frame(is_framed, answered.substr(0, end)) + flexgrid::frame(is_framed, "OK");
  } else {
    reply = flexgrid::frame(is_framed, answered);
  }
  return {{BusStatus::ok, 0, {}, {reply.begin(), reply.end()}}, at - now + wire_time(reply.size(), options().serial_baud)};
}

ModelReply WssModel::refuse(Instant, const Transaction&) { return {{BusStatus::nack, 0, {}, {}}, options().device_time}; }

/// One line, or data and a line feed: then OK follows.
std::string WssModel::answer(Instant now, Instant at, std::string_view text) {
  const auto after = [text](std::string_view verb) { return text.substr(std::min(verb.size(), text.size())); };
  if (text.empty() || text == "CHW 0") {
    return "OK";
  }
  if (text == "RRA?") {
    std::vector<flexgrid::ChannelSetting> settings;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      settings.push_back({static_cast<std::int32_t>(i) + 1, ports_[i]});
    }
    return settings.empty() ? "OK" : flexgrid::write_ports(settings) + "\n";
  }
  if (text == "DCC?") {
    return grid_.empty() ? "OK" : flexgrid::write_grid(dialect_, grid_) + "\n";
  }
  if (text == "OSS?") {
    return has_fault(DeviceFaultKind::fail, at) ? "0x8000\n" : "0x0000\n";  // which bit would say so is not published
  }
  if (text == "SNO?") {
    return serial_ + "\n";
  }
  if (text == "FWR?" || text == "HWR?") {
    return "simulated\n";
  }
  if (text == "SUS?") {
    return "SAB\n";
  }
  if (text == "RSW") {
    return show_pattern(now, at);
  }
  return text.starts_with("DCC ")   ? define_channels(now, at, after("DCC "))
         : text.starts_with("UCA ") ? set_ports(now, at, after("UCA "))
         : text.starts_with("URA ") ? prepare_pattern(now, after("URA "))
                                    : "CER";
}

bool WssModel::is_lawful(const std::vector<Channel>& grid) const {
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (grid[i].first < 1 || grid[i].last < grid[i].first || grid[i].last > flexgrid::kSlices) {
      return false;
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (overlap(grid[i], grid[j])) {
        return false;
      }
    }
  }
  return true;
}

/// A new grid blocks every channel.
std::string WssModel::define_channels(Instant now, Instant at, std::string_view text) {
  auto grid = flexgrid::read_grid(dialect_, text);
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
  before_move(at);
  grid_ = std::move(*grid);
  ports_.assign(grid_.size(), {});
  prepared_.reset();
  begin_move(now, at);
  return "OK";
}

std::string WssModel::complaint_about(const std::vector<flexgrid::ChannelSetting>& settings) const {
  for (const auto& [channel, setting] : settings) {
    const bool blocked = setting.port == flexgrid::kBlockedPort;
    if (channel < 1 || channel > static_cast<std::int32_t>(grid_.size()) ||
        (!blocked && (setting.port < 1 || setting.port > ports_limit_))) {
      return "RER";
    }
    if (blocked ? setting.tenths != flexgrid::kBlockedTenths : setting.tenths > dialect_.attenuation_max.centi / 10) {
      return "VER";
    }
  }
  return {};
}

std::string WssModel::set_ports(Instant now, Instant at, std::string_view text) {
  const auto settings = flexgrid::read_ports(text);
  if (!settings) {
    return "AER";
  }
  if (std::string complaint = complaint_about(*settings); !complaint.empty()) {
    return complaint;
  }
  std::vector<PortSetting> ports = ports_;
  for (const auto& [channel, setting] : *settings) {
    ports[static_cast<std::size_t>(channel) - 1] = setting;
  }
  if (!has_fault(DeviceFaultKind::stick, now)) {
    take_ports(now, at, std::move(ports));
  }
  return "OK";
}

std::string WssModel::prepare_pattern(Instant now, std::string_view text) {
  const auto settings = flexgrid::read_ports(text);
  if (!settings) {
    return "AER";
  }
  if (std::string complaint = complaint_about(*settings); !complaint.empty()) {
    return complaint;
  }
  if (!has_fault(DeviceFaultKind::stick, now)) {
    prepared_.emplace(grid_.size());
    for (const auto& [channel, setting] : *settings) {
      (*prepared_)[static_cast<std::size_t>(channel) - 1] = setting;
    }
  }
  return "OK";
}

std::string WssModel::show_pattern(Instant now, Instant at) {
  if (has_fault(DeviceFaultKind::stick, now)) {
    return "OK";
  }
  if (!prepared_) {
    return "AER";
  }
  take_ports(now, at, *std::exchange(prepared_, std::nullopt));
  return "OK";
}

void WssModel::take_ports(Instant now, Instant at, std::vector<PortSetting> ports) {
  before_move(at);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i] != ports_[i]) {
      record(at, static_cast<std::uint32_t>(i + 1), ports[i].port);
    }
  }
  ports_ = std::move(ports);
  begin_move(now, at);
}

constinit const SimulatedModel kSimulatedWss{
    "wss",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      return std::make_unique<WssModel>(device, fabric.element(device.elements.front()), options);
    },
    "wss"};

}  // namespace loom
