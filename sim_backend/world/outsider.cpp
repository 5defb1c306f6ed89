// SPDX-License-Identifier: Apache-2.0
// The same frames that the drivers send, from somebody else.
#include "sim_backend/world/outsider.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/transceiver/itla_frame.hpp"
#include "drivers/wss/flexgrid_dialect.hpp"

namespace loom {
namespace {

constexpr Duration kPatience = std::chrono::milliseconds{100};

Frame line(const std::string& text) {
  const std::string framed = flexgrid::frame(false, text);
  return {{framed.begin(), framed.end()}, 0, "\r\n", flexgrid::last_lines()};
}

}  // namespace

void Outsider::submit(DeviceId device, std::variant<Registers, BytesAt, Frame> order, SimBus::Done done) {
  const Device& row = fabric_->device(device);
  bus_.submit(row.bus, Transaction{device, row.bus_address, std::move(order), kPatience}, std::move(done));
}

void Outsider::write(DeviceId laser, std::uint8_t reg, std::uint16_t value) {
  const itla::FrameBytes bytes = itla::encode(itla::Request{true, static_cast<itla::Register>(reg), value, false});
  submit(laser, Frame{{bytes.begin(), bytes.end()}, static_cast<std::uint16_t>(bytes.size()), {}}, [](BusReply) {});
}

void Outsider::emission(DeviceId laser, bool on) {
  write(laser, static_cast<std::uint8_t>(itla::Register::enable), on ? itla::kSoftwareEnable : 0);
}

void Outsider::channel(DeviceId laser, std::uint16_t channel) {
  write(laser, static_cast<std::uint8_t>(itla::Register::channel), channel);
}

void Outsider::power(DeviceId laser, Dbm power) {
  write(laser, static_cast<std::uint8_t>(itla::Register::power), static_cast<std::uint16_t>(power.centi & 0xFFFF));
}

void Outsider::power_cycle(DeviceId laser) {
  const auto& transmitter = std::get<Transmitter>(fabric_->element(fabric_->device(laser).elements.front()).kind);
  const std::int64_t lowest = centre_of(transmitter.channels.slot(0)).mhz;
  constexpr std::uint16_t kOwnGrid = 500;  // 0.1 GHz
  emission(laser, false);
  write(laser, static_cast<std::uint8_t>(itla::Register::grid), kOwnGrid);
  write(laser, static_cast<std::uint8_t>(itla::Register::fcf1), static_cast<std::uint16_t>(lowest / 1'000'000));
  write(laser, static_cast<std::uint8_t>(itla::Register::fcf2), static_cast<std::uint16_t>(lowest / 100 % 10'000));
  power(laser, transmitter.launch_power - Db{500});
  channel(laser, 1);
}

void Outsider::heat(DeviceId bank, std::uint16_t ring, std::uint16_t millivolts) {
  Registers registers;
  registers.address = ring;
  registers.values = {millivolts};
  submit(bank, std::move(registers), [](BusReply) {});
}

void Outsider::open_route(DeviceId wss, const WssRoute& route) { set_port(wss, route, true); }
void Outsider::close_route(DeviceId wss, const WssRoute& route) { set_port(wss, route, false); }

void Outsider::set_port(DeviceId wss, const WssRoute& route, bool open) {
  const Element& element = fabric_->element(fabric_->device(wss).elements.front());
  flexgrid::Dialect dialect;
  dialect.map = flexgrid::port_map_of(element.inputs, element.outputs);
  submit(wss, line("DCC?"), [this, wss, route, open, dialect](const BusReply& reply) {
    const std::string_view text(reinterpret_cast<const char*>(reply.bytes.data()), reply.bytes.size());
    const auto answer = reply.status == BusStatus::ok ? flexgrid::read_reply(text) : std::nullopt;
    const auto grid = answer ? flexgrid::read_grid(dialect, answer->data) : std::nullopt;
    if (!grid) {
      return;
    }
    const auto found = std::find(grid->begin(), grid->end(), flexgrid::channel_of(dialect, route.slot));
    if (found != grid->end()) {
      const flexgrid::ChannelSetting setting{static_cast<std::int32_t>(found - grid->begin()) + 1,
                                             open ? flexgrid::setting_of(dialect, route) : flexgrid::PortSetting{}};
      submit(wss, line("UCA " + flexgrid::write_ports(std::span(&setting, 1))), [](BusReply) {});
    }
  });
}

void Outsider::connect(DeviceId ocs, CrossConnect connect) { say(ocs, scpi::Dialect{}.connect, connect); }
void Outsider::disconnect(DeviceId ocs, CrossConnect connect) { say(ocs, scpi::Dialect{}.disconnect, connect); }

void Outsider::say(DeviceId ocs, std::string_view verb, CrossConnect connect) {
  const Element& element = fabric_->element(fabric_->device(ocs).elements.front());
  const scpi::Dialect dialect;
  const std::string line =
      scpi::write_connects(verb, {element.inputs, element.outputs}, std::span(&connect, 1)) + dialect.terminator;
  submit(ocs, Frame{{line.begin(), line.end()}, 0, dialect.terminator}, [](BusReply) {});
}

}  // namespace loom
