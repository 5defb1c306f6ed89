// SPDX-License-Identifier: Apache-2.0
// Calibrations as tables: of a bank its version and age, of a ring its place and what moves it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "cli/calibrate/calibrate.hpp"
#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/naming.hpp"
#include "cli/nouns/read.hpp"
#include "cli/render/columns.hpp"
#include "cli/render/json.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

std::string decimals(double value, int digits) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

double own_mhz(const RingLaw& law) { return 1e-3 * static_cast<double>(law.shift[law.channel]); }

/// Of its own heater's effect, what the worst of the others has.
double crosstalk(const RingLaw& law) {
  double most = 0;
  for (std::size_t channel = 0; channel < law.shift.size(); ++channel) {
    most = channel == law.channel ? most : std::max(most, std::abs(1e-3 * static_cast<double>(law.shift[channel])));
  }
  return most / own_mhz(law);
}

std::string gigahertz(FrequencyOffset offset) {
  const bool is_zero = magnitude(offset) < FrequencyOffset{5};
  return decimals(is_zero ? 0 : static_cast<double>(offset.mhz) / 1e3, 2) + " GHz";
}

constexpr Column<CalibrationReport> kBanks[] = {
    {"device", [](const CalibrationReport& row) { return std::to_string(row.calibration.device.value); }},
    {"name", kCell<&CalibrationReport::name>},
    {"version", [](const CalibrationReport& row) { return std::to_string(row.calibration.version); }},
    {"state",
     [](const CalibrationReport& row) {
       return std::string(row.calibration.is_empty() ? "FORGOTTEN" : row.in_force ? "in force" : "before");
     }},
    {"age", [](const CalibrationReport& row) { return text_of(row.age); }},
    {"serial", [](const CalibrationReport& row) { return row.calibration.serial.empty() ? "-" : row.calibration.serial; }},
    {"rings", [](const CalibrationReport& row) { return std::to_string(row.calibration.rings.size()); }},
    {"channels", [](const CalibrationReport& row) { return std::to_string(row.calibration.lights.size()); }},
    {"residual", [](const CalibrationReport& row) {
       return row.calibration.rings.empty() ? std::string("-") : gigahertz(residual_of(row.calibration));
     }}};

std::string signed_text(double value, int digits, const char* unit) {
  return (value >= 0 ? "+" : "") + decimals(value, digits) + unit;
}

std::string detuning_text(const ChannelLight& light) {
  return light.detuning ? signed_text(static_cast<double>(light.detuning->mhz) / 1e3, 3, " GHz") : "-";
}

Json detuning_json(const ChannelLight& light) {
  return light.detuning ? Json(static_cast<double>(light.detuning->mhz) / 1e3) : Json(nullptr);
}

constexpr Column<ChannelLight> kLights[] = {
    {"frequency", [](const ChannelLight& light) { return loom::to_string(centre_of(light.slot)); }},
    {"beside its figures", [](const ChannelLight& light) { return loom::to_string(light.offset); }},
    {"beside its channel", detuning_text},
    {"measured at receiver", [](const ChannelLight& light) { return std::to_string(light.receiver.value); }}};

constexpr Column<RingLaw> kRings[] = {
    {"channel", [](const RingLaw& law) { return std::to_string(law.channel); }},
    {"cold resonance", [](const RingLaw& law) { return loom::to_string(law.cold_resonance); }},
    {"own heater", [](const RingLaw& law) { return decimals(own_mhz(law) / 1e3, 3) + " GHz/V^2"; }},
    {"crosstalk", [](const RingLaw& law) { return decimals(100 * crosstalk(law), 2) + " %"; }},
    {"residual", [](const RingLaw& law) { return gigahertz(law.residual); }},
    {"peaks", [](const RingLaw& law) { return std::to_string(law.points); }}};

/// Of how many transmitters, on how many wavelengths.
std::string lights_of(const WayReport& row) {
  std::set<ElementId> transmitters;
  std::set<std::int64_t> frequencies;
  for (const Probe& light : row.lights) {
    transmitters.insert(light.transmitter);
    frequencies.insert(centre_of(light.slot).mhz);
  }
  return row.lights.empty() ? "none is free"
                            : format_text("{} transmitters, {} wavelengths", transmitters.size(), frequencies.size());
}

constexpr Column<WayReport> kWays[] = {{"receiver", kCell<&WayReport::receiver>},
                                       {"name", kCell<&WayReport::name>},
                                       {"monitor", kCell<&WayReport::monitor>},
                                       {"lights that could come", lights_of},
                                       {"expected", kCell<&WayReport::expected>}};

std::string kelvin(const std::optional<std::uint32_t>& milli) { return milli ? decimals(1e-3 * *milli, 1) + " K" : "-"; }

/// The last two rest on a figure of the kind, not of these rings, and say so.
constexpr Column<RingReport> kFabricRings[] = {
    {"ring", kCell<&RingReport::ring>},
    {"name", kCell<&RingReport::name>},
    {"bank", kCell<&RingReport::bank>},
    {"channel", kCell<&RingReport::channel>},
    {"width", [](const RingReport& row) { return gigahertz(row.fwhm); }},
    {"cold, by the fabric", [](const RingReport& row) { return loom::to_string(row.cold_resonance); }},
    {"by its maker", [](const RingReport& row) { return std::string(row.calibrated ? "yes" : "no"); }},
    {"receiver", kCell<&RingReport::receiver>},
    {"monitor", kCell<&RingReport::monitor>},
    {"locked", [](const RingReport& row) { return row.lock.empty() ? std::string("-") : row.lock; }},
    {"moved up by", [](const RingReport& row) { return row.lock.empty() ? std::string("-") : gigahertz(row.trim); }},
    {"may warm (at 10.92 GHz/K, of its kind)", [](const RingReport& row) { return kelvin(row.warmer_millikelvin); }},
    {"may cool", [](const RingReport& row) { return kelvin(row.cooler_millikelvin); }}};
static_assert(kRingMhzPerKelvin == 10'920);

struct RingChange {
  std::uint16_t channel;
  std::string cold;
  std::string own;
};

constexpr Column<RingChange> kChanges[] = {{"channel", [](const RingChange& row) { return std::to_string(row.channel); }},
                                           {"cold resonance", [](const RingChange& row) { return row.cold; }},
                                           {"own heater", [](const RingChange& row) { return row.own; }}};

/// What the bank's rings are by its fabric.
Result<std::vector<RingLaw>> laws_of_fabric(Connection& connection, std::uint64_t bank) {
  const auto reply = connection.ask(Query{Noun::rings, {}});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  std::vector<RingLaw> laws;
  for (const RingReport& ring : std::get<std::vector<RingReport>>(reply->rows)) {
    if (ring.bank.value != bank) {
      continue;
    }
    RingLaw law{static_cast<std::uint16_t>(ring.channel), ring.cold_resonance, std::vector<std::int64_t>(ring.channels, 0)};
    law.shift[ring.channel] = static_cast<std::int64_t>(ring.shift);
    laws.push_back(std::move(law));
  }
  return laws;
}

/// `rows`: of the JSON object, under `key`; `table`: the same for people.
int print_diff(const Globals& globals, const CalibrationReport& now, const std::string& base, const char* key, Json rows,
               const std::string& table) {
  if (globals.json) {
    auto object = answer();
    object["device"] = now.calibration.device.value;
    object["version"] = now.calibration.version;
    object["against"] = base;
    object[key] = std::move(rows);
    print(object);
    return kDone;
  }
  std::fputs(table.c_str(), stdout);
  print_note(format_text("{}, version {}, against {}", now.name, now.calibration.version, base));
  return kDone;
}

/// Of a laser, against the version before or the fabric's figures, beside which nothing is.
int diff_lights(const Globals& globals, const std::vector<CalibrationReport>& rows) {
  const CalibrationReport& now = rows.back();
  const bool has_before = rows.size() > 1 && !rows.front().calibration.lights.empty();
  const std::string base = has_before ? format_text("version {}", rows.front().calibration.version) : "the fabric's figures";
  Json list = Json::array();
  std::vector<ChannelLight> changes;
  for (const ChannelLight& light : now.calibration.lights) {
    const auto& earlier = rows.front().calibration.lights;
    const auto was = std::ranges::find(earlier, light.slot, &ChannelLight::slot);
    ChannelLight change = light;
    if (has_before && was != earlier.end()) {
      change.offset = light.offset - was->offset;
      change.detuning = light.detuning && was->detuning
                            ? std::optional(FrequencyOffset{light.detuning->mhz - was->detuning->mhz})
                            : std::nullopt;
    }
    list.push_back({{"frequency_mhz", centre_of(light.slot).mhz},
                    {"offset_db", change.offset.centi / 100.0},
                    {"detuning_ghz", detuning_json(change)}});
    changes.push_back(change);
  }
  return print_diff(globals, now, base, "channels", std::move(list), table_of(kLights, changes));
}

int diff(const Globals& globals, const std::string& word) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto bank = find_id(*connection, Noun::devices, word);
  const auto reply = bank ? connection->ask(Query{Noun::calibrations, *bank}) : std::unexpected(bank.error());
  if (!reply) {
    return give_up(reply.error());
  }
  const auto& rows = std::get<std::vector<CalibrationReport>>(reply->rows);
  if (!rows.empty() && !rows.back().calibration.lights.empty()) {
    return diff_lights(globals, rows);
  }
  if (rows.empty() || rows.back().calibration.rings.empty()) {
    return give_up({ErrorCode::not_found, format_text("device {} was never calibrated", word),
                    format_text("loom device calibrate {}", word)});
  }
  const CalibrationReport& now = rows.back();
  const bool has_before = rows.size() > 1 && !rows.front().calibration.rings.empty();
  const auto before =
      has_before ? Result<std::vector<RingLaw>>(rows.front().calibration.rings) : laws_of_fabric(*connection, *bank);
  if (!before) {
    return give_up(before.error());
  }
  const std::string base = has_before ? format_text("version {}", rows.front().calibration.version) : "the fabric's figures";
  Json list = Json::array();
  std::vector<RingChange> changes;
  for (const RingLaw& law : now.calibration.rings) {
    const auto was = std::ranges::find(*before, law.channel, &RingLaw::channel);
    if (was == before->end()) {
      continue;
    }
    const double cold = static_cast<double>((law.cold_resonance - was->cold_resonance).mhz) / 1e3;
    const double own = 100 * (own_mhz(law) / own_mhz(*was) - 1);
    list.push_back({{"channel", law.channel}, {"cold_resonance_ghz", cold}, {"own_heater_percent", own}});
    changes.push_back({law.channel, signed_text(cold, 2, " GHz"), signed_text(own, 2, " %")});
  }
  return print_diff(globals, now, base, "rings", std::move(list), table_of(kChanges, changes));
}

}  // namespace

void spread(Json& row, const DeviceCalibration& bank) {
  row["device"] = bank.device.value;
  row["version"] = bank.version;
  row["measured_at"] = std::string(to_string(bank.measured_at));
  row["serial"] = bank.serial;
  row["residual_ghz"] = bank.rings.empty() ? Json(nullptr) : Json(static_cast<double>(residual_of(bank).mhz) / 1e3);
  Json rings = Json::array();
  for (const RingLaw& law : bank.rings) {
    Json parts = Json::array();
    for (const std::int64_t shift : law.shift) {
      parts.push_back(1e-6 * static_cast<double>(shift));
    }
    rings.push_back({{"channel", law.channel},
                     {"cold_resonance_thz", static_cast<double>(law.cold_resonance.mhz) / 1e6},
                     {"shift_ghz_per_square_volt", parts},
                     {"residual_ghz", static_cast<double>(law.residual.mhz) / 1e3},
                     {"peaks", law.points}});
  }
  row["rings"] = rings;
  Json channels = Json::array();
  for (const ChannelLight& light : bank.lights) {
    channels.push_back({{"frequency_mhz", centre_of(light.slot).mhz},
                        {"offset_db", light.offset.centi / 100.0},
                        {"detuning_ghz", detuning_json(light)},
                        {"receiver", light.receiver.value}});
  }
  row["channels"] = channels;
}

std::string text_of(const std::vector<RingReport>& rows) { return rows.empty() ? "" : table_of(kFabricRings, rows); }

std::string text_of(const std::vector<WayReport>& rows) { return rows.empty() ? "" : table_of(kWays, rows); }

std::string text_of(const std::vector<CalibrationReport>& rows) {
  if (rows.empty()) {
    return "";
  }
  std::string text = table_of(kBanks, rows);
  const bool is_one = std::ranges::all_of(
      rows, [&](const CalibrationReport& row) { return row.calibration.device == rows.front().calibration.device; });
  if (!is_one || rows.back().calibration.is_empty()) {
    return text;
  }
  const DeviceCalibration& last = rows.back().calibration;
  return text + "\n" + (last.rings.empty() ? table_of(kLights, last.lights) : table_of(kRings, last.rings));
}

void add_calibration(CLI::App& app, CommandLine& line) {
  CLI::App& group = add_reading(
      app, line, RowFields<CalibrationReport>::kList,
      "calibrations of ring banks and lasers: where light found their rings, how much of it arrives, and at what frequency");
  CLI::App* verb = group.add_subcommand("diff", "What changed since the version before, or against the fabric's figures");
  auto& word = line.keep<std::string>();
  add_named(*verb, "DEVICE", word, "The bank's or laser's number or name");
  line.when(*verb, diff, word);
}

}  // namespace loom::cli
