// SPDX-License-Identifier: Apache-2.0
// Iterations on granted light beside the ideal switch: T14's rows, their reasons, and what moves them.
#include "sim_backend/judge/grant_figures.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "controller/arena/reproduction/oddl_claims.hpp"
#include "controller/workload/models/zoo.hpp"
#include "sim_backend/experiments/grant_lab.hpp"
#include "sim_backend/judge/granted_iteration.hpp"

using namespace loom;

namespace {

JobSpec job_of_four(std::string_view workload) {
  const auto graph = granted_workload(workload, 4, {});
  REQUIRE(graph);
  auto job = job_of(*graph);
  REQUIRE(job);
  return std::move(*job);
}

}  // namespace

TEST_CASE("granted_testbed_is_as_fast_as_accepted_and_says_what_it_assumes") {
  const auto figures = granted_testbed();
  REQUIRE(figures);
  std::size_t judged = 0;
  for (const Figure& figure : *figures) {
    INFO(figure.what << ": " << figure.ours);
    CHECK(figure.ours > 0);
    judged += figure.is_judged() ? 1 : 0;
    CHECK((!figure.is_judged() || figure.is_within()));
  }
  CHECK(judged == 2 * kGrantedWorkloads.size());
  const std::string& assumed = figures->front().assumptions.front();
  for (const char* each : {"t_tune", "t_ctl", "t_cdr", "Qmax"}) {
    CHECK(assumed.find(each) != std::string::npos);
  }
}

TEST_CASE("the_same_seed_grants_the_same_iteration") {
  const JobSpec job = job_of_four("dlrm");
  GrantedOptions options;
  options.loss_per_million = 10'000;
  const auto first = play_granted(job, options);
  const auto again = play_granted(job, options);
  options.seed = 2;
  const auto other = play_granted(job, options);
  REQUIRE(first);
  REQUIRE(again);
  REQUIRE(other);
  CHECK(first->digest == again->digest);
  CHECK(first->granted == again->granted);
  CHECK(first->digest != other->digest);
}

TEST_CASE("no_iteration_is_faster_than_on_the_ideal_switch_and_no_light_meets_light") {
  for (const std::string_view workload : kGrantedWorkloads) {
    const JobSpec job = job_of_four(workload);
    for (const std::int64_t control_ns : {100, 1'000, 1'000'000}) {
      for (const std::int64_t tune_ns : {1, 100'000}) {
        GrantedOptions options;
        options.timings.control = Duration{control_ns};
        options.timings.tune = Duration{tune_ns};
        const auto result = play_granted(job, options);
        REQUIRE(result);
        INFO(workload << ", control " << control_ns << " ns, tune " << tune_ns << " ns");
        CHECK(result->granted > result->ideal);
        CHECK(result->collisions == 0);
        CHECK(result->unreachable == 0);
      }
    }
  }
}

double slower_over_seeds(const JobSpec& job, GrantedOptions options) {
  double slower = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    options.seed = seed;
    const auto result = play_granted(job, options);
    REQUIRE(result);
    slower += result->slower();
  }
  return slower / 16;
}

TEST_CASE("staggered_requests_or_a_second_transmitter_end_what_an_all_to_all_loses_to_contention") {
  const JobSpec job = job_of_four("dlrm");
  GrantedOptions bare;
  bare.is_staggered = false;
  GrantedOptions twice = bare;
  twice.transmitters = 2;
  const double lost = slower_over_seeds(job, bare);
  CHECK(slower_over_seeds(job, {}) < lost / 10);
  CHECK(slower_over_seeds(job, twice) < lost / 2);
  GrantedOptions apart;
  apart.apart = std::chrono::microseconds{10};  // more than a round trip: each waits for its turn, so the rotation holds
  CHECK(slower_over_seeds(job, apart) < 0.01);
  CHECK(slower_over_seeds(job, apart) < lost / 10);
}

TEST_CASE("a_ring_pays_its_control_round_trip_once_a_window") {
  const JobSpec job = job_of_four("vgg19");
  const std::array<double, 3> control{1, 100, 10'000};
  const auto sweep = sweep_testbed_control(control);
  REQUIRE(sweep);
  const std::vector<double>& vgg = sweep->lines.front().values;
  CHECK(vgg[0] < vgg[1]);
  CHECK(vgg[1] < vgg[2]);
  GrantedOptions longer;
  longer.quantum = std::chrono::milliseconds{100};
  const auto windows = play_granted(job, {});
  const auto whole = play_granted(job, longer);
  REQUIRE(windows);
  REQUIRE(whole);
  CHECK(whole->granted - whole->ideal < (windows->granted - windows->ideal) / 10);
}

TEST_CASE("a_sweeps_point_where_the_testbed_stands_is_its_row") {
  const std::array<double, 1> standing{0.1};
  const auto sweep = sweep_testbed_tuning(standing);
  const auto figures = granted_testbed();
  REQUIRE(sweep);
  REQUIRE(figures);
  CHECK(sweep->lines.front().values.front() == figures->front().ours);
}

TEST_CASE("a_collective_that_is_no_set_of_streams_is_refused_by_name") {
  JobSpec job;
  job.workload = "one broadcast";
  job.node_count = 4;
  job.collectives = {{.kind = CollectiveKind::broadcast, .bytes = Bytes{1'000'000}}};
  const auto result = play_granted(job, {});
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::unsupported);
  CHECK(result.error().message.find("broadcast of 4 ranks") != std::string::npos);
}

TEST_CASE("a_listed_stream_to_a_node_that_is_not_there_is_refused") {
  GrantLabOptions options = lab_options({});
  options.nodes = 2;
  options.traffic = GrantTraffic::listed;
  options.streams = {{NodeId{0}, NodeId{2}, Bytes{1}}};
  const auto result = run_grant_lab(options);
  REQUIRE_FALSE(result);
  CHECK(result.error().message.find("from node 0 to node 2 of 2") != std::string::npos);
}
