// SPDX-License-Identifier: Apache-2.0
// The words of every enumeration, and how frequencies and powers are printed.
#include <array>
#include <cmath>
#include <cstdio>

#include "core/alarm.hpp"
#include "core/demand.hpp"
#include "core/fabric/grid.hpp"
#include "core/message.hpp"
#include "core/messages/report.hpp"
#include "core/observation.hpp"
#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

template <class Enum, std::size_t N>
std::string_view word(const std::array<std::string_view, N>& words, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? words[index] : std::string_view{"?"};
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  static constexpr std::array<std::string_view, 19> kWords{
      "invalid_argument", "invalid_config", "out_of_range", "malformed", "wrong_version", "stale_term", "stale_revision",
      "not_found",        "conflict",       "infeasible",   "refused",   "unverified",    "busy",       "device_error",
      "device_silent",    "unreachable",    "timed_out",    "storage",   "unsupported"};
  return code == ErrorCode::internal ? "internal" : word(kWords, code);
}

std::string_view to_string(CollectiveKind kind) {
  static constexpr std::array<std::string_view, 8> kWords{"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                                          "broadcast",  "reduce",     "barrier",        "point_to_point"};
  return word(kWords, kind);
}

std::string_view to_string(Drift drift) {
  static constexpr std::array<std::string_view, 6> kWords{"none", "missing", "foreign", "detuned", "dim", "stale"};
  return word(kWords, drift);
}

std::string_view to_string(Proof proof) {
  static constexpr std::array<std::string_view, 3> kWords{"assumed", "device", "monitor"};
  return word(kWords, proof);
}

std::string_view to_string(Trouble trouble) {
  static constexpr std::array<std::string_view, 12> kWords{"none",      "silent",   "refusing", "garbage",
                                                           "bad_check", "bus_lost", "unheeded", "unsettled",
                                                           "unlocked",  "open",     "broken",   "misfit"};
  return word(kWords, trouble);
}

std::string_view to_string(LockState state) {
  static constexpr std::array<std::string_view, 5> kWords{"waiting", "seeking", "locked", "no_light", "at_limit"};
  return word(kWords, state);
}

std::string_view to_string(AlarmCode code) {
  static constexpr std::array<std::string_view, 16> kWords{
      "agent_dead",      "agent_duplicate", "stale_term",        "device_failed",        "commit_returned", "fire_underflow",
      "lasers_off",      "journal_damaged", "malformed_message", "clock_unsynchronised", "drift",           "plan_refused",
      "confirm_overdue", "job_not_quiet",   "demand_unsteady",   "receiver_withheld"};
  return word(kWords, code);
}

std::string_view to_string(Role role) {
  static constexpr std::array<std::string_view, 5> kWords{"viewer", "operator", "admin", "agent", "controller"};
  return word(kWords, role);
}

std::string_view to_string(CommitOutcome outcome) {
  static constexpr std::array<std::string_view, 5> kWords{"under_way", "committed", "returned", "abandoned", "refused"};
  return word(kWords, outcome);
}

std::string_view to_string(RefusalKind kind) {
  static constexpr std::array<std::string_view, kRefusalKinds> kWords{"malformed",   "unauthorised", "conflict", "foreign",
                                                                      "implausible", "over_quota",   "role"};
  return word(kWords, kind);
}

std::string_view to_string(CommitState stage) {
  static constexpr std::array<std::string_view, 9> kWords{"idle",      "planning", "preparing",  "arming",   "firing",
                                                          "darkening", "moving",   "relighting", "confirmed"};
  return word(kWords, stage);
}

std::string_view to_string(NodeAction order) {
  static constexpr std::array<std::string_view, 4> kWords{"drain", "undrain", "maintenance on", "maintenance off"};
  return word(kWords, order);
}

std::string_view to_string(ApplyMode mode) {
  static constexpr std::array<std::string_view, 3> kWords{"safe", "update", "overwrite"};
  return word(kWords, mode);
}

std::string_view to_string(LightState state) {
  static constexpr std::array<std::string_view, 4> kWords{"lit", "degraded", "unknown", "dark"};
  return word(kWords, state);
}

std::string to_string(WallTime time) {
  if (time == WallTime{}) {
    return "-";
  }
  const auto since_epoch = std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch());
  const auto day = std::chrono::floor<std::chrono::days>(since_epoch);
  const std::chrono::year_month_day date{std::chrono::sys_days{day}};
  const std::chrono::hh_mm_ss clock{since_epoch - day};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
}

std::string_view to_string(CircuitChangeKind kind) {
  static constexpr std::array<std::string_view, 3> kWords{"removed", "added", "moved"};
  return word(kWords, kind);
}

std::string next_command_for(const Alarm& alarm) {
  if (alarm.device) {
    return format_text("loom device show {}", alarm.device->value);
  }
  switch (alarm.code) {
    case AlarmCode::lasers_off:
      return "loom lasers rearm";
    case AlarmCode::commit_returned:
    case AlarmCode::confirm_overdue:
    case AlarmCode::plan_refused:
      return "loom schedule history";
    case AlarmCode::drift:
      return "loom device list";
    case AlarmCode::job_not_quiet:
    case AlarmCode::demand_unsteady:
      return "loom job list";
    default:
      return alarm.node ? format_text("loom node show {}", alarm.node->value) : "loom status";
  }
}

std::string_view next_command_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_config:
    case ErrorCode::malformed:
      return "loom config check FILE";
    case ErrorCode::wrong_version:
      return "loom --version";
    case ErrorCode::infeasible:
    case ErrorCode::conflict:
      return "loom node list";
    case ErrorCode::device_error:
    case ErrorCode::device_silent:
      return "loom device list";
    case ErrorCode::unverified:
    case ErrorCode::stale_revision:
      return "loom schedule history";
    case ErrorCode::unreachable:
      return "loom lab up SCENARIO";
    case ErrorCode::invalid_argument:
    case ErrorCode::out_of_range:
    case ErrorCode::unsupported:
      return "loom --help";
    default:
      return "loom status";
  }
}

std::string to_string(Frequency frequency) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%lld.%05lld THz", static_cast<long long>(frequency.mhz / 1'000'000),
                static_cast<long long>(std::llabs(frequency.mhz % 1'000'000) / 10));
  return text.data();
}

std::string to_string(Db ratio) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f dB", ratio.centi / 100.0);
  return text.data();
}

std::string to_string(Dbm power) {
  if (power <= kNoLight) {
    return "no light";
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f dBm", power.centi / 100.0);
  return text.data();
}

}  // namespace loom
