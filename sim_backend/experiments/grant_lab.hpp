// SPDX-License-Identifier: Apache-2.0
// A fast plane at scale: N senders and arbiters over a seeded message network, streams that arrive at a chosen load, virtual
// time. It measures how long a stream waits for its grant, how full the receivers are, and what a saturated receiver carries
// against the closed form. It draws everything from the seed and never asks a clock. oddl (reconstruction).
#pragma once

#include <cstdint>
#include <vector>

#include "agents/grant/arbiter.hpp"
#include "agents/grant/sender.hpp"

namespace loom {

enum class GrantTraffic : std::uint8_t {
  uniform,      ///< every stream to a destination drawn anew: senders are contended as well
  permutation,  ///< node i sends to node i+1 only, as in a ring: nobody is contended
  listed,       ///< `streams`, all offered at once as a collective offers them; load and sizes are not looked at
};

struct LabStream {
  NodeId source;
  NodeId destination;
  Bytes bytes;
};

struct GrantLabOptions {
  std::uint64_t seed = 1;
  std::uint32_t nodes = 64;
  SenderOptions sender;    ///< node, epoch and nodes are set by the lab
  ArbiterOptions arbiter;  ///< likewise
  GrantTraffic traffic = GrantTraffic::uniform;
  Bytes stream_bytes{561'200};         ///< VGG19's ring chunk of 1024 nodes, docs/systems/oddl.md#calibration
  std::uint32_t load_percent = 50;     ///< of every receiver's rate, counted in bytes; > 100 saturates
  std::uint32_t loss_per_million = 0;  ///< of every message, in-band ones included
  Duration apart{};                    ///< listed: a node offers its streams up to so much after the first moment, uniform
  Duration jitter{200};                ///< beyond `control`, uniform
  std::uint32_t streams_per_node = 100;
  std::vector<LabStream> streams{};  ///< of `listed`
};

/// Machines whose repeats, patience and leases fit these times: as by default where control takes 1 us and tuning no longer.
GrantLabOptions lab_options(const GrantTimings& timings);

struct GrantLabResult {
  std::uint64_t streams = 0;      ///< sent to their last byte
  std::uint64_t unreachable = 0;  ///< given up, or turned away for want of room
  Duration wait_p50{};            ///< from the offer to the first grant that was accepted
  Duration wait_p99{};
  Duration latency_p50{};  ///< from the request at the head of its queue to the grant that was accepted
  Duration latency_p99{};
  Duration finish_p99{};       ///< from the offer to the last byte at the receiver
  Duration makespan{};         ///< from the first offer of all to the last byte of all at its receiver
  double utilisation = 0;      ///< bytes carried while streams arrived, over receivers x rate x that time; listed: 0
  double efficiency = 0;       ///< bytes carried by a receiver from its first light to its last, over its rate; mean
  std::uint64_t messages = 0;  ///< sent, of all kinds
  std::uint64_t grants = 0;
  std::uint64_t refusals = 0;
  std::uint64_t repeats = 0;     ///< of requests and grants
  std::uint64_t collisions = 0;  ///< two transmitters on one receiver: a bug
  std::uint64_t digest = 0;      ///< of everything delivered, in order
};

/// Runs until every stream is over. Out of range: no nodes, or a limit is exceeded; invalid_argument: a listed stream between
/// nodes that are not there; timed out: streams remain after 100 s of virtual time.
Result<GrantLabResult> run_grant_lab(const GrantLabOptions& options);

/// docs/systems/oddl.md#grants: L/B / (L/B + t_tune + t_cdr + max(0, t_ctl - overlap)). `overlap`: how much of the control
/// latency hides under the stream before; kForever hides all of it.
double grant_efficiency(const GrantTimings& timings, Bytes bytes, Duration overlap);

}  // namespace loom
