// The ODDL reconstruction as a fabric (SYSTEMS.md C2): only the paper's abstract is public, so sizes, losses and gains are
// ours. Light of one transmitter: combiner 1:G, amplifier, WSS at the source, fibre, WSS at the destination, amplifier,
// cyclic AWG, micro-ring drop filter, receiver.
#include <cmath>
#include <string>

#include "core/fabric.hpp"

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
constexpr std::int64_t kFibreLengthMm = 50'000;
constexpr FrequencyOffset kRingHeadroom{400'000};  ///< how far a cold ring lies above its highest channel

class OddlBuilder {
 public:
  explicit OddlBuilder(const OddlParameters& parameters)
      : parameters_(parameters),
        groups_(parameters.nodes / parameters.group_size),
        plan_{{parameters.first_channel_n, parameters.channel_width_m}, parameters.channel_step_n, parameters.channels} {}

  Fabric build() {
    fabric_.name = "oddl-" + std::to_string(parameters_.nodes);
    fabric_.architecture = "oddl";
    fabric_.assumptions = {
        "oddl (reconstruction): only the abstract of the ODDL paper is public; group size, channels, losses and gains are "
        "ours"};
    for (std::uint32_t g = 0; g < groups_; ++g) {
      add_group(g);
    }
    join_groups();
    build_index(fabric_);
    return std::move(fabric_);
  }

 private:
  struct Group {
    ElementId source_wss;
    ElementId destination_wss;
  };

  ElementId add_element(std::string name, PortNumber inputs, PortNumber outputs, Db loss, ElementKind kind) {
    const ElementId id{static_cast<std::uint32_t>(fabric_.elements.size())};
    fabric_.elements.push_back({id, std::move(name), inputs, outputs, loss, std::move(kind)});
    return id;
  }

  void connect(PortRef from, PortRef to, std::int64_t length_mm, Db loss) {
    const FibreId id{static_cast<std::uint32_t>(fabric_.fibres.size())};
    fabric_.fibres.push_back({id, from, to, length_mm, loss});
  }

  void add_device(std::string name, DeviceKind kind, NodeId agent, std::vector<ElementId> elements) {
    const BusId bus{static_cast<std::uint32_t>(fabric_.buses.size())};
    fabric_.buses.push_back({bus, "bus-" + name, agent, "sim"});
    const DeviceId id{static_cast<std::uint32_t>(fabric_.devices.size())};
    fabric_.devices.push_back({id, std::move(name), kind, agent, bus, 1, std::move(elements)});
  }

  void add_node(std::uint32_t group, std::uint32_t index, ElementId combiner, ElementId awg) {
    const NodeId id{group * parameters_.group_size + index};
    const std::string suffix = std::to_string(id.value);
    Transmitter transmitter;
    transmitter.rate = parameters_.rate;
    transmitter.signal_width = parameters_.signal_width;
    transmitter.channels = plan_;
    transmitter.retune_max = parameters_.laser_retune_max;
    transmitter.blank_max = parameters_.laser_blank_max;
    transmitter.control_max = parameters_.laser_control_max;
    const ElementId tx = add_element("tx-" + suffix, 0, 1, Db{0}, transmitter);
    Receiver receiver;
    receiver.sensitivity = Dbm{-1000};
    receiver.overload = Dbm{400};
    receiver.acquisition_max = parameters_.receiver_acquisition_max;
    const ElementId rx = add_element("rx-" + suffix, 1, 0, Db{0}, receiver);
    RingFilter ring;
    ring.fwhm = FrequencyOffset{width_of(plan_.first).mhz};
    std::int32_t highest = static_cast<std::int32_t>(index);
    while (highest + static_cast<std::int32_t>(parameters_.group_size) < plan_.count) {
      highest += static_cast<std::int32_t>(parameters_.group_size);
    }
    ring.cold_resonance = centre_of(plan_.slot(highest)) + kRingHeadroom;
    const ElementId filter = add_element("ring-" + suffix, 1, 2, kRingLoss, ring);
    connect({tx, 0}, {combiner, static_cast<PortNumber>(index)}, 2'000, Db{0});
    connect({awg, static_cast<PortNumber>(index)}, {filter, 0}, 2'000, Db{0});
    connect({filter, 1}, {rx, 0}, 0, Db{0});
    fabric_.nodes.push_back({id, "node-" + suffix, group, {tx}, {rx}});
    add_device("laser-" + suffix, DeviceKind::itla_laser, id, {tx});
    add_device("heater-" + suffix, DeviceKind::heater_bank, id, {filter});
  }

  void add_group(std::uint32_t g) {
    const std::string suffix = std::to_string(g);
    const auto size = static_cast<PortNumber>(parameters_.group_size);
    const auto groups = static_cast<PortNumber>(groups_);
    const Db split{static_cast<std::int32_t>(std::lround(1000.0 * std::log10(static_cast<double>(size))))};
    const Db combining = split + kCombinerExcess;
    const ElementId combiner = add_element("combiner-" + suffix, size, 1, combining, Coupler{});
    const ElementId booster =
        add_element("booster-" + suffix, 1, 1, Db{0}, Amplifier{combining + kBoosterSurplus, Dbm{-3500}, Dbm{600}});
    WavelengthSelectiveSwitch wss;
    wss.settle_max = parameters_.wss_settle_max;
    const ElementId source = add_element("wss-out-" + suffix, 1, groups, kWssLoss, wss);
    const ElementId destination = add_element("wss-in-" + suffix, groups, 1, kWssLoss, wss);
    const ElementId preamplifier =
        add_element("preamplifier-" + suffix, 1, 1, Db{0}, Amplifier{kPreamplifierGain, Dbm{-3500}, Dbm{800}});
    ArrayedWaveguideGrating grating;
    grating.channels = plan_;
    grating.passband = FrequencyOffset{width_of(plan_.first).mhz * 9 / 10};
    const ElementId awg = add_element("awg-" + suffix, 1, size, kAwgLoss, grating);
    connect({combiner, 0}, {booster, 0}, 1'000, Db{0});
    connect({booster, 0}, {source, 0}, 1'000, Db{0});
    connect({destination, 0}, {preamplifier, 0}, 1'000, Db{0});
    connect({preamplifier, 0}, {awg, 0}, 1'000, Db{0});
    switches_.push_back({source, destination});
    for (std::uint32_t index = 0; index < parameters_.group_size; ++index) {
      add_node(g, index, combiner, awg);
    }
    const NodeId head{g * parameters_.group_size};
    add_device("wss-out-" + suffix, DeviceKind::wss, head, {source});
    add_device("wss-in-" + suffix, DeviceKind::wss, head, {destination});
  }

  void join_groups() {
    for (std::uint32_t g = 0; g < groups_; ++g) {
      for (std::uint32_t h = 0; h < groups_; ++h) {
        connect({switches_[g].source_wss, static_cast<PortNumber>(h)},
                {switches_[h].destination_wss, static_cast<PortNumber>(g)}, kFibreLengthMm, Db{30});
      }
    }
  }

  OddlParameters parameters_;
  std::uint32_t groups_;
  ChannelPlan plan_;
  Fabric fabric_;
  std::vector<Group> switches_;
};

}  // namespace

Fabric make_oddl(const OddlParameters& parameters) {
  LOOM_ASSERT(parameters.group_size > 0 && parameters.nodes % parameters.group_size == 0);
  LOOM_ASSERT(parameters.channels >= static_cast<std::int32_t>(parameters.group_size));
  return OddlBuilder(parameters).build();
}

}  // namespace loom
