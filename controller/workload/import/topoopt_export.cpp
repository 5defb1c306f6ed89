// SPDX-License-Identifier: Apache-2.0
// A task graph spelt out as TopoOpt's tasks, each of one device, one pair or one group; then written.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "controller/workload/import/flows.hpp"
#include "controller/workload/import/topoopt_graph.hpp"
#include "core/text/format_text.hpp"
#include "topoopt_graph_generated.h"

namespace loom {
namespace {

namespace wire = FlatBufTaskGraph;

constexpr std::int16_t kGpu = 0;
constexpr std::int16_t kNominal = 14;
constexpr std::uint32_t kNone = ~0U;

/// A task of the file. `nodes`: whom it concerns, for edges that hold node by node.
struct Part {
  TopooptTask kind = TopooptTask::forward;
  std::uint64_t device = 0;
  Duration runtime{};
  Bytes bytes{};
  std::vector<std::uint32_t> nodes{};
  std::vector<std::uint64_t> next{};
};

class Writer {
 public:
  Writer(const TaskGraph& graph, const TopooptNetwork& network, const TopooptLimits& limits)
      : graph_(graph),
        limits_(limits),
        points_(std::uint64_t{graph.nodes} + network.switches),
        place_(graph.tasks.size(), kNone) {}

  Result<void> spell_out() {
    for (std::uint32_t i = 0; i < graph_.tasks.size(); ++i) {
      first_.push_back(parts_.size());
      LOOM_TRY(graph_.tasks[i].kind == TaskKind::compute ? add_compute(i) : add_collective(i));
      if (parts_.size() > limits_.tasks) {
        return fail(ErrorCode::out_of_range, format_text("{}: more than {} TopoOpt tasks", graph_.workload, limits_.tasks));
      }
    }
    first_.push_back(parts_.size());
    for (std::uint32_t i = 0; i < graph_.tasks.size(); ++i) {
      for (const std::uint32_t next : graph_.successors_of(i)) {
        LOOM_TRY(add_edge(i, next));
      }
    }
    return {};
  }

  std::vector<std::uint8_t> write(const TopooptNetwork& network, std::span<const TopooptRoute> routes) const;

 private:
  std::string_view name_of(std::uint32_t task) const { return graph_.names[graph_.tasks[task].name]; }
  std::unexpected<Error> refuse(std::uint32_t task, const std::string& why) const {
    return fail(ErrorCode::unsupported,
                format_text("{}: task {} '{}' cannot be written for TopoOpt: {}", graph_.workload, task, name_of(task), why));
  }

  /// The all-reduce whose in-server part this is, if it is one and the all-reduce goes over the network.
  std::uint32_t all_reduce_of(std::uint32_t task) const {
    const auto next = graph_.successors_of(task);
    const bool is_part = name_of(task) == kInServerAllReduce && next.size() == 1;
    return is_part && graph_.tasks[next[0]].collective == CollectiveKind::all_reduce &&
                   graph_.tasks[next[0]].kind == TaskKind::communicate
               ? next[0]
               : kNone;
  }

  Result<void> add_compute(std::uint32_t i) {
    const Task& task = graph_.tasks[i];
    const GroupFamily& family = graph_.families[task.family];
    const std::span<const std::uint32_t> workers =
        std::span{graph_.members}.subspan(family.first, std::size_t{family.size} * family.count);
    if (const std::uint32_t all_reduce = all_reduce_of(i); all_reduce != kNone) {
      in_server_[all_reduce] = task.duration;
      place_[i] = all_reduce;
      return {};
    }
    if (name_of(i) == kInServerAllReduce && workers.size() == 1) {
      parts_.push_back({TopooptTask::all_reduce, 0, task.duration, {}, {graph_.node_of_worker[workers[0]]}});
      return {};
    }
    static constexpr std::array<std::string_view, 4> kKinds{"forward", "backward", "comm", "update"};
    const auto named = std::find(kKinds.begin(), kKinds.end(), name_of(i));
    const auto kind = static_cast<TopooptTask>(named == kKinds.end() ? 0 : named - kKinds.begin());
    for (const std::uint32_t worker : workers) {
      workers_.insert(worker);
      parts_.push_back({kind, device_of_worker(worker), task.duration, {}, {graph_.node_of_worker[worker]}});
    }
    return {};
  }

  Result<void> add_collective(std::uint32_t i) {
    const Task& task = graph_.tasks[i];
    const GroupFamily& family = graph_.families[task.family];
    for (std::uint32_t group = 0; group < family.count; ++group) {
      const std::span<const std::uint32_t> members = graph_.group(family, group);
      std::vector<std::uint32_t> nodes(members.begin(), members.end());
      switch (task.collective) {
        case CollectiveKind::all_reduce: {
          const auto in_server = in_server_.find(i);
          parts_.push_back({TopooptTask::all_reduce, 0, in_server == in_server_.end() ? Duration{} : in_server->second,
                            task.bytes, std::move(nodes)});
          break;
        }
        case CollectiveKind::barrier:
          parts_.push_back({TopooptTask::barrier, 0, {}, {}, std::move(nodes)});
          break;
        case CollectiveKind::point_to_point:
          parts_.push_back({TopooptTask::nominal_comm, device_of_pair(nodes[0], nodes[1]), {}, task.bytes, nodes});
          break;
        case CollectiveKind::all_to_all: {
          Collective collective{task.collective, std::move(nodes), task.bytes};
          if (!graph_.splits_of_task.empty() && graph_.splits_of_task[i] != 0) {
            collective.splits = graph_.splits[graph_.splits_of_task[i] - 1];
          }
          for (const Flow& flow : flows_of(collective, graph_.nodes)) {
            parts_.push_back({TopooptTask::nominal_comm,
                              device_of_pair(flow.source, flow.destination),
                              {},
                              {flow.bytes},
                              {flow.source, flow.destination}});
          }
          break;
        }
        default:
          return refuse(i, format_text("the format has no {}", to_string(task.collective)));
      }
    }
    return {};
  }

  Result<void> add_edge(std::uint32_t before, std::uint32_t after) {
    if (place_[before] != kNone) {
      return {};  // from an in-server part to its all-reduce, which are one task of the file
    }
    const std::uint32_t to = place_[after] == kNone ? after : place_[after];
    for (std::size_t i = first_[before]; i < first_[before + 1]; ++i) {
      if (parts_[i].kind == TopooptTask::all_reduce) {
        if (first_[to] < first_[to + 1] && parts_[first_[to]].kind == TopooptTask::update) {
          return {};
        }
        return refuse(after, "it waits for an all-reduce");
      }
      for (std::size_t j = first_[to]; j < first_[to + 1]; ++j) {
        if (graph_.dependence == Dependence::whole || share_a_node(parts_[i], parts_[j])) {
          parts_[i].next.push_back(j);
          if (++edges_ > 16 * limits_.tasks) {
            return fail(ErrorCode::out_of_range,
                        format_text("{}: more than {} edges between TopoOpt tasks", graph_.workload, 16 * limits_.tasks));
          }
        }
      }
    }
    return {};
  }

  static bool share_a_node(const Part& a, const Part& b) {
    return std::find_first_of(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end()) != a.nodes.end();
  }

  /// Ids are places; no device is called 0, which all-reduces and barriers name.
  std::uint64_t device_of_worker(std::uint32_t worker) const { return std::uint64_t{worker} + 1; }
  std::uint64_t device_of_pair(std::uint32_t source, std::uint32_t destination) {
    const std::uint64_t next = graph_.node_of_worker.size() + 1 + pairs_.size();
    return pairs_.try_emplace(source * points_ + destination, next).first->second;
  }

  const TaskGraph& graph_;
  TopooptLimits limits_;
  std::uint64_t points_ = 0;
  std::vector<Part> parts_;
  std::vector<std::size_t> first_;    ///< by task of the graph, into `parts_`
  std::vector<std::uint32_t> place_;  ///< in-server parts: the all-reduce that stands for them
  std::map<std::uint32_t, Duration> in_server_;
  std::set<std::uint32_t> workers_;               ///< that have a task in the file
  std::map<std::uint64_t, std::uint64_t> pairs_;  ///< device property to device
  std::size_t edges_ = 0;
};

using Builder = flatbuffers::FlatBufferBuilder;

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<wire::Connection>>> write_links(Builder& builder,
                                                                                            const TopooptNetwork& network) {
  std::vector<flatbuffers::Offset<wire::Connection>> links;
  for (const TopooptLink& link : network.links) {
    links.push_back(wire::CreateConnection(builder, link.from, link.to, link.count));
  }
  return builder.CreateVector(links);
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<wire::Rings>>> write_rings(Builder& builder,
                                                                                       const TopooptNetwork& network) {
  std::map<std::uint64_t, std::vector<flatbuffers::Offset<wire::RingDescriptor>>> of_size;
  for (const TopooptRing& ring : network.rings) {
    of_size[ring.group_size].push_back(wire::CreateRingDescriptorDirect(builder, &ring.jumps));
  }
  std::vector<flatbuffers::Offset<wire::Rings>> rings;
  for (const auto& [size, paths] : of_size) {
    rings.push_back(wire::CreateRingsDirect(builder, size, &paths));
  }
  return builder.CreateVector(rings);
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<wire::Route>>> write_routes(Builder& builder,
                                                                                        std::span<const TopooptRoute> routes) {
  std::vector<flatbuffers::Offset<wire::Route>> written;
  for (const TopooptRoute& route : routes) {
    std::vector<flatbuffers::Offset<wire::Path>> paths;
    for (const std::vector<std::uint32_t>& path : route.paths) {
      paths.push_back(wire::CreatePathDirect(builder, &path, 1.0F / static_cast<float>(route.paths.size())));
    }
    written.push_back(wire::CreateRouteDirect(builder, route.from, route.to, &paths));
  }
  return builder.CreateVector(written);
}

std::vector<std::uint8_t> Writer::write(const TopooptNetwork& network, std::span<const TopooptRoute> routes) const {
  Builder builder(64 * (parts_.size() + 1));
  std::vector<flatbuffers::Offset<wire::Task>> tasks;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    std::vector<std::uint64_t> next = part.next;
    if (part.kind == TopooptTask::all_reduce) {
      next.assign(part.nodes.begin(), part.nodes.end());
    }
    tasks.push_back(wire::CreateTaskDirect(builder, static_cast<std::int16_t>(part.kind), i, part.device,
                                           static_cast<float>(milliseconds_of(part.runtime)),
                                           static_cast<std::uint64_t>(part.bytes.count), &next));
  }
  std::vector<flatbuffers::Offset<wire::Device>> devices;
  for (const std::uint32_t worker : workers_) {
    const std::uint32_t node = graph_.node_of_worker[worker];
    devices.push_back(wire::CreateDevice(builder, kGpu, device_of_worker(worker), node, node, 0));
  }
  for (const auto& [property, device] : pairs_) {
    devices.push_back(wire::CreateDevice(builder, kNominal, device, ~std::uint64_t{0}, property, 0));
  }
  const auto bytes_per_ms = static_cast<float>(static_cast<double>(network.link_rate.bits_per_second) / 8e3);
  const auto links = write_links(builder, network);
  const auto rings = write_rings(builder, network);
  const auto ways = write_routes(builder, routes);
  const auto all_tasks = builder.CreateVector(tasks);
  const auto all_devices = builder.CreateVector(devices);
  builder.Finish(wire::CreateTaskGraph(builder, 1, graph_.nodes, network.switches, 0, 0, bytes_per_ms, links, 0, all_tasks,
                                       all_devices, ways, rings));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace

Result<std::vector<std::uint8_t>> write_topoopt_graph(const TaskGraph& graph, const TopooptNetwork& network,
                                                      std::span<const TopooptRoute> routes, const TopooptLimits& limits) {
  LOOM_TRY(check(graph));
  Writer writer(graph, network, limits);
  LOOM_TRY(writer.spell_out());
  return writer.write(network, routes);
}

}  // namespace loom
