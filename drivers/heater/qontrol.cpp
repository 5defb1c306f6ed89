// SPDX-License-Identifier: Apache-2.0
// Lines of a Qontrol, and its model.
#include "drivers/heater/qontrol.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/text/format_text.hpp"

namespace loom {
namespace qontrol {
namespace {

constexpr std::array<Module, 3> kModules{{{"Q8iv", 12, 24e-3}, {"Q8a", 12, 100e-3}, {"Q8b", 12, 83.3e-3}}};

using Kind = LineComplaint::Kind;
struct Meaning {
  unsigned code;
  Kind kind;
  std::string_view text;
};
/// Kinds are ours: what is worth saying again, and what is not.
constexpr std::array<Meaning, 18> kMeanings{{{0, Kind::wire, "an unknown error"},
                                             {1, Kind::broken, "over-voltage"},
                                             {2, Kind::broken, "over-current"},
                                             {3, Kind::broken, "a power error"},
                                             {4, Kind::broken, "a calibration error"},
                                             {5, Kind::broken, "an output error"},
                                             {10, Kind::wire, "bad command"},
                                             {11, Kind::wire, "bad parameter"},
                                             {12, Kind::refused, "bad channel"},
                                             {13, Kind::refused, "forbidden"},
                                             {14, Kind::wire, "buffer overflow"},
                                             {15, Kind::wire, "a serial error"},
                                             {16, Kind::wire, "a command that timed out"},
                                             {17, Kind::broken, "an SPI error"},
                                             {18, Kind::broken, "an ADC error"},
                                             {19, Kind::broken, "an I2C error"},
                                             {30, Kind::wire, "too many errors"},
                                             {90, Kind::restarted, "a restart"}}};
constexpr Meaning kTrap{31, Kind::restarted, "a firmware trap"};
constexpr Meaning kOther{0, Kind::wire, "an error that no paper names"};

const Meaning& meaning_of(unsigned code) {
  if (code == kTrap.code) {
    return kTrap;
  }
  const auto found = std::ranges::find(kMeanings, code, &Meaning::code);
  return found == kMeanings.end() ? kOther : *found;
}

template <class Number>
bool eat_number(std::string_view& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::optional<double> read_in(std::string_view line, std::string_view unit) {
  line.remove_prefix(line.starts_with('+') ? 1 : 0);
  double value = 0;
  if (!eat_number(line, value) || line != unit || !std::isfinite(value) || std::abs(value) > 1e4) {
    return std::nullopt;
  }
  return value;
}

bool is_alphanumeric(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0; });
}

/// "Q8iv-0123".
void read_identity(std::string_view line, LineAnswer& answer) {
  const std::size_t dash = line.find('-');
  if (dash == std::string_view::npos || line.size() > 32 || !is_alphanumeric(line.substr(0, dash)) ||
      !is_alphanumeric(line.substr(dash + 1)) || (line.front() != 'Q' && line.front() != 'q')) {
    return;
  }
  answer.type = line.substr(0, dash);
  answer.serial = line.substr(dash + 1);
}

void read_answer(const LineQuestion& question, std::string_view line, LineAnswer& answer) {
  switch (question.state) {
    case LineHeaterState::introduce:
      read_identity(line, answer);
      break;
    case LineHeaterState::count: {
      std::size_t channels = 0;
      if (eat_number(line, channels) && line.empty()) {
        answer.channels = channels;
      }
      break;
    }
    case LineHeaterState::reading_volts:
      answer.volts = read_volts(line);
      break;
    case LineHeaterState::reading_current:
      answer.amperes = read_amperes(line);
      break;
    default:
      answer.is_done = line == "OK";
  }
}

std::string volts_text(std::int32_t millivolts) { return format_text("{}.{:03}", millivolts / 1000, millivolts % 1000); }

}  // namespace

std::span<const Module> modules() { return kModules; }

std::optional<LineComplaint> read_complaint(std::string_view line) {
  const std::size_t letters = static_cast<std::size_t>(
      std::find_if(line.begin(), line.end(), [](unsigned char c) { return std::isalpha(c) == 0; }) - line.begin());
  unsigned code = 0;
  std::size_t channel = 0;
  if (letters < 1 || letters > 3) {
    return std::nullopt;
  }
  line.remove_prefix(letters);
  if (!eat_number(line, code) || !line.starts_with(':')) {
    return std::nullopt;
  }
  line.remove_prefix(1);
  if (!eat_number(line, channel) || !line.empty()) {
    return std::nullopt;
  }
  const Meaning& meaning = meaning_of(code);
  return LineComplaint{meaning.kind, meaning.text, code, channel};
}

std::optional<double> read_volts(std::string_view line) { return read_in(line, " V"); }

std::optional<double> read_amperes(std::string_view line) {
  const auto milliamperes = read_in(line, " mA");
  return milliamperes ? std::optional(*milliamperes * 1e-3) : std::nullopt;
}

LineAnswer read(const LineQuestion& question, std::string_view reply) {
  LineAnswer answer;
  std::string_view last;
  while (!reply.empty()) {
    const std::size_t end = std::min(reply.find('\n'), reply.size());
    std::string_view line = reply.substr(0, end);
    reply.remove_prefix(std::min(end + 1, reply.size()));
    line = line.substr(0, line.find_last_not_of(" \r") + 1);
    if (const auto complaint = read_complaint(line)) {
      answer.complaints.push_back(*complaint);
    } else if (!line.empty()) {
      last = line;
    }
  }
  read_answer(question, last, answer);
  return answer;
}

std::string say(const LineQuestion& question) {
  switch (question.state) {
    case LineHeaterState::introduce:
      return "id?";
    case LineHeaterState::count:
      return "nchan?";
    case LineHeaterState::reading_volts:
      return format_text("v{}?", question.channel);
    case LineHeaterState::reading_current:
      return format_text("i{}?", question.channel);
    case LineHeaterState::limit:
      return format_text("vmax{}={}", question.channel, volts_text(question.millivolts));
    case LineHeaterState::write:
      return format_text("v{}={}", question.channel, volts_text(question.millivolts));
    case LineHeaterState::rest:
    case LineHeaterState::decide:
    case LineHeaterState::soak:
      break;
  }
  return {};
}

}  // namespace qontrol

namespace {

constexpr std::array<std::string_view, 3> kTypes{"q8iv", "q8a", "q8b"};
/// What is usual of time and accuracy is an assumption [K].
constexpr std::array kKeys{
    ProfileKey{"type", WordKey{kTypes, 0}, "the module, which gives the full scale of voltage and current"},
    ProfileKey{"first_channel", IntegerKey{0, 0, 4'095}, "channel of the first ring; along a chain of modules they count on"},
    ProfileKey{"measure_after",
               DurationKey{std::chrono::milliseconds{20}, std::chrono::milliseconds{1}, std::chrono::seconds{2}},
               "until a new voltage is heat and is measured"},
    ProfileKey{"accuracy", RealKey{0.01, 0.001, 1}, "volts by which a measured voltage may differ from what was set"},
};

HeaterSource source_of(const Device& device) {
  const qontrol::Module& module = qontrol::modules()[DeviceProfileView(kKeys, device.profile).word("type")];
  return {module.volt_max, module.ampere_max};
}

LineHeaterProfile profile_of(const Fabric& fabric, const Device& device) {
  const DeviceProfileView given(kKeys, device.profile);
  LineHeaterProfile profile = line_heater_profile(fabric, device, kQontrolDialect);
  profile.source = source_of(device);
  profile.type = qontrol::modules()[given.word("type")].type;
  profile.first_ring = static_cast<std::size_t>(given.integer("first_channel"));
  profile.settle_max = given.duration("measure_after");
  profile.accuracy_millivolts = static_cast<std::int32_t>(std::lround(given.real("accuracy") * 1e3));
  profile.exchange = std::chrono::milliseconds{2};  // 20 characters at 115200, and the device's own time [K]
  return profile;
}

}  // namespace

constinit const LineHeaterDialect kQontrolDialect{.name = "Qontrol",
                                                  .terminator = "\n",
                                                  .introduces_itself = true,
                                                  .bounds_channels = true,
                                                  .say = qontrol::say,
                                                  .read = qontrol::read};

constinit const DriverModel kQontrol{
    {"qontrol", DeviceRole::filter,
     "Qontrol Q8iv, Q8a or Q8b, heaters with measured voltage and current, ASCII over a serial line", kKeys,
     [](const Fabric& fabric, const Device& device) { return refuse_weak_source(fabric, device, source_of(device)); },
     kStreamSchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<LineHeatersDriver>(profile_of(fabric, device));
    }};

}  // namespace loom
