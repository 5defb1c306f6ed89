// SPDX-License-Identifier: Apache-2.0
// Reports: what the controller can tell an operator about itself, as rows. The CLI turns them into tables and JSON.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/alarm.hpp"
#include "core/circuit.hpp"
#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/messages/iteration.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/ring/calibration.hpp"
#include "core/schedule.hpp"
#include "core/time.hpp"

namespace loom {

/// What one agent measured of one firing.
struct FireReport {
  Duration slack{};     ///< T - arrival of the arming
  Duration lateness{};  ///< first transaction after T
  Duration settle{};    ///< longest device
  Duration dark{};      ///< longest touched device, blank to light proven
  std::uint32_t writes = 0;
  bool operator==(const FireReport&) const = default;
};

/// Order statistics of one measured quantity over the agents of a commit.
struct Spread {
  Duration min{};
  Duration p50{};
  Duration p99{};
  Duration max{};
  std::uint32_t count = 0;
  bool operator==(const Spread&) const = default;
};

/// Sorts `values`; all zero when empty.
Spread spread_of(std::vector<Duration>& values);

enum class CommitOutcome : std::uint8_t { under_way, committed, returned, abandoned, refused };
std::string_view to_string(CommitOutcome outcome);

/// The stages of a commit in the order of their happening.
enum class CommitState : std::uint8_t { idle, planning, preparing, arming, firing, darkening, moving, relighting, confirmed };
std::string_view to_string(CommitState stage);

/// An isolation certificate with names instead of element numbers.
struct CertificateReport {
  bool wavelength_isolated = true;
  bool physically_isolated = true;
  std::vector<std::string> shared_amplifiers;
  LightMargins light;
  std::string weakest;   ///< the receiver of light.link_margin; empty: nothing is lit
  std::string noisiest;  ///< the receiver of light.crosstalk
  bool operator==(const CertificateReport&) const = default;
};

CertificateReport named(const IsolationCertificate& certificate, const Fabric& fabric);

struct CommitReport {
  Revision revision;
  Revision base;
  CommitOutcome outcome = CommitOutcome::under_way;
  std::string reason;        ///< why it began, and why it returned if it did
  std::uint32_t agents = 0;  ///< that took part
  std::uint32_t circuits = 0;
  std::uint32_t touched = 0;
  std::uint32_t switches_moved = 0;
  Instant started{};
  Duration plan{};     ///< worker time, verify included
  Duration prepare{};  ///< first prepare sent -> last ack
  Duration arm{};      ///< first arm sent -> last ack
  Duration wait{};     ///< all armed -> T
  Duration darken{};   ///< T -> all dark
  Duration move{};     ///< all dark -> all settled
  Duration relight{};  ///< all settled -> all applied
  Duration total{};
  Spread prepare_ack;  ///< per agent, from sending
  Spread arm_ack;
  Spread slack;
  Spread lateness;
  Spread dark;
  std::uint64_t resent = 0;  ///< messages repeated because no answer came in time
  CertificateReport certificate{};
  WallTime started_wall{};   ///< `started` on the wall
  std::string ordered_by{};  ///< principal whose request led to it; empty: the controller itself
  std::string slowest{};     ///< the device that promises to need longest for what it is told; empty: none needs any time
  Duration slowest_time{};   ///< that time: no controller brings light back sooner
  /// How long it was expected, before it began, to leave each circuit dark that it touches: that time and what commits of as
  /// many agents took beside it; of the first, that time alone. 0: it touches none.
  Duration dark_predicted{};
  bool operator==(const CommitReport&) const = default;
};

struct DriftCounts {
  std::uint32_t missing = 0;
  std::uint32_t foreign = 0;
  std::uint32_t detuned = 0;
  std::uint32_t dim = 0;
  std::uint32_t stale = 0;
  bool operator==(const DriftCounts&) const = default;
};

/// Why something that came in was not followed. Each kind is counted from the start of the controller.
enum class RefusalKind : std::uint8_t {
  malformed,     ///< does not decode, or is nothing that its kind of sender sends
  unauthorised,  ///< a key that the keyring does not have, or a node that the key may not speak for
  conflict,      ///< a second claimant of a node
  foreign,       ///< an agent that speaks of another node's devices
  implausible,   ///< a term, revision, instant or number beyond what any honest peer can say
  over_quota,    ///< more than one key may ask for at a time
  role,          ///< an order of a viewer's key
};
inline constexpr std::size_t kRefusalKinds = 7;
std::string_view to_string(RefusalKind kind);

/// Index: RefusalKind.
using RefusalCounts = std::array<std::uint64_t, kRefusalKinds>;

struct StatusReport {
  Term term;
  Revision revision;  ///< the last confirmed one
  std::string fabric;
  std::uint32_t nodes = 0;
  std::uint32_t live = 0;
  std::uint32_t suspect = 0;
  std::uint32_t dead = 0;  ///< includes never seen
  std::uint32_t jobs = 0;
  std::uint32_t circuits = 0;
  bool lasers_off = false;
  DriftCounts drift;
  CommitState stage = CommitState::idle;  ///< of the commit under way
  Revision under_way;
  std::uint32_t stage_done = 0;  ///< agents that have answered in this stage
  std::uint32_t stage_total = 0;
  std::uint64_t malformed = 0;       ///< messages dropped because they did not decode
  std::uint32_t alarms = 0;          ///< that stand and nobody has acknowledged
  Revision awaiting_confirm{};       ///< of a schedule on trial; 0: none
  Duration confirm_left{};           ///< until it returns by itself
  CertificateReport certificate{};   ///< of the confirmed revision
  RefusalCounts refusals{};          ///< since its start
  std::uint64_t keyring_digest = 0;  ///< of the keyring in force; 0: not known
  bool operator==(const StatusReport&) const = default;
};

struct NodeReport {
  NodeId node;
  std::string name;
  std::string session;  ///< state of the session table
  Revision applied;
  Duration silence{};  ///< since the last word; -1 ns: never heard
  bool lasers_latched_off = false;
  std::uint32_t devices = 0;
  bool drained = false;
  bool maintenance = false;
  std::vector<JobId> jobs{};   ///< placed on it
  std::string dark_because{};  ///< of a latch that the agent has closed by itself: what, and since when
  std::string turned_away{};   ///< why its last hello was refused; empty: it was not
  bool operator==(const NodeReport&) const = default;
};

/// How well a bank is known.
struct CalibrationAge {
  std::uint32_t version = 0;
  Duration age{};
  FrequencyOffset residual{0};  ///< of its worst ring
  bool operator==(const CalibrationAge&) const = default;
};

struct DeviceReport {
  DeviceId device;
  std::string name;
  DeviceRole role = DeviceRole::transmitter;
  NodeId agent;
  Observation observation;
  Drift drift = Drift::none;
  std::optional<Setpoint> desired{};  ///< first entry of its timeline in the confirmed plan
  bool by_hand = false;               ///< an operator's setpoint, see `device set`
  bool adopted = false;               ///< found by the controller, see `reconcile: adopt`
  std::uint32_t lit_ways = 0;         ///< of an OCS: inputs that light passes in the confirmed plan; the others are dark wires
  std::string unusable{};             ///< why plans do without it; empty: they do not
  std::string model{};                ///< of its driver, as files name it
  std::optional<CalibrationAge> calibration{};  ///< of a bank that was measured
  std::optional<Dbm> received{};                ///< strongest light that a monitor measures at it or right behind it
  bool operator==(const DeviceReport&) const = default;
};

/// What was measured of one bank, and what of its rings' heat is left.
struct CalibrationReport {
  DeviceCalibration calibration;
  std::string name;  ///< of the device
  Duration age{};
  bool in_force = true;  ///< false: the one before
  bool operator==(const CalibrationReport&) const = default;
};

/// One ring of a bank, as its fabric has it, with what could measure it.
struct RingReport {
  ElementId ring;
  std::string name;
  DeviceId bank;
  std::uint32_t channel = 0;   ///< in the bank
  std::uint32_t channels = 0;  ///< of the bank
  FrequencyOffset fwhm{0};
  FrequencyOffset free_spectral_range{0};
  Frequency cold_resonance;
  std::uint64_t shift = 0;  ///< kHz a V^2 of its own heater
  std::uint32_t millivolts_max = 0;
  bool calibrated = true;             ///< its figures are its own, by its maker
  ElementId receiver{};               ///< behind its drop
  std::optional<DeviceId> monitor{};  ///< that measures there: a monitor, or the module of that receiver; none: nothing does
  std::vector<Probe> lights{};        ///< that could come to it, of few transmitters, each one's by ascending frequency
  /// By how much its chip may warm, or cool, until its heater has nothing left to hold it where the plan wants it: of a ring
  /// that was measured, by light or its maker, and is wanted somewhere. By the kind's kRingMhzPerKelvin.
  std::optional<std::uint32_t> warmer_millikelvin{};
  std::optional<std::uint32_t> cooler_millikelvin{};
  std::string lock{};       ///< to_string(LockState); empty: its agent does not hold it
  FrequencyOffset trim{0};  ///< RingLock::trim
  bool operator==(const RingReport&) const = default;
};

/// What a monitor, or the module that it is in, measured at one receiver.
struct ReceiverReport {
  ElementId receiver;
  std::string name;
  DeviceId monitor;
  Dbm power{};                ///< of the strongest light there; kNoLight: none
  Duration age{};             ///< since it was measured
  bool since_commit = false;  ///< and that was after light was ordered otherwise for the last time
  bool operator==(const ReceiverReport&) const = default;
};

/// Lights that could come to a receiver that is measured, through whatever a plan could set.
struct WayReport {
  ElementId receiver;
  std::string name;
  DeviceId monitor;
  std::vector<Probe> lights{};          ///< of few transmitters, a job's left out; each one's by ascending frequency
  std::optional<Dbm> expected{};        ///< power that the light which the confirmed plan sends to it should have there
  std::optional<DeviceId> wavemeter{};  ///< that may see light which is sent there to be measured
  std::optional<Frequency> measured{};  ///< by it, since that light was set
  bool operator==(const WayReport&) const = default;
};

/// What was last measured of a circuit's light, from best to worst: a circuit is as well as the worst element of its way.
enum class LightState : std::uint8_t {
  lit,
  degraded,  ///< it passes, but weaker or further beside its place than the limits allow
  unknown,   ///< some element was never read, not for too long, or its driver gave up
  dark,
};
std::string_view to_string(LightState state);

struct CircuitReport {
  Circuit circuit;
  std::uint32_t timeslot = 0;
  std::string state;  ///< OCP's word for `light`: CONNECTED, PENDING_CONNECTION, FAILED; UNKNOWN
  LightState light = LightState::unknown;
  Duration age{-1};              ///< of the oldest reading that `light` rests on; -1 ns: some element was never read
  std::string why{};             ///< one sentence that names the element
  Proof proof = Proof::assumed;  ///< a monitor that measures its light, else the weakest word of the devices on its way
  bool operator==(const CircuitReport&) const = default;
};

struct JobReport {
  JobId job;
  std::string name;
  std::string workload;
  std::string state;   ///< pending, committing, lit, refused, ended
  std::string reason;  ///< of a refusal
  std::uint32_t stage = 0;
  std::uint32_t stages = 0;
  std::vector<NodeId> nodes;  ///< rank -> node; of a job that has ended, ascending
  Revision revision;          ///< that lit its present stage
  std::uint32_t cycles_done = 0;
  std::uint32_t underflows = 0;
  std::uint64_t iterations = 0;  ///< that were played, as far as its nodes told this incarnation of the controller
  std::uint64_t replayed = 0;    ///< passes that were an iteration once more, for timeslots had stayed dark
  Duration iteration_p50{};      ///< from one beginning to the next, of the last ones; 0: none, or its light stands
  Duration iteration_p99{};
  Duration iteration_predicted{};  ///< when its light was laid, every device at its worst; 0: not known, or training paces it
  IterationLedger ledger{};        ///< where the time of the same iterations went, their mean
  std::string slowest{};           ///< of the same, and why; empty: none yet
  std::string awaited{};           ///< whom it stands still for; empty: nobody
  bool pinned = false;             ///< its schedule is an operator's, not the scheduler's
  std::uint32_t forwarded_pairs = 0;   ///< of its nodes, that reach each other through others; see ForwardingTable
  std::uint32_t hops_most = 0;         ///< circuits one after the other between two of those
  std::uint32_t waiting_circuits = 0;  ///< that come or go with the revision that follows
  std::string note{};                  ///< which kind of schedule it has, and why
  bool attended = false;               ///< by a launcher that is asked before its light goes dark
  Revision quiesce{};                  ///< the revision that darkens light of it now or next; 0: none, it may send
  bool adapts = false;                 ///< its light follows its measured demand
  std::string declared{};              ///< demand of one iteration; empty: it has ended
  std::string measured{};              ///< empty: nothing yet, or it does not adapt
  std::string made_for{};              ///< which of both its light is made for
  std::string decision{};              ///< what is done about the measured demand, and why
  bool operator==(const JobReport&) const = default;
};

/// An alarm as it stands: one cause is one alarm that is counted. A cause is a code with its revision or, without one, with its
/// node and device.
struct StandingAlarm {
  AlarmId id;
  Alarm alarm;  ///< as raised last
  Instant first_seen{};
  Instant last_seen{};
  std::uint32_t count = 1;
  std::string acknowledged_by;   ///< empty: nobody yet
  bool cleared = false;          ///< its cause is known to be gone
  std::vector<NodeId> nodes{};   ///< that it was raised for, ascending; the first limits::kNodesPerAlarm of them
  std::uint32_t node_count = 0;  ///< all of them
  bool from_agent = false;       ///< its text is an agent's; else the controller's own
  WallTime first_seen_wall{};
  WallTime last_seen_wall{};
  bool operator==(const StandingAlarm&) const = default;
};

struct JobMove {
  JobId job;
  NodeId from;
  NodeId to;
  bool operator==(const JobMove&) const = default;
};

enum class CircuitChangeKind : std::uint8_t { removed, added, moved };
std::string_view to_string(CircuitChangeKind kind);

/// `moved`: the same ends and slot, but its light goes dark once because its way changes.
struct CircuitChange {
  CircuitChangeKind kind = CircuitChangeKind::added;
  Circuit circuit;
  bool operator==(const CircuitChange&) const = default;
};

/// What an order would change, or how two schedules differ.
struct ChangeReport {
  Revision base;               ///< what it was compared with
  std::uint32_t agents = 0;    ///< that would take part
  std::uint32_t circuits = 0;  ///< afterwards
  std::uint32_t touched = 0;   ///< circuits that go dark, begin or end
  std::uint32_t switches_moved = 0;
  Duration plan{};  ///< it took so long to plan and verify
  std::vector<JobMove> moves;
  std::vector<CircuitChange> changes;  ///< at most limits::kChangesPerReport; `touched` counts all
  CertificateReport certificate{};     ///< of the schedule that it leads to
  std::string slowest{};               ///< device that would take longest by itself, as CommitReport::slowest
  Duration slowest_time{};             ///< that it promises
  /// That its circuits would be dark for; slowest_time where this controller has measured no commit yet. 0: nothing goes dark,
  /// or nobody asked for a commit (a diff).
  Duration dark_predicted{};
  bool operator==(const ChangeReport&) const = default;
};

/// One element on the way of a circuit.
struct HopReport {
  ElementId element;
  std::string name;
  std::string kind;  ///< transmitter, wss, ring, ...
  std::uint16_t input = 0;
  std::uint16_t output = 0;
  Db loss{};                         ///< of the element, gain negative, and of the fibre behind it
  Dbm power_out{};                   ///< expected behind the element, before the fibre
  std::optional<DeviceId> device{};  ///< that holds it
  std::string desired;               ///< setpoint of the confirmed plan, as far as this circuit is concerned
  Revision applied{};                ///< of the device's agent
  std::string observed;
  Drift drift = Drift::none;
  std::string problem;  ///< empty, or what is wrong here
  bool operator==(const HopReport&) const = default;
};

/// A pair of a job's nodes between which others pass bytes on.
struct ForwardedPair {
  NodeId source;
  NodeId destination;
  std::vector<NodeId> through;  ///< in the order of travel, never empty
  bool operator==(const ForwardedPair&) const = default;
};

struct CircuitExplanation {
  CircuitReport circuit;
  Revision revision;
  std::string job_name;
  Dbm sensitivity{};  ///< of the receiver; compare the last hop's power
  std::vector<HopReport> hops;
  std::string verdict;                     ///< first thing that is wrong along the path, or that nothing is
  std::string next_command;                ///< what to type next
  std::vector<ForwardedPair> forwarded{};  ///< pairs whose traffic passes this circuit; at most kRoutesPerExplanation
  std::uint32_t forwarded_pairs = 0;       ///< all of them
  bool operator==(const CircuitExplanation&) const = default;
};

}  // namespace loom
