// SPDX-License-Identifier: Apache-2.0
// Verify the bytes, index devices and tasks by their ids, order the tasks, lay them out.
#include "controller/workload/import/topoopt_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <queue>
#include <sstream>
#include <utility>

#include "topoopt_graph_generated.h"

namespace loom {
namespace {

namespace wire = FlatBufTaskGraph;

constexpr std::uint32_t kNone = ~0U;
constexpr std::int16_t kNominalDevice = 14;
constexpr std::int16_t kLastDevice = kNominalDevice;
constexpr std::int16_t kLastComputeDevice = 1;  ///< GPU, CPU
constexpr std::array<std::string_view, kTopooptTaskKinds> kNames{"forward", "backward", "comm",      "update",
                                                                 "barrier", "transfer", "all-reduce"};

/// Ids of a file to places in it.
class Places {
 public:
  void add(std::uint64_t id, std::uint32_t place) { rows_.emplace_back(id, place); }
  /// Call once, after the last add. The id that comes twice, if one does.
  const std::uint64_t* sort() {
    std::sort(rows_.begin(), rows_.end());
    const auto twin =
        std::adjacent_find(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
    return twin == rows_.end() ? nullptr : &twin->first;
  }
  std::uint32_t at(std::uint64_t id) const {
    const auto row = std::lower_bound(rows_.begin(), rows_.end(), std::pair{id, 0U});
    return row == rows_.end() || row->first != id ? kNone : row->second;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> rows_;
};

template <class... Parts>
std::string sentence(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

template <class T>
std::uint32_t size_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

/// By copy: the Verifier places a vector's length on a multiple of 4, but does not see to 8 for what follows it.
std::uint64_t at(const flatbuffers::Vector<std::uint64_t>& vector, std::uint32_t place) {
  std::uint64_t value = 0;
  std::memcpy(&value, vector.Data() + std::size_t{place} * sizeof value, sizeof value);
  return flatbuffers::EndianScalar(value);
}

class Reader {
 public:
  Reader(const wire::TaskGraph& file, std::size_t bytes, std::string_view name, const TopooptLimits& limits)
      : file_(file), bytes_(bytes), name_(name), limits_(limits), builder_(std::string(name), file.nnode()) {}

  Result<TopooptGraph> read() {
    LOOM_TRY(read_network());
    LOOM_TRY(index_devices());
    LOOM_TRY(index_tasks());
    LOOM_TRY(read_edges());
    LOOM_TRY(order());
    name_workers();
    LOOM_TRY(lay_out());
    auto graph = std::move(builder_).build();
    if (!graph) {
      return fail(graph.error().code, sentence(name_, ": ", graph.error().message));
    }
    result_.graph = std::move(*graph);
    return std::move(result_);
  }

 private:
  template <class... Parts>
  std::unexpected<Error> refuse(ErrorCode code, const Parts&... parts) const {
    return fail(code, sentence(name_, ": ", parts...));
  }

  TopooptTask kind_of(std::uint32_t task) const { return static_cast<TopooptTask>(tasks_[task]->type()); }
  bool is_compute(std::uint32_t task) const { return kind_of(task) <= TopooptTask::update; }
  const wire::Device& device_of(std::uint32_t task) const {
    return *file_.devices()->Get(device_places_.at(tasks_[task]->deviceid()));
  }

  Result<void> read_network() {
    const std::uint32_t nodes = file_.nnode();
    if (nodes == 0 || nodes > limits_.nodes) {
      return refuse(ErrorCode::out_of_range, nodes, " servers; 1 to ", limits_.nodes, " are lawful");
    }
    if (file_.nswitch() > limits_.nodes) {
      return refuse(ErrorCode::out_of_range, file_.nswitch(), " switches; the limit is ", limits_.nodes);
    }
    points_ = std::uint64_t{nodes} + file_.nswitch();
    const double bits_per_second = double{file_.netbw()} * 8e3;  // bytes a millisecond
    if (!(bits_per_second >= 0 && bits_per_second <= static_cast<double>(limits::kBitPerSecond))) {
      return refuse(ErrorCode::out_of_range, "network bandwidth is ", file_.netbw(), " bytes/ms; at most ",
                    limits::kBitPerSecond / 1'000'000'000, " Gbit/s are lawful");
    }
    TopooptNetwork& network = result_.network;
    network.switches = file_.nswitch();
    network.link_rate = {std::llround(bits_per_second)};
    for (std::uint32_t i = 0; i < size_of(file_.conn()); ++i) {
      const wire::Connection& link = *file_.conn()->Get(i);
      if (link.fromnode() >= points_ || link.tonode() >= points_) {
        return refuse(ErrorCode::invalid_argument, "connection ", i, " joins ", link.fromnode(), " and ", link.tonode(),
                      ", of ", points_, " servers and switches");
      }
      network.links.push_back({link.fromnode(), link.tonode(), link.nconn()});
    }
    return read_rings();
  }

  Result<void> read_rings() {
    std::size_t jumps = 0;
    for (std::uint32_t i = 0; i < size_of(file_.rings()); ++i) {
      const wire::Rings& rings = *file_.rings()->Get(i);
      if (rings.ringsz() > file_.nnode()) {
        return refuse(ErrorCode::invalid_argument, "ring of ", rings.ringsz(), " servers; there are ", file_.nnode());
      }
      for (std::uint32_t j = 0; j < size_of(rings.ringpaths()); ++j) {
        const auto* path = rings.ringpaths()->Get(j)->jumps();
        jumps += size_of(path);
        if (jumps > bytes_ / sizeof(std::int32_t)) {  // only parts that are shared can make it so many
          return refuse(ErrorCode::malformed, "more jumps of rings than ", bytes_, " bytes hold");
        }
        TopooptRing ring{rings.ringsz(), {}};
        for (std::uint32_t k = 0; k < size_of(path); ++k) {
          ring.jumps.push_back(path->Get(k));
        }
        result_.network.rings.push_back(std::move(ring));
      }
    }
    return {};
  }

  Result<void> index_devices() {
    for (std::uint32_t i = 0; i < size_of(file_.devices()); ++i) {
      const wire::Device& device = *file_.devices()->Get(i);
      if (device.type() < 0 || device.type() > kLastDevice) {
        return refuse(ErrorCode::invalid_argument, "device ", device.deviceid(), " is of type ", device.type(), "; 0 to ",
                      kLastDevice, " are known");
      }
      if (device.type() <= kLastComputeDevice && device.nodeid() >= file_.nnode()) {
        return refuse(ErrorCode::invalid_argument, "device ", device.deviceid(), " is in server ", device.nodeid(),
                      "; there are ", file_.nnode());
      }
      device_places_.add(device.deviceid(), i);
    }
    if (const std::uint64_t* twin = device_places_.sort()) {
      return refuse(ErrorCode::invalid_argument, "two devices are called ", *twin);
    }
    return {};
  }

  Result<void> index_tasks() {
    const std::uint32_t count = size_of(file_.tasks());
    if (count == 0 || count > limits_.tasks) {
      return refuse(ErrorCode::out_of_range, count, " tasks; 1 to ", limits_.tasks, " are lawful");
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const wire::Task& task = *file_.tasks()->Get(i);
      if (task.type() < 0 || task.type() >= static_cast<std::int16_t>(kTopooptTaskKinds)) {
        return refuse(ErrorCode::invalid_argument, "task ", task.taskid(), " is of type ", task.type(), "; 0 to ",
                      kTopooptTaskKinds - 1, " are known");
      }
      task_places_.add(task.taskid(), i);
      tasks_.push_back(&task);
      ++result_.tasks_of_kind[static_cast<std::size_t>(task.type())];
    }
    if (const std::uint64_t* twin = task_places_.sort()) {
      return refuse(ErrorCode::invalid_argument, "two tasks are called ", *twin);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      LOOM_TRY(check_sizes(i));
      LOOM_TRY(check_device(i));
    }
    return {};
  }

  Result<void> check_sizes(std::uint32_t i) const {
    const wire::Task& task = *tasks_[i];
    const double nanoseconds = double{task.runtime()} * 1e6;
    if (!(nanoseconds >= 0 && nanoseconds <= static_cast<double>(limits::kDurationNs))) {
      return refuse(ErrorCode::out_of_range, "task ", task.taskid(), " runs ", task.runtime(), " ms; 0 to ",
                    limits::kDurationNs / 1'000'000, " are lawful");
    }
    if (task.xfersize() > static_cast<std::uint64_t>(limits::kCollectiveBytes)) {
      return refuse(ErrorCode::out_of_range, "task ", task.taskid(), " moves ", task.xfersize(), " bytes; the limit is ",
                    limits::kCollectiveBytes);
    }
    return {};
  }

  Result<void> check_device(std::uint32_t i) const {
    const wire::Task& task = *tasks_[i];
    const bool is_transfer = kind_of(i) == TopooptTask::nominal_comm;
    if (!is_transfer && !is_compute(i)) {
      return {};  // all-reduces and barriers have no device
    }
    if (device_places_.at(task.deviceid()) == kNone) {
      return refuse(ErrorCode::invalid_argument, "task ", task.taskid(), " runs on device ", task.deviceid(),
                    ", which is not there");
    }
    const wire::Device& device = device_of(i);
    if (is_transfer != (device.type() == kNominalDevice)) {
      return refuse(ErrorCode::invalid_argument, "task ", task.taskid(), " (", kNames[task.type()], ") runs on device ",
                    task.deviceid(), " of type ", device.type());
    }
    if (!is_transfer) {
      if (device.nodeid() >= file_.nnode()) {
        return refuse(ErrorCode::invalid_argument, "task ", task.taskid(), " runs on device ", task.deviceid(), " in server ",
                      device.nodeid(), "; there are ", file_.nnode());
      }
      return {};
    }
    const std::uint64_t source = device.deviceproperty() / points_;
    const std::uint64_t destination = device.deviceproperty() % points_;
    if (source >= file_.nnode() || destination >= file_.nnode() || source == destination) {
      return refuse(ErrorCode::invalid_argument, "task ", task.taskid(), " moves bytes from server ", source, " to ",
                    destination, ", of ", file_.nnode());
    }
    return {};
  }

  Result<void> read_edges() {
    first_.push_back(0);
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      const auto* next = tasks_[i]->nexttasks();
      listed_ += size_of(next);
      if (listed_ > bytes_ / sizeof(std::uint64_t)) {  // only a list that tasks share can make it so many
        return refuse(ErrorCode::malformed, "more successors than ", bytes_, " bytes hold");
      }
      if (kind_of(i) == TopooptTask::all_reduce) {
        LOOM_TRY(check_servers(i));
      } else {
        for (std::uint32_t j = 0; j < size_of(next); ++j) {
          const std::uint32_t to = task_places_.at(at(*next, j));
          if (to == kNone) {
            return refuse(ErrorCode::invalid_argument, "task ", tasks_[i]->taskid(), " goes before task ", at(*next, j),
                          ", which is not there");
          }
          to_.push_back(to);
        }
      }
      first_.push_back(to_.size());
    }
    return find_updates();
  }

  Result<void> check_servers(std::uint32_t i) const {
    const wire::Task& task = *tasks_[i];
    std::vector<std::uint32_t> members = servers_of(task);
    for (std::uint32_t j = 0; j < size_of(task.nexttasks()); ++j) {
      if (at(*task.nexttasks(), j) >= file_.nnode()) {
        return refuse(ErrorCode::invalid_argument, "all-reduce ", task.taskid(), " names server ", at(*task.nexttasks(), j),
                      "; there are ", file_.nnode());
      }
    }
    if (members.empty()) {
      return refuse(ErrorCode::invalid_argument, "all-reduce ", task.taskid(), " names no server");
    }
    std::sort(members.begin(), members.end());
    const auto twin = std::adjacent_find(members.begin(), members.end());
    if (twin != members.end()) {
      return refuse(ErrorCode::invalid_argument, "all-reduce ", task.taskid(), " names server ", *twin, " twice");
    }
    return {};
  }

  static std::vector<std::uint32_t> servers_of(const wire::Task& all_reduce) {
    std::vector<std::uint32_t> servers;
    for (std::uint32_t j = 0; j < size_of(all_reduce.nexttasks()); ++j) {
      servers.push_back(static_cast<std::uint32_t>(at(*all_reduce.nexttasks(), j)));
    }
    return servers;
  }

  /// Updates that no task names, each behind all all-reduces of its server.
  Result<void> find_updates() {
    std::vector<bool> is_named(tasks_.size());
    for (const std::uint32_t to : to_) {
      is_named[to] = true;
    }
    std::vector<std::vector<std::uint32_t>> updates(file_.nnode());
    bool found = false;
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      if (kind_of(i) == TopooptTask::update && !is_named[i]) {
        updates[device_of(i).nodeid()].push_back(i);
        found = true;
      }
    }
    if (!found) {
      return {};
    }
    builder_.graph().assumptions.push_back(
        "the file does not say which update follows which all-reduce: each waits for all of its server");
    std::vector<std::size_t> first{0};
    std::vector<std::uint32_t> to;
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      to.insert(to.end(), to_.begin() + static_cast<std::ptrdiff_t>(first_[i]),
                to_.begin() + static_cast<std::ptrdiff_t>(first_[i + 1]));
      if (kind_of(i) == TopooptTask::all_reduce) {
        for (const std::uint32_t server : servers_of(*tasks_[i])) {
          to.insert(to.end(), updates[server].begin(), updates[server].end());
        }
      }
      if (to.size() > 16 * limits_.tasks) {
        return refuse(ErrorCode::out_of_range, "updates wait for more than ", 16 * limits_.tasks, " all-reduces in sum");
      }
      first.push_back(to.size());
    }
    first_ = std::move(first);
    to_ = std::move(to);
    return {};
  }

  /// Topological, the least place of those that are ready first.
  Result<void> order() {
    std::vector<std::uint32_t> waits(tasks_.size());
    for (const std::uint32_t to : to_) {
      ++waits[to];
    }
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      if (waits[i] == 0) {
        ready.push(i);
      }
    }
    while (!ready.empty()) {
      const std::uint32_t task = ready.top();
      ready.pop();
      order_.push_back(task);
      for (std::size_t edge = first_[task]; edge < first_[task + 1]; ++edge) {
        if (--waits[to_[edge]] == 0) {
          ready.push(to_[edge]);
        }
      }
    }
    if (order_.size() < tasks_.size()) {
      const auto stuck = std::find_if(waits.begin(), waits.end(), [](std::uint32_t left) { return left != 0; });
      return refuse(ErrorCode::invalid_argument, "task ", tasks_[static_cast<std::size_t>(stuck - waits.begin())]->taskid(),
                    " waits for itself, through ", tasks_.size() - order_.size(), " tasks that lie on or behind a cycle");
    }
    return {};
  }

  /// Devices in the file's order.
  void name_workers() {
    std::vector<bool> is_used(size_of(file_.devices()));
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      if (is_compute(i)) {
        is_used[device_places_.at(tasks_[i]->deviceid())] = true;
      }
    }
    std::vector<std::uint32_t>& nodes = builder_.graph().node_of_worker;
    worker_of_device_.assign(is_used.size(), kNone);
    for (std::uint32_t i = 0; i < is_used.size(); ++i) {
      const wire::Device& device = *file_.devices()->Get(i);
      if (is_used[i] || device.type() <= kLastComputeDevice) {
        worker_of_device_[i] = static_cast<std::uint32_t>(nodes.size());
        nodes.push_back(static_cast<std::uint32_t>(device.nodeid()));
      }
    }
  }

  Result<void> lay_out() {
    builder_.graph().dependence = Dependence::whole;
    const std::uint32_t choice = builder_.choice({});
    entry_.assign(tasks_.size(), kNone);
    exit_.assign(tasks_.size(), kNone);
    const std::vector<std::vector<std::uint32_t>> barriers = servers_at_barriers();
    for (const std::uint32_t i : order_) {
      const wire::Task& task = *tasks_[i];
      const std::string_view name = kNames[static_cast<std::size_t>(task.type())];
      const Duration runtime{std::llround(double{task.runtime()} * 1e6)};
      const Bytes bytes{static_cast<std::int64_t>(task.xfersize())};
      switch (kind_of(i)) {
        case TopooptTask::nominal_comm: {
          const std::uint64_t pair = device_of(i).deviceproperty();
          const std::array<std::uint32_t, 2> ends{static_cast<std::uint32_t>(pair / points_),
                                                  static_cast<std::uint32_t>(pair % points_)};
          entry_[i] = builder_.communicate(name, builder_.family(ends, 2), CollectiveKind::point_to_point, bytes, choice, 0);
          exit_[i] = entry_[i];
          break;
        }
        case TopooptTask::all_reduce:
          lay_out_all_reduce(i, runtime, bytes, choice);
          break;
        case TopooptTask::barrier: {
          const auto& servers = barriers[i];
          const auto size = static_cast<std::uint32_t>(servers.size());
          entry_[i] = builder_.communicate(name, builder_.family(servers, size), CollectiveKind::barrier, {}, choice, 0);
          exit_[i] = entry_[i];
          break;
        }
        default: {
          const std::array<std::uint32_t, 1> worker{worker_of_device_[device_places_.at(task.deviceid())]};
          entry_[i] = exit_[i] = builder_.compute(name, builder_.family(worker, 1), runtime);
        }
      }
    }
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      for (std::size_t edge = first_[i]; edge < first_[i + 1]; ++edge) {
        builder_.edge(exit_[i], entry_[to_[edge]]);
      }
    }
    return {};
  }

  void lay_out_all_reduce(std::uint32_t i, Duration in_server, Bytes bytes, std::uint32_t choice) {
    const std::vector<std::uint32_t> servers = servers_of(*tasks_[i]);
    const bool is_alone = servers.size() == 1;
    if (is_alone || in_server > Duration{}) {
      std::vector<std::uint32_t>& nodes = builder_.graph().node_of_worker;
      const std::array<std::uint32_t, 1> worker{static_cast<std::uint32_t>(nodes.size())};
      nodes.push_back(servers.front());  // alike on all of them: one stands for all
      entry_[i] = exit_[i] = builder_.compute(kInServerAllReduce, builder_.family(worker, 1), in_server);
    }
    if (is_alone) {
      return;
    }
    const std::uint32_t family = builder_.family(servers, static_cast<std::uint32_t>(servers.size()));
    exit_[i] = builder_.communicate("all-reduce", family, CollectiveKind::all_reduce, bytes, choice, 0);
    if (entry_[i] == kNone) {
      entry_[i] = exit_[i];
    } else {
      builder_.edge(entry_[i], exit_[i]);
    }
  }

  void add_servers(std::uint32_t task, std::vector<std::uint32_t>& servers) const {
    if (is_compute(task)) {
      servers.push_back(static_cast<std::uint32_t>(device_of(task).nodeid()));
    } else if (kind_of(task) == TopooptTask::nominal_comm) {
      servers.push_back(static_cast<std::uint32_t>(device_of(task).deviceproperty() / points_));
      servers.push_back(static_cast<std::uint32_t>(device_of(task).deviceproperty() % points_));
    } else if (kind_of(task) == TopooptTask::all_reduce) {
      const std::vector<std::uint32_t> members = servers_of(*tasks_[task]);
      servers.insert(servers.end(), members.begin(), members.end());
    }
  }

  /// By task; empty but for barriers. A barrier that touches no server is one of server 0 alone.
  std::vector<std::vector<std::uint32_t>> servers_at_barriers() const {
    std::vector<std::vector<std::uint32_t>> servers(tasks_.size());
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      for (std::size_t edge = first_[i]; edge < first_[i + 1]; ++edge) {
        if (kind_of(i) == TopooptTask::barrier) {
          add_servers(to_[edge], servers[i]);
        }
        if (kind_of(to_[edge]) == TopooptTask::barrier) {
          add_servers(i, servers[to_[edge]]);
        }
      }
    }
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      if (kind_of(i) == TopooptTask::barrier) {
        std::sort(servers[i].begin(), servers[i].end());
        servers[i].erase(std::unique(servers[i].begin(), servers[i].end()), servers[i].end());
        if (servers[i].empty()) {
          servers[i].push_back(0);
        }
      }
    }
    return servers;
  }

  const wire::TaskGraph& file_;
  std::size_t bytes_;
  std::string name_;
  TopooptLimits limits_;
  TaskGraphBuilder builder_;
  TopooptGraph result_;
  std::uint64_t points_ = 0;  ///< servers and switches
  std::size_t listed_ = 0;
  Places device_places_;
  Places task_places_;
  std::vector<const wire::Task*> tasks_;
  std::vector<std::size_t> first_;  ///< by task, into `to_`
  std::vector<std::uint32_t> to_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> worker_of_device_;
  std::vector<std::uint32_t> entry_;  ///< by task in the file: the graph's task that starts it
  std::vector<std::uint32_t> exit_;   ///< and the one that ends it
};

}  // namespace

Result<TopooptGraph> read_topoopt_graph(const std::vector<std::uint8_t>& file, std::string_view name,
                                        const TopooptLimits& limits) {
  if (file.size() > limits.bytes) {
    return fail(ErrorCode::out_of_range, sentence(name, ": ", file.size(), " bytes; the limit is ", limits.bytes));
  }
  // A table costs at least 8 bytes, itself and who refers to it; more tables than that are one table, referred to again and
  // again, and would make a small file long to read.
  const auto tables = static_cast<flatbuffers::uoffset_t>(file.size() / 8 + 1);
  flatbuffers::Verifier verifier(file.data(), file.size(), 16, tables);
  if (file.size() < 8 || !wire::VerifyTaskGraphBuffer(verifier)) {
    return fail(ErrorCode::malformed,
                sentence(name, ": its ", file.size(),
                         " bytes are no whole TopoOpt task graph (FlatBuffers, FlatBufTaskGraph.TaskGraph)"));
  }
  return Reader(*wire::GetTaskGraph(file.data()), file.size(), name, limits).read();
}

Result<TopooptGraph> import_topoopt_graph(const std::string& path, const TopooptLimits& limits) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const std::streamoff end = stream ? static_cast<std::streamoff>(stream.tellg()) : -1;
  if (end < 0 || !std::filesystem::is_regular_file(path)) {
    return fail(ErrorCode::not_found, sentence(path, ": no such file, or it cannot be read"));
  }
  if (static_cast<std::uint64_t>(end) > limits.bytes) {
    return fail(ErrorCode::out_of_range, sentence(path, ": ", end, " bytes; the limit is ", limits.bytes));
  }
  std::vector<std::uint8_t> file(static_cast<std::size_t>(end));
  stream.seekg(0);
  stream.read(reinterpret_cast<char*>(file.data()), end);
  if (stream.gcount() != end) {
    return fail(ErrorCode::malformed, sentence(path, ": ", stream.gcount(), " bytes of ", end, " could be read"));
  }
  return read_topoopt_graph(file, path, limits);
}

}  // namespace loom
