// SPDX-License-Identifier: Apache-2.0
// What operators ask of a controller, and what it answers. Every order takes the road of docs/life_of_a_command.md: it is
// tried as a plan first, durable before it is answered, and answered with the revision that will carry it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/alarm.hpp"
#include "core/audit.hpp"
#include "core/demand.hpp"
#include "core/ids.hpp"
#include "core/messages/one_of.hpp"
#include "core/messages/report.hpp"
#include "core/messages/schedule_part.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace loom {

enum class Noun : std::uint8_t {
  status,
  nodes,
  devices,
  circuits,
  jobs,
  history,
  alarms,
  explanation,
  audit,
  schedules,
  calibrations,
  rings,
  receivers,
  ways
};

struct Query {
  Noun noun = Noun::status;
  std::optional<std::uint64_t> id{};  ///< one row; nodes, devices: dense id; others: their number, schedules: the job's
  std::uint32_t offset = 0;           ///< first row wanted
  std::uint32_t limit = 0;            ///< rows wanted; 0: as many as one message carries
  bool operator==(const Query&) const = default;
};

struct SubmitJob {
  JobSpec spec;
  bool dry_run = false;
  bool operator==(const SubmitJob&) const = default;
};

struct CancelJob {
  JobId job;
  bool dry_run = false;
  bool operator==(const CancelJob&) const = default;
};

/// Other traffic of a job that runs: what `spec` moves and computes from now on. It keeps its nodes, its name and its number.
struct ChangeJob {
  JobId job;
  JobSpec spec;  ///< of as many nodes
  bool dry_run = false;
  bool operator==(const ChangeJob&) const = default;
};

/// The job keeps its nodes as far as the new number goes; further ones are placed near them, surplus ones leave from the end.
struct ResizeJob {
  JobId job;
  std::uint32_t nodes = 0;
  bool dry_run = false;
  bool operator==(const ResizeJob&) const = default;
};

/// From now on the light of a job that runs follows its measured demand, or no longer. What its light is made for now stays.
struct AdaptJob {
  JobId job;
  bool on = true;
  bool operator==(const AdaptJob&) const = default;
};

/// A launcher that runs the job stands by it: before light of the job goes dark for a change it is asked to be quiet, and is
/// waited for. To be said again within ControllerTimings::attend_lease; answered with the job's row. Soft state, never planned.
struct AttendJob {
  JobId job;
  Revision quiet_for;  ///< the job sends nothing, and revisions up to this one may darken it; 0: it has not been asked
  bool operator==(const AttendJob&) const = default;
};

struct LasersRequest {
  bool on = false;
  bool operator==(const LasersRequest&) const = default;
};

enum class NodeAction : std::uint8_t {
  drain,     ///< no new jobs; running ones move to free nodes
  undrain,   ///< may get jobs again
  maintain,  ///< drained, dark and latched; nothing repairs it
  release,   ///< end of maintenance; stays drained
};
std::string_view to_string(NodeAction order);

struct NodeRequest {
  NodeId node;
  NodeAction order = NodeAction::drain;
  bool force = false;  ///< drain: keep jobs that find no other node; maintain: although it cannot be heard
  bool dry_run = false;
  bool operator==(const NodeRequest&) const = default;
};

/// A heater at a voltage. Setpoints are resonances: whoever knows the ring makes one of it.
struct HeaterByHand {
  std::uint32_t channel = 0;
  std::uint32_t millivolts = 0;
  bool operator==(const HeaterByHand&) const = default;
};

/// A setpoint by hand; none: the plan decides again.
struct DeviceRequest {
  DeviceId device;
  std::optional<Setpoint> setpoint;
  bool dry_run = false;
  std::vector<HeaterByHand> heaters{};  ///< of a bank, in place of what `setpoint` has of their channels
  bool operator==(const DeviceRequest&) const = default;
};

struct ResetRequest {
  DeviceId device;
  bool operator==(const ResetRequest&) const = default;
};

/// Light and heat to measure by, in place of what was asked for before; nothing: none any more. To be said again within
/// ControllerTimings::probe_lease, or it ends by itself. Answered with the revision that brings it.
struct ProbeLight {
  std::vector<Probe> probes;      ///< ascending transmitter
  std::vector<RingDrive> drives;  ///< ascending ring
  bool operator==(const ProbeLight&) const = default;
};

/// Light of a transmitter, at a receiver, beside what the fabric's figures say.
struct MeasuredChannel {
  ElementId transmitter;
  ElementId receiver;
  FrequencySlot slot;
  Db offset{0};
  std::optional<FrequencyOffset> detuning{};  ///< ChannelLight::detuning
  bool operator==(const MeasuredChannel&) const = default;
};

/// What was measured of banks and of lasers: from now on they are driven, and light is levelled, by it. A device without rings
/// or channels is as the fabric says again. `version` and `measured_at` are the controller's.
struct Calibrate {
  std::vector<DeviceCalibration> banks;  ///< ascending device
  bool dry_run = false;
  std::vector<MeasuredChannel> channels{};  ///< ascending (transmitter, slot), of lasers that `banks` do not name
  bool operator==(const Calibrate&) const = default;
};

struct AcknowledgeAlarm {
  AlarmId alarm;
  bool operator==(const AcknowledgeAlarm&) const = default;
};

/// One circuit of an operator's own schedule. Ends that are not named are the nodes' first free ones.
struct ScheduledCircuit {
  JobId job;
  NodeId source;
  NodeId destination;
  FrequencySlot slot;
  std::uint32_t timeslot = 0;  ///< of the job's present stage
  std::optional<ElementId> transmitter{};
  std::optional<ElementId> receiver{};
  bool operator==(const ScheduledCircuit&) const = default;
};

enum class ApplyMode : std::uint8_t {
  safe,       ///< refused if any circuit that is lit would be disturbed
  update,     ///< what the file names replaces what is in its way; the rest stays
  overwrite,  ///< exactly this: what the file does not name goes dark
};
std::string_view to_string(ApplyMode mode);

struct ApplySchedule {
  ApplyMode mode = ApplyMode::safe;
  std::vector<ScheduledCircuit> circuits;
  Duration confirm_within{};  ///< 0: it stays without being confirmed
  bool dry_run = false;
  bool operator==(const ApplySchedule&) const = default;
};

/// What was applied on trial stays.
struct ConfirmSchedule {
  bool operator==(const ConfirmSchedule&) const = default;
};

/// Back to jobs, pinned schedules and overrides of an earlier confirmed revision; 0: of the last one that had others.
/// Drained nodes, maintenance and the laser latch stay as they are now.
struct RollBackSchedule {
  Revision to;
  bool dry_run = false;
  bool operator==(const RollBackSchedule&) const = default;
};

/// Confirmed light against an earlier revision, against a list of circuits, or (neither) against what would be planned now.
struct DiffSchedule {
  std::optional<Revision> revision;
  std::optional<std::vector<ScheduledCircuit>> circuits;
  bool operator==(const DiffSchedule&) const = default;
};

using OperatorAsk =
    OneOf<Query, SubmitJob, CancelJob, LasersRequest, NodeRequest, DeviceRequest, ResetRequest, AcknowledgeAlarm, ApplySchedule,
          ConfirmSchedule, RollBackSchedule, DiffSchedule, ChangeJob, ResizeJob, AttendJob, AdaptJob, ProbeLight, Calibrate>;

struct OperatorRequest {
  RequestId request;  ///< unique for its principal: a request that is repeated is answered again and not obeyed twice
  OperatorAsk ask;
  bool operator==(const OperatorRequest&) const = default;
};

using ReplyRows =
    OneOf<std::monostate, StatusReport, std::vector<NodeReport>, std::vector<DeviceReport>, std::vector<CircuitReport>,
          std::vector<JobReport>, std::vector<CommitReport>, std::vector<StandingAlarm>, ChangeReport, CircuitExplanation,
          std::vector<AuditRecord>, std::vector<SchedulePart>, std::vector<CalibrationReport>, std::vector<RingReport>,
          std::vector<ReceiverReport>, std::vector<WayReport>>;

struct OperatorReply {
  RequestId request;
  Outcome outcome;
  JobId job{};
  ReplyRows rows{};              ///< of the noun that was asked for; ChangeReport of a dry run and a diff
  Revision revision{};           ///< the one that will carry the order out; 0: none needed
  std::uint32_t writes = 0;      ///< of a device reset: transactions that wrote; 0: it was as it shall be
  std::uint32_t total_rows = 0;  ///< of a query, all pages together
  bool operator==(const OperatorReply&) const = default;
};

}  // namespace loom
