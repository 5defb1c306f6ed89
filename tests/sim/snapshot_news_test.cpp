// SPDX-License-Identifier: Apache-2.0
// A judge that reads a snapshot in place of rows knows the same plans as one that has read those rows.
#include "sim_backend/snapshot_news.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/journal/journal_state.hpp"
#include "sim_backend/judge/plan_history.hpp"
#include "sim_backend/random.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;

namespace {

std::shared_ptr<const Plan> plan_of(std::uint64_t revision) {
  Plan plan;
  plan.revision = Revision{revision};
  return std::make_shared<const Plan>(std::move(plan));
}

/// As a controller writes them: each revision goes, and then is confirmed, returned, or nothing more is said of it.
std::vector<Record> random_rows(Random& random, std::uint32_t revisions) {
  std::vector<Record> rows;
  std::shared_ptr<const Plan> confirmed;
  for (std::uint32_t revision = 1; revision <= revisions; ++revision) {
    IntentRecord intent;
    intent.intent.lasers_off = random.below(3) == 0;
    intent.laser_request = revision;
    rows.emplace_back(intent);
    const bool is_recorded_before = random.below(2) == 0;
    if (is_recorded_before) {
      CommitRecord row{CommitDecision::planned, Revision{revision}, CircuitId{revision}, plan_of(revision),
                       std::make_shared<const Intent>()};
      if (confirmed != nullptr && random.below(2) == 0) {  // as it is read of a journal
        row.change = std::make_shared<const PlanChange>(*change_of(*confirmed, *row.plan));
        row.plan = nullptr;
      }
      rows.emplace_back(std::move(row));
    }
    if (is_recorded_before && random.below(4) == 0) {
      rows.emplace_back(CommitRecord{CommitDecision::returned, Revision{revision}, CircuitId{revision}, nullptr});
      continue;  // it was given up before it went
    }
    rows.emplace_back(CommitRecord{CommitDecision::going, Revision{revision}, CircuitId{revision},
                                   is_recorded_before ? nullptr : plan_of(revision)});
    const std::uint32_t end = random.below(4);
    if (end < 2) {
      const CommitDecision decision = end == 0 ? CommitDecision::confirmed : CommitDecision::returned;
      rows.emplace_back(CommitRecord{decision, Revision{revision}, CircuitId{revision}, nullptr});
      confirmed = end == 0 ? plan_of(revision) : confirmed;
    }
  }
  return rows;
}

std::vector<Revision> revisions_of(const std::vector<std::shared_ptr<const Plan>>& plans) {
  std::vector<Revision> revisions;
  for (const auto& plan : plans) {
    revisions.push_back(plan->revision);
  }
  return revisions;
}

Revision revision_of(const std::shared_ptr<const Plan>& plan) { return plan == nullptr ? Revision{} : plan->revision; }

}  // namespace

TEST_CASE("what_a_snapshot_says_to_somebody_who_missed_rows_leads_to_the_state_that_they_lead_to") {
  std::size_t missed = 0;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Random random(seed);
    const std::vector<Record> rows = random_rows(random, 1 + random.below(8));
    const auto read = static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint32_t>(rows.size() + 1)));
    INFO("seed " << seed << ", " << read << " of " << rows.size() << " rows were read");
    const SnapshotRecord snapshot = state_of(rows);
    SnapshotRecord state = state_of({rows.begin(), rows.begin() + read});
    RevisionsRead known;
    std::for_each(rows.begin(), rows.begin() + read, [&](const Record& row) { known.note(row); });
    const std::vector<Record> unread = unread_records(snapshot, known);
    for (const Record& record : unread) {
      apply(state, record);
    }
    CHECK(state.intent == snapshot.intent);
    CHECK(revision_of(state.confirmed) == revision_of(snapshot.confirmed));
    CHECK(revision_of(state.going) == revision_of(snapshot.going));
    if (snapshot.planned != nullptr) {  // of one that was given up meanwhile nobody says so, and nothing comes of it
      CHECK(revision_of(state.planned) == revision_of(snapshot.planned));
    }
    CHECK(revisions_of(state.uncertain) == revisions_of(snapshot.uncertain));
    missed += unread.size() - 1;
    known.note(snapshot);
    CHECK(unread_records(snapshot, known).size() == 1);  // its intent, whoever knows it already
  }
  CHECK(missed > 1'000);
}

TEST_CASE("somebody_who_read_all_rows_learns_no_plan_from_a_snapshot") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const std::vector<Record> rows = random_rows(random, 8);
    RevisionsRead known;
    for (const Record& row : rows) {
      known.note(row);
    }
    const std::vector<Record> unread = unread_records(state_of(rows), known);
    // Of a revision that nothing more is said of a snapshot says that it returned.
    CHECK(std::ranges::none_of(unread, [](const Record& record) {
      const auto* commit = std::get_if<CommitRecord>(&record);
      return commit != nullptr && commit->decision != CommitDecision::returned;
    }));
  }
}

TEST_CASE("a_plan_history_read_from_a_snapshot_has_what_is_confirmed_going_and_uncertain") {
  PlanHistory history(test::small_oddl(8, 4));
  SnapshotRecord snapshot;
  snapshot.intent.lasers_off = true;
  snapshot.intent.jobs.emplace_back().id = JobId{7};
  snapshot.intent.jobs.back().nodes = {NodeId{2}, NodeId{3}};
  snapshot.confirmed = plan_of(4);
  snapshot.uncertain = {plan_of(5)};
  snapshot.going = plan_of(6);
  history.learn(instant_from_ns(10), snapshot);
  history.learn(instant_from_ns(20), snapshot);  // and nothing of it twice
  REQUIRE(history.revisions().size() == 3);
  CHECK(history.revisions()[0].revision == Revision{4});
  CHECK(history.revisions()[0].confirmed);
  CHECK(history.revisions()[0].ended == instant_from_ns(10));
  CHECK(history.revisions()[1].revision == Revision{5});
  CHECK_FALSE(history.revisions()[1].confirmed);
  CHECK(history.revisions()[1].ended == instant_from_ns(10));
  CHECK(history.revisions()[2].revision == Revision{6});
  CHECK(history.revisions()[2].ended == kNever);
  CHECK(history.lasers_off() == TimeSpans{{instant_from_ns(10), kNever}});
  const PlanHistory::Placement* placement = history.placement(JobId{7}, instant_from_ns(15));
  REQUIRE(placement != nullptr);
  CHECK(placement->nodes == std::vector<NodeId>{NodeId{2}, NodeId{3}});
}
