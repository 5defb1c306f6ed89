// SPDX-License-Identifier: Apache-2.0
// Exit codes of errors.
#include "cli/options.hpp"

#include <array>
#include <charconv>

#include "cli/render/term.hpp"
#include "core/config/yaml/quantity.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

/// As kDurationUnits, and `m`: who types 2m means minutes, as no option takes a length.
constexpr std::array kTypedWords{Unit{"ns", 1},
                                 Unit{"us", 1'000},
                                 Unit{"ms", 1'000'000},
                                 Unit{"s", 1'000'000'000},
                                 Unit{"min", 60'000'000'000},
                                 Unit{"m", 60'000'000'000},
                                 Unit{"h", 3'600'000'000'000}};
constexpr UnitTable kTypedUnits{"a duration", "10s", kTypedWords};
/// Of an option; a clock's time and this are together far from the end of 64 bits.
constexpr std::chrono::hours kLongest{365 * 24};

}  // namespace

std::span<const ExitCodeWords> exit_codes() {
  static constexpr std::array<ExitCodeWords, 8> kCodes{{
      {kDone, "done", "done, or what was asked is so"},
      {kFailed, "failed",
       "it failed; or it is not so: a diff or a replay differs, a run is unsafe or not as its scenario expects, a file has "
       "errors"},
      {kUsage, "usage", "the command line is wrong: nothing was done"},
      {kRefused, "refused", "refused by a policy, a role, an interlock, a proof, or since it conflicts with what is there"},
      {kPartial, "partly done", "done in part; what was not is named"},
      {kNoConnection, "no connection", "nobody answers: no controller, or none of the agents"},
      {kTimedOut, "timed out", "not within --timeout; what was ordered goes on"},
      {kInterrupted, "interrupted", "interrupted (Ctrl-C); what a controller was told goes on, what a lab started has ended"},
  }};
  return kCodes;
}

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return kUsage;
    case ErrorCode::refused:
    case ErrorCode::unverified:
    case ErrorCode::infeasible:
    case ErrorCode::conflict:
      return kRefused;
    case ErrorCode::unreachable:
      return kNoConnection;
    case ErrorCode::timed_out:
      return kTimedOut;
    default:
      return kFailed;
  }
}

int give_up(const Error& error, const std::string& next) {
  const std::string hint = !error.next_command.empty() ? error.next_command
                           : !next.empty()             ? next
                                                       : std::string(next_command_for(error.code));
  complain(error.code, error.message, hint);
  return exit_code_of(error.code);
}

int complain_of(const std::vector<ConfigError>& errors) {
  complain(errors);
  return kFailed;
}

Result<Duration> parse_duration(const std::string& text, std::string_view option) {
  const std::string named = option.empty() ? "" : format_text("{}: ", option);
  const auto value = parse_quantity(text, kTypedUnits);
  if (!value) {
    return fail(ErrorCode::invalid_argument, named + value.error().message);
  }
  if (*value <= 0 || Duration{*value} > kLongest) {
    return fail(ErrorCode::invalid_argument,
                format_text("{}'{}' is {}; expected more than 0 s and at most {} h", named, text,
                            *value <= 0 ? "no time at all" : "too long", std::chrono::hours{kLongest}.count()));
  }
  return Duration{*value};
}

std::function<std::string(const std::string&)> number_check(std::string noun, std::uint64_t first, std::uint64_t last) {
  return [noun = std::move(noun), first, last](const std::string& typed) -> std::string {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(typed.data(), typed.data() + typed.size(), value);
    const bool is_number =
        end == typed.data() + typed.size() && (problem == std::errc{} || problem == std::errc::result_out_of_range);
    const bool is_too_large = is_number && (problem != std::errc{} || value > last);
    if (is_number && !is_too_large && value >= first) {
      return {};
    }
    // The largest number of 64 bits is nothing that a person has to know, unless it is what was typed.
    const bool is_bounded = is_too_large || last != std::numeric_limits<std::uint64_t>::max();
    return format_text("'{}' is no {}; expected a whole number from {}{}", typed, noun, first,
                       is_bounded ? format_text(" to {}", last) : "");
  };
}

}  // namespace loom::cli
