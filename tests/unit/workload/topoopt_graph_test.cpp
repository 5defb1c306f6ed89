// SPDX-License-Identifier: Apache-2.0
// TopoOpt task graphs: what becomes of each kind of task, and that no file, however damaged, does more than give an error. The
// public graphs are read where the data folder is present (LIGHTLOOM_DATA); says so on stderr and passes where not.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "controller/workload/import/topoopt_graph.hpp"
#include "tests/skip.hpp"
#include "topoopt_graph_generated.h"

namespace loom {
namespace {

namespace wire = FlatBufTaskGraph;
using Ids = std::vector<std::uint64_t>;

struct SmallTask {
  std::int16_t type = 0;
  std::uint64_t id = 0;
  std::uint64_t device = 0;
  float runtime = 0;
  std::uint64_t bytes = 0;
  Ids next{};
};

struct SmallDevice {
  std::int16_t type = 0;
  std::uint64_t id = 0;
  std::uint64_t node = 0;
  std::uint64_t property = 0;
};

/// Two servers and a switch. Forward on 0, a transfer to 1, forward and backward there, an all-reduce of both, an update each.
struct SmallFile {
  std::uint32_t nodes = 2;
  std::uint32_t switches = 1;
  float rate = 12'500'000;
  std::vector<SmallTask> tasks{
      {5, 70, 900, 9.0F, 4096, {20}},        // listed before what it waits for
      {0, 10, 100, 1.5F, 0, {70}},           // forward on server 0
      {0, 20, 101, 2.0F, 0, {30}},           // forward on server 1
      {1, 30, 101, 4.0F, 0, {40}},           // backward on server 1
      {6, 40, 0, 0.25F, 1'000'000, {0, 1}},  // all-reduce of servers 0 and 1
      {3, 50, 100, 0.125F, 0, {}},           // updates, named by nobody
      {3, 51, 101, 0.125F, 0, {60}},
      {4, 60, 0, 0, 0, {61}},  // barrier, then in-server work
      {2, 61, 300, 0.5F, 0, {}},
  };
  std::vector<SmallDevice> devices{{0, 100, 0, 0}, {0, 101, 1, 0}, {14, 900, ~0ULL, 0 * 3 + 1}, {12, 300, 1, 0}};
  std::vector<std::pair<std::uint64_t, std::vector<std::int32_t>>> rings{{2, {1}}};
  std::vector<TopooptLink> links{{2, 0, 1}, {2, 1, 1}};
};

std::vector<std::uint8_t> bytes_of(const SmallFile& file) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<wire::Task>> tasks;
  for (const SmallTask& task : file.tasks) {
    tasks.push_back(wire::CreateTaskDirect(builder, task.type, task.id, task.device, task.runtime, task.bytes, &task.next));
  }
  std::vector<flatbuffers::Offset<wire::Device>> devices;
  for (const SmallDevice& device : file.devices) {
    devices.push_back(wire::CreateDevice(builder, device.type, device.id, device.node, device.property, 0));
  }
  std::vector<flatbuffers::Offset<wire::Connection>> links;
  for (const TopooptLink& link : file.links) {
    links.push_back(wire::CreateConnection(builder, link.from, link.to, link.count));
  }
  std::vector<flatbuffers::Offset<wire::Rings>> rings;
  for (const auto& [size, jumps] : file.rings) {
    const std::vector<flatbuffers::Offset<wire::RingDescriptor>> one{wire::CreateRingDescriptorDirect(builder, &jumps)};
    rings.push_back(wire::CreateRingsDirect(builder, size, &one));
  }
  const std::vector<std::uint32_t> hops{2, 1};
  const std::vector<flatbuffers::Offset<wire::Path>> paths{wire::CreatePathDirect(builder, &hops, 1.0F)};
  const std::vector<flatbuffers::Offset<wire::Route>> routes{wire::CreateRouteDirect(builder, 0, 1, &paths)};
  const std::vector<flatbuffers::Offset<wire::Operator>> operators{wire::CreateOperatorDirect(builder, 7, 3, "Dense_100")};
  builder.Finish(wire::CreateTaskGraphDirect(builder, 1, file.nodes, file.switches, 2e7F, 3e7F, file.rate, &links, &operators,
                                             &tasks, &devices, &routes, &rings));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// The graph's task of this name, the only one.
std::uint32_t task_named(const TaskGraph& graph, const std::string& name) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < graph.tasks.size(); ++i) {
    if (graph.names[graph.tasks[i].name] == name) {
      found.push_back(i);
    }
  }
  INFO(name);
  REQUIRE(found.size() == 1);
  return found.front();
}

std::vector<std::uint32_t> members_of(const TaskGraph& graph, std::uint32_t task) {
  const GroupFamily& family = graph.families[graph.tasks[task].family];
  const auto first = graph.members.begin() + family.first;
  return {first, first + std::ptrdiff_t{family.size} * family.count};
}

std::vector<std::string> names_after(const TaskGraph& graph, std::uint32_t task) {
  std::vector<std::string> names;
  for (const std::uint32_t next : graph.successors_of(task)) {
    names.push_back(graph.names[graph.tasks[next].name]);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void expect_refusal(const SmallFile& file, ErrorCode code, const std::string& words) {
  const auto graph = read_topoopt_graph(bytes_of(file), "small.fbuf");
  INFO(words);
  REQUIRE_FALSE(graph);
  INFO(graph.error().message);
  CHECK(graph.error().code == code);
  CHECK(graph.error().message.find(words) != std::string::npos);
  CHECK(graph.error().message.starts_with("small.fbuf: "));
}

TEST_CASE("a_topoopt_graph_becomes_work_on_devices_and_collectives_among_servers") {
  const auto read = read_topoopt_graph(bytes_of({}), "small.fbuf");
  REQUIRE(read);
  const TaskGraph& graph = read->graph;
  REQUIRE(check(graph));
  CHECK(graph.nodes == 2);
  CHECK(graph.dependence == Dependence::whole);
  CHECK(graph.node_of_worker == std::vector<std::uint32_t>{0, 1, 1, 0});  // GPUs, NVLink of 1, in-server part
  CHECK(graph.tasks.size() == 10);                                        // the all-reduce is two
  CHECK(read->tasks_of_kind == std::array<std::uint32_t, 7>{2, 1, 1, 2, 1, 1, 1});
  CHECK(read->network.link_rate == gigabits(100));
  CHECK(read->network.switches == 1);
  REQUIRE(read->network.links.size() == 2);
  CHECK(read->network.links[1].to == 1);
  REQUIRE(read->network.rings.size() == 1);
  CHECK(read->network.rings[0].jumps == std::vector<std::int32_t>{1});

  const std::uint32_t transfer = task_named(graph, "transfer");
  CHECK(graph.tasks[transfer].collective == CollectiveKind::point_to_point);
  CHECK(graph.tasks[transfer].bytes.count == 4096);
  CHECK(members_of(graph, transfer) == std::vector<std::uint32_t>{0, 1});
  CHECK(names_after(graph, transfer) == std::vector<std::string>{"forward"});

  const std::uint32_t backward = task_named(graph, "backward");
  CHECK(graph.tasks[backward].duration == std::chrono::milliseconds{4});
  CHECK(names_after(graph, backward) == std::vector<std::string>{"in-server all-reduce"});
  const std::uint32_t in_server = task_named(graph, "in-server all-reduce");
  CHECK(graph.tasks[in_server].kind == TaskKind::compute);
  CHECK(graph.tasks[in_server].duration == std::chrono::microseconds{250});
  CHECK(members_of(graph, in_server) == std::vector<std::uint32_t>{3});
  CHECK(names_after(graph, in_server) == std::vector<std::string>{"all-reduce"});
  const std::uint32_t all_reduce = task_named(graph, "all-reduce");
  CHECK(graph.tasks[all_reduce].bytes.count == 1'000'000);
  CHECK(members_of(graph, all_reduce) == std::vector<std::uint32_t>{0, 1});

  const std::uint32_t barrier = task_named(graph, "barrier");
  CHECK(graph.tasks[barrier].collective == CollectiveKind::barrier);
  CHECK(members_of(graph, barrier) == std::vector<std::uint32_t>{1});
  CHECK(members_of(graph, task_named(graph, "comm")) == std::vector<std::uint32_t>{2});
}

TEST_CASE("in_server_parts_of_two_all_reduces_do_not_queue_behind_each_other") {
  SmallFile file;
  file.tasks.push_back({6, 80, 0, 20.0F, 5'000, {0, 1}});
  file.tasks[3].next = {40, 80};
  const auto read = read_topoopt_graph(bytes_of(file), "small.fbuf");
  REQUIRE(read);
  std::vector<std::uint32_t> workers;
  for (std::uint32_t i = 0; i < read->graph.tasks.size(); ++i) {
    if (read->graph.names[read->graph.tasks[i].name] == kInServerAllReduce) {
      REQUIRE(members_of(read->graph, i).size() == 1);
      workers.push_back(members_of(read->graph, i).front());
    }
  }
  REQUIRE(workers.size() == 2);
  CHECK(workers[0] != workers[1]);
}

TEST_CASE("updates_that_no_task_names_wait_for_the_all_reduces_of_their_server") {
  SmallFile file;
  file.tasks[4].next = {1};  // all-reduce of server 1 alone: only its in-server part
  const auto read = read_topoopt_graph(bytes_of(file), "small.fbuf");
  REQUIRE(read);
  const std::uint32_t reduce = task_named(read->graph, "in-server all-reduce");
  CHECK(names_after(read->graph, reduce) == std::vector<std::string>{"update"});
  const std::uint32_t update = read->graph.successors_of(reduce).front();
  CHECK(members_of(read->graph, update) == std::vector<std::uint32_t>{1});
  CHECK(std::none_of(read->graph.tasks.begin(), read->graph.tasks.end(), [](const Task& task) {
    return task.kind == TaskKind::communicate && task.collective == CollectiveKind::all_reduce;
  }));
  REQUIRE(read->graph.assumptions.size() == 1);
  CHECK(read->graph.assumptions.front().find("update") != std::string::npos);
}

TEST_CASE("every_edge_of_a_read_topoopt_graph_goes_forward") {
  const auto read = read_topoopt_graph(bytes_of({}), "small.fbuf");
  REQUIRE(read);
  for (std::uint32_t i = 0; i < read->graph.tasks.size(); ++i) {
    for (const std::uint32_t next : read->graph.successors_of(i)) {
      CHECK(next > i);
    }
  }
}

TEST_CASE("a_topoopt_graph_that_says_something_unlawful_is_refused_by_name") {
  const auto with = [](const std::function<void(SmallFile&)>& change) {
    SmallFile file;
    change(file);
    return file;
  };
  expect_refusal(with([](SmallFile& f) { f.nodes = 0; }), ErrorCode::out_of_range, "0 servers");
  expect_refusal(with([](SmallFile& f) { f.nodes = ~0U; }), ErrorCode::out_of_range, "4294967295 servers");
  expect_refusal(with([](SmallFile& f) { f.switches = ~0U; }), ErrorCode::out_of_range, "4294967295 switches");
  expect_refusal(with([](SmallFile& f) { f.rate = -1; }), ErrorCode::out_of_range, "bandwidth");
  expect_refusal(with([](SmallFile& f) { f.rate = std::numeric_limits<float>::quiet_NaN(); }), ErrorCode::out_of_range,
                 "bandwidth");
  expect_refusal(with([](SmallFile& f) { f.tasks.clear(); }), ErrorCode::out_of_range, "0 tasks");
  expect_refusal(with([](SmallFile& f) { f.tasks[1].type = 7; }), ErrorCode::invalid_argument, "task 10 is of type 7");
  expect_refusal(with([](SmallFile& f) { f.tasks[1].type = -1; }), ErrorCode::invalid_argument, "task 10 is of type -1");
  expect_refusal(with([](SmallFile& f) { f.tasks[1].id = 20; }), ErrorCode::invalid_argument, "two tasks are called 20");
  expect_refusal(with([](SmallFile& f) { f.tasks[1].device = 8; }), ErrorCode::invalid_argument,
                 "device 8, which is not there");
  expect_refusal(with([](SmallFile& f) { f.tasks[1].device = 900; }), ErrorCode::invalid_argument, "device 900 of type 14");
  expect_refusal(with([](SmallFile& f) { f.tasks[0].device = 100; }), ErrorCode::invalid_argument, "device 100 of type 0");
  expect_refusal(with([](SmallFile& f) { f.tasks[1].runtime = -1; }), ErrorCode::out_of_range, "task 10 runs -1 ms");
  expect_refusal(with([](SmallFile& f) { f.tasks[1].runtime = 1e30F; }), ErrorCode::out_of_range, "task 10 runs 1e+30 ms");
  expect_refusal(with([](SmallFile& f) { f.tasks[1].runtime = std::numeric_limits<float>::quiet_NaN(); }),
                 ErrorCode::out_of_range, "task 10 runs nan ms");
  expect_refusal(with([](SmallFile& f) { f.tasks[4].bytes = ~0ULL; }), ErrorCode::out_of_range, "task 40 moves");
  expect_refusal(with([](SmallFile& f) { f.tasks[1].next = {71}; }), ErrorCode::invalid_argument,
                 "task 71, which is not there");
  expect_refusal(with([](SmallFile& f) { f.tasks[4].next = {0, 2}; }), ErrorCode::invalid_argument, "names server 2");
  expect_refusal(with([](SmallFile& f) { f.tasks[4].next = {1, 1}; }), ErrorCode::invalid_argument, "names server 1 twice");
  expect_refusal(with([](SmallFile& f) { f.tasks[4].next = {}; }), ErrorCode::invalid_argument, "names no server");
  expect_refusal(with([](SmallFile& f) { f.tasks[3].next = {10}; }), ErrorCode::invalid_argument, "waits for itself");
  expect_refusal(with([](SmallFile& f) { f.tasks[3].next = {30}; }), ErrorCode::invalid_argument, "task 30 waits for itself");
  expect_refusal(with([](SmallFile& f) { f.devices[0].type = 15; }), ErrorCode::invalid_argument, "device 100 is of type 15");
  expect_refusal(with([](SmallFile& f) { f.devices[0].node = 2; }), ErrorCode::invalid_argument, "device 100 is in server 2");
  expect_refusal(with([](SmallFile& f) { f.devices[3].node = ~0ULL; }), ErrorCode::invalid_argument,
                 "task 61 runs on device 300");
  expect_refusal(with([](SmallFile& f) { f.devices[1].id = 100; }), ErrorCode::invalid_argument, "two devices are called 100");
  expect_refusal(with([](SmallFile& f) { f.devices[2].property = 0; }), ErrorCode::invalid_argument, "from server 0 to 0");
  expect_refusal(with([](SmallFile& f) { f.devices[2].property = 2; }), ErrorCode::invalid_argument, "from server 0 to 2");
  expect_refusal(with([](SmallFile& f) { f.devices[2].property = ~0ULL; }), ErrorCode::invalid_argument, "task 70 moves bytes");
  expect_refusal(with([](SmallFile& f) { f.links[0].from = 3; }), ErrorCode::invalid_argument, "connection 0 joins 3 and 0");
  expect_refusal(with([](SmallFile& f) { f.rings[0].first = 3; }), ErrorCode::invalid_argument, "ring of 3 servers");
}

TEST_CASE("a_topoopt_graph_cut_short_anywhere_is_refused") {
  const std::vector<std::uint8_t> whole = bytes_of({});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto read = read_topoopt_graph(cut, "cut.fbuf");
    INFO(size << " bytes of " << whole.size());
    if (read) {
      CHECK(whole.size() - size < 8);  // padding behind the last table
    } else {
      CHECK(read.error().message.starts_with("cut.fbuf: "));
    }
  }
}

TEST_CASE("a_topoopt_graph_with_flipped_bytes_is_refused_or_read_as_a_lawful_graph") {
  const std::vector<std::uint8_t> whole = bytes_of({});
  const std::uint32_t seed = 20'260'117;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  std::size_t refused = 0;
  const auto judge = [&](const std::vector<std::uint8_t>& file) {
    const auto read = read_topoopt_graph(file, "flipped.fbuf");
    if (read) {
      const auto lawful = check(read->graph);
      CHECK(lawful);
      CHECK(read->graph.nodes <= limits::kNodes);
      const auto written = write_topoopt_graph(read->graph, read->network);
      REQUIRE(written);  // no graph that was read is beyond what can be written
      const auto again = read_topoopt_graph(*written, "again.fbuf");
      REQUIRE(again);
      CHECK(again->tasks_of_kind == read->tasks_of_kind);
    } else {
      ++refused;
      CHECK(read.error().message.starts_with("flipped.fbuf: "));
    }
  };
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::vector<std::uint8_t> file = whole;
    file[bit / 8] = static_cast<std::uint8_t>(file[bit / 8] ^ (1U << (bit % 8)));
    judge(file);
  }
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::uint8_t> file = whole;
    for (auto flips = 1 + random() % 8; flips > 0; --flips) {
      file[random() % file.size()] = static_cast<std::uint8_t>(random());
    }
    judge(file);
  }
  CHECK(refused > 10'000);
}

TEST_CASE("a_small_file_whose_tasks_share_one_long_list_is_refused_before_it_is_spelt_out") {
  flatbuffers::FlatBufferBuilder builder;
  const Ids next(4000, 1);
  const auto shared = builder.CreateVector(next);
  std::vector<flatbuffers::Offset<wire::Task>> tasks{wire::CreateTask(builder, 4, 1)};
  for (std::uint64_t id = 2; id < 4002; ++id) {
    tasks.push_back(wire::CreateTask(builder, 4, id, 0, 0, 0, shared));
  }
  const auto all = builder.CreateVector(tasks);
  wire::TaskGraphBuilder graph(builder);
  graph.add_nnode(1);
  graph.add_tasks(all);
  builder.Finish(graph.Finish());
  const auto read =
      read_topoopt_graph({builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()}, "shared.fbuf");
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("more successors than") != std::string::npos);
}

TEST_CASE("an_absent_topoopt_file_is_not_found") {
  const auto read = import_topoopt_graph("no/such/graph.fbuf");
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::not_found);
  const auto folder = import_topoopt_graph("/");
  REQUIRE_FALSE(folder);
  CHECK(folder.error().code == ErrorCode::not_found);
}

/// By name: tasks, time on workers (ms), bytes and edges. What must survive a file.
std::map<std::string, std::array<double, 4>> contents_of(const TaskGraph& graph) {
  std::map<std::string, std::array<double, 4>> sums;
  for (std::uint32_t i = 0; i < graph.tasks.size(); ++i) {
    std::array<double, 4>& sum = sums[graph.names[graph.tasks[i].name]];
    sum[0] += 1;
    sum[1] += milliseconds_of(graph.tasks[i].duration) * static_cast<double>(members_of(graph, i).size());
    sum[2] += static_cast<double>(graph.tasks[i].bytes.count);
    sum[3] += static_cast<double>(graph.successors_of(i).size());
  }
  return sums;
}

TEST_CASE("a_written_topoopt_graph_reads_as_what_it_was") {
  const auto read = read_topoopt_graph(bytes_of({}), "small.fbuf");
  REQUIRE(read);
  const std::vector<TopooptRoute> routes{{0, 1, {{0, 2, 1}}}};
  const auto written = write_topoopt_graph(read->graph, read->network, routes);
  REQUIRE(written);
  const auto again = read_topoopt_graph(*written, "small.fbuf");
  REQUIRE(again);
  CHECK(again->tasks_of_kind == read->tasks_of_kind);
  CHECK(again->graph.node_of_worker == read->graph.node_of_worker);
  CHECK(contents_of(again->graph) == contents_of(read->graph));
  CHECK(again->network.link_rate == read->network.link_rate);
  CHECK(again->network.links.size() == 2);
  CHECK(again->network.rings.front().jumps == read->network.rings.front().jumps);
  const wire::TaskGraph& file = *wire::GetTaskGraph(written->data());
  REQUIRE(file.routes()->size() == 1);
  CHECK(file.routes()->Get(0)->paths()->Get(0)->hopnode()->size() == 3);
}

TEST_CASE("families_are_written_as_a_task_a_worker_and_edges_node_by_node") {
  TaskGraphBuilder builder("pair", 2);
  builder.graph().node_of_worker = {0, 1};
  const std::vector<std::uint32_t> both{0, 1};
  const std::uint32_t choice = builder.choice({});
  const std::uint32_t one_each = builder.family(both, 1);
  const std::uint32_t together = builder.family(both, 2);
  const std::uint32_t forward = builder.compute("layer", one_each, std::chrono::milliseconds{2});
  const std::uint32_t exchange = builder.communicate("exchange", together, CollectiveKind::all_to_all, {100}, choice, 0);
  const std::uint32_t backward = builder.compute("backward", one_each, std::chrono::milliseconds{3});
  const std::uint32_t reduce = builder.communicate("reduce", together, CollectiveKind::all_reduce, {64}, choice, 0);
  builder.edge(forward, exchange);
  builder.edge(exchange, backward);
  builder.edge(backward, reduce);
  auto graph = std::move(builder).build();
  REQUIRE(graph);
  const auto written = write_topoopt_graph(*graph, {});
  REQUIRE(written);
  const auto read = read_topoopt_graph(*written, "pair.fbuf");
  REQUIRE(read);
  CHECK(read->tasks_of_kind == std::array<std::uint32_t, 7>{2, 2, 0, 0, 0, 2, 1});
  const auto contents = contents_of(read->graph);
  CHECK(contents.at("transfer") == std::array<double, 4>{2, 0, 100, 4});  // each before both of its pair's backwards
  CHECK(contents.at("forward") == std::array<double, 4>{2, 4, 0, 4});
  CHECK(contents.at("all-reduce") == std::array<double, 4>{1, 0, 64, 0});
  CHECK(read->graph.node_of_worker == std::vector<std::uint32_t>{0, 1});

  TaskGraph behind = *graph;  // the backward pass behind the all-reduce
  std::swap(behind.tasks[2], behind.tasks[3]);
  const auto refused = write_topoopt_graph(behind, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unsupported);
  CHECK(refused.error().message.find("waits for an all-reduce") != std::string::npos);
  graph->tasks[3].collective = CollectiveKind::all_gather;
  const auto unknown = write_topoopt_graph(*graph, {});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message.find("no all_gather") != std::string::npos);
}

struct PublicGraph {
  std::string name;
  std::size_t tasks = 0;
  std::uint32_t all_reduces = 0;
  std::uint32_t transfers = 0;
  std::map<std::uint32_t, double> reduced_megabytes{};  ///< by group size, of two or more
  double busy_ms = 0;                                   ///< of the busiest GPU
  double moved_gigabytes = 0;
  std::size_t pairs = 0;  ///< that move them
};

void expect_facts(const PublicGraph& facts) {
  const auto file = testing::public_data("traces/topoopt/" + facts.name + ".fbuf");
  if (!file) {
    return;
  }
  INFO(facts.name);
  const auto read = import_topoopt_graph(file->string());
  if (!read) {
    FAIL(read.error().message);
  }
  const TaskGraph& graph = read->graph;
  REQUIRE(check(graph));
  std::size_t tasks = 0;
  for (const std::uint32_t count : read->tasks_of_kind) {
    tasks += count;
  }
  CHECK(tasks == facts.tasks);
  CHECK(read->tasks_of_kind[6] == facts.all_reduces);
  CHECK(read->tasks_of_kind[5] == facts.transfers);
  std::map<std::uint32_t, double> reduced;
  std::vector<double> busy(graph.node_of_worker.size());
  double moved = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> pairs;
  for (std::uint32_t i = 0; i < graph.tasks.size(); ++i) {
    const Task& task = graph.tasks[i];
    const auto members = members_of(graph, i);
    if (task.kind == TaskKind::compute) {
      for (const std::uint32_t worker : members) {
        busy[worker] += graph.names[task.name] == "in-server all-reduce" ? 0 : milliseconds_of(task.duration);
      }
    } else if (task.collective == CollectiveKind::all_reduce) {
      reduced[static_cast<std::uint32_t>(members.size())] += static_cast<double>(task.bytes.count) * 1e-6;
    } else {
      moved += static_cast<double>(task.bytes.count) * 1e-9;
      pairs[{members[0], members[1]}] += 1;
    }
  }
  REQUIRE(reduced.size() == facts.reduced_megabytes.size());
  for (const auto& [size, megabytes] : facts.reduced_megabytes) {
    CHECK(reduced[size] == Approx(megabytes).epsilon(1e-4));
  }
  CHECK(*std::max_element(busy.begin(), busy.end()) == Approx(facts.busy_ms).epsilon(1e-4));
  CHECK(moved == Approx(facts.moved_gigabytes).epsilon(1e-3));
  CHECK(pairs.size() == facts.pairs);
}

TEST_CASE("reads_the_public_task_graphs_behind_figure_16") {
  // Counts of docs/traffic.md; bytes, busy times and pairs of docs/systems/topoopt.md#public-graphs (all-reduces of one server
  // move nothing).
  expect_facts({"100vgg_16", 768, 32, 0, {{16, 1157.41}}, 100.477, 0, 0});
  expect_facts({"100transformer_16", 2'020, 68, 0, {{16, 226.569}}, 62.2018, 0, 0});
  expect_facts({"100candle_16", 1'580, 140, 456, {{4, 2852.83}, {8, 1027.24}, {16, 872.612}}, 113.8055, 18.522, 48});
  expect_facts({"100dlrm_16", 1'278, 62, 496, {{8, 20.992}, {16, 285.352}}, 17.5676, 1.0737, 230});
  expect_facts({"100dlrm_128", 22'446, 110, 16'528, {{8, 16.7854}, {16, 16.7854}, {128, 1191.485}}, 41.7135, 10.6032, 11'234});
}

TEST_CASE("reads_and_writes_every_public_task_graph_at_hand") {
  const auto root = testing::public_data("traces/topoopt");
  if (!root) {
    return;
  }
  std::size_t graphs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*root)) {
    ++graphs;
    const auto read = import_topoopt_graph(entry.path().string());
    INFO(entry.path().string());
    INFO((read ? std::string{} : read.error().message));
    REQUIRE(read);
    const auto written = write_topoopt_graph(read->graph, read->network);
    REQUIRE(written);
    const auto again = read_topoopt_graph(*written, "again.fbuf");
    REQUIRE(again);
    CHECK(again->tasks_of_kind == read->tasks_of_kind);
    CHECK(contents_of(again->graph) == contents_of(read->graph));
  }
  CHECK(graphs > 0);
}

}  // namespace
}  // namespace loom
