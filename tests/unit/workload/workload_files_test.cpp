// SPDX-License-Identifier: Apache-2.0
// Demands and models that users bring: every form says the same job; what cannot be is refused with its place.
#include <unistd.h>

#include <rapidcheck.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "controller/workload/import/demand_file.hpp"
#include "controller/workload/import/model_file.hpp"
#include "controller/workload/load_graph.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;

Result<DemandMatrix> text(std::string_view demand, std::uint32_t nodes = 0) {
  return parse_demand_text(demand, "d.csv", nodes);
}

std::string npy(const std::string& type, const std::string& shape, bool columns_first, const std::string& data) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + (columns_first ? "True" : "False") + ", 'shape': " + shape + ", }";
  header.resize(118, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

template <class Number>
std::string raw(std::initializer_list<Number> numbers) {
  std::string bytes;
  for (const Number each : numbers) {
    bytes.append(reinterpret_cast<const char*>(&each), sizeof each);
  }
  return bytes;
}

const std::vector<Bytes> kThree{{0}, {10}, {20}, {30}, {0}, {50}, {60}, {70}, {0}};

std::string refusal(std::string_view demand, std::uint32_t nodes = 0) {
  const auto read = text(demand, nodes);
  REQUIRE_FALSE(read);
  return read.error().message;
}

/// A file that goes when the test does.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() / ("loom_" + std::to_string(::getpid()) + name)) {
    std::ofstream{path_, std::ios::binary} << bytes;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("demand: a matrix is the same with and without header, names, and whatever separates its fields") {
  for (const char* each : {
           "0,10,20\n30,0,50\n60,70,0\n",
           "0;10;20\r\n30;0;50\r\n60;70;0",
           "0\t10\t20\n30\t0\t50\n60\t70\t0\n",
           "# bytes\n 0 10  20\n30 0 50\n\n60 70 0\n",
           "a,b,c\n0,10,20\n30,0,50\n60,70,0\n",
           "0,1,2\n0,10,20\n30,0,50\n60,70,0\n",
           ",0,1,2\n0,0,10,20\n1,30,0,50\n2,60,70,0\n",
           "\xef\xbb\xbf\"\",\"x\",\"y\",\"z\"\nx,0,10,20\ny,30,0,50\nz,60,70,0\n",
           "src,dst,bytes\n0,1,10\n0,2,20\n1,0,30\n1,2,50\n2,0,60\n2,1,70\n",
           "Source,Target,Weight\n0,1,10\n0,2,20\n1,0,30\n1,2,50\n2,0,60\n2,1,70\n",
           "2,1,70\n0,1,10\n0,2,20\n1,0,30\n1,2,25\n1,2,25\n2,0,60\n",
       }) {
    INFO(each);
    const auto read = text(each);
    INFO((read ? std::string{} : read.error().message));
    REQUIRE(read);
    CHECK(read->nodes == 3);
    CHECK(read->bytes == kThree);
  }
  CHECK_THAT(text("2,1,70\n0,1,10\n1,2,25\n1,2,25\n")->notes.back(), Contains("1 rows named a pair again"));
  CHECK_THAT(text("0,1.4\n2.5,0\n")->notes.back(), Contains("2 numbers rounded"));
  CHECK(text("src,dst,bytes\n0,1,5\n", 8)->nodes == 8);
}

TEST_CASE("demand: NumPy's arrays of each type and order") {
  const auto doubles = raw<double>({0, 10, 20, 30, 0, 50, 60, 70, 0});
  CHECK(parse_demand_npy(npy("<f8", "(3, 3)", false, doubles), "d", 0)->bytes == kThree);
  const auto columns = raw<std::int32_t>({0, 30, 60, 10, 0, 70, 20, 50, 0});
  CHECK(parse_demand_npy(npy("<i4", "(3, 3)", true, columns), "d", 3)->bytes == kThree);
  const auto small = raw<std::uint8_t>({0, 10, 20, 30, 0, 50, 60, 70, 0});
  CHECK(parse_demand_npy(npy("|u1", "(3,3)", false, small), "d", 0)->bytes == kThree);
  const auto swapped =
      parse_demand_npy(npy(">u4", "(2, 2)", false, std::string{"\0\0\0\0\0\1\0\0\0\0\0\1\0\0\0\0", 16}), "d", 0);
  REQUIRE(swapped);
  CHECK(swapped->bytes == std::vector<Bytes>{{0}, {65'536}, {1}, {0}});
  CHECK(parse_demand_npy(npy("<i8", "(2, 3)", false, raw<std::int64_t>({0, 1, 7, 1, 0, 9})), "d", 0)->bytes ==
        std::vector<Bytes>{{0}, {7}, {9}, {0}});
  for (const auto& [bytes, words] : {
           std::pair<std::string, const char*>{npy("<f8", "(3, 3)", false, doubles.substr(8)), "needs"},
           {npy("<c16", "(3, 3)", false, doubles), "type '<c16'"},
           {npy("|O", "(3, 3)", false, doubles), "type '|O'"},
           {npy("<f8", "(9,)", false, doubles), "shape (9,)"},
           {npy("<f8", "(3, 3, 1)", false, doubles), "shape (3, 3, 1)"},
           {npy("<f8", "(1, 9)", false, doubles), "1 x 9"},
           {npy("<f8", "(4096, 99999999999)", false, doubles), "kDemandNodes"},
           {npy("<f8", "(2, 2)", false, raw<double>({0, -1, 2, 0})), "row 0, column 1: -1 bytes"},
           {npy("<f8", "(2, 2)", false, raw<double>({0, 1, std::nan(""), 0})), "row 1, column 0: NaN"},
           {std::string("\x93NUMPY\x09\x00\x10\x00 {'descr': '<f8' ", 26), "version 9"},
           {std::string("\x93NUMPY", 6), "cut short"},
       }) {
    INFO(words);
    const auto read = parse_demand_npy(bytes, "d.npy", 0);
    REQUIRE_FALSE(read);
    CHECK_THAT(read.error().message, Contains(words) && Contains("d.npy"));
  }
}

TEST_CASE("demand: what cannot be is refused with its line, row and column") {
  CHECK_THAT(refusal("0,1,2\n3,0\n4,5,0\n"), Contains("line 2, row 1: 2 columns in a matrix of 3 rows"));
  CHECK_THAT(refusal("0,1\n-3,0\n"), Contains("line 2, row 1, column 0: -3 bytes"));
  CHECK_THAT(refusal("0,nan\n3,0\n"), Contains("line 1, row 0, column 1: NaN"));
  CHECK_THAT(refusal("0,inf\n3,0\n"), Contains("line 1, row 0, column 1: inf bytes; the limit is"));
  CHECK_THAT(refusal("0,1e400\n3,0\n"), Contains("the limit is"));
  CHECK_THAT(refusal("0,1\n3,7\n"), Contains("line 2, row 1, column 1: 7 bytes from node 1 to itself"));
  CHECK_THAT(refusal("0,1\n3x,0\n"), Contains("'3x' is no number"));
  CHECK_THAT(refusal("0,0\n0,0\n"), Contains("nothing to move"));
  CHECK_THAT(refusal("0,1\n1,0\n", 4), Contains("2 nodes; --nodes says 4"));
  CHECK_THAT(refusal("src,dst,bytes\n0,9,5\n", 4), Contains("line 2, column 2: node 9"));
  CHECK_THAT(refusal("src,dst,bytes\n0,1\n"), Contains("line 2: 2 fields"));
  CHECK_THAT(refusal("src,dst,bytes\n0,-1,4\n"), Contains("'-1' is no node"));
  CHECK_THAT(refusal("src,dst,bytes\n0,5000,4\n"), Contains("kDemandNodes"));
  CHECK_THAT(refusal("src,dst,bytes\n1,1,4\n"), Contains("to itself"));
  CHECK_THAT(refusal("src,dst,bytes\n"), Contains("a header, and no numbers"));
  CHECK_THAT(refusal(""), Contains("no numbers"));
  CHECK_THAT(refusal("5\n"), Contains("1 nodes"));
  CHECK_THAT(refusal("0,4e12,4e12\n1,0,0\n1,0,0\n"), Contains("row 0: node 0 sends more than"));
}

TEST_CASE("demand: nothing in a file crashes the reader", "[property]") {
  REQUIRE(rc::check("text", [] {
    const auto bytes =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string{"0123456789,;\t\n .-+e#naif\"srcdtby\0", 34}));
    const auto read = parse_demand_text(bytes, "d", 0);
    const bool is_whole = read ? read->nodes >= 2 : !read.error().message.empty();
    RC_ASSERT(is_whole);
  }));
  const std::string whole = npy("<f8", "(3, 3)", false, raw<double>({0, 10, 20, 30, 0, 50, 60, 70, 0}));
  REQUIRE(rc::check("npy", [&] {
    std::string bytes = whole.substr(0, *rc::gen::inRange<std::size_t>(0, whole.size() + 1));
    for (int i = 0; i < 3 && !bytes.empty(); ++i) {
      bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    }
    const auto read = parse_demand_npy(bytes, "d", 0);
    const bool is_whole = read ? read->nodes >= 2 : !read.error().message.empty();
    RC_ASSERT(is_whole);
  }));
}

TEST_CASE("demand: a file is a job of one uneven all-to-all, with the compute that is given") {
  const TemporaryFile file("demand.csv", "0,10,20\n30,0,50\n60,70,0\n");
  const auto job = load_workload(file.path(), {0, {{"compute_ms", "2.5"}}, {}});
  REQUIRE(job);
  CHECK(job->node_count == 3);
  CHECK(job->compute == std::chrono::microseconds{2500});
  REQUIRE(job->collectives.size() == 1);
  CHECK(job->collectives[0].splits == kThree);
  CHECK(job->collectives[0].bytes == Bytes{130});
  CHECK(load_task_graph(file.path(), {3, {}, {}}));
  CHECK_THAT(load_workload(file.path(), {0, {{"batch", "2"}}, {}}).error().message, Contains("batch"));
  CHECK(load_workload("/nonexistent/d.csv", {}).error().code == ErrorCode::not_found);
}

TEST_CASE("model file: layers by measured times, YAML and JSON alike") {
  const std::string yaml =
      "schema_version: 1\nkind: model\nname: two\nbatch: 32\nsource: my bench\nlayers:\n"
      "  - {name: a, parameters: 1000000, activations: 100, time_ms: {32: 1.5, 64: 2.5}}\n"
      "  - {name: b, parameters: 3000000, activations: 10, time_ms: {32: 4.5, 64: 7.5}}\n";
  const std::string json =
      R"({"schema_version": 1, "kind": "model", "name": "two", "batch": 32, "source": "my bench", "layers": [)"
      R"({"name": "a", "parameters": 1000000, "activations": 100, "time_ms": {"32": 1.5, "64": 2.5}},)"
      R"({"name": "b", "parameters": 3000000, "activations": 10, "time_ms": {"32": 4.5, "64": 7.5}}]})";
  for (const auto& [name, text] : {std::pair{"m.yaml", yaml}, {"m.json", json}}) {
    INFO(name);
    const TemporaryFile file(name, text);
    REQUIRE(is_model_file(file.path()));
    const auto graph = load_task_graph(file.path(), {4, {}, {}});
    INFO((graph ? std::string{} : graph.error().message));
    REQUIRE(graph);
    CHECK(graph->parameters == 4'000'000);
    CHECK_THAT(graph->assumptions.front(), Contains("compute_ms = 6.000") && Contains("my bench"));
    const auto twice = load_task_graph(file.path(), {4, {{"batch", "64"}}, {}});
    REQUIRE(twice);
    CHECK_THAT(twice->assumptions.front(), Contains("compute_ms = 10.000"));
    CHECK(load_workload(file.path(), {4, {}, {}})->node_count == 4);
    const auto lacks = load_task_graph(file.path(), {4, {{"batch", "48"}}, {}});
    REQUIRE_FALSE(lacks);
    CHECK_THAT(lacks.error().message, Contains("layer 'a' was not measured at batch 48; it was at 32, 64"));
  }
}

TEST_CASE("model file: macs and a rate, and every fault with its place") {
  const std::string head = "schema_version: 1\nkind: model\nname: m\n";
  const auto read = [&](const std::string& rest) {
    const TemporaryFile file("f.yaml", head + rest);
    return read_model_file(file.path(), 0);
  };
  const auto model = read("sustained_tflops: 6\nbatch: 10\nlayers: [{name: a, macs: 1000000000}]\n");
  REQUIRE(model);
  CHECK(milliseconds_at(model->pace, multiply_accumulates_of(*model), 10) == Approx(10.0));  // 6 FLOP a MAC
  for (const auto& [rest, words] : {
           std::pair{"layers: []\n", "at least one layer"},
           {"layers: [{name: a, macs: 5}]\n", "neither time_ms nor"},
           {"layers: [{name: a, time_ms: {32: 1}}, {name: b}]\n", "layer 'b' has no time_ms"},
           {"layers: [{name: a, parameters: -1}]\n", "parameters"},
           {"layers: [{name: a, paramaters: 1}]\n", "paramaters"},
           {"layers: [{name: a, time_ms: {0: 1}}]\n", "batch '0'"},
           {"layers: [{name: a, time_ms: {8: nan}}]\n", "time_ms of batch 8 is 'nan'"},
           {"layers: [{name: a, time_ms: 3}]\n", "time_ms is a map"},
           {"layers: [{name: a, experts: 2, routed: 4}]\n", "routed = 4 of 2"},
       }) {
    INFO(rest);
    const auto refused = read(rest);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Contains(words) && Contains("f.yaml:"));
  }
  CHECK_FALSE(is_model_file("trace.json"));
}

TEST_CASE("model file: a graph of named inputs in an order that it allows") {
  const TemporaryFile file("g.yaml",
                           "schema_version: 1\nkind: model\nname: g\nlayers:\n"
                           "  - {name: end, inputs: [left, right], activations: 1}\n"
                           "  - {name: in, inputs: [], activations: 100}\n"
                           "  - {name: left, activations: 20}\n"
                           "  - {name: right, inputs: [in], activations: 3}\n");
  const auto model = read_model_file(file.path(), 0);
  INFO((model ? std::string{} : model.error().message));
  REQUIRE(model);
  std::vector<std::string> names;
  std::vector<std::int64_t> handed;
  for (const Block& block : model->blocks) {
    names.push_back(block.name);
    handed.push_back(block.handed);
  }
  CHECK(names == std::vector<std::string>{"in", "left", "right", "end"});
  CHECK(handed == std::vector<std::int64_t>{100, 120, 23, 0});  // behind left, in is still to be read by right
  const auto piped = load_task_graph(file.path(), {4, {{"pp", "4"}, {"batch", "1"}, {"compute_ms", "4"}}, {}});
  INFO((piped ? std::string{} : piped.error().message));
  REQUIRE(piped);
  std::int64_t bytes = 0;
  for (const Task& task : piped->tasks) {
    bytes += task.kind == TaskKind::communicate && task.collective == CollectiveKind::point_to_point ? task.bytes.count : 0;
  }
  CHECK(bytes == 2 * (100 + 120 + 23) * 4);
}

TEST_CASE("model file: a graph that is none is refused with line and path") {
  const auto refusal = [](const std::string& layers) {
    const TemporaryFile file("f.yaml", "schema_version: 1\nkind: model\nname: m\nlayers:\n" + layers);
    const auto read = read_model_file(file.path(), 0);
    REQUIRE_FALSE(read);
    return read.error().message;
  };
  CHECK_THAT(refusal("  - {name: a, inputs: [c]}\n  - {name: b}\n  - {name: c}\n"),
             Contains("f.yaml:") && Contains("a cycle: ") && Contains("a -> b -> c -> a"));
  CHECK_THAT(refusal("  - {name: z}\n  - {name: a, inputs: [a]}\n"), Contains("f.yaml:6") && Contains("a cycle: a -> a"));
  CHECK_THAT(refusal("  - {name: stem}\n  - {name: b, inputs: [steam]}\n"),
             Contains("f.yaml:6") && Contains("input 'steam' of layer 'b'") && Contains("did you mean 'stem'"));
  CHECK_THAT(refusal("  - {name: a}\n  - {name: a}\n"), Contains("f.yaml:6") && Contains("'a' is there already, on line 5"));
  CHECK_THAT(refusal("  - {name: a}\n  - {name: b, inputs: [a, a]}\n"), Contains("listed twice"));
}

TEST_CASE("what only a comparison can play is not scheduled as light in its stead") {
  const auto graph = load_task_graph("vgg19", {4, {{"collective", "tree"}}, {}});
  REQUIRE(graph);
  CHECK_THAT(job_of(*graph).error().message, Contains("by tree") && Contains("nearest: collective=automatic"));
  CHECK(job_of(*load_task_graph("vgg19", {4, {{"collective", "ring"}}, {}})));
}

}  // namespace loom
