// SPDX-License-Identifier: Apache-2.0
// Parameters of ODDL's fabric in a file, and what must hold between them.
#include "controller/architectures/oddl/fabric.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/config/template_keys.hpp"
#include "core/config/yaml/yaml_words.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<TemplateKey, 22> kKeys{
    {{"nodes", "how many"},
     {"group_size", "nodes that share a WSS and an AWG; a divisor of nodes"},
     {"planes", "transmitters and receivers a node"},
     {"first_channel", "the lowest: its centre, THz on the grid of ITU-T G.694.1"},
     {"channel_spacing", "GHz, on the grid"},
     {"channel_width", "GHz"},
     {"channels", "how many"},
     {"wss_settle_max", "of a wavelength switch, at most"},
     {"wss_reload_dip", "that light which stays loses while a hologram is loaded, dB"},
     {"inside", "combiner: what joins the nodes of a group; awgr: a cyclic router with one uplink"},
     {"receiver", "ring: a drop filter that is tuned; open: every order of the AWG is received"},
     {"calibrated", "rings are as the fabric says, by their maker; false: they are measured before light relies on them"},
     {"locked", "rings are held on their light by their agents; needs photodiodes"},
     {"photodiodes", "behind each receiver, a bank of them a node, so that its light is measured"},
     {"awg_isolation", "between an AWG's channels, dB"},
     {"laser", "itla_laser: OIF-ITLA-MSA, milliseconds; table_laser: an index into its own table, microseconds"},
     kRateKey,
     kSignalWidthKey,
     kLaserControlKey,
     kLaserRetuneKey,
     kLaserBlankKey,
     kAcquisitionKey}};

void check_oddl(YamlMap& map, const OddlParameters& oddl) {
  if (oddl.locked && (oddl.receiver != OddlReceiver::ring || !oddl.photodiodes)) {
    map.error("locked", "locked: true; expected receiver: ring and photodiodes: true, by which rings are held");
  }
  if (oddl.nodes % oddl.group_size != 0) {
    map.error("group_size",
              format_text("group_size: {} does not divide nodes = {}; expected a divisor", oddl.group_size, oddl.nodes));
  }
  const bool routed = oddl.inside == OddlInside::awgr;
  if (const std::uint32_t ports = oddl.group_size + (routed ? 1 : 0); oddl.channels < static_cast<std::int32_t>(ports)) {
    map.error("channels",
              format_text(
                  "channels: found {}; expected at least group_size{}{} (each receiver of a group needs a channel of its own{}",
                  oddl.channels, routed ? " + 1 = " : " = ", ports, routed ? ", and the uplink one)" : ")"));
  }
  if (routed && oddl.receiver == OddlReceiver::ring) {
    map.error("receiver",
              "receiver: found ring; expected open with inside = awgr (each neighbour is received on another channel)");
  }
  const std::uint64_t groups = oddl.nodes / oddl.group_size;
  if (oddl.planes * (groups * groups + 3ull * oddl.nodes + 4 * groups) > limits::kFibres) {
    map.error("group_size", format_text("group_size: {} groups, each joined to each on every plane, need more fibres than the "
                                        "limit of {}; expected larger groups",
                                        groups, limits::kFibres));
  }
}

OddlParameters read_parameters(YamlMap& map) {
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
  oddl.take(static_cast<OddlLaser>(map.word("laser", words_of<OddlLaser, 2>(), std::size_t{0}).value_or(0)));
  read_ends(map, oddl);
  oddl.wss_settle_max = map.duration("wss_settle_max", kDeviceTime, oddl.wss_settle_max);
  oddl.wss_reload_dip = map.ratio("wss_reload_dip", {Db{0}, Db{3'000}}, oddl.wss_reload_dip);
  oddl.inside = static_cast<OddlInside>(map.word("inside", words_of<OddlInside, 2>(), std::size_t{0}).value_or(0));
  const std::size_t usual = oddl.inside == OddlInside::awgr ? 1 : 0;
  oddl.receiver = static_cast<OddlReceiver>(map.word("receiver", words_of<OddlReceiver, 2>(), usual).value_or(usual));
  oddl.calibrated = map.flag("calibrated", oddl.calibrated);
  oddl.locked = map.flag("locked", oddl.locked);
  oddl.photodiodes = map.flag("photodiodes", oddl.photodiodes);
  oddl.awg_isolation = map.ratio("awg_isolation", {Db{1'000}, Db{8'000}}, oddl.awg_isolation);
  check_signal_width(map, oddl.signal_width, plan);
  check_oddl(map, oddl);
  map.finish();
  return oddl;
}

/// A ring must come down to the lowest channel that its AWG output passes; the heater's ceiling says how far it comes.
void check_reach(YamlMap& map, const Fabric& fabric, const OddlParameters& oddl) {
  const ChannelPlan plan{{oddl.first_channel_n, oddl.channel_width_m}, oddl.channel_step_n, oddl.channels};
  const Device& bank = *std::ranges::find(fabric.devices, DeviceRole::filter, &Device::role);
  const auto& ring = std::get<RingFilter>(fabric.element(bank.elements.front()).kind);  // of the lowest channel: the worst case
  const double milliwatts = 1000 * ring.heater_volt_max * ring.heater_volt_max / ring.heater_ohm;
  const FrequencyOffset reach{static_cast<std::int64_t>(milliwatts * ring.mhz_per_milliwatt)};
  const FrequencyOffset needed = ring.cold_resonance - centre_of(plan.slot(0));
  if (needed > reach) {
    map.error("channels",
              format_text("channels: a ring filter would have to tune over {}, its heater reaches {}; expected fewer channels "
                          "a node of a group, or larger groups",
                          print_quantity(needed.mhz, kFrequencyOffsetUnits), print_quantity(reach.mhz, kFrequencyOffsetUnits)));
  }
}

Fabric read_oddl_template(YamlMap& map, const ErrorList& errors) {
  const OddlParameters oddl = read_parameters(map);
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

const FabricTemplate kOddlTemplate{"oddl", "groups of nodes behind wavelength switches and cyclic AWGs (reconstruction)", kKeys,
                                   read_oddl_template};

}  // namespace loom
