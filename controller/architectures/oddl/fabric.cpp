// SPDX-License-Identifier: Apache-2.0
// The ODDL reconstruction as a fabric (docs/systems/oddl.md#two-time-scales): only the paper's abstract is public, so sizes,
// losses and gains are ours. Light of one transmitter: combiner 1:G, amplifier, WSS at the source, fibre, WSS at the
// destination, amplifier, cyclic AWG, micro-ring drop filter or none, receiver. In the alternative a cyclic router of G + 1
// ports stands inside a group: to a neighbour light passes it once; to another group it leaves by the last port and comes in
// there by the last port.
#include "controller/architectures/oddl/fabric.hpp"

#include <cmath>
#include <string>

#include "core/fabric/fabric.hpp"
#include "core/fabric/fabric_rows.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Losses and gains chosen so that every channel arrives between sensitivity and overload, whatever the size of a group: the
/// booster makes up for its combiner. Groups of 32: 0 - 16 + 18 - 6.5 - fibre - 6.5 + 15 - 5 - 1 = -2 dBm before fibre loss.
constexpr Db kCombinerExcess{100};
constexpr Db kWssLoss{650};
constexpr Db kAwgLoss{500};
constexpr Db kRingLoss{100};
constexpr Db kBoosterSurplus{195};  ///< of the booster's gain over the combiner's loss; 18 dB of gain for 32 nodes
constexpr Db kPreamplifierGain{1500};
/// Behind a router: 0 - 5 + 8 - 6.5 - fibre - 6.5 + 10 - 5 = -5 dBm before fibre loss, and -5 dBm from a neighbour.
constexpr Db kUplinkGain{800};
constexpr Db kDownlinkGain{1000};
constexpr Dbm kUplinkMax{1300};  ///< all nodes of a group of 64 at once
constexpr std::int64_t kFibreLengthMm = 50'000;
constexpr double kDiodeFullScale = 3e-3;           ///< A: more than a receiver takes
constexpr FrequencyOffset kRingHeadroom{400'000};  ///< how far a cold ring lies above its highest channel

class OddlBuilder {
 public:
  explicit OddlBuilder(const OddlParameters& parameters)
      : parameters_(parameters),
        groups_(parameters.nodes / parameters.group_size),
        plan_{{parameters.first_channel_n, parameters.channel_width_m}, parameters.channel_step_n, parameters.channels} {}

  Fabric build() {
    fabric_.name = format_text("oddl-{}", parameters_.nodes);
    fabric_.architecture = "oddl";
    fabric_.assumptions = {
        "oddl (reconstruction): only the abstract of the ODDL paper is public; group size, channels, losses and gains are "
        "ours"};
    if (parameters_.inside == OddlInside::awgr) {
      fabric_.assumptions.emplace_back("oddl: an AWG router inside each group is our second reconstruction, an alternative");
    }
    for (std::uint32_t g = 0; g < groups_; ++g) {
      add_group(g);
    }
    join_groups();
    build_index(fabric_);
    return std::move(fabric_);
  }

 private:
  /// What a group has once a plane.
  struct PlaneOfGroup {
    ElementId transmitters_into;  ///< input by node
    ElementId source_wss;
    ElementId destination_wss;
    ElementId receivers_from;  ///< output by node
  };

  /// Of a thing that there is once a plane; planes but the first say so.
  static std::string suffix_of(std::uint32_t number, std::uint32_t plane) {
    return std::to_string(number) + (plane == 0 ? "" : format_text("p{}", plane));
  }

  ElementId add_transmitter(const std::string& suffix) {
    Transmitter transmitter;
    transmitter.rate = parameters_.rate;
    transmitter.signal_width = parameters_.signal_width;
    transmitter.channels = plan_;
    transmitter.retune_max = parameters_.laser_retune_max;
    transmitter.blank_max = parameters_.laser_blank_max;
    transmitter.control_max = parameters_.laser_control_max;
    return rows_.add_element("tx-" + suffix, 0, 1, Db{0}, transmitter);
  }

  ElementId add_receiver(const std::string& suffix) {
    Receiver receiver;
    receiver.sensitivity = Dbm{-1000};
    receiver.overload = Dbm{400};
    receiver.acquisition_max = parameters_.receiver_acquisition_max;
    return rows_.add_element("rx-" + suffix, 1, 0, Db{0}, receiver);
  }

  ElementId add_filter(const std::string& suffix, std::uint32_t index) {
    RingFilter ring;
    ring.fwhm = FrequencyOffset{width_of(plan_.first).mhz};
    auto highest = static_cast<std::int32_t>(index);
    while (highest + static_cast<std::int32_t>(parameters_.group_size) < plan_.count) {
      highest += static_cast<std::int32_t>(parameters_.group_size);
    }
    ring.cold_resonance = centre_of(plan_.slot(highest)) + kRingHeadroom;
    ring.calibrated = parameters_.calibrated;
    ring.locked = parameters_.locked;
    return rows_.add_element("ring-" + suffix, 1, 2, kRingLoss, ring);
  }

  void add_node(std::uint32_t group, std::uint32_t index, const std::vector<PlaneOfGroup>& planes) {
    const NodeId id{group * parameters_.group_size + index};
    Node node{id, format_text("node-{}", id.value), group, {}, {}};
    std::vector<ElementId> filters;
    for (std::uint32_t plane = 0; plane < planes.size(); ++plane) {
      const std::string suffix = suffix_of(id.value, plane);
      const PortRef light{planes[plane].receivers_from, static_cast<PortNumber>(index)};
      node.transmitters.push_back(add_transmitter(suffix));
      node.receivers.push_back(add_receiver(suffix));
      rows_.connect({node.transmitters.back(), 0}, {planes[plane].transmitters_into, static_cast<PortNumber>(index)}, 2'000,
                    Db{0});
      if (parameters_.receiver == OddlReceiver::ring) {
        filters.push_back(add_filter(suffix, index));
        rows_.connect(light, {filters.back(), 0}, 2'000, Db{0});
        rows_.connect({filters.back(), 1}, {node.receivers.back(), 0}, 0, Db{0});
      } else {
        rows_.connect(light, {node.receivers.back(), 0}, 2'000, Db{0});
      }
      rows_.add_device("laser-" + suffix, DeviceRole::transmitter, id, {node.transmitters.back()},
                       std::string(to_string(parameters_.laser)));
    }
    if (!filters.empty()) {
      rows_.add_device(format_text("heater-{}", id.value), DeviceRole::filter, id, std::move(filters));
    }
    if (parameters_.photodiodes) {
      rows_.add_device(format_text("diodes-{}", id.value), DeviceRole::monitor, id, node.receivers, "photodiode_bank");
      fabric_.devices.back().profile = {{"full_scale_current", kDiodeFullScale}};
    }
    fabric_.nodes.push_back(std::move(node));
  }

  ElementId add_wss(const std::string& name, PortNumber inputs, PortNumber outputs) {
    WavelengthSelectiveSwitch wss;
    wss.settle_max = parameters_.wss_settle_max;
    wss.reload_dip = parameters_.wss_reload_dip;
    return rows_.add_element(name, inputs, outputs, kWssLoss, wss);
  }

  ElementId add_grating(const std::string& name, PortNumber inputs, PortNumber outputs) {
    ArrayedWaveguideGrating grating;
    grating.channels = plan_;
    grating.passband = FrequencyOffset{width_of(plan_.first).mhz * 9 / 10};
    grating.isolation = parameters_.awg_isolation;
    return rows_.add_element(name, inputs, outputs, kAwgLoss, grating);
  }

  PlaneOfGroup add_plane(std::uint32_t group, std::uint32_t plane) {
    const std::string suffix = suffix_of(group, plane);
    const auto size = static_cast<PortNumber>(parameters_.group_size);
    const auto groups = static_cast<PortNumber>(groups_);
    PlaneOfGroup made;
    PortRef out;
    Amplifier boosting{kUplinkGain, Dbm{-3500}, kUplinkMax};
    Amplifier preamplifying{kDownlinkGain, Dbm{-3500}, Dbm{800}};
    const bool routed = parameters_.inside == OddlInside::awgr;
    if (routed) {
      made.transmitters_into = made.receivers_from = add_grating("awgr-" + suffix, size + 1, size + 1);
      out = {made.transmitters_into, size};
    } else {
      const Db split{static_cast<std::int32_t>(std::lround(1000.0 * std::log10(static_cast<double>(size))))};
      const Db combining = split + kCombinerExcess;
      boosting = {combining + kBoosterSurplus, Dbm{-3500}, Dbm{600}};
      preamplifying.gain = kPreamplifierGain;
      made.transmitters_into = rows_.add_element("combiner-" + suffix, size, 1, combining, Coupler{});
      out = {made.transmitters_into, 0};
    }
    const ElementId booster = rows_.add_element("booster-" + suffix, 1, 1, Db{0}, boosting);
    made.source_wss = add_wss("wss-out-" + suffix, 1, groups);
    made.destination_wss = add_wss("wss-in-" + suffix, groups, 1);
    const ElementId preamplifier = rows_.add_element("preamplifier-" + suffix, 1, 1, Db{0}, preamplifying);
    if (!routed) {
      made.receivers_from = add_grating("awg-" + suffix, 1, size);
    }
    rows_.connect(out, {booster, 0}, 1'000, Db{0});
    rows_.connect({booster, 0}, {made.source_wss, 0}, 1'000, Db{0});
    rows_.connect({made.destination_wss, 0}, {preamplifier, 0}, 1'000, Db{0});
    rows_.connect({preamplifier, 0}, {made.receivers_from, routed ? size : PortNumber{0}}, 1'000, Db{0});
    return made;
  }

  void add_group(std::uint32_t group) {
    std::vector<PlaneOfGroup> planes;
    for (std::uint32_t plane = 0; plane < parameters_.planes; ++plane) {
      planes.push_back(add_plane(group, plane));
    }
    for (std::uint32_t index = 0; index < parameters_.group_size; ++index) {
      add_node(group, index, planes);
    }
    const NodeId head{group * parameters_.group_size};
    for (std::uint32_t plane = 0; plane < parameters_.planes; ++plane) {
      const std::string suffix = suffix_of(group, plane);
      rows_.add_device("wss-out-" + suffix, DeviceRole::wavelength_switch, head, {planes[plane].source_wss});
      rows_.add_device("wss-in-" + suffix, DeviceRole::wavelength_switch, head, {planes[plane].destination_wss});
    }
    groups_made_.push_back(std::move(planes));
  }

  void join_groups() {
    for (std::uint32_t plane = 0; plane < parameters_.planes; ++plane) {
      for (std::uint32_t g = 0; g < groups_; ++g) {
        for (std::uint32_t h = 0; h < groups_; ++h) {
          rows_.connect({groups_made_[g][plane].source_wss, static_cast<PortNumber>(h)},
                        {groups_made_[h][plane].destination_wss, static_cast<PortNumber>(g)}, kFibreLengthMm, Db{30});
        }
      }
    }
  }

  OddlParameters parameters_;
  std::uint32_t groups_;
  ChannelPlan plan_;
  Fabric fabric_;
  FabricRows rows_{fabric_};
  std::vector<std::vector<PlaneOfGroup>> groups_made_;  ///< [group][plane]
};

}  // namespace

std::string_view to_string(OddlInside inside) { return inside == OddlInside::combiner ? "combiner" : "awgr"; }

std::string_view to_string(OddlLaser laser) { return laser == OddlLaser::itla_laser ? "itla_laser" : "table_laser"; }

void OddlParameters::take(OddlLaser model) {
  const OddlParameters usual;
  const bool is_table = model == OddlLaser::table_laser;
  laser = model;
  laser_retune_max = is_table ? Duration{std::chrono::microseconds{1}} : usual.laser_retune_max;
  laser_blank_max = is_table ? Duration{std::chrono::nanoseconds{100}} : usual.laser_blank_max;
  laser_control_max = is_table ? Duration{std::chrono::milliseconds{10}} : usual.laser_control_max;
}

std::string_view to_string(OddlReceiver receiver) { return receiver == OddlReceiver::ring ? "ring" : "open"; }

Fabric make_oddl(const OddlParameters& parameters) {
  LOOM_ASSERT(parameters.group_size > 0 && parameters.nodes % parameters.group_size == 0);
  LOOM_ASSERT(parameters.planes > 0);
  LOOM_ASSERT(parameters.inside == OddlInside::combiner || parameters.receiver == OddlReceiver::open);
  const std::uint32_t ports = parameters.group_size + (parameters.inside == OddlInside::awgr ? 1 : 0);
  LOOM_ASSERT(parameters.channels >= static_cast<std::int32_t>(ports));
  return OddlBuilder(parameters).build();
}

}  // namespace loom
