// SPDX-License-Identifier: Apache-2.0
// What a scheduler says of its schedule against what the prediction of a lab's report says of the same schedule: a bound is
// below the objective and the iteration. The objective is below the iteration where it is the work of what is busiest; where it
// is the length of all timeslots, communication takes no longer.
#include <array>
#include <catch2/catch.hpp>

#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/schedule/job_alone.hpp"
#include "core/config/fabric_file.hpp"
#include "core/messages/iteration.hpp"
#include "tests/property/plan_worlds.hpp"

namespace {

using namespace loom;
using loom::testing::Chance;

constexpr double kLatencies = 1e-3;  ///< s, of a few hundred rounds at 1 us and a little: objectives count no latency

double seconds_of(Duration duration) { return 1e-9 * static_cast<double>(duration.count()); }

std::shared_ptr<const Fabric> fabric_of(const std::string& name, const std::string& parameters) {
  const auto document =
      parse_yaml("f.yaml", "schema_version: 1\nkind: fabric\nname: f\ntemplate: " + name + "\nparameters:\n" + parameters);
  auto fabric = read_fabric("f.yaml", *document.value, all_fabric_kinds());
  REQUIRE(fabric);
  return std::make_shared<const Fabric>(*std::move(fabric.value));
}

Job random_job(Chance& chance, std::uint32_t most) {
  Job job;
  job.id = JobId{1};
  job.spec.name = "j";
  job.spec.node_count = 2 + chance.below(most - 1);
  job.spec.compute = Duration{chance.below(20'000'000)};
  const std::uint32_t phases = 1 + chance.below(3);
  for (std::uint32_t i = 0; i < phases; ++i) {
    const auto kind = chance.one_in(3) ? CollectiveKind::all_to_all : CollectiveKind::all_reduce;
    job.spec.collectives.push_back({kind, {}, Bytes{1'000 + chance.below(200'000'000)}, 1 + chance.below(2)});
  }
  return job;
}

TEST_CASE("no_objective_is_above_what_its_schedule_takes_and_no_bound_above_the_objective") {
  const auto seed = GENERATE(range(1U, 41U));
  CAPTURE(seed);
  Chance chance(seed);
  const std::array<std::shared_ptr<const Fabric>, 4> fabrics{
      fabric_of("oddl", "  nodes: 32\n"), fabric_of("sip_ring", "  nodes: 12\n"),
      fabric_of("sip_ocs", "  nodes: 16\n  switches: 8\n"), fabric_of("topoopt", "  nodes: 16\n")};
  for (const auto& fabric : fabrics) {
    CAPTURE(fabric->architecture);
    PlanRequest request;
    request.fabric = fabric;
    request.revision = Revision{1};
    request.next_circuit = CircuitId{1};
    request.algorithm = fabric->architecture;
    request.intent.jobs.push_back(random_job(chance, static_cast<std::uint32_t>(fabric->nodes.size())));
    const auto planned = make_plan(all_architectures(), request);
    if (!planned) {
      CHECK(planned.error().code == ErrorCode::infeasible);
      continue;
    }
    const PlanResult& made = **planned;
    const JobSchedule& schedule = made.schedule.jobs.front();
    const ScheduleTimings timings = timings_on(*fabric, {}, *all_architectures().find(fabric->architecture));
    const auto predicted = predict_placed(made.intent.jobs.front(), schedule, timings);
    REQUIRE(predicted);
    const double iteration = seconds_of(predicted->iteration);
    CHECK(made.schedule.bound <= made.schedule.objective * (1 + 1e-9));
    CHECK(made.schedule.bound <= iteration * (1 + 1e-9) + 1e-9);
    if (order_of(schedule) == TransferOrder::merged) {  // timeslots last to their ends, filled or not
      const auto stages = schedule.stages.size();
      const Duration agreement =
          pass_lead(schedule.stages.front().timeslots.front().circuits.size(), timings.trip) + timings.trip;
      const double changes =
          stages > 1 ? static_cast<double>(stages) * seconds_of(timings.stage_change) : seconds_of(agreement);
      CHECK(seconds_of(predicted->exposed) <= made.schedule.objective * (1 + 1e-9) + changes + kLatencies);
    } else {
      CHECK(made.schedule.objective <= iteration * (1 + 1e-9) + 1e-9);
    }
  }
}

}  // namespace
