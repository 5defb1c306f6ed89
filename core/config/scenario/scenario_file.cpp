// SPDX-License-Identifier: Apache-2.0
// The keys of a scenario file, with their units, ranges and what must hold between them.
#include "core/config/scenario/scenario_file.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "core/config/calibration_file.hpp"
#include "core/config/fabric_file.hpp"
#include "core/config/inventory_file.hpp"
#include "core/config/scenario/action_file.hpp"
#include "core/config/scenario/expectation_file.hpp"
#include "core/config/scenario/fault_file.hpp"
#include "core/config/scenario/host_file.hpp"
#include "core/config/trigger_file.hpp"
#include "core/config/yaml/known_words.hpp"
#include "core/config/yaml/yaml_document.hpp"
#include "core/config/yaml/yaml_reader.hpp"
#include "core/config/yaml/yaml_words.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"

namespace loom {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Range<Duration> kRunTime{Duration{0}, hours{24 * 365}};
constexpr Range<Duration> kPositive{microseconds{1}, hours{1}};
constexpr std::size_t kSettings = 64;
constexpr std::size_t kRelaysMost = 64;
constexpr std::int64_t kRevisions = 1'000'000;

class ScenarioReader {
 public:
  ScenarioReader(const std::filesystem::path& path, const YamlNode& root, const FabricKinds& kinds, std::optional<Mode> as,
                 const ScenarioWords* words)
      : folder_(path.parent_path()),
        errors_(path.string()),
        file_(root, "the scenario file", errors_),
        kinds_(kinds),
        as_(as),
        words_(words) {}

  Loaded<Scenario> read() {
    check_header(file_, "scenario");
    scenario_.name = file_.name("name", Rule::required);
    read_modes();
    read_fabric_file();
    scenario_.algorithm = file_.name("algorithm", fabric_.architecture);
    check_algorithm();
    scenario_.seed = file_.seed("seed", scenario_.seed);
    scenario_.duration = file_.duration("duration", {milliseconds{1}, kRunTime.max}, scenario_.duration);
    read_inventory();
    read_agents();
    read_controller();
    scenario_.controller.common_start = !scenario_.triggers.empty();
    check_controller_endpoint();
    read_reconcile();
    read_adaptation();
    read_training();
    read_rings();
    read_jobs();
    read_churn();
    read_faults();
    const ActionPlace place{fabric_known_ ? &fabric_ : nullptr, scenario_.jobs};
    scenario_.actions = read_actions(file_, place, errors_);
    scenario_.expect = read_expectation(file_, "expect", errors_);
    file_.finish();
    if (!errors_.empty()) {
      return {std::nullopt, errors_.sorted()};
    }
    scenario_.fabric = std::make_shared<const Fabric>(std::move(fabric_));
    return {std::move(scenario_), {}};
  }

 private:
  /// The map under `key`, or nothing if the key is absent.
  std::optional<YamlMap> map_of(std::string_view key) {
    const YamlNode* node = file_.find(key);
    return node == nullptr ? std::nullopt : std::optional<YamlMap>(std::in_place, *node, std::string(key), errors_);
  }

  /// Without `modes`: its own, and the simulation of it.
  void read_modes() {
    const auto words = words_of<Mode, 4>();
    const auto own = static_cast<Mode>(file_.word("mode", words, Rule::required).value_or(0));
    scenario_.modes = own == Mode::sim ? std::vector{own} : std::vector{own, Mode::sim};
    if (const YamlNode* node = file_.find("modes")) {
      scenario_.modes.clear();
      for (const std::string& text : file_.texts("modes", words.size())) {
        const auto at = std::ranges::find(words, text);
        const auto mode = static_cast<Mode>(at - words.begin());
        if (at == words.end() || std::ranges::find(scenario_.modes, mode) != scenario_.modes.end()) {
          errors_.add(*node, format_text("modes: found '{}'; expected each of sim, soft, mixed, hard at most once", text));
          continue;
        }
        scenario_.modes.push_back(mode);
      }
      if (std::ranges::find(scenario_.modes, own) == scenario_.modes.end()) {
        errors_.add(*node, format_text("modes: expected mode: {} among them", to_string(own)));
      }
    }
    scenario_.mode = as_.value_or(own);
    if (std::ranges::find(scenario_.modes, scenario_.mode) == scenario_.modes.end()) {
      file_.error("mode", format_text("this scenario does not run in mode {}; it runs in: {}", to_string(scenario_.mode),
                                      modes_text(scenario_)));
    }
  }

  /// A fabric's architecture is the name of its scheduler, unless the scenario names one.
  void check_algorithm() {
    if (words_ == nullptr || !fabric_known_) {
      return;
    }
    const char* key = file_.find("algorithm") != nullptr ? "algorithm" : "fabric";
    check_word({file_.place_of(key), "algorithm", scenario_.algorithm}, words_->algorithms, errors_);
  }

  std::string path_from_here(const std::string& relative) const { return (folder_ / relative).lexically_normal().string(); }

  void read_fabric_file() {
    const std::string relative = file_.text("fabric", Rule::required);
    if (relative.empty()) {
      return;
    }
    scenario_.fabric_file = path_from_here(relative);
    Loaded<Fabric> fabric = load_fabric(scenario_.fabric_file, kinds_);
    if (fabric) {
      fabric_ = std::move(*fabric.value);
      fabric_known_ = true;
    } else {
      file_.error("fabric", format_text("fabric: '{}' cannot be used; its own errors are listed with its name", relative));
      errors_.append(fabric.errors);
    }
  }

  /// A file of its own, or a map of buses here; then what this scenario says of single devices.
  void read_inventory() {
    const InventoryPlace place{fabric_known_ ? &fabric_ : nullptr, kinds_, errors_, scenario_.inventory, scenario_.triggers};
    const YamlNode* node = file_.find("inventory");
    if (node != nullptr && node->kind == YamlNode::Kind::scalar) {
      load_inventory(folder_ / node->text, place);
    } else if (node != nullptr && node->kind == YamlNode::Kind::map) {
      read_buses(*node, place);
    } else if (node != nullptr) {
      errors_.add(*node, "inventory: expected a file, or a map of bus names to endpoints");
    }
    const YamlNode* devices = file_.find("devices");
    if (devices != nullptr) {
      read_devices(*devices, place);
    }
    const bool has_buses = node != nullptr && node->kind == YamlNode::Kind::map;
    if (has_buses || devices != nullptr) {
      check_places(has_buses ? node : nullptr, devices != nullptr ? *devices : *node, place);
    }
    if (const YamlNode* triggers = file_.find("triggers")) {
      read_triggers(*triggers, place);
    }
    settle_endpoints();
  }

  void settle_endpoints() {
    const auto simulated = [](const Bus& bus) { return bus.endpoint == "sim"; };
    if (!fabric_known_) {
      return;
    }
    if (scenario_.mode == Mode::sim || scenario_.mode == Mode::soft) {
      std::ranges::for_each(fabric_.buses, [](Bus& bus) { bus.endpoint = "sim"; });
      for (TriggerLine& line : scenario_.triggers) {
        line.endpoint = line.endpoint.starts_with("sim") ? line.endpoint : "sim";
      }
    } else if (scenario_.mode == Mode::mixed && std::ranges::all_of(fabric_.buses, simulated)) {
      file_.error("mode", "mode: mixed, but every bus is simulated; expected an endpoint in inventory, or mode: soft");
    } else if (scenario_.mode == Mode::hard && std::ranges::any_of(fabric_.buses, simulated)) {
      const auto bus = std::ranges::find_if(fabric_.buses, simulated);
      file_.error("mode", format_text("mode: hard, but {} buses are simulated, the first is '{}'; expected an endpoint for "
                                      "each in inventory, or mode: mixed",
                                      std::ranges::count_if(fabric_.buses, simulated), bus->name));
    }
    const YamlNode* triggers = file_.find("triggers");
    check_triggers(scenario_.triggers, fabric_, triggers != nullptr ? *triggers : file_.node(), errors_);
  }

  std::int64_t node_limit() const { return static_cast<std::int64_t>(fabric_known_ ? fabric_.nodes.size() : limits::kNodes); }

  void read_agents() {
    if (auto map = map_of("agents")) {
      scenario_.agents.processes = static_cast<std::uint32_t>(map->integer("processes", {1, node_limit()}, 1));
      map->finish();
    }
    scenario_.agents.hosts = read_hosts(file_, fabric_known_ ? &fabric_ : nullptr, errors_);
    if (!scenario_.agents.hosts.empty()) {
      if (file_.find("agents") != nullptr) {
        file_.error("agents", "agents: hosts says already how they are hosted; expected one of both");
      }
      scenario_.agents.processes = static_cast<std::uint32_t>(scenario_.agents.hosts.size());
    }
    read_relays();
  }

  void read_relays() {
    if (file_.find("relays") == nullptr) {
      return;
    }
    scenario_.agents.relays = file_.texts("relays", kRelaysMost);
    for (const std::string& endpoint : scenario_.agents.relays) {
      const bool takes_any = endpoint.ends_with(":*");
      const auto place = parse_tcp_endpoint(takes_any ? endpoint.substr(0, endpoint.size() - 1) + "1" : endpoint);
      if (!place) {
        file_.error("relays", "relays: " + place.error().message);
      } else if (takes_any && !scenario_.agents.hosts.empty()) {
        file_.error("relays", format_text("relays: {}: agents of other hosts have to find it; expected a port", endpoint));
      }
    }
    if (scenario_.agents.relays.empty() || scenario_.agents.relays.size() > scenario_.agents.processes) {
      file_.error("relays", format_text("relays: found {} for {} agent processes; expected one to one for each of them",
                                        scenario_.agents.relays.size(), scenario_.agents.processes));
    }
  }

  /// Agents of other hosts have nobody else to tell them where it is.
  void check_controller_endpoint() {
    const std::string& endpoint = scenario_.controller_endpoint;
    if (const auto place = parse_tcp_endpoint(endpoint); !place && !endpoint.empty()) {
      file_.error("controller", "listen: " + place.error().message);
    } else if (!scenario_.agents.hosts.empty() && endpoint.empty()) {
      file_.error("hosts",
                  "hosts: agents of other hosts have to find the controller; expected controller: {listen: tcp://HOST:PORT}");
    }
  }

  void read_controller() {
    auto map = map_of("controller");
    if (!map) {
      return;
    }
    scenario_.controller_endpoint = map->text("listen", std::string{});
    ControllerTimings& timings = scenario_.controller;
    timings.debounce = map->duration("debounce", kPositive, timings.debounce);
    timings.retry_interval = map->duration("retry_interval", kPositive, timings.retry_interval);
    timings.stage_deadline = map->duration("stage_deadline", kPositive, timings.stage_deadline);
    timings.lead_margin = map->duration("lead_margin", kPositive, timings.lead_margin);
    timings.clock_error = map->duration("clock_error", {Duration{0}, seconds{1}}, timings.clock_error);
    timings.beat_interval = map->duration("beat_interval", kPositive, timings.beat_interval);
    timings.suspect_after = map->duration("suspect_after", kPositive, timings.suspect_after);
    timings.dead_after = map->duration("dead_after", kPositive, timings.dead_after);
    timings.report_interval = map->duration("report_interval", kPositive, timings.report_interval);
    timings.late_attempts =
        static_cast<std::uint32_t>(map->integer("late_attempts", {0, 100}, std::int64_t{timings.late_attempts}));
    timings.attend_lease = map->duration("attend_lease", kPositive, timings.attend_lease);
    timings.probe_lease = map->duration("probe_lease", kPositive, timings.probe_lease);
    timings.quiesce_deadline = map->duration("quiesce_deadline", kPositive, timings.quiesce_deadline);
    timings.plan_steps =
        static_cast<std::uint64_t>(map->integer("plan_steps", {1, INT64_MAX}, static_cast<std::int64_t>(timings.plan_steps)));
    timings.plan_deadline = map->duration("plan_deadline", kPositive, timings.plan_deadline);
    require_less(*map, "beat_interval", timings.beat_interval, "suspect_after", timings.suspect_after);
    require_less(*map, "suspect_after", timings.suspect_after, "dead_after", timings.dead_after);
    require_less(*map, "retry_interval", timings.retry_interval, "stage_deadline", timings.stage_deadline);
    map->finish();
  }

  void read_reconcile() {
    auto map = map_of("reconcile");
    if (!map) {
      return;
    }
    ControllerTimings& timings = scenario_.controller;
    timings.audit_round = map->duration("audit_round", kPositive, timings.audit_round);
    timings.reconcile_interval = map->duration("interval", kPositive, timings.reconcile_interval);
    timings.stale_after = map->duration("stale_after", kPositive, timings.stale_after);
    timings.repair_attempts =
        static_cast<std::uint32_t>(map->integer("attempts", {0, 100}, std::int64_t{timings.repair_attempts}));
    timings.repair_backoff = map->duration("backoff", kPositive, timings.repair_backoff);
    timings.repair_quiet = map->duration("quiet", kPositive, timings.repair_quiet);
    require_less(*map, "audit_round", timings.audit_round, "stale_after", timings.stale_after);
    DriftPolicy& drift = scenario_.drift;
    drift.missing = read_answer(*map, Drift::missing, drift.missing);
    drift.foreign = read_answer(*map, Drift::foreign, drift.foreign);
    drift.detuned = read_answer(*map, Drift::detuned, drift.detuned);
    drift.dim = read_answer(*map, Drift::dim, drift.dim);
    map->finish();
  }

  void read_adaptation() {
    auto map = map_of("adaptation");
    if (!map) {
      return;
    }
    AdaptPolicy& adapt = scenario_.adapt;
    adapt.tolerance = map->real("tolerance", {0.0, 1.0}, adapt.tolerance);
    adapt.margin = map->real("margin", {0.0, 1.0}, adapt.margin);
    adapt.hold_times = map->integer("hold_times", {1, 1'000}, adapt.hold_times);
    adapt.restless = static_cast<std::uint32_t>(map->integer("restless", {2, 64}, std::int64_t{adapt.restless}));
    adapt.fresh = map->duration("fresh", kPositive, adapt.fresh);
    map->finish();
  }

  void read_training() {
    auto map = map_of("training");
    if (!map) {
      return;
    }
    TrainingHabits& training = scenario_.training;
    training.jitter = map->real("jitter", {0.0, 1.0}, training.jitter);
    training.slow = map->real("slow", {0.0, 1.0}, training.slow);
    training.slow_by = map->duration("slow_by", kPositive, training.slow_by);
    training.lost = map->real("lost", {0.0, 0.99}, training.lost);
    training.doubled = map->real("doubled", {0.0, 1.0}, training.doubled);
    map->finish();
  }

  void read_rings() {
    auto map = map_of("simulated_rings");
    if (!map) {
      return;
    }
    RingHabits& rings = scenario_.rings;
    rings.resistance = map->real("resistance", {0.0, 0.5}, rings.resistance);
    rings.cold = map->offset("cold", {FrequencyOffset{0}, FrequencyOffset{5'000'000}}, rings.cold);
    rings.crosstalk = map->real("crosstalk", {0.0, 0.3}, rings.crosstalk);
    rings.substrate = map->real("substrate", {0.0, 1.0}, rings.substrate);
    rings.substrate_time = map->duration("substrate_time", kPositive, rings.substrate_time);
    map->finish();
  }

  static DriftAnswer read_answer(YamlMap& map, Drift drift, DriftAnswer otherwise) {
    const std::string_view key = to_string(drift);
    const auto answers = words_of<DriftAnswer, 3>();
    const auto answer = static_cast<DriftAnswer>(map.word(key, answers, static_cast<std::size_t>(otherwise)).value_or(0));
    if (answer == DriftAnswer::adopt && !may_be_adopted(drift)) {
      map.error(key, format_text("{}: adopt; expected repair or report (only foreign and dim may be adopted)", key));
    }
    return answer;
  }

  static void require_less(YamlMap& map, std::string_view key, Duration value, std::string_view other, Duration limit) {
    if (value >= limit) {
      map.error(key, format_text("{}: {}; expected less than {} = {}", key, print_quantity(value.count(), kDurationUnits),
                                 other, print_quantity(limit.count(), kDurationUnits)));
    }
  }

  /// Workload and settings of a job, a traffic or a churn: known words first, each at its place; then all of it together.
  void check_job(YamlMap& map, const std::string& workload, std::uint32_t nodes,
                 const std::map<std::string, std::string>& settings) {
    if (words_ == nullptr || workload.empty()) {
      return;
    }
    const bool is_file = workload.find('/') != std::string::npos;
    if (!is_file && !check_word({map.place_of("workload"), "workload", workload}, words_->workloads, errors_)) {
      return;
    }
    const YamlNode* node = map.find("settings");
    const std::vector<std::string> keys = words_->settings(workload);
    bool is_known = true;
    for (std::size_t i = 0; node != nullptr && i < node->keys.size(); ++i) {
      is_known = check_word({node->keys[i], "settings of " + workload, node->keys[i].text}, keys, errors_) && is_known;
    }
    if (!is_known || nodes == 0) {
      return;
    }
    if (const auto made = words_->job(workload, nodes, settings); !made) {
      errors_.add(node != nullptr ? *node : map.place_of("workload"), "workload: " + made.error().message);
    }
  }

  std::string read_workload(YamlMap& map, Default<std::string> otherwise) {
    const std::string workload = map.text("workload", std::move(otherwise));
    if (workload.find('/') == std::string::npos) {
      return workload;  // a name of the zoo, which controller/workload knows
    }
    const std::string path = path_from_here(workload);
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem)) {
      map.error("workload", format_text("workload: there is no file '{}'; expected a trace file, or a name without '/'", path));
    }
    return path;
  }

  void check_change(YamlMap& map, const JobSubmission& job) const {
    if (job.changes.empty()) {
      return;
    }
    const auto& jobs = scenario_.jobs;
    const auto changed =
        std::find_if(jobs.begin(), jobs.end(), [&](const JobSubmission& each) { return each.name == job.changes; });
    if (changed == jobs.end() || !changed->changes.empty()) {
      map.error("changes",
                format_text("changes: there is no job '{}' above this one; expected the name of an earlier job", job.changes));
    } else if (changed->nodes != job.nodes) {
      map.error("nodes", format_text("nodes: found {}; a job keeps its nodes, expected {} as of '{}'", job.nodes,
                                     changed->nodes, job.changes));
    } else if (!job.after.empty() || job.runs_for != kForever || job.iterations != 0) {
      map.error("changes", "changes: what changes another job has no after, runs_for or iterations of its own");
    }
  }

  /// What a job really moves, from when on.
  void read_traffic(YamlMap& map, JobSubmission& job) {
    for (const YamlNode& item : map.list("traffic", limits::kJobs)) {
      YamlMap entry(item, "the traffic", errors_);
      TrueTraffic traffic;
      traffic.at = entry.duration("at", kRunTime, Rule::required);
      const bool is_own = entry.find("workload") == nullptr;
      traffic.workload = is_own ? job.workload : read_workload(entry, Rule::required);
      traffic.settings = entry.settings("settings", kSettings);
      traffic.settings = is_own && traffic.settings.empty() ? job.settings : traffic.settings;
      check_job(entry, traffic.workload, job.nodes, traffic.settings);
      traffic.groups = static_cast<std::uint32_t>(entry.integer("groups", {1, std::max(1U, job.nodes)}, 1));
      traffic.every = entry.duration("every", kPositive, traffic.every);
      if (traffic.groups > 0 && job.nodes % traffic.groups != 0) {
        entry.error("groups", format_text("groups: found {}; the job's {} nodes are not so many equal groups", traffic.groups,
                                          job.nodes));
      }
      if (!job.traffic.empty() && traffic.at <= job.traffic.back().at) {
        entry.error("at", "at: expected later than the traffic above it");
      }
      entry.finish();
      job.traffic.push_back(std::move(traffic));
    }
    if (!job.traffic.empty() && scenario_.modes != std::vector{Mode::sim}) {
      map.error("traffic", "traffic: what to report can be given to simulated nodes only; expected mode: sim and no other");
    }
  }

  void read_jobs() {
    NameIndex names("job");
    for (const YamlNode& item : file_.list("jobs", limits::kJobs)) {
      YamlMap map(item, "the job", errors_);
      JobSubmission job;
      job.name = map.name("name", Rule::required);
      job.workload = read_workload(map, Rule::required);
      job.nodes = static_cast<std::uint32_t>(map.integer("nodes", {1, node_limit()}, Rule::required));
      job.settings = map.settings("settings", kSettings);
      check_job(map, job.workload, job.nodes, job.settings);
      job.at = map.duration("at", kRunTime, job.at);
      job.after = map.name("after", std::string{});
      job.runs_for = map.duration("runs_for", {microseconds{1}, kRunTime.max}, job.runs_for);
      job.iterations = static_cast<std::uint32_t>(map.integer("iterations", {1, UINT32_MAX}, std::int64_t{job.iterations}));
      const std::array<std::string, 2> transmits{"slots", "grants"};
      job.transmit = static_cast<Transmit>(map.word("transmit", transmits, std::size_t{0}).value_or(0));
      if (!job.after.empty() && !names.find(job.after)) {
        map.error("after",
                  format_text("after: there is no job '{}' above this one; expected the name of an earlier job", job.after));
      }
      job.adapt = map.flag("adapt", false);
      const std::array<std::string, 2> paces{"model", "training"};
      job.paced_by = static_cast<PacedBy>(map.word("paced_by", paces, std::size_t{0}).value_or(0));
      read_traffic(map, job);
      job.changes = map.name("changes", std::string{});
      check_change(map, job);
      job.expect = read_expectation(map, "expect", errors_);
      map.finish();
      names.add(job.name, map.place_of("name"), errors_);
      scenario_.jobs.push_back(std::move(job));
    }
  }

  void read_churn() {
    auto map = map_of("churn");
    if (!map) {
      return;
    }
    Churn& churn = scenario_.churn;
    churn.revisions = static_cast<std::uint32_t>(map->integer("revisions", {1, kRevisions}, Rule::required));
    for (const YamlNode& item : map->list("job_nodes", limits::kJobs, Rule::required)) {
      const auto nodes = parse_integer(item);
      if (!nodes || *nodes < 1 || *nodes > node_limit()) {
        errors_.add(item, "job_nodes: " + (nodes ? format_text("found {}; expected 1..{}", item.text, node_limit())
                                                 : nodes.error().message));
        continue;
      }
      churn.job_nodes.push_back(static_cast<std::uint32_t>(*nodes));
    }
    if (churn.job_nodes.empty()) {
      map->error("job_nodes", "job_nodes: found no size; expected at least one number of nodes");
    }
    churn.live_jobs = static_cast<std::uint32_t>(
        map->integer("live_jobs", {1, static_cast<std::int64_t>(limits::kJobs)}, std::int64_t{churn.live_jobs}));
    churn.workload = read_workload(*map, churn.workload);
    churn.settings = map->settings("settings", kSettings);
    check_job(*map, churn.workload, churn.job_nodes.empty() ? 0 : churn.job_nodes.front(), churn.settings);
    churn.start = map->duration("start", kRunTime, churn.start);
    churn.period = map->duration("period", kPositive, churn.period);
    map->finish();
  }

  /// Those of the file that `faults` names, then its own.
  void read_faults() {
    const FaultPlace place{fabric_known_ ? &fabric_ : nullptr, scenario_.network,      scenario_.device_faults,
                           scenario_.machine_faults,           scenario_.fibre_faults, scenario_.faults_darken};
    if (const std::string relative = file_.text("faults", std::string{}); !relative.empty()) {
      const std::vector<ConfigError> errors = add_fault_file(path_from_here(relative), place);
      if (!errors.empty()) {
        file_.error("faults", format_text("faults: '{}' cannot be used; its own errors are listed with its name", relative));
        errors_.append(errors);
      }
    }
    read_faults_of(file_, place, errors_);
  }

  std::filesystem::path folder_;
  ErrorList errors_;
  YamlMap file_;
  FabricKinds kinds_;
  std::optional<Mode> as_;
  const ScenarioWords* words_ = nullptr;
  Scenario scenario_;
  Fabric fabric_;
  bool fabric_known_ = false;
};

}  // namespace

std::string modes_text(const Scenario& scenario) {
  std::string text;
  for (const Mode mode : scenario.modes) {
    text += (text.empty() ? "" : ", ") + std::string(to_string(mode));
  }
  return text;
}

Loaded<Scenario> load_scenario(const std::filesystem::path& path, const FabricKinds& kinds, std::optional<Mode> as,
                               const ScenarioWords* words) {
  const Loaded<YamlNode> document = read_yaml(path);
  return document ? ScenarioReader(path, *document.value, kinds, as, words).read()
                  : Loaded<Scenario>{std::nullopt, document.errors};
}

std::vector<ConfigError> check_config(const std::filesystem::path& path, const FabricKinds& kinds, const ScenarioWords* words) {
  const Loaded<YamlNode> document = read_yaml(path);
  if (!document) {
    return document.errors;
  }
  return check_config(path, *document.value, kinds, words);
}

std::vector<ConfigError> check_config(const std::filesystem::path& path, const YamlNode& root, const FabricKinds& kinds,
                                      const ScenarioWords* words) {
  ErrorList errors(path.string());
  YamlMap map(root, "the file", errors);
  const std::array<std::string, 8> file_kinds{"fabric", "scenario", "faults", "calibration",
                                              "model",  "cluster",  "prices", "inventory"};
  const auto kind = map.word("kind", file_kinds, Rule::required);
  if (!kind) {
    return errors.sorted();
  }
  if (*kind == 2) {
    return check_fault_file(path, root);
  }
  if (*kind == 3) {
    return read_calibration(path, root, words == nullptr ? std::vector<std::string>{} : words->calibration).errors;
  }
  if (*kind == 7) {
    return check_inventory_file(path, root, kinds);
  }
  if (*kind >= 4) {  // other rooms read these
    static const ScenarioWords kNone;
    const ScenarioWords& readers = words == nullptr ? kNone : *words;
    const auto& reader = *kind == 4 ? readers.model : *kind == 5 ? readers.cluster : readers.prices;
    return reader ? reader(path, root) : std::vector<ConfigError>{};
  }
  return *kind == 0 ? read_fabric(path.string(), root, kinds).errors
                    : ScenarioReader(path, root, kinds, {}, words).read().errors;
}

}  // namespace loom
