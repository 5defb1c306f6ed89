// SPDX-License-Identifier: Apache-2.0
// Demand -> topology -> links on interfaces -> circuits, job by job.
#include "controller/architectures/topoopt/schedule.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "controller/architectures/topoopt/duplex.hpp"
#include "controller/architectures/topoopt/finder/finder_explain.hpp"
#include "controller/architectures/topoopt/finder/finder_settings.hpp"
#include "controller/architectures/topoopt/interfaces.hpp"
#include "controller/architectures/topoopt/job_routes.hpp"
#include "controller/architectures/topoopt/kept_links.hpp"
#include "controller/architectures/topoopt/look_ahead.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kExactNodes = 128;  ///< beyond, pairs are matched greedily: exact rounds grow as n^3
constexpr std::uint64_t kSeed = 1;

using NoLinks = std::vector<PlacedLink>;

std::string name_of(const JobDemand& job) { return format_text("infeasible: job {}", job.job.value); }

Result<FinderOptions> options_for(const Fabric& fabric, const Cabling& cabling, const JobDemand& job) {
  Settings said{job.options.begin(), job.options.end()};
  said["degree"] = std::to_string(cabling.degree());
  said.emplace("seed", std::to_string(kSeed));
  said.emplace("matching", job.nodes.size() <= kExactNodes ? "exact" : "greedy");
  said.emplace("ring_directions", cabling.degree() == 1 ? "one-way" : "both-ways");
  const auto read = finder_options(said);
  if (!read) {
    return fail(read.error().code, format_text("job {}: {}", job.job.value, read.error().message));
  }
  const FinderOptions& options = *read;
  if (cabling.is_duplex && options.directions == RingDirections::one_way && cabling.degree() > 1) {
    return fail(ErrorCode::infeasible, format_text("{}: ring_directions=one-way, but a link of {} is duplex on one interface "
                                                   "at each end; nearest: ring_directions=both-ways",
                                                   name_of(job), fabric.name));
  }
  if (cabling.degree() == 1 && fabric.return_path == ReturnPath::optical && job.nodes.size() > 2) {
    return fail(ErrorCode::infeasible,
                format_text("{} has {} servers of one interface each: a ring one way has no light back, and {} returns over "
                            "light; nearest: 2 servers, or servers of 2 interfaces",
                            name_of(job), job.nodes.size(), fabric.name));
  }
  return options;
}

class TopooptScheduler {
 public:
  TopooptScheduler(const Fabric& fabric, const Cabling& cabling, Budget budget)
      : fabric_(fabric), cabling_(cabling), budget_(budget) {}

  Result<Schedule> run(const Demand& demand) {
    schedule_.algorithm = "topoopt";
    schedule_.assumptions = {
        "topoopt: finder as in the paper but for what a job asks of it; a job's topology is static, servers forward for pairs "
        "without a circuit",
        cabling_.is_duplex ? "topoopt: a link is duplex on one interface at each end"
                           : "topoopt: the two directions of a link may be on different interfaces of its servers"};
    if (cabling_.has_panels()) {
      schedule_.assumptions.emplace_back(
          "topoopt: a job's next topology is wired on its look-ahead panels while its light stays, then its 1x2 switches flip");
    }
    LookAheadWiring wiring(cabling_, demand.wired);
    is_alone_ = demand.jobs.size() == 1;
    for (const JobDemand& job : demand.jobs) {
      LOOM_TRY(add_job(job, wiring));
    }
    if (cabling_.has_panels()) {
      schedule_.wires = wiring.wires();
    }
    return std::move(schedule_);
  }

  /// What lay_topology promises.
  Result<JobSchedule> lay(const JobDemand& job, const DirectTopology& topology) {
    LOOM_TRY(check_nodes(job));
    std::vector<std::uint32_t> sends(topology.nodes);
    for (const DirectLink& link : topology.links()) {
      sends[link.from] += link.count;
    }
    const auto most = std::max_element(sends.begin(), sends.end());
    if (*most > cabling_.degree()) {
      return fail(
          ErrorCode::infeasible,
          format_text("{}: its topology has {} links from server {}, {} has {} interfaces a server; nearest: a topology of "
                      "degree {}",
                      name_of(job), *most, most - sends.begin(), fabric_.name, cabling_.degree(), cabling_.degree()));
    }
    add_schedule(job, place(topology, held_links(job)), {});
    return std::move(schedule_.jobs.back());
  }

 private:
  Result<void> add_job(const JobDemand& job, LookAheadWiring& wiring) {
    LOOM_TRY(check_nodes(job));
    auto demand = finder_demand(job);
    if (!demand) {
      return std::unexpected(std::move(demand).error());
    }
    LOOM_TRY(check_traffic(job, *demand));
    const auto options = options_for(fabric_, cabling_, job);
    if (!options) {
      return std::unexpected(options.error());
    }
    auto topology = find_topology(*demand, *options);
    if (!topology) {
      return fail(topology.error().code, format_text("job {}: {}", job.job.value, topology.error().message));
    }
    LOOM_TRY(account(job, *demand, *topology, *options));
    schedule_.steps_used += topology->links().size() * cabling_.degree();
    if (schedule_.steps_used > budget_.steps || budget_.stop.stop_requested()) {
      return fail(ErrorCode::timed_out, format_text("scheduler topoopt: stopped after {} steps; the budget was {}",
                                                    schedule_.steps_used, budget_.steps));
    }
    const std::vector<PlacedLink> held = held_links(job);
    const std::vector<PlacedLink> links = place(*topology, held);
    const auto waiting = static_cast<std::uint32_t>(links.size());
    const bool waits =
        cabling_.has_panels() && !wiring.claim(job.nodes, held.size() == job.held.size() ? held : NoLinks{}, links);
    auto routes =
        waits ? routes_over(*demand, links_of(held), job.nodes, kSeed) : routes_of_job(*demand, *topology, job.nodes, kSeed);
    if (!routes) {
      return std::unexpected(std::move(routes).error());
    }
    add_schedule(job, waits ? held : links, *std::move(routes));
    schedule_.jobs.back().waiting = waits ? waiting : 0;
    return {};
  }

  /// How the job's topology came about.
  Result<void> account(const JobDemand& job, const FinderDemand& demand, const DirectTopology& topology,
                       const FinderOptions& options) {
    if (is_alone_) {
      schedule_.account.jumps = topology.jumps;
    }
    if (!budget_.wants_account) {
      return {};
    }
    const ElementId interface = fabric_.nodes[job.nodes.front().value].transmitters.front();
    const BitRate link = std::get<Transmitter>(fabric_.element(interface).kind).rate;
    const auto account = account_of(demand, topology, options, link);
    if (!account) {
      return std::unexpected(account.error());
    }
    for (const std::string& line : explain(*account, options, static_cast<std::uint32_t>(job.nodes.size()), link)) {
      schedule_.account.why.push_back(format_text("job {}: {}", job.job.value, line));
    }
    return {};
  }

  static std::vector<DirectLink> links_of(const std::vector<PlacedLink>& placed) {
    std::vector<DirectLink> links;
    for (const PlacedLink& each : placed) {  // ascending
      if (!links.empty() && links.back().from == each.from && links.back().to == each.to) {
        ++links.back().count;
      } else {
        links.push_back({each.from, each.to, 1});
      }
    }
    return links;
  }

  Result<void> check_nodes(const JobDemand& job) const {
    if (job.nodes.size() < 2) {
      return fail(ErrorCode::infeasible, name_of(job) + " has one server: there is nothing to join; nearest: 2 servers");
    }
    std::map<std::uint32_t, std::uint32_t> blocks;
    for (const NodeId node : job.nodes) {
      if (node.value >= fabric_.nodes.size()) {
        return fail(ErrorCode::invalid_argument, format_text("job {}: node {} does not exist", job.job.value, node.value));
      }
      ++blocks[fabric_.nodes[node.value].group];
    }
    if (blocks.size() > 1) {
      const auto most = std::count_if(fabric_.nodes.begin(), fabric_.nodes.end(),
                                      [&](const Node& node) { return node.group == blocks.begin()->first; });
      return fail(ErrorCode::infeasible,
                  format_text("{} has {} servers in {} blocks, which no switch joins: a switch has ports for {} servers; "
                              "nearest: {} servers of one block, or fewer where it is not free",
                              name_of(job), job.nodes.size(), blocks.size(), most, most));
    }
    return {};
  }

  static Result<void> check_traffic(const JobDemand& job, const FinderDemand& demand) {
    const auto moves = [](const auto& each) { return each.bytes > 0; };
    const bool has_rings = std::any_of(demand.reduces.begin(), demand.reduces.end(),
                                       [&](const ReduceDemand& group) { return moves(group) && group.members.size() > 1; });
    if (!has_rings && std::none_of(demand.pairs.begin(), demand.pairs.end(), moves)) {
      return fail(ErrorCode::infeasible, format_text("{} moves no bytes between its {} servers: no topology is better than "
                                                     "another; nearest: one collective of 1 byte, or no job",
                                                     name_of(job), job.nodes.size()));
    }
    return {};
  }

  // --- links on interfaces -----------------------------------------------------------------------------------------------

  /// The job's light of now as links, as far as it is between its present servers.
  std::vector<PlacedLink> held_links(const JobDemand& job) const {
    std::map<NodeId, std::uint32_t> rank;
    for (std::uint32_t i = 0; i < job.nodes.size(); ++i) {
      rank[job.nodes[i]] = i;
    }
    std::vector<PlacedLink> links;
    for (const Circuit& circuit : job.held) {
      const auto from = rank.find(circuit.source);
      const auto to = rank.find(circuit.destination);
      if (from == rank.end() || to == rank.end()) {
        continue;
      }
      const auto& out = cabling_.interfaces[circuit.source.value];
      const auto& in = cabling_.interfaces[circuit.destination.value];
      const auto sends =
          std::find_if(out.begin(), out.end(), [&](const Interface& each) { return each.transmitter == circuit.transmitter; });
      const auto receives =
          std::find_if(in.begin(), in.end(), [&](const Interface& each) { return each.receiver == circuit.receiver; });
      if (sends != out.end() && receives != in.end()) {
        links.push_back({from->second, to->second, static_cast<std::uint32_t>(sends - out.begin()),
                         static_cast<std::uint32_t>(receives - in.begin())});
      }
    }
    std::sort(links.begin(), links.end());
    return links;
  }

  /// Ascending. On panels a change flips every circuit, so a topology that is not the one of now is laid as if nothing were
  /// lit: the same topology has the same wires whenever it comes back.
  std::vector<PlacedLink> place(const DirectTopology& topology, const std::vector<PlacedLink>& held) const {
    const bool keeps = !cabling_.has_panels() || links_of(held) == topology.links();
    const std::vector<PlacedLink>& kept = keeps ? held : NoLinks{};
    std::vector<PlacedLink> links = cabling_.is_duplex ? place_duplex(topology, kept) : place_simplex(topology, kept);
    std::sort(links.begin(), links.end());
    return links;
  }

  /// Interface k of the sender to interface k of the receiver. A jump has one k at all servers if nothing is in its way, so
  /// that whatever replaces it later finds that k free at both ends.
  std::vector<PlacedLink> place_simplex(const DirectTopology& topology, const std::vector<PlacedLink>& held) const {
    KeptLinks kept(topology, cabling_.degree(), held);
    kept.place_jumps(topology.jumps);
    std::vector<PlacedLink> placed;
    for (const SwitchGrant& grant :
         into_permutations(topology.nodes, cabling_.degree(), kept.pairs(), kept.counts(), kept.grants())) {
      const SwitchPair& pair = kept.pairs()[grant.pair];
      placed.push_back({pair.source, pair.destination, grant.on, grant.on});
    }
    return placed;
  }

  /// Interface 2 q of one server and 2 q + 1 of the other, both directions.
  std::vector<PlacedLink> place_duplex(const DirectTopology& topology, const std::vector<PlacedLink>& held) const {
    std::vector<DuplexLink> links;
    std::vector<SwitchGrant> where;  // of held links, by index of `links`
    for (const DirectLink& link : topology.links()) {
      for (std::uint32_t i = 0; link.from < link.to && i < link.count; ++i) {
        links.push_back({link.from, link.to, false});
      }
    }
    for (const PlacedLink& each : held) {
      if (each.out % 2 != 0 || each.in != each.out + 1) {
        continue;  // the way back of another
      }
      const auto link = std::find_if(links.begin(), links.end(), [&](const DuplexLink& candidate) {
        return !candidate.is_held && std::minmax(candidate.first, candidate.second) == std::minmax(each.from, each.to);
      });
      if (link != links.end()) {
        *link = {each.from, each.to, true};
        where.push_back({static_cast<std::uint32_t>(link - links.begin()), each.out / 2});
      }
    }
    const std::uint32_t half = cabling_.degree() / 2;
    balance(topology.nodes, half, links);
    std::erase_if(where, [&](const SwitchGrant& each) { return !links[each.pair].is_held; });
    std::vector<SwitchPair> pairs;
    for (const DuplexLink& link : links) {
      pairs.push_back({link.first, link.second, 1});
    }
    std::vector<PlacedLink> placed;
    for (const SwitchGrant& grant :
         into_permutations(topology.nodes, half, pairs, std::vector<std::uint32_t>(pairs.size(), 1), where)) {
      const SwitchPair& pair = pairs[grant.pair];
      placed.push_back({pair.source, pair.destination, 2 * grant.on, 2 * grant.on + 1});
      placed.push_back({pair.destination, pair.source, 2 * grant.on + 1, 2 * grant.on});
    }
    return placed;
  }

  // --- circuits ----------------------------------------------------------------------------------------------------------

  Circuit circuit_of(const JobDemand& job, const PlacedLink& link) const {
    const NodeId from = job.nodes[link.from];
    const NodeId to = job.nodes[link.to];
    const Interface& out = cabling_.interfaces[from.value][link.out];
    const Interface& in = cabling_.interfaces[to.value][link.in];
    const auto& transmitter = std::get<Transmitter>(fabric_.element(out.transmitter).kind);
    return {{}, job.job, from, to, out.transmitter, in.receiver, transmitter.channels.first, transmitter.rate};
  }

  void add_schedule(const JobDemand& job, const std::vector<PlacedLink>& links, JobRoutes routes) {
    JobSchedule schedule{job.job, {{{Timeslot{}}, 1}}};
    Timeslot& timeslot = schedule.stages[0].timeslots[0];
    for (const PlacedLink& link : links) {
      timeslot.circuits.push_back(circuit_of(job, link));
    }
    const auto rate = static_cast<double>(timeslot.circuits.front().rate.bits_per_second);
    schedule_.objective = std::max(schedule_.objective, routes.busiest_bits / rate);
    schedule_.bound = std::max(schedule_.bound, routes.sent_bits / (rate * cabling_.degree()));
    schedule.forwarding = std::move(routes.forwarded);
    schedule_.jobs.push_back(std::move(schedule));
  }

  const Fabric& fabric_;
  const Cabling& cabling_;
  Budget budget_;
  bool is_alone_ = false;  ///< the only job
  Schedule schedule_;
};

/// By rank, ascending; circuits of nodes that the job does not have are nobody's.
std::vector<DirectLink> links_of(const JobDemand& job, const JobSchedule& given) {
  std::map<NodeId, std::uint32_t> rank;
  for (std::uint32_t i = 0; i < job.nodes.size(); ++i) {
    rank[job.nodes[i]] = i;
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> counts;
  for (const Stage& stage : given.stages) {
    for (const Timeslot& timeslot : stage.timeslots) {
      for (const Circuit& circuit : timeslot.circuits) {
        const auto from = rank.find(circuit.source);
        const auto to = rank.find(circuit.destination);
        if (from != rank.end() && to != rank.end()) {
          ++counts[{from->second, to->second}];
        }
      }
    }
  }
  std::vector<DirectLink> links;
  for (const auto& [ends, count] : counts) {
    links.push_back({ends.first, ends.second, count});
  }
  return links;
}

bool still_serves(const ForwardingTable& table, const JobDemand& job, const FinderDemand& demand,
                  const std::vector<DirectLink>& links) {
  if (table.nodes != job.nodes) {
    return false;
  }
  const auto is_lit = [&](std::uint32_t from, std::uint32_t to) { return has_link(links, from, to); };
  bool all_lit = true;
  table.for_each([&](std::uint32_t source, std::uint32_t destination, std::span<const std::uint32_t> through) {
    std::uint32_t at = source;
    for (const std::uint32_t next : through) {
      all_lit = all_lit && is_lit(at, next);
      at = next;
    }
    all_lit = all_lit && is_lit(at, destination);
  });
  const auto is_known = [&](std::uint32_t from, std::uint32_t to) {
    return is_lit(from, to) || !table.through(from, to).empty();
  };
  return all_lit &&
         std::ranges::all_of(
             demand.pairs,
             [&](const PairDemand& pair) { return pair.bytes == 0 || is_known(pair.source, pair.destination); }) &&
         std::ranges::all_of(demand.reduces, [&](const ReduceDemand& group) {
           return group.bytes == 0 || group.members.size() < 2 || !ring_strides_over(group.members, is_known).empty();
         });
}

}  // namespace

Result<Schedule> schedule_topoopt(const Fabric& fabric, const Demand& demand, const Intent&, Budget budget) {
  const auto cabling = read_cabling(fabric);
  if (!cabling) {
    return std::unexpected(cabling.error());
  }
  return TopooptScheduler(fabric, *cabling, budget).run(demand);
}

Result<JobSchedule> lay_topology(const Fabric& fabric, const JobDemand& job, const DirectTopology& topology) {
  const auto cabling = read_cabling(fabric);
  if (!cabling) {
    return std::unexpected(cabling.error());
  }
  if (cabling->has_panels()) {
    return fail(
        ErrorCode::unsupported,
        format_text("{}: its look-ahead panels are wired by a robot that only the scheduler leads; nearest: a fabric of "
                    "circuit switches",
                    fabric.name));
  }
  if (job.nodes.size() != topology.nodes) {
    return fail(ErrorCode::invalid_argument,
                format_text("job {} has {} servers, its topology {}", job.job.value, job.nodes.size(), topology.nodes));
  }
  return TopooptScheduler(fabric, *cabling, {}).lay(job, topology);
}

Result<ForwardingTable> forward_over_given(const JobDemand& job, const JobSchedule& given) {
  auto demand = finder_demand(job);
  if (!demand) {
    return std::unexpected(std::move(demand).error());
  }
  const std::vector<DirectLink> links = links_of(job, given);
  if (still_serves(given.forwarding, job, *demand, links)) {
    return given.forwarding;
  }
  auto routes = routes_over(*demand, links, job.nodes, kSeed);
  return routes ? Result<ForwardingTable>{std::move(routes->forwarded)} : std::unexpected(std::move(routes).error());
}

}  // namespace loom
