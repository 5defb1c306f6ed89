// SPDX-License-Identifier: Apache-2.0
// What an operation of each driver takes on its simulated device and line: the time on the wire beside its floor (the exchanges
// that moved something, and one that reads it back), and the time that it waited beside what the fabric promises of the device
// itself (dark, retuned, lit; settled). Virtual time: the table is a function of the drivers and of the devices' assumed times.
// driver_time [--json] [FABRIC].
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/architectures/registry.hpp"
#include "core/config/fabric_file.hpp"
#include "core/fabric/fabric.hpp"
#include "drivers/registry.hpp"
#include "sim_backend/devices/registry.hpp"

namespace {

using namespace loom;
using std::chrono::milliseconds;

constexpr int kStepsMost = 100'000;

struct Operation {
  bool settled = false;
  Duration took{};
  Duration wire{};        ///< all of its exchanges
  Duration wire_floor{};  ///< of it, what cannot be done without
  Duration promised{};    ///< by the fabric: dark, retuned, lit; settled
  unsigned exchanges = 0;
  unsigned moving = 0;  ///< that did something to the device
};

/// One device with its driver under a clock of their own.
class Bench {
 public:
  Bench(const Fabric& fabric, DeviceId device)
      : driver_(make_driver(fabric, device)), model_(make_simulated_device(fabric, device, keeps())) {}

  Operation fire(const Setpoint& setpoint) {
    driver_->stage(setpoint);
    driver_->fire();
    return run();
  }
  Operation prepare(const Setpoint& setpoint) {
    driver_->stage(setpoint);
    driver_->prepare();
    return run();
  }
  bool tunes_ahead() const { return driver_->can_prepare(); }
  Operation audit() {
    driver_->poll();
    return run();
  }
  Result<void> check(const Setpoint& setpoint) const { return driver_->check(setpoint); }
  void pass(Duration time) { now_ = now_ + time; }

 private:
  static SimDeviceOptions keeps() {
    SimDeviceOptions options;
    options.keep_actuations = true;
    return options;
  }

  Operation run() {
    Operation done;
    const Instant begin = now_;
    Duration to_read{};      // the shortest exchange that did nothing
    Duration moving_wire{};  // of those that did
    Step step = driver_->step(now_, nullptr);
    for (int steps = 0; steps < kStepsMost; ++steps) {
      if (!step.transaction && step.wake == kNever) {
        break;
      }
      if (!step.transaction) {
        now_ = std::max(now_, step.wake);
        step = driver_->step(now_, nullptr);
        continue;
      }
      const std::size_t before = model_->actuations().size();
      ModelReply answer = model_->execute(now_, *step.transaction);
      answer.reply.connection = 1;
      now_ = now_ + answer.service_time;
      done.wire += answer.service_time;
      ++done.exchanges;
      if (model_->actuations().size() != before) {
        ++done.moving;
        moving_wire += answer.service_time;
      } else {
        to_read = to_read == Duration{} ? answer.service_time : std::min(to_read, answer.service_time);
      }
      step = driver_->step(now_, &answer.reply);
    }
    done.took = now_ - begin;
    done.wire_floor = moving_wire + to_read;
    done.settled = driver_->activity() == DriverActivity::settled || driver_->activity() == DriverActivity::idle;
    return done;
  }

  std::unique_ptr<Driver> driver_;
  std::unique_ptr<SimulatedDevice> model_;
  Instant now_ = instant_from_ns(1'000'000);
};

/// Two states of a device that differ in all that it can differ in; nothing of a monitor.
std::vector<Setpoint> setpoints_of(const Fabric& fabric, const Device& device) {
  const Element& element = fabric.element(device.elements.front());
  if (const auto* laser = std::get_if<Transmitter>(&element.kind)) {
    return {TransmitterSetpoint{laser->channels.slot(0), laser->launch_power, true},
            TransmitterSetpoint{laser->channels.slot(laser->channels.count - 1), laser->launch_power, true}};
  }
  if (device.role == DeviceRole::filter) {
    FilterSetpoint near;
    FilterSetpoint far;
    for (std::size_t channel = 0; channel < device.elements.size(); ++channel) {
      const auto& ring = std::get<RingFilter>(fabric.element(device.elements[channel]).kind);
      near.rings.push_back({static_cast<std::uint16_t>(channel), Frequency{ring.cold_resonance.mhz - 100'000}});
      far.rings.push_back({static_cast<std::uint16_t>(channel), Frequency{ring.cold_resonance.mhz - 400'000}});
    }
    return {near, far};
  }
  if (device.role == DeviceRole::wavelength_switch) {
    const FrequencySlot slot{0, 8};
    const auto last = [](std::uint32_t count) { return static_cast<std::uint16_t>(count - 1); };
    return {WavelengthSwitchSetpoint{{{slot, 0, 0, Db{0}}}},
            WavelengthSwitchSetpoint{{{slot, last(element.inputs), last(element.outputs), Db{0}}}}};
  }
  if (device.role == DeviceRole::circuit_switch) {
    CircuitSwitchSetpoint straight;
    CircuitSwitchSetpoint turned;
    const std::uint32_t ports = std::min(element.inputs, element.outputs);
    for (std::uint32_t port = 0; port < ports; ++port) {
      straight.connects.push_back({static_cast<std::uint16_t>(port), static_cast<std::uint16_t>(port)});
      turned.connects.push_back({static_cast<std::uint16_t>(port), static_cast<std::uint16_t>((port + 1) % ports)});
    }
    return {straight, turned};
  }
  return {};
}

/// What the device itself may take for it.
Duration promised(const Fabric& fabric, const Device& device, bool is_move) {
  const Element& element = fabric.element(device.elements.front());
  if (const auto* laser = std::get_if<Transmitter>(&element.kind)) {
    return (is_move ? laser->blank_max : Duration{}) + laser->retune_max + laser->enable_max;
  }
  if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
    return wss->settle_max;
  }
  const auto* ocs = std::get_if<OpticalCircuitSwitch>(&element.kind);
  return ocs == nullptr ? Duration{} : ocs->settle_max;
}

double in_ms(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

struct Row {
  std::string model;
  std::string operation;
  Operation done;
};

void print(const Row& row) {
  std::printf("%-16s %-12s %5u %5u %10.2f %10.2f %6.1fx %10.2f %10.2f%s\n", row.model.c_str(), row.operation.c_str(),
              row.done.exchanges, row.done.moving, in_ms(row.done.wire), in_ms(row.done.wire_floor),
              in_ms(row.done.wire) / in_ms(row.done.wire_floor), in_ms(row.done.took - row.done.wire), in_ms(row.done.promised),
              row.done.settled ? "" : "  it gave up");
}

nlohmann::ordered_json json_of(const Row& row) {
  return {{"model", row.model},
          {"operation", row.operation},
          {"exchanges", row.done.exchanges},
          {"moving", row.done.moving},
          {"wire_ms", in_ms(row.done.wire)},
          {"took_ms", in_ms(row.done.took)},
          {"wire_floor_ms", in_ms(row.done.wire_floor)},
          {"promised_ms", in_ms(row.done.promised)},
          {"settled", row.done.settled}};
}

std::vector<Row> rows_of(const Fabric& fabric, const Device& device) {
  const std::string model(driver_model_of(device).model.name);
  const std::vector<Setpoint> setpoints = setpoints_of(fabric, device);
  std::vector<Row> rows;
  Bench bench(fabric, device.id);
  const auto audit = [&](const char* name) {
    bench.pass(milliseconds{200});
    rows.push_back({model, name, bench.audit()});
  };
  if (setpoints.empty()) {
    audit("first audit");
    audit("audit");
    return rows;
  }
  for (const Setpoint& setpoint : setpoints) {
    if (const auto lawful = bench.check(setpoint); !lawful) {
      std::fprintf(stderr, "%s: %s\n", device.name.c_str(), lawful.error().message.c_str());
      return rows;
    }
  }
  const auto fire = [&](const char* name, const Setpoint& setpoint, bool is_move) {
    Operation done = bench.fire(setpoint);
    done.promised = promised(fabric, device, is_move);
    rows.push_back({model, name, done});
    bench.pass(milliseconds{200});
  };
  fire("first light", setpoints[0], false);
  audit("audit");
  fire("move", setpoints[1], true);
  if (device.role == DeviceRole::transmitter && bench.tunes_ahead()) {
    const Element& element = fabric.element(device.elements.front());
    Bench dark(fabric, device.id);
    rows.push_back({model, "tuned ahead", dark.prepare(setpoints[0])});
    rows.back().done.promised = std::get<Transmitter>(element.kind).retune_max;
    rows.push_back({model, "then dark", dark.fire(darkened(setpoints[0]))});
    rows.push_back({model, "then lit", dark.fire(setpoints[0])});
    rows.back().done.promised = std::get<Transmitter>(element.kind).enable_max;
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool is_json = std::erase(words, "--json") > 0;
  const std::string path = words.empty() ? "configs/fabrics/dialects_4.yaml" : words[0];
  auto loaded = load_fabric(path, all_fabric_kinds());
  if (!loaded) {
    std::fprintf(stderr, "%s cannot be used; driver_time [--json] [FABRIC]\n", path.c_str());
    return 2;
  }
  const Fabric& fabric = *loaded.value;
  if (!is_json) {
    std::printf("%s: one device of every model, ms of virtual time; moved: exchanges that did something\n", path.c_str());
    std::printf("%-16s %-12s %5s %5s %10s %10s %7s %10s %10s\n", "model", "operation", "asked", "moved", "wire", "wire floor",
                "ratio", "waited", "promised");
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::set<std::string_view> seen;
  for (const Device& device : fabric.devices) {
    if (!seen.insert(driver_model_of(device).model.name).second) {
      continue;
    }
    for (const Row& row : rows_of(fabric, device)) {
      is_json ? all.push_back(json_of(row)) : print(row);
    }
  }
  if (is_json) {
    std::printf("%s\n", all.dump(1).c_str());
  }
  return 0;
}
