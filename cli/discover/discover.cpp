// SPDX-License-Identifier: Apache-2.0
// Places to ask come from the command line, or are the serial lines by their names that stay (/dev/serial/by-id).
#include "cli/discover/discover.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cli/command_line.hpp"
#include "cli/discover/probe.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSerialNames = "/dev/serial/by-id";
constexpr std::uint64_t kBaudMax = 4'000'000;  // B4000000: the fastest line that termios knows (asm-generic/termbits.h)

struct DiscoverOptions {
  std::vector<std::string> places;
  std::vector<std::string> kinds;
  std::vector<int> bauds{9'600, 115'200};
  std::vector<std::uint16_t> addresses{1};
  std::string scenario;
  bool all = false;  ///< who does not answer too
};

/// An endpoint as it stands; HOST:PORT over TCP in each protocol; a device file as a serial line, at each speed.
std::vector<std::string> endpoints_of(const std::string& place, const std::vector<int>& bauds) {
  if (place.contains("://")) {
    return {place};
  }
  std::vector<std::string> endpoints;
  if (place.starts_with('/')) {
    for (const int baud : bauds) {
      endpoints.push_back(format_text("serial://{}?baud={}", place, baud));
      endpoints.push_back(format_text("modbus-rtu://{}?baud={}", place, baud));
    }
    return endpoints;
  }
  return {"tcp://" + place, "modbus-tcp://" + place, "http://" + place};
}

std::vector<std::string> serial_lines() {
  std::vector<std::string> lines;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(kSerialNames, none)) {
    lines.push_back(entry.path().string());
  }
  std::ranges::sort(lines);
  return lines;
}

bool is_wanted(const DiscoverOptions& order, const DriverModel& model) {
  return order.kinds.empty() || std::ranges::find(order.kinds, model.model.name) != order.kinds.end();
}

std::vector<ProbeAnswer> probe_all(const DiscoverOptions& order, const std::vector<std::string>& endpoints) {
  std::vector<ProbeAnswer> answers;
  std::uint64_t done = 0;
  Progress progress;
  for (const std::string& endpoint : endpoints) {
    progress.show("asking " + endpoint, done++, endpoints.size());
    const bool has_addresses = endpoint.starts_with("modbus-");
    for (const std::uint16_t address : has_addresses ? order.addresses : std::vector<std::uint16_t>{1}) {
      bool is_named = false;  // a serial number settles who it is
      for (const DriverModel* model : models_behind(endpoint)) {
        if (is_wanted(order, *model) && !is_named) {
          answers.push_back(probe(*model, endpoint, address));
          is_named = answers.back().answers && !answers.back().identity.serial.empty();
        }
      }
    }
  }
  progress.finish(format_text("{} of {} places answer",
                              std::ranges::count_if(endpoints,
                                                    [&](const std::string& endpoint) {
                                                      return std::ranges::any_of(answers, [&](const ProbeAnswer& answer) {
                                                        return answer.answers && answer.endpoint == endpoint;
                                                      });
                                                    }),
                              endpoints.size()));
  return answers;
}

/// The device of the fabric whose serial number this is.
const Device* device_of(const Fabric* fabric, const ProbeAnswer& answer) {
  if (fabric == nullptr || answer.identity.serial.empty()) {
    return nullptr;
  }
  const auto found = std::ranges::find(fabric->devices, answer.identity.serial, &Device::serial);
  return found == fabric->devices.end() ? nullptr : &*found;
}

/// "laser-0", "laser-0: the scenario has it at tcp://..., as a wss"; empty: nobody of the scenario.
std::string place_of(const Fabric* fabric, const ProbeAnswer& answer) {
  const Device* device = device_of(fabric, answer);
  if (device == nullptr) {
    return {};
  }
  const std::string& endpoint = fabric->buses[device->bus.value].endpoint;
  std::string text = device->name;
  if (endpoint != answer.endpoint) {
    text += format_text("; the scenario has it at {}", endpoint);
  }
  if (device->model != answer.model) {
    text += format_text("; the scenario has it as {}", device->model);
  }
  return text;
}

/// Devices whose serial number nobody said: of all, or where places were named, of those that should be there.
std::vector<std::string> missing_of(const Fabric* fabric, const std::vector<ProbeAnswer>& answers, bool has_places) {
  std::vector<std::string> missing;
  for (const Device& device : fabric == nullptr ? std::vector<Device>{} : fabric->devices) {
    const std::string& place = fabric->buses[device.bus.value].endpoint;
    const bool is_asked = !has_places || std::ranges::find(answers, place, &ProbeAnswer::endpoint) != answers.end();
    const bool is_found = std::ranges::any_of(
        answers, [&](const ProbeAnswer& answer) { return answer.answers && answer.identity.serial == device.serial; });
    if (!device.serial.empty() && is_asked && !is_found) {
      missing.push_back(format_text("{} (serial number {}, {} at {})", device.name, device.serial, device.model, place));
    }
  }
  return missing;
}

Json json_of(const Fabric* fabric, const ProbeAnswer& answer) {
  const Device* device = device_of(fabric, answer);
  return {{"endpoint", answer.endpoint},
          {"bus_address", answer.bus_address},
          {"model", answer.model},
          {"answers", answer.answers},
          {"serial", answer.identity.serial},
          {"description", answer.identity.description},
          {"device", device == nullptr ? Json() : Json(device->name)},
          {"why", answer.why}};
}

int discover(const Globals& globals, const DiscoverOptions& order) {
  for (const std::string& kind : order.kinds) {
    const auto models = all_device_models();
    if (std::ranges::find(models, kind, [](const DeviceModel* each) { return each->name; }) == models.end()) {
      return give_up({ErrorCode::invalid_argument, format_text("there is no model '{}'", kind), "loom device models"});
    }
  }
  std::shared_ptr<const Fabric> fabric;
  if (!order.scenario.empty()) {
    auto scenario = load_scenario(order.scenario, all_fabric_kinds());
    if (!scenario) {
      return complain_of(scenario.errors);
    }
    fabric = scenario.value->fabric;
  }
  const std::vector<std::string> places = order.places.empty() ? serial_lines() : order.places;
  if (places.empty()) {
    return give_up({ErrorCode::not_found, format_text("there is nothing in {}, and no place was named", kSerialNames),
                    "loom device discover 10.0.0.7:5025 /dev/ttyUSB0"});
  }
  std::vector<std::string> endpoints;
  for (const std::string& place : places) {
    std::ranges::copy(endpoints_of(place, order.bauds), std::back_inserter(endpoints));
  }
  std::vector<ProbeAnswer> answers = probe_all(order, endpoints);
  const std::vector<std::string> missing = missing_of(fabric.get(), answers, !order.places.empty());
  if (!order.all) {
    std::erase_if(answers, [](const ProbeAnswer& answer) { return !answer.answers; });
  }
  if (globals.json) {
    Json object = cli::answer();
    object["found"] = Json::array();
    for (const ProbeAnswer& each : answers) {
      object["found"].push_back(json_of(fabric.get(), each));
    }
    object["missing"] = missing;
    print(object);
  } else {
    Table table({"endpoint", "address", "model", "serial", "is", "device", "says"});
    for (const ProbeAnswer& each : answers) {
      table.add({each.endpoint, std::to_string(each.bus_address), each.answers ? each.model : "(" + each.model + ")",
                 each.identity.serial, each.identity.description, place_of(fabric.get(), each), each.why});
    }
    std::fputs(table.text().c_str(), stdout);
  }
  for (const std::string& each : missing) {
    print_note("nobody said that he is " + each);
  }
  const bool is_misplaced = std::ranges::any_of(answers, [&](const ProbeAnswer& each) {
    return each.answers && place_of(fabric.get(), each).contains("; the scenario has it");
  });
  return answers.empty() || !missing.empty() || is_misplaced ? kFailed : kDone;
}

}  // namespace

void add_discover(CLI::App& device, CommandLine& line) {
  CLI::App* verb =
      device.add_subcommand("discover", "Who answers on this host's buses, read by the drivers themselves; sets nothing");
  auto& order = line.keep<DiscoverOptions>();
  verb->add_option("PLACE", order.places,
                   "An endpoint (tcp://HOST:PORT, modbus-rtu:///dev/ttyUSB0?baud=9600), HOST:PORT, or a device file; without "
                   "any: the serial lines in /dev/serial/by-id");
  verb->add_option("--kind", order.kinds, "Only these models");
  verb->add_option("--baud", order.bauds, "Speeds of device files")
      ->check(number_check("speed", 1, kBaudMax))
      ->capture_default_str();
  verb->add_option("--address", order.addresses, "Modbus units")
      ->check(number_check<std::uint16_t>("Modbus unit", 0))
      ->capture_default_str();
  verb->add_option("--scenario", order.scenario, "Whose devices they are, by serial number; exit code 1 if one is elsewhere");
  verb->add_flag("--all", order.all, "Also who was asked and did not answer, and what was wrong");
  verb->footer("Stop the agent of this host first: a serial line serves one program at a time.");
  line.when(*verb, discover, order);
}

}  // namespace loom::cli
