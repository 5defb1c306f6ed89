// SPDX-License-Identifier: Apache-2.0
// Limits of what comes in: what a peer may claim at all, and how much of it is taken in at a time (ADR 24). The second half of
// core/limits.hpp, with the reason of each number; whoever refuses something prints the limit and its name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.hpp"

namespace loom::limits {

// --- what a peer may claim (ADR 24) ---------------------------------------------------------------------------------------
// A number that is remembered, added to or compared with later ones is bounded by what an honest peer can come to say. What is
// beyond is RefusalKind::implausible: not followed, counted, and named with the key that said it.

/// Above the controller's own term, in a hello. A term is spent by each start of a controller: a million of them.
inline constexpr std::uint64_t kTermJump = 1ULL << 20;
/// Above the term that an agent obeys, in a controller's message. As many as kClaimsBelieved jumps make in 300 days.
inline constexpr std::uint64_t kTermAbove = 1ULL << 40;
/// Above the controller's own revisions, in a hello: what an older copy of a journal may have missed, one a second for 136
/// years.
inline constexpr std::uint64_t kRevisionJump = 1ULL << 32;
/// Behind the last revision that anybody applied: so many may have been prepared and never went.
inline constexpr std::uint64_t kRevisionsBehindApplied = 1'000;
/// Above the newest one that an agent prepared. Many a believed kRevisionJump, and far from the end of numbers.
inline constexpr std::uint64_t kRevisionAbove = 1ULL << 48;
/// Above the last order about lasers that an agent followed: one a second for 136 years.
inline constexpr std::uint64_t kLaserOrderJump = 1ULL << 32;
/// Hellos that raise the controller's term or revisions: so many at once, and one more each kClaimIntervalNs. Honest ones come
/// only behind a journal that was restored from an older copy, all of them with the same few numbers.
inline constexpr std::uint32_t kClaimsBelieved = 8;
inline constexpr std::int64_t kClaimIntervalNs = 600'000'000'000;
/// How far behind now a reading may claim to be: hosts that share a clock differ by microseconds.
inline constexpr std::int64_t kClockAheadNs = 1'000'000'000;
/// How long before T an agent may want to be armed. Ours want 2 ms; all others of the commit wait as long.
inline constexpr std::int64_t kArmLeadNs = 1'000'000'000;
/// Of what an agent measured of a commit (slack, lateness, settling, darkness). A robot at a patch panel takes minutes.
inline constexpr std::int64_t kMeasuredNs = 86'400'000'000'000;
/// How far ahead of now a controller may set an instant of a commit: margins grow to 20 s by default.
inline constexpr std::int64_t kCommitAheadNs = 3'600'000'000'000;
/// Between two heartbeats, as a controller asks for them.
inline constexpr std::int64_t kHeartbeatIntervalNs = 60'000'000'000;
/// Timeslots of one stage that stayed dark at one node.
inline constexpr std::uint32_t kUnderflows = 1U << 24;
/// A traffic report with a lower number is one that a network overtook, for so long behind the last one.
inline constexpr std::int64_t kOvertakenNs = 5'000'000'000;
/// Alarms that one agent may have standing at the controller; its oldest make room.
inline constexpr std::size_t kAlarmsPerNode = 32;
/// How far ahead of now a granted window may begin: behind one that stands, and one of an incarnation before.
inline constexpr std::int64_t kGrantAheadNs = 2 * kGrantWindowNs;
/// Requests of one sender to one receiver that may have been lost since the last one that came.
inline constexpr std::uint64_t kGrantRequestJump = 1ULL << 20;
/// Grants of one receiver since the last one that this sender was given.
inline constexpr std::uint64_t kGrantSequenceJump = 1ULL << 40;

// --- how much of it is taken in at a time (ADR 24) ------------------------------------------------------------------------
// What is beyond is RefusalKind::over_quota: counted, and answered with `busy` where it is a request.

/// Requests of one key a second, and at once. `loom status` is one; the longest table of 1024 nodes is some dozens.
inline constexpr std::uint32_t kViewerRequests = 100;
inline constexpr std::uint32_t kViewerBurst = 400;
inline constexpr std::uint32_t kOperatorRequests = 500;
inline constexpr std::uint32_t kOperatorBurst = 2'000;
/// Messages of an agents' key for each node that it speaks for. Heartbeats are 20 a second; a commit's answers a few dozens.
inline constexpr std::uint32_t kAgentMessages = 200;
inline constexpr std::uint32_t kAgentBurst = 1'024;
/// No key has more, however many nodes it is granted: a loop's second of work.
inline constexpr std::uint32_t kKeyMessages = 200'000;
inline constexpr std::uint32_t kKeyBurst = 1u << 20;
/// Bytes of one key that wait: frames with a message in them that has not been taken yet.
inline constexpr std::size_t kOperatorQueueBytes = 16u << 20;
inline constexpr std::size_t kAgentQueueBytes = 64u << 20;
/// Bytes of answers to one operator's key a second, and at once; peers that do not read them must not fill our memory.
inline constexpr std::uint32_t kReplyBytes = 32u << 20;
inline constexpr std::uint32_t kReplyBytesBurst = 64u << 20;
/// Refusals of one key a second that are answered; the others are only counted, so that a refusal is no amplifier.
inline constexpr std::uint32_t kRefusalsAnswered = 200;
/// Of one viewer's key at a time, and of an agents' key beside one for each of its nodes.
inline constexpr std::size_t kConnectionsPerKey = 64;
/// Of one operator's key: each job's launcher has one.
inline constexpr std::size_t kOperatorConnections = 1'024;
/// Tentative plans that wait or are being made: dry runs and diffs of one principal, its orders, and those of all.
inline constexpr std::size_t kDryRunsPerPrincipal = 4;
inline constexpr std::size_t kOrdersPerPrincipal = 64;
inline constexpr std::size_t kTentativePlans = 256;
/// One turn of a loop: messages of agents, then requests of operators, and how long both may take at most.
inline constexpr std::size_t kAgentsPerRound = 256;
inline constexpr std::size_t kOperatorsPerRound = 16;
inline constexpr std::int64_t kRoundNs = 2'000'000;
/// A batch of messages; as much is held of each connection's frames before they are looked at.
inline constexpr std::size_t kBatchBytes = 8u << 20;
/// Frames, and messages in them, that one turn takes off a socket into the queues.
inline constexpr std::size_t kFramesPerRound = 256;
inline constexpr std::size_t kQueuedPerRound = 8'192;
/// How often a flood is reported: once a key and kind.
inline constexpr std::int64_t kRefusalReportedNs = 1'000'000'000;
/// A key of which nothing was refused for so long is well again: its alarm is cleared.
inline constexpr std::int64_t kRefusalQuietNs = 60'000'000'000;
/// Principals whose refusals are kept apart.
inline constexpr std::size_t kOffenders = 1'024;

}  // namespace loom::limits
