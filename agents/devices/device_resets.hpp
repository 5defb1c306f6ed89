// SPDX-License-Identifier: Apache-2.0
// DeviceResets: an operator's order to find a device anew: it is read back, then brought to its setpoint again; what
// light passes is not moved for it. Stands below timelines and commits, which take the device away from it, and above the
// audit. An order is obeyed once; repeated, it is answered again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "agents/devices/device_units.hpp"
#include "agents/envelope_sender.hpp"

namespace loom {

class DeviceResets {
 public:
  DeviceResets(const EnvelopeSender& envelopes, DeviceUnits& units) : envelopes_(envelopes), units_(units) {}

  void order(StepContext context, const ResetDevice& order);
  void advance(StepContext context);

 private:
  enum class Phase : std::uint8_t { idle, reading, setting };
  /// One lane's reset.
  struct Row {
    Phase phase = Phase::idle;
    std::uint64_t order = 0;  ///< obeyed last
    std::uint32_t writes_before = 0;
    Instant asked_at{};
    DeviceReset answer;
  };

  void finish(StepContext context, std::size_t unit, Outcome outcome);
  Outcome refusal(std::size_t unit) const;
  std::optional<Error> must_not_be_set(std::size_t unit) const;

  const EnvelopeSender& envelopes_;
  DeviceUnits& units_;
  std::map<std::size_t, Row> rows_;  ///< by lane; of those that were ever ordered
  std::size_t under_way_ = 0;        ///< rows that are not idle
};

}  // namespace loom
