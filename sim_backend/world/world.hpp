// SPDX-License-Identifier: Apache-2.0
// World: controller, agents and operator of one scenario in one thread under virtual time, over simulated seams, with ground
// truth light and its judge beside them. The machines are the real ones, and so are Host, codec and drivers; what the judge
// knows flows from them to it and never back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agents/agent.hpp"
#include "controller/control/controller.hpp"
#include "controller/plan/plan_memory.hpp"
#include "core/config/scenario/scenario.hpp"
#include "runtime/host.hpp"
#include "sim_backend/judge/fault_excuse.hpp"
#include "sim_backend/judge/light_checker.hpp"
#include "sim_backend/judge/run_account.hpp"
#include "sim_backend/sim_triggers.hpp"
#include "sim_backend/traffic_source.hpp"
#include "sim_backend/training/training_process.hpp"
#include "sim_backend/world/fault_notices.hpp"
#include "sim_backend/world/operator_script.hpp"
#include "sim_backend/world/sim_bus.hpp"
#include "sim_backend/world/sim_disk.hpp"
#include "sim_backend/world/sim_network.hpp"
#include "sim_backend/world/troubled_host.hpp"
#include "sim_backend/world/virtual_loop.hpp"

namespace loom {

struct WorldOptions {
  std::uint64_t seed = 1;
  SimDeviceOptions devices;
  CheckerOptions checker;
  DiskOptions disk;
  JournalTail journal_tail;                          ///< of controller and agents: short ones have snapshots taken all the time
  Duration plan_min = std::chrono::milliseconds{2};  ///< how long the planning worker takes, in virtual time
  Duration plan_max = std::chrono::milliseconds{20};
  Duration operator_patience = std::chrono::seconds{3};  ///< see OperatorScript
  bool pulses = false;                                   ///< every agent is a process that pulses for itself (ADR 88)

  // Planted bugs: tests break the control plane here and demand that the judge notices. Empty in every honest run.
  std::function<void(Plan& plan)> plan_saboteur;                           ///< after verify
  std::function<void(Instant now, EffectSink& sink)> controller_saboteur;  ///< between the controller and its host
  std::function<void(NodeId node, EffectSink& sink)> agent_saboteur;       ///< between an agent and its host
};

class World {
 public:
  /// Precondition: scenario.fabric is indexed. `jobs`: what the operator shall do, ascending `at`.
  World(const Scenario& scenario, std::vector<ScriptedJob> jobs, const WorldOptions& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Every machine hears Started. Errors: storage.
  Result<void> start();
  void run_until(Instant end);
  /// Somebody types `loom lasers off` or `rearm`; whether that arrives is theirs to look after.
  void lasers_request(bool on);
  /// `kill -9` of a machine, from outside a step: machine and host are gone, of its disk stays what is durable, and
  /// `down_for` later a new incarnation starts from that (kForever: never). Dead already: nothing happens.
  void crash(Peer who, Duration down_for);
  /// The same at one of its kill points, counted from now. A step with m effects has m + 1 of them: before its effects,
  /// between any two, after them. Both counts begin anew with every call.
  void crash_at(Peer who, std::uint64_t kill_point, Duration down_for);
  /// Kill points of this machine since crash_at (kNoKillPoint: only count) was called for it.
  std::uint64_t kill_points(Peer who) const { return place_of(who).kill.passed; }
  static constexpr std::uint64_t kNoKillPoint = ~0ULL;
  bool is_up(Peer who) const { return place_of(who).host != nullptr && !place_of(who).dying; }
  std::uint32_t crashes() const { return crashes_; }
  /// Faults stop: the network only delays, everybody is joined, nobody submits any more.
  void calm();
  /// Why the world is not at rest, one sentence each; empty: every agent is present, the controller idle, every job lit,
  /// played, ended or refused with a reason, and ground truth is what the confirmed plan says (injected faults excused).
  std::vector<std::string> unsettled() const;
  /// Jobs whose plan the controller refused: name and reason.
  std::vector<std::string> refused_jobs() const;

  /// The controller's word about a job; empty while it is down.
  JobStatement word_of(JobId job) const;
  /// What is kept of the run for the account of its jobs.
  const RunHistory& history() const { return history_; }
  /// When operators were told of what was injected.
  const FaultNotices& notices() const { return notices_; }

  /// From now on light may be what it likes where this device makes it or lets it pass: somebody tampered with it.
  void excuse(const Device& device);
  /// A device's fault begins now, as if the scenario had it; it excuses what such a fault explains.
  void begin_fault(const ScenarioFault& fault);
  void begin_fibre_fault(const FibreFault& fault);

  VirtualLoop& loop() { return loop_; }
  Instant loop_now() const { return loop_.now(); }
  SimNetwork& network() { return *network_; }
  SimBus& bus() { return *bus_; }
  SimDisk& disk(Peer who) { return *place_of(who).disk; }
  const LightModel& light() const { return *light_; }
  const LightChecker& checker() const { return *checker_; }
  /// Precondition: is_up(controller_peer()).
  const Controller& controller() const { return *controller_; }
  const Agent& agent(NodeId node) const { return *agents_[node.value].machine; }
  Host& agent_host(NodeId node) { return *agents_[node.value].place.host; }
  const OperatorScript& script() const { return *script_; }

  std::uint64_t events() const;
  std::uint64_t digest() const { return digest_.value(); }
  std::uint64_t confirmed() const { return confirmed_; }
  std::uint64_t returned() const { return returned_; }
  std::uint64_t underflows() const;
  /// Of all machines, in order of their raising; the first thousand.
  const std::vector<Alarm>& alarms() const { return alarms_; }
  /// Sums over all hosts.
  HostCounters counters() const;

 private:
  struct KillSwitch {
    std::uint64_t at = kNoKillPoint;
    std::uint64_t passed = 0;
    Duration down_for{};
  };
  /// Where a machine lives: what survives it, and what dies with it.
  struct Place {
    std::unique_ptr<SimDisk> disk;
    MessageSeam* messages = nullptr;
    std::unique_ptr<TroubledHost> trouble;  ///< null: this host is never slow and its clock never wrong
    std::unique_ptr<Host> host;             ///< null: down
    KillSwitch kill;
    bool dying = false;  ///< until its host is gone, it hears nothing more
  };
  struct AgentMachine {
    Place place;
    std::unique_ptr<Agent> machine;
    std::unique_ptr<TrainingProcess> training;  ///< outlives its agent
  };
  void make_places();
  void make_controller();
  void make_agent(NodeId node);
  void make_operator(std::vector<ScriptedJob> jobs, const std::vector<ScenarioAction>& actions);
  // world_faults.cpp: what is done to devices and machines, and what that excuses
  void schedule_faults(const Scenario& scenario);
  void still_network();
  void note_change(DeviceId device);
  bool is_excused(ElementId transmitter, ElementId receiver) const;
  void inject_fault(const MachineFault& fault);
  // world_machines.cpp: hosts, fibres, and controllers that were replaced
  void make_troubled_hosts(const Scenario& scenario);
  void trouble(const MachineFault& fault);
  // world_interlocks.cpp: contacts, and who closes them again
  void read_contacts(NodeId node);
  void set_contact(NodeId node, bool open);
  void open_interlock(const MachineFault& fault);
  void rearm_until_lit(NodeId node);
  void note_rearm(const Event& event);
  void excuse_orders(const MachineFault& fault);
  void apply_fibre_faults();
  void take_over(Duration first_goes_on);
  /// Jobs of so many iterations end when their light has carried them.
  void watch_iterations(std::size_t entry, std::uint32_t looks);
  void report_traffic(const std::string& job);
  Result<void> revive(Peer who);
  void pass_kill_points(Peer who, EffectSink& sink);
  Place& place_of(Peer who) { return who == controller_peer() ? controller_machine_ : agents_[who.id].place; }
  const Place& place_of(Peer who) const { return who == controller_peer() ? controller_machine_ : agents_[who.id].place; }
  HostSeams seams_of(Place& place);
  void plan(std::shared_ptr<const PlanRequest> request, std::function<void(PlanOutcome)> done);
  void step_controller(Controller& machine, Instant now, const Event& event, EffectSink& sink);
  void watch_controller(Instant now, EffectSink& sink);
  /// Of a controller that another has taken over from.
  void watch_first_controller(EffectSink& sink);
  void watch_agent(Instant now, NodeId node, EffectSink& sink);
  void relearn(const Event& event);
  void watch_bounds();
  void keep_alarm(const Alarm& alarm);
  static void add_counters(HostCounters& sum, const HostCounters& counters);
  bool is_held_dark(JobId job) const;
  std::vector<std::string> unlit_jobs() const;
  void note_schedules(Instant now);

  std::shared_ptr<const Fabric> fabric_;
  const FabricIdentity identity_;
  std::string algorithm_;
  ControllerTimings timings_;
  DriftPolicy drift_policy_;
  AdaptPolicy adapt_policy_;
  TrainingHabits habits_;
  WorldOptions options_;
  VirtualLoop loop_;
  Digest digest_;
  Random plan_random_;
  PlanMemory plan_memory_;
  Random boot_random_;
  std::unique_ptr<SimNetwork> network_;
  std::unique_ptr<SimBus> bus_;
  std::unique_ptr<SimTriggers> triggers_;  ///< before it
  std::vector<TriggerLine> trigger_lines_;
  std::unique_ptr<LightModel> light_;
  std::unique_ptr<LightChecker> checker_;
  Place controller_machine_;
  std::unique_ptr<Controller> controller_;
  Place first_controller_machine_;  ///< while it goes on beside the one that took over from it
  std::unique_ptr<Controller> first_controller_;
  RevisionsRead rows_;                   ///< that the controller has written
  RevisionsRead first_controller_rows_;  ///< likewise
  std::vector<AgentMachine> agents_;     ///< by node
  std::unique_ptr<OperatorScript> script_;
  std::function<void()> pulse_;  ///< of every agent that has joined, and again; empty without WorldOptions::pulses
  TrafficSource traffic_{{}};
  std::unique_ptr<Host> operator_host_;
  MessageSeam* laser_requester_ = nullptr;  ///< of whoever orders lasers
  std::uint64_t laser_requests_ = 0;
  /// A device, or the ends of fibres, under a fault, from its beginning on.
  struct DeviceTrouble {
    std::vector<ElementId> elements;
    std::string text;
    Instant from{};
    Instant to = kNever;
    FaultExcuse excuse;
  };
  std::vector<DeviceTrouble> troubles_;
  /// A node, or the controller with all of them, under a fault that keeps it from hearing or following.
  struct MachineTrouble {
    std::optional<NodeId> node;  ///< none: the controller
    Instant from{};
    Instant to = kNever;
  };
  std::vector<MachineTrouble> machine_troubles_;
  Instant rearmed_at_{};                  ///< when a controller last recorded that an operator had rearmed
  std::uint64_t last_rearm_ = 0;          ///< that order's number
  std::set<NodeId> unseen_contacts_;      ///< opened while their agent's process was dead, and not read since
  std::map<NodeId, int> open_contacts_;   ///< how many faults hold a node's contact open; absent: none ever did
  std::vector<FibreFault> fibre_faults_;  ///< now
  RunHistory history_;
  FaultNotices notices_;
  Revision scheduled_;                            ///< whose schedules history_ has
  mutable std::shared_ptr<const Plan> paths_of_;  ///< paths_ are of this plan
  mutable std::map<ElementId, std::set<ElementId>> paths_;
  std::vector<Alarm> alarms_;
  std::uint64_t confirmed_ = 0;
  std::uint64_t returned_ = 0;
  std::uint64_t late_firings_ = 0;
  std::uint32_t crashes_ = 0;
  HostCounters buried_;  ///< of hosts that died
};

}  // namespace loom
