// SPDX-License-Identifier: Apache-2.0
// The fabric of TopoOpt: its parameters, what is made of them, and its template for fabric files.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/config/fabric_template.hpp"
#include "core/fabric/fabric.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// What joins the servers of TopoOpt's fabric (docs/systems/topoopt.md#architecture).
enum class TopooptLayer : std::uint8_t {
  circuit_switches,   ///< 3D MEMS, moves in milliseconds
  look_ahead_panels,  ///< patch panels, a robot moves a fibre in minutes; each interface has 1x2 switches to two of them
};

/// Parameters of TopoOpt's fabric (docs/systems/topoopt.md#architecture): every server has d interfaces, each of them on one
/// switch or panel.
struct TopooptParameters {
  std::uint32_t nodes = 16;                 ///< servers
  std::uint32_t degree = 4;                 ///< d, interfaces of a server
  std::uint32_t interfaces_per_switch = 1;  ///< 1: interface k on switch k, as in the paper; 2: a duplex link on one interface
  TopooptLayer layer = TopooptLayer::circuit_switches;
  std::uint32_t switch_ports = 384;  ///< of one switch; a panel of the paper has 1008
  BitRate rate = gigabits(100);
  std::int32_t channel_n = 0;  ///< all transmitters', 193.1 THz
  std::int32_t channel_width_m = 8;
  FrequencyOffset signal_width{75'000};
  std::int64_t fibre_length_mm = 20'000;
  Duration ocs_settle_max = std::chrono::milliseconds{10};
  Duration panel_settle_max = std::chrono::minutes{3};
  Duration flip_settle_max = std::chrono::milliseconds{10};  ///< of a 1x2 switch
  Duration laser_retune_max = std::chrono::milliseconds{10};
  Duration laser_blank_max = std::chrono::microseconds{100};
  Duration laser_control_max = std::chrono::milliseconds{20};
  Duration receiver_acquisition_max = std::chrono::microseconds{1};
};

inline constexpr std::uint32_t kTopooptPanelPorts = 1'008;  ///< Telescent G4, docs/systems/topoopt.md#architecture

/// Servers that share their switches: as many as a switch has ports for, in blocks of equal size.
std::uint32_t topoopt_block_size(const TopooptParameters& parameters);

/// Transmitter and receiver k of a server are its interface k, at one input and the same output of switch k /
/// interfaces_per_switch of its block. With panels the transmitter first passes a 1x2 switch to the panels `a` (its output 0)
/// and `b` (1), and the receiver is behind a 2x1 switch. Node::group is the block: no link leads out of it. A switch or panel
/// is driven by the agent of a server of its block, 1x2 switches by their server's. Losses are ours. Preconditions: nodes >= 2,
/// interfaces_per_switch 1 or 2 and a divisor of degree, a block of at least 2.
Fabric make_topoopt(const TopooptParameters& parameters);

extern const FabricTemplate kTopooptTemplate;

}  // namespace loom
