// SPDX-License-Identifier: Apache-2.0
// Who is planned when not everybody can be: what runs keeps its light, what comes is given another place before it is refused.
#include "controller/plan/admission.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "controller/schedule/placement.hpp"
#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom::test {
namespace {

std::map<JobId, std::size_t> light_of(const Plan* plan) {
  std::map<JobId, std::size_t> light;
  for (std::size_t i = 0; plan != nullptr && i < plan->circuits.size(); ++i) {
    ++light[plan->circuits[i].job];
  }
  return light;
}

/// Jobs come and go, nodes are drained and their jobs move, schedules are pinned as `schedule apply` pins them.
class OperatorWalk {
 public:
  OperatorWalk(std::uint64_t seed, std::uint32_t nodes, std::uint32_t group_size)
      : group_size_(group_size),
        chance_(seed),
        planning_(std::make_shared<const Fabric>([&] { return small_oddl(nodes, group_size); }())) {}

  void step() {
    const Intent before = planning_.request.intent;
    const auto lit = light_of(planning_.request.base.get());
    const std::uint32_t kind = before.jobs.empty() ? 0 : below(4);
    bool submits = false;
    if (kind == 0) {
      submits = true;
      const auto nodes = 2 + below(group_size_ - 1);
      planning_.request.intent.jobs.push_back(
          job_of(next_++, nodes, below(3) == 0 ? CollectiveKind::all_to_all : CollectiveKind::all_reduce));
    } else if (kind == 1) {
      drain(planning_.request.intent.jobs[below(static_cast<std::uint32_t>(before.jobs.size()))]);
    } else if (kind == 2) {
      pin();
    } else {
      cancel(before.jobs[below(static_cast<std::uint32_t>(before.jobs.size()))].id);
    }
    const bool has_room = free_group();
    const auto made = planning_.attempt();
    if (!made) {
      planning_.request.intent = before;
      refused_with_room_ += submits && has_room ? 1 : 0;
      refused_ += submits ? 1 : 0;
      return;
    }
    last_ = *made;
    for (const auto& [job, circuits] : submits ? lit : std::map<JobId, std::size_t>{}) {
      costs_light_ = costs_light_ || light_of(&last_->plan)[job] < circuits;
    }
  }

  int refused_with_room() const { return refused_with_room_; }
  bool costs_light() const { return costs_light_; }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(chance_() % limit); }

  std::vector<bool> used() const {
    std::vector<bool> used(planning_.fabric->nodes.size());
    for (const Job& job : planning_.request.intent.jobs) {
      for (const NodeId node : job.nodes) {
        used[node.value] = true;
      }
    }
    for (const NodeId node : planning_.request.intent.drained) {
      used[node.value] = true;
    }
    return used;
  }

  bool free_group() const {
    const std::vector<bool> taken = used();
    std::vector<bool> busy(taken.size() / group_size_);
    for (std::size_t node = 0; node < taken.size(); ++node) {
      busy[planning_.fabric->nodes[node].group] = busy[planning_.fabric->nodes[node].group] || taken[node];
    }
    return std::find(busy.begin(), busy.end(), false) != busy.end();
  }

  void drain(Job& job) {
    const std::vector<bool> taken = used();
    std::vector<NodeId> free;
    for (std::uint32_t node = 0; node < taken.size(); ++node) {
      if (!taken[node]) {
        free.push_back(NodeId{node});
      }
    }
    if (free.empty()) {
      return;
    }
    NodeId& moved = job.nodes[below(static_cast<std::uint32_t>(job.nodes.size()))];
    auto& drained = planning_.request.intent.drained;
    drained.push_back(moved);
    std::sort(drained.begin(), drained.end());
    moved = free[below(static_cast<std::uint32_t>(free.size()))];
    std::erase_if(planning_.request.intent.pinned, [&](const JobSchedule& pin) { return pin.job == job.id; });
  }

  void pin() {
    auto& pinned = planning_.request.intent.pinned;
    for (std::size_t i = 0; last_ != nullptr && i < last_->schedule.jobs.size(); ++i) {
      const JobSchedule& schedule = last_->schedule.jobs[i];
      const auto is_it = [&](const JobSchedule& pin) { return pin.job == schedule.job; };
      const auto runs = [&](const Job& job) { return job.id == schedule.job; };
      const auto& jobs = planning_.request.intent.jobs;
      if (below(2) == 0 && std::none_of(pinned.begin(), pinned.end(), is_it) && std::any_of(jobs.begin(), jobs.end(), runs)) {
        pinned.push_back(schedule);
      }
    }
    std::sort(pinned.begin(), pinned.end(), [](const JobSchedule& a, const JobSchedule& b) { return a.job < b.job; });
  }

  void cancel(JobId id) {
    std::erase_if(planning_.request.intent.jobs, [&](const Job& job) { return job.id == id; });
    std::erase_if(planning_.request.intent.pinned, [&](const JobSchedule& pin) { return pin.job == id; });
  }

  std::uint32_t group_size_;
  std::mt19937_64 chance_;
  Planning planning_;
  std::shared_ptr<const PlanResult> last_;
  std::uint64_t next_ = 1;
  int refused_ = 0;
  int refused_with_room_ = 0;
  bool costs_light_ = false;
};

TEST_CASE("after drains and applied schedules a job that fits a free group is never refused, and costs nobody light") {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    INFO("seed " << seed);
    OperatorWalk walk(seed, 64, 8);
    for (int i = 0; i < 12; ++i) {
      walk.step();
    }
    CHECK(walk.refused_with_room() == 0);
    CHECK_FALSE(walk.costs_light());
  }
}

/// Jobs come, go on to other stages, have their schedule pinned, and go.
class StageWalk {
 public:
  explicit StageWalk(std::uint64_t seed)
      : chance_(seed), planning_(std::make_shared<const Fabric>([] { return small_oddl(24, 6); }())) {}

  void step() {
    const Intent before = planning_.request.intent;
    auto& jobs = planning_.request.intent.jobs;
    const std::uint32_t kind = jobs.empty() ? 0 : below(10);
    const bool comes = kind < 2;
    if (comes) {
      Job job = job_of(next_++, 2 + below(9), below(3) == 0 ? CollectiveKind::all_reduce : CollectiveKind::all_to_all);
      if (job.spec.collectives[0].kind == CollectiveKind::all_to_all) {
        job.spec.options["map"] = "maps";
      }
      jobs.push_back(std::move(job));
    } else {
      Job& job = jobs[below(static_cast<std::uint32_t>(jobs.size()))];
      auto& pinned = planning_.request.intent.pinned;
      const auto is_its = [&](const JobSchedule& pin) { return pin.job == job.id; };
      if (kind == 2) {
        std::erase_if(pinned, is_its);
        jobs.erase(jobs.begin() + (&job - jobs.data()));
      } else if (kind == 3 && std::ranges::none_of(pinned, is_its)) {
        pinned.push_back(schedules_[job.id]);
        std::ranges::sort(pinned, {}, &JobSchedule::job);
      } else {
        job.stage = below(static_cast<std::uint32_t>(schedules_[job.id].stages.size()));
        ++advances_;
      }
    }
    const auto made = planning_.attempt();
    if (made) {
      for (const JobSchedule& each : (*made)->schedule.jobs) {
        schedules_[each.job] = each;
      }
      return;
    }
    INFO(made.error().message);
    planning_.request.intent = before;
    CHECK(comes);  // who is there already loses nothing
  }

  int advances() const { return advances_; }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(chance_() % limit); }

  std::mt19937_64 chance_;
  Planning planning_;
  std::map<JobId, JobSchedule> schedules_;
  std::uint64_t next_ = 1;
  int advances_ = 0;
};

TEST_CASE("whoever is admitted has light in every stage, whichever the others are in and whoever is pinned") {
  int advances = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    StageWalk walk(seed);
    for (int i = 0; i < 40; ++i) {
      walk.step();
    }
    advances += walk.advances();
  }
  CHECK(advances > 500);
}

TEST_CASE("a ring gives nobody the wavelengths of a pinned schedule, also where nothing of it is lit yet") {
  Planning planning(small_fabric(2));
  planning.request.intent.jobs = {placed_job(1, {0, 4})};
  const auto alone = planning.attempt();
  REQUIRE(alone);
  Planning dark(small_fabric(2));
  dark.request.intent.jobs = {placed_job(1, {0, 4}), placed_job(2, {1, 5})};  // their ways cross whichever way round
  dark.request.intent.pinned = {(*alone)->schedule.jobs[0]};
  const auto both = dark.attempt();
  INFO((both ? "" : both.error().message));
  REQUIRE(both);
  CHECK(light_of(&(*both)->plan).size() == 2);
}

/// The schedule with one circuit alone in its second stage, which leads to one of the nodes 8..11 and can be lit.
std::optional<JobSchedule> led_elsewhere(const Planning& planning, const JobSchedule& schedule) {
  for (const Circuit& circuit : schedule.stages[1].timeslots[0].circuits) {
    for (std::uint32_t node = 8; node < 12; ++node) {
      JobSchedule given = schedule;
      Stage& stage = given.stages[1];
      stage.timeslots.resize(1);
      stage.timeslots[0].circuits = {circuit};
      Circuit& moved = stage.timeslots[0].circuits.front();
      moved.destination = NodeId{node};
      moved.receiver = planning.fabric->nodes[node].receivers[0];
      Planning trial = planning;
      trial.request.intent.jobs[0].stage = 1;
      trial.request.intent.pinned = {given};
      if (trial.attempt()) {
        return given;
      }
    }
  }
  return std::nullopt;
}

TEST_CASE("a job is not admitted whose receivers an operator gave to another job's next stage") {
  Planning planning(std::make_shared<const Fabric>(small_oddl(12, 4)));
  Job exchanging = placed_job(1, {0, 1, 2, 3, 4, 5, 6, 7});
  exchanging.spec.collectives[0].kind = CollectiveKind::all_to_all;
  exchanging.spec.options["map"] = "maps";
  planning.request.intent.jobs = {exchanging};
  const auto first = planning.attempt();
  REQUIRE(first);
  REQUIRE((*first)->schedule.jobs[0].stages.size() > 1);
  const auto given = led_elsewhere(planning, (*first)->schedule.jobs[0]);
  REQUIRE(given);
  planning.request.intent.pinned = {*given};
  REQUIRE(planning.attempt());
  planning.request.intent.jobs.push_back(placed_job(2, {8, 9, 10, 11}));
  const auto second = planning.attempt();
  REQUIRE_FALSE(second);
  CHECK(second.error().message.starts_with("with job 1 in stage 2: "));
}

TEST_CASE("a job that comes while lasers are off is placed where it will have light") {
  Planning planning(std::make_shared<const Fabric>(small_oddl(8, 4)));
  auto& intent = planning.request.intent;
  intent.lasers_off = true;
  const auto laser = planning.fabric->device_of_element[planning.fabric->nodes[1].transmitters[0].value];
  REQUIRE(laser);
  DeviceOverride darkened;
  darkened.device = *laser;
  darkened.setpoint = idle_setpoint(*planning.fabric, planning.fabric->device(*laser));
  intent.overrides = {darkened};
  intent.jobs = {job_of(1, 4, CollectiveKind::all_reduce)};
  const auto off = planning.attempt();
  INFO((off ? "" : off.error().message));
  REQUIRE(off);
  CHECK((*off)->plan.circuits.empty());
  planning.request.intent.lasers_off = false;
  const auto on = planning.attempt();
  INFO((on ? "" : on.error().message));
  REQUIRE(on);
  CHECK((*on)->plan.circuits.size() == 4);
}

/// An admission over made-up attempts: `fits` says which jobs can be planned together, and where.
struct Attempts {
  std::vector<std::vector<std::uint64_t>> made;  ///< jobs of each attempt
  std::vector<std::uint32_t> places;
  std::function<bool(const std::vector<std::uint64_t>& jobs, std::uint32_t place)> fits;

  Result<std::shared_ptr<const PlanResult>> admit(const PlanRequest& request) {
    return loom::admit(request, [this](const Intent& intent, std::uint32_t place) -> Result<std::shared_ptr<const PlanResult>> {
      std::vector<std::uint64_t> jobs;
      for (const Job& job : intent.jobs) {
        jobs.push_back(job.id.value);
      }
      made.push_back(jobs);
      places.push_back(place);
      if (!fits(jobs, place)) {
        return fail(ErrorCode::infeasible, "no room for " + std::to_string(jobs.size()) + " jobs");
      }
      auto result = std::make_shared<PlanResult>();
      result->intent = intent;
      return result;
    });
  }
};

bool has(const std::vector<std::uint64_t>& jobs, std::uint64_t id) {
  return std::find(jobs.begin(), jobs.end(), id) != jobs.end();
}

PlanRequest request_of(std::uint64_t running, std::uint64_t all) {
  PlanRequest request;
  auto base = std::make_shared<Plan>();
  for (std::uint64_t id = 1; id <= all; ++id) {
    request.intent.jobs.push_back(job_of(id, 2));
    if (id <= running) {
      request.intent.jobs.back().nodes = {NodeId{0}, NodeId{1}};
      Circuit circuit;
      circuit.id = CircuitId{id};
      circuit.job = JobId{id};
      base->circuits.push_back(circuit);
    }
  }
  request.base = base;
  return request;
}

TEST_CASE("what fits as a whole is planned once") {
  Attempts attempts{{}, {}, [](const auto&, std::uint32_t) { return true; }};
  REQUIRE(attempts.admit(request_of(2, 4)));
  CHECK(attempts.made.size() == 1);
}

TEST_CASE("only the job that does not fit is left out, and what runs is planned first") {
  Attempts attempts{{}, {}, [](const auto& jobs, std::uint32_t) { return !has(jobs, 3); }};
  PlanRequest request = request_of(2, 5);
  request.may_leave_out = {JobId{3}, JobId{4}, JobId{5}};
  const auto made = attempts.admit(request);
  REQUIRE(made);
  REQUIRE((*made)->left_out.size() == 1);
  CHECK((*made)->left_out[0].job == JobId{3});
  CHECK_FALSE((*made)->left_out[0].in_part);
  CHECK((*made)->left_out[0].why.message == "no room for 3 jobs");
  CHECK((*made)->intent.jobs.size() == 5);
  CHECK(attempts.made[1] == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("a job that is not planned now keeps its nodes") {
  const Fabric fabric = small_oddl(8, 4);
  Intent wanted;
  wanted.jobs = {job_of(1, 4, CollectiveKind::all_reduce), job_of(2, 4, CollectiveKind::all_reduce)};
  wanted.jobs[0].nodes = {NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3}};
  Intent without = wanted;
  without.jobs.erase(without.jobs.begin());
  const auto beside = place(fabric, nullptr, without, {{}, 0, &wanted});
  REQUIRE(beside);
  for (const NodeId node : beside->jobs[0].nodes) {
    CHECK(node.value >= 4);
  }
  without.jobs[0].spec.node_count = 5;
  const auto more = place(fabric, nullptr, without, {{}, 0, &wanted});
  REQUIRE_FALSE(more);
  CHECK(more.error().message.find("needs 5 nodes, 4 free (job 1 has 4)") != std::string::npos);
  CHECK(place(fabric, nullptr, without));  // the intent alone has room
}

TEST_CASE("other places are tried before a job is refused") {
  Attempts attempts{{}, {}, [](const auto& jobs, std::uint32_t place) { return !has(jobs, 2) || place == 2; }};
  REQUIRE(attempts.admit(request_of(1, 2)));
  CHECK(attempts.places == std::vector<std::uint32_t>{0, 1, 2});
  PlanRequest fixed = request_of(1, 2);
  fixed.intent.jobs[1].spec.placement = {NodeId{2}, NodeId{3}};
  CHECK_FALSE(attempts.admit(fixed));
}

TEST_CASE("two jobs that do not fit together are not both refused") {
  Attempts attempts{{}, {}, [](const auto& jobs, std::uint32_t) { return !(has(jobs, 2) && has(jobs, 3)); }};
  PlanRequest request = request_of(1, 3);
  request.may_leave_out = {JobId{2}, JobId{3}};
  const auto made = attempts.admit(request);
  REQUIRE(made);
  REQUIRE((*made)->left_out.size() == 1);
  CHECK((*made)->left_out[0].job == JobId{3});
}

TEST_CASE("where what runs cannot be planned nothing is, whoever comes") {
  Attempts attempts{{}, {}, [](const auto& jobs, std::uint32_t) { return !has(jobs, 1); }};
  PlanRequest request = request_of(1, 3);
  request.may_leave_out = {JobId{2}, JobId{3}};
  CHECK_FALSE(attempts.admit(request));
}

}  // namespace
}  // namespace loom::test
