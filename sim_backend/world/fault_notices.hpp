// SPDX-License-Identifier: Apache-2.0
// FaultNotices: how long after the beginning of each injected fault an operator was told of it: by the first alarm, or the
// first change of a job's state, that names the device, its node, or a circuit through it. It overhears the controller and
// judges nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/control/jobs/jobs.hpp"
#include "core/alarm.hpp"
#include "core/fabric/fabric.hpp"
#include "sim_backend/judge/light_checker.hpp"

namespace loom {

/// A fault that excused light.
struct ExcusingFault {
  std::string fault;          ///< `wss-in-0: stick`
  std::uint64_t excused = 0;  ///< violations
  Duration reported_after{};  ///< from its beginning; kForever: not in this run
  bool operator==(const ExcusingFault&) const = default;
};

/// `stick` of `wss-in-0: stick`.
std::string kind_of_fault(const std::string& fault);

class FaultNotices {
 public:
  explicit FaultNotices(const Fabric& fabric) : fabric_(fabric) {}

  /// Of a device, or of the ends of fibres.
  void begin(Instant now, std::string fault, const std::vector<ElementId>& elements);
  /// Of an agent's host.
  void begin(Instant now, std::string fault, NodeId node);
  void receive(Instant now, const Alarm& alarm);
  /// The controller's jobs after one of its steps.
  void look(Instant now, const Jobs& jobs);
  /// Those that excused something, in order of their beginning.
  std::vector<ExcusingFault> excusing(const std::vector<ExcusedViolation>& excused) const;

 private:
  struct Row {
    std::string fault;
    Instant began{};
    std::set<NodeId> nodes{};
    std::set<DeviceId> devices{};
    std::vector<std::string> names{};  ///< as sentences name them
    Instant reported = kNever;
  };
  struct Seen {
    JobState state = JobState::pending;
    std::string reason;
  };
  void add_node(Row& row, NodeId node) const;
  static bool is_named(const Row& row, const std::string& sentence);

  const Fabric& fabric_;
  std::vector<Row> rows_;
  std::map<JobId, Seen> jobs_;
  bool all_reported_ = true;
};

}  // namespace loom
