// Parameters of each template, and what must hold between them.
#include "core/config/fabric_template.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/config/fabric_explicit.hpp"
#include "core/config/fabric_safety.hpp"
#include "core/config/yaml_words.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

using std::chrono::seconds;

constexpr Range<Duration> kDeviceTime{Duration{0}, seconds{60}};
constexpr Range<Duration> kRobotTime{Duration{0}, std::chrono::hours{1}};
constexpr Range<BitRate> kRate{{1'000'000}, gigabits(10'000)};
constexpr Range<FrequencyOffset> kSignalWidth{{1}, {1'000'000}};
constexpr Range<std::int64_t> kLength{0, 10'000'000};  ///< within a building: 10 km
constexpr std::int64_t kSipNodes = 4'096;

void check_oddl(YamlMap& map, const OddlParameters& oddl) {
  if (oddl.nodes % oddl.group_size != 0) {
    map.error("group_size", "group_size: " + std::to_string(oddl.group_size) +
                                " does not divide nodes = " + std::to_string(oddl.nodes) + "; expected a divisor");
  }
  const bool routed = oddl.inside == OddlInside::awgr;
  if (const std::uint32_t ports = oddl.group_size + (routed ? 1 : 0); oddl.channels < static_cast<std::int32_t>(ports)) {
    map.error("channels", "channels: found " + std::to_string(oddl.channels) + "; expected at least group_size" +
                              (routed ? " + 1 = " : " = ") + std::to_string(ports) +
                              " (each receiver of a group needs a channel of its own" +
                              (routed ? ", and the uplink one)" : ")"));
  }
  if (routed && oddl.receiver == OddlReceiver::ring) {
    map.error("receiver",
              "receiver: found ring; expected open with inside = awgr (each neighbour is heard on another channel)");
  }
  const std::uint64_t groups = oddl.nodes / oddl.group_size;
  if (oddl.planes * (groups * groups + 3ull * oddl.nodes + 4 * groups) > limits::kFibres) {
    map.error("group_size", "group_size: " + std::to_string(groups) +
                                " groups, each joined to each on every plane, need more fibres than the limit of " +
                                std::to_string(limits::kFibres) + "; expected larger groups");
  }
}

OddlParameters read_oddl(YamlMap& map) {
  OddlParameters oddl;
  const auto max_nodes = static_cast<std::int64_t>(limits::kNodes);
  oddl.nodes = static_cast<std::uint32_t>(map.integer("nodes", {1, max_nodes}, std::int64_t{oddl.nodes}));
  oddl.group_size = static_cast<std::uint32_t>(map.integer("group_size", {1, 1'024}, std::int64_t{oddl.group_size}));
  oddl.planes = static_cast<std::uint32_t>(map.integer("planes", {1, limits::kTransmittersPerNode}, std::int64_t{oddl.planes}));
  const ChannelPlan standard{{oddl.first_channel_n, oddl.channel_width_m}, oddl.channel_step_n, oddl.channels};
  const ChannelPlan plan = read_channels(map, standard, "first_channel", "channel_spacing", "channel_width", "channels");
  oddl.first_channel_n = plan.first.n;
  oddl.channel_width_m = plan.first.m;
  oddl.channel_step_n = plan.step_n;
  oddl.channels = plan.count;
  oddl.rate = map.bit_rate("rate", {{1'000'000}, gigabits(10'000)}, oddl.rate);
  oddl.signal_width = map.offset("signal_width", {{1}, {1'000'000}}, oddl.signal_width);
  oddl.laser_control_max = map.duration("laser_control_max", kDeviceTime, oddl.laser_control_max);
  oddl.laser_retune_max = map.duration("laser_retune_max", kDeviceTime, oddl.laser_retune_max);
  oddl.laser_blank_max = map.duration("laser_blank_max", kDeviceTime, oddl.laser_blank_max);
  oddl.wss_settle_max = map.duration("wss_settle_max", kDeviceTime, oddl.wss_settle_max);
  oddl.wss_reload_dip = map.ratio("wss_reload_dip", {Db{0}, Db{3'000}}, oddl.wss_reload_dip);
  oddl.receiver_acquisition_max = map.duration("receiver_acquisition_max", kDeviceTime, oddl.receiver_acquisition_max);
  oddl.inside = static_cast<OddlInside>(map.word("inside", words_of<OddlInside, 2>(), std::size_t{0}).value_or(0));
  const std::size_t usual = oddl.inside == OddlInside::awgr ? 1 : 0;
  oddl.receiver = static_cast<OddlReceiver>(map.word("receiver", words_of<OddlReceiver, 2>(), usual).value_or(usual));
  oddl.awg_isolation = map.ratio("awg_isolation", {Db{1'000}, Db{8'000}}, oddl.awg_isolation);
  check_signal_width(map, oddl.signal_width, plan);
  check_oddl(map, oddl);
  map.finish();
  return oddl;
}

/// A ring must come down to the lowest channel that its AWG output passes; the heater's ceiling says how far it comes.
void check_reach(YamlMap& map, const Fabric& fabric, const OddlParameters& oddl) {
  const ChannelPlan plan{{oddl.first_channel_n, oddl.channel_width_m}, oddl.channel_step_n, oddl.channels};
  const Device& bank = *std::ranges::find(fabric.devices, DeviceKind::heater_bank, &Device::kind);
  const auto& ring = std::get<RingFilter>(fabric.element(bank.elements.front()).kind);  // of the lowest channel: the worst case
  const double milliwatts = 1000 * ring.heater_volt_max * ring.heater_volt_max / ring.heater_ohm;
  const FrequencyOffset reach{static_cast<std::int64_t>(milliwatts * ring.mhz_per_milliwatt)};
  const FrequencyOffset needed = ring.cold_resonance - centre_of(plan.slot(0));
  if (needed > reach) {
    map.error("channels", "channels: a ring filter would have to tune over " +
                              print_quantity(needed.mhz, kFrequencyOffsetUnits) + ", its heater reaches " +
                              print_quantity(reach.mhz, kFrequencyOffsetUnits) +
                              "; expected fewer channels a node of a group, or larger groups");
  }
}

/// The keys that every template's lasers and receivers have.
template <class Parameters>
void read_ends(YamlMap& map, Parameters& parameters) {
  parameters.rate = map.bit_rate("rate", kRate, parameters.rate);
  parameters.signal_width = map.offset("signal_width", kSignalWidth, parameters.signal_width);
  parameters.laser_control_max = map.duration("laser_control_max", kDeviceTime, parameters.laser_control_max);
  parameters.laser_retune_max = map.duration("laser_retune_max", kDeviceTime, parameters.laser_retune_max);
  parameters.laser_blank_max = map.duration("laser_blank_max", kDeviceTime, parameters.laser_blank_max);
  parameters.receiver_acquisition_max =
      map.duration("receiver_acquisition_max", kDeviceTime, parameters.receiver_acquisition_max);
}

void check_filters(YamlMap& map, const SipRingParameters& ring, const ChannelPlan& plan) {
  const FrequencyOffset spacing{plan.step_n * kGridStep.mhz};
  if (ring.filter_fwhm < ring.signal_width || ring.filter_fwhm >= spacing) {
    map.error("filter_fwhm",
              "filter_fwhm: found " + print_quantity(ring.filter_fwhm.mhz, kFrequencyOffsetUnits) +
                  "; expected at least signal_width = " + print_quantity(ring.signal_width.mhz, kFrequencyOffsetUnits) +
                  " and less than channel_spacing = " + print_quantity(spacing.mhz, kFrequencyOffsetUnits) +
                  " (a cold filter stands half a channel beside its light)");
  }
  const std::uint32_t banks = (ring.wavelengths + ring.filters_per_bank - 1) / ring.filters_per_bank;
  if (ring.wavelengths + banks > limits::kDevicesPerNode) {
    map.error("channels", "channels: " + std::to_string(ring.wavelengths) + " lasers and " + std::to_string(banks) +
                              " heater banks a node; expected at most " + std::to_string(limits::kDevicesPerNode) +
                              " devices a node");
  }
}

Fabric read_sip_ring(YamlMap& map, const ErrorList& errors) {
  SipRingParameters ring;
  ring.nodes = static_cast<std::uint32_t>(map.integer("nodes", {2, kSipNodes}, std::int64_t{ring.nodes}));
  ring.rings = static_cast<std::uint32_t>(map.integer("rings", {1, 64}, std::int64_t{ring.rings}));
  const auto channels = static_cast<std::int32_t>(ring.wavelengths / (2 * 2));
  const ChannelPlan standard{{ring.first_channel_n, ring.channel_width_m}, ring.channel_step_n, channels};
  const ChannelPlan plan = read_channels(map, standard, "first_channel", "channel_spacing", "channel_width", "channels");
  ring.first_channel_n = plan.first.n;
  ring.channel_width_m = plan.first.m;
  ring.channel_step_n = plan.step_n;
  ring.wavelengths = 2 * ring.rings * static_cast<std::uint32_t>(plan.count);
  ring.filter_fwhm = map.offset("filter_fwhm", kSignalWidth, ring.filter_fwhm);
  ring.filters_per_bank = static_cast<std::uint32_t>(map.integer(
      "filters_per_bank", {1, static_cast<std::int64_t>(limits::kRingsPerBank)}, std::int64_t{ring.filters_per_bank}));
  ring.hop_length_mm = map.quantity("hop_length", kLengthUnits, kLength, ring.hop_length_mm);
  ring.hop_loss = map.ratio("hop_loss", {Db{0}, Db{2'000}}, ring.hop_loss);
  read_ends(map, ring);
  check_signal_width(map, ring.signal_width, plan);
  check_filters(map, ring, plan);
  map.finish();
  return errors.empty() ? make_sip_ring(ring) : Fabric{};
}

Fabric read_sip_ocs(YamlMap& map, const ErrorList& errors) {
  SipOcsParameters ocs;
  ocs.nodes = static_cast<std::uint32_t>(map.integer("nodes", {2, kSipNodes}, std::int64_t{ocs.nodes}));
  ocs.switches = static_cast<std::uint32_t>(map.integer("switches", {1, 128}, std::int64_t{ocs.switches}));
  ocs.fibre_length_mm = map.quantity("fibre_length", kLengthUnits, kLength, ocs.fibre_length_mm);
  ocs.ocs_settle_max = map.duration("ocs_settle_max", kDeviceTime, ocs.ocs_settle_max);
  read_ends(map, ocs);
  check_signal_width(map, ocs.signal_width, {{ocs.channel_n, ocs.channel_width_m}, 2 * ocs.channel_width_m, 1});
  map.finish();
  return errors.empty() ? make_sip_ocs(ocs) : Fabric{};
}

/// A block must hold two servers, so that they can be joined.
void check_topoopt(YamlMap& map, const TopooptParameters& topoopt) {
  if (topoopt.degree % topoopt.interfaces_per_switch != 0) {
    map.error("degree",
              "degree: found " + std::to_string(topoopt.degree) +
                  "; expected a multiple of interfaces_per_switch = " + std::to_string(topoopt.interfaces_per_switch));
  }
  const std::uint32_t flips = topoopt.layer == TopooptLayer::look_ahead_panels ? 2 * topoopt.degree : 0;
  const std::uint32_t switches = 2 * topoopt.degree;  // at most so many of a block are one server's
  if (topoopt.degree + flips + switches > limits::kDevicesPerNode) {
    map.error("degree", "degree: found " + std::to_string(topoopt.degree) + "; expected at most " +
                            std::to_string(limits::kDevicesPerNode) + " devices a node, switches counted");
  }
}

Fabric read_topoopt(YamlMap& map, const ErrorList& errors) {
  static const std::array<std::string, 2> kLayers{"circuit_switches", "look_ahead_panels"};
  TopooptParameters topoopt;
  topoopt.nodes = static_cast<std::uint32_t>(map.integer("nodes", {2, kSipNodes}, std::int64_t{topoopt.nodes}));
  topoopt.degree = static_cast<std::uint32_t>(map.integer("degree", {1, 64}, std::int64_t{topoopt.degree}));
  topoopt.interfaces_per_switch =
      static_cast<std::uint32_t>(map.integer("interfaces_per_switch", {1, 2}, std::int64_t{topoopt.interfaces_per_switch}));
  topoopt.layer = static_cast<TopooptLayer>(map.word("switches", kLayers, std::size_t{0}).value_or(0));
  const bool has_panels = topoopt.layer == TopooptLayer::look_ahead_panels;
  topoopt.switch_ports = static_cast<std::uint32_t>(
      map.integer("switch_ports", {4, 0xffff}, std::int64_t{has_panels ? kTopooptPanelPorts : topoopt.switch_ports}));
  topoopt.fibre_length_mm = map.quantity("fibre_length", kLengthUnits, kLength, topoopt.fibre_length_mm);
  topoopt.ocs_settle_max = map.duration("ocs_settle_max", kDeviceTime, topoopt.ocs_settle_max);
  topoopt.panel_settle_max = map.duration("panel_settle_max", kRobotTime, topoopt.panel_settle_max);
  topoopt.flip_settle_max = map.duration("flip_settle_max", kDeviceTime, topoopt.flip_settle_max);
  read_ends(map, topoopt);
  check_signal_width(map, topoopt.signal_width, {{topoopt.channel_n, topoopt.channel_width_m}, 2 * topoopt.channel_width_m, 1});
  check_topoopt(map, topoopt);
  map.finish();
  return errors.empty() ? make_topoopt(topoopt) : Fabric{};
}

Fabric read_oddl_template(YamlMap& map, const ErrorList& errors) {
  const OddlParameters oddl = read_oddl(map);
  if (!errors.empty()) {
    return {};
  }
  Fabric fabric = make_oddl(oddl);
  if (oddl.receiver == OddlReceiver::ring) {
    check_reach(map, fabric, oddl);
  }
  return fabric;
}

}  // namespace

Fabric read_template(YamlMap& file, ErrorList& errors) {
  const std::array<std::string, 4> templates{"oddl", "sip_ring", "sip_ocs", "topoopt"};
  const auto chosen = file.word("template", templates, Rule::required);
  const std::string name = file.name("name", std::string{});
  const ReturnPath return_path = read_return_path(file);
  const SafetyKeys safety = read_safety_keys(file);
  const YamlNode* parameters = file.find("parameters");
  file.finish();
  if (!chosen) {
    return {};
  }
  YamlNode none = file.node();
  none.kind = YamlNode::Kind::map;
  none.keys.clear();
  none.items.clear();
  YamlMap map(parameters == nullptr ? none : *parameters, "the " + templates[*chosen] + " parameters", errors);
  Fabric fabric = *chosen == 0   ? read_oddl_template(map, errors)
                  : *chosen == 1 ? read_sip_ring(map, errors)
                  : *chosen == 2 ? read_sip_ocs(map, errors)
                                 : read_topoopt(map, errors);
  fabric.name = name.empty() ? fabric.name : name;
  fabric.return_path = return_path;
  apply_safety(safety, fabric, errors);
  return fabric;
}

}  // namespace loom
