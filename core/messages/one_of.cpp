// SPDX-License-Identifier: Apache-2.0
// The variants that hundreds of files pass on: what copies, moves, compares and ends them is compiled here. An alias that
// names a list which is not here does not link.
#include "core/messages/one_of.hpp"

#include "core/fabric/fabric.hpp"
#include "core/grant.hpp"
#include "core/journal/journal.hpp"
#include "core/message.hpp"
#include "core/messages/one_of_members.hpp"
#include "core/messages/operator.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/step.hpp"

namespace loom {

template class OneOf<Transmitter, Receiver, Coupler, WavelengthSelectiveSwitch, ArrayedWaveguideGrating, Amplifier, RingFilter,
                     OpticalCircuitSwitch, PatchPanel, Attenuator, Tap, PacketSwitch>;  // ElementKind
template class OneOf<TransmitterSetpoint, FilterSetpoint, WavelengthSwitchSetpoint, CircuitSwitchSetpoint, MonitorSetpoint,
                     GainSetpoint>;  // Setpoint
template class OneOf<std::monostate, TransmitterObservation, FilterObservation, WavelengthSwitchObservation,
                     CircuitSwitchObservation, MonitorObservation, GainObservation>;                         // Reading
template class OneOf<StreamRequest, StreamAccept, StreamRefusal, StreamRelease, StreamQueued, StreamGrant>;  // GrantMessage
template class OneOf<TermRecord, IntentRecord, CommitRecord, LatchRecord, SnapshotRecord, AuditRecord>;      // Record
template class OneOf<Query, SubmitJob, CancelJob, LasersRequest, NodeRequest, DeviceRequest, ResetRequest, AcknowledgeAlarm,
                     ApplySchedule, ConfirmSchedule, RollBackSchedule, DiffSchedule, ChangeJob, ResizeJob, AttendJob, AdaptJob,
                     ProbeLight, Calibrate>;  // OperatorAsk
template class OneOf<std::monostate, StatusReport, std::vector<NodeReport>, std::vector<DeviceReport>,
                     std::vector<CircuitReport>, std::vector<JobReport>, std::vector<CommitReport>, std::vector<StandingAlarm>,
                     ChangeReport, CircuitExplanation, std::vector<AuditRecord>, std::vector<SchedulePart>,
                     std::vector<CalibrationReport>, std::vector<RingReport>, std::vector<ReceiverReport>,
                     std::vector<WayReport>>;  // ReplyRows
template class OneOf<Hello, Prepared, Armed, Darkened, Settled, Applied, CycleDone, Heartbeat, ObservationReport, TrafficReport,
                     AlarmReport, Welcome, Unwelcome, Prepare, Arm, Go, Proceed, Confirm, Abandon, SetLasers, Beat,
                     OperatorRequest, OperatorReply, ResetDevice, DeviceReset, GrantPlaneMessage, PassReady, PassBegin,
                     IterationReport, PeerAddresses, Pulse>;  // Body
template class OneOf<Started, MessageArrived, MessageRefused, TimerFired, BusReplied, Appended, AppendFailed, Planned,
                     InterlockChanged, TrafficReceived, KeysChanged, TrainingReady, ClockJudged, PeersListen,
                     PulseDue>;  // Event
template class OneOf<Send, SetTimer, CancelTimer, Transact, Append, MakePlan, RaiseAlarm, TellTraining,
                     LearnPeers>;  // Effect

}  // namespace loom
