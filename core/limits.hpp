// SPDX-License-Identifier: Apache-2.0
// A limit on every input, in one place. Whoever refuses something prints the limit and its name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace loom::limits {

inline constexpr std::size_t kNodes = 65'536;
inline constexpr std::size_t kElements = 4'194'304;
inline constexpr std::size_t kFibres = 8'388'608;
inline constexpr std::size_t kDevicesPerNode = 256;
inline constexpr std::size_t kTimelineEntries = 4'096;  ///< timeslots of one device in one revision
inline constexpr std::size_t kWssRoutes = 1'024;        ///< frequency slots of one WSS
inline constexpr std::size_t kRingsPerBank = 64;
inline constexpr std::size_t kChannelsPerLaser = 1'024;
inline constexpr std::size_t kMeasuredChannels = 65'536;  ///< that one request tells
inline constexpr std::size_t kCalibrationsKept = 2;       ///< of one device: in force, and the one before
inline constexpr std::size_t kProbes = 65'536;            ///< lights, and heaters, that are given to be measured at once
inline constexpr std::size_t kLightReadings = 1024;       ///< of one monitor: channels by peaks
inline constexpr std::size_t kSetpointsHeld = 64;  ///< that a device may hold before it moves: confirmed, uncertain, observed
inline constexpr std::size_t kMessageBytes = 4u << 20;  ///< one envelope on the wire
inline constexpr std::size_t kFrameBytes = 64u << 20;   ///< a batch of envelopes
inline constexpr std::size_t kEnvelopesPerFrame = 65'536;
inline constexpr std::size_t kTextBytes = 4'096;  ///< any human-readable field
inline constexpr std::size_t kCollectivesPerJob = 65'536;
inline constexpr std::size_t kTasksPerGraph = 1u << 22;
inline constexpr std::size_t kMembersPerGraph = 1u << 26;      ///< of all families of a task graph
inline constexpr std::size_t kPairsPerCollective = 1u << 24;   ///< transfers that an algorithm's rounds spell out
inline constexpr std::size_t kSplitsPerCollective = 1u << 18;  ///< uneven all-to-all of 512 ranks
inline constexpr std::size_t kJobs = 4'096;
inline constexpr std::size_t kConfigFileBytes = 16u << 20;
inline constexpr std::size_t kTraceFileBytes = 1u << 30;
inline constexpr std::size_t kObservationsPerReport = 4'096;
inline constexpr std::size_t kDevices = kNodes * kDevicesPerNode;
inline constexpr std::size_t kCircuits = 4'194'304;       ///< of one plan, all timeslots
inline constexpr std::size_t kTextsPerList = 1'024;       ///< assumptions and the like
inline constexpr std::size_t kChangesPerReport = 10'000;  ///< circuits that a dry run or a diff names
inline constexpr std::size_t kNodesPerAlarm = 64;         ///< that one alarm names; it counts them all
inline constexpr std::size_t kHopsPerPath = 64;
inline constexpr std::size_t kRoutesPerJob = 1u << 20;  ///< pairs of nodes whose traffic others pass on
inline constexpr std::size_t kRoutesPerExplanation = 64;
inline constexpr std::size_t kStagesPerJob = 65'536;
inline constexpr std::int64_t kRequestRepeatNs =
    600'000'000'000;                                         ///< from an operator's first sending of a request to its last
inline constexpr std::size_t kRequestsRemembered = 65'536;   ///< answered ones that may still be repeated
inline constexpr std::size_t kRowsPerReply = 1'048'576;      ///< of one answer to an operator
inline constexpr std::size_t kRecordBytes = 256u << 20;      ///< one row of the journal, written or read
inline constexpr std::size_t kIntentBytes = 64u << 20;       ///< the row of everything that operators want at once
inline constexpr std::size_t kRevisionsKept = 16;            ///< confirmed ones that an operator may go back to
inline constexpr std::size_t kAuditKept = 4'096;             ///< records of the audit in a snapshot; the log has the older ones
inline constexpr std::size_t kUncertainPlans = 256;          ///< that went and were not confirmed, one after the other
inline constexpr std::size_t kTapeEntryBytes = 1u << 30;     ///< the largest is a start: it carries the whole journal
inline constexpr std::int64_t kCollectiveBytes = 1LL << 42;  ///< buffer of one rank; x kCollectiveRepeats fits 63 bits
inline constexpr std::uint32_t kCollectiveRepeats = 1u << 20;    ///< of one collective in one iteration
inline constexpr std::int64_t kTrafficBytes = 1LL << 60;         ///< from one node to another, in sum
inline constexpr std::size_t kCommunicatorsPerNode = 64;         ///< that are followed at once
inline constexpr std::size_t kCollectivesRemembered = 1'024;     ///< of one communicator at one node, for its period
inline constexpr std::size_t kCollectivesPerPeriod = 256;        ///< different ones
inline constexpr std::size_t kTrafficRecordsAtOnce = 65'536;     ///< of one node, told together
inline constexpr std::size_t kInspectorLineBytes = 256u << 10;   ///< a dump with the events of all channels is some 20 kB
inline constexpr std::size_t kInspectorFiles = 256;              ///< of one node that are read
inline constexpr std::size_t kInspectorReadBytes = 1u << 20;     ///< of one node's files at once
inline constexpr std::size_t kTrainingLineBytes = 4'096;         ///< of a training process of a node
inline constexpr std::size_t kTrainingBacklogBytes = 64u << 10;  ///< that one training process has not read
inline constexpr std::size_t kTrainingClients = 64;              ///< training processes of one node
inline constexpr std::size_t kSocketPathBytes = 107;             ///< sockaddr_un, without its last zero
inline constexpr std::int64_t kStreamBytes = 1LL << 44;          ///< of one stream of the grant plane
inline constexpr std::int64_t kGrantWindowNs = 1'000'000'000;  ///< one grant, slack included; a restarted arbiter waits as long
inline constexpr std::int64_t kPassLeadNs = 1'000'000'000;     ///< from the last word of readiness to the light of a pass
inline constexpr std::uint32_t kPhases = 4'096;                ///< passes of one iteration
inline constexpr std::int64_t kPasses = 1LL << 48;             ///< of one job, in light that was laid once
inline constexpr std::size_t kIterationsKept = 256;            ///< whose lengths a leader remembers
inline constexpr std::size_t kGrantMessageBytes = 512;         ///< one word of the grant plane on the wire
inline constexpr std::uint32_t kTransmittersPerNode = 8;
constexpr std::size_t kOptionsPerJob = 64;   ///< options, and shares
constexpr std::size_t kSharePerJob = 1'024;  ///< numbers of one share: as many as a grating has channels at most
inline constexpr std::uint32_t kStreamsPerSender = 1u << 20;  ///< queued at one node
inline constexpr std::size_t kStreamsPerStage = 1u << 20;     ///< of one job
inline constexpr std::int32_t kSlotN = 16'384;                ///< |n| of a frequency slot: 193.1 +- 102.4 THz
inline constexpr std::int32_t kSlotM = 4'096;                 ///< width of a frequency slot: 51.2 THz
inline constexpr std::int64_t kFrequencyMhz = 1'000'000'000;
inline constexpr std::int32_t kMillivolts = 1'000'000;  ///< magnitude of a heater's voltage as read: 1 kV
inline constexpr std::int32_t kCentiDb = 100'000;       ///< magnitude of a power or a loss: 1000 dB
inline constexpr std::int64_t kErrorsPerPetabit = 1'000'000'000'000'000;
inline constexpr std::int64_t kBitPerSecond = 1'000'000'000'000'000;
inline constexpr std::int64_t kDurationNs = 1LL << 58;  ///< magnitude, 9 years: instant + 3 durations fits 63 bits
inline constexpr std::int64_t kInstantNs = 1LL << 62;   ///< 146 years after a clock's zero

}  // namespace loom::limits
