// SPDX-License-Identifier: Apache-2.0
// Jobs: states by the table, facts from the intent.
#include "controller/control/jobs/jobs.hpp"

#include <catch2/catch.hpp>

#include "controller/control/jobs/job_state.hpp"

using namespace loom;

namespace {

Job job_of(std::uint32_t id, std::vector<NodeId> nodes, std::uint32_t stage = 0) {
  Job job;
  job.id = JobId{id};
  job.spec.name = "ring";
  job.spec.workload = "vgg19";
  job.nodes = std::move(nodes);
  job.stage = stage;
  return job;
}

}  // namespace

TEST_CASE("a_job_that_is_wanted_is_as_the_intent_says_and_one_that_went_is_as_it_was") {
  const ControllerFacts facts{};
  DesiredIntent desired;
  Jobs jobs(facts, desired);
  jobs.add(JobId{1});
  desired.add_job(job_of(1, {NodeId{5}, NodeId{2}}, 3));
  CHECK(jobs.facts_of(JobId{1}).name == "ring");
  CHECK(jobs.facts_of(JobId{1}).nodes == std::vector{NodeId{5}, NodeId{2}});  // in rank order
  desired.go_to_stage(JobId{1}, 4);
  CHECK(jobs.stage_of(JobId{1}) == 4);

  jobs.refuse(JobId{1}, "no free path");
  desired.remove_job(JobId{1});
  CHECK(jobs.at(JobId{1}).state == JobState::refused);
  CHECK(jobs.at(JobId{1}).reason == "no free path");
  CHECK(jobs.facts_of(JobId{1}).workload == "vgg19");
  CHECK(jobs.facts_of(JobId{1}).nodes == std::vector{NodeId{2}, NodeId{5}});  // ascending
  CHECK(jobs.stage_of(JobId{1}) == 4);
}

TEST_CASE("a_job_is_lit_only_by_the_confirmation_of_the_stage_that_it_is_in") {
  const ControllerFacts facts{};
  DesiredIntent desired;
  Jobs jobs(facts, desired);
  jobs.add(JobId{1});
  desired.add_job(job_of(1, {NodeId{0}}));
  PlanResult plan;
  plan.plan.revision = Revision{7};
  plan.intent = desired.intent();
  jobs.planned(plan);
  CHECK(jobs.at(JobId{1}).state == JobState::committing);
  CHECK(jobs.at(JobId{1}).revision == Revision{7});
  desired.go_to_stage(JobId{1}, 1);
  jobs.confirmed(plan);
  CHECK(jobs.at(JobId{1}).state == JobState::committing);
  plan.intent = desired.intent();
  jobs.confirmed(plan);
  CHECK(jobs.at(JobId{1}).state == JobState::lit);
}

TEST_CASE("a_node_counts_once_for_its_stage_and_only_under_the_revision_that_lit_it") {
  const ControllerFacts facts{};
  DesiredIntent desired;
  Jobs jobs(facts, desired);
  jobs.add(JobId{1});
  desired.add_job(job_of(1, {NodeId{0}, NodeId{1}}));
  PlanResult plan;
  plan.plan.revision = Revision{7};
  plan.intent = desired.intent();
  jobs.planned(plan);
  jobs.confirmed(plan);
  CHECK_FALSE(jobs.keep_cycle(NodeId{0}, Revision{6}, 1).has_value());  // of the light before
  CHECK(jobs.keep_cycle(NodeId{0}, Revision{7}, 1) == JobId{1});
  CHECK_FALSE(jobs.keep_cycle(NodeId{0}, Revision{7}, 1).has_value());  // repeated
  CHECK_FALSE(jobs.take_played_stage(JobId{1}).has_value());
  CHECK(jobs.keep_cycle(NodeId{1}, Revision{8}, 2) == JobId{1});
  CHECK(jobs.take_played_stage(JobId{1}) == 3);
  CHECK_FALSE(jobs.take_played_stage(JobId{1}).has_value());
  CHECK(jobs.at(JobId{1}).underflows == 3);
  CHECK(jobs.at(JobId{1}).stage_underflows == 0);
}

TEST_CASE("what a leader reports adds up over light that is laid anew, and no old report takes anything back") {
  const ControllerFacts facts{};
  DesiredIntent desired;
  Jobs jobs(facts, desired);
  jobs.add(JobId{1});
  desired.add_job(job_of(1, {NodeId{0}, NodeId{1}}));
  const auto report = [](std::uint64_t iterations, std::uint64_t replayed) {
    return IterationReport{JobId{1}, iterations, replayed, 2 * replayed, std::chrono::milliseconds{5}};
  };
  jobs.keep_iterations(NodeId{0}, report(10, 1), Revision{3});
  jobs.keep_iterations(NodeId{0}, report(20, 1), Revision{3});
  jobs.keep_iterations(NodeId{0}, report(10, 1), Revision{3});  // overtaken
  CHECK(jobs.at(JobId{1}).played.iterations() == 20);
  jobs.keep_iterations(NodeId{1}, report(4, 0), Revision{5});
  jobs.keep_iterations(NodeId{0}, report(30, 1), Revision{3});  // of light that is gone
  CHECK(jobs.at(JobId{1}).played.iterations() == 24);
  CHECK(jobs.at(JobId{1}).played.replayed == 1);
  CHECK(jobs.at(JobId{1}).played.missed == 2);
  jobs.keep_iterations(NodeId{2}, report(99, 0), Revision{6});  // no node of the job
  CHECK(jobs.at(JobId{1}).played.iterations() == 24);
}

TEST_CASE("a_commit_that_fails_leaves_a_job_where_its_light_is") {
  CHECK(next_state(JobState::committing, JobTrigger::light_kept) == JobState::lit);
  CHECK(next_state(JobState::pending, JobTrigger::light_kept) == JobState::lit);
  CHECK(next_state(JobState::committing, JobTrigger::interrupted) == JobState::pending);
  CHECK(next_state(JobState::lit, JobTrigger::interrupted) == JobState::lit);
  CHECK(next_state(JobState::committing, JobTrigger::refused) == JobState::refused);
}

TEST_CASE("a_job_that_ended_stays_so_unless_it_is_wanted_again") {
  for (const JobTrigger trigger :
       {JobTrigger::planned, JobTrigger::confirmed, JobTrigger::light_kept, JobTrigger::interrupted}) {
    CHECK(next_state(JobState::ended, trigger) == JobState::ended);
    CHECK(next_state(JobState::refused, trigger) == JobState::refused);
  }
  CHECK(next_state(JobState::ended, JobTrigger::changed) == JobState::committing);  // by a rollback
}
