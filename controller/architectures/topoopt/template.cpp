// SPDX-License-Identifier: Apache-2.0
// Parameters of TopoOpt's fabric in a file, and what must hold between them.
#include "controller/architectures/topoopt/fabric.hpp"

#include <array>
#include <string>

#include "core/config/template_keys.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<TemplateKey, 15> kKeys{{{"nodes", "servers"},
                                             {"degree", "interfaces of a server"},
                                             {"interfaces_per_switch", "1 or 2 of a server on one switch"},
                                             {"switches", "circuit_switches or look_ahead_panels"},
                                             {"switch_ports", "of one switch or panel"},
                                             {"fibre_length", "between a server and a switch, m"},
                                             {"ocs_settle_max", "of a circuit switch, at most"},
                                             {"panel_settle_max", "of a patch panel's robot, at most"},
                                             {"flip_settle_max", "of a 1x2 switch, at most"},
                                             kRateKey,
                                             kSignalWidthKey,
                                             kLaserControlKey,
                                             kLaserRetuneKey,
                                             kLaserBlankKey,
                                             kAcquisitionKey}};

/// A block must hold two servers, so that they can be joined.
void check_topoopt(YamlMap& map, const TopooptParameters& topoopt) {
  if (topoopt.degree % topoopt.interfaces_per_switch != 0) {
    map.error("degree", format_text("degree: found {}; expected a multiple of interfaces_per_switch = {}", topoopt.degree,
                                    topoopt.interfaces_per_switch));
  }
  const std::uint32_t flips = topoopt.layer == TopooptLayer::look_ahead_panels ? 2 * topoopt.degree : 0;
  const std::uint32_t switches = 2 * topoopt.degree;  // at most so many of a block are one server's
  if (topoopt.degree + flips + switches > limits::kDevicesPerNode) {
    map.error("degree", format_text("degree: found {}; expected at most {} devices a node, switches counted", topoopt.degree,
                                    limits::kDevicesPerNode));
  }
}

Fabric read_topoopt(YamlMap& map, const ErrorList& errors) {
  static const std::array<std::string, 2> kLayers{"circuit_switches", "look_ahead_panels"};
  TopooptParameters topoopt;
  topoopt.nodes = static_cast<std::uint32_t>(map.integer("nodes", {2, kTemplateNodesMost}, std::int64_t{topoopt.nodes}));
  topoopt.degree = static_cast<std::uint32_t>(map.integer("degree", {1, 64}, std::int64_t{topoopt.degree}));
  topoopt.interfaces_per_switch =
      static_cast<std::uint32_t>(map.integer("interfaces_per_switch", {1, 2}, std::int64_t{topoopt.interfaces_per_switch}));
  topoopt.layer = static_cast<TopooptLayer>(map.word("switches", kLayers, std::size_t{0}).value_or(0));
  const bool has_panels = topoopt.layer == TopooptLayer::look_ahead_panels;
  topoopt.switch_ports = static_cast<std::uint32_t>(
      map.integer("switch_ports", {4, 0xffff}, std::int64_t{has_panels ? kTopooptPanelPorts : topoopt.switch_ports}));
  topoopt.fibre_length_mm = map.quantity("fibre_length", kLengthUnits, kFibreLengthMm, topoopt.fibre_length_mm);
  topoopt.ocs_settle_max = map.duration("ocs_settle_max", kDeviceTime, topoopt.ocs_settle_max);
  topoopt.panel_settle_max = map.duration("panel_settle_max", kRobotTime, topoopt.panel_settle_max);
  topoopt.flip_settle_max = map.duration("flip_settle_max", kDeviceTime, topoopt.flip_settle_max);
  read_ends(map, topoopt);
  check_signal_width(map, topoopt.signal_width, {{topoopt.channel_n, topoopt.channel_width_m}, 2 * topoopt.channel_width_m, 1});
  check_topoopt(map, topoopt);
  check_elements(map, topoopt.nodes, 6ULL * topoopt.degree + 1);  // with panels: a 1x2 switch at each of their ports
  map.finish();
  return errors.empty() ? make_topoopt(topoopt) : Fabric{};
}

}  // namespace

const FabricTemplate kTopooptTemplate{"topoopt", "servers whose interfaces circuit switches or patch panels join", kKeys,
                                      read_topoopt};

}  // namespace loom
