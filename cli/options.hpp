// SPDX-License-Identifier: Apache-2.0
// What every loom command understands, and how a command ends. Exit codes are a contract (docs in --help).
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/yaml/config_error.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace loom::cli {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,  ///< also `differences` for diff
  kUsage = 2,
  kRefused = 3,
  kPartial = 4,
  kNoConnection = 5,
  kTimedOut = 124,
  kInterrupted = 130,
};

struct ExitCodeWords {
  ExitCode code;
  std::string_view word;     ///< a few of them, for --help
  std::string_view meaning;  ///< a sentence
};

/// Every exit code of every command but `loom job run`, which ends as its command does. Ascending.
std::span<const ExitCodeWords> exit_codes();

struct Globals {
  bool json = false;
  bool dry_run = false;
  std::string state_dir;  ///< keys, journal and the controller's address
  std::string as;         ///< whose key of state_dir/keys; empty: the operator's
  std::string endpoint;   ///< empty: as the controller wrote it into state_dir
  Duration timeout = std::chrono::seconds{10};
  bool has_own_timeout = false;  ///< --timeout was given: it holds for what otherwise has a patience of its own as well
  std::function<bool()> is_interrupted{};  ///< asked while a controller is waited for; empty: nothing interrupts
};

/// The exit code that an error stands for.
int exit_code_of(ErrorCode code);

/// Complains, with what to type next (the error's own, else `next`, else what its code suggests), and returns the exit code.
int give_up(const Error& error, const std::string& next = {});

/// Says every error of a configuration file; the exit code of that.
int complain_of(const std::vector<ConfigError>& errors);

/// `10s`, `0.5 s`, `250ms`, `2m`, `1 h`: a duration as the files of a scenario have it; longer than zero, at most a year.
/// `option` took it, for the sentence; empty: that goes without saying. Errors: invalid_argument.
Result<Duration> parse_duration(const std::string& text, std::string_view option = {});

/// For the check() of an option of the command line: digits of a number from `first` to `last`. What is wrong, in a sentence
/// that calls it `noun`; empty: nothing.
std::function<std::string(const std::string&)> number_check(std::string noun, std::uint64_t first, std::uint64_t last);

/// The same to the last number that the option's own type holds.
template <std::unsigned_integral Number>
std::function<std::string(const std::string&)> number_check(std::string noun, Number first) {
  return number_check(std::move(noun), first, std::numeric_limits<Number>::max());
}

}  // namespace loom::cli
