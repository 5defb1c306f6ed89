// SPDX-License-Identifier: Apache-2.0
// DemandWatch: one job's measured demand over time, and whether its light shall follow. It remembers and judges: it never
// plans, never sends, and is handed the time. Light is held for a multiple of the time that a change leaves it dark, demand
// must be as steady before it is followed, and the more often it has changed lately, the longer: so what changes faster than
// the light can move is never followed, and says so.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "controller/control/jobs/measured_demand.hpp"
#include "core/adapt_policy.hpp"
#include "core/time.hpp"

namespace loom {

/// What a judgement is about.
struct DemandCase {
  std::string name;                                   ///< "job 3"
  std::uint32_t ranks = 0;                            ///< of the job
  const std::vector<Collective>* made_for = nullptr;  ///< what its light is made for; never null
  Duration dark{};                                    ///< how long a change leaves light dark, at worst
};

class DemandWatch {
 public:
  explicit DemandWatch(const AdaptPolicy& policy = {}) : policy_(policy) {}

  /// The newest reading. True: it is to be followed now; ask again with the next one.
  bool judge(Instant now, const DemandReading& reading, const DemandCase& about);
  /// A plan for it is on trial, or on its way into light: nothing else is followed meanwhile.
  void begin(std::string says);
  /// It is judged anew.
  void cancel() { moving_ = false; }
  /// It is in light.
  void moved(Instant now, std::string says);
  /// It is not followed, and will not be tried again until demand is another one.
  void kept(Instant now, std::string says);

  /// Demand changes faster than light may follow.
  bool is_restless() const { return restless_; }
  /// It became so, or changed again, with the last reading.
  bool is_restless_news() const { return restless_news_; }
  bool is_moving() const { return moving_; }
  /// Believed last; empty: nothing yet.
  const std::vector<Collective>& measured() const { return present_; }
  /// What began last.
  const std::vector<Collective>& tried() const { return tried_; }
  /// What is done about it and why, one sentence.
  const std::string& says() const { return says_; }
  const AdaptPolicy& policy() const { return policy_; }

 private:
  bool notice(Instant now, const DemandReading& reading, const DemandCase& about);
  void forget_changes(Instant now, Duration hold);
  Duration steadiness(Duration hold) const;

  AdaptPolicy policy_;
  std::vector<Collective> present_;
  Instant since_{};
  std::deque<Instant> changes_;  ///< of what was believed, within hold_times holds
  std::vector<Collective> tried_;
  std::vector<Collective> rejected_;  ///< tried, and not worth it or not possible
  std::string rejected_because_;
  std::vector<Collective> made_for_;  ///< what the light is made for; what was rejected was so beside that
  Instant held_since_{};              ///< the last change of light that demand made; zero: none
  std::string moved_because_;
  bool moving_ = false;
  bool restless_ = false;
  bool restless_news_ = false;
  std::string says_ = "nothing measured yet";
};

}  // namespace loom
