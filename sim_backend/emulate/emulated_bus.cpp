// SPDX-License-Identifier: Apache-2.0
// A SimBus, its log, and faults of two sources: the command line, and the scenario of a lab that runs.
#include "sim_backend/emulate/emulated_bus.hpp"

#include <string>
#include <utility>

#include "core/text/format_text.hpp"
#include "runtime/process_limits.hpp"
#include "runtime/state/state_folder.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/judge/light_log.hpp"

namespace loom {

EmulatedBus::EmulatedBus(AsioLoop& loop, EmulatedDevices devices, const SimDeviceOptions& models,
                         const EmulatorOptions& options)
    : loop_(loop),
      devices_(std::move(devices)),
      light_id_(options.light_id),
      bus_(loop, devices_.fabric, {}, {.devices = models, .lanes_are_devices = true}) {}

Result<std::unique_ptr<EmulatedBus>> EmulatedBus::open(AsioLoop& loop, EmulatedDevices devices, const SimDeviceOptions& models,
                                                       const EmulatorOptions& options) {
  std::unique_ptr<EmulatedBus> bus(new EmulatedBus(loop, std::move(devices), models, options));
  LOOM_TRY(bus->open_light_log(options));
  LOOM_TRY(bus->inject_faults(options));
  return bus;
}

Result<void> EmulatedBus::open_light_log(const EmulatorOptions& options) {
  if (options.light_log.empty()) {
    return {};
  }
  light_log_.open(options.light_log, std::ios::trunc);
  if (!light_log_) {
    return fail(ErrorCode::storage, format_text("light log {} cannot be written", options.light_log));
  }
  close_to_others(options.light_log);
  bus_.on_light([this](const OpticalChange& change) {
    OpticalChange named = change;
    if (!devices_.has_own_ids) {
      named.device = DeviceId{light_id_ + change.device.value};
    }
    std::string line;
    append_line(line, named);
    light_log_ << line << std::flush;  // whoever replays reads while we run
  });
  return {};
}

Result<void> EmulatedBus::inject_faults(const EmulatorOptions& options) {
  for (const std::string& text : options.faults) {
    for (const DeviceId device : devices_.devices) {
      LOOM_TRY(inject_fault(text, device));
    }
  }
  if (!options.faults_of.empty()) {
    announced_.emplace(
        loop_, devices_.faults, [files = StateFolder(options.faults_of)] { return files.read_start(); },
        [this](DeviceId device, const DeviceFault& fault) { bus_.inject(device, fault); });
  }
  return {};
}

Result<void> EmulatedBus::inject_fault(std::string_view text, DeviceId device) {
  auto parsed = parse_fault(text, devices_.fabric->device(device));
  if (!parsed) {
    return std::unexpected(parsed.error());
  }
  const auto begin = [this, device, given = *parsed] {
    DeviceFault fault = given.fault;
    fault.until = given.lasts == kForever ? kNever : loop_.now() + given.lasts;
    bus_.inject(device, fault);
  };
  if (parsed->after == Duration{}) {
    begin();
  } else {
    loop_.call_at(loop_.now() + parsed->after, Precision::ordinary, begin);
  }
  return {};
}

void EmulatedBus::power_cycle(Instant until) {
  DeviceFault reboot;
  reboot.kind = DeviceFaultKind::reboot;
  reboot.until = until;
  for (const DeviceId device : devices_.devices) {
    bus_.inject(device, reboot);
  }
}

}  // namespace loom
