// SPDX-License-Identifier: Apache-2.0
// Codec: the only place where wire types meet core types. What comes from outside is checked here, value by value, against
// core/limits.hpp; nothing behind this line has to ask again. It never knows who is allowed to say something.
//
// Rules beyond ranges (an answer of `malformed` names the field, the value and the rule):
//  * every sub-message, oneof and enumeration must be there; a missing one is never "the first word of the list"
//  * lengths of time (lead, settle, dark, offset, guard, hold, cycle, compute, heartbeat interval) are not negative; a
//  heartbeat
//    interval is not 0; slack, lateness, silence and an operator's measured stage times may be negative
//  * instants are 0..2^62 ns on their clock, durations at most 2^58 ns; only a hold may be kForever, and only the last of a
//  timeline
//  * ascending: devices of a NodePlan, offsets of a timeline, channels of a bank, (slot.n, input) of a WSS setpoint, inputs of
//  an
//    OCS setpoint, nodes, circuits, changed and touched of a Plan, jobs and drained nodes of an Intent
//  * one timeline keeps to one kind of setpoint
//  * Prepare: the plan's node and revision are the envelope's; CommitRecord: a plan has the record's revision, `going` has a
//  plan; SnapshotRecord: the confirmed plan is of the revision that was kept last
//
// Encoding cannot fail: texts are cut to limits::kTextBytes and made UTF-8. Time: about a microsecond each
// way for small messages; a thread's arena is re-used, so each thread may encode and decode without a lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/ids.hpp"
#include "core/journal/journal.hpp"
#include "core/message.hpp"
#include "core/result.hpp"

namespace loom {

std::string encode(const Envelope& envelope);
/// Replaces what `out` held; its memory is kept.
void encode_to(const Envelope& envelope, std::string& out);
/// Errors: wrong_version (names both), malformed.
Result<Envelope> decode_envelope(std::string_view bytes);

std::string encode(const Record& record);
/// How long encode() would be; costs about half of it.
std::size_t encoded_bytes(const Record& record);
/// Errors: wrong_version (names both), malformed (a kind of record that only a newer version knows, too).
Result<Record> decode_record(std::string_view bytes);

/// What a transport must know of an envelope before anybody decodes it.
struct EnvelopeHead {
  std::uint32_t wire_version = 0;
  NodeId node;
  std::string_view principal{};  ///< in the envelope's bytes; what it says of its speaker, which is a relay's to say
};

/// Reads the head without decoding the body; about 60 ns. What it refuses does not decode
/// either, and what decodes has this head.
/// Errors: malformed.
Result<EnvelopeHead> peek_head(std::string_view bytes);

/// The same envelope, as `principal` speaks it: a relay says for whom it passes it on.
std::string with_principal(std::string_view envelope, std::string_view principal);

/// The number of an operator's request, for whoever refuses it without decoding it, or because it does not decode. Nothing: it
/// is no request, or its number cannot be read either.
std::optional<RequestId> peek_request(std::string_view bytes);

}  // namespace loom
