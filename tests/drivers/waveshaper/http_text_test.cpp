// SPDX-License-Identifier: Apache-2.0
// HTTP exchanges as frames: what is written is read back, and what has another form is refused.
#include "core/text/http_text.hpp"

#include <catch2/catch.hpp>

namespace loom {
namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

TEST_CASE("an_http_request_is_a_line_and_a_body") {
  const Frame frame = http_order({"POST", "/waveshaper/loadprofile", "{}\nmore"});
  CHECK(std::string(frame.request.begin(), frame.request.end()) == "POST /waveshaper/loadprofile\n{}\nmore");
  const auto read = read_http_request(frame.request);
  REQUIRE(read.has_value());
  CHECK(read->method == "POST");
  CHECK(read->path == "/waveshaper/loadprofile");
  CHECK(read->body == "{}\nmore");
}

TEST_CASE("an_http_reply_is_a_status_a_reason_and_a_body") {
  const auto bytes = http_reply_bytes({404, "Not Found", "nothing here"});
  const auto read = read_http_reply(bytes);
  REQUIRE(read.has_value());
  CHECK(read->status == 404);
  CHECK(to_string(*read) == "HTTP 404 Not Found");
  CHECK(read->body == "nothing here");
  CHECK(to_string(HttpReply{200, "", ""}) == "HTTP 200");
  CHECK(to_string(HttpReply{500, "a\rb", ""}) == "HTTP 500 a?b");
}

TEST_CASE("what_is_no_http_exchange_is_refused") {
  for (const char* text : {"", "GET", "GET /x", "\n", " /x\n", "GET x\n", "GE T /x\n", "G-T /x\n", "GET /x y\n", "GET /\r\n"}) {
    INFO(text);
    CHECK_FALSE(read_http_request(bytes_of(text)).has_value());
  }
  for (const char* text : {"", "200 OK", "OK\n", "99 Low\n", "600 High\n", "200\n", "2000 OK\n", "-1 OK\n"}) {
    INFO(text);
    CHECK_FALSE(read_http_reply(bytes_of(text)).has_value());
  }
}

}  // namespace
}  // namespace loom
