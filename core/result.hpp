// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error that a program can act on (code) and a person can act on (one sentence that names what,
// where and the limit). Dropping a Result does not compile. Bugs are not errors: they end in LOOM_ASSERT.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/ids.hpp"

namespace loom {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  ///< the operator or a caller asked for something unlawful
  invalid_config,    ///< a file says something unlawful
  out_of_range,      ///< a value beyond a named limit
  malformed,         ///< bytes that do not decode
  wrong_version,     ///< a peer speaks another wire version
  stale_term,        ///< a command of a fenced controller
  stale_revision,    ///< a command about a revision that is not current
  not_found,         ///< names something that does not exist
  conflict,          ///< two claims on one thing
  infeasible,        ///< no schedule serves this demand
  refused,           ///< policy or interlock says no
  unverified,        ///< verify refused the plan
  busy,              ///< try again later
  device_error,      ///< a device answered with an error
  device_silent,     ///< a device did not answer in time
  unreachable,       ///< no connection
  timed_out,         ///< a deadline passed
  storage,           ///< the disk refused or lied
  unsupported,       ///< lawful, but this build or device cannot
  internal,          ///< a library failed in a way that we do not expect
};

std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::string next_command{};  ///< what to type next, e.g. "loom node list"; empty: whoever prints it finds one by the code
  std::optional<DeviceId> device{};  ///< that could not do it
  bool operator==(const Error&) const = default;
};

/// How a request went; ok() or an error that names the device, the value and the limit.
struct Outcome {
  std::optional<Error> error;
  bool ok() const { return !error.has_value(); }
  bool operator==(const Outcome&) const = default;
};

/// What to type next about an error that does not say it itself; never empty.
std::string_view next_command_for(ErrorCode code);

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

inline std::unexpected<Error> fail(ErrorCode code, std::string message, std::string next_command = {}) {
  return std::unexpected<Error>(Error{code, std::move(message), std::move(next_command)});
}

[[noreturn]] inline void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: bug: %s does not hold\n", file, line, expression);
  std::abort();
}

}  // namespace loom

/// A bug if it does not hold; always on, one fact each.
#define LOOM_ASSERT(expression) \
  (static_cast<bool>(expression) ? void(0) : ::loom::assertion_failed(#expression, __FILE__, __LINE__))

/// Returns the error of a Result<void>-like expression to the caller.
#define LOOM_TRY(expression)                                      \
  do {                                                            \
    if (auto loom_try_result = (expression); !loom_try_result) {  \
      return std::unexpected(std::move(loom_try_result).error()); \
    }                                                             \
  } while (false)
