// SPDX-License-Identifier: Apache-2.0
// Messages: what controller, agents and operators say to each other, as values. proto/codec is the only place that turns
// them into bytes. Every request of a commit is idempotent and is repeated by the controller until it is answered, so a
// network that loses, doubles, delays or reorders changes when something happens, never what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/alarm.hpp"
#include "core/demand.hpp"
#include "core/fabric/fabric_identity.hpp"
#include "core/grant.hpp"
#include "core/ids.hpp"
#include "core/messages/iteration.hpp"
#include "core/messages/one_of.hpp"
#include "core/messages/operator.hpp"
#include "core/messages/report.hpp"
#include "core/messages/role.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "core/traffic.hpp"

namespace loom {

inline constexpr std::uint32_t kWireVersion = 1;

/// Processes that host agents of one installation.
inline constexpr std::size_t kPeerProcesses = 4'096;

/// Whom a message goes to or came from. Agents by node id, operators by the id that the transport gave their connection.
struct Peer {
  enum class Kind : std::uint8_t { controller, agent, operator_ };
  Kind kind = Kind::controller;
  std::uint64_t id = 0;
  auto operator<=>(const Peer&) const = default;
};

constexpr Peer controller_peer() { return {Peer::Kind::controller, 0}; }
constexpr Peer agent_peer(NodeId node) { return {Peer::Kind::agent, node.value}; }

// --- agent -> controller -------------------------------------------------------------------------------------------------

struct DeviceState {
  DeviceId device;
  DeviceHealth health = DeviceHealth::unknown;
  bool operator==(const DeviceState&) const = default;
};

/// A latch that an agent has closed by itself, while it stands.
struct OwnLatch {
  std::uint64_t number = 0;  ///< counted by the agent, from 1; 0: none stands
  std::string cause;         ///< "interlock contact door is open since ..."
  bool operator==(const OwnLatch&) const = default;
};

/// First words of an agent, repeated until welcomed.
struct Hello {
  std::string software;
  std::uint64_t boot_id = 0;  ///< changes with every start of the agent
  Term term_seen;
  Revision applied;                 ///< 0: nothing since start
  bool lasers_latched_off = false;  ///< by an order to all or by itself, or a contact is not known to be closed
  std::vector<DeviceState> devices;
  OwnLatch own_latch{};
  FabricIdentity fabric{};        ///< that its process was started with
  std::string listens_at{};       ///< endpoint at which its process is found by agents of other hosts; empty: none is told
  bool node_latched_off = false;  ///< by an order about this node alone
  bool operator==(const Hello&) const = default;
};

/// Staged and lawful; nothing has moved. `lead`: how long before T the agent must be armed.
struct Prepared {
  Outcome outcome;
  Duration lead{};
  bool operator==(const Prepared&) const = default;
};

struct Armed {
  Outcome outcome;
  Duration slack{};  ///< T - now at the agent when it armed
  bool operator==(const Armed&) const = default;
};

/// Every touched transmitter of this agent is proven dark.
struct Darkened {
  Outcome outcome;
  Duration lateness{};  ///< when it fired, after T
  bool operator==(const Darkened&) const = default;
};

/// Every device of this agent that moves in this revision has settled where it shall be, in the dark.
struct Settled {
  Outcome outcome;
  Duration settle{};
  bool operator==(const Settled&) const = default;
};

/// Everything that shall emit does, and the reading agrees (in a timeline: the first timeslot was played).
struct Applied {
  Outcome outcome;
  FireReport fire;
  bool operator==(const Applied&) const = default;
};

/// All cycles of the timeline were played.
struct CycleDone {
  std::uint32_t cycles = 0;
  std::uint32_t underflows = 0;  ///< timeslots that stayed dark because a device was late
  bool operator==(const CycleDone&) const = default;
};

struct Heartbeat {
  Revision applied;
  Revision confirmed;
  bool lasers_latched_off = false;  ///< by an order to all or by itself, or a contact is not known to be closed
  OwnLatch own_latch{};
  std::uint64_t peers_digest = 0;  ///< of the PeerAddresses that it was told last; 0: none
  bool node_latched_off = false;   ///< by an order about this node alone
  bool operator==(const Heartbeat&) const = default;
};

/// One sign of life for agents of one process, whose heartbeats come seldom while nothing about them is news.
struct Pulse {
  std::vector<NodeId> nodes;  ///< ascending; each has joined and is of the speaker's process
  bool operator==(const Pulse&) const = default;
};

struct ObservationReport {
  std::vector<Observation> observations;
  bool operator==(const ObservationReport&) const = default;
};

struct AlarmReport {
  Alarm alarm;
  bool operator==(const AlarmReport&) const = default;
};

/// Answer to ResetDevice: what the device is after it was read back and set again.
struct DeviceReset {
  DeviceId device;
  std::uint64_t order = 0;
  Outcome outcome;
  std::uint32_t writes = 0;  ///< transactions that wrote; 0: it was as it shall be
  Observation observation;
  bool operator==(const DeviceReset&) const = default;
};

// --- controller -> agent -------------------------------------------------------------------------------------------------

struct Welcome {
  Duration heartbeat_interval{};
  Revision confirmed;
  bool operator==(const Welcome&) const = default;
};

/// The hello was refused; the agent says why aloud and tries again later.
struct Unwelcome {
  Error error;
  bool operator==(const Unwelcome&) const = default;
};

struct Prepare {
  NodePlan plan;
  bool operator==(const Prepare&) const = default;
};

struct Arm {
  Instant fire_at{};  ///< T, on the envelope's clock
  bool operator==(const Arm&) const = default;
};

/// Everybody is armed, and that is durable. `fire_at`: sooner than T, if it can be heard sooner; not before it is heard.
struct Go {
  Instant fire_at = kNever;  ///< on the envelope's clock; kNever: at T
  bool operator==(const Go&) const = default;
};

enum class CommitPhase : std::uint8_t {
  move,     ///< every touched transmitter of the fabric is dark: switches may move
  relight,  ///< every moved device has settled: light at `at`, timelines count from there
};

struct Proceed {
  CommitPhase phase = CommitPhase::move;
  Instant at{};
  bool operator==(const Proceed&) const = default;
};

struct Confirm {
  bool operator==(const Confirm&) const = default;
};

/// Forget the revision that was prepared or armed; light that is already dark for it stays dark.
struct Abandon {
  bool operator==(const Abandon&) const = default;
};

/// lasers off: darken everything and latch. rearm: lift the latch; light returns only with the next commit. What is ordered of
/// one node and what is ordered of all are two latches: neither lifts the other.
struct SetLasers {
  bool on = false;
  std::uint64_t order = 0;      ///< rises with every order; an older one about the same latch is ignored
  std::uint64_t own_latch = 0;  ///< of a rearm: the OwnLatch that its operator knew of and means to lift; 0: none
  bool of_node = false;         ///< about this node alone, for maintenance
  bool operator==(const SetLasers&) const = default;
};

/// Controller's sign of life, so that an agent knows silence when it hears it.
struct Beat {
  Revision confirmed;
  bool operator==(const Beat&) const = default;
};

/// Read the device back and bring it to its setpoint again, as if it had just been found. Repeated until answered; an order
/// that was obeyed is answered again and not obeyed twice.
struct ResetDevice {
  DeviceId device;
  std::uint64_t order = 0;  ///< rises with every order of one controller term
  bool operator==(const ResetDevice&) const = default;
};

/// Where a process is found by the others.
struct PeerAddress {
  NodeId node;           ///< one that it hosts
  std::string endpoint;  ///< as it said itself
  bool operator==(const PeerAddress&) const = default;
};

/// Where the processes of all hosts listen for each other, as each has told the controller. Sent to one agent a process, until
/// its heartbeat has the digest.
struct PeerAddresses {
  std::vector<PeerAddress> peers;  ///< ascending node
  std::uint64_t digest = 0;        ///< of `peers`; never 0
  bool operator==(const PeerAddresses&) const = default;
};

// --- agent -> agent ------------------------------------------------------------------------------------------------------

/// A word of the fast plane. The envelope's revision is the one that laid the light in question.
struct GrantPlaneMessage {
  GrantMessage message;
  bool operator==(const GrantPlaneMessage&) const = default;
};

using Body = OneOf<Hello, Prepared, Armed, Darkened, Settled, Applied, CycleDone, Heartbeat, ObservationReport, TrafficReport,
                   AlarmReport, Welcome, Unwelcome, Prepare, Arm, Go, Proceed, Confirm, Abandon, SetLasers, Beat,
                   OperatorRequest, OperatorReply, ResetDevice, DeviceReset, GrantPlaneMessage, PassReady, PassBegin,
                   IterationReport, PeerAddresses, Pulse>;

/// What every message carries from the first line on.
struct Envelope {
  std::uint32_t wire_version = kWireVersion;
  std::string principal;  ///< who speaks; the transport overwrites it with the user id of the key that it verified
  Role role = Role::agent;
  Term term;
  NodeId node;        ///< the agent that speaks or is spoken to
  ClockId clock;      ///< the clock of every instant inside
  Revision revision;  ///< the revision that the body is about
  Body body;
  bool operator==(const Envelope&) const = default;
};

}  // namespace loom
