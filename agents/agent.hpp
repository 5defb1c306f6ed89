// Agent: one node's step machine. It hears the controller, plays the node's timelines, guards its lasers, and drives its
// devices through their drivers; it never sees a socket, a bus, a clock or a disk (runtime/host.hpp does). It stands between
// the road of docs/life_of_an_update.md and drivers/. With the controller gone it keeps the last good light.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agents/audit.hpp"
#include "agents/commit.hpp"
#include "agents/device_resets.hpp"
#include "agents/grant/plane.hpp"
#include "agents/interlock.hpp"
#include "agents/lanes.hpp"
#include "agents/orders_here.hpp"
#include "agents/session.hpp"
#include "agents/timelines.hpp"
#include "agents/traffic/traffic_folder.hpp"
#include "agents/voice.hpp"
#include "core/step.hpp"

namespace loom {

struct AgentOptions {
  NodeId node;
  std::shared_ptr<const Fabric> fabric;
  std::string software;
  Duration hello_interval = std::chrono::milliseconds{200};
  Duration heartbeat_interval = std::chrono::milliseconds{500};  ///< until a Welcome says otherwise
  Duration audit_interval = std::chrono::seconds{1};             ///< one device is read each time
  Duration report_interval = std::chrono::seconds{10};
  /// How long before T the agent must be armed: time for an audit that is under way to leave the bus.
  Duration arm_lead = std::chrono::milliseconds{2};
  Duration late_limit = std::chrono::milliseconds{1};  ///< firing later than this after T raises fire_underflow
};

struct AgentCounters {
  std::uint64_t stale_term = 0;       ///< words of a fenced controller
  std::uint64_t misdirected = 0;      ///< words for another node or from somebody else than the controller
  std::uint64_t implausible = 0;      ///< words of a controller that no honest one says
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

  const Commit& commit() const { return commit_; }
  const Session& session() const { return session_; }
  const Interlock& interlock() const { return interlock_; }
  const Timelines& timelines() const { return timelines_; }
  const GrantPlane& grants() const { return grants_; }
  /// See GrantPlane::take_times(): for whoever measures.
  std::vector<GrantTimes> take_grant_times() { return grants_.take_times(); }
  const DeviceLanes& lanes() const { return lanes_; }
  const AgentCounters& counters() const { return counters_; }
  const TrafficFolder& traffic() const { return traffic_; }
  Term term() const { return voice_.term; }

 private:
  void start(Turn turn, const Started& started);
  void hear(Turn turn, const MessageArrived& message);
  void hear_peer(Turn turn, const MessageArrived& message);
  void hear_operator(Turn turn, const MessageArrived& message);
  void obey(Turn turn, const Envelope& envelope);
  bool obey_commit(Turn turn, const Envelope& envelope);
  void refuse_implausible(Turn turn, const Envelope& envelope, const std::string& fault);
  void refuse_stale_term(Turn turn, const Envelope& envelope);
  void adopt_term(Turn turn, Term term);
  void set_lasers(Turn turn, const SetLasers& order);
  void contact(Turn turn, const InterlockChanged& change);
  void keep_latch(Turn turn, const LatchRecord& before, bool was_barred);
  void latch(Turn turn);
  void darken_lasers(Turn turn);
  void advance_interlock(Turn turn);
  void advance(Turn turn);
  void tell_failures(Turn turn);
  void speak(Turn turn);
  void say_hello(Turn turn);
  void say_heartbeat(Turn turn);
  std::string wall_text(Turn turn) const;
  NodeReport row() const;
  void say_traffic(Turn turn);

  AgentOptions options_;
  Voice voice_;
  DeviceLanes lanes_;
  Timelines timelines_;
  SoftwareExecutor executor_;
  GrantPlane grants_;
  Commit commit_;
  Interlock interlock_;
  Session session_;
  Audit audit_;
  DeviceResets resets_;
  OrdersHere orders_here_;
  TrafficFolder traffic_;
  TrafficReport said_traffic_;  ///< the last one
  Instant traffic_said_at_{};
  AgentCounters counters_;
  Instant implausible_told_{};
  std::uint64_t boot_id_ = 0;
  Duration wall_offset_{};
  bool started_ = false;
  bool greeted_ = false;       ///< the first hello went out
  Revision reported_applied_;  ///< all observations were reported since this was applied
  bool knows_all_ = false;     ///< the controller that welcomed us was sent all observations
  Deadline darken_again_{kInterlockTimer};
};

}  // namespace loom
