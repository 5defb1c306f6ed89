// SPDX-License-Identifier: Apache-2.0
// DriftWatch: which devices are not what is desired, since when, and when one may be repaired (again). It only remembers and
// counts: it never compares, never sends and never decides what a repair touches. Fed by the controller with every verdict, so
// a question about the whole fabric costs as much as there are drifted devices.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/drift_policy.hpp"
#include "core/ids.hpp"
#include "core/messages/report.hpp"
#include "core/time.hpp"
#include "core/timings.hpp"

namespace loom {

/// A device that drifted, until it has been sound for repair_quiet: so long its repairs are counted together, which damps one
/// that flaps.
struct DriftFinding {
  Drift drift = Drift::none;  ///< none: sound at present
  Instant since{};            ///< of the present word
  std::uint32_t repairs = 0;  ///< and adoptions
  Instant not_before{};       ///< of the next of them
  bool given_up = false;
  bool unlawful = false;  ///< what is there cannot be adopted
  bool operator==(const DriftFinding&) const = default;
};

class DriftWatch {
 public:
  enum class News : std::uint8_t { none, drifted, sound };  ///< drifted: newly, or in another way than before

  DriftWatch(std::size_t devices, const ControllerTimings& timings, const DriftPolicy& policy)
      : timings_(timings), policy_(policy), verdicts_(devices, Drift::none) {}

  News judge(DeviceId device, Drift drift, Instant now);
  Drift drift_of(DeviceId device) const { return verdicts_[device.value]; }
  const DriftCounts& counts() const { return counts_; }

  /// Drifted devices whose answer is repair, ascending: whenever that is due, and unless it was tried in vain.
  std::vector<DeviceId> to_repair() const;
  /// Drifted devices whose answer is repair and whose time has come, ascending.
  std::vector<DeviceId> due(Instant now) const { return due(DriftAnswer::repair, now); }
  /// The same, of those whose answer is to adopt what was found.
  std::vector<DeviceId> adoptable(Instant now) const { return due(DriftAnswer::adopt, now); }
  /// Those of these that are stale and whose time has come. Stale is nothing to repair, unless somebody knows that they answer.
  std::vector<DeviceId> stale_among(std::vector<DeviceId> devices, Instant now) const;
  /// No commit can mend it, or it cannot become desired: until it drifts in another way.
  void leave_to_people(DeviceId device);
  /// When the next of them comes due; kNever: none.
  Instant next_due(Instant now) const;
  /// There was a reason for its drift that is gone: repairs that were tried while it stood do not count.
  void renew(DeviceId device, Instant now);
  /// A commit with them begins, or their adoption is tried. Precondition: each is drifted.
  void repair_begins(const std::vector<DeviceId>& devices, Instant now);
  /// Those that have used up their repairs and are drifted still: once each.
  std::vector<DeviceId> take_given_up(Instant now);

 private:
  bool may_be(DriftAnswer answer, const DriftFinding& finding) const;
  std::vector<DeviceId> due(DriftAnswer answer, Instant now) const;
  void forget_quiet(Instant now);

  ControllerTimings timings_;
  DriftPolicy policy_;
  std::vector<Drift> verdicts_;  ///< by device
  DriftCounts counts_;
  std::map<DeviceId, DriftFinding> findings_;
};

}  // namespace loom
