// SPDX-License-Identifier: Apache-2.0
// SiP-ML's rings of fibre with an add/drop filter a node and wavelength (docs/systems/sipml.md#constants). Sizes, rates and the
// number of rings are the paper's to choose; losses are ours.
#include "controller/architectures/sip_ring/fabric.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "controller/architectures/sip_ring/waves.hpp"
#include "core/fabric/fabric.hpp"
#include "core/fabric/fabric_rows.hpp"
#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr const char* kNoComb = "every wavelength has a laser of its own (ITLA); comb lasers are not modelled yet";

/// Off resonance 0.02 dB, on it 1 dB more (drop and add), and 35 dB to what goes the wrong way all the same: rings of second
/// order. 16 nodes of 8 filters and 0.2 dB of fibre cost 15 x 0.36 + 2 = 7.4 dB at most.
constexpr Db kFilterLoss{2};
constexpr Db kFilterDropLoss{98};
constexpr Db kFilterIsolation{3500};

class SipRingBuilder {
 public:
  explicit SipRingBuilder(const SipRingParameters& parameters)
      : parameters_(parameters),
        buses_(spread_wavelengths(parameters.wavelengths, parameters.rings)),
        plan_{{parameters.first_channel_n, parameters.channel_width_m},
              parameters.channel_step_n,
              static_cast<std::int32_t>(buses_.front().channels)},
        rows_(fabric_) {}

  Fabric build() {
    fabric_.name = format_text("sip-ring-{}", parameters_.nodes);
    fabric_.architecture = "sip-ring";
    fabric_.assumptions = {format_text("sip-ring: {}", kNoComb), "sip-ring: losses and isolation of the filters are ours"};
    for (std::uint32_t node = 0; node < parameters_.nodes; ++node) {
      add_node(node);
    }
    for (std::uint32_t bus = 0, first = 0; bus < buses_.size(); first += buses_[bus++].channels) {
      join(bus, first);
    }
    build_index(fabric_);
    return std::move(fabric_);
  }

 private:
  void add_node(std::uint32_t index) {
    const NodeId id{index};
    Node node{id, format_text("node-{}", index), 0, {}, {}};
    filters_.emplace_back();
    for (std::uint32_t bus = 0; bus < buses_.size(); ++bus) {
      for (std::uint32_t channel = 0; channel < buses_[bus].channels; ++channel) {
        add_wavelength(node, bus, channel);
      }
    }
    const std::vector<ElementId>& filters = filters_.back();
    for (std::size_t begin = 0, bank = 0; begin < filters.size(); begin += parameters_.filters_per_bank, ++bank) {
      const std::size_t end = std::min<std::size_t>(begin + parameters_.filters_per_bank, filters.size());
      rows_.add_device(
          format_text("heater-{}-{}", index, bank), DeviceRole::filter, id,
          {filters.begin() + static_cast<std::ptrdiff_t>(begin), filters.begin() + static_cast<std::ptrdiff_t>(end)});
    }
    fabric_.nodes.push_back(std::move(node));
  }

  void add_wavelength(Node& node, std::uint32_t bus, std::uint32_t channel) {
    const FrequencySlot slot = plan_.slot(static_cast<std::int32_t>(channel));
    const std::string suffix = format_text("{}-r{}{}-{}", node.id.value, bus / 2, bus % 2 == 0 ? "cw" : "ccw", channel);
    Transmitter transmitter;
    transmitter.rate = parameters_.rate;
    transmitter.signal_width = parameters_.signal_width;
    transmitter.tunable = false;
    transmitter.channels = {slot, parameters_.channel_step_n, 1};
    transmitter.retune_max = parameters_.laser_retune_max;
    transmitter.blank_max = parameters_.laser_blank_max;
    transmitter.control_max = parameters_.laser_control_max;
    Receiver receiver;
    receiver.acquisition_max = parameters_.receiver_acquisition_max;
    RingFilter filter;
    filter.fwhm = parameters_.filter_fwhm;
    filter.cold_resonance = centre_of(slot) + FrequencyOffset{parameters_.channel_step_n * kGridStep.mhz / 2};
    filter.drop_loss = kFilterDropLoss;
    filter.isolation = kFilterIsolation;
    const ElementId tx = rows_.add_element("tx-" + suffix, 0, 1, Db{0}, transmitter);
    const ElementId rx = rows_.add_element("rx-" + suffix, 1, 0, Db{0}, receiver);
    const ElementId mrr = rows_.add_element("mrr-" + suffix, 2, 2, kFilterLoss, filter);
    rows_.connect({tx, 0}, {mrr, 1}, 0, Db{0});
    rows_.connect({mrr, 1}, {rx, 0}, 0, Db{0});
    if (channel > 0) {
      rows_.connect({filters_.back().back(), 0}, {mrr, 0}, 0, Db{0});
    }
    rows_.add_device("laser-" + suffix, DeviceRole::transmitter, node.id, {tx});
    node.transmitters.push_back(tx);
    node.receivers.push_back(rx);
    filters_.back().push_back(mrr);
  }

  /// From each node's last filter of the bus to the first one of its neighbour downstream.
  void join(std::uint32_t bus, std::uint32_t first) {
    for (std::uint32_t i = 0; i < parameters_.nodes; ++i) {
      const std::uint32_t next = bus % 2 == 0 ? (i + 1) % parameters_.nodes : (i + parameters_.nodes - 1) % parameters_.nodes;
      rows_.connect({filters_[i][first + buses_[bus].channels - 1], 0}, {filters_[next][first], 0}, parameters_.hop_length_mm,
                    parameters_.hop_loss);
    }
  }

  SipRingParameters parameters_;
  std::vector<RingBus> buses_;
  ChannelPlan plan_;
  Fabric fabric_;
  FabricRows rows_;
  std::vector<std::vector<ElementId>> filters_;  ///< [node], bus by bus, in each by channel
};

}  // namespace

Fabric make_sip_ring(const SipRingParameters& parameters) {
  LOOM_ASSERT(parameters.nodes >= 2 && parameters.rings > 0 && parameters.filters_per_bank > 0);
  LOOM_ASSERT(parameters.wavelengths >= 2 * parameters.rings);
  return SipRingBuilder(parameters).build();
}

}  // namespace loom
