// SPDX-License-Identifier: Apache-2.0
// TopoOpt's fabric (docs/systems/topoopt.md#architecture): servers of d interfaces, each cabled to a circuit switch, or through
// 1x2 switches to two patch panels. Sizes, rates and times are the paper's to choose; losses are ours.
#include "controller/architectures/topoopt/fabric.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/fabric/fabric_rows.hpp"
#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr Db kSwitchLoss{150};
constexpr Db kFlipLoss{100};
constexpr Db kFibreLoss{20};

std::uint32_t blocks_of(const TopooptParameters& parameters) {
  const std::uint32_t most = parameters.switch_ports / parameters.interfaces_per_switch;
  return (parameters.nodes + most - 1) / most;
}

class TopooptBuilder {
 public:
  explicit TopooptBuilder(const TopooptParameters& parameters)
      : parameters_(parameters), block_size_(topoopt_block_size(parameters)), rows_(fabric_) {}

  Fabric build() {
    fabric_.name = format_text("topoopt-{}", parameters_.nodes);
    fabric_.architecture = "topoopt";
    fabric_.assumptions = {"topoopt: losses of switches, panels and fibre are ours"};
    for (std::uint32_t block = 0; block < blocks_of(parameters_); ++block) {
      add_switches(block);
    }
    for (std::uint32_t node = 0; node < parameters_.nodes; ++node) {
      add_server(node);
    }
    build_index(fabric_);
    return std::move(fabric_);
  }

 private:
  /// Of one switch layer: `a`, and with panels `b` beside it.
  using Pair = std::array<ElementId, 2>;

  bool has_panels() const { return parameters_.layer == TopooptLayer::look_ahead_panels; }

  void add_switches(std::uint32_t block) {
    const std::uint32_t first = block * block_size_;
    const std::uint32_t servers = std::min(block_size_, parameters_.nodes - first);
    const auto ports = static_cast<PortNumber>(servers * parameters_.interfaces_per_switch);
    switches_.emplace_back();
    for (std::uint32_t q = 0; q < parameters_.degree / parameters_.interfaces_per_switch; ++q) {
      const std::string number = std::to_string(q) + (blocks_of(parameters_) > 1 ? format_text("-{}", block) : "");
      Pair pair{};
      for (std::uint32_t side = 0; side < (has_panels() ? 2U : 1U); ++side) {
        const std::string name = has_panels() ? format_text("panel-{}{}", number, side == 0 ? "a" : "b") : "ocs-" + number;
        const Duration settle = has_panels() ? parameters_.panel_settle_max : parameters_.ocs_settle_max;
        pair[side] = rows_.add_element(name, ports, ports, kSwitchLoss, OpticalCircuitSwitch{settle});
        const std::uint32_t nth = has_panels() ? 2 * q + side : q;
        rows_.add_device(name, DeviceRole::circuit_switch, NodeId{first + nth % servers}, {pair[side]});
      }
      switches_.back().push_back(pair);
    }
  }

  void add_server(std::uint32_t index) {
    Node node{NodeId{index}, format_text("node-{}", index), index / block_size_, {}, {}};
    for (std::uint32_t k = 0; k < parameters_.degree; ++k) {
      add_interface(node, k);
    }
    fabric_.nodes.push_back(std::move(node));
  }

  void add_interface(Node& node, std::uint32_t k) {
    const std::string suffix = format_text("{}-{}", node.id.value, k);
    const std::uint32_t each = parameters_.interfaces_per_switch;
    const Pair& pair = switches_[node.group][k / each];
    const auto port = static_cast<PortNumber>((node.id.value % block_size_) * each + k % each);
    const ElementId tx = rows_.add_element("tx-" + suffix, 0, 1, Db{0}, transmitter());
    Receiver receiver;
    receiver.acquisition_max = parameters_.receiver_acquisition_max;
    const ElementId rx = rows_.add_element("rx-" + suffix, 1, 0, Db{0}, receiver);
    rows_.add_device("laser-" + suffix, DeviceRole::transmitter, node.id, {tx});
    if (has_panels()) {
      const OpticalCircuitSwitch flip{parameters_.flip_settle_max};
      const ElementId out = rows_.add_element("flip-tx-" + suffix, 1, 2, kFlipLoss, flip);
      const ElementId in = rows_.add_element("flip-rx-" + suffix, 2, 1, kFlipLoss, flip);
      rows_.connect({tx, 0}, {out, 0}, 0, Db{0});
      rows_.connect({in, 0}, {rx, 0}, 0, Db{0});
      for (PortNumber side = 0; side < 2; ++side) {
        rows_.connect({out, side}, {pair[side], port}, parameters_.fibre_length_mm, kFibreLoss);
        rows_.connect({pair[side], port}, {in, side}, parameters_.fibre_length_mm, kFibreLoss);
      }
      rows_.add_device("flip-tx-" + suffix, DeviceRole::circuit_switch, node.id, {out});
      rows_.add_device("flip-rx-" + suffix, DeviceRole::circuit_switch, node.id, {in});
    } else {
      rows_.connect({tx, 0}, {pair[0], port}, parameters_.fibre_length_mm, kFibreLoss);
      rows_.connect({pair[0], port}, {rx, 0}, parameters_.fibre_length_mm, kFibreLoss);
    }
    node.transmitters.push_back(tx);
    node.receivers.push_back(rx);
  }

  Transmitter transmitter() const {
    Transmitter made;
    made.rate = parameters_.rate;
    made.signal_width = parameters_.signal_width;
    made.tunable = false;
    made.channels = {{parameters_.channel_n, parameters_.channel_width_m}, parameters_.channel_width_m * 2, 1};
    made.retune_max = parameters_.laser_retune_max;
    made.blank_max = parameters_.laser_blank_max;
    made.control_max = parameters_.laser_control_max;
    return made;
  }

  TopooptParameters parameters_;
  std::uint32_t block_size_;
  Fabric fabric_;
  FabricRows rows_;
  std::vector<std::vector<Pair>> switches_;  ///< [block][switch]
};

}  // namespace

std::uint32_t topoopt_block_size(const TopooptParameters& parameters) {
  const std::uint32_t blocks = blocks_of(parameters);
  return (parameters.nodes + blocks - 1) / blocks;
}

Fabric make_topoopt(const TopooptParameters& parameters) {
  LOOM_ASSERT(parameters.nodes >= 2 && parameters.degree > 0 && parameters.interfaces_per_switch > 0);
  LOOM_ASSERT(parameters.degree % parameters.interfaces_per_switch == 0 && topoopt_block_size(parameters) >= 2);
  LOOM_ASSERT(parameters.switch_ports <= 0xffff);
  return TopooptBuilder(parameters).build();
}

}  // namespace loom
