// SPDX-License-Identifier: Apache-2.0
// One HTTP exchange as a Frame carries it: a first line and a body, no header fields. `METHOD PATH\n` and a body go out,
// `STATUS REASON\n` and a body come back. Whoever drives or simulates a device behind HTTP reads and writes this form; the bus
// makes HTTP/1.1 of it and adds what a wire needs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/transaction.hpp"

namespace loom {

struct HttpRequest {
  std::string_view method;  ///< "GET"
  std::string_view path;    ///< "/waveshaper/devinfo"; begins with a slash
  std::string_view body{};
};

struct HttpReply {
  int status = 0;           ///< 100..599
  std::string_view reason;  ///< "Not Found"
  std::string_view body;
};

inline constexpr int kHttpOk = 200;

Frame http_order(const HttpRequest& request);
std::vector<std::uint8_t> http_reply_bytes(const HttpReply& reply);

/// The inverse of both; they point into `bytes`. Nothing: another form. A method is letters, a path has neither blanks nor
/// control characters.
std::optional<HttpRequest> read_http_request(std::span<const std::uint8_t> bytes);
std::optional<HttpReply> read_http_reply(std::span<const std::uint8_t> bytes);

/// "HTTP 404 Not Found"
std::string to_string(const HttpReply& reply);

}  // namespace loom
