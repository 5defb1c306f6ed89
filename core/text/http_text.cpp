// SPDX-License-Identifier: Apache-2.0
// First lines, written and read.
#include "core/text/http_text.hpp"

#include <algorithm>
#include <charconv>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr int kLeastStatus = 100;
constexpr int kGreatestStatus = 599;

struct Parts {
  std::string_view line;
  std::string_view body;
};

std::optional<Parts> parts_of(std::span<const std::uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  return Parts{text.substr(0, end), text.substr(end + 1)};
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_visible(char c) { return c > ' ' && c <= '~'; }

std::vector<std::uint8_t> bytes_of(std::string_view line, std::string_view body) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(line.size() + 1 + body.size());
  bytes.assign(line.begin(), line.end());
  bytes.push_back('\n');
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

}  // namespace

Frame http_order(const HttpRequest& request) {
  return {bytes_of(format_text("{} {}", request.method, request.path), request.body), 0, {}};
}

std::vector<std::uint8_t> http_reply_bytes(const HttpReply& reply) {
  return bytes_of(format_text("{} {}", reply.status, reply.reason), reply.body);
}

std::optional<HttpRequest> read_http_request(std::span<const std::uint8_t> bytes) {
  const auto parts = parts_of(bytes);
  const std::size_t blank = parts ? parts->line.find(' ') : std::string_view::npos;
  if (blank == std::string_view::npos || blank == 0) {
    return std::nullopt;
  }
  const HttpRequest request{parts->line.substr(0, blank), parts->line.substr(blank + 1), parts->body};
  const bool is_lawful = std::ranges::all_of(request.method, is_letter) && request.path.starts_with('/') &&
                         std::ranges::all_of(request.path, is_visible);
  return is_lawful ? std::optional(request) : std::nullopt;
}

std::optional<HttpReply> read_http_reply(std::span<const std::uint8_t> bytes) {
  const auto parts = parts_of(bytes);
  if (!parts) {
    return std::nullopt;
  }
  HttpReply reply{0, {}, parts->body};
  const auto [end, error] = std::from_chars(parts->line.data(), parts->line.data() + parts->line.size(), reply.status);
  const std::string_view rest = parts->line.substr(static_cast<std::size_t>(end - parts->line.data()));
  if (error != std::errc{} || reply.status < kLeastStatus || reply.status > kGreatestStatus || !rest.starts_with(' ')) {
    return std::nullopt;
  }
  reply.reason = rest.substr(1);
  return reply;
}

std::string to_string(const HttpReply& reply) {
  std::string text = format_text("HTTP {}{}{}", reply.status, reply.reason.empty() ? "" : " ", reply.reason.substr(0, 60));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace loom
