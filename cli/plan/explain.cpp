// Sentences.
#include "cli/plan/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "cli/plan/answer.hpp"
#include "cli/render/term.hpp"

namespace loom::cli {
namespace {

constexpr std::size_t kListed = 12;

std::string number(double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

std::string count(std::uint64_t value, const char* one, const char* many) {
  return std::to_string(value) + " " + (value == 1 ? one : many);
}

std::string bytes(double value) { return text_of(Bytes{static_cast<std::int64_t>(value)}); }

std::string listed(const std::vector<std::uint32_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.size() > kListed && i == kListed - 2) {
      return text + " .. " + std::to_string(values.back());
    }
    text += (i == 0 ? "" : " ") + std::to_string(values[i]);
  }
  return text;
}

std::string node(NodeId id) { return "node " + std::to_string(id.value); }

std::string pair_text(const PairAccount& pair, const char* circuits) {
  return "job " + std::to_string(pair.job.value) + ", " + node(pair.source) + " to " + node(pair.destination) + ", has " +
         std::to_string(pair.circuits) + " " + circuits + " for " + bytes(pair.bits / 8) +
         " an iteration: z = " + number(pair.z) + " (" + circuits + " over demand, the job's largest demand being 1)";
}

std::string way_text(const WayAccount& way, std::uint32_t reach, const char* which) {
  std::string text = std::string("its ") + which + " way is " + count(way.hops, "hop", "hops");
  if (way.hops > reach) {
    return text + ", more than the " + std::to_string(reach) + " that the link budget carries";
  }
  text += "; on it " + node(way.from) + " to " + node(way.to) + " has the fewest free wavelengths, " +
          std::to_string(way.free) + " of " + std::to_string(way.channels);
  if (way.free == 0) {
    return text + ": this segment binds";
  }
  if (way.open == 0) {
    return text + ", but none is free all the way: wavelength continuity binds";
  }
  return text + ", and " + std::to_string(way.open) +
         " are free all the way: not the fibre binds, but the job's share of it or the ends' own transmitters and receivers";
}

std::string name_of(DegreeSplit split) {
  switch (split) {
    case DegreeSplit::as_in_paper:
      return "as in the paper, max(1, ceil(d A / (A + M))) to rings";
    case DegreeSplit::as_in_code_2021:
      return "as in the code of 2021, both rounded to nearest";
    case DegreeSplit::as_in_code_release:
      return "as in the released code, all to rings whatever M is";
  }
  return {};
}

void explain_split(const FinderAccount& account, const FinderOptions& options, Sentences& lines) {
  const double all = account.ring_traffic + account.pair_traffic;
  lines.push_back("traffic: A = " + number(account.ring_traffic) +
                  " (bytes x (2 g - 1) of all-reduces among g), M = " + number(account.pair_traffic) +
                  " bytes between pairs: A / (A + M) = " + (all > 0 ? number(account.ring_traffic / all) : "-"));
  lines.push_back("degree split: of " + count(options.degree, "interface", "interfaces") + " " +
                  std::to_string(account.shares.rings) + " for rings, " + std::to_string(account.shares.pairs) +
                  " for pairs; " + name_of(options.split) +
                  (options.directions == RingDirections::both_ways ? ", a ring both ways taking two" : ""));
  if (account.irregular > 0) {
    lines.push_back(count(account.irregular, "all-reduce", "all-reduces") +
                    " among servers that are no coset count for the ring of all, and are forwarded over it");
  }
}

void explain_rings(const FinderAccount& account, const FinderOptions& options, std::uint32_t nodes, Sentences& lines) {
  for (const RingAccountOfSize& rings : account.rings) {
    const std::uint32_t stride = nodes / rings.size;
    std::string text = "rings of " + std::to_string(rings.size) + ": traffic " + number(rings.traffic) + ", " +
                       count(rings.rings, "ring", "rings") + "; " +
                       count(rings.candidates.size(), "candidate jump", "candidate jumps") + " (" +
                       (stride == 1 ? "" : std::to_string(stride) + " x k, ") + "k prime to " + std::to_string(rings.size) +
                       "): " + listed(rings.candidates);
    if (rings.rings == 0) {
      lines.push_back(text + "; none of its own: forwarded over the jumps of others");
      continue;
    }
    if (rings.rings == 1) {
      text += "; one: the least, ";
    } else {
      const bool both = options.directions == RingDirections::both_ways;
      const double ratio = std::pow(static_cast<double>(rings.candidates.back()) / rings.candidates.front(),
                                    1.0 / (both ? rings.rings : rings.rings - 1));
      text += "; geometrically from " + std::to_string(rings.candidates.front()) + " by " + number(ratio) + ": ";
    }
    lines.push_back(text + listed(rings.selected));
  }
}

void explain_rounds(const FinderAccount& account, const FinderOptions& options, Sentences& lines) {
  if (account.rounds.empty() && account.pair_traffic > 0) {
    lines.push_back("matching: no interface is left for pairs, so servers forward their bytes over the rings");
  }
  for (std::size_t i = 0; i < account.rounds.size(); ++i) {
    const RoundAccount& round = account.rounds[i];
    lines.push_back("matching, round " + std::to_string(i + 1) + ": " + count(round.pairs, "pair", "pairs") + ", weight " +
                    bytes(round.weight) + " (" +
                    (options.discount == LinkDiscount::halving ? "demand / 2^m" : "demand / (m + 1)") +
                    " of a pair with m links)" +
                    (round.bytes == 0 ? "; no demand among them"
                                      : "; heaviest " + std::to_string(round.u) + " - " + std::to_string(round.v) + ", " +
                                            bytes(static_cast<double>(round.bytes)) + " both ways"));
  }
}

}  // namespace

Sentences explain(const RingAccount& account) {
  Sentences lines;
  lines.push_back(std::to_string(account.wavelengths) + " of " + std::to_string(account.wavelengths_of) +
                  " wavelengths (ring x direction x channel) are lit, for " + count(account.pairs, "pair", "pairs"));
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

Sentences explain(const OcsAccount& account) {
  Sentences lines;
  lines.push_back(count(account.circuits, "circuit", "circuits") + " over Q = " + std::to_string(account.switches) +
                  " switches for " + count(account.pairs, "pair", "pairs") + "; the most peers has " + node(account.busiest) +
                  ", " + std::to_string(account.peers) + " (more than Q would leave a pair without any circuit)");
  if (account.pairs == 0) {
    return lines;
  }
  lines.push_back("the worst pair, " + pair_text(account.worst, "circuits"));
  const bool sends = account.sends >= account.switches;
  const bool receives = account.receives >= account.switches;
  lines.push_back(node(account.worst.source) + " sends on " + std::to_string(account.sends) + " and " +
                  node(account.worst.destination) + " receives on " + std::to_string(account.receives) + " of " +
                  std::to_string(account.switches) + " ports: " +
                  (sends && receives ? "both ends bind"
                   : sends           ? "the sender's ports bind"
                   : receives        ? "the receiver's ports bind"
                                     : "no single end binds, but which ports are free on the same switch"));
  lines.emplace_back(
      "matching: the largest z for which ceil(z x demand) of every pair fits (exact, by bisection), then Koenig's "
      "colouring spreads the circuits over the switches");
  lines.emplace_back("bound: the busiest node's bits over all of its ports");
  return lines;
}

Sentences explain(const FinderAccount& account, const FinderOptions& options, std::uint32_t nodes, BitRate link) {
  Sentences lines;
  explain_split(account, options, lines);
  explain_rings(account, options, nodes, lines);
  explain_rounds(account, options, lines);
  lines.push_back("ways: diameter " + count(account.diameter, "hop", "hops") + ", mean " + number(account.mean_hops) +
                  "; a byte that is sent crosses " + number(account.wire.forwarded) + " links (servers forward the rest)");
  if (account.wire.seconds > 0) {
    lines.push_back("the busiest link, " + std::to_string(account.wire.from) + " to " + std::to_string(account.wire.to) + " (" +
                    count(account.wire.parallel, "link", "parallel links") + " of " + text_of(link) + "), works for " +
                    seconds_text(account.wire.seconds) + " an iteration");
  }
  lines.push_back("bound: " + seconds_text(account.wire.bound) +
                  ", what the busiest server sends or receives itself over all of its interfaces, forwarding none");
  return lines;
}

}  // namespace loom::cli
