// SPDX-License-Identifier: Apache-2.0
// One lane at a time: execute at the instant when the wire is free, answer after the service time.
#include "sim_backend/world/sim_bus.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "sim_backend/devices/registry.hpp"

namespace loom {

SimBus::SimBus(TimeSeam& time, std::shared_ptr<const Fabric> fabric, std::span<const NodeId> agents, SimBusOptions options)
    : time_(time), fabric_(std::move(fabric)), options_(options) {
  models_.resize(fabric_->devices.size());
  generation_.resize(fabric_->devices.size());
  lanes_.resize(fabric_->buses.size());
  unread_.resize(fabric_->devices.size());
  std::vector<bool> wanted(fabric_->nodes.size(), agents.empty());
  for (const NodeId node : agents) {
    wanted[node.value] = true;
  }
  for (const Device& device : fabric_->devices) {
    if (wanted[device.agent.value] && fabric_->buses[device.bus.value].endpoint == "sim") {
      SimDeviceOptions own = options_.devices;
      own.seed = seed_of(own.seed, device.id);
      models_[device.id.value] = make_simulated_device(*fabric_, device.id, own);
    }
  }
  if (options_.keep_light_log) {
    light_log_ = power_up_light();
  }
}

void SimBus::submit(BusId bus, const Transaction& transaction, Done done) {
  LOOM_ASSERT(bus.value < lanes_.size());
  BusQueue& lane = lanes_[bus.value];
  lane.waiting.push_back({transaction, std::move(done)});
  if (lane.waiting.size() == 1) {
    begin(bus);
  }
}

void SimBus::begin(BusId bus) {
  BusQueue& lane = lanes_[bus.value];
  const Transaction& transaction = lane.waiting.front().transaction;
  ++transactions_;
  Duration service = transaction.deadline;
  lane.reply = BusReply{};
  lane.reply.status = BusStatus::timeout;
  const std::uint32_t index = transaction.device.value;
  const bool is_connected = transaction.connection == 0 || transaction.connection == lane.connection;
  const bool present = is_connected && index < models_.size() && models_[index] != nullptr &&
                       fabric_->devices[index].bus == bus && fabric_->devices[index].bus_address == transaction.bus_address;
  if (present) {
    const std::size_t writes_before = models_[index]->actuations().size();
    ModelReply answer = models_[index]->execute(time_.now(), transaction);
    const std::span written = std::span{models_[index]->actuations()}.subspan(writes_before);
    const auto darkens = [&](const Actuation& write) { return models_[index]->only_darkens(write); };
    blind_writes_ += unread_[index] && !std::ranges::all_of(written, darkens) ? 1U : 0U;
    unread_[index] = unread_[index] && (answer.reply.status != BusStatus::ok || !written.empty());
    if (answer.reply.status == BusStatus::lost) {
      note_power_cycle(models_[index]->device());
    }
    lane.reply = std::move(answer.reply);
    lane.reply.connection = lane.connection;
    const bool is_silent = lane.reply.status == BusStatus::timeout;
    service = is_silent && options_.lanes_are_devices ? options_.devices.device_time : answer.service_time;
    collect_light(*models_[index]);
  } else if (!is_connected) {
    lane.reply.status = BusStatus::lost;
    lane.reply.cause = "the connection that this belongs to was lost";
    service = options_.devices.device_time;
  }
  time_.call_at(time_.now() + service, Precision::ordinary, [this, bus] { finish(bus); });
}

void SimBus::finish(BusId bus) {
  BusQueue& lane = lanes_[bus.value];
  const Done done = std::move(lane.waiting.front().done);
  BusReply reply = std::move(lane.reply);
  lane.waiting.erase(lane.waiting.begin());
  if (!lane.waiting.empty()) {
    begin(bus);
  }
  done(std::move(reply));
}

void SimBus::abandon(NodeId agent) {
  for (const Bus& bus : fabric_->buses) {
    BusQueue& lane = lanes_[bus.id.value];
    if (bus.agent == agent && !lane.waiting.empty()) {
      lane.waiting.erase(lane.waiting.begin() + 1, lane.waiting.end());
      lane.waiting.front().done = [](const BusReply&) {};
    }
  }
  for (const DeviceId device : fabric_->devices_of_agent[agent.value]) {
    unread_[device.value] = true;
  }
}

std::uint64_t SimBus::register_writes() const {
  std::uint64_t sum = 0;
  for (const auto& model : models_) {
    sum += model ? model->actuations().size() : 0;
  }
  return sum;
}

void SimBus::inject(DeviceId device, const DeviceFault& fault) {
  LOOM_ASSERT(has_model(device));
  models_[device.value]->inject(time_.now(), fault);
  if (fault.kind == DeviceFaultKind::reboot) {
    note_power_cycle(device);
  }
  collect_light(*models_[device.value]);
}

void SimBus::edge(DeviceId device, Instant at) {
  LOOM_ASSERT(has_model(device));
  if (auto* input = dynamic_cast<EdgeInput*>(models_[device.value].get())) {
    input->edge(at);
    collect_light(*models_[device.value]);
  }
}

void SimBus::note_power_cycle(DeviceId device) {
  unread_[device.value] = true;
  ++lanes_[fabric_->device(device).bus.value].connection;
}

void SimBus::on_light(OnLight on_light) {
  on_light_ = std::move(on_light);
  for (const OpticalChange& change : power_up_light()) {
    on_light_(change);
  }
}

void SimBus::look_through(const LightSight& sight) {
  for (const auto& model : models_) {
    if (auto* observer = dynamic_cast<LightObserver*>(model.get())) {
      observer->look_through(sight);
    }
  }
}

std::vector<OpticalChange> SimBus::power_up_light() const {
  std::vector<OpticalChange> changes;
  for (const auto& model : models_) {
    if (model) {
      changes.push_back({time_.now(), model->device(), 0, model->light(time_.now())});
    }
  }
  return changes;
}

void SimBus::collect_light(SimulatedDevice& model) {
  if (!model.has_changes()) {
    return;
  }
  for (OpticalChange& change : model.take_changes()) {
    std::uint32_t& newest = generation_[change.device.value];
    newest = std::max(newest, change.generation);
    if (change.at <= time_.now()) {
      emit(change);
      continue;
    }
    std::uint32_t place = 0;
    if (free_ahead_.empty()) {
      place = static_cast<std::uint32_t>(ahead_.size());
      ahead_.push_back(std::move(change));
    } else {
      place = free_ahead_.back();
      free_ahead_.pop_back();
      ahead_[place] = std::move(change);
    }
    time_.call_at(ahead_[place].at, Precision::ordinary, [this, place] {
      OpticalChange due = std::move(ahead_[place]);
      free_ahead_.push_back(place);
      if (due.generation >= generation_[due.device.value]) {
        emit(due);
      }
    });
  }
}

void SimBus::emit(OpticalChange& change) {
  // Real time may be late for an instant; the log keeps the instant at which the light really changed.
  if (on_light_) {
    on_light_(change);
  }
  if (options_.keep_light_log) {
    light_log_.push_back(std::move(change));
  }
}

}  // namespace loom
