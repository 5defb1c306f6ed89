// SPDX-License-Identifier: Apache-2.0
// What waits between a socket and a step machine: fair by key, bounded by quota and bytes.
#include "runtime/zmq/intake.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/messages/intake_limits.hpp"
#include "core/messages/token_bucket.hpp"
#include "runtime/zmq/quota.hpp"

namespace loom {
namespace {

constexpr std::chrono::seconds kSecond{1};

Instant at_ms(std::int64_t ms) { return Instant{std::chrono::milliseconds{ms}}; }

IntakeQuota quota(IntakeRank rank, std::uint64_t burst, std::uint64_t tokens = 0) {
  return {rank, {burst, tokens, kSecond}, "kTest", 1'000, "kTestBytes"};
}

/// `count` messages that say their number, of 10 bytes each.
IntakeFrame frame(std::uint64_t connection, std::size_t count) {
  auto text = std::make_shared<std::vector<std::string>>();
  for (std::size_t i = 0; i < count; ++i) {
    text->push_back(std::to_string(i));
  }
  IntakeFrame made{connection, text, {}, 10 * count};
  for (const std::string& each : *text) {
    made.messages.push_back(each);
  }
  return made;
}

std::vector<std::uint64_t> taken(Intake& intake, IntakeRank rank, std::size_t most = 1'000) {
  std::vector<std::uint64_t> connections;
  for (std::size_t i = 0; i < most; ++i) {
    const auto message = intake.next(rank);
    if (!message) {
      break;
    }
    connections.push_back(message->connection);
  }
  return connections;
}

TEST_CASE("a_key_that_floods_lets_others_wait_for_one_message_of_its_own") {
  Intake intake;
  const IntakeQuota agents = quota(IntakeRank::agent, 100);
  CHECK(intake.offer("flood", agents, frame(1, 90), at_ms(0)).admitted == 90);
  CHECK(intake.offer("honest", agents, frame(2, 2), at_ms(0)).admitted == 2);
  CHECK(taken(intake, IntakeRank::agent, 5) == std::vector<std::uint64_t>{1, 2, 1, 2, 1});
}

TEST_CASE("a_key_with_many_connections_has_one_turn_a_round") {
  Intake intake;
  const IntakeQuota operators = quota(IntakeRank::operator_, 100);
  for (std::uint64_t connection = 1; connection <= 50; ++connection) {
    intake.offer("many", operators, frame(connection, 1), at_ms(0));
  }
  intake.offer("one", operators, frame(99, 3), at_ms(0));
  CHECK(taken(intake, IntakeRank::operator_, 6) == std::vector<std::uint64_t>{1, 99, 2, 99, 3, 99});
}

TEST_CASE("messages_of_one_key_come_in_the_order_of_their_arrival") {
  Intake intake;
  intake.offer("a", quota(IntakeRank::agent, 100), frame(1, 3), at_ms(0));
  intake.offer("a", quota(IntakeRank::agent, 100), frame(2, 1), at_ms(0));
  std::string text;
  while (const auto message = intake.next(IntakeRank::agent)) {
    text += std::to_string(message->connection) + ":" + std::string(message->bytes) + " ";
  }
  CHECK(text == "1:0 1:1 1:2 2:0 ");
}

TEST_CASE("agents_and_operators_wait_apart") {
  Intake intake;
  intake.offer("grace", quota(IntakeRank::operator_, 100), frame(1, 1), at_ms(0));
  CHECK_FALSE(intake.next(IntakeRank::agent).has_value());
  CHECK_FALSE(intake.is_empty());
  CHECK(taken(intake, IntakeRank::operator_) == std::vector<std::uint64_t>{1});
  CHECK(intake.is_empty());
}

TEST_CASE("what_is_beyond_the_quota_is_refused_and_comes_in_again_with_time") {
  Intake intake;
  const IntakeQuota few = quota(IntakeRank::operator_, 10, 5);
  const auto first = intake.offer("viewer", few, frame(1, 40), at_ms(0));
  CHECK(first.admitted == 10);
  CHECK_FALSE(first.is_queue_full);
  CHECK(intake.waiting("viewer") == 10);
  taken(intake, IntakeRank::operator_);
  CHECK(intake.offer("viewer", few, frame(1, 1), at_ms(199)).admitted == 0);
  CHECK(intake.offer("viewer", few, frame(1, 40), at_ms(1'000)).admitted == 5);
  taken(intake, IntakeRank::operator_);
  CHECK(intake.offer("viewer", few, frame(1, 40), at_ms(3'600'000)).admitted == 10);  // never more than the burst
  CHECK(intake.offer("other", few, frame(2, 40), at_ms(3'600'000)).admitted == 10);
}

TEST_CASE("frames_of_one_key_wait_only_as_far_as_its_bytes_go") {
  Intake intake;
  const IntakeQuota some = quota(IntakeRank::operator_, 1'000);
  CHECK(intake.offer("a", some, frame(1, 60), at_ms(0)).admitted == 60);
  const auto refused = intake.offer("a", some, frame(1, 60), at_ms(0));
  CHECK(refused.admitted == 0);
  CHECK(refused.is_queue_full);
  CHECK(intake.offer("b", some, frame(2, 60), at_ms(0)).admitted == 60);
  taken(intake, IntakeRank::operator_);
  CHECK(intake.offer("a", some, frame(1, 60), at_ms(0)).admitted == 60);
}

TEST_CASE("a_key_whose_answers_cost_too_much_is_refused_until_they_are_paid_back") {
  Intake intake;
  const IntakeQuota some = quota(IntakeRank::operator_, 1'000);
  intake.offer("a", some, frame(1, 1), at_ms(0));
  intake.charge("a", limits::kReplyBytesBurst + limits::kReplyBytes, at_ms(0));
  CHECK(intake.owes_replies("a", at_ms(0)));
  CHECK(intake.offer("a", some, frame(1, 1), at_ms(900)).admitted == 0);
  CHECK(intake.offer("a", some, frame(1, 1), at_ms(1'100)).admitted == 1);
  CHECK(intake.offer("b", some, frame(2, 1), at_ms(0)).admitted == 1);
}

TEST_CASE("refusals_of_a_key_are_answered_so_many_a_second") {
  Intake intake;
  intake.offer("a", quota(IntakeRank::operator_, 1), frame(1, 1), at_ms(0));
  std::size_t answered = 0;
  while (intake.may_answer_refusal("a", at_ms(0))) {
    ++answered;
  }
  CHECK(answered == limits::kRefusalsAnswered);
  CHECK(intake.may_answer_refusal("a", at_ms(100)));
}

TEST_CASE("a_key_that_is_forgotten_has_nothing_waiting_and_one_with_another_grant_begins_anew") {
  Intake intake;
  intake.offer("a", quota(IntakeRank::operator_, 10), frame(1, 5), at_ms(0));
  intake.offer("b", quota(IntakeRank::operator_, 10), frame(2, 1), at_ms(0));
  CHECK(intake.forget("a") == 5);
  CHECK(taken(intake, IntakeRank::operator_) == std::vector<std::uint64_t>{2});
  intake.offer("b", quota(IntakeRank::operator_, 10), frame(2, 9), at_ms(0));
  CHECK(intake.offer("b", quota(IntakeRank::agent, 4), frame(3, 9), at_ms(0)).admitted == 4);
  CHECK(intake.is_empty(IntakeRank::operator_));
}

TEST_CASE("an_agents_key_has_a_quota_for_each_of_its_nodes_up_to_a_limit") {
  const auto of = [](std::uint32_t nodes) { return quota_of({"k", Role::agent, "a", {{NodeId{0}, NodeId{nodes - 1}}}}); };
  CHECK(of(1).messages.burst == limits::kAgentBurst);
  CHECK(of(512).messages.tokens == 512 * std::uint64_t{limits::kAgentMessages});
  CHECK(of(65'536).messages.tokens == limits::kKeyMessages);
  CHECK(quota_of({"k", Role::viewer, "v", {}}).messages.tokens < quota_of({"k", Role::operator_, "o", {}}).messages.tokens);
}

TEST_CASE("a_bucket_never_gives_more_than_its_rate") {
  TokenBucket bucket({8, 1, std::chrono::minutes{10}});
  CHECK(bucket.take(100, at_ms(0)) == 8);
  CHECK(bucket.take(1, at_ms(599'999)) == 0);
  CHECK(bucket.take(2, at_ms(600'000)) == 1);
  CHECK(bucket.take(1, at_ms(500'000)) == 0);  // a clock that steps back gives nothing
  CHECK(bucket.take(100, Instant{Duration{limits::kInstantNs}}) == 8);
}

}  // namespace
}  // namespace loom
