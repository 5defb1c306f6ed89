// SPDX-License-Identifier: Apache-2.0
// Refusals: what came in and was not followed, by kind and by whose key it was. A key that is refused is one alarm, however
// many messages it sends; the alarm is cleared once the key is well again. It refuses nothing itself: transport, decoder,
// quotas and plausibility do (ADR 24).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "controller/control/facts.hpp"
#include "controller/control/watch/alarm_board.hpp"
#include "core/messages/report.hpp"

namespace loom {

/// Some messages of one sender that were refused for one reason.
struct Offence {
  RefusalKind kind = RefusalKind::malformed;
  std::string principal{};       ///< as the key proves it; empty: no key that is known
  std::optional<NodeId> node{};  ///< that the sender spoke for
  std::string what{};            ///< one sentence about the last of them
  std::uint64_t count = 1;
};

class Refusals {
 public:
  Refusals(const ControllerFacts& facts, AlarmBoard& alarms) : facts_(facts), alarms_(alarms) {}

  /// Counts it. Aloud once a second a key and kind of alarm.
  void note(const Offence& offence, EffectSink& sink);
  /// Counts what its sender was told already, and nobody else needs to hear of.
  void count(RefusalKind kind) { ++counts_[static_cast<std::size_t>(kind)]; }
  /// Alarms of keys that have been quiet for a while are cleared.
  void sweep();

  const RefusalCounts& counts() const { return counts_; }
  /// Messages that nobody could have sent in good faith: all but quotas and roles.
  std::uint64_t dishonest() const;

 private:
  struct Offender {
    RefusalCounts counts{};
    std::optional<AlarmId> alarm{};
    Instant reported{};
    Instant last{};
  };
  using Key = std::pair<std::string, AlarmCode>;

  Offender& offender(const Key& key);
  void report(Offender& offender, const Offence& offence, AlarmCode code, EffectSink& sink);

  const ControllerFacts& facts_;
  AlarmBoard& alarms_;
  RefusalCounts counts_{};
  std::map<Key, Offender> offenders_;  ///< at most limits::kOffenders
};

}  // namespace loom
