// SPDX-License-Identifier: Apache-2.0
// loom device list|show|set|reset, and what needs no controller: models, discover.
#include <array>
#include <cstdio>
#include <variant>

#include "cli/calibrate/calibrate.hpp"
#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/discover/discover.hpp"
#include "cli/discover/models.hpp"
#include "cli/naming.hpp"
#include "cli/nouns/device_words.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/read.hpp"
#include "cli/nouns/request.hpp"
#include "cli/nouns/rows.hpp"
#include "core/fabric/gain_stage.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

struct DeviceOptions {
  std::string device;              ///< its number or name
  std::vector<std::string> words;  ///< key=value
  bool clear = false;
  bool wait = false;
};

struct ReadingText {
  std::string operator()(std::monostate) const { return "never read"; }
  std::string operator()(const TransmitterObservation& laser) const {
    std::array<char, 32> ratio{};
    if (laser.pre_fec_errors) {
      std::snprintf(ratio.data(), ratio.size(), ", pre-FEC BER %.1e", static_cast<double>(*laser.pre_fec_errors) * 1e-15);
    }
    return loom::to_string(laser.frequency) + (laser.emitting ? ", " + loom::to_string(laser.power) : ", dark") +
           (laser.locked ? "" : ", unlocked") + (laser.osnr ? ", OSNR " + loom::to_string(*laser.osnr) : "") + ratio.data();
  }
  std::string operator()(const FilterObservation& heater) const {
    std::string text;
    for (const std::int32_t millivolts : heater.millivolts) {
      text += (text.empty() ? "" : " ") + std::to_string(millivolts);
    }
    text += " mV";
    for (const RingLock& lock : heater.locks) {
      text += format_text(", channel {} {} ({}{} MHz)", lock.channel, to_string(lock.state), lock.trim.mhz < 0 ? "" : "+",
                          lock.trim.mhz);
    }
    return text;
  }
  std::string operator()(const WavelengthSwitchObservation& wss) const {
    return format_text("{} routes{}", wss.routes.size(), wss.settled ? "" : ", moving");
  }
  std::string operator()(const CircuitSwitchObservation& ocs) const {
    return format_text("{} connects{}{}", ocs.connects.size(),
                       ocs.occupied.empty() ? "" : format_text(", {} of others", ocs.occupied.size()),
                       ocs.settled ? "" : ", moving");
  }
  std::string operator()(const MonitorObservation& monitor) const {
    std::string text;
    for (const LightReading& light : monitor.lights) {
      text += format_text("{}{}: {}{}", text.empty() ? "" : ", ", light.channel, loom::to_string(light.power),
                          light.frequency.mhz == 0 ? "" : " at " + loom::to_string(light.frequency));
    }
    return text.empty() ? "dark" : text;
  }
  std::string operator()(const GainObservation& stage) const {
    const auto side = [](const char* name, const std::optional<Dbm>& power) {
      return !power ? std::string{} : format_text(", {} {}", name, *power <= kNoLight ? "dark" : loom::to_string(*power));
    };
    return format_text("{}{}{}{}", stage.gain == kGainOff ? gain_text(stage.gain) : "gain " + gain_text(stage.gain),
                       side("in", stage.input), side("out", stage.output), stage.settled ? "" : ", moving");
  }
};

std::string health_text(DeviceHealth health) {
  static constexpr std::array<const char*, 4> kWords{"unknown", "ready", "moving", "FAILED"};
  return kWords.at(static_cast<std::size_t>(health));
}

/// Of a circuit switch: "8 of 12 wires"; the rest is dark: idle, or wired ahead.
std::string lit_text(const DeviceReport& row) {
  const auto* ocs = row.desired ? std::get_if<CircuitSwitchSetpoint>(&*row.desired) : nullptr;
  return ocs == nullptr ? "" : format_text("{} of {} wires", row.lit_ways, ocs->connects.size());
}

constexpr Column<DeviceReport> kColumns[] = {
    {"device", kCell<&DeviceReport::device>},
    {"name", kCell<&DeviceReport::name>},
    {"role", kCell<&DeviceReport::role>},
    {"model", kCell<&DeviceReport::model>},
    {"node", kCell<&DeviceReport::agent>},
    {"health", [](const DeviceReport& row) { return health_text(row.observation.health); }},
    {"reading", [](const DeviceReport& row) { return std::visit(ReadingText{}, row.observation.reading); }},
    {"proof",
     [](const DeviceReport& row) {
       const bool is_read = !std::holds_alternative<std::monostate>(row.observation.reading);
       return std::string(is_read ? loom::to_string(row.observation.proof) : "");
     }},
    {"lit", lit_text},
    {"set by", [](const DeviceReport& row) { return std::string(row.adopted   ? "ADOPTED"
                                                                : row.by_hand ? "HAND"
                                                                              : "plan"); }},
    {"drift",
     [](const DeviceReport& row) {
       return row.drift == Drift::none ? std::string() : std::string(loom::to_string(row.drift));
     }},
    {"fault", [](const DeviceReport& row) { return row.observation.fault.empty() ? row.unusable : row.observation.fault; }}};

int set_device(const Globals& globals, const DeviceOptions& order) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto number = find_id(*connection, Noun::devices, order.device);
  if (!number) {
    return give_up(number.error());
  }
  DeviceRequest ask{DeviceId{static_cast<std::uint32_t>(*number)}, {}, globals.dry_run};
  std::string unusable;
  if (order.clear && !order.words.empty()) {
    return give_up({ErrorCode::invalid_argument, "--clear and key=value exclude each other", "loom device set --help"});
  }
  if (!order.clear) {
    const auto rows = connection->ask(Query{Noun::devices, *number});
    if (!rows) {
      return give_up(rows.error());
    }
    const auto& devices = std::get<std::vector<DeviceReport>>(rows->rows);
    if (devices.empty()) {
      return give_up({ErrorCode::not_found, format_text("there is no device {}", order.device), "loom device list"});
    }
    auto setpoint = setpoint_of(devices.front(), order.words);
    if (!setpoint) {
      return give_up(setpoint.error());
    }
    ask.setpoint = std::move(setpoint->setpoint);
    ask.heaters = std::move(setpoint->heaters);
    unusable = devices.front().unusable;
  }
  const auto reply = connection->ask(std::move(ask));
  if (!reply) {
    return give_up(reply.error());
  }
  const int result =
      conclude(globals, *connection, *reply, order.wait,
               format_text("device {}{}", order.device, order.clear ? " is the plan's again" : " is set by hand"));
  if (result == kDone && order.wait && !unusable.empty() && !globals.dry_run) {
    return give_up({ErrorCode::refused,
                    format_text("device {} is set once it follows orders again: {}", order.device, unusable),
                    format_text("loom device reset {}", order.device)});
  }
  return result;
}

int reset_device(const Globals& globals, const DeviceOptions& order) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto number = find_id(*connection, Noun::devices, order.device);
  if (!number) {
    return give_up(number.error());
  }
  const auto reply = connection->ask(ResetRequest{DeviceId{static_cast<std::uint32_t>(*number)}});
  if (!reply) {
    return give_up(reply.error());
  }
  if (globals.json) {
    auto object = json_of(std::get<std::vector<DeviceReport>>(reply->rows));
    object["writes"] = reply->writes;
    print(object);
    return kDone;
  }
  std::fputs(text_of(std::get<std::vector<DeviceReport>>(reply->rows)).c_str(), stdout);
  print_note(format_text("device {} was read back and {}", order.device,
                         reply->writes == 0
                             ? std::string("was as it shall be")
                             : format_text("set again: {}{}", reply->writes, reply->writes == 1 ? " write" : " writes")));
  return kDone;
}

}  // namespace

std::string text_of(const std::vector<DeviceReport>& rows) { return table_of(kColumns, rows); }

void add_device(CLI::App& app, CommandLine& line) {
  CLI::App& group =
      add_reading(app, line, RowFields<DeviceReport>::kList, "devices by role and model, and what they were last seen to be");
  auto& options = line.keep<DeviceOptions>();
  CLI::App* set = group.add_subcommand("set", "Give a setpoint by hand; it holds until --clear");
  add_named(*set, "DEVICE", options.device, "The device's number or name");
  set->add_option("KEY=VALUE", options.words,
                  "By role: transmitter: frequency=193.1THz power=-1dBm emit=on; filter: ring.K=193.05THz volts.K=2.5V; "
                  "wavelength_switch: "
                  "route=N/M:IN-OUT; circuit_switch: connect=IN-OUT; gain_stage: gain=-3dB, or off");
  set->add_flag("--clear", options.clear, "The plan decides again");
  add_change_flags(*set, line, options.wait);
  line.when(*set, set_device, options);
  CLI::App* reset = group.add_subcommand("reset", "Read it back and bring it to its setpoint again");
  add_named(*reset, "DEVICE", options.device, "The device's number or name");
  line.when(*reset, reset_device, options);
  add_calibrate(group, line);
  add_models(group, line);
  add_discover(group, line);
}

}  // namespace loom::cli
