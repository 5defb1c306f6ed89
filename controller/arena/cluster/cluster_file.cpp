// SPDX-License-Identifier: Apache-2.0
// Keys to a spec.
#include "controller/arena/cluster/cluster_file.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "controller/workload/load_graph.hpp"
#include "core/config/yaml/yaml_reader.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::int64_t kIterationsMost = 1'000'000'000;
constexpr std::size_t kSettings = 64;
constexpr Range<BitRate> kRates{gigabits(1), gigabits(100'000)};
constexpr Range<Duration> kIntervals{nanoseconds{1}, hours{24 * 365}};
constexpr Range<Duration> kMtbfs{seconds{1}, Duration{limits::kDurationNs}};
constexpr Range<Duration> kPauses{Duration{0}, hours{24 * 365}};

class ClusterReader {
 public:
  ClusterReader(const std::filesystem::path& path, const YamlNode& root)
      : folder_(path.parent_path()), errors_(path.string()), file_(root, "the cluster", errors_) {}

  Loaded<ClusterSpec> read() {
    check_header(file_, "cluster");
    spec_.name = file_.name("name", std::string("cluster"));
    spec_.servers =
        static_cast<std::uint32_t>(file_.integer("servers", {1, static_cast<std::int64_t>(limits::kNodes)}, Rule::required));
    knows_servers_ = errors_.empty();
    spec_.rate = file_.bit_rate("rate", kRates, gigabits(100));
    const std::array<std::string, 2> placements{"random", "packed"};
    spec_.placement = static_cast<ServerPlacement>(file_.word("placement", placements, std::size_t{0}).value_or(0));
    spec_.count =
        static_cast<std::uint32_t>(file_.integer("count", {1, static_cast<std::int64_t>(limits::kJobs)}, Rule::required));
    spec_.seed = file_.seed("seed", 1);
    read_arrivals();
    read_failures();
    read_kinds();
    file_.finish();
    return errors_.empty() ? Loaded<ClusterSpec>{std::move(spec_), {}} : Loaded<ClusterSpec>{std::nullopt, errors_.sorted()};
  }

 private:
  void read_arrivals() {
    const YamlNode* node = file_.find("arrivals");
    if (node == nullptr || (node->kind == YamlNode::Kind::scalar && node->text == "together")) {
      return;
    }
    if (node->kind != YamlNode::Kind::map) {
      errors_.add(*node, "arrivals: expected together, {every: 10 s}, {poisson: {mean: 10 s}} or {load: 0.7}");
      return;
    }
    YamlMap map(*node, "arrivals", errors_);
    Arrivals& arrivals = spec_.arrivals;
    const YamlNode* poisson = map.find("poisson");
    const bool has_load = map.find("load") != nullptr;
    if ((map.find("every") != nullptr) + (poisson != nullptr) + has_load != 1) {
      errors_.add(*node, "arrivals: expected one of every, poisson and load");
    }
    arrivals.interval = map.duration("every", kIntervals, Duration{seconds{1}});
    arrivals.kind = ArrivalKind::regular;
    if (poisson != nullptr) {
      YamlMap gaps(*poisson, "poisson", errors_);
      arrivals.kind = ArrivalKind::poisson;
      arrivals.interval = gaps.duration("mean", kIntervals, Rule::required);
      gaps.finish();
    }
    if (has_load) {
      arrivals.kind = ArrivalKind::poisson;
      arrivals.load = map.real("load", {1e-6, 1e3}, 1.0);
    }
    map.finish();
  }

  void read_failures() {
    const YamlNode* node = file_.find("failures");
    if (node == nullptr) {
      return;
    }
    YamlMap map(*node, "failures", errors_);
    ServerFailures failures;
    failures.mtbf = map.duration("server_mtbf", kMtbfs, Rule::required);
    failures.repair = map.duration("repair", kPauses, Duration{hours{1}});
    failures.checkpoint_every = map.integer("checkpoint_every", {0, kIterationsMost}, 0);
    failures.checkpoint = map.duration("checkpoint", kPauses, Duration{0});
    failures.restart = map.duration("restart", kPauses, Duration{0});
    map.finish();
    spec_.failures = failures;
  }

  void read_kinds() {
    const auto items = file_.list("jobs", kClusterKinds, Rule::required);
    NameIndex names("kind of job");
    double sum = 0;
    for (const YamlNode& item : items) {
      YamlMap map(item, "a kind of job", errors_);
      ClusterKind kind;
      kind.name = map.name("name", Rule::required);
      kind.share = map.real("share", {0, 1e9}, 1.0);
      kind.iterations = map.integer("iterations", {1, kIterationsMost}, Rule::required);
      sum += kind.share;
      read_graph(map, kind);
      map.finish();
      names.add(kind.name, map.place_of("name"), errors_);
      spec_.kinds.push_back(std::move(kind));
    }
    if (items.empty() && file_.find("jobs") != nullptr) {
      file_.error("jobs", "jobs: a cluster needs at least one kind of job");
    } else if (!items.empty() && !(sum > 0)) {
      file_.error("jobs", "jobs: the shares of all kinds sum to 0; at least one must be above it");
    }
  }

  void read_graph(YamlMap& map, ClusterKind& kind) {
    const std::array<std::string, 3> keys{"workload", "model", "graph"};
    const std::string* named = nullptr;
    for (const std::string& key : keys) {
      if (map.find(key) != nullptr) {
        if (named != nullptr) {
          map.error(key,
                    format_text("{} and {} each say what a job runs; expected one of workload, model and graph", *named, key));
        }
        named = &key;
      }
    }
    const auto nodes =
        static_cast<std::uint32_t>(map.integer("nodes", {0, static_cast<std::int64_t>(limits::kNodes)}, std::int64_t{0}));
    const auto settings = map.settings("settings", kSettings);
    if (named == nullptr) {
      map.error_at(map.node(), "nothing says what a job runs; expected one of workload, model and graph");
      return;
    }
    std::string source = map.text(*named, Rule::required);
    if (nodes > spec_.servers && knows_servers_) {
      map.error("nodes", too_large(nodes));
      return;
    }
    if (source.empty()) {
      return;
    }
    const auto zoo = workload_names();
    if (*named != "workload" || std::ranges::find(zoo, source) == zoo.end()) {
      source = (folder_ / source).lexically_normal().string();
    }
    auto graph = load_task_graph(source, {nodes, Settings(settings.begin(), settings.end()), {}});
    if (!graph) {
      map.error(*named, format_text("{}: {}", *named, graph.error().message));
      return;
    }
    kind.graph = std::move(*graph);
    if (kind.graph.nodes > spec_.servers && knows_servers_) {
      map.error(*named, too_large(kind.graph.nodes));
    }
  }

  std::string too_large(std::uint32_t nodes) const {
    return format_text("a job of {} servers on a cluster of {}", nodes, spec_.servers);
  }

  std::filesystem::path folder_;
  ErrorList errors_;
  YamlMap file_;
  ClusterSpec spec_;
  bool knows_servers_ = false;
};

}  // namespace

Loaded<ClusterSpec> read_cluster(const std::filesystem::path& path, const YamlNode& root) {
  return ClusterReader(path, root).read();
}

Loaded<ClusterSpec> read_cluster_file(const std::filesystem::path& path) {
  const Loaded<YamlNode> document = read_yaml(path);
  return document ? read_cluster(path, *document.value) : Loaded<ClusterSpec>{std::nullopt, document.errors};
}

}  // namespace loom
