// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 messages as bytes: read as they come, whoever sends them, and written. The reading is Boost.Beast's (RFC 9112,
// chunks and all); its headers stay in the .cpp. No sockets: a bus reads replies with this, an emulator reads requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/text/http_text.hpp"

namespace loom {

/// Field lines of one message may have so many bytes.
inline constexpr std::size_t kHttpHeadBytesMax = 8'192;

class HttpReplyReader {
 public:
  explicit HttpReplyReader(std::size_t body_bytes_max);
  ~HttpReplyReader();

  /// Bytes in their order, in any parts. Errors: invalid_argument, no HTTP or beyond a limit. Nothing may follow an error.
  Result<void> take(std::span<const std::uint8_t> bytes);
  /// The other end says nothing more. Errors: unreachable, the reply is not whole.
  Result<void> end();
  bool has_begun() const;
  bool is_whole() const;
  /// Preconditions of these: is_whole(). The reply points into the reader.
  HttpReply reply() const;
  bool keeps_alive() const;
  std::size_t bytes_after() const;  ///< that nobody asked for

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// Requests, one after the other: a client may send the next before the last was answered.
class HttpRequestReader {
 public:
  explicit HttpRequestReader(std::size_t body_bytes_max);
  ~HttpRequestReader();

  /// Nothing is wrong yet: 0. Else the status that refuses what came (400, 413, 431); nothing may follow but the end.
  int take(std::span<const std::uint8_t> bytes);
  bool is_whole() const;
  /// It waits for "100 Continue" before it sends its body; true once a request.
  bool wants_encouragement();
  /// Preconditions of these: is_whole(). They point into the reader.
  HttpRequest request() const;
  bool keeps_alive() const;
  /// Reads on with what came after the request; as take().
  int next();

 private:
  struct Parser;
  std::size_t body_bytes_max_;
  std::unique_ptr<Parser> parser_;
};

/// A request as it goes over the wire. `host`: "10.0.0.7:8080". A body is said to be JSON.
std::string write_http(const HttpRequest& request, std::string_view host);

struct HttpReplyHead {
  bool keeps_alive = true;
  std::string_view content_type = "application/json";
  std::string_view allow{};  ///< methods, of a reply 405
};
std::string write_http(const HttpReply& reply, const HttpReplyHead& head);

/// The usual reason: "Not Found" for 404.
std::string_view http_reason(int status);

}  // namespace loom
