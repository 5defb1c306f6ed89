// SPDX-License-Identifier: Apache-2.0
// TrafficFolder: what a node's training processes tell, folded into what repeats: communicator by communicator, because their
// records come in no common order. A step machine without effects; it is handed the time. What it needs before it believes a
// communicator: two whole periods without a gap, that it was known for as long as a silent one is remembered (else a change of
// traffic would be both the old and the new one for a moment), and that it has not fallen silent. What it does not believe it
// names.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/limits.hpp"
#include "core/traffic.hpp"

namespace loom {

/// After how long a communicator that says nothing is late (nothing is concluded from its node) and then forgotten.
struct TrafficPatience {
  std::int64_t late_periods = 2;  ///< of its own
  std::int64_t forgotten_periods = 3;
  Duration slack = std::chrono::milliseconds{200};  ///< on top of both: dumps come in batches
  Duration unperiodic = std::chrono::seconds{60};   ///< one without a period is forgotten after this
};

struct TrafficCounters {
  std::uint64_t received = 0;
  std::uint64_t repeated = 0;     ///< records that were told before
  std::uint64_t unfolded = 0;     ///< transfers between two ranks
  std::uint64_t refused = 0;      ///< lines that could not be read
  std::uint64_t crowded_out = 0;  ///< communicators beyond kCommunicatorsPerNode
};

class TrafficFolder {
 public:
  explicit TrafficFolder(const TrafficPatience& patience = {}) : patience_(patience) {}

  void receive(Instant now, const TrafficReported& reported);
  /// All that is known, under the next number.
  TrafficReport report(Instant now);
  /// Has anybody ever told anything, be it that there is nothing? Before that there is nothing to report.
  bool is_fed() const { return is_fed_; }
  const TrafficCounters& counters() const { return counters_; }

 private:
  struct Received {
    std::uint64_t word = 0;  ///< kind, bytes, and how many of its kind there were since the one before it
    RepeatedCollective what;
    Duration at{};
  };
  struct Communicator {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    std::deque<Received> received{};  ///< oldest first
    std::map<CollectiveKind, std::uint64_t> last_sequence{};
    Instant first_received{};
    Instant last_received{};
    std::optional<CommunicatorTraffic> folded{};
    std::string trouble{};
  };

  void receive(Instant now, const TrafficRecord& record);
  Communicator* entry_of(Instant now, const TrafficRecord& record);
  void fold(std::uint64_t id, Communicator& communicator) const;
  void forget(Instant now);
  bool is_silent(Instant now, const Communicator& communicator, std::int64_t periods) const;
  std::string trouble_of(Instant now, std::uint64_t id, const Communicator& communicator, Duration longest) const;

  TrafficPatience patience_;
  std::map<std::uint64_t, Communicator> communicators_;
  TrafficCounters counters_;
  Instant unfolded_at_{};
  bool is_fed_ = false;
  std::string fault_;
  std::uint64_t number_ = 0;
};

}  // namespace loom
