// SPDX-License-Identifier: Apache-2.0
// Grants: what senders and receivers of ODDL's fast plane say to each other, as values. A stream asks its receiver's arbiter
// for light; a grant is a window of time at that receiver. oddl (reconstruction): the paper publishes no message. Never
// sends or decides anything; agents/grant/ does. docs/oddl_fast_plane.md tells the protocol.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/fabric/grid.hpp"
#include "core/ids.hpp"
#include "core/limits.hpp"
#include "core/messages/one_of.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// One stream of one collective: what is granted as a whole, never a ring step.
struct StreamId {
  JobId job;
  std::uint64_t collective = 0;  ///< number of the collective within its job
  NodeId source;
  NodeId destination;
  auto operator<=>(const StreamId&) const = default;
};

/// Names one grant: sequences rise within an arbiter's incarnation, epochs with every one. Epoch 0 is nobody's.
struct GrantKey {
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  auto operator<=>(const GrantKey&) const = default;
};

// --- sender -> arbiter ---------------------------------------------------------------------------------------------------

/// Repeated until granted; the same number again is the same request.
struct StreamRequest {
  StreamId stream;
  std::uint64_t sender_epoch = 0;
  std::uint64_t number = 0;  ///< rises with every request of this sender to this destination
  Bytes remaining;
  Instant since{};        ///< asks since then; what was cut by the quantum asks anew
  bool is_tuned = false;  ///< an idle transmitter of the sender is on this wavelength already, dark
  Instant free_at{};  ///< first instant at the receiver at which light of this sender could arrive, as far as it has promised
  bool is_update = false;  ///< nothing but `free_at` is new: whoever knows the request does not answer
  bool operator==(const StreamRequest&) const = default;
};

/// A promise: no light of this grant at the receiver from `until` on. Precondition of a lawful one: start < until <= end.
struct StreamAccept {
  StreamId stream;
  std::uint64_t sender_epoch = 0;
  GrantKey key;
  Instant until{};
  bool operator==(const StreamAccept&) const = default;
};

enum class RefusalReason : std::uint8_t {
  taken,    ///< every transmitter is promised to others: ask again from `free_at` on
  late,     ///< too little of the window was left
  unknown,  ///< no such stream asks here any more
};

/// No light of this grant at the receiver from `dark_at` on, ever.
struct StreamRefusal {
  StreamId stream;
  std::uint64_t sender_epoch = 0;
  GrantKey key;
  RefusalReason reason = RefusalReason::unknown;
  Instant dark_at{};
  Instant free_at{};  ///< first instant at the receiver at which light of this sender could arrive
  bool operator==(const StreamRefusal&) const = default;
};

/// Rides with the last bytes: the window is free from `dark_at` on.
struct StreamRelease {
  StreamId stream;
  std::uint64_t sender_epoch = 0;
  GrantKey key;
  Instant dark_at{};
  Bytes remaining;  ///< > 0: a request with the next number follows
  bool operator==(const StreamRelease&) const = default;
};

// --- arbiter -> sender ---------------------------------------------------------------------------------------------------

/// Heard and queued: the sender need not hurry with its repeats.
struct StreamQueued {
  StreamId stream;
  std::uint64_t sender_epoch = 0;
  std::uint64_t number = 0;
  std::uint64_t arbiter_epoch = 0;
  bool is_next = false;  ///< as things stand: whoever is idle may tune in the dark already. Promises nothing
  bool operator==(const StreamQueued&) const = default;
};

/// Light of this stream may be at the receiver in [start, end), its lock time included. The window is a lease: it ends by
/// itself, whoever has died.
struct StreamGrant {
  StreamId stream;
  std::uint64_t sender_epoch = 0;
  std::uint64_t number = 0;  ///< of the request
  GrantKey key;
  Instant start{};
  Instant end{};
  Bytes bytes;  ///< what the window was cut for
  bool operator==(const StreamGrant&) const = default;
};

using GrantMessage = OneOf<StreamRequest, StreamAccept, StreamRefusal, StreamRelease, StreamQueued, StreamGrant>;

/// In band: with the light, one flight away. Supervisory: a channel of its own, about `control` away.
enum class GrantChannel : std::uint8_t { supervisory, in_band };

// --- what both sides know ------------------------------------------------------------------------------------------------

/// The fabric's times. Defaults: oddl (reconstruction), docs/systems/oddl.md#grants: all of them ours, not the paper's.
struct GrantTimings {
  BitRate rate = gigabits(100);
  Duration tune{100};                               ///< laser, dark meanwhile
  Duration lock{50};                                ///< receiver: light without bytes
  Duration control = std::chrono::microseconds{1};  ///< one way, as expected; safety never rests on it
  Duration flight{250};                             ///< 50 m of fibre
  Duration flight_error{2};                         ///< magnitude, of any sender's flight against `flight`
  Duration clock_error{5};                          ///< magnitude, of any node's clock against the receiver's
  Duration blank{2};                                ///< from the order to be dark until it is dark
  Duration trigger_late{10};                        ///< by which a row of the grant table may be carried out too late
  bool operator==(const GrantTimings&) const = default;
};

/// From the order to tune until light could arrive at the receiver, had it the time from now on.
constexpr Duration tuning_of(const GrantTimings& timings) { return timings.tune + timings.trigger_late + timings.flight; }

/// Darkness between two windows. Each sender may err by clock and flight, one to the late side, one to the early side; and
/// the one before goes dark as late as its table is.
constexpr Duration guard_of(const GrantTimings& timings) {
  return 2 * (timings.clock_error + timings.flight_error) + timings.blank + timings.trigger_late;
}

/// The same where the one before is known to be dark: only the next sender may err, to the early side, and the word's reader.
constexpr Duration guard_after_message_of(const GrantTimings& timings) {
  return 2 * (timings.clock_error + timings.flight_error);
}

/// What a window has beside its bytes: the receiver's lock, and the lateness of the light.
constexpr Duration overhead_of(const GrantTimings& timings) { return timings.lock + timings.trigger_late; }

/// How long `bytes` take, rounded up to a nanosecond. Precondition: 0 <= bytes <= limits::kStreamBytes, rate >= 1 Mbit/s.
constexpr Duration time_of(Bytes bytes, BitRate rate) {
  const std::int64_t megabits = rate.bits_per_second / 1'000'000;
  return Duration{(bytes.count * 8 * 1000 + megabits - 1) / megabits};
}

/// How many whole bytes fit into `time`; 0 for a negative one. Precondition: time <= limits::kGrantWindowNs, rate <= 1 Pbit/s.
constexpr Bytes bytes_in(Duration time, BitRate rate) {
  const std::int64_t megabits = rate.bits_per_second / 1'000'000;
  return Bytes{std::max<std::int64_t>(time.count(), 0) * megabits / 8000};
}

/// One entry of the grant table that a NIC or an FPGA executes: three triggers and what they start. Instants are those of
/// the transmitter, not of the receiver.
struct GrantRow {
  std::uint32_t transmitter = 0;
  StreamId stream;
  GrantKey key;
  Instant tune_at{};
  Instant light_at{};
  Instant dark_at{};
  Bytes bytes;
  bool operator==(const GrantRow&) const = default;
};

// --- what a plan says about it -------------------------------------------------------------------------------------------

/// How the light of one job's stage is given out. A choice of each job's.
enum class Transmit : std::uint8_t {
  slots,   ///< timeslots, by the clock
  grants,  ///< each stream asks its receiver
};
std::string_view to_string(Transmit transmit);

/// One stream that a stage of a job moves. Streams of one number are offered together, once those of the number before are all
/// sent: rings wait for what goes directly, and each needs its light at once.
struct OfferedStream {
  std::uint64_t collective = 0;  ///< 0, 1, ... in its stage
  NodeId source;
  NodeId destination;
  Bytes bytes;
  bool operator==(const OfferedStream&) const = default;
};

/// Light of this laser in this slot leads to this destination and to nobody else.
struct AllowedWavelength {
  NodeId destination;
  DeviceId laser;
  FrequencySlot slot;
  bool operator==(const AllowedWavelength&) const = default;
};

/// What one node may do under grants: which wavelength leads where, who may ask it, and what it has to send. With the grants
/// that arrive it becomes rows, so this is all that a NIC or an FPGA is given beforehand.
struct GrantMap {
  JobId job;
  Revision routed_by;  ///< the revision that laid this light; words and epochs of another one mean nothing here
  GrantTimings timings;
  Duration quantum{};                          ///< the longest stream that is granted whole
  std::vector<AllowedWavelength> wavelengths;  ///< ascending (destination, laser)
  std::vector<NodeId> sources;                 ///< who may ask this node for its receiver, ascending
  std::vector<OfferedStream> sends;            ///< of this node, once
  bool operator==(const GrantMap&) const = default;
};

}  // namespace loom
