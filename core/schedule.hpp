// Schedule: matchings with hold and guard times. A job's schedule is a list of stages; inside a stage no switch moves, so
// agents play its timeslots by themselves; going from one stage to the next is a commit (a new revision).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/circuit.hpp"
#include "core/grant.hpp"
#include "core/ids.hpp"
#include "core/time.hpp"

namespace loom {

/// A matching (no transmitter and no receiver twice) that is dark for `guard`, then lit for `hold`.
struct Timeslot {
  std::vector<Circuit> circuits;
  Duration guard{};
  Duration hold = kForever;
  bool operator==(const Timeslot&) const = default;
};

struct Stage {
  std::vector<Timeslot> timeslots;  ///< one with hold = kForever: static light
  std::uint32_t cycles = 1;         ///< how often agents play the timeslots; 0 = until the next revision
  /// Under grants the timeslots only say which circuits there are; when each is lit is left to senders and receivers.
  Transmit transmit = Transmit::slots;
  std::vector<OfferedStream> streams{};  ///< under grants: what is to be moved
  bool operator==(const Stage&) const = default;
};

struct JobSchedule {
  JobId job;
  std::vector<Stage> stages;
  bool operator==(const JobSchedule&) const = default;
};

struct Schedule {
  std::string algorithm;
  std::vector<JobSchedule> jobs;
  double objective = 0;  ///< seconds on the wire of one iteration, all jobs' worst
  double bound = 0;      ///< no schedule is better than this
  std::uint64_t steps_used = 0;
  std::vector<std::string> assumptions;
};

}  // namespace loom
