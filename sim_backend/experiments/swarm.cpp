// SPDX-License-Identifier: Apache-2.0
// Drawing a run from its seed. Every draw is a statement of its own.
#include "sim_backend/experiments/swarm.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"
#include "sim_backend/simulation.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kFaultsBegin = milliseconds{600};
constexpr Duration kFaultsEnd = seconds{9};
constexpr Duration kCutMax = seconds{2};  ///< longest partition
constexpr std::uint32_t kHalf = 500'000;
constexpr std::uint32_t kSometimes = 250'000;
constexpr std::uint32_t kSeldom = 100'000;
constexpr std::array kStatic{"vgg19", "resnet50", "bert-base"};  ///< rings: light that stays
constexpr std::array kExchanging{"dlrm", "ncf", "moe"};          ///< all-to-all
constexpr std::array kDeviceFaults{DeviceFaultKind::detune, DeviceFaultKind::dim,     DeviceFaultKind::fail,
                                   DeviceFaultKind::stick,  DeviceFaultKind::silence, DeviceFaultKind::nack,
                                   DeviceFaultKind::late};

constexpr Duration kWithinGuard = milliseconds{15};  ///< of an ODDL timeslot: a late order to be dark meets no other's light

constexpr std::size_t kInterlock = static_cast<std::size_t>(FaultClass::interlock);

bool is_oddl(FabricFamily family) {
  return family == FabricFamily::oddl || family == FabricFamily::oddl_planes || family == FabricFamily::oddl_open ||
         family == FabricFamily::oddl_awgr;
}

class Draw {
 public:
  Draw(const SwarmOptions& options, std::uint64_t part) : options_(options), random_(Random::of_part(options.seed, part)) {}

  Result<void> begin(const std::string& name) {
    draw_.fabric = draw_fabric(random_);
    if (options_.family) {
      draw_.fabric = {*options_.family, draw_.fabric.size % sizes_of(*options_.family)};
    }
    auto fabric = make_fabric(draw_.fabric, options_.configs);
    if (!fabric) {
      return std::unexpected(fabric.error());
    }
    Scenario& scenario = draw_.scenario;
    scenario.name = name;
    scenario.seed = options_.seed;
    scenario.fabric = std::move(*fabric);
    scenario.algorithm = algorithm_of(*scenario.fabric);
    scenario.controller.stage_deadline = seconds{2};
    scenario.duration = kFaultsEnd;
    nodes_ = static_cast<std::uint32_t>(scenario.fabric->nodes.size());
    return {};
  }

  void draw_jobs() {
    const std::uint32_t jobs = 1 + random_.below(4);
    for (std::uint32_t i = 0; i < jobs; ++i) {
      draw_job(i);
    }
    if (random_.chance(kSometimes)) {
      draw_change();
    }
    std::ranges::stable_sort(draw_.scenario.jobs, {}, &JobSubmission::at);
  }

  void draw_churn() {
    if (!random_.chance(kHalf)) {
      return;
    }
    Churn& churn = draw_.scenario.churn;
    churn.revisions = 4 + random_.below(6);
    churn.job_nodes = {std::min(4U, nodes_), 2};
    churn.live_jobs = 1 + random_.below(2);
    churn.start = between(milliseconds{700}, seconds{2});
    churn.period = between(milliseconds{300}, milliseconds{900});
  }

  /// What an operator types beside submitting jobs.
  void draw_actions() {
    if (random_.chance(kSometimes)) {
      draw_lasers();
    }
    const std::uint32_t actions = random_.below(4);
    for (std::uint32_t i = 0; i < actions; ++i) {
      draw_action();
    }
    std::ranges::stable_sort(draw_.scenario.actions, {}, &ScenarioAction::at);
  }

  /// Each class by itself, as often as the class is usual.
  void draw_classes() {
    for (std::size_t i = 0; i < kInterlock; ++i) {
      const bool drawn = random_.chance(kHalf);
      on_[i] = drawn && options_.allowed[i];
    }
    spare_agents_of_timeslots();
    draw_network();
    repeat(FaultClass::partition, 4, [this] { add_partition(); });
    repeat(FaultClass::controller_crash, 4, [this] { add_crash({}); });
    repeat(FaultClass::agent_crash, 4, [this] { add_crash(any_node()); });
    repeat(FaultClass::device, 4, [this] { add_device_fault(); });
    repeat(FaultClass::disk, 1, [this] { add_full_disk(); });
    repeat(FaultClass::power, 3, [this] { add_power_cycle(); });
    repeat(FaultClass::untrue, 2, [this] { add_untrue(); });
    repeat(FaultClass::slow, 2, [this] { add_slow(); });
    repeat(FaultClass::clock, 2, [this] { add_clock(); });
    repeat(FaultClass::takeover, 1, [this] { add_takeover(); });
    draw_interlocks(kHalf);
  }

  /// Any kinds, so and so many in all.
  void draw_any_faults() {
    on_ = options_.allowed;
    spare_agents_of_timeslots();
    if (random_.chance(kSometimes)) {
      draw_network();
    }
    const std::uint32_t faults = 1 + random_.below(6);
    for (std::uint32_t i = 0; i < faults; ++i) {
      add_any(static_cast<FaultClass>(1 + random_.below(kInterlock - 1)));
    }
    draw_interlocks(kSeldom);
  }

  SwarmDraw finish() {
    Scenario& scenario = draw_.scenario;
    std::ranges::stable_sort(scenario.device_faults, {}, &ScenarioFault::at);
    std::ranges::stable_sort(scenario.machine_faults, {}, &MachineFault::at);
    std::ranges::stable_sort(scenario.fibre_faults, {}, &FibreFault::at);
    return std::move(draw_);
  }

 private:
  /// In whole microseconds: files are easier to read.
  Duration between(Duration min, Duration max) {
    return std::chrono::duration_cast<std::chrono::microseconds>(random_.between(min, max));
  }
  Duration instant_of_fault(Duration lasts) { return between(kFaultsBegin, kFaultsEnd - lasts); }
  NodeId any_node() { return NodeId{random_.below(nodes_)}; }
  DeviceId any_device() { return DeviceId{random_.below(static_cast<std::uint32_t>(draw_.scenario.fabric->devices.size()))}; }
  bool is_on(FaultClass fault) const { return on_[static_cast<std::size_t>(fault)]; }

  template <class Add>
  void repeat(FaultClass fault, std::uint32_t most, Add add) {
    const std::uint32_t times = is_on(fault) ? 1 + random_.below(most) : 0;
    for (std::uint32_t i = 0; i < times; ++i) {
      add();
    }
  }

  /// A laser stays as its agent left it. Whoever dies, or hears nothing for longer than a guard, while it plays timeslots
  /// leaves its light in one of them, in the way of the others; no software that is left can prevent that, so it is no finding.
  void spare_agents_of_timeslots() {
    const auto plays = [&](const JobSubmission& job) {
      return is_oddl(draw_.fabric.family) && std::ranges::find(kExchanging, job.workload) != kExchanging.end();
    };
    if (std::ranges::any_of(draw_.scenario.jobs, plays)) {
      on_[static_cast<std::size_t>(FaultClass::agent_crash)] = false;
      slowest_ = kWithinGuard;
    }
  }

  void draw_job(std::uint32_t number) {
    JobSubmission job;
    job.name = format_text("job-{}", number);
    const bool exchanges = random_.chance(kHalf * 4 / 5);
    const std::uint32_t which = random_.below(3);
    job.workload = exchanges ? kExchanging[which] : kStatic[which];
    job.nodes = 2 + random_.below(std::max(nodes_ / 2, 2U) - 1);
    job.at = between(milliseconds{300}, seconds{5});
    const bool is_cancelled = random_.chance(kSometimes);
    const bool is_short = random_.chance(kSometimes);
    const Duration soon = between(milliseconds{5}, milliseconds{400});
    const Duration later = between(seconds{1}, seconds{4});
    job.runs_for = is_cancelled ? soon : is_short ? later : kForever;
    const bool granted = random_.chance(is_oddl(draw_.fabric.family) ? kSometimes : 0);
    job.transmit = granted ? Transmit::grants : Transmit::slots;
    draw_.scenario.jobs.push_back(std::move(job));
  }

  /// The first job moves another workload from then on.
  void draw_change() {
    const JobSubmission& changed = draw_.scenario.jobs.front();
    JobSubmission change;
    change.name = changed.name + "-changed";
    change.changes = changed.name;
    change.workload = kStatic[random_.below(3)];
    change.nodes = changed.nodes;
    change.at = changed.at + between(milliseconds{200}, seconds{3});
    draw_.scenario.jobs.push_back(std::move(change));
  }

  ScenarioAction& add_action(ActionKind kind, Duration at) {
    ScenarioAction action;
    action.kind = kind;
    action.at = at;
    draw_.scenario.actions.push_back(action);
    return draw_.scenario.actions.back();
  }

  void draw_lasers() {
    const Duration off = between(seconds{2}, seconds{6});
    const Duration rearm = off + between(milliseconds{200}, seconds{2});
    add_action(ActionKind::lasers, off).lasers_on = false;
    add_action(ActionKind::lasers, rearm).lasers_on = true;
  }

  /// What is begun is often ended again.
  void draw_action() {
    const Duration at = between(seconds{1}, seconds{6});
    const Duration later = at + between(milliseconds{100}, seconds{2});
    const NodeId node = any_node();
    const DeviceId device = any_device();
    const bool is_ended = random_.chance(kHalf);
    const bool is_forced = random_.chance(kSeldom);
    switch (random_.below(6)) {
      case 0:
        add_action(ActionKind::drain, at).node = node;
        draw_.scenario.actions.back().force = is_forced;
        if (is_ended) {
          add_action(ActionKind::undrain, later).node = node;
        }
        return;
      case 1:
        add_action(ActionKind::maintain, at).node = node;
        add_action(ActionKind::release, later).node = node;
        return;
      case 2:
        return draw_resize(at);
      case 3:
        add_action(ActionKind::reset, at).device = device;
        return;
      case 4:
        return draw_setting(at, later, device);
      default:
        add_action(ActionKind::schedule, at).rolls_back = false;
        if (is_ended) {
          add_action(ActionKind::schedule, later).rolls_back = true;
        }
    }
  }

  void draw_resize(Duration at) {
    const auto& jobs = draw_.scenario.jobs;
    const JobSubmission& job = jobs[random_.below(static_cast<std::uint32_t>(jobs.size()))];
    const std::uint32_t nodes = 2 + random_.below(std::max(nodes_ / 2, 2U) - 1);
    if (job.changes.empty()) {
      ScenarioAction& action = add_action(ActionKind::resize, std::max(at, job.at + milliseconds{1}));
      action.job = job.name;
      action.nodes = nodes;
    }
  }

  void draw_setting(Duration at, Duration later, DeviceId device) {
    const Fabric& fabric = *draw_.scenario.fabric;
    if (fabric.device(device).role == DeviceRole::transmitter) {
      ScenarioAction& action = add_action(ActionKind::darken, at);
      action.device = device;
      action.setpoint = dark_setpoint(fabric, device);
      add_action(ActionKind::clear, later).device = device;
    }
  }

  void draw_network() {
    if (!is_on(FaultClass::network)) {
      return;
    }
    NetworkFaults& network = draw_.scenario.network;
    network.loss = random_.below(100'000) * 1e-6;
    network.duplicate = random_.below(50'000) * 1e-6;
    network.reorder = random_.below(100'000) * 1e-6;
    network.delay_max = between(milliseconds{1}, milliseconds{3});
    network.until = kFaultsEnd;
  }

  void add_any(FaultClass fault) {
    if (!is_on(fault)) {
      return;
    }
    switch (fault) {
      case FaultClass::network:
        return;
      case FaultClass::partition:
        return add_partition();
      case FaultClass::controller_crash:
        return add_crash({});
      case FaultClass::agent_crash:
        return add_crash(any_node());
      case FaultClass::device:
        return add_device_fault();
      case FaultClass::disk:
        return add_full_disk();
      case FaultClass::power:
        return add_power_cycle();
      case FaultClass::untrue:
        return add_untrue();
      case FaultClass::slow:
        return add_slow();
      case FaultClass::clock:
        return add_clock();
      case FaultClass::takeover:
        return add_takeover();
      case FaultClass::interlock:
        return add_interlock();
    }
  }

  MachineFault& add_machine_fault(MachineFaultKind kind, std::optional<NodeId> node, Duration lasts) {
    MachineFault fault;
    fault.kind = kind;
    fault.node = node;
    fault.lasts = lasts;
    fault.at = instant_of_fault(lasts);
    draw_.scenario.machine_faults.push_back(fault);
    return draw_.scenario.machine_faults.back();
  }

  void add_partition() {
    const bool of_controller = random_.chance(kSometimes);
    const NodeId node = any_node();
    const Duration lasts = between(milliseconds{20}, kCutMax);
    add_machine_fault(MachineFaultKind::partition, of_controller ? std::nullopt : std::optional(node), lasts);
  }

  void add_crash(std::optional<NodeId> node) {
    const Duration down = between(milliseconds{5}, seconds{1});
    add_machine_fault(MachineFaultKind::crash, node, down);
  }

  /// A journal that refused a row takes none until its process starts again, which is what its alarm says.
  void add_full_disk() {
    const Duration lasts = between(milliseconds{50}, seconds{1});
    add_machine_fault(MachineFaultKind::disk_full, {}, lasts);
  }

  void add_slow() {
    const NodeId node = any_node();
    const Duration lasts = between(milliseconds{50}, seconds{2});
    const Duration delay = std::min<Duration>(between(milliseconds{1}, milliseconds{300}), slowest_);
    add_machine_fault(MachineFaultKind::slow, node, lasts).delay = delay;
  }

  void add_clock() {
    const NodeId node = any_node();
    const Duration lasts = between(milliseconds{50}, seconds{2});
    const bool drifts = random_.chance(kHalf);
    const Duration size = between(milliseconds{1}, milliseconds{200});
    const bool is_behind = random_.chance(kHalf);
    const auto ppm = static_cast<std::int64_t>(random_.below(20'000)) - 10'000;
    MachineFault& fault = add_machine_fault(drifts ? MachineFaultKind::clock_drift : MachineFaultKind::clock_step, node, lasts);
    fault.offset = drifts ? Duration{} : is_behind ? -size : size;
    fault.drift_ppm = drifts ? ppm : 0;
  }

  void add_takeover() {
    const Duration lasts = between(milliseconds{20}, seconds{2});
    add_machine_fault(MachineFaultKind::takeover, {}, lasts);
  }

  void add_interlock() {
    const NodeId node = any_node();
    const Duration lasts = between(milliseconds{5}, seconds{2});
    add_machine_fault(MachineFaultKind::interlock_open, node, lasts);
  }

  /// Drawn last of all classes, so that seeds from before there was this one draw what they drew.
  void draw_interlocks(std::uint32_t chance) {
    const bool drawn = random_.chance(chance);
    on_[kInterlock] = drawn && options_.allowed[kInterlock];
    repeat(FaultClass::interlock, 2, [this] { add_interlock(); });
  }

  void add_fault(DeviceId device, DeviceFaultKind kind, Duration lasts) {
    ScenarioFault fault;
    fault.device = device;
    fault.kind = kind;
    fault.lasts = lasts;
    fault.offset = kind == DeviceFaultKind::detune ? FrequencyOffset{30'000} : FrequencyOffset{};
    fault.loss = kind == DeviceFaultKind::dim ? Db{1'200} : Db{0};
    fault.delay = kind == DeviceFaultKind::late ? milliseconds{20} : Duration{};
    fault.at = instant_of_fault(fault.lasts);
    draw_.scenario.device_faults.push_back(fault);
  }

  void add_device_fault() {
    const DeviceId device = any_device();
    DeviceFaultKind kind = kDeviceFaults[random_.below(kDeviceFaults.size())];
    const bool is_of_lasers = kind == DeviceFaultKind::detune || kind == DeviceFaultKind::dim;
    if (is_of_lasers && draw_.scenario.fabric->device(device).role != DeviceRole::transmitter) {
      kind = DeviceFaultKind::silence;
    }
    add_fault(device, kind, between(milliseconds{50}, seconds{2}));
  }

  void add_power_cycle() {
    const DeviceId device = any_device();
    add_fault(device, DeviceFaultKind::reboot, between(milliseconds{20}, seconds{1}));
  }

  void add_untrue() {
    const std::uint32_t which = random_.below(3);
    const DeviceId device = any_device();
    const Duration lasts = between(milliseconds{50}, seconds{2});
    const DeviceRole role = draw_.scenario.fabric->device(device).role;
    const bool is_switch = role == DeviceRole::wavelength_switch || role == DeviceRole::circuit_switch;
    if (which == 2) {
      return add_fibre_fault(lasts);
    }
    add_fault(device, which == 1 && is_switch ? DeviceFaultKind::misroute : DeviceFaultKind::false_readback, lasts);
  }

  /// Cut, dirty, or two that end at elements of one kind exchanged, as plugs that fit.
  void add_fibre_fault(Duration lasts) {
    const Fabric& fabric = *draw_.scenario.fabric;
    constexpr std::array kKinds{FibreFaultKind::swap, FibreFaultKind::cut, FibreFaultKind::dirty};
    const auto kind_of = [&](FibreId fibre) { return fabric.element(fabric.fibres[fibre.value].to.element).kind.index(); };
    const auto fibres = static_cast<std::uint32_t>(fabric.fibres.size());
    FibreFault fault;
    fault.first = FibreId{random_.below(fibres)};
    fault.second = FibreId{random_.below(fibres)};
    fault.lasts = lasts;
    fault.at = instant_of_fault(lasts);
    fault.kind = kKinds[random_.below(kKinds.size())];
    if (fault.kind != FibreFaultKind::swap) {
      fault.second = {};
      fault.loss = Db{fault.kind == FibreFaultKind::dirty ? 1'200 : 0};
      draw_.scenario.fibre_faults.push_back(fault);
      return;
    }
    for (std::uint32_t tried = 0; tried < fibres; ++tried) {
      if (fault.first != fault.second && kind_of(fault.first) == kind_of(fault.second)) {
        draw_.scenario.fibre_faults.push_back(fault);
        return;
      }
      fault.second = FibreId{(fault.second.value + 1) % fibres};
    }
  }

  const SwarmOptions& options_;
  Random random_;
  SwarmDraw draw_;
  std::uint32_t nodes_ = 0;
  std::array<bool, kFaultClasses> on_{};
  Duration slowest_ = kForever;  ///< that a host is late
};

void count(SwarmResult& result, FaultClass fault, std::uint64_t times = 1) {
  result.faults[static_cast<std::size_t>(fault)] += static_cast<std::uint32_t>(times);
}

}  // namespace

std::string_view to_string(FaultClass fault) {
  static constexpr std::array<std::string_view, kFaultClasses> kWords{
      "network", "partition", "controller_crash", "agent_crash", "device", "disk", "power", "untrue",
      "slow",    "clock",     "takeover",         "interlock"};
  return kWords[static_cast<std::size_t>(fault)];
}

FaultClass class_of(DeviceFaultKind kind) {
  switch (kind) {
    case DeviceFaultKind::reboot:
      return FaultClass::power;
    case DeviceFaultKind::misroute:
    case DeviceFaultKind::false_readback:
      return FaultClass::untrue;
    default:
      return FaultClass::device;
  }
}

FaultClass class_of(const MachineFault& fault) {
  switch (fault.kind) {
    case MachineFaultKind::crash:
      return fault.node ? FaultClass::agent_crash : FaultClass::controller_crash;
    case MachineFaultKind::partition:
      return FaultClass::partition;
    case MachineFaultKind::disk_full:
      return FaultClass::disk;
    case MachineFaultKind::slow:
      return FaultClass::slow;
    case MachineFaultKind::clock_step:
    case MachineFaultKind::clock_drift:
      return FaultClass::clock;
    case MachineFaultKind::takeover:
      return FaultClass::takeover;
    case MachineFaultKind::interlock_open:
      return FaultClass::interlock;
  }
  return FaultClass::takeover;
}

Result<SwarmDraw> draw_swarm(const SwarmOptions& options) {
  Draw draw(options, 0x737761726d);
  LOOM_TRY(draw.begin(format_text("swarm-{}", options.seed)));
  draw.draw_jobs();
  draw.draw_churn();
  draw.draw_actions();
  draw.draw_classes();
  return draw.finish();
}

Result<SwarmDraw> draw_fault_file(const SwarmOptions& options) {
  Draw draw(options, 0x66617565);
  LOOM_TRY(draw.begin(format_text("faults-{}", options.seed)));
  draw.draw_jobs();
  draw.draw_any_faults();
  return draw.finish();
}

Result<SwarmResult> run_draw(const SwarmDraw& draw, bool pulses) {
  SimOptions options;
  options.pulses = pulses;
  options.seed = draw.scenario.seed;
  auto run = run_simulation(draw.scenario, options);
  if (!run) {
    return std::unexpected(std::move(run).error());
  }
  SwarmResult result;
  result.draw = draw;
  result.digest = run->digest;
  result.events = run->events;
  result.virtual_time = run->virtual_time;
  result.settled_after = run->settled_after;
  result.committed = run->revisions.committed;
  result.returned = run->revisions.returned;
  result.violations = std::move(run->violations);
  result.excused_count = run->excused_count;
  result.excusing = std::move(run->excusing);
  count(result, FaultClass::network, run->network.lost + run->network.doubled + run->network.reordered);
  for (const ScenarioFault& fault : draw.scenario.device_faults) {
    count(result, class_of(fault.kind));
  }
  for (const MachineFault& fault : draw.scenario.machine_faults) {
    count(result, class_of(fault));
  }
  count(result, FaultClass::untrue, draw.scenario.fibre_faults.size());
  return result;
}

Result<SwarmResult> run_swarm(const SwarmOptions& options) {
  auto draw = draw_swarm(options);
  return draw ? run_draw(*draw) : Result<SwarmResult>(std::unexpected(std::move(draw).error()));
}

}  // namespace loom
