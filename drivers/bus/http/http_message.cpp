// SPDX-License-Identifier: Apache-2.0
// Beast's parsers, fed by hand.
#include "drivers/bus/http/http_message.hpp"

// An assertion of Beast 1.74 is wrong (basic_parser.ipp: n >= 5): an empty last chunk whose line ends come in two parts is
// lawful and aborted the process. What it read without is right; the fuzzer with a sanitizer watches over it.
#define BOOST_DISABLE_ASSERTS
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

namespace http = boost::beast::http;

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// One message under way: what the parser has not eaten yet waits for the bytes that it lacks.
template <bool IsRequest>
struct Reading {
  explicit Reading(std::size_t body_bytes_max) {
    parser.emplace();
    parser->header_limit(kHttpHeadBytesMax);
    parser->body_limit(body_bytes_max);
  }

  boost::system::error_code feed(std::span<const std::uint8_t> bytes) {
    waiting.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    boost::system::error_code error;
    std::size_t eaten = 0;
    // A step at a time: an eager parser of Beast 1.74 goes on after a reply of more than its limit, and reserves all of it.
    while (!error && !parser->is_done() && eaten < waiting.size()) {
      eaten += parser->put(boost::asio::buffer(waiting.data() + eaten, waiting.size() - eaten), error);
    }
    waiting.erase(0, eaten);
    return error == http::error::need_more ? boost::system::error_code{} : error;
  }

  std::optional<http::parser<IsRequest, http::string_body>> parser;
  std::string waiting;
};

}  // namespace

struct HttpReplyReader::Parser : Reading<false> {
  explicit Parser(std::size_t most) : Reading(most), body_bytes_max(most) {}
  std::size_t body_bytes_max;
  bool has_ended = false;
};

HttpReplyReader::HttpReplyReader(std::size_t body_bytes_max) : parser_(std::make_unique<Parser>(body_bytes_max)) {}
HttpReplyReader::~HttpReplyReader() = default;

Result<void> HttpReplyReader::take(std::span<const std::uint8_t> bytes) {
  boost::system::error_code error = parser_->feed(bytes);
  while (!error && is_whole() && parser_->parser->get().result_int() < kHttpOk) {  // 1xx: the reply comes yet
    auto next = std::make_unique<Parser>(parser_->body_bytes_max);
    const std::string rest = std::move(parser_->waiting);
    parser_ = std::move(next);
    error = parser_->feed({reinterpret_cast<const std::uint8_t*>(rest.data()), rest.size()});
    if (rest.empty()) {
      break;
    }
  }
  if (error == http::error::body_limit) {
    return fail(ErrorCode::invalid_argument, format_text("a reply of more than {} bytes", parser_->body_bytes_max));
  }
  if (error) {
    return fail(ErrorCode::invalid_argument, format_text("no HTTP reply: {}", error.message()));
  }
  return {};
}

Result<void> HttpReplyReader::end() {
  boost::system::error_code error;
  auto& parser = *parser_->parser;
  if (!parser.is_done() && parser.got_some()) {
    parser.put_eof(error);
  }
  if (!error && parser.is_done()) {
    return {};
  }
  if (!parser.is_header_done()) {
    return fail(ErrorCode::unreachable, "the connection was closed before the reply");
  }
  const auto length = parser.content_length();
  const std::size_t came = parser.get().body().size();
  return fail(ErrorCode::unreachable,
              length ? format_text("the connection was closed after {} of {} bytes of the reply", came, *length)
                     : format_text("the connection was closed after {} bytes of the reply, before its end", came));
}

bool HttpReplyReader::has_begun() const { return parser_->parser->got_some(); }
bool HttpReplyReader::is_whole() const { return parser_->parser->is_done(); }

HttpReply HttpReplyReader::reply() const {
  const auto& message = parser_->parser->get();
  return {static_cast<int>(message.result_int()), view_of(message.reason()), message.body()};
}

bool HttpReplyReader::keeps_alive() const { return parser_->parser->keep_alive(); }
std::size_t HttpReplyReader::bytes_after() const { return parser_->waiting.size(); }

struct HttpRequestReader::Parser : Reading<true> {
  using Reading::Reading;
  bool was_encouraged = false;
};

HttpRequestReader::HttpRequestReader(std::size_t body_bytes_max)
    : body_bytes_max_(body_bytes_max), parser_(std::make_unique<Parser>(body_bytes_max)) {}
HttpRequestReader::~HttpRequestReader() = default;

int HttpRequestReader::take(std::span<const std::uint8_t> bytes) {
  const boost::system::error_code error = parser_->feed(bytes);
  return !error ? 0 : error == http::error::body_limit ? 413 : error == http::error::header_limit ? 431 : 400;
}

bool HttpRequestReader::is_whole() const { return parser_->parser->is_done(); }

bool HttpRequestReader::wants_encouragement() {
  const auto& parser = *parser_->parser;
  const bool wants =
      parser.is_header_done() && !parser.is_done() && boost::beast::iequals(parser.get()[http::field::expect], "100-continue");
  return wants && !std::exchange(parser_->was_encouraged, true);
}

HttpRequest HttpRequestReader::request() const {
  const auto& message = parser_->parser->get();
  return {view_of(message.method_string()), view_of(message.target()), message.body()};
}

bool HttpRequestReader::keeps_alive() const { return parser_->parser->keep_alive(); }

int HttpRequestReader::next() {
  const std::string rest = std::move(parser_->waiting);
  parser_ = std::make_unique<Parser>(body_bytes_max_);
  return take({reinterpret_cast<const std::uint8_t*>(rest.data()), rest.size()});
}

std::string write_http(const HttpRequest& request, std::string_view host) {
  std::string bytes =
      format_text("{} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: lightloom\r\nAccept: */*\r\n", request.method, request.path, host);
  if (!request.body.empty()) {
    bytes += "Content-Type: application/json\r\n";
  }
  if (!request.body.empty() || request.method != "GET") {
    bytes += format_text("Content-Length: {}\r\n", request.body.size());
  }
  bytes += "\r\n";
  bytes += request.body;
  return bytes;
}

std::string write_http(const HttpReply& reply, const HttpReplyHead& head) {
  std::string bytes = format_text("HTTP/1.1 {} {}\r\nContent-Length: {}\r\n", reply.status, reply.reason, reply.body.size());
  if (!reply.body.empty()) {
    bytes += format_text("Content-Type: {}\r\n", head.content_type);
  }
  if (!head.allow.empty()) {
    bytes += format_text("Allow: {}\r\n", head.allow);
  }
  if (!head.keeps_alive) {
    bytes += "Connection: close\r\n";
  }
  bytes += "\r\n";
  bytes += reply.body;
  return bytes;
}

std::string_view http_reason(int status) {
  return view_of(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status))));
}

}  // namespace loom
