// SPDX-License-Identifier: Apache-2.0
// What the house knows of SiP-Ring.
#include "controller/architectures/sip_ring/architecture.hpp"

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "controller/architectures/sip_ml/episode.hpp"
#include "controller/architectures/sip_ml/strategy.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "controller/architectures/sip_ring/fold.hpp"
#include "controller/architectures/sip_ring/schedule.hpp"
#include "controller/predict/networks/direct_connect.hpp"
#include "controller/schedule/arena_entry.hpp"
#include "controller/schedule/job_alone.hpp"
#include "controller/schedule/pair_bytes.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 4> kOfThePaper{"all_stop", "directions", "interval_us", "reconfiguration_us"};
constexpr std::array<std::string_view, 5> kKeys{"all_stop", "directions", "interval_us", "light", "reconfiguration_us"};

std::string halves(std::uint32_t wavelengths) {
  return wavelengths % 2 == 0 ? "half of them each way"
                              : format_text("{} clockwise and {} back", wavelengths - wavelengths / 2, wavelengths / 2);
}

/// The rings as a fluid: every segment shared by load, stops charged as a rate.
void share_segments(ArenaBuilder& builder, std::uint32_t wavelengths, const SipLoop& loop) {
  const auto interval = static_cast<double>(loop.interval.count());
  const double duty = loop.all_stop ? interval / (interval + static_cast<double>(loop.reconfiguration.count())) : 1;
  const std::uint32_t counter = wavelengths / 2;
  builder.terms.rate = {std::llround(counter * kSipWavelength * duty)};
  builder.keep(make_ring(builder.terms));
  const std::uint32_t nodes = builder.graph.nodes;
  const double clockwise = nodes == 2 ? wavelengths / 2.0 : wavelengths - counter;  // of two nodes, one link has both ways
  for (NetworkLink& link : builder.entry.network.links) {
    if (link.to == (link.from + 1) % nodes) {
      link.bytes_per_ns *= clockwise / counter;
    }
  }
  builder.entry.scheduler = "max-min load";
  builder.assume("sip-ring: segments shared by load, not by whole wavelengths (as the authors' ILP bounds it)" +
                 (loop.all_stop
                      ? format_text("; stops charged as a rate of {}, needed or not (the authors' code)", printed("%.3f", duty))
                      : std::string("; nothing changes within the iteration")));
}

/// The schedule of its own scheduler, on rings of as many nodes as the job has.
void light_rings(ArenaBuilder& builder, std::uint32_t rings, std::uint32_t wavelengths) {
  SipRingParameters parameters;
  parameters.nodes = builder.graph.nodes;
  parameters.rings = rings;
  parameters.wavelengths = wavelengths;
  parameters.rate = lit_rate(builder.terms, parameters.rate);
  builder.assume(format_text("sip-ring: {} wavelengths of 25 Gb/s, {}, R = {} rings, lit once for the job", wavelengths,
                             halves(wavelengths), rings));
  enter_lit(builder, kSipRing, make_sip_ring(parameters));
}

/// SiP-ML's rings: 25 Gb/s a wavelength, half of them each way round. `light` says by whose algorithm: the scheduler's that
/// would light them, the paper's episodes, or segments shared as a fluid (large jobs; the authors' bound).
void enter_sip_ring(ArenaBuilder& builder) {
  static constexpr std::array<std::string_view, 2> kStops{"always", "never"};
  static constexpr std::array<std::string_view, 2> kDirections{"both", "one"};
  static constexpr std::array<std::string_view, 3> kLights{"lit", "episodes", "shared"};
  SipLoop loop{.interval = Duration{std::llround(builder.read("interval_us", 100, 1, ArenaBuilder::kMicrosecondsMax) * 1e3)},
               .reconfiguration = builder.microseconds("reconfiguration_us", 20)};
  loop.all_stop = builder.word("all_stop", "always", kStops) == "always";
  const bool both = builder.word("directions", "both", kDirections) == "both";
  const std::string light =
      builder.light(kLights, builder.graph.nodes <= kEpisodeNodesMost ? "episodes" : "shared", kOfThePaper);
  auto wavelengths = static_cast<std::uint32_t>(wavelengths_of(builder.rate));
  if (wavelengths < 2) {
    builder.error =
        Error{ErrorCode::invalid_argument,
              format_text("sip-ring: {} wavelengths of 25 Gb/s; a ring in both directions needs 2 or more", wavelengths)};
  }
  if (builder.error) {
    return;
  }
  const std::uint32_t ring_count = sip_rings_of(wavelengths);
  if (light == "lit") {
    light_rings(builder, ring_count, wavelengths);
    return;
  }
  if (both && wavelengths % 2 != 0) {
    builder.assume(
        format_text("sip-ring: of {} wavelengths one stays dark: all-reduces send half of their bytes each way", wavelengths));
    --wavelengths;
  }
  CollectiveChoice way;
  way.algorithm = both ? CollectiveAlgorithm::bidirectional_ring : CollectiveAlgorithm::ring;
  carry_rings(builder.entry.graph, way);
  builder.entry.circuits = wavelengths * builder.graph.nodes;
  SipRingEpisodes rings;
  rings.rings = ring_count;
  rings.wavelengths = wavelengths;
  if (light == "episodes") {
    rings.terms = builder.terms;
    rings.terms.rate = {std::llround(kSipWavelength)};
    rings.keeps_light = !loop.all_stop;
    builder.entry.scheduler = "episodes, max-min";
    play_episodes(builder, sip_ring_policy(rings), loop);
  } else {
    if (builder.graph.nodes > kEpisodeNodesMost) {
      builder.assume(format_text("sip-ring: beyond {} nodes no episodes are played unless light=episodes is set: light=shared",
                                 kEpisodeNodesMost));
    }
    share_segments(builder, wavelengths, loop);
  }
  builder.assume(format_text("sip-ring: {} wavelengths of 25 Gb/s, {}, R = {} rings; {}{} us after every {} us", wavelengths,
                             halves(wavelengths), rings.rings,
                             loop.all_stop ? "all-stop for " : "only what changes goes dark, for ",
                             printed("%g", static_cast<double>(loop.reconfiguration.count()) / 1e3),
                             printed("%g", static_cast<double>(loop.interval.count()) / 1e3)));
  builder.assume(both ? "sip-ring: all-reduces go both ways round"
                      : "sip-ring: all-reduces go one way round (half the wavelengths)");
}

}  // namespace

const Architecture kSipRing{.name = "sip-ring",
                            .summary = "rings of fibre whose filters re-use each wavelength on every segment",
                            .fabric = &kSipRingTemplate,
                            .schedule = &schedule_sip_ring,
                            .order_ranks = there_and_back,
                            .node_memory = kSipMlNodeMemory,
                            .search = StrategySearch::time_to_accuracy,
                            .compare = enter_sip_ring,
                            .compare_keys = kKeys};

}  // namespace loom
