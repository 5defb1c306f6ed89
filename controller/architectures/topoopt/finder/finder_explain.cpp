// Sentences.
#include "controller/architectures/topoopt/finder/finder_explain.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "controller/workload/quantity_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kListed = 12;

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

void explain_split(const FinderAccount& account, const FinderOptions& options, std::vector<std::string>& lines) {
  const double all = account.ring_traffic + account.pair_traffic;
  lines.push_back("traffic: A = " + number_text(account.ring_traffic) +
                  " (bytes x (2 g - 1) of all-reduces among g), M = " + number_text(account.pair_traffic) +
                  " bytes between pairs: A / (A + M) = " + (all > 0 ? number_text(account.ring_traffic / all) : "-"));
  lines.push_back("degree split: of " + count_text(options.degree, "interface", "interfaces") + " " +
                  std::to_string(account.shares.rings) + " for rings, " + std::to_string(account.shares.pairs) +
                  " for pairs; " + name_of(options.split) +
                  (options.directions == RingDirections::both_ways ? ", a ring both ways taking two" : ""));
  if (account.irregular > 0) {
    lines.push_back(count_text(account.irregular, "all-reduce", "all-reduces") +
                    " among servers that are no coset count for the ring of all, and are forwarded over it");
  }
}

void explain_rings(const FinderAccount& account, const FinderOptions& options, std::uint32_t nodes,
                   std::vector<std::string>& lines) {
  for (const RingAccountOfSize& rings : account.rings) {
    const std::uint32_t stride = nodes / rings.size;
    std::string text = "rings of " + std::to_string(rings.size) + ": traffic " + number_text(rings.traffic) + ", " +
                       count_text(rings.rings, "ring", "rings") + "; " +
                       count_text(rings.candidates.size(), "candidate jump", "candidate jumps") + " (" +
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
      text += "; geometrically from " + std::to_string(rings.candidates.front()) + " by " + number_text(ratio) + ": ";
    }
    lines.push_back(text + listed(rings.selected));
  }
}

void explain_rounds(const FinderAccount& account, const FinderOptions& options, std::vector<std::string>& lines) {
  if (account.rounds.empty() && account.pair_traffic > 0) {
    lines.push_back("matching: no interface is left for pairs, so servers forward their bytes over the rings");
  }
  for (std::size_t i = 0; i < account.rounds.size(); ++i) {
    const RoundAccount& round = account.rounds[i];
    lines.push_back("matching, round " + std::to_string(i + 1) + ": " + count_text(round.pairs, "pair", "pairs") + ", weight " +
                    bytes(round.weight) + " (" +
                    (options.discount == LinkDiscount::halving ? "demand / 2^m" : "demand / (m + 1)") +
                    " of a pair with m links)" +
                    (round.bytes == 0 ? "; no demand among them"
                                      : "; heaviest " + std::to_string(round.u) + " - " + std::to_string(round.v) + ", " +
                                            bytes(static_cast<double>(round.bytes)) + " both ways"));
  }
}

}  // namespace

std::vector<std::string> explain(const FinderAccount& account, const FinderOptions& options, std::uint32_t nodes,
                                 BitRate link) {
  std::vector<std::string> lines;
  explain_split(account, options, lines);
  explain_rings(account, options, nodes, lines);
  explain_rounds(account, options, lines);
  lines.push_back("ways: diameter " + count_text(account.diameter, "hop", "hops") + ", mean " + number_text(account.mean_hops) +
                  "; a byte that is sent crosses " + number_text(account.wire.forwarded) + " links (servers forward the rest)");
  if (account.wire.seconds > 0) {
    lines.push_back("the busiest link, " + std::to_string(account.wire.from) + " to " + std::to_string(account.wire.to) + " (" +
                    count_text(account.wire.parallel, "link", "parallel links") + " of " + text_of(link) + "), works for " +
                    seconds_text(account.wire.seconds) + " an iteration");
  }
  lines.push_back("bound: " + seconds_text(account.wire.bound) +
                  ", what the busiest server sends or receives itself over all of its interfaces, forwarding none");
  return lines;
}

}  // namespace loom
