// SPDX-License-Identifier: Apache-2.0
// Agent: one node's step machine. It hears the controller, plays the node's timelines, guards its lasers, and drives its
// devices through their drivers; it never sees a socket, a bus, a clock or a disk (runtime/host.hpp does). It stands between
// the road of docs/life_of_an_update.md and drivers/. With the controller gone it keeps the last good light.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agents/commit/commit.hpp"
#include "agents/commit/timelines.hpp"
#include "agents/devices/audit.hpp"
#include "agents/devices/device_resets.hpp"
#include "agents/devices/device_units.hpp"
#include "agents/devices/interlock.hpp"
#include "agents/envelope_sender.hpp"
#include "agents/grant/plane.hpp"
#include "agents/host_facts.hpp"
#include "agents/life_signs.hpp"
#include "agents/lock/ring_locks.hpp"
#include "agents/requests_here.hpp"
#include "agents/session.hpp"
#include "agents/traffic/traffic_folder.hpp"
#include "core/step.hpp"

namespace loom {

struct AgentOptions {
  NodeId node;
  std::shared_ptr<const Fabric> fabric;
  std::string software;
  FabricIdentity identity{};      ///< of the fabric, once for all agents of a process; without a digest nothing is said
  std::vector<EdgeLine> edges{};  ///< that fire devices of this node
  std::string listens_at{};       ///< where agents of other hosts find this process; empty: nowhere
  Duration hello_interval = std::chrono::milliseconds{200};
  Duration heartbeat_interval = std::chrono::milliseconds{500};  ///< until a Welcome says otherwise
  bool is_pulsed = false;  ///< the process delivers PulseDue to one of its agents, every heartbeat interval
  Duration audit_interval = std::chrono::seconds{1};  ///< one device is read each time
  Duration report_interval = std::chrono::seconds{10};
  Duration lock_interval = std::chrono::milliseconds{250};  ///< between two looks at a bank of rings that are held
  /// How long before T the agent must be armed: time for an audit that is under way to leave the bus.
  Duration arm_lead = std::chrono::milliseconds{2};
  Duration late_limit = std::chrono::milliseconds{1};  ///< firing later than this after T raises fire_underflow
};

struct AgentCounters {
  std::uint64_t stale_term = 0;       ///< words of a fenced controller
  std::uint64_t misdirected = 0;      ///< words for another node or from somebody else than the controller
  std::uint64_t refused = 0;          ///< by the transport, or because they did not decode
  std::uint64_t implausible = 0;      ///< messages of a controller that no honest one sends
  std::uint64_t unexpected = 0;       ///< lawful messages that no agent expects
  std::uint64_t foreign_replies = 0;  ///< bus replies to no transaction of ours
};

class Agent {
 public:
  /// `drivers`: in the order of fabric->devices_of_agent[node]; options.fabric is indexed (build_index).
  Agent(const AgentOptions& options, std::vector<std::unique_ptr<Driver>> drivers);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// Real-time safe for the events that fire at T or at a timeslot's edge, as far as lasers go: what allocates is the
  /// driver's Transaction and a sink that has not been warmed.
  void step(Instant now, const Event& event, EffectSink& sink);

  const AgentCommit& commit() const { return commit_; }
  const Session& session() const { return session_; }
  const Interlock& interlock() const { return interlock_; }
  const Timelines& timelines() const { return timelines_; }
  const GrantPlane& grants() const { return grants_; }
  const PassBarrier& barrier() const { return barrier_; }
  /// See GrantPlane::take_times(): for whoever measures.
  std::vector<GrantTimes> take_grant_times() { return grants_.take_times(); }
  const DeviceUnits& units() const { return units_; }
  const AgentCounters& counters() const { return counters_; }
  const TrafficFolder& traffic() const { return traffic_; }
  Term term() const { return envelopes_.term; }
  NodeId node() const { return options_.node; }

 private:
  void start(StepContext context, const Started& started);
  void receive(StepContext context, const MessageArrived& message);
  void receive_peer(StepContext context, const MessageArrived& message);
  void receive_operator(StepContext context, const MessageArrived& message);
  void handle(StepContext context, const Envelope& envelope);
  bool handle_commit(StepContext context, const Envelope& envelope);
  void note_refused(StepContext context, const MessageRefused& refused);
  void refuse_implausible(StepContext context, const Envelope& envelope, const std::string& fault);
  void refuse_stale_term(StepContext context, const Envelope& envelope);
  void adopt_term(StepContext context, Term term);
  void set_lasers(StepContext context, const SetLasers& order);
  void contact(StepContext context, const InterlockChanged& change);
  void keep_latch(StepContext context, const LatchRecord& before, bool was_barred);
  void latch(StepContext context);
  void darken_lasers(StepContext context);
  void advance_interlock(StepContext context);
  void advance(StepContext context);
  void speak(StepContext context);
  void send_hello(StepContext context);
  std::string wall_text(StepContext context) const;
  NodeReport row() const;
  void send_traffic(StepContext context);

  AgentOptions options_;
  EnvelopeSender envelopes_;
  HostFacts host_;
  DeviceUnits units_;
  Timelines timelines_;
  SoftwareExecutor executor_;
  GrantPlane grants_;
  PassBarrier barrier_;
  AgentCommit commit_;
  Interlock interlock_;
  LifeSigns signs_;
  Session session_;
  Audit audit_;
  RingLocks locks_;
  DeviceResets resets_;
  RequestsHere requests_here_;
  TrafficFolder traffic_;
  TrafficReport sent_traffic_;  ///< the last one
  Instant traffic_sent_at_{};
  AgentCounters counters_;
  Instant implausible_reported_{};
  Instant refused_reported_{};
  std::uint64_t boot_id_ = 0;
  Duration wall_offset_{};
  bool started_ = false;
  bool greeted_ = false;       ///< the first hello went out
  Revision reported_applied_;  ///< all observations were reported since this was applied
  bool knows_all_ = false;     ///< the controller that welcomed us was sent all observations
  Deadline darken_again_{kInterlockTimer};
  bool darkens_ = false;  ///< devices are the interlock's until they are dark
};

}  // namespace loom
