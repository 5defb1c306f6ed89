// SPDX-License-Identifier: Apache-2.0
// loom audit: which records are wanted, and that no word in them is obeyed by a terminal.
#include <catch2/catch.hpp>

#include "cli/nouns/audit.hpp"
#include "cli/nouns/rows.hpp"

using namespace loom;
using namespace loom::cli;

namespace {

constexpr WallTime kNow{std::chrono::seconds{1'795'361'000}};  // 2026-11-22T15:23:20Z

AuditRecord record_of(std::uint64_t number, Duration ago, const std::string& principal, bool refused) {
  AuditRecord record;
  record.number = number;
  record.at = kNow - ago;
  record.principal = principal;
  record.asked = "node drain 17";
  if (refused) {
    record.outcome.error = Error{ErrorCode::refused, "no"};
  }
  return record;
}

std::vector<std::uint64_t> numbers(const AuditCommand& order) {
  const std::vector<AuditRecord> all{record_of(1, std::chrono::hours{30}, "ada", false),
                                     record_of(2, std::chrono::hours{3}, "grace", true),
                                     record_of(3, std::chrono::minutes{5}, "ada", true)};
  const auto wanted = chosen(all, order, kNow);
  REQUIRE(wanted);
  std::vector<std::uint64_t> found;
  for (const AuditRecord& record : *wanted) {
    found.push_back(record.number);
  }
  return found;
}

}  // namespace

TEST_CASE("the audit is cut down to what is asked for") {
  using Numbers = std::vector<std::uint64_t>;
  CHECK(numbers({}) == Numbers{1, 2, 3});
  CHECK(numbers({.since = "4h", .principal = {}, .refused = false, .journal = {}}) == Numbers{2, 3});
  CHECK(numbers({.since = {}, .principal = "ada", .refused = false, .journal = {}}) == Numbers{1, 3});
  CHECK(numbers({.since = {}, .principal = "ada", .refused = true, .journal = {}}) == Numbers{3});
  CHECK(numbers({.since = "2026-11-22T15:00:00Z", .principal = {}, .refused = false, .journal = {}}) == Numbers{3});
}

TEST_CASE("a time is so long ago, or one of UTC, or an error that says how to write it") {
  CHECK(*parse_since("90s", kNow) == kNow - std::chrono::seconds{90});
  CHECK(*parse_since("1.5 h", kNow) == kNow - std::chrono::minutes{90});
  CHECK(*parse_since("7d", kNow) == kNow - std::chrono::hours{168});
  CHECK(*parse_since("2026-11-22T15:23:20Z", kNow) == kNow);
  CHECK(*parse_since("2026-11-22T15:23", kNow) == kNow - std::chrono::seconds{20});
  CHECK(*parse_since("2026-11-22", kNow) == WallTime{std::chrono::seconds{1'795'305'600}});
  for (const char* wrong :
       {"yesterday", "-3h", "3", "0s", "2026-13-01", "2026-11-22T25:00", "2026-11-22T15:23:20Zx", "99999999d"}) {
    INFO(wrong);
    const auto refused = parse_since(wrong, kNow);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK(refused.error().message.find("2026-11-22T15:04:05Z") != std::string::npos);
  }
}

TEST_CASE("records are printed so that no terminal obeys them") {
  AuditRecord record = record_of(1, {}, "eve\x1b]0;root\x07", true);
  record.asked = "job submit \x1b[2J\r\n";
  record.outcome.error->message = "no\x9b";
  for (const std::string& text : {text_of(std::vector{record}), json_of(std::vector{record}).dump(2)}) {
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\r') == std::string::npos);
    CHECK(text.find('\x9b') == std::string::npos);
    CHECK(text.find("x1b[2J") != std::string::npos);
  }
}
