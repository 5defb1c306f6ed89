// SPDX-License-Identifier: Apache-2.0
// Backoff doubles with each repair of a device and starts anew when it was quiet for long enough.
#include "controller/control/watch/drift_watch.hpp"

#include <algorithm>

#include "controller/plan/reconcile/reconcile.hpp"
#include "core/result.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kDoublings = 6;

}  // namespace

DriftWatch::News DriftWatch::judge(DeviceId device, Drift drift, Instant now) {
  Drift& verdict = verdicts_[device.value];
  if (verdict == drift) {
    return News::none;
  }
  remove(counts_, verdict);
  add(counts_, drift);
  verdict = drift;
  forget_quiet(now);
  DriftFinding& finding = findings_[device];
  finding.drift = drift;
  finding.since = now;
  finding.unlawful = false;
  return drift == Drift::none ? News::sound : News::drifted;
}

bool DriftWatch::may_be(DriftAnswer answer, const DriftFinding& finding) const {
  return policy_.answer_to(finding.drift) == answer && !finding.unlawful && finding.repairs < timings_.repair_attempts;
}

std::vector<DeviceId> DriftWatch::to_repair() const {
  std::vector<DeviceId> devices;
  for (const auto& [device, finding] : findings_) {
    if (may_be(DriftAnswer::repair, finding)) {
      devices.push_back(device);
    }
  }
  return devices;
}

std::vector<DeviceId> DriftWatch::due(DriftAnswer answer, Instant now) const {
  std::vector<DeviceId> devices;
  for (const auto& [device, finding] : findings_) {
    if (may_be(answer, finding) && finding.not_before <= now) {
      devices.push_back(device);
    }
  }
  return devices;
}

std::vector<DeviceId> DriftWatch::stale_among(std::vector<DeviceId> devices, Instant now) const {
  std::erase_if(devices, [&](DeviceId device) {
    const auto found = findings_.find(device);
    return drift_of(device) != Drift::stale || found == findings_.end() || found->second.not_before > now;
  });
  return devices;
}

void DriftWatch::leave_to_people(DeviceId device) {
  if (const auto found = findings_.find(device); found != findings_.end()) {
    found->second.unlawful = true;
  }
}

Instant DriftWatch::next_due(Instant now) const {
  Instant next = kNever;
  for (const auto& [device, finding] : findings_) {
    if (may_be(DriftAnswer::repair, finding) || may_be(DriftAnswer::adopt, finding)) {
      next = std::min(next, std::max(finding.not_before, now));
    }
  }
  return next;
}

void DriftWatch::repair_begins(const std::vector<DeviceId>& devices, Instant now) {
  for (const DeviceId device : devices) {
    const auto found = findings_.find(device);
    LOOM_ASSERT(found != findings_.end());
    DriftFinding& finding = found->second;
    finding.not_before = now + timings_.repair_backoff * (1LL << std::min(finding.repairs, kDoublings));
    ++finding.repairs;
  }
}

void DriftWatch::renew(DeviceId device, Instant now) {
  if (const auto found = findings_.find(device); found != findings_.end()) {
    found->second.repairs = 0;
    found->second.not_before = now;
    found->second.given_up = false;
  }
}

std::vector<DeviceId> DriftWatch::take_given_up(Instant now) {
  std::vector<DeviceId> devices;
  for (auto& [device, finding] : findings_) {
    const DriftAnswer answer = policy_.answer_to(finding.drift);
    if (answer != DriftAnswer::report && !finding.given_up && !finding.unlawful && !may_be(answer, finding) &&
        finding.not_before <= now) {
      finding.given_up = true;
      devices.push_back(device);
    }
  }
  return devices;
}

void DriftWatch::forget_quiet(Instant now) {
  std::erase_if(findings_, [&](const auto& row) {
    return row.second.drift == Drift::none && now - row.second.since >= timings_.repair_quiet;
  });
}

}  // namespace loom
