// SPDX-License-Identifier: Apache-2.0
// The names.
#include "sim_backend/emulate/fault_words.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <vector>

#include "core/config/yaml/quantity.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr FrequencyOffset kNextMode{50'000};  ///< [K]

std::unexpected<Error> wrong(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_argument, format_text("--fault {}: {}", text, why));
}

/// Digits and nothing else.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc{} && stop == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Between the limits, of which both are lawful, and with `unit` behind it.
Result<std::int64_t> whole_number(std::string_view whole, std::string_view text, std::int64_t least, std::int64_t most,
                                  std::string_view unit) {
  const auto number = text.ends_with(unit) ? number_of(text.substr(0, text.size() - unit.size())) : std::nullopt;
  if (!number || *number < least || *number > most) {
    return wrong(whole, format_text("'{}'; expected {}{} to {}{}", text, least, unit, most, unit));
  }
  return *number;
}

Result<std::int64_t> quantity(std::string_view whole, std::string_view text, const UnitTable& units, std::int64_t most) {
  const auto value = parse_quantity(text, units);
  if (!value) {
    return wrong(whole, value.error().message);
  }
  if (*value == 0 || *value > most || *value < -most) {
    return wrong(whole, format_text("'{}'; expected something but 0, of at most {}", text, print_quantity(most, units)));
  }
  return *value;
}

Result<void> read_value(std::string_view whole, const FaultName& name, std::string_view text, DeviceFault& fault) {
  constexpr std::int64_t kMegahertzMax = 1'000'000;
  constexpr std::int64_t kCentibelsMax = 6'000;
  constexpr std::int64_t kHour = Duration{std::chrono::hours{1}}.count();
  if (text.empty()) {
    return name.must_have_value
               ? wrong(whole, format_text("{} needs a value: {}={}", name.name, name.name, to_string(name.value)))
               : Result<void>{};
  }
  Result<std::int64_t> value = std::int64_t{0};
  switch (name.value) {
    case FaultValue::none:
      return wrong(whole, format_text("{} takes no value", name.name));
    case FaultValue::delay:
      value = quantity(whole, text, kDurationUnits, kHour);
      fault.delay = Duration{std::abs(value.value_or(0))};
      break;
    case FaultValue::offset:
      value = quantity(whole, text, kFrequencyOffsetUnits, kMegahertzMax);
      fault.offset = FrequencyOffset{value.value_or(0)};
      break;
    case FaultValue::loss:
      value = quantity(whole, text, kRatioUnits, kCentibelsMax);
      fault.loss = Db{static_cast<std::int32_t>(std::abs(value.value_or(0)))};
      break;
    case FaultValue::percent:
      value = whole_number(whole, text, 1, 100, "%");
      fault.percent = static_cast<std::int32_t>(value.value_or(100));
      break;
    case FaultValue::factor:
      value = whole_number(whole, text, 2, 1'000'000, "");
      fault.factor = static_cast<std::int32_t>(value.value_or(2));
      break;
    case FaultValue::channel:
      value = whole_number(whole, text, 0, 65'535, "");
      fault.channel = static_cast<std::uint16_t>(value.value_or(0));
      break;
  }
  return value ? Result<void>{} : std::unexpected(value.error());
}

Result<void> read_part(std::string_view whole, std::string_view part, EmulatedFault& fault) {
  const std::size_t equals = std::min(part.find('='), part.size());
  const std::string_view key = part.substr(0, equals);
  const std::string_view text = part.substr(std::min(equals + 1, part.size()));
  if (key == "times") {
    const auto times = number_of(text);
    if (!times || *times < 1 || *times > 1'000'000) {
      return wrong(whole, format_text("times: '{}'; expected 1 to 1000000", text));
    }
    fault.fault.times = static_cast<std::uint32_t>(*times);
    return {};
  }
  if (key != "after" && key != "lasts") {
    return wrong(whole, format_text("'{}'; expected times=, after= or lasts=", part));
  }
  const auto span = parse_quantity(text, kDurationUnits);
  if (!span || *span <= 0) {
    return wrong(whole, format_text("{}: '{}'; expected a duration such as 10 s", key, text));
  }
  (key == "after" ? fault.after : fault.lasts) = Duration{*span};
  return {};
}

}  // namespace

Result<EmulatedFault> parse_fault(std::string_view text, const Device& device) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = text; !rest.empty() || parts.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    parts.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::size_t equals = std::min(parts.front().find('='), parts.front().size());
  const std::string_view word = parts.front().substr(0, equals);
  const FaultName* name = fault_named(word);
  if (name == nullptr) {
    return wrong(text, format_text("there is no fault '{}'; --help lists them", word));
  }
  if (!name->is_of(device.role)) {
    return wrong(text, refusal_of(*name, device.role, device.name));
  }
  EmulatedFault fault;
  fault.fault.kind = name->kind;
  fault.fault.offset = kNextMode;
  fault.fault.delay = std::chrono::milliseconds{500};
  fault.fault.hidden = name->kind == DeviceFaultKind::detune;  // beside what its registers say
  LOOM_TRY(read_value(text, *name, parts.front().substr(std::min(equals + 1, parts.front().size())), fault.fault));
  for (std::size_t index = 1; index < parts.size(); ++index) {
    LOOM_TRY(read_part(text, parts[index], fault));
  }
  if (name->value == FaultValue::channel && fault.fault.channel >= device.elements.size()) {
    return wrong(text, format_text("channel {}; '{}' has {}", fault.fault.channel, device.name, device.elements.size()));
  }
  return fault;
}

std::string fault_help(DeviceRole role) {
  std::string help = "\nFaults (--fault NAME[=VALUE][,times=N][,after=DURATION][,lasts=DURATION]):\n";
  for (const FaultName& row : fault_catalogue()) {
    if (row.is_of(role)) {
      const std::string_view value = to_string(row.value);
      const std::string usage = value.empty()         ? std::string(row.name)
                                : row.must_have_value ? format_text("{}={}", row.name, value)
                                                      : format_text("{}[={}]", row.name, value);
      help += format_text("  {:<28}{}\n", usage, row.meaning);
    }
  }
  return help + "Values: delay 300 ms, offset 50 GHz, loss 3 dB, percent 20%, factor 10, channel 3.\n";
}

}  // namespace loom
