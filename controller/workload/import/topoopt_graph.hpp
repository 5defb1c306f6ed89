// SPDX-License-Identifier: Apache-2.0
// Task graphs of TopoOpt (FlexFlow's simulator exports them; FlatBuffers, *.fbuf) as workloads. Reads the work and its order,
// and what the file says about its network; never the routes and the run times of transfers, which hold only for the network
// that the graph was exported for. Whatever a file holds, it is read or refused by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workload/task_graph.hpp"
#include "core/limits.hpp"

namespace loom {

/// In the file's numbering.
enum class TopooptTask : std::uint8_t { forward, backward, comm, update, barrier, nominal_comm, all_reduce };
inline constexpr std::size_t kTopooptTaskKinds = 7;

/// `count` parallel duplex links; an end point beyond the servers is a switch. Public files list each once, the higher number
/// first.
struct TopooptLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t count = 0;
};

/// Every member of a group of `group_size` sends to the server that these jumps (modulo the servers) lead to, hop by hop.
struct TopooptRing {
  std::uint64_t group_size = 0;
  std::vector<std::int32_t> jumps;
};

/// All ways from a server to another, each equally likely; both ends are named.
struct TopooptRoute {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::vector<std::vector<std::uint32_t>> paths;
};

/// What the graph was exported for. Links in the file's order.
struct TopooptNetwork {
  std::uint32_t switches = 0;
  BitRate link_rate{};
  std::vector<TopooptLink> links;
  std::vector<TopooptRing> rings;
};

struct TopooptGraph {
  TaskGraph graph;
  TopooptNetwork network;
  std::array<std::uint32_t, kTopooptTaskKinds> tasks_of_kind{};  ///< in the file, by TopooptTask
};

struct TopooptLimits {
  std::size_t bytes = limits::kTraceFileBytes;
  std::size_t nodes = limits::kNodes;
  std::size_t tasks = limits::kTasksPerGraph;
};

/// Servers become nodes. Workers are the devices that compute, those that in-server transfers (`comm`) use, and one an
/// all-reduce for its in-server part. The graph's tasks stand in an order in which each follows what it waits for, the file's
/// order wherever that is one; dependence is whole, as in FlexFlow's simulator.
///  * forward, backward, update, comm: compute on their device.
///  * nominal comm: point-to-point between two servers.
///  * all-reduce: its in-server part (the file's run time) on a worker of its own, beside the GPU and other all-reduces, on the
///    first of its servers for all of them; then an all-reduce among its servers. Of one server, only the former.
///  * barrier: a barrier among the servers of the tasks before and after it.
/// An all-reduce names its servers where other tasks name their successors, so a file cannot say who waits for one. The updates
/// that follow it in FlexFlow's simulator are found as those that no task names: each waits for every all-reduce of its server,
/// the latest start that the unknown order can mean. Public files hold no updates.
/// Errors: malformed (no task graph, cut short, flipped bytes), invalid_argument (an unknown or repeated id, a kind that is not
/// there, a cycle, a server that is not there), out_of_range (limits, run times, sizes); each names task and value.
Result<TopooptGraph> read_topoopt_graph(const std::vector<std::uint8_t>& file, std::string_view name,
                                        const TopooptLimits& limits = {});

/// The same from a file; blocks on the disk. Errors: not_found, and as above.
Result<TopooptGraph> import_topoopt_graph(const std::string& path, const TopooptLimits& limits = {});

/// A task graph as a TopoOpt file, for FlexFlow's and TopoOpt's simulators. Compute becomes a task a worker (by its name
/// backward, update or comm, else forward); an all-reduce a task a group, with the in-server part that read_topoopt_graph split
/// off as its run time; point-to-point and all-to-all a nominal comm a pair. What waits for an all-reduce cannot be written:
/// updates may, since readers find them, everything else is refused. Errors: unsupported (a collective that the format has no
/// task for; a task behind an all-reduce), out_of_range (more tasks or edges than limits.tasks), and as check().
Result<std::vector<std::uint8_t>> write_topoopt_graph(const TaskGraph& graph, const TopooptNetwork& network,
                                                      std::span<const TopooptRoute> routes = {},
                                                      const TopooptLimits& limits = {});

/// The name of the in-server part of an all-reduce.
inline constexpr std::string_view kInServerAllReduce = "in-server all-reduce";

}  // namespace loom
