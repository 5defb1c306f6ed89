// SPDX-License-Identifier: Apache-2.0
// Gains that move, and two ways to be told.
#include "sim_backend/devices/gain/gain_models.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/gain/gain_registers.hpp"
#include "drivers/monitor/scpi_readings.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "sim_backend/devices/wire.hpp"

namespace loom {
namespace {

constexpr int kSteps = 8;                     ///< of a gain on its way
constexpr Dbm kDarkReading{-7'000};           ///< what a sensor makes of nothing [K]
constexpr std::uint8_t kIllegalFunction = 1;  // Modbus application protocol V1.1b3 section 7
constexpr std::uint8_t kIllegalAddress = 2;
constexpr std::uint8_t kIllegalValue = 3;
constexpr std::uint8_t kBusy = 6;
constexpr std::size_t kQueueMax = 16;

}  // namespace

GainStageModel::GainStageModel(const Device& device, const GainProfile& profile, const SimDeviceOptions& options)
    : SimulatedDevice(device.id, options), profile_(profile), input_{device.elements.front(), 0} {
  GainStageModel::power_up(Instant{});
}

void GainStageModel::power_up(Instant) {
  live_ = {};
  live_.gain = profile_.range.least;
  live_.is_on = !profile_.may_turn_off;
}

/// From gain to gain in steps; from and to darkness at the end of its time.
Db GainStageModel::gain_at(Instant at) const {
  const Db target = live_.is_on ? live_.gain : kGainOff;
  if (at >= live_.until) {
    return target;
  }
  if (live_.before == kGainOff || target == kGainOff) {
    return live_.before;
  }
  const std::int64_t gone =
      (at - live_.since).count() * kSteps / std::max<std::int64_t>((live_.until - live_.since).count(), 1);
  return live_.before + Db{static_cast<std::int32_t>((target - live_.before).centi * gone / kSteps)};
}

OpticalState GainStageModel::light(Instant at) const {
  const Db gain = is_broken(at) ? kGainOff : gain_at(at);
  return GainLight{gain == kGainOff ? gain : gain - dimming(at, false)};
}

void GainStageModel::append_breakpoints(Instant, std::vector<Instant>& instants) const {
  for (int step = 1; step <= kSteps; ++step) {
    instants.push_back(live_.since + (live_.until - live_.since) * step / kSteps);
  }
  instants.push_back(live_.until);
}

bool GainStageModel::set(Instant now, Instant at, std::optional<Db> magnitude, std::optional<bool> is_on) {
  const Db gain = !magnitude ? live_.gain : profile_.is_amplifier ? *magnitude : -*magnitude;
  if (gain < profile_.range.least || gain > profile_.range.most) {
    return false;
  }
  if (has_fault(DeviceFaultKind::stick, now)) {
    return true;
  }
  const bool turns_on = is_on.value_or(live_.is_on);
  if (magnitude) {
    record(at, static_cast<std::uint32_t>(gain_stage::Register::magnitude), magnitude->centi);
  }
  if (is_on) {
    record(at, static_cast<std::uint32_t>(gain_stage::Register::on), turns_on ? 1 : 0);
  }
  if (gain == live_.gain && turns_on == live_.is_on) {
    return true;
  }
  live_.before = gain_at(at);
  live_.gain = gain;
  live_.is_on = turns_on;
  live_.since = at;
  live_.until = at + stretched(at, part_of(profile_.settle_max, draw(), 50, 100));
  light_changed(now, at);
  return true;
}

Db GainStageModel::magnitude(Instant at) const {
  const Db now = live_.is_on && gain_at(at) != kGainOff ? gain_at(at) : live_.gain;
  return profile_.is_amplifier ? now : -now;
}

Dbm GainStageModel::input_power() {
  double milliwatt = 0;
  const auto lights = sight_ ? sight_(input_) : std::nullopt;
  for (const ArrivingLight& each : lights.value_or(std::vector<ArrivingLight>{})) {
    milliwatt += to_milliwatt(each.power).value;
  }
  return std::max(to_dbm(Milliwatt{milliwatt}), kDarkReading);
}

/// Its light, not its registers.
Dbm GainStageModel::output_power(Instant at) {
  const Dbm input = input_power();
  const Db gain = std::get<GainLight>(true_light(at)).gain;
  return input <= kDarkReading ? kDarkReading : std::max(input + gain - profile_.element.insertion_loss, kDarkReading);
}

// --- lines ---------------------------------------------------------------------------------------------------------------

namespace {

std::string decibels(std::int32_t centi) {
  return format_text("{}{}.{}{}", centi < 0 ? "-" : "+", std::abs(centi) / 100, std::abs(centi) % 100 / 10,
                     std::abs(centi) % 10);
}

/// The next node of a header, and what is behind it: ":INP1:ATT" is "INP1", then "ATT".
std::string_view eat_node(std::string_view& header) {
  header.remove_prefix(header.starts_with(':') ? 1 : 0);
  const std::size_t end = std::min(header.find(':'), header.size());
  const std::string_view node = header.substr(0, end);
  header.remove_prefix(end);
  return node;
}

/// A node in its short or its long form (SCPI-99 volume 1, section 6.2): the letters known, or more; the number known, 1 if
/// there is none.
bool is_node(std::string_view node, std::string_view known) {
  const auto split = [](std::string_view text) {
    const std::size_t last = text.find_last_not_of("0123456789");
    const std::size_t letters = last == std::string_view::npos ? 0 : last + 1;
    return std::pair{text.substr(0, letters), letters == text.size() ? std::string_view("1") : text.substr(letters)};
  };
  const auto [letters, number] = split(node);
  const auto [short_form, wanted] = split(known);
  return number == wanted && letters.size() >= short_form.size() &&
         scpi::same_word(letters.substr(0, short_form.size()), short_form);
}

/// A node :STATe at the end says nothing that the one before it does not.
bool is_header(std::string_view header, std::string_view known) {
  const bool asks = header.ends_with('?');
  if (asks != known.ends_with('?')) {
    return false;
  }
  header.remove_suffix(asks ? 1 : 0);
  known.remove_suffix(asks ? 1 : 0);
  while (!known.empty()) {
    if (header.empty() || !is_node(eat_node(header), eat_node(known))) {
      return false;
    }
  }
  return header.empty() || (is_node(eat_node(header), "STAT") && header.empty());
}

/// What stands in `line` where the pattern has "{what}"; nothing: it is another line.
std::optional<std::string_view> argument_of(std::string_view line, std::string_view pattern, std::string_view what) {
  const std::size_t at = pattern.find(what);
  const std::size_t header = at == std::string_view::npos ? at : pattern.substr(0, at).find_last_not_of(' ');
  const std::size_t space = line.find(' ');
  if (header == std::string_view::npos || space == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view known = pattern.substr(0, header + 1);
  const std::size_t words = static_cast<std::size_t>(std::ranges::count(known, ' '));
  std::size_t end = space;  // of the header, which may have words of its own
  for (std::size_t word = 0; word < words && end != std::string_view::npos; ++word) {
    end = line.find(' ', end + 1);
  }
  return end != std::string_view::npos && is_header(line.substr(0, end), known) ? std::optional(line.substr(end + 1))
                                                                                : std::nullopt;
}

}  // namespace

ScpiGainModel::ScpiGainModel(const Device& device, const ScpiGainProfile& profile, const SimDeviceOptions& options)
    : GainStageModel(device, profile, options),
      dialect_(profile.dialect),
      serial_(device.serial.empty() ? std::to_string(800'000 + device.id.value) : device.serial) {}

void ScpiGainModel::power_up(Instant now) {
  GainStageModel::power_up(now);
  errors_.clear();
}

/// False: it knows no such word, or cannot do that.
bool ScpiGainModel::obey(Instant now, std::string_view command) {
  if (is_refusing_) {
    errors_.emplace_back("-200,\"Execution error; busy\"");
    return false;
  }
  if (const auto decibel = argument_of(command, dialect_.set_gain, "{db}")) {
    const auto number = scpi::read_number(*decibel);
    if (number && std::abs(*number) < 1e3 &&
        set(now, now, Db{static_cast<std::int32_t>(std::lround(*number * 100))}, std::nullopt)) {
      return true;
    }
    errors_.emplace_back("-222,\"Data out of range\"");
    return false;
  }
  if (const auto on = argument_of(command, dialect_.turn, "{on}"); on) {
    const bool is_one = *on == "1" || scpi::same_word(*on, "ON");
    if (is_one || *on == "0" || scpi::same_word(*on, "OFF")) {
      return set(now, now, std::nullopt, is_one);
    }
  }
  errors_.emplace_back("-113,\"Undefined header\"");
  return false;
}

/// Empty: no such question.
std::string ScpiGainModel::query(Instant at, std::string_view words) {
  if (dialect_.identifies && scpi::same_word(words, "*IDN?")) {
    return format_text("Lightloom,simulated gain stage,{},1.0", serial_);
  }
  if (dialect_.identifies && is_header(words, ":SYST:ERR?")) {
    const std::string first = errors_.empty() ? "0,\"No error\"" : errors_.front();
    if (!errors_.empty()) {
      errors_.pop_front();
    }
    return first;
  }
  if (scpi::same_word(words, "*OPC?")) {
    return "1";
  }
  const auto is = [&](const std::string& known) { return !known.empty() && is_header(words, known); };
  if (is(dialect_.gain_query)) {
    return decibels(magnitude(at).centi);
  }
  if (is(dialect_.on_query)) {
    return is_on() && !is_broken(at) ? "1" : "0";
  }
  if (is(dialect_.input_query)) {
    return decibels(input_power().centi);
  }
  return is(dialect_.output_query) ? decibels(output_power(at).centi) : std::string{};
}

/// A command may stand before a question, and only the question is answered.
std::string ScpiGainModel::answer(Instant now, std::string_view line) {
  const std::size_t last = line.rfind(';');
  if (last != std::string_view::npos) {
    obey(now, line.substr(0, last));
  }
  std::string reply = query(now, last == std::string_view::npos ? line : line.substr(last + 1));
  if (reply.empty()) {
    obey(now, line);
  }
  while (errors_.size() > kQueueMax) {
    errors_.pop_back();
  }
  return reply;
}

ModelReply ScpiGainModel::respond(Instant now, const Transaction& transaction) {
  const auto line = scpi_line_in(transaction);
  std::string reply = line ? answer(now, *line) : std::string{};
  if (reply.empty()) {
    return no_answer(transaction);
  }
  reply += '\n';
  const bool confirms = line->find(';') != std::string_view::npos;  // once it stands
  const Duration moves = confirms ? std::max<Duration>(settles_at() - now, Duration{}) : Duration{};
  return {{BusStatus::ok, 0, {}, {reply.begin(), reply.end()}}, options().device_time + moves};
}

/// It answers, does nothing, and has it in its error queue.
ModelReply ScpiGainModel::refuse(Instant now, const Transaction& transaction) {
  is_refusing_ = true;
  ModelReply reply = respond(now, transaction);
  is_refusing_ = false;
  return reply;
}

// --- registers -----------------------------------------------------------------------------------------------------------

ModbusGainModel::ModbusGainModel(const Device& device, const ModbusGainProfile& profile, const SimDeviceOptions& options)
    : GainStageModel(device, profile, options),
      base_(profile.base),
      count_(profile.tells_powers ? gain_stage::kWords : gain_stage::kWordsWithoutPowers) {}

ModelReply ModbusGainModel::respond(Instant now, const Transaction& transaction) {
  const auto* registers = std::get_if<Registers>(&transaction.order);
  if (registers == nullptr) {
    return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  }
  const std::size_t words = registers->count > 0 ? registers->count : registers->values.size();
  const Duration service =
      wire_time(8 + 7, options().modbus_baud) + options().device_time + wire_time(5 + 2 * words, options().modbus_baud);
  return {registers->count > 0 ? read(now + service, *registers) : write(now, now + service, *registers), service};
}

BusReply ModbusGainModel::read(Instant at, const Registers& registers) {
  if (registers.is_input) {
    return {BusStatus::exception, kIllegalFunction, {}, {}};
  }
  if (registers.address < base_ || registers.address + registers.count > base_ + count_) {
    return {BusStatus::exception, kIllegalAddress, {}, {}};
  }
  const auto word = [](std::int32_t value) { return static_cast<std::uint16_t>(value & 0xFFFF); };
  const std::array<std::uint16_t, gain_stage::kWords> all{
      word(is_on() ? 1 : 0),
      word(magnitude(at).centi),
      word((is_moving(at) ? gain_stage::kMoving : 0) | (is_broken(at) ? gain_stage::kBroken : 0)),
      word(magnitude(at).centi),
      word(input_power().centi),
      word(output_power(at).centi)};
  BusReply reply;
  const auto first = all.begin() + (registers.address - base_);
  reply.words.assign(first, first + registers.count);
  return reply;
}

BusReply ModbusGainModel::write(Instant now, Instant at, const Registers& registers) {
  const std::size_t begin = registers.address - base_;
  if (registers.address < base_ || begin + registers.values.size() > gain_stage::kWritable) {
    return {BusStatus::exception, kIllegalAddress, {}, {}};
  }
  std::optional<bool> on;
  std::optional<Db> magnitude;
  for (std::size_t i = 0; i < registers.values.size(); ++i) {
    const std::uint16_t value = registers.values[i];
    if (begin + i == static_cast<std::size_t>(gain_stage::Register::magnitude)) {
      magnitude = Db{value};
    } else if (value > 1) {
      return {BusStatus::exception, kIllegalValue, {}, {}};
    } else {
      on = value == 1;
    }
  }
  return set(now, at, magnitude, on) ? BusReply{} : BusReply{BusStatus::exception, kIllegalValue, {}, {}};
}

ModelReply ModbusGainModel::refuse(Instant, const Transaction&) {
  return {{BusStatus::nack, kBusy, {}, {}}, wire_time(8 + 5 + 7, options().modbus_baud) + options().device_time};
}

namespace {

std::unique_ptr<SimulatedDevice> make_lines(const Fabric& fabric, const Device& device, const SimDeviceOptions& options) {
  return std::make_unique<ScpiGainModel>(device, scpi_gain_profile(fabric, device), options);
}

std::unique_ptr<SimulatedDevice> make_registers(const Fabric& fabric, const Device& device, const SimDeviceOptions& options) {
  return std::make_unique<ModbusGainModel>(device, modbus_gain_profile(fabric, device), options);
}

}  // namespace

constinit const SimulatedModel kSimulatedScpiVoa{"scpi_voa", make_lines, "gain-lines"};
constinit const SimulatedModel kSimulatedScpiEdfa{"scpi_edfa", make_lines, "gain-lines"};
constinit const SimulatedModel kSimulatedModbusVoa{"modbus_voa", make_registers, "gain-registers"};
constinit const SimulatedModel kSimulatedModbusEdfa{"modbus_edfa", make_registers, "gain-registers"};

}  // namespace loom
