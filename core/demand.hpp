// SPDX-License-Identifier: Apache-2.0
// Demand: what the jobs want moved, symbolic where it is symmetric, so that a 1024-node ring costs O(N) and an all-to-all
// costs O(1) until somebody asks for its matrix. Also Intent: what the operator wants, from which demand is estimated.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/circuit.hpp"
#include "core/ids.hpp"
#include "core/messages/training.hpp"
#include "core/plan.hpp"
#include "core/ring/calibration.hpp"
#include "core/schedule.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  barrier,
  point_to_point,
};

std::string_view to_string(CollectiveKind kind);

/// One collective of one training iteration. `ranks` are indices into the job's node list, empty = all of them.
/// `bytes` is the size of the buffer of one rank (all-to-all: what one rank sends in sum, its own share included;
/// all-gather: the gathered buffer; reduce-scatter: the buffer before it is scattered).
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::vector<std::uint32_t> ranks{};
  Bytes bytes{};
  std::uint32_t count = 1;
  Duration ready = kForever;   ///< compute done when it may start; kForever: all of the iteration's
  Duration needed = kForever;  ///< compute beyond this point waits for it; kForever: only the iteration's end does
  /// All-to-all with uneven splits: bytes from the i-th to the j-th of the ranks, row-major; empty = bytes / ranks each.
  std::vector<Bytes> splits{};
  bool operator==(const Collective&) const = default;
};

/// What a job asks of its architecture, by key, as written: which keys there are and what they may be only its folder knows.
using JobOptions = std::map<std::string, std::string, std::less<>>;

/// What a job was admitted with beside its nodes, where a fabric leaves a choice: ascending numbers by name, whose meaning only
/// its architecture knows.
using JobShare = std::map<std::string, std::vector<std::uint32_t>, std::less<>>;

/// What an operator submits. Importers and the model zoo make it; the controller places it.
struct JobSpec {
  std::string name;
  std::string workload;  ///< "vgg19", or the trace's name
  std::uint32_t node_count = 0;
  std::vector<NodeId> placement;        ///< rank -> node; empty = the scheduler places
  std::vector<Collective> collectives;  ///< of one iteration, in issue order
  Duration compute{};                   ///< of one iteration
  std::vector<std::string> assumptions;
  JobOptions options{};
  Transmit transmit = Transmit::slots;
  bool adapt = false;  ///< planned anew when its measured demand says so (docs/live_demand.md)
  PacedBy paced_by = PacedBy::model;
  bool operator==(const JobSpec&) const = default;
};

struct Job {
  JobId id;
  JobSpec spec;
  std::vector<NodeId> nodes;  ///< rank -> node, once placed
  std::uint32_t stage = 0;    ///< the stage of its schedule that is desired now
  JobShare share{};
  /// What one iteration moves as it was measured, once its light has followed that (JobSpec::adapt); empty: as declared.
  std::vector<Collective> measured{};
  /// What its light is made for.
  const std::vector<Collective>& demand() const { return measured.empty() ? spec.collectives : measured; }
  bool operator==(const Job&) const = default;
};

/// What a device shall be beside the plan, until an operator clears it. By hand: an operator gave the setpoint, and it stands
/// instead of the plan's. Adopted: the controller found it (`reconcile: adopt`), and it stands beside the plan's. Then rows and
/// rings are added to the plan's; a laser that emits is as it was found; of one that does not, only the power was adopted: it
/// is what the plan lights it with.
struct DeviceOverride {
  DeviceId device;
  Setpoint setpoint;
  Revision found_beside{};  ///< adopted: the confirmed revision beside which it was found; 0: by hand
  bool is_adopted() const { return found_beside != Revision{}; }
  bool operator==(const DeviceOverride&) const = default;
};

/// Everything that an operator asked for, as of one journal row.
struct Intent {
  std::vector<Job> jobs;        ///< ascending id
  std::vector<NodeId> drained;  ///< ascending; get no new jobs
  bool lasers_off = false;
  std::vector<NodeId> maintenance{};        ///< ascending; dark, latched, never repaired
  std::vector<DeviceOverride> overrides{};  ///< ascending device
  std::vector<JobSchedule> pinned{};        ///< ascending job; schedules that an operator gave instead of the scheduler
  /// Ascending (device, version): the last of a device is in force, those before it are kept to be compared with.
  std::vector<DeviceCalibration> calibrations{};
  std::vector<Probe> probes{};      ///< ascending transmitter; while somebody measures
  std::vector<RingDrive> drives{};  ///< ascending ring; likewise
  bool operator==(const Intent&) const = default;
};

/// Of a device, in force; null: it was never calibrated.
const DeviceCalibration* calibration_of(const Intent& intent, DeviceId device);
/// Of light from this transmitter in this slot, as its laser's calibration in force has it; 0 where that does not name it.
Db power_offset(const Fabric& fabric, const Intent& intent, ElementId transmitter, FrequencySlot slot);

struct JobDemand {
  JobId job;
  std::vector<NodeId> nodes;  ///< rank -> node
  std::vector<Collective> collectives;
  std::uint32_t stage = 0;
  std::vector<Circuit> held;  ///< its light of now: a scheduler keeps these wavelengths wherever they still serve
  JobOptions options{};
  Transmit transmit = Transmit::slots;
  JobShare share{};
};

struct Demand {
  std::vector<JobDemand> jobs;
  std::vector<SwitchWire> wired{};  ///< what circuit switches hold now, ascending
};

}  // namespace loom
