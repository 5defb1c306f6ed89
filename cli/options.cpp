// SPDX-License-Identifier: Apache-2.0
// Exit codes of errors.
#include "cli/options.hpp"

#include <array>
#include <charconv>

#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {

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

Result<Duration> parse_duration(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  if (problem == std::errc{} && value > 0 && value <= 1'000'000'000) {
    if (unit == "ms") return Duration{std::chrono::milliseconds{value}};
    if (unit == "s") return Duration{std::chrono::seconds{value}};
    if (unit == "m") return Duration{std::chrono::minutes{value}};
  }
  const bool lacks_unit = problem == std::errc{} && unit.empty() && value > 0;
  return fail(ErrorCode::invalid_argument,
              lacks_unit ? format_text("'{}' has no unit: write '{}s' (units: ms, s, m)", text, text)
                         : format_text("'{}' is not a duration: write it as 250ms, 10s or 2m", text),
              "loom --timeout 10s ...");
}

}  // namespace loom::cli
