// SPDX-License-Identifier: Apache-2.0
// Sentences.
#include "controller/architectures/topoopt/finder/finder_explain.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "controller/workload/quantity_text.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kListed = 12;

std::string bytes(double value) { return text_of(Bytes{static_cast<std::int64_t>(value)}); }

std::string listed(const std::vector<std::uint32_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.size() > kListed && i == kListed - 2) {
      return format_text("{} .. {}", text, values.back());
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
  lines.push_back(
      format_text("traffic: A = {} (bytes x (2 g - 1) of all-reduces among g), M = {} bytes between pairs: A / (A + M) = {}",
                  number_text(account.ring_traffic), number_text(account.pair_traffic),
                  all > 0 ? number_text(account.ring_traffic / all) : "-"));
  lines.push_back(format_text("degree split: of {} {} for rings, {} for pairs; {}{}",
                              count_text(options.degree, "interface", "interfaces"), account.shares.rings, account.shares.pairs,
                              name_of(options.split),
                              options.directions == RingDirections::both_ways ? ", a ring both ways taking two" : ""));
  if (account.irregular > 0) {
    lines.push_back(count_text(account.irregular, "all-reduce", "all-reduces") +
                    " among servers that are no coset count for the ring of all, and are forwarded over it");
  }
}

void explain_rings(const FinderAccount& account, const FinderOptions& options, std::uint32_t nodes,
                   std::vector<std::string>& lines) {
  for (const RingAccountOfSize& rings : account.rings) {
    const std::uint32_t stride = nodes / rings.size;
    std::string text = format_text("rings of {}: traffic {}, {}; {} ({}k prime to {}): {}", rings.size,
                                   number_text(rings.traffic), count_text(rings.rings, "ring", "rings"),
                                   count_text(rings.candidates.size(), "candidate jump", "candidate jumps"),
                                   stride == 1 ? "" : format_text("{} x k, ", stride), rings.size, listed(rings.candidates));
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
      text += format_text("; geometrically from {} by {}: ", rings.candidates.front(), number_text(ratio));
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
    lines.push_back(format_text(
        "matching, round {}: {}, weight {} ({} of a pair with m links{}){}", i + 1, count_text(round.pairs, "pair", "pairs"),
        bytes(round.weight), options.discount == LinkDiscount::halving ? "demand / 2^m" : "demand / (m + 1)",
        options.sees == MatchingSees::rings ? ", those of rings counted" : "",
        round.bytes == 0
            ? "; no demand among them"
            : format_text("; heaviest {} - {}, {} both ways", round.u, round.v, bytes(static_cast<double>(round.bytes)))));
  }
}

}  // namespace

std::vector<std::string> explain(const FinderAccount& account, const FinderOptions& options, std::uint32_t nodes,
                                 BitRate link) {
  std::vector<std::string> lines;
  explain_split(account, options, lines);
  explain_rings(account, options, nodes, lines);
  explain_rounds(account, options, lines);
  lines.push_back(format_text("ways: diameter {}, mean {}; a byte that is sent crosses {} links (servers forward the rest)",
                              count_text(account.diameter, "hop", "hops"), number_text(account.mean_hops),
                              number_text(account.wire.forwarded)));
  if (account.wire.seconds > 0) {
    lines.push_back(format_text("the busiest link, {} to {} ({} of {}), works for {} an iteration", account.wire.from,
                                account.wire.to, count_text(account.wire.parallel, "link", "parallel links"), text_of(link),
                                seconds_text(account.wire.seconds)));
  }
  lines.push_back(
      format_text("bound: {}, what the busiest server sends or receives itself over all of its interfaces, forwarding none",
                  seconds_text(account.wire.bound)));
  return lines;
}

}  // namespace loom
