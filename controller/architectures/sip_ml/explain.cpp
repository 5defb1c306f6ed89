// SPDX-License-Identifier: Apache-2.0
// Sentences.
#include "controller/architectures/sip_ml/explain.hpp"

#include "controller/workload/quantity_text.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string bytes(double value) { return text_of(Bytes{static_cast<std::int64_t>(value)}); }

std::string node(NodeId id) { return format_text("node {}", id.value); }

std::string pair_text(const PairAccount& pair, const char* circuits) {
  return format_text(
      "job {}, {} to {}, has {} {} for {} an iteration: z = {} ({} over demand, the job's largest demand being 1)",
      pair.job.value, node(pair.source), node(pair.destination), pair.circuits, circuits, bytes(pair.bits / 8),
      number_text(pair.z), circuits);
}

std::string way_text(const WayAccount& way, std::uint32_t reach, const char* which) {
  std::string text = format_text("its {} way is {}", which, count_text(way.hops, "hop", "hops"));
  if (way.hops > reach) {
    return format_text("{}, more than the {} that the link budget carries", text, reach);
  }
  text += format_text("; on it {} to {} has the fewest free wavelengths, {} of {}", node(way.from), node(way.to), way.free,
                      way.channels);
  if (way.free == 0) {
    return text + ": this segment binds";
  }
  if (way.open == 0) {
    return text + ", but none is free all the way: wavelength continuity binds";
  }
  return format_text(
      "{}, and {} are free all the way: not the fibre binds, but the job's share of it or the ends' own transmitters and "
      "receivers",
      text, way.open);
}

}  // namespace

std::vector<std::string> explain(const RingAccount& account) {
  std::vector<std::string> lines;
  lines.push_back(format_text("{} of {} wavelengths (ring x direction x channel) are lit, for {}", account.wavelengths,
                              account.wavelengths_of, count_text(account.pairs, "pair", "pairs")));
  if (account.pairs == 0) {
    return lines;
  }
  lines.push_back("the worst pair, " + pair_text(account.worst, "wavelengths"));
  lines.push_back(way_text(account.shorter, account.reach, "shorter"));
  lines.push_back(way_text(account.longer, account.reach, "longer"));
  lines.emplace_back(
      "bound: the busiest node's bits over all of its wavelengths, or all bits times their shortest ways over all segments, "
      "whichever is more; an integral number of wavelengths a pair, and continuity, are not in it");
  return lines;
}

std::vector<std::string> explain(const OcsAccount& account) {
  std::vector<std::string> lines;
  lines.push_back(format_text(
      "{} over Q = {} switches for {}; the most peers has {}, {} (more than Q would leave a pair without any circuit)",
      count_text(account.circuits, "circuit", "circuits"), account.switches, count_text(account.pairs, "pair", "pairs"),
      node(account.busiest), account.peers));
  if (account.pairs == 0) {
    return lines;
  }
  lines.push_back("the worst pair, " + pair_text(account.worst, "circuits"));
  const bool sends = account.sends >= account.switches;
  const bool receives = account.receives >= account.switches;
  lines.push_back(format_text("{} sends on {} and {} receives on {} of {} ports: {}", node(account.worst.source), account.sends,
                              node(account.worst.destination), account.receives, account.switches,
                              sends && receives ? "both ends bind"
                              : sends           ? "the sender's ports bind"
                              : receives        ? "the receiver's ports bind"
                                                : "no single end binds, but which ports are free on the same switch"));
  lines.emplace_back(
      "matching: the largest z for which ceil(z x demand) of every pair fits (exact, by bisection), then Koenig's "
      "colouring spreads the circuits over the switches");
  lines.emplace_back("bound: the busiest node's bits over all of its ports");
  return lines;
}

}  // namespace loom
