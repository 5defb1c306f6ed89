// SPDX-License-Identifier: Apache-2.0
// LabFaults: what a scenario does to the processes of a lab: kill -9, and a new start after its time. Device faults are
// done by whoever simulates the device: an agent (--faults), or an emulator (--faults-of). What a lab cannot do is named before
// anything starts.
#pragma once

#include <string>
#include <vector>

#include "cli/lab/run/history.hpp"
#include "cli/lab/session.hpp"

namespace loom::cli {

/// What the scenario asks for that real processes do not do, one sentence each: which key, why, and where it works.
std::vector<std::string> not_in_a_lab(const Scenario& scenario);

class LabFaults {
 public:
  LabFaults(LabRecord& lab, LabHistory& history);

  /// Kills and starts what is due. Errors: a process does not start again.
  Result<void> act(Instant now);
  bool is_over() const { return next_ == due_.size(); }
  bool controller_is_down() const { return lab_.controller_pid == 0; }

 private:
  struct Due {
    Instant at{};
    MachineFault fault;
    bool is_end = false;
  };
  Result<void> begin(const MachineFault& fault);
  Result<void> end(const MachineFault& fault);

  LabRecord& lab_;
  LabHistory& history_;
  std::vector<Due> due_;  ///< ascending
  std::size_t next_ = 0;
};

}  // namespace loom::cli
