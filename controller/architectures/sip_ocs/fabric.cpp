// SPDX-License-Identifier: Apache-2.0
// SiP-ML's parallel circuit switches (docs/systems/sipml.md#constants). Sizes, rates and the number of switches are the paper's
// to choose; losses are ours.
#include "controller/architectures/sip_ocs/fabric.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/fabric/fabric_rows.hpp"
#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr const char* kNoComb = "every wavelength has a laser of its own (ITLA); comb lasers are not modelled yet";
constexpr Db kOcsLoss{150};

}  // namespace

Fabric make_sip_ocs(const SipOcsParameters& parameters) {
  LOOM_ASSERT(parameters.nodes >= 2 && parameters.nodes <= 0xffff && parameters.switches > 0);
  Fabric fabric;
  fabric.name = format_text("sip-ocs-{}", parameters.nodes);
  fabric.architecture = "sip-ocs";
  fabric.assumptions = {format_text("sip-ocs: {}", kNoComb)};
  FabricRows rows(fabric);
  std::vector<ElementId> switches;
  const auto ports = static_cast<PortNumber>(parameters.nodes);
  for (std::uint32_t q = 0; q < parameters.switches; ++q) {
    const std::string name = format_text("ocs-{}", q);
    switches.push_back(rows.add_element(name, ports, ports, kOcsLoss, OpticalCircuitSwitch{parameters.ocs_settle_max}));
    rows.add_device(name, DeviceRole::circuit_switch, NodeId{q % parameters.nodes}, {switches.back()});
  }
  Transmitter transmitter;
  transmitter.rate = parameters.rate;
  transmitter.signal_width = parameters.signal_width;
  transmitter.tunable = false;
  transmitter.channels = {{parameters.channel_n, parameters.channel_width_m}, parameters.channel_width_m * 2, 1};
  transmitter.retune_max = parameters.laser_retune_max;
  transmitter.blank_max = parameters.laser_blank_max;
  transmitter.control_max = parameters.laser_control_max;
  Receiver receiver;
  receiver.acquisition_max = parameters.receiver_acquisition_max;
  for (std::uint32_t i = 0; i < parameters.nodes; ++i) {
    Node node{NodeId{i}, format_text("node-{}", i), 0, {}, {}};
    for (std::uint32_t q = 0; q < parameters.switches; ++q) {
      const std::string suffix = format_text("{}-{}", i, q);
      const ElementId tx = rows.add_element("tx-" + suffix, 0, 1, Db{0}, transmitter);
      const ElementId rx = rows.add_element("rx-" + suffix, 1, 0, Db{0}, receiver);
      rows.connect({tx, 0}, {switches[q], static_cast<PortNumber>(i)}, parameters.fibre_length_mm, Db{20});
      rows.connect({switches[q], static_cast<PortNumber>(i)}, {rx, 0}, parameters.fibre_length_mm, Db{20});
      rows.add_device("laser-" + suffix, DeviceRole::transmitter, node.id, {tx});
      node.transmitters.push_back(tx);
      node.receivers.push_back(rx);
    }
    fabric.nodes.push_back(std::move(node));
  }
  build_index(fabric);
  return fabric;
}

}  // namespace loom
