// Sentences.
#include "controller/architectures/sip_ml/explain.hpp"

#include "controller/workload/quantity_text.hpp"

namespace loom {
namespace {

std::string bytes(double value) { return text_of(Bytes{static_cast<std::int64_t>(value)}); }

std::string node(NodeId id) { return "node " + std::to_string(id.value); }

std::string pair_text(const PairAccount& pair, const char* circuits) {
  return "job " + std::to_string(pair.job.value) + ", " + node(pair.source) + " to " + node(pair.destination) + ", has " +
         std::to_string(pair.circuits) + " " + circuits + " for " + bytes(pair.bits / 8) +
         " an iteration: z = " + number_text(pair.z) + " (" + circuits + " over demand, the job's largest demand being 1)";
}

std::string way_text(const WayAccount& way, std::uint32_t reach, const char* which) {
  std::string text = std::string("its ") + which + " way is " + count_text(way.hops, "hop", "hops");
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

}  // namespace

std::vector<std::string> explain(const RingAccount& account) {
  std::vector<std::string> lines;
  lines.push_back(std::to_string(account.wavelengths) + " of " + std::to_string(account.wavelengths_of) +
                  " wavelengths (ring x direction x channel) are lit, for " + count_text(account.pairs, "pair", "pairs"));
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
  lines.push_back(count_text(account.circuits, "circuit", "circuits") + " over Q = " + std::to_string(account.switches) +
                  " switches for " + count_text(account.pairs, "pair", "pairs") + "; the most peers has " +
                  node(account.busiest) + ", " + std::to_string(account.peers) +
                  " (more than Q would leave a pair without any circuit)");
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

}  // namespace loom
