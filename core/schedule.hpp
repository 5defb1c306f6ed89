// SPDX-License-Identifier: Apache-2.0
// Schedule: matchings with hold and guard times. A job's schedule is a list of stages; inside a stage no switch moves, so
// agents play its timeslots by themselves; going from one stage to the next is a commit (a new revision).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/circuit.hpp"
#include "core/forwarding/forwarding_table.hpp"
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

/// One input of a circuit switch led to one of its outputs.
struct SwitchWire {
  DeviceId device;
  std::uint16_t input = 0;
  std::uint16_t output = 0;
  auto operator<=>(const SwitchWire&) const = default;
};

struct JobSchedule {
  JobId job;
  std::vector<Stage> stages;
  /// Cut through: a direct-connect topology, over all of whose rings collectives are spread; pairs with a circuit of their own
  /// are not in the table. Stored and forwarded: what the timeslots were made for.
  ForwardingTable forwarding{};
  /// Circuits of the job that come or go with the next plan, which is made as soon as this one is confirmed: those that shall
  /// come once Schedule::wires have settled, and those of before that stay until what replaces them is lit.
  std::uint32_t waiting = 0;
  std::string note{};  ///< for people: which kind of schedule, and why this one
  bool operator==(const JobSchedule&) const = default;
};

/// Whether the nodes of the job repeat its light for each iteration without the controller: one stage that ends. Standing light
/// needs no repeating, and from one stage to the next a commit leads.
inline bool is_repeated_by_nodes(const JobSchedule& schedule) {
  if (schedule.stages.size() != 1 || schedule.stages.front().cycles == 0) {
    return false;
  }
  const Stage& stage = schedule.stages.front();
  return stage.transmit == Transmit::grants ||
         (!stage.timeslots.empty() && (stage.timeslots.size() > 1 || stage.timeslots.front().hold != kForever));
}

/// How a schedule came about, for people: what bounds it and what binds, by the scheduler that knows.
struct ScheduleAccount {
  std::vector<std::string> why;                       ///< a sentence each; only if asked for (Budget::wants_account)
  std::vector<std::uint32_t> jumps;                   ///< of the rings that one job's topology is made of
  std::optional<std::uint32_t> wavelengths;           ///< lit; nothing where light has no choice of wavelength
  std::vector<std::string> rings;                     ///< rings of fibre, outermost first; only if asked for
  std::vector<std::uint32_t> ring_channels;           ///< by ring: wavelengths that it has
  std::vector<std::vector<std::uint32_t>> ring_load;  ///< [ring][segment k, between nodes k and k + 1]: wavelengths lit
};

struct Schedule {
  std::string algorithm;
  std::vector<JobSchedule> jobs;
  /// What circuit switches hold whether light passes or not, in all stages; ascending. A circuit that comes to a wired input
  /// goes where the wire leads.
  std::vector<SwitchWire> wires{};
  double objective = 0;  ///< seconds on the wire of one iteration, all jobs' worst
  double bound = 0;      ///< no schedule is better than this
  std::uint64_t steps_used = 0;
  std::vector<std::string> assumptions;
  ScheduleAccount account{};
};

}  // namespace loom
