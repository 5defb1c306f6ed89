// SPDX-License-Identifier: Apache-2.0
// What is believed of an interlock contact: open at once, closed after a while, lost is open.
#include "core/fabric/contact.hpp"

#include <catch2/catch.hpp>

using namespace loom;
using std::chrono::milliseconds;

namespace {

constexpr ContactTimings kTimings{milliseconds{10}, milliseconds{250}, milliseconds{50}};
Instant at(int ms) { return Instant{milliseconds{ms}}; }

/// A judge that has found the contact closed at 60 ms.
ContactJudge closed_judge() {
  ContactJudge judge(kTimings, at(0));
  for (int ms = 10; ms <= 60; ms += 10) {
    judge.read(at(ms), true);
  }
  REQUIRE(judge.state() == ContactState::closed);
  return judge;
}

}  // namespace

TEST_CASE("a_contact_is_unread_until_it_has_read_closed_for_as_long_as_it_takes_to_settle") {
  ContactJudge judge(kTimings, at(0));
  CHECK(judge.state() == ContactState::unread);
  CHECK_FALSE(judge.read(at(10), true));
  CHECK_FALSE(judge.read(at(59), true));
  CHECK(judge.state() == ContactState::unread);
  CHECK(judge.read(at(60), true) == ContactChange{false, {}});
  CHECK_FALSE(judge.read(at(70), true));  // told once
}

TEST_CASE("one_open_reading_counts_at_once_and_closing_begins_anew_with_every_bounce") {
  ContactJudge judge = closed_judge();
  CHECK(judge.read(at(70), false) == ContactChange{true, {}});
  CHECK_FALSE(judge.read(at(80), false));
  CHECK_FALSE(judge.read(at(90), true));
  CHECK_FALSE(judge.read(at(120), false));  // a bounce
  CHECK_FALSE(judge.read(at(130), true));
  CHECK_FALSE(judge.read(at(179), true));
  CHECK(judge.read(at(180), true) == ContactChange{false, {}});
}

TEST_CASE("a_contact_that_cannot_be_read_for_longer_than_the_bound_is_open_and_the_sentence_says_why") {
  ContactJudge judge = closed_judge();
  CHECK_FALSE(judge.failed(at(310), "10.0.0.7 unit 1 did not answer"));  // exactly the bound
  const auto change = judge.failed(at(311), "10.0.0.7 unit 1 did not answer");
  REQUIRE(change);
  CHECK(change->open);
  CHECK(change->problem.find("251 ms") != std::string::npos);
  CHECK(change->problem.find("limit 250 ms") != std::string::npos);
  CHECK(change->problem.find("10.0.0.7 unit 1 did not answer") != std::string::npos);
  CHECK_FALSE(judge.failed(at(400), "again"));  // told once
  CHECK_FALSE(judge.read(at(410), true));       // and it comes back like any other
  CHECK(judge.read(at(460), true) == ContactChange{false, {}});
}

TEST_CASE("a_failure_that_is_shorter_than_the_bound_changes_nothing") {
  ContactJudge judge = closed_judge();
  CHECK_FALSE(judge.failed(at(100), "busy"));
  CHECK_FALSE(judge.failed(at(200), "busy"));
  CHECK_FALSE(judge.read(at(300), true));
  CHECK_FALSE(judge.look(at(540)));
  CHECK(judge.state() == ContactState::closed);
}

TEST_CASE("a_reader_that_is_stuck_is_noticed_by_whoever_looks_at_the_age_of_its_last_reading") {
  ContactJudge judge = closed_judge();
  CHECK_FALSE(judge.look(at(310)));
  const auto change = judge.look(at(311));
  REQUIRE(change);
  CHECK(change->open);
  CHECK(change->problem.find("does not answer") != std::string::npos);
}

TEST_CASE("a_contact_that_was_never_read_is_open_after_the_bound") {
  ContactJudge judge(kTimings, at(1'000));
  CHECK_FALSE(judge.failed(at(1'100), "/run/door cannot be read"));
  CHECK(judge.state() == ContactState::unread);
  CHECK(judge.failed(at(1'251), "/run/door cannot be read"));
  CHECK(judge.state() == ContactState::open);
}
