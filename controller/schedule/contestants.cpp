// One maker a fabric, and the table of them.
#include "controller/schedule/contestants.hpp"
#include "controller/predict/greedy_degree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "controller/predict/networks/direct_connect.hpp"
#include "controller/predict/networks/expander.hpp"
#include "controller/predict/networks/fat_tree.hpp"
#include "controller/predict/networks/ideal_switch.hpp"
#include "controller/predict/networks/matchings.hpp"
#include "controller/schedule/mordia.hpp"
#include "controller/schedule/pair_bytes.hpp"
#include "controller/schedule/permutations.hpp"
#include "controller/schedule/sip_episode.hpp"
#include "controller/schedule/topoopt/finder_settings.hpp"
#include "controller/schedule/topoopt_network.hpp"

namespace loom {
namespace {

constexpr double kMicrosecondsMax = 60e6;
constexpr double kWavelength = 25e9;  ///< SiP-ML, docs/systems/sipml.md#constants
constexpr std::uint32_t kRingsMax = 5;
constexpr std::uint32_t kEpisodeNodesMost = 64;  ///< beyond, an iteration of many episodes takes minutes to play

/// What a maker works with: settings are read through it, and the first error is kept.
struct Making {
  const TaskGraph& graph;
  BitRate rate;
  const Settings& settings;
  Contestant contestant{};
  NetworkTerms terms{};
  std::optional<Error> error{};

  double read(std::string_view key, double absent, double least, double most) {
    const auto value = number(settings, key, absent, least, most);
    if (!value && !error) {
      error = value.error();
    }
    return value ? *value : absent;
  }
  std::uint32_t count(std::string_view key, std::int64_t absent, std::int64_t least, std::int64_t most) {
    const auto value = whole_number(settings, key, absent, least, most);
    if (!value && !error) {
      error = value.error();
    }
    return static_cast<std::uint32_t>(value ? *value : absent);
  }
  std::string word(std::string_view key, std::string_view absent, std::span<const std::string_view> choices) {
    const auto value = choice(settings, key, absent, choices);
    if (!value && !error) {
      error = value.error();
    }
    return value ? *value : std::string{absent};
  }
  Duration microseconds(std::string_view key, double absent) {
    return Duration{std::llround(read(key, absent, 0, kMicrosecondsMax) * 1e3)};
  }
  void assume(std::string sentence) { contestant.assumptions.push_back(std::move(sentence)); }
  /// Keeps a network, or the error of it.
  void keep(Result<Network> made) {
    if (made) {
      contestant.network = std::move(*made);
    } else if (!error) {
      error = std::move(made).error();
    }
  }
};

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

BitRate part_of_rate(BitRate rate, double parts) { return {std::llround(static_cast<double>(rate.bits_per_second) / parts)}; }

void make_ideal(Making& making) {
  making.contestant.scheduler = "-";
  making.keep(make_ideal_switch(making.terms));
}

void make_tree(Making& making, double oversubscription) {
  FatTreeShape shape;
  shape.radix = making.count("radix", 0, 0, 65'536);
  shape.oversubscription = making.read("oversubscription", oversubscription, 1, 1'000);
  shape.cost_ratio = making.read("cost_ratio", 1, 1e-3, 1);
  shape.seed = making.count("seed", 1, 0, 4'294'967'295);
  static constexpr std::array<std::string_view, 2> kWays{"hashed", "sprayed"};
  shape.sprayed = making.word("ways", "hashed", kWays) == "sprayed";
  making.contestant.scheduler = shape.sprayed ? "spray" : "ecmp";
  making.keep(make_fat_tree(making.terms, shape));
}

void make_full_tree(Making& making) { make_tree(making, 1); }
void make_oversubscribed_tree(Making& making) { make_tree(making, 2); }

void make_random_graph(Making& making) {
  ExpanderShape shape;
  shape.degree = making.count("degree", 4, 2, 64);
  shape.seed = making.count("seed", 1, 0, 4'294'967'295);
  for (const auto& [ends, bytes] : pair_bytes(making.graph)) {
    shape.routing.pairs.push_back(ends);
  }
  making.terms.rate = part_of_rate(making.rate, shape.degree);
  making.contestant.scheduler = "k-shortest";
  making.contestant.circuits = making.graph.nodes * shape.degree;
  making.keep(make_expander(making.terms, shape));
}

void make_electrical_ring(Making& making) {
  making.terms.rate = part_of_rate(making.rate, 2);
  making.contestant.scheduler = "-";
  making.contestant.circuits = 2 * making.graph.nodes;
  making.keep(make_ring(making.terms));
}

void make_topoopt(Making& making) {
  const auto options = finder_options(making.settings);
  if (!options) {
    making.error = options.error();
    return;
  }
  making.terms.rate = part_of_rate(making.rate, options->degree);
  auto made = make_topoopt_network(making.graph, making.terms, *options);
  if (!made) {
    making.error = std::move(made).error();
    return;
  }
  const auto variant = making.settings.find("variant");
  making.contestant.scheduler =
      "topology-finder " + (variant == making.settings.end() ? std::string{kFinderVariants[0]} : variant->second);
  making.contestant.graph = std::move(made->graph);
  making.contestant.network = std::move(made->network);
  making.contestant.circuits = made->links;
  making.assume(made->summary);
  making.assume("topoopt: the job's strategy is taken as given, not searched for together with the topology");
}

double wavelengths_of(BitRate rate) { return std::floor(static_cast<double>(rate.bits_per_second) / kWavelength); }

/// Episodes of `policy`: the iteration's traffic decides the first light, what is queued every later one.
void play_episodes(Making& making, const TopologyPolicy& policy, const SipLoop& loop) {
  auto changing = sip_episodes(making.contestant.graph, policy, loop);
  if (!changing) {
    making.error = std::move(changing).error();
    return;
  }
  making.contestant.network = changing->network();
  making.contestant.changing.emplace(std::move(*changing));
}

/// The rings as a fluid: every segment shared by load, stops charged as a rate.
void share_segments(Making& making, double wavelengths, const SipLoop& loop) {
  const auto interval = static_cast<double>(loop.interval.count());
  const double duty = loop.all_stop ? interval / (interval + static_cast<double>(loop.reconfiguration.count())) : 1;
  making.terms.rate = {std::llround(std::floor(wavelengths / 2) * kWavelength * duty)};
  making.keep(make_ring(making.terms));
  making.contestant.scheduler = "max-min load";
  making.assume("sip-ring: segments shared by load, not by whole wavelengths (as the authors' ILP bounds it)" +
                (loop.all_stop ? "; stops charged as a rate of " + printed("%.3f", duty) + ", needed or not (the authors' code)"
                               : std::string("; nothing changes within the iteration")));
}

/// SiP-ML's rings: 25 Gb/s a wavelength, half of them each way round. Played episode by episode where the job is small enough.
void make_sip_ring(Making& making) {
  static constexpr std::array<std::string_view, 2> kStops{"always", "never"};
  static constexpr std::array<std::string_view, 2> kDirections{"both", "one"};
  static constexpr std::array<std::string_view, 2> kLights{"episodes", "shared"};
  SipLoop loop{.interval = Duration{std::llround(making.read("interval_us", 100, 1, kMicrosecondsMax) * 1e3)},
               .reconfiguration = making.microseconds("reconfiguration_us", 20)};
  loop.all_stop = making.word("all_stop", "always", kStops) == "always";
  const bool both = making.word("directions", "both", kDirections) == "both";
  const bool is_small = making.graph.nodes <= kEpisodeNodesMost;
  const bool by_episodes = making.word("light", is_small ? "episodes" : "shared", kLights) == "episodes";
  const double wavelengths = wavelengths_of(making.rate);
  if (wavelengths < 2) {
    making.error = Error{ErrorCode::invalid_argument, "sip-ring: " + printed("%g", wavelengths) +
                                                          " wavelengths of 25 Gb/s; a ring in both directions needs 2 or more"};
  }
  if (making.error) {
    return;
  }
  CollectiveChoice way;
  way.algorithm = both ? CollectiveAlgorithm::bidirectional_ring : CollectiveAlgorithm::ring;
  carry_rings(making.contestant.graph, way);
  making.contestant.circuits = static_cast<std::uint32_t>(wavelengths) * making.graph.nodes;
  SipRingEpisodes rings;
  rings.rings = wavelengths >= 2 * kRingsMax ? kRingsMax : 1;
  rings.channels = static_cast<std::uint32_t>(wavelengths / 2 / rings.rings);
  if (by_episodes) {
    rings.terms = making.terms;
    rings.terms.rate = {std::llround(kWavelength)};
    rings.keeps_light = !loop.all_stop;
    making.contestant.scheduler = "episodes, max-min";
    play_episodes(making, sip_ring_policy(rings), loop);
  } else {
    share_segments(making, wavelengths, loop);
  }
  making.assume("sip-ring: " + printed("%g", wavelengths) +
                " wavelengths of 25 Gb/s, half of them each way, R = " + std::to_string(rings.rings) + " rings; " +
                (loop.all_stop ? "all-stop for " : "only what changes goes dark, for ") +
                printed("%g", static_cast<double>(loop.reconfiguration.count()) / 1e3) + " us after every " +
                printed("%g", static_cast<double>(loop.interval.count()) / 1e3) + " us");
  making.assume(both ? "sip-ring: all-reduces go both ways round"
                     : "sip-ring: all-reduces go one way round (half the wavelengths)");
}

/// Mordia as SiP-ML's authors simulated it: no wavelength is used twice in the whole network.
void make_mordia(Making& making) {
  const SipLoop loop{.interval = Duration{std::llround(making.read("interval_us", 100, 1, kMicrosecondsMax) * 1e3)},
                     .reconfiguration = making.microseconds("reconfiguration_us", 20)};
  const auto wavelengths = static_cast<std::uint32_t>(wavelengths_of(making.rate));
  if (!making.error && (wavelengths == 0 || making.graph.nodes > kEpisodeNodesMost)) {
    making.error =
        Error{ErrorCode::unsupported, "mordia: " + std::to_string(wavelengths) + " wavelengths of 25 Gb/s and " +
                                          std::to_string(making.graph.nodes) + " nodes; it is played with 1 or more on " +
                                          std::to_string(kEpisodeNodesMost) + " nodes at most"};
  }
  if (making.error) {
    return;
  }
  making.terms.rate = {std::llround(kWavelength)};
  making.contestant.scheduler = "episodes, max-min";
  making.contestant.circuits = wavelengths;
  play_episodes(making, mordia_policy(making.terms, wavelengths), loop);
  making.assume("mordia: " + std::to_string(wavelengths) +
                " wavelengths of 25 Gb/s for the whole network, as many as a node has on SiP-ML's; all-stop");
}

void make_sip_ocs(Making& making) {
  const std::uint32_t switches = making.count("switches", 20, 1, 4'096);
  if (making.error) {
    return;
  }
  std::vector<SwitchPair> pairs;
  for (const auto& [ends, bytes] : pair_bytes(making.graph)) {
    pairs.push_back({ends.first, ends.second, std::clamp<std::int64_t>(std::llround(bytes), 1, (std::int64_t{1} << 50) - 1)});
  }
  const auto counts = share_ports(making.graph.nodes, switches, pairs);
  if (!counts) {
    std::map<std::uint32_t, std::uint32_t> peers;
    for (const SwitchPair& pair : pairs) {
      ++peers[pair.source];
    }
    const auto most =
        std::max_element(peers.begin(), peers.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    making.error = Error{ErrorCode::infeasible, "sip-ocs: node " + std::to_string(most->first) + " sends to " +
                                                    std::to_string(most->second) + " others over " + std::to_string(switches) +
                                                    " switches, so somebody would get nothing (fabric.switches)"};
    return;
  }
  std::vector<Matching> matchings(switches, Matching(making.graph.nodes, kIdlePort));
  for (const SwitchGrant& grant : into_permutations(making.graph.nodes, switches, pairs, *counts)) {
    matchings[grant.on][pairs[grant.pair].source] = pairs[grant.pair].destination;
    ++making.contestant.circuits;
  }
  making.terms.rate = part_of_rate(making.rate, switches);
  making.contestant.scheduler = "max-min, one shot";
  making.keep(make_matchings(making.terms, matchings));
  making.assume("sip-ocs: " + std::to_string(switches) +
                " switches, every node one port on each; set once before the job, no forwarding");
}

void make_ocs_reconfig(Making& making) {
  const std::uint32_t degree = making.count("degree", 4, 1, 64);
  const double delay = making.read("delay_us", 10'000, 1, kMicrosecondsMax);
  static constexpr std::array<std::string_view, 2> kForwards{"yes", "no"};
  const bool forwards = making.word("forwarding", "yes", kForwards) == "yes";
  if (making.error) {
    return;
  }
  making.terms.rate = part_of_rate(making.rate, degree);
  const TopologyPolicy policy = greedy_degree_policy(making.terms, degree, forwards);
  std::vector<Transfers::Left> all;
  for (const auto& [ends, bytes] : pair_bytes(making.graph)) {
    all.push_back({ends.first, ends.second, 0, 0, bytes});
  }
  auto first = policy(0, all);
  if (!first) {
    making.error = std::move(first).error();
    return;
  }
  making.contestant.network = *first;
  auto changing = Reconfiguration::make(ocs_reconfig_terms(Duration{std::llround(delay * 1e3)}), std::move(*first), policy);
  if (!changing) {
    making.error = std::move(changing).error();
    return;
  }
  making.contestant.changing.emplace(std::move(*changing));
  making.contestant.scheduler = "greedy halving";
  making.contestant.circuits = making.graph.nodes * degree;
  making.assume("ocs-reconfig: live for 4 x " + printed("%g", delay / 1e3) + " ms, then all dark for " +
                printed("%g", delay / 1e3) + " ms (TopoOpt's baseline)" + (forwards ? ", nodes forward" : ", no forwarding"));
}

/// Closed forms still, as there is no engine for grants: guards and map changes of the reconstruction, never light itself.
void make_oddl(Making& making) {
  auto model = make_fabric_model("oddl", making.rate, making.graph.nodes, making.settings);
  if (!model) {
    making.error = std::move(model).error();
    return;
  }
  making.contestant.scheduler = "oddl";
  making.contestant.circuits = making.graph.nodes;
  making.contestant.symbolic = std::move(*model);
  making.contestant.symbolic->assumptions.push_back(
      "oddl (reconstruction): closed forms, not played; its grants are in agents/");
}

struct Maker {
  std::string_view name;
  void (*make)(Making&);
  std::vector<std::string_view> keys;
  bool has_common_keys = true;
};

/// Keys that every fabric has: what a link and a transfer cost.
constexpr std::array<std::string_view, 6> kCommonKeys{"efficiency", "forward_us",    "header_bytes",
                                                      "latency_us", "payload_bytes", "step_us"};

const std::vector<Maker>& makers() {
  static const std::vector<Maker> kMakers{
      {"ideal-switch", make_ideal, {}},
      {"fat-tree", make_full_tree, {"cost_ratio", "oversubscription", "radix", "seed", "ways"}},
      {"fat-tree-oversub", make_oversubscribed_tree, {"cost_ratio", "oversubscription", "radix", "seed", "ways"}},
      {"expander", make_random_graph, {"degree", "seed"}},
      {"ring", make_electrical_ring, {}},
      {"topoopt", make_topoopt, {"degree", "seed", "variant"}},
      {"ocs-reconfig", make_ocs_reconfig, {"degree", "delay_us", "forwarding"}},
      {"sip-ring", make_sip_ring, {"all_stop", "directions", "interval_us", "light", "reconfiguration_us"}},
      {"sip-ocs", make_sip_ocs, {"switches"}},
      {"mordia", make_mordia, {"interval_us", "reconfiguration_us"}},
      {"oddl",
       make_oddl,
       {"acquisition_us", "blank_us", "control_us", "group_size", "latency_us", "retune_us", "wss_settle_ms"},
       false},
  };
  return kMakers;
}

void read_terms(Making& making) {
  making.terms.nodes = making.graph.nodes;
  making.terms.rate = making.rate;
  making.terms.link_latency = making.microseconds("latency_us", 1);
  making.terms.step_latency = making.microseconds("step_us", 0);
  making.terms.forward = making.microseconds("forward_us", 0);
  making.terms.efficiency = making.read("efficiency", 1, 1e-3, 1);
  making.terms.packets.payload = making.read("payload_bytes", 0, 0, 1e6);
  making.terms.packets.header = making.read("header_bytes", 0, 0, 1e5);
}

}  // namespace

std::span<const std::string_view> contestant_names() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const Maker& maker : makers()) {
      names.push_back(maker.name);
    }
    return names;
  }();
  return kNames;
}

std::span<const std::string_view> contestant_keys(std::string_view fabric) {
  static const std::map<std::string_view, std::vector<std::string_view>> kKeys = [] {
    std::map<std::string_view, std::vector<std::string_view>> keys;
    for (const Maker& maker : makers()) {
      auto& own = keys[maker.name];
      own.assign(kCommonKeys.begin(), maker.has_common_keys ? kCommonKeys.end() : kCommonKeys.begin());
      own.insert(own.end(), maker.keys.begin(), maker.keys.end());
    }
    return keys;
  }();
  const auto found = kKeys.find(fabric);
  return found == kKeys.end() ? std::span<const std::string_view>{} : std::span{found->second};
}

Settings settings_for(std::string_view fabric, const Settings& settings) {
  const auto keys = contestant_keys(fabric);
  const std::string scope = std::string{fabric} + ".";
  Settings own;
  for (const auto& [key, value] : settings) {
    const bool is_scoped = key.starts_with(scope);
    const std::string bare = is_scoped ? key.substr(scope.size()) : key;
    if (std::find(keys.begin(), keys.end(), bare) != keys.end() && (is_scoped || !own.contains(bare))) {
      own[bare] = value;
    }
  }
  return own;
}

Result<void> check_arena_keys(const Settings& settings, std::span<const std::string> fabrics) {
  std::vector<std::string_view> known;
  std::vector<std::string> scoped;
  for (const std::string& fabric : fabrics) {
    const auto keys = contestant_keys(fabric);
    known.insert(known.end(), keys.begin(), keys.end());
  }
  for (const std::string_view fabric : contestant_names()) {  // a calibration may know fabrics that do not take part
    for (const std::string_view key : contestant_keys(fabric)) {
      scoped.push_back(std::string{fabric} + "." + std::string{key});
    }
  }
  known.insert(known.end(), scoped.begin(), scoped.end());
  return check_keys(settings, "the arena", known);
}

Result<Contestant> make_contestant(std::string_view fabric, const TaskGraph& graph, BitRate rate, const Settings& settings) {
  const auto found = std::find_if(makers().begin(), makers().end(), [&](const Maker& maker) { return maker.name == fabric; });
  if (found == makers().end()) {
    return fail(ErrorCode::not_found, "no fabric '" + std::string{fabric.substr(0, 128)} + "' in the arena; did you mean '" +
                                          std::string{nearest(fabric, contestant_names())} + "'?");
  }
  LOOM_TRY(check_keys(settings, fabric, contestant_keys(fabric)));
  Making making{graph, rate, settings};
  making.contestant.fabric = fabric;
  making.contestant.graph = graph;
  read_terms(making);
  if (!making.error) {
    found->make(making);
  }
  if (making.error) {
    return std::unexpected(*std::move(making.error));
  }
  return std::move(making.contestant);
}

}  // namespace loom
