// SPDX-License-Identifier: Apache-2.0
// Audit: reads before anything is written, then one free device after the other for ever, and reports what is seen. It never
// writes to a device and never touches one that another activity owns.
#pragma once

#include <vector>

#include "agents/devices/device_units.hpp"
#include "agents/envelope_sender.hpp"

namespace loom {

struct AuditOptions {
  Duration audit_interval{};   ///< one device is read each time
  Duration report_interval{};  ///< everything is reported at least so often
};

class Audit {
 public:
  Audit(const AuditOptions& options, const EnvelopeSender& envelopes, DeviceUnits& units);

  /// Reads every device that nobody owns.
  void start(StepContext context);
  void advance(StepContext context);
  /// Light changed: what is measured of it is read once chips are warm, and told whether it is news or not.
  void read_light(StepContext context);
  /// True once every device has been read, or has failed, since start().
  bool has_seen_everything() const { return seen_everything_; }
  /// The next report_interval is over.
  bool report_is_due(StepContext context);
  /// All observations, now.
  void report_all(StepContext context);
  /// Only the devices that changed what they are (health, light, routes; not noise) since they were reported last.
  void report_changes(StepContext context);

 private:
  void read_next(StepContext context);
  bool measures_light(std::size_t unit) const;
  void mark_monitors();
  void read_due(StepContext context);
  bool read(StepContext context, std::size_t unit);
  /// Measures light, and may have read it before chips were warm: not told until it has read again. That it failed is.
  bool is_unsettled(Instant now, std::size_t unit) const;
  void report(StepContext context, std::vector<Observation> observations);

  AuditOptions options_;
  const EnvelopeSender& envelopes_;
  DeviceUnits& units_;
  std::vector<Observation> reported_;  ///< by lane
  std::vector<bool> due_;              ///< likewise: to be read now
  std::vector<bool> awaited_;          ///< likewise: its next reading is told
  std::size_t next_ = 0;
  bool seen_everything_ = false;
  Deadline audit_{kAuditTimer, Precision::relaxed};
  Deadline report_{kReportTimer, Precision::relaxed};
  Deadline light_{kLightTimer};
  Instant light_settles_at_ = Instant::min();  ///< after the last order for light
};

/// Would an operator call the device something else now? Analogue values count once they have moved by a fraction of what
/// the controller calls drift; less is noise, which `report_interval` carries. Of a device that failed every reading is news.
bool is_news(const Observation& before, const Observation& after);

}  // namespace loom
