// SPDX-License-Identifier: Apache-2.0
// An operator's reset of one device, as an agent carries it out.
#include <catch2/catch.hpp>

#include "tests/unit/agents/agent_bench.hpp"

namespace loom::test {

TEST_CASE("a_reset_reads_the_device_back_and_brings_it_to_its_setpoint_again") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{100});
  bench.commit(bench.static_plan(1, 16));
  const DeviceId laser = bench.lasers.front();
  bench.device(laser).emitting = false;  // somebody switched it off by hand
  bench.receive({}, ResetDevice{laser, 7});
  bench.step_until<DeviceReset>();
  const DeviceReset* answer = bench.last<DeviceReset>();
  REQUIRE(answer != nullptr);
  CHECK(answer->outcome.ok());
  CHECK(answer->device == laser);
  CHECK(answer->order == 7);
  CHECK(std::get<TransmitterObservation>(answer->observation.reading).emitting);
  CHECK(answer->writes > 0);
  CHECK(bench.device(laser).emitting);
}

TEST_CASE("a_reset_of_a_device_that_is_as_it_shall_be_writes_nothing") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{100});
  bench.commit(bench.static_plan(1, 16));
  bench.receive({}, ResetDevice{bench.lasers.front(), 7});
  bench.step_until<DeviceReset>();
  REQUIRE(bench.last<DeviceReset>() != nullptr);
  CHECK(bench.last<DeviceReset>()->outcome.ok());
  CHECK(bench.last<DeviceReset>()->writes == 0);
}

TEST_CASE("a_reset_that_is_repeated_is_answered_again_and_not_obeyed_twice") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{100});
  bench.commit(bench.static_plan(1, 16));
  const DeviceId laser = bench.lasers.front();
  bench.receive({}, ResetDevice{laser, 7});
  bench.step_until<DeviceReset>();
  const DeviceReset first = *bench.last<DeviceReset>();
  const std::size_t after = bench.actuations(laser);
  bench.receive({}, ResetDevice{laser, 7});
  REQUIRE(bench.count<DeviceReset>() == 2);
  CHECK(*bench.last<DeviceReset>() == first);
  CHECK(bench.actuations(laser) == after);
  bench.receive({}, ResetDevice{laser, 6});
  CHECK(bench.count<DeviceReset>() == 2);
}

TEST_CASE("a_reset_never_takes_a_device_from_a_commit") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{100});
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(Revision{1}, Prepare{plan});
  bench.receive(Revision{1}, Arm{bench.now + milliseconds{5}});
  bench.receive(Revision{1}, Go{});
  bench.run_for(milliseconds{6});
  bench.receive({}, ResetDevice{bench.lasers.front(), 8});
  REQUIRE(bench.last<DeviceReset>() != nullptr);
  CHECK(bench.last<DeviceReset>()->outcome.error->code == ErrorCode::busy);
  CHECK_FALSE(bench.last<DeviceReset>()->outcome.error->next_command.empty());
}

TEST_CASE("a_reset_of_somebody_elses_device_is_refused") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{100});
  bench.receive({}, ResetDevice{DeviceId{60'000}, 9});
  REQUIRE(bench.last<DeviceReset>() != nullptr);
  CHECK(bench.last<DeviceReset>()->outcome.error->code == ErrorCode::not_found);
}

}  // namespace loom::test
