// SPDX-License-Identifier: Apache-2.0
// SimBus: the REGISTERS seam over device models. A lane a bus executes its transactions in order and is busy for each one's
// service time. Time comes from any TimeSeam, so the same class serves the simulation and an agent process in `soft` mode.
// What the devices do to light goes to a callback and, if wanted, to a log; drivers and agents see neither.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/seams.hpp"
#include "sim_backend/devices/light_observer.hpp"
#include "sim_backend/devices/simulated_device.hpp"

namespace loom {

struct SimBusOptions {
  SimDeviceOptions devices;     ///< `seed` is mixed with each device's id
  bool keep_light_log = false;  ///< append-only, for processes that hand their light to somebody else
  /// A lane is the device's own end of the wire: what it does not answer takes it no time. Else it is the host's, which waits.
  bool lanes_are_devices = false;
};

class SimBus final : public RegisterSeam {
 public:
  using OnLight = std::function<void(const OpticalChange& change)>;

  /// Models the devices of `agents` whose bus endpoint is "sim"; empty = of every node. A transaction for any other device
  /// is answered with silence.
  /// What a device draws its own habits and noise from.
  static std::uint64_t seed_of(std::uint64_t seed, DeviceId device) {
    return seed ^ ((device.value + 1) * 0x9e3779b97f4a7c15ULL);
  }

  SimBus(TimeSeam& time, std::shared_ptr<const Fabric> fabric, std::span<const NodeId> agents, SimBusOptions options);

  void submit(BusId bus, const Transaction& transaction, Done done) override;

  /// The process behind these buses died: what waits for a wire is never sent; what is on a wire takes its time there.
  void abandon(NodeId agent);
  /// Writes to a device that nobody had read since its process died or its power came back (keep_actuations). Darkening is no
  /// such write: it is right whatever the device holds.
  std::uint64_t blind_writes() const { return blind_writes_; }
  /// Registers that commands changed or tried to change, of all devices, since the beginning (keep_actuations).
  std::uint64_t register_writes() const;
  /// Called at the instant of each change of light, in order. Power-up states are given at once for every device.
  void on_light(OnLight on_light);
  /// What monitors among the models measure; without it they see darkness.
  void look_through(const LightSight& sight);
  /// Every change so far; empty unless keep_light_log.
  std::span<const OpticalChange> light_log() const { return light_log_; }
  bool has_model(DeviceId device) const { return models_[device.value] != nullptr; }
  /// An edge reaches the device's trigger input. Precondition: has_model(device).
  void edge(DeviceId device, Instant at);
  /// Precondition: has_model(device).
  void inject(DeviceId device, const DeviceFault& fault);
  SimulatedDevice& model(DeviceId device) { return *models_[device.value]; }
  std::uint64_t transactions() const { return transactions_; }

 private:
  struct QueuedTransaction {
    Transaction transaction;
    Done done;
  };
  struct BusQueue {
    std::vector<QueuedTransaction> waiting;  ///< front: under way
    BusReply reply;                          ///< of the one under way
    std::uint32_t connection = 1;            ///< another one after each power cycle of a device behind it
  };
  void begin(BusId bus);
  void finish(BusId bus);
  std::vector<OpticalChange> power_up_light() const;
  void note_power_cycle(DeviceId device);
  void collect_light(SimulatedDevice& model);
  void emit(OpticalChange& change);

  TimeSeam& time_;
  std::shared_ptr<const Fabric> fabric_;
  SimBusOptions options_;
  std::vector<std::unique_ptr<SimulatedDevice>> models_;  ///< by device
  std::vector<std::uint32_t> generation_;                 ///< by device: of the newest change taken from its model
  std::vector<BusQueue> lanes_;                           ///< by bus
  OnLight on_light_;
  std::vector<OpticalChange> light_log_;
  std::vector<OpticalChange> ahead_;  ///< changes that lie ahead, until their instant
  std::vector<std::uint32_t> free_ahead_;
  std::vector<bool> unread_;  ///< by device: its process died or its power went, and nobody has read it since
  std::uint64_t transactions_ = 0;
  std::uint64_t blind_writes_ = 0;
};

}  // namespace loom
