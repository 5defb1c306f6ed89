// SPDX-License-Identifier: Apache-2.0
// Mordia in the arena.
#include "controller/architectures/mordia/architecture.hpp"

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "controller/architectures/mordia/episodes.hpp"
#include "controller/architectures/sip_ml/episode.hpp"
#include "controller/schedule/arena_entry.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 2> kKeys{"interval_us", "reconfiguration_us"};

/// Mordia as SiP-ML's authors simulated it: no wavelength is used twice in the whole network.
void enter_mordia(ArenaBuilder& builder) {
  const SipLoop loop{
      .interval = Duration{std::llround(builder.read("interval_us", 100, 1, ArenaBuilder::kMicrosecondsMax) * 1e3)},
      .reconfiguration = builder.microseconds("reconfiguration_us", 20)};
  const auto wavelengths = static_cast<std::uint32_t>(wavelengths_of(builder.rate));
  if (!builder.error && (wavelengths == 0 || builder.graph.nodes > kEpisodeNodesMost)) {
    builder.error =
        Error{ErrorCode::unsupported,
              format_text("mordia: {} wavelengths of 25 Gb/s and {} nodes; it is played with 1 or more on {} nodes at most",
                          wavelengths, builder.graph.nodes, kEpisodeNodesMost)};
  }
  if (builder.error) {
    return;
  }
  builder.terms.rate = {std::llround(kSipWavelength)};
  builder.entry.scheduler = "episodes, max-min";
  builder.entry.circuits = wavelengths;
  play_episodes(builder, mordia_policy(builder.terms, wavelengths), loop);
  builder.assume(format_text(
      "mordia: {} wavelengths of 25 Gb/s for the whole network, as many as a node has on SiP-ML's; all-stop", wavelengths));
}

}  // namespace

const Architecture kMordia{.name = "mordia",
                           .summary = "a ring on which no wavelength is used twice (SiP-ML's baseline)",
                           .compare = enter_mordia,
                           .compare_keys = kKeys};

}  // namespace loom
