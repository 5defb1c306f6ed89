// SPDX-License-Identifier: Apache-2.0
// Circuits and routes into the engine's network, light windows into networks one after the other.
#include "controller/predict/forwarded_light.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "controller/predict/networks/direct_connect.hpp"
#include "controller/predict/predict_graph.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Ends = std::pair<std::uint32_t, std::uint32_t>;  ///< ranks

constexpr std::size_t kLightChangesMax = 4'096;  ///< within one replayed iteration

constexpr std::uint32_t kNoRank = ~0U;

/// What the first stage joins and who forwards, by rank of the job.
struct Topology {
  std::map<Ends, double> bits_per_second;
  const ForwardingTable* forwarding = nullptr;  ///< of the ranks that the job had when it was planned
  std::vector<std::uint32_t> planned_rank;      ///< by rank; kNoRank: it was not planned for
  std::vector<std::uint32_t> rank_of_planned;   ///< the other way round

  /// Both ends included; empty: nobody between.
  std::vector<std::uint32_t> path(Ends ends) const {
    const auto [source, destination] = std::pair{planned_rank[ends.first], planned_rank[ends.second]};
    const auto through = forwarding->through(source, destination);
    if (through.empty()) {
      return {};
    }
    std::vector<std::uint32_t> path{ends.first};
    for (const std::uint32_t rank : through) {
      path.push_back(rank_of_planned[rank]);
    }
    path.push_back(ends.second);
    return path;
  }
};

std::map<NodeId, std::uint32_t> ranks_by_node(const JobSpec& job) {
  std::map<NodeId, std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < job.placement.size(); ++rank) {
    ranks[job.placement[rank]] = rank;
  }
  return ranks;
}

/// A node of the table that the job does not have and somebody's bytes pass.
std::optional<NodeId> stranger_of(const Topology& topology) {
  const ForwardingTable& table = *topology.forwarding;
  std::vector<bool> is_named(table.ranks());
  for (std::uint32_t rank = 0; rank < table.ranks(); ++rank) {
    is_named[rank] = !table.row(table.row_of[rank]).empty();
  }
  for (const ForwardingTable::Entry& entry : table.entries) {
    is_named[entry.destination] = true;
  }
  for (const std::uint32_t rank : table.hops) {
    is_named[rank] = true;
  }
  for (std::uint32_t rank = 0; rank < table.ranks(); ++rank) {
    if (is_named[rank] && topology.rank_of_planned[rank] == kNoRank) {
      return table.nodes[rank];
    }
  }
  return std::nullopt;
}

Result<Topology> topology_of(const JobSpec& job, const JobSchedule& schedule) {
  const std::map<NodeId, std::uint32_t> ranks = ranks_by_node(job);
  Topology topology;
  std::optional<NodeId> stranger;
  const auto rank_of = [&](NodeId node) {
    const auto found = ranks.find(node);
    stranger = found == ranks.end() ? node : stranger;
    return found == ranks.end() ? 0 : found->second;
  };
  for (const Stage& stage : schedule.stages) {
    for (const Timeslot& timeslot : stage.timeslots) {
      for (const Circuit& circuit : timeslot.circuits) {
        topology.bits_per_second[{rank_of(circuit.source), rank_of(circuit.destination)}] +=
            static_cast<double>(circuit.rate.bits_per_second);
      }
    }
  }
  topology.forwarding = &schedule.forwarding;
  topology.planned_rank.assign(job.placement.size(), kNoRank);
  for (const NodeId node : schedule.forwarding.nodes) {
    const auto found = ranks.find(node);
    const std::uint32_t rank = found == ranks.end() ? kNoRank : found->second;
    if (rank != kNoRank) {
      topology.planned_rank[rank] = static_cast<std::uint32_t>(topology.rank_of_planned.size());
    }
    topology.rank_of_planned.push_back(rank);
  }
  stranger = stranger ? stranger : stranger_of(topology);
  if (stranger || topology.bits_per_second.empty()) {
    return fail(ErrorCode::invalid_argument,
                format_text("job {}: {}", job.name,
                            stranger ? format_text("its schedule names node {}, where it has no rank", stranger->value)
                                     : std::string("its schedule has no circuit")));
  }
  return topology;
}

std::map<Ends, std::uint32_t> links_of(const Network& network) {
  std::map<Ends, std::uint32_t> links;
  for (std::uint32_t link = 0; link < network.links.size(); ++link) {
    links[{network.links[link].from, network.links[link].to}] = link;
  }
  return links;
}

/// `routes` pair by pair through `change`, which may replace a pair's paths; a pair that is left without any is dropped.
template <class Change>
PairRoutes rewritten(const PairRoutes& routes, const Change& change) {
  PairRoutes made;
  made.first_destination = {0};
  made.first_path = {0};
  made.first_hop = {0};
  const auto sources = static_cast<std::uint32_t>(routes.first_destination.size() - 1);
  for (std::uint32_t source = 0; source < sources; ++source) {
    for (std::uint32_t entry = routes.first_destination[source]; entry < routes.first_destination[source + 1]; ++entry) {
      std::vector<std::vector<std::uint32_t>> paths;
      for (std::uint32_t path = routes.first_path[entry]; path < routes.first_path[entry + 1]; ++path) {
        const auto first = routes.hops.begin() + routes.first_hop[path];
        paths.emplace_back(first, routes.hops.begin() + routes.first_hop[path + 1]);
      }
      change(Ends{source, routes.destinations[entry]}, paths);
      for (const std::vector<std::uint32_t>& path : paths) {
        made.hops.insert(made.hops.end(), path.begin(), path.end());
        made.first_hop.push_back(static_cast<std::uint32_t>(made.hops.size()));
        made.shares.push_back(1.0 / static_cast<double>(paths.size()));
      }
      if (!paths.empty()) {
        made.destinations.push_back(routes.destinations[entry]);
        made.first_path.push_back(static_cast<std::uint32_t>(made.shares.size()));
      }
    }
    made.first_destination.push_back(static_cast<std::uint32_t>(made.destinations.size()));
  }
  return made;
}

Result<Network> network_on(std::uint32_t nodes, const Topology& topology, const ScheduleTimings& timings) {
  NetworkTerms terms;
  terms.nodes = nodes;
  terms.rate = BitRate{std::llround(topology.bits_per_second.begin()->second)};
  terms.link_latency = timings.latency;
  terms.forward = timings.forward;
  std::vector<NodePair> directed;
  for (const auto& [ends, rate] : topology.bits_per_second) {
    directed.push_back(ends);
  }
  auto network = make_direct_connect(terms, directed, {});
  if (!network) {
    return network;
  }
  network->name = timings.fabric;
  const std::map<Ends, std::uint32_t> links = links_of(*network);
  for (const auto& [ends, rate] : topology.bits_per_second) {
    network->links[links.at(ends)].bytes_per_ns = rate / 8e9;
  }
  network->routes = rewritten(std::get<PairRoutes>(network->routes), [&](Ends ends, auto& paths) {
    const std::vector<std::uint32_t> forwarded = topology.path(ends);
    std::vector<std::uint32_t> path;
    for (std::size_t hop = 0; hop + 1 < forwarded.size(); ++hop) {
      const auto link = links.find({forwarded[hop], forwarded[hop + 1]});
      if (link == links.end()) {
        return;  // a pinned schedule lost this circuit: the shortest way there is
      }
      path.push_back(link->second);
    }
    if (!path.empty()) {
      paths = {std::move(path)};
    }
  });
  LOOM_TRY(check(*network));
  return network;
}

bool is_ring(const TaskGraph& graph, const Task& task) {
  return task.kind == TaskKind::communicate &&
         (task.collective == CollectiveKind::all_reduce || task.collective == CollectiveKind::all_gather ||
          task.collective == CollectiveKind::reduce_scatter) &&
         graph.choices[task.choice].algorithm == CollectiveAlgorithm::automatic && graph.families[task.family].size >= 2;
}

/// Strides of rings all of whose pairs, in every group, are known to `has`.
template <class Has>
std::vector<std::uint32_t> strides_of(const TaskGraph& graph, const GroupFamily& family, const Has& has) {
  std::vector<std::uint32_t> strides;
  for (std::uint32_t stride = 1; stride < family.size; ++stride) {
    bool fits = std::gcd(stride, family.size) == 1;
    for (std::uint32_t group = 0; fits && group < family.count; ++group) {
      const auto members = graph.group(family, group);
      for (std::uint32_t i = 0; fits && i < family.size; ++i) {
        fits = has(Ends{members[i], members[(i + stride) % family.size]});
      }
    }
    if (fits) {
      strides.push_back(stride);
    }
  }
  return strides;
}

void carry_over_rings(TaskGraph& graph, const Topology& topology) {
  const auto is_lit = [&](Ends ends) { return topology.bits_per_second.contains(ends); };
  const auto is_known = [&](Ends ends) { return is_lit(ends) || !topology.path(ends).empty(); };
  std::map<std::uint32_t, std::uint32_t> choice_of_family;
  for (Task& task : graph.tasks) {
    if (!is_ring(graph, task)) {
      continue;
    }
    const auto known = choice_of_family.find(task.family);
    if (known != choice_of_family.end()) {
      task.choice = known->second;
      continue;
    }
    CollectiveChoice choice;
    choice.algorithm = CollectiveAlgorithm::ring;
    choice.strides = strides_of(graph, graph.families[task.family], is_lit);
    if (choice.strides.empty()) {
      choice.strides = strides_of(graph, graph.families[task.family], is_known);
    }
    task.choice = choice_of_family[task.family] = static_cast<std::uint32_t>(graph.choices.size());
    graph.choices.push_back(std::move(choice));
  }
}

Result<TaskGraph> graph_with(const JobSpec& job, const Topology& topology) {
  auto graph = graph_of(job);
  if (graph) {
    carry_over_rings(*graph, topology);
  }
  return graph;
}

// --- replay --------------------------------------------------------------------------------------------------------------

/// Which bit rates are lit between which ranks, from an instant on.
struct Epoch {
  double at = 0;
  std::map<Ends, double> bits_per_second;
};

std::vector<Epoch> epochs_of(const JobSpec& job, const LightTimeline& light, Instant start) {
  const std::map<NodeId, std::uint32_t> ranks = ranks_by_node(job);
  std::map<double, std::vector<std::pair<Ends, double>>> changes;
  changes[0];
  for (const LitWindow& window : light) {
    const auto from = ranks.find(window.source);
    const auto to = ranks.find(window.destination);
    if (from == ranks.end() || to == ranks.end() || window.end <= start) {
      continue;
    }
    const Ends ends{from->second, to->second};
    const auto rate = static_cast<double>(window.rate.bits_per_second);
    changes[std::max(0.0, static_cast<double>((window.begin - start).count()))].emplace_back(ends, rate);
    if (window.end != kNever) {
      changes[static_cast<double>((window.end - start).count())].emplace_back(ends, -rate);
    }
  }
  std::vector<Epoch> epochs;
  std::map<Ends, double> lit;
  for (const auto& [at, some] : changes) {
    for (const auto& [ends, rate] : some) {
      lit[ends] += rate;
    }
    epochs.push_back({at, lit});
  }
  return epochs;
}

/// `whole` as far as it is lit: dark links carry nothing, and nobody's way leads over them.
Network lit_part(const Network& whole, const Epoch& epoch) {
  Network network = whole;
  for (NetworkLink& link : network.links) {
    const auto lit = epoch.bits_per_second.find({link.from, link.to});
    link.bytes_per_ns = lit == epoch.bits_per_second.end() ? 0 : std::max(0.0, lit->second / 8e9);
  }
  network.routes = rewritten(std::get<PairRoutes>(whole.routes), [&](Ends, auto& paths) {
    std::erase_if(paths, [&](const std::vector<std::uint32_t>& path) {
      return std::any_of(path.begin(), path.end(), [&](std::uint32_t link) { return !(network.links[link].bytes_per_ns > 0); });
    });
  });
  return network;
}

std::string never_lit(const JobSpec& job, const Topology& topology, const std::vector<Epoch>& epochs) {
  std::string names;
  std::size_t count = 0;
  for (const auto& [ends, rate] : topology.bits_per_second) {
    const auto is_lit = [&, ends = ends](const Epoch& epoch) {
      const auto found = epoch.bits_per_second.find(ends);
      return found != epoch.bits_per_second.end() && found->second > 0;
    };
    if (std::none_of(epochs.begin(), epochs.end(), is_lit) && ++count <= 3) {
      names += format_text("{}{} -> {}", names.empty() ? "" : ", ", job.placement[ends.first].value,
                           job.placement[ends.second].value);
    }
  }
  return count == 0 ? "" : format_text("; {} circuits never have light: nodes {}", count, names);
}

ScheduleTimings timings_of(const ReplayOptions& options) {
  ScheduleTimings timings;
  timings.latency = options.latency;
  timings.forward = options.forward;
  return timings;
}

}  // namespace

Result<Network> network_of(const JobSpec& job, const JobSchedule& schedule, const ScheduleTimings& timings) {
  const auto topology = topology_of(job, schedule);
  return topology ? network_on(job.node_count, *topology, timings) : Result<Network>(std::unexpected(topology.error()));
}

Result<TaskGraph> graph_on(const JobSpec& job, const JobSchedule& schedule) {
  const auto topology = topology_of(job, schedule);
  return topology ? graph_with(job, *topology) : Result<TaskGraph>(std::unexpected(topology.error()));
}

Result<Prediction> predict_forwarded(const JobSpec& job, const JobSchedule& schedule, const ScheduleTimings& timings) {
  const auto graph = graph_on(job, schedule);
  if (!graph) {
    return std::unexpected(graph.error());
  }
  const auto network = network_of(job, schedule, timings);
  if (!network) {
    return std::unexpected(network.error());
  }
  auto predictor = Predictor::make(*graph, *network, {});
  if (!predictor) {
    return std::unexpected(std::move(predictor).error());
  }
  const auto iteration = predictor->run();
  if (!iteration) {
    return std::unexpected(iteration.error());
  }
  Result<Prediction> prediction = prediction_of(*predictor, *iteration);
  if (timings.wants_lane) {
    prediction->lane = lane_of(*predictor, nullptr, *iteration);
  }
  prediction->compute = job.compute;
  prediction->exposed = prediction->iteration - job.compute;
  prediction->assumptions.push_back(format_text("{}: {} pairs are forwarded by servers, as a fluid, {} ns each", timings.fabric,
                                                schedule.forwarding.pairs().count, timings.forward.count()));
  return prediction;
}

Result<Replay> replay_forwarded(const JobSpec& job, const LightTimeline& light, const ReplayOptions& options) {
  const auto topology = topology_of(job, *options.schedule);
  if (!topology) {
    return std::unexpected(topology.error());
  }
  const auto graph = graph_with(job, *topology);
  const auto whole = network_on(job.node_count, *topology, timings_of(options));
  if (!graph || !whole) {
    return std::unexpected(!graph ? graph.error() : whole.error());
  }
  const auto unbroken = predict(*graph, *whole);
  if (!unbroken) {
    return std::unexpected(unbroken.error());
  }
  const std::vector<Epoch> epochs = epochs_of(job, light, options.start);
  if (epochs.size() > kLightChangesMax) {
    return fail(ErrorCode::unsupported, format_text("job {}: its light changes {} times from the start of the iteration on; "
                                                    "forwarded traffic is replayed over {} changes at most",
                                                    job.name, epochs.size(), kLightChangesMax));
  }
  std::vector<RecordedNetwork> networks;
  for (const Epoch& epoch : epochs) {
    networks.push_back({epoch.at, lit_part(*whole, epoch)});
  }
  auto recorded = Reconfiguration::recorded(std::move(networks));
  if (!recorded) {
    return std::unexpected(recorded.error());
  }
  PredictGraphOptions play;
  play.changing = &*recorded;
  const auto played = predict(*graph, *whole, play);
  if (!played) {
    return fail(ErrorCode::infeasible, played.error().message + never_lit(job, *topology, epochs));
  }
  Replay replayed;
  replayed.iteration = played->iteration;
  replayed.compute = job.compute;
  replayed.exposed = replayed.iteration - replayed.compute;
  replayed.dark = std::max(Duration{}, played->iteration - unbroken->iteration);
  replayed.waited = replayed.dark;
  replayed.phases = played->phases;
  return replayed;
}

}  // namespace loom
