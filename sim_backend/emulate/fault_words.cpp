// The names.
#include "sim_backend/emulate/fault_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "core/config/yaml/quantity.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

enum class Value : std::uint8_t { none, duration, percent, factor };

struct Row {
  std::string_view name;
  DeviceFaultKind kind;
  Value value;
  std::string_view meaning;
};
constexpr std::array<Row, 7> kRows{{
    {"late", DeviceFaultKind::late, Value::duration, "answers so much later"},
    {"silent", DeviceFaultKind::silence, Value::percent, "answers nothing, and does nothing"},
    {"damaged", DeviceFaultKind::garbage, Value::percent, "its answers are damaged; what it is told it does"},
    {"refusing", DeviceFaultKind::nack, Value::percent, "says 'not now'"},
    {"stuck", DeviceFaultKind::stick, Value::none, "says yes to every command and ignores it"},
    {"dead", DeviceFaultKind::fail, Value::none, "its optics are dead, and it says so"},
    {"slow", DeviceFaultKind::slow_settle, Value::factor, "everything takes so many times as long"},
}};

std::unexpected<Error> wrong(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_argument, format_text("--fault {}: {}", text, why));
}

/// Digits and nothing else.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc{} && stop == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Result<void> read_value(std::string_view whole, const Row& row, std::string_view text, DeviceFault& fault) {
  if (row.value == Value::none && !text.empty()) {
    return wrong(whole, format_text("{} takes no value", row.name));
  }
  if (row.value == Value::duration) {
    const auto delay = parse_quantity(text, kDurationUnits);
    if (!delay || *delay <= 0 || *delay > Duration{std::chrono::hours{1}}.count()) {
      return wrong(whole, format_text("'{}'; expected a duration of 1 ns to 1 h, such as 300 ms", text));
    }
    fault.delay = Duration{*delay};
  }
  if (row.value == Value::percent && !text.empty()) {
    const auto percent = text.ends_with('%') ? number_of(text.substr(0, text.size() - 1)) : std::nullopt;
    if (!percent || *percent < 1 || *percent > 100) {
      return wrong(whole, format_text("'{}'; expected a share of 1% to 100%", text));
    }
    fault.percent = static_cast<std::int32_t>(*percent);
  }
  if (row.value == Value::factor && !text.empty()) {
    const auto factor = number_of(text);
    if (!factor || *factor < 2 || *factor > 1'000'000) {
      return wrong(whole, format_text("'{}'; expected a factor of 2 to 1000000", text));
    }
    fault.factor = static_cast<std::int32_t>(*factor);
  }
  return {};
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

Result<EmulatedFault> parse_fault(std::string_view text, DeviceRole) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = text; !rest.empty() || parts.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    parts.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::size_t equals = std::min(parts.front().find('='), parts.front().size());
  const std::string_view name = parts.front().substr(0, equals);
  const auto row = std::ranges::find(kRows, name, &Row::name);
  if (row == kRows.end()) {
    return wrong(text, format_text("there is no fault '{}'; --help lists them", name));
  }
  EmulatedFault fault;
  fault.fault.kind = row->kind;
  LOOM_TRY(read_value(text, *row, parts.front().substr(std::min(equals + 1, parts.front().size())), fault.fault));
  for (std::size_t index = 1; index < parts.size(); ++index) {
    LOOM_TRY(read_part(text, parts[index], fault));
  }
  return fault;
}

std::string fault_help(DeviceRole) {
  std::string help = "\nFaults (--fault NAME[=VALUE][,times=N][,after=DURATION][,lasts=DURATION]):\n";
  for (const Row& row : kRows) {
    help += format_text("  {:<10}{}\n", row.name, row.meaning);
  }
  return help;
}

}  // namespace loom
