// SPDX-License-Identifier: Apache-2.0
// What a journal says: a snapshot anywhere in a sequence of records changes nothing of it.
#include "core/journal/journal_state.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "core/limits.hpp"
#include "proto/codec.hpp"
#include "tests/unit/proto/proto_random.hpp"

namespace loom {
namespace {

std::shared_ptr<const Plan> plan_of(Revision revision, std::vector<JobId> jobs = {}) {
  Plan plan;
  plan.revision = revision;
  for (const JobId job : jobs) {
    Circuit circuit;
    circuit.id = {100 * revision.value + job.value};
    circuit.job = job;
    plan.circuits.push_back(circuit);
  }
  return std::make_shared<const Plan>(std::move(plan));
}

Intent intent_of(const std::vector<JobId>& jobs, std::uint32_t stage = 0) {
  Intent intent;
  for (const JobId job : jobs) {
    intent.jobs.emplace_back().id = job;
    intent.jobs.back().stage = stage;
  }
  return intent;
}

IntentRecord wants(const std::vector<JobId>& jobs, std::uint32_t stage = 0) { return {intent_of(jobs, stage), 0, {}, {}, {}}; }

CommitRecord going(Revision revision, std::vector<JobId> jobs = {}) {
  return {CommitDecision::going, revision, {revision.value}, plan_of(revision, std::move(jobs)), {}};
}

CommitRecord planned(Revision revision, std::vector<JobId> jobs = {}) {
  return {CommitDecision::planned,
          revision,
          {revision.value},
          plan_of(revision, jobs),
          std::make_shared<const Intent>(intent_of(jobs))};
}

/// Its plan was recorded before.
CommitRecord goes(Revision revision) { return {CommitDecision::going, revision, {}, {}, {}}; }

CommitRecord confirmed(Revision revision) { return {CommitDecision::confirmed, revision, {}, {}, {}}; }

CommitRecord returned(Revision revision) { return {CommitDecision::returned, revision, {}, {}, {}}; }

/// A record out of few enough revisions and jobs that decisions meet their plans.
Record random_step(test::Random& random) {
  const Revision revision{random.number<std::uint64_t>(1, 3)};
  const auto jobs = [&] {
    std::vector<JobId> some;
    for (std::uint64_t id = 1; id <= 4; ++id) {
      if (random.coin()) {
        some.push_back({id});
      }
    }
    return some;
  };
  switch (random.between(0, 13)) {
    case 0:
      return TermRecord{{random.number<std::uint64_t>(1, 99)}};
    case 1:
      return test::random_record(random, 1);
    case 2:
    case 3:
      return wants(jobs(), random.number<std::uint32_t>(0, 1));
    case 4:
    case 5: {
      CommitRecord record = going(revision, jobs());
      record.intent = random.coin() ? nullptr : std::make_shared<const Intent>(intent_of(jobs()));
      return record;
    }
    case 6:
      return returned(revision);
    case 8:
    case 9:
      return planned(revision, jobs());
    case 10:
    case 11:
      return goes(revision);
    case 7:
      return LatchRecord{random.coin(), random.word(), random.word(), random.coin(), "door"};
    default:
      return confirmed(revision);
  }
}

}  // namespace

TEST_CASE("a_snapshot_anywhere_in_a_journal_changes_nothing_of_what_it_says") {
  std::size_t confirmations = 0;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    test::Random random(seed);
    std::vector<Record> records;
    for (std::int64_t left = random.between(1, 40); left > 0; --left) {
      records.push_back(random_step(random));
    }
    const SnapshotRecord whole = state_of(records);
    const auto split = random.between(0, static_cast<std::int64_t>(records.size()));
    // Through the codec, as a restart reads it.
    auto snapshot = decode_record(encode(Record{state_of({records.begin(), records.begin() + split})}));
    INFO("seed " << seed << ", " << records.size() << " records, snapshot behind " << split);
    REQUIRE(snapshot.has_value());
    std::vector<Record> shortened{*std::move(snapshot)};
    shortened.insert(shortened.end(), records.begin() + split, records.end());
    REQUIRE(test::equal(Record{state_of(shortened)}, Record{whole}));
    confirmations += whole.kept.size();
  }
  CHECK(confirmations > 1'000);
}

TEST_CASE("a_revision_is_kept_with_the_intent_that_it_carried_out_and_not_with_a_newer_one") {
  CommitRecord later = going({2}, {{1}});
  later.intent = std::make_shared<const Intent>(intent_of({{1}}));
  const auto state = state_of({wants({{1}}), going({1}, {{1}}), wants({{1}, {2}}), confirmed({1}), later, confirmed({2})});
  REQUIRE(state.kept.size() == 2);
  CHECK(*state.kept[0].intent == intent_of({{1}}));
  CHECK(*state.kept[1].intent == intent_of({{1}}));
  CHECK(state.intent == intent_of({{1}, {2}}));
  CHECK(state.confirmed->revision == Revision{2});
  CHECK(kept_revision(state, {1}) == &state.kept[0]);
  CHECK(kept_revision(state, {3}) == nullptr);
}

TEST_CASE("what_was_going_and_did_not_arrive_is_uncertain_until_something_is_confirmed") {
  SnapshotRecord state = state_of({going({1}), returned({1}), going({2}), going({3})});
  REQUIRE(state.uncertain.size() == 2);
  CHECK(state.uncertain[0]->revision == Revision{1});
  CHECK(state.uncertain[1]->revision == Revision{2});
  REQUIRE(state.going != nullptr);
  CHECK(state.going->revision == Revision{3});
  apply(state, confirmed({2}));  // of a revision that was overtaken: no plan of it is there to believe
  CHECK(state.uncertain.size() == 2);
  apply(state, confirmed({3}));
  CHECK(state.uncertain.empty());
  CHECK(state.going == nullptr);
}

TEST_CASE("what_was_planned_goes_with_its_own_plan_and_intent_and_is_forgotten_when_it_was_given_up") {
  SnapshotRecord state = state_of({wants({{1}}), planned({1}, {{1}}), wants({{1}, {2}})});
  REQUIRE(state.planned != nullptr);
  CHECK(state.going == nullptr);
  apply(state, goes({1}));
  CHECK(state.planned == nullptr);
  REQUIRE(state.going != nullptr);
  CHECK(state.going->revision == Revision{1});
  apply(state, confirmed({1}));
  CHECK(*state.kept.back().intent == intent_of({{1}}));

  apply(state, planned({2}, {{2}}));
  apply(state, returned({2}));  // before it went: nothing has moved
  CHECK(state.planned == nullptr);
  CHECK(state.uncertain.empty());
  apply(state, planned({3}));
  apply(state, planned({4}));
  apply(state, goes({3}));  // overtaken: no plan of it is there to believe
  CHECK(state.going == nullptr);
  CHECK(state.confirmed->revision == Revision{1});
}

TEST_CASE("what_goes_has_its_plan_or_follows_it") {
  const SnapshotRecord nothing = state_of({planned({1}), returned({1})});
  CHECK(misfit_of(nothing, goes({2})) == "revision 2 goes, and the row of its plan is missing");
  CHECK_FALSE(misfit_of(nothing, goes({1})).empty());  // that was given up
  CHECK(misfit_of(nothing, going({1})).empty());
  CHECK(misfit_of(nothing, planned({2})).empty());
  CHECK(misfit_of(nothing, confirmed({1})).empty());
  CHECK(misfit_of(state_of({planned({2})}), goes({2})).empty());
}

TEST_CASE("numbers_never_go_back") {
  const auto state = state_of({TermRecord{{5}}, going({9}), TermRecord{{3}}, returned({2})});
  CHECK(state.term == Term{5});
  CHECK(state.next_revision == Revision{10});
  CHECK(state.next_circuit == CircuitId{9});
}

TEST_CASE("a_stage_is_lit_since_the_revision_that_lit_it_first") {
  const auto state = state_of({wants({{1}, {2}}), going({1}, {{1}}), confirmed({1}), going({2}, {{1}, {2}}), confirmed({2}),
                               wants({{1}, {2}}, 1), going({3}, {{1}}), confirmed({3})});
  CHECK(state.lit == std::vector<LitStage>{{{1}, 1, {3}}, {{2}, 0, {2}}});
}

TEST_CASE("a_journal_keeps_so_many_revisions_and_forgets_stages_that_nobody_can_bring_back") {
  SnapshotRecord state;
  apply(state, wants({{1}}));
  apply(state, going({1}, {{1}}));
  apply(state, confirmed({1}));
  for (std::uint64_t i = 2; i < 100; ++i) {
    IntentRecord other = wants({{2}});
    other.cause = IntentCause{"operator", {i}, {}, {}};
    apply(state, other);
    apply(state, going({i}, {{2}}));
    apply(state, confirmed({i}));
  }
  CHECK(state.kept.size() == limits::kRevisionsKept);
  CHECK(state.kept.back().revision == Revision{99});
  CHECK(state.answered.size() == 98);
  CHECK(state.lit == std::vector<LitStage>{{{2}, 0, {2}}});
}

}  // namespace loom
