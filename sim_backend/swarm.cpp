// Drawing a run from its seed, injecting its faults, and asking at the end. Every draw is a statement of its own.
#include "sim_backend/swarm.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim_backend/simulation.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kFaultsBegin = milliseconds{600};
constexpr Duration kFaultsEnd = seconds{9};
constexpr Duration kLook = milliseconds{20};
constexpr Duration kCutMax = seconds{2};  ///< longest partition
/// After the last fault. Every return of a commit that a fault has broken may take a stage's deadline and a backoff.
constexpr Duration kLivenessBound = seconds{60};
constexpr std::uint32_t kHalf = 500'000;

struct FabricSize {
  std::uint32_t nodes;
  std::uint32_t group_size;
};
constexpr std::array<FabricSize, 3> kSizes{{{8, 4}, {16, 4}, {16, 8}}};

std::shared_ptr<const Fabric> fabric_of(FabricSize size) {
  OddlParameters parameters;
  parameters.nodes = size.nodes;
  parameters.group_size = size.group_size;
  parameters.channels = static_cast<std::int32_t>(size.group_size + size.group_size / 2);
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

/// Something that is asked of the system while it is under faults: setup before the world is, start once it runs, check when
/// all faults have ended and it has had its time.
class SwarmWork {
 public:
  virtual ~SwarmWork() = default;
  virtual std::string name() const = 0;
  virtual void setup(Scenario& scenario, Random& random) = 0;
  virtual void start(World&, Random&) {}
  /// Called again and again once the faults have stopped, until nothing is left to say.
  virtual std::vector<std::string> check(World&) { return {}; }
};

JobSubmission submission(std::string name, std::string workload, std::uint32_t nodes, Duration at) {
  JobSubmission job;
  job.name = std::move(name);
  job.workload = std::move(workload);
  job.nodes = nodes;
  job.at = at;
  return job;
}

/// A ring that comes early and stays: what everything else must leave alone.
class RingWork final : public SwarmWork {
 public:
  std::string name() const override { return "ring"; }
  void setup(Scenario& scenario, Random& random) override {
    const Duration at = random.between(milliseconds{300}, milliseconds{900});
    scenario.jobs.push_back(submission("ring", "vgg19", 4, at));
  }
};

/// All-to-all in several stages: advances by what agents report.
class ShuffleWork final : public SwarmWork {
 public:
  std::string name() const override { return "shuffle"; }
  void setup(Scenario& scenario, Random& random) override {
    const Duration at = random.between(milliseconds{800}, seconds{4});
    scenario.jobs.push_back(submission("shuffle", "dlrm", 4, at));
  }
};

/// Submitted and soon cancelled, often in the middle of its commit.
class CancelWork final : public SwarmWork {
 public:
  std::string name() const override { return "cancel"; }
  void setup(Scenario& scenario, Random& random) override {
    const Duration at = random.between(milliseconds{1'000}, seconds{5});
    JobSubmission job = submission("cancelled", "vgg19", 4, at);
    job.runs_for = random.between(milliseconds{5}, milliseconds{400});
    scenario.jobs.push_back(std::move(job));
  }
};

class ChurnWork final : public SwarmWork {
 public:
  std::string name() const override { return "churn"; }
  void setup(Scenario& scenario, Random& random) override {
    scenario.churn.revisions = 4 + random.below(6);
    scenario.churn.job_nodes = {4, 2};
    scenario.churn.live_jobs = 1 + random.below(2);
    scenario.churn.start = random.between(milliseconds{700}, seconds{2});
    scenario.churn.period = random.between(milliseconds{300}, milliseconds{900});
  }
};

/// Lasers off, and on again later. Whoever gave that order sees to it that it is obeyed.
class LasersWork final : public SwarmWork {
 public:
  std::string name() const override { return "lasers"; }
  void setup(Scenario&, Random&) override {}
  void start(World& world, Random& random) override {
    const Duration off = random.between(seconds{2}, seconds{6});
    const Duration on = off + random.between(milliseconds{200}, seconds{2});
    world.loop().call_at(Instant{off}, Precision::ordinary, [&world] { world.order_lasers(false); });
    world.loop().call_at(Instant{on}, Precision::ordinary, [&world] { world.order_lasers(true); });
  }
  std::vector<std::string> check(World& world) override {
    if (!world.is_up(controller_peer())) {
      return {"the controller is down"};
    }
    // An order that a full disk or a crash took from the controller lives on in the agents' latches: their alarm says what to
    // type, and the operator types it.
    const bool ordered_off = world.controller().intent().lasers_off;
    if (!ordered_off && !any_latched(world)) {
      return {};
    }
    if (world.loop_now() >= asked_ + seconds{1}) {
      asked_ = world.loop_now();
      world.order_lasers(true);
    }
    return {ordered_off ? "the lasers are still ordered off" : "the lasers of an agent are still latched off"};
  }

 private:
  static bool any_latched(const World& world) {
    const auto& nodes = world.light().fabric().nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
      return world.is_up(agent_peer(node.id)) && world.agent(node.id).interlock().latched();
    });
  }

  Instant asked_{};
};

std::vector<std::unique_ptr<SwarmWork>> draw_work(Random& random) {
  std::vector<std::unique_ptr<SwarmWork>> all;
  all.push_back(std::make_unique<RingWork>());
  all.push_back(std::make_unique<ShuffleWork>());
  all.push_back(std::make_unique<CancelWork>());
  all.push_back(std::make_unique<ChurnWork>());
  all.push_back(std::make_unique<LasersWork>());
  std::vector<std::unique_ptr<SwarmWork>> drawn;
  for (auto& work : all) {
    if (random.chance(kHalf)) {
      drawn.push_back(std::move(work));
    }
  }
  if (drawn.empty()) {
    drawn.push_back(std::make_unique<RingWork>());
  }
  return drawn;
}

class SwarmRun {
 public:
  explicit SwarmRun(const SwarmOptions& options) : random_(Random::of_part(options.seed, 0x737761726d)) {
    result_.seed = options.seed;
    const FabricSize size = kSizes[random_.below(kSizes.size())];
    scenario_.name = "swarm";
    scenario_.fabric = fabric_of(size);
    scenario_.controller.stage_deadline = seconds{2};
    work_ = draw_work(random_);
    for (const auto& work : work_) {
      work->setup(scenario_, random_);
      result_.work.push_back(work->name());
    }
    std::ranges::sort(scenario_.jobs, {}, &JobSubmission::at);
    for (std::size_t i = 0; i < kFaultClasses; ++i) {
      const bool drawn = random_.chance(kHalf);
      on_[i] = drawn && options.allowed[i];
    }
    // A laser stays as its agent left it. Whoever dies while it plays timeslots leaves its light in one of them, in the way of
    // the others; no software that is left can prevent that, so it is no finding.
    const bool plays_timeslots = std::ranges::find(result_.work, "shuffle") != result_.work.end();
    bool& agents_die = on_[static_cast<std::size_t>(FaultClass::agent_crash)];
    agents_die = agents_die && !plays_timeslots;
    draw_network();
    draw_device_faults();
  }

  Result<SwarmResult> run() {
    auto jobs = script_of(scenario_);
    if (!jobs) {
      return std::unexpected(std::move(jobs).error());
    }
    WorldOptions options;
    options.seed = result_.seed;
    options.checker.lasers_off_bound =
        kCutMax + kCutMax + seconds{1};  // an order cannot reach who is cut off, or cut off twice
    world_ = std::make_unique<World>(scenario_, std::move(*jobs), options);
    LOOM_TRY(world_->start());
    for (const auto& work : work_) {
      work->start(*world_, random_);
    }
    draw_partitions();
    draw_crashes();
    draw_full_disks();
    world_->run_until(Instant{kFaultsEnd});
    converge();
    return report();
  }

 private:
  bool is_on(FaultClass fault) const { return on_[static_cast<std::size_t>(fault)]; }
  void count(FaultClass fault, std::uint64_t times = 1) {
    result_.faults[static_cast<std::size_t>(fault)] += static_cast<std::uint32_t>(times);
  }
  Duration instant_of_fault(Duration lasts) { return random_.between(kFaultsBegin, kFaultsEnd - lasts); }
  Peer any_agent() { return agent_peer(NodeId{random_.below(static_cast<std::uint32_t>(scenario_.fabric->nodes.size()))}); }

  void draw_network() {
    if (!is_on(FaultClass::network)) {
      return;
    }
    scenario_.network.loss = random_.below(100'000) * 1e-6;
    scenario_.network.duplicate = random_.below(50'000) * 1e-6;
    scenario_.network.reorder = random_.below(100'000) * 1e-6;
    scenario_.network.delay_max = random_.between(milliseconds{1}, milliseconds{3});
    scenario_.network.until = kFaultsEnd;
  }

  void draw_device_faults() {
    if (!is_on(FaultClass::device)) {
      return;
    }
    const std::uint32_t faults = 1 + random_.below(4);
    for (std::uint32_t i = 0; i < faults; ++i) {
      ScenarioFault fault;
      fault.device = DeviceId{random_.below(static_cast<std::uint32_t>(scenario_.fabric->devices.size()))};
      const DeviceKind kind = scenario_.fabric->device(fault.device).kind;
      fault.kind = static_cast<ScenarioFaultKind>(random_.below(7));
      if (fault.kind == ScenarioFaultKind::detune && kind != DeviceKind::itla_laser) {
        fault.kind = ScenarioFaultKind::silence;
      }
      fault.offset = FrequencyOffset{30'000};
      fault.loss = Db{1'200};
      fault.delay = milliseconds{20};
      fault.lasts = random_.between(milliseconds{50}, seconds{2});
      fault.at = instant_of_fault(fault.lasts);
      scenario_.device_faults.push_back(fault);
      count(FaultClass::device);
    }
    std::ranges::sort(scenario_.device_faults, {}, &ScenarioFault::at);
  }

  void draw_partitions() {
    const std::uint32_t times = is_on(FaultClass::partition) ? 1 + random_.below(4) : 0;
    for (std::uint32_t i = 0; i < times; ++i) {
      const bool of_controller = random_.chance(kHalf / 2);
      const Peer agent = any_agent();
      const Peer peer = of_controller ? controller_peer() : agent;
      const Duration lasts = random_.between(milliseconds{20}, kCutMax);
      const Duration at = instant_of_fault(lasts);
      World& world = *world_;
      world.loop().call_at(Instant{at}, Precision::ordinary, [&world, peer] { world.network().set_joined(peer, false); });
      world.loop().call_at(Instant{at + lasts}, Precision::ordinary,
                           [&world, peer] { world.network().set_joined(peer, true); });
      count(FaultClass::partition);
    }
  }

  void draw_crashes() {
    for (const FaultClass fault : {FaultClass::controller_crash, FaultClass::agent_crash}) {
      const std::uint32_t times = is_on(fault) ? 1 + random_.below(4) : 0;
      for (std::uint32_t i = 0; i < times; ++i) {
        const Peer agent = any_agent();
        const Peer peer = fault == FaultClass::controller_crash ? controller_peer() : agent;
        const Duration down = random_.between(milliseconds{5}, seconds{1});
        crash_at(peer, instant_of_fault(down), down);
        count(fault);
      }
    }
  }

  /// A journal that refused a row takes none until its process starts again, which is what its alarm says.
  void draw_full_disks() {
    if (!is_on(FaultClass::disk)) {
      return;
    }
    const Duration lasts = random_.between(milliseconds{50}, seconds{1});
    const Duration at = instant_of_fault(lasts);
    SimDisk& disk = world_->disk(controller_peer());
    world_->loop().call_at(Instant{at}, Precision::ordinary, [&disk] { disk.fail_appends("no space left on device"); });
    world_->loop().call_at(Instant{at + lasts}, Precision::ordinary, [&disk] { disk.fail_appends({}); });
    crash_at(controller_peer(), at + lasts, milliseconds{100});
    count(FaultClass::disk);
  }

  void crash_at(Peer peer, Duration at, Duration down) {
    World& world = *world_;
    world.loop().call_at(Instant{at}, Precision::ordinary, [&world, peer, down] { world.crash(peer, down); });
  }

  std::vector<std::string> unsettled() {
    std::vector<std::string> found = world_->unsettled();
    for (const auto& work : work_) {
      for (std::string& sentence : work->check(*world_)) {
        found.push_back(std::move(sentence));
      }
    }
    return found;
  }

  void converge() {
    // Machines that die last are up again within a second; whoever is still being asked, is asked until there is an answer.
    world_->calm();
    const Instant begin = world_->loop_now();
    std::vector<std::string> left = unsettled();
    while (!left.empty() && world_->loop_now() < begin + kLivenessBound) {
      world_->run_until(world_->loop_now() + kLook);
      left = unsettled();
    }
    result_.settled_after = left.empty() ? world_->loop_now() - begin : kForever;
    result_.violations = world_->checker().violations();
    for (std::string& sentence : left) {
      result_.violations.push_back({world_->loop_now(), SafetyRule::unsettled, std::move(sentence)});
    }
  }

  SwarmResult report() {
    const NetworkCounters& network = world_->network().counters();
    count(FaultClass::network, network.lost + network.doubled + network.reordered);
    result_.digest = world_->digest();
    result_.events = world_->events();
    result_.virtual_time = world_->loop_now().time_since_epoch();
    result_.committed = world_->confirmed();
    result_.returned = world_->returned();
    return std::move(result_);
  }

  Random random_;
  Scenario scenario_;
  std::array<bool, kFaultClasses> on_{};
  std::vector<std::unique_ptr<SwarmWork>> work_;
  std::unique_ptr<World> world_;
  SwarmResult result_;
};

}  // namespace

std::string_view to_string(FaultClass fault) {
  static constexpr std::array<std::string_view, kFaultClasses> kWords{"network",     "partition", "controller_crash",
                                                                      "agent_crash", "device",    "disk"};
  return kWords[static_cast<std::size_t>(fault)];
}

Result<SwarmResult> run_swarm(const SwarmOptions& options) { return SwarmRun(options).run(); }

}  // namespace loom
