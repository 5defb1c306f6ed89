// SPDX-License-Identifier: Apache-2.0
// Decimal digits and unit words into integers, and the tables of units.
#include "core/config/yaml/quantity.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::int64_t kThousand = 1'000;
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kBillion = 1'000'000'000;
constexpr std::int64_t kTrillion = 1'000'000'000'000;

constexpr std::array kFrequencyWords{Unit{"MHz", 1}, Unit{"GHz", kThousand}, Unit{"THz", kMillion}};
constexpr std::array kPowerWords{Unit{"dBm", 100}};
constexpr std::array kRatioWords{Unit{"dB", 100}};
constexpr std::array kDurationWords{Unit{"ns", 1},       Unit{"us", kThousand},      Unit{"ms", kMillion},
                                    Unit{"s", kBillion}, Unit{"min", 60 * kBillion}, Unit{"h", 3600 * kBillion}};
constexpr std::array kBitRateWords{Unit{"b/s", 1},          Unit{"kb/s", kThousand}, Unit{"Mb/s", kMillion},
                                   Unit{"M", kMillion},     Unit{"Gb/s", kBillion},  Unit{"G", kBillion},
                                   Unit{"Tb/s", kTrillion}, Unit{"T", kTrillion}};
constexpr std::array kLengthWords{Unit{"mm", 1}, Unit{"cm", 10}, Unit{"m", kThousand}, Unit{"km", kMillion}};
constexpr std::array kBytesWords{Unit{"B", 1},         Unit{"kB", kThousand}, Unit{"KiB", 1 << 10}, Unit{"MB", kMillion},
                                 Unit{"MiB", 1 << 20}, Unit{"GB", kBillion},  Unit{"GiB", 1 << 30}};
constexpr std::array kVoltageWords{Unit{"mV", 1}, Unit{"V", kThousand}};
constexpr std::array kResistanceWords{Unit{"mohm", 1}, Unit{"ohm", kThousand}, Unit{"kohm", kMillion}};
constexpr std::array kTuningWords{Unit{"MHz/mW", 1}, Unit{"GHz/mW", kThousand}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

struct Decimal {
  std::int64_t mantissa = 0;
  int decimals = 0;        ///< value = mantissa / 10^decimals
  std::size_t length = 0;  ///< characters that it took; 0: no number here
  bool too_long = false;
};

Decimal read_decimal(std::string_view text) {
  constexpr std::int64_t kLargest = 100'000'000'000'000'000;
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  Decimal decimal;
  bool fraction = false;
  bool digits = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (!is_digit(text[at])) {
      break;
    }
    digits = true;
    decimal.too_long = decimal.too_long || decimal.mantissa >= kLargest;
    decimal.mantissa = decimal.too_long ? 0 : decimal.mantissa * 10 + (text[at] - '0');
    decimal.decimals += fraction ? 1 : 0;
  }
  decimal.length = digits ? at : 0;
  decimal.mantissa = text.starts_with('-') ? -decimal.mantissa : decimal.mantissa;
  return decimal;
}

/// mantissa * factor / 10^decimals, or nothing if that is no integer of 64 bits.
std::optional<std::int64_t> scaled(Decimal decimal, std::int64_t factor) {
  for (; decimal.decimals > 0 && factor % 10 == 0; --decimal.decimals) {
    factor /= 10;
  }
  std::int64_t product = 0;
  if (decimal.too_long || __builtin_mul_overflow(decimal.mantissa, factor, &product)) {
    return std::nullopt;
  }
  for (; decimal.decimals > 0; --decimal.decimals) {
    if (product % 10 != 0) {
      return std::nullopt;
    }
    product /= 10;
  }
  return product;
}

std::string accepted(const UnitTable& table) {
  std::string words;
  for (const Unit& unit : table.units) {
    words += (words.empty() ? "" : ", ") + std::string(unit.word);
  }
  return format_text("expected {} such as '{}' (units: {})", table.quantity, table.example, words);
}

std::string same_but_for_case(std::string_view word, const UnitTable& table) {
  for (const Unit& unit : table.units) {
    if (std::ranges::equal(word, unit.word, {}, lower, lower)) {
      return format_text("; did you mean '{}'?", unit.word);
    }
  }
  return {};
}

std::string decimal_text(std::int64_t value, std::int64_t factor) {
  const std::int64_t thousandths = value / factor * 1000 + value % factor * 1000 / factor;
  std::string fraction = std::to_string(1000 + std::abs(thousandths % 1000)).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return format_text("{}{}{}", value < 0 ? "-" : "", std::abs(thousandths / 1000), fraction.empty() ? "" : "." + fraction);
}

}  // namespace

constexpr UnitTable kFrequencyUnits{"a frequency", "193.1 THz", kFrequencyWords};
constexpr UnitTable kFrequencyOffsetUnits{"a frequency difference", "100 GHz", kFrequencyWords};
constexpr UnitTable kPowerUnits{"a power", "-10 dBm", kPowerWords};
constexpr UnitTable kRatioUnits{"a power ratio", "3.5 dB", kRatioWords};
constexpr UnitTable kDurationUnits{"a duration", "10 ms", kDurationWords};
constexpr UnitTable kBitRateUnits{"a bit rate", "100 Gb/s", kBitRateWords};
constexpr UnitTable kLengthUnits{"a length", "50 m", kLengthWords};
constexpr UnitTable kBytesUnits{"an amount of data", "561 kB", kBytesWords};
constexpr UnitTable kVoltageUnits{"a voltage", "10 V", kVoltageWords};
constexpr UnitTable kResistanceUnits{"a resistance", "1 kohm", kResistanceWords};
constexpr UnitTable kTuningUnits{"a tuning efficiency", "37 GHz/mW", kTuningWords};

Result<std::int64_t> parse_quantity(std::string_view text, const UnitTable& table) {
  const std::string_view whole = trimmed(text);
  const std::string found = format_text("'{}'", whole);
  const Decimal decimal = read_decimal(whole);
  if (decimal.length == 0) {
    return fail(ErrorCode::invalid_argument, format_text("{} does not begin with a number; {}", found, accepted(table)));
  }
  const std::string_view word = trimmed(whole.substr(decimal.length));
  if (word.empty()) {
    return fail(ErrorCode::invalid_argument, format_text("{} has no unit; {}", found, accepted(table)));
  }
  const auto unit = std::ranges::find(table.units, word, &Unit::word);
  if (unit == table.units.end()) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} has the unit '{}'; {}{}", found, word, accepted(table), same_but_for_case(word, table)));
  }
  const std::optional<std::int64_t> value = scaled(decimal, unit->factor);
  if (!value) {
    return fail(ErrorCode::out_of_range,
                format_text("{} is finer or larger than can be stored: the step is {}, the limit 64 bits", found,
                            print_quantity(1, table)));
  }
  return *value;
}

std::string print_quantity(std::int64_t value, const UnitTable& table) {
  const Unit* best = &table.units.front();
  for (const Unit& unit : table.units) {
    const bool short_enough = value % unit.factor * 1000 % unit.factor == 0;
    if (unit.factor > best->factor && short_enough && std::abs(value / unit.factor) > 0) {
      best = &unit;
    }
  }
  return format_text("{} {}", decimal_text(value, best->factor), best->word);
}

}  // namespace loom
