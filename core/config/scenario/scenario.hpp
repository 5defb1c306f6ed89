// SPDX-License-Identifier: Apache-2.0
// Scenario: one run as plain values: which fabric, in which mode, which jobs and which faults, when. Read from YAML by
// scenario_file.hpp; used by sim_backend, the daemons' mains and the CLI. It never opens a file and never draws by chance.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/adapt_policy.hpp"
#include "core/config/scenario/expectation.hpp"
#include "core/drift_policy.hpp"
#include "core/fabric/fabric.hpp"
#include "core/fault_catalogue.hpp"
#include "core/grant.hpp"
#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/ring/ring_habits.hpp"
#include "core/time.hpp"
#include "core/timings.hpp"
#include "core/trigger/trigger_line.hpp"
#include "core/units.hpp"

namespace loom {

/// Which implementations of the four seams a run uses (the table of docs/architecture.md).
enum class Mode : std::uint8_t { sim, soft, mixed, hard };
std::string_view to_string(Mode mode);

/// A bus that is found elsewhere than the fabric file says. Already applied to Scenario::fabric by the loader.
struct BusOverride {
  BusId bus;
  std::string endpoint;  ///< "sim", "modbus-tcp://127.0.0.1:1502", "serial:///dev/ttyUSB0?baud=9600"
  bool operator==(const BusOverride&) const = default;
};

/// Nodes with consecutive numbers.
struct NodeSpan {
  std::uint32_t first = 0;
  std::uint32_t end = 0;  ///< exclusive
  bool contains(NodeId node) const { return first <= node.value && node.value < end; }
  bool operator==(const NodeSpan&) const = default;
};

inline constexpr std::uint16_t kPeerPort = 7610;

/// A host of the installation, with one agent process.
struct ScenarioHost {
  std::string name;
  std::string address;             ///< IP address or name, as the other hosts reach it
  std::uint16_t port = kPeerPort;  ///< TCP: its agents listen there for those of other hosts, and for operators
  std::vector<NodeSpan> nodes;     ///< ascending
  bool operator==(const ScenarioHost&) const = default;
};

/// How the agents are hosted in soft, mixed and hard mode; sim hosts them all in its one process.
struct AgentHosting {
  std::uint32_t processes = 1;        ///< without hosts node i belongs to process i * processes / nodes
  std::vector<ScenarioHost> hosts{};  ///< empty: all processes are on the controller's host; else process k is on host k
  /// "tcp://HOST:PORT", or PORT `*` for a free one. Not empty: process k reaches the controller through relay k % relays.
  std::vector<std::string> relays{};
  bool operator==(const AgentHosting&) const = default;
};

/// What a job really moves from `at` on, as its nodes report it (sim mode only), where that is not what it declares.
struct TrueTraffic {
  Duration at{};  ///< since the job's submission
  std::string workload;
  std::map<std::string, std::string> settings;
  std::uint32_t groups = 1;                         ///< equal parts of its ranks, each of which runs the workload by itself
  Duration every = std::chrono::milliseconds{100};  ///< one iteration
  bool operator==(const TrueTraffic&) const = default;
};

/// A job to submit. Times count from the start of the run. It begins at `at`, or once `after` has ended if that is later;
/// it ends `runs_for` after its submission or after `iterations` iterations, whichever is first.
struct JobSubmission {
  std::string name;      ///< unique in the scenario
  std::string workload;  ///< a name of the zoo; with a '/' in it a trace file (loader: path as openable)
  std::uint32_t nodes = 0;
  std::map<std::string, std::string> settings;  ///< workload parameters, as `--set key=value`
  Duration at{};
  std::string after;  ///< name of another job; empty = none
  Duration runs_for = kForever;
  std::uint32_t iterations = 0;  ///< 0: not limited
  /// Not a job of its own: from `at` on the earlier job of this name moves this workload, on its nodes.
  std::string changes{};
  Transmit transmit = Transmit::slots;
  bool adapt = false;                  ///< its light follows its measured demand
  PacedBy paced_by = PacedBy::model;   ///< who says that its nodes are ready for the next iteration
  std::vector<TrueTraffic> traffic{};  ///< ascending `at`
  std::optional<JobExpectation> expect{};
  bool operator==(const JobSubmission&) const = default;
};

/// How the stand-ins of training processes behave (`paced_by: training`, in sim and soft where no process is attached). Seeded.
struct TrainingHabits {
  double jitter = 0;  ///< each iteration computes for the model's time x (1 - jitter .. 1 + jitter)
  double slow = 0;    ///< probability of an iteration that computes for `slow_by` longer
  Duration slow_by{};
  double lost = 0;     ///< probability that what it says is not heard
  double doubled = 0;  ///< probability that it says it twice
  bool operator==(const TrainingHabits&) const = default;
};

/// A generator of revisions: change k (k = 0, 1, ...) happens at start + k * period, and is either the submission of the next
/// job or the cancelling of the oldest. Job i has job_nodes[i mod size] nodes; at most `live_jobs` live at once.
struct Churn {
  std::uint32_t revisions = 0;           ///< how many changes; 0 = no churn
  std::vector<std::uint32_t> job_nodes;  ///< not empty when revisions > 0
  std::uint32_t live_jobs = 4;
  std::string workload = "vgg19";
  std::map<std::string, std::string> settings;
  Duration start{};
  Duration period = std::chrono::milliseconds{500};
  bool operator==(const Churn&) const = default;
};

/// What the network does to each message, independently, from the start until `until`. Probabilities 0..1.
struct NetworkFaults {
  Duration delay_min = std::chrono::microseconds{50};
  Duration delay_max = std::chrono::microseconds{200};
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;         ///< such a message waits once more between delay_min and delay_max
  Duration until = kForever;  ///< afterwards only the delay remains, so that the run must converge
  bool operator==(const NetworkFaults&) const = default;
};

/// One fault of one device, from `at` for `lasts`.
struct ScenarioFault {
  Duration at{};
  DeviceId device;
  DeviceFaultKind kind = DeviceFaultKind::fail;  ///< one that a device of its role can have
  FrequencyOffset offset{};                      ///< where the catalogue says that it takes an offset, and so on
  Db loss{};
  Duration delay{};
  std::int32_t factor = 10;
  std::int32_t percent = 100;
  std::uint16_t channel = 0;
  Duration lasts = kForever;
  bool operator==(const ScenarioFault&) const = default;
};

enum class MachineFaultKind : std::uint8_t {
  crash,        ///< as `kill -9`; its next incarnation begins after `lasts`
  partition,    ///< nobody hears it and it hears nobody
  disk_full,    ///< its journal refuses rows; then its process is started again
  slow,         ///< an agent's host is busy: all that it is told it hears `delay` later
  clock_step,   ///< an agent's clock stands `offset` beside the true one, then steps back
  clock_drift,  ///< an agent's clock runs `drift_ppm` too fast (below 0: too slow), then is set
  takeover,  ///< a new incarnation of the controller starts elsewhere from its journal; the old one goes on speaking, then ends
  interlock_open,  ///< an agent's interlock contact is open; somebody rearms when it is closed again
};
inline constexpr std::size_t kMachineFaultKinds = 8;
std::string_view to_string(MachineFaultKind kind);

/// One fault of the controller or of one agent, from `at` for `lasts`. With real processes a crash of the controller or of a
/// whole agent process can be had; the others in sim mode only.
struct MachineFault {
  Duration at{};
  std::optional<NodeId> node;  ///< none: the controller
  MachineFaultKind kind = MachineFaultKind::crash;
  Duration lasts = std::chrono::milliseconds{100};
  Duration delay{};            ///< of slow
  Duration offset{};           ///< of clock_step
  std::int64_t drift_ppm = 0;  ///< of clock_drift
  bool operator==(const MachineFault&) const = default;
};

/// A fibre that is cut or dirty, or two that somebody plugged wrongly, from `at` for `lasts`. In sim mode only.
struct FibreFault {
  Duration at{};
  FibreFaultKind kind = FibreFaultKind::swap;
  FibreId first;
  FibreId second{};  ///< of swap
  Duration lasts = kForever;
  Db loss{};  ///< of dirty
  bool operator==(const FibreFault&) const = default;
};

enum class ActionKind : std::uint8_t {
  drain,
  undrain,
  maintain,
  release,
  cancel,
  resize,
  lasers,
  reset,     ///< a device
  darken,    ///< a laser, set dark by hand
  clear,     ///< a device: the plan decides again
  schedule,  ///< pin: what is lit now is applied as an operator's own schedule; rollback: back to the one that had others
};
inline constexpr std::size_t kActionKinds = 11;
std::string_view to_string(ActionKind kind);

/// What an operator types beside submitting jobs, at `at` of the run.
struct ScenarioAction {
  Duration at{};
  ActionKind kind = ActionKind::drain;
  NodeId node{};                       ///< of drain, undrain, maintain, release
  std::string job{};                   ///< of cancel, resize
  std::uint32_t nodes = 0;             ///< of resize
  bool lasers_on = false;              ///< of lasers: rearm
  DeviceId device{};                   ///< of reset, darken, clear
  std::optional<Setpoint> setpoint{};  ///< of darken
  bool rolls_back = false;             ///< of schedule
  bool force = false;                  ///< of drain, maintain
  std::string refused{};               ///< not empty: it is expected to be refused, with this in the reason
  bool operator==(const ScenarioAction&) const = default;
};
/// What `darken` sets a laser to. Precondition: the device is one.
Setpoint dark_setpoint(const Fabric& fabric, DeviceId laser);
/// As an operator would say it: `drain node 17`, `lasers off`.
std::string to_string(const ScenarioAction& action);

struct Scenario {
  std::string name;
  Mode mode = Mode::sim;                 ///< that it is run in
  std::vector<Mode> modes{Mode::sim};    ///< that it may be run in, the file's own `mode` among them
  std::string fabric_file;               ///< as openable from the working directory
  std::shared_ptr<const Fabric> fabric;  ///< index built, overrides applied; never null after loading
  std::vector<BusOverride> inventory;
  std::vector<TriggerLine> triggers{};  ///< line k is reached at trigger_bus(*fabric, k)
  std::string algorithm{};              ///< of the scheduler
  std::uint64_t seed = 1;
  Duration duration = kForever;  ///< of the run; kForever: until every job has ended
  AgentHosting agents;
  ControllerTimings controller;
  std::string controller_endpoint{};  ///< tcp://HOST:PORT where agents of other hosts find it; empty: told by files
  DriftPolicy drift;
  AdaptPolicy adapt;
  TrainingHabits training;
  RingHabits rings{};               ///< of simulated banks
  std::vector<JobSubmission> jobs;  ///< as written; see submissions_of()
  Churn churn;
  NetworkFaults network;
  std::vector<ScenarioFault> device_faults;  ///< ascending `at`
  std::vector<MachineFault> machine_faults;  ///< ascending `at`
  std::vector<FibreFault> fibre_faults;      ///< ascending `at`
  std::vector<ScenarioAction> actions;       ///< ascending `at`
  std::optional<JobExpectation> expect;      ///< of every job that has none of its own
  Duration faults_darken{};                  ///< how long fault files say that they may darken each job, beside that
};

/// Everything that a run submits: `jobs` and the jobs that `churn` stands for, ascending `at` (equal: as written).
std::vector<JobSubmission> submissions_of(const Scenario& scenario);

/// Ascending: the nodes that one agent process hosts. Precondition: process < agents.processes.
std::vector<NodeSpan> spans_of_process(const Scenario& scenario, std::uint32_t process);
std::vector<NodeId> nodes_of_process(const Scenario& scenario, std::uint32_t process);
/// Precondition: the fabric has the node.
std::uint32_t process_of_node(const Scenario& scenario, NodeId node);
/// Ascending: the nodes whose agents speak through this relay. Precondition: relay < agents.relays.size().
std::vector<NodeSpan> spans_of_relay(const Scenario& scenario, std::uint32_t relay);
/// Nothing: its agents speak to the controller itself.
std::optional<std::uint32_t> relay_of_process(const Scenario& scenario, std::uint32_t process);
/// Hosts and controller have more than one address: no clock but TAI is common to them.
bool is_on_several_hosts(const Scenario& scenario);
/// Errors: not_found, naming the hosts that there are.
Result<std::uint32_t> process_of_host(const Scenario& scenario, std::string_view host);

}  // namespace loom
