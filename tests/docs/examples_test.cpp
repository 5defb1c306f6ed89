// SPDX-License-Identifier: Apache-2.0
// The code of docs/examples, which tutorials lead through: it is compiled, planned with, verified, and asked.
#include <catch2/catch.hpp>

#include "docs/examples/first_fit.hpp"
#include "docs/examples/line_meter.hpp"
#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom {
namespace {

PlanRequest request_of(std::uint32_t nodes, CollectiveKind kind) {
  PlanRequest request;
  request.fabric = test::small_fabric(3);  // eight nodes on two circuit switches
  request.algorithm = "first-fit";
  request.revision.value = 1;
  request.next_circuit = CircuitId{1};
  request.intent.jobs = {test::job_of(1, nodes, kind)};
  return request;
}

const Architectures& only_first_fit() {
  static const Architectures kOnly({&examples::kFirstFit});
  return kOnly;
}

TEST_CASE("what the scheduler of the tutorial plans is lawful light") {
  const auto made = make_plan(only_first_fit(), request_of(8, CollectiveKind::all_reduce));
  INFO((made ? "" : made.error().message));
  REQUIRE(made);                              // verify shares no code with it, and would have refused what breaks a rule
  CHECK((*made)->plan.circuits.size() == 8);  // a ring
}

TEST_CASE("what the scheduler of the tutorial cannot serve it refuses by name") {
  const auto refused = make_plan(only_first_fit(), request_of(8, CollectiveKind::all_to_all));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::infeasible);
  CHECK_THAT(refused.error().message, Catch::Contains("are both free on none of 2 switches"));
}

/// The driver, and a meter that answers line by line; empty: it is silent.
struct MeterBench {
  std::unique_ptr<Driver> driver;
  std::vector<std::string> asked;
  Instant now = instant_from_ns(1'000'000);

  MeterBench() {
    Device device;
    device.name = "meter";
    driver = examples::kLineMeter.make(Fabric{}, device);
  }

  void poll(const std::string& answer) {
    driver->poll();
    Step step = driver->step(now, nullptr);
    for (int steps = 0; steps < 100 && (step.transaction || step.wake != kNever); ++steps) {
      if (!step.transaction) {
        now = step.wake;
        step = driver->step(now, nullptr);
        continue;
      }
      const auto& frame = std::get<Frame>(step.transaction->order);
      asked.emplace_back(frame.request.begin(), frame.request.end());
      BusReply reply;
      reply.status = answer.empty() ? BusStatus::timeout : BusStatus::ok;
      reply.bytes.assign(answer.begin(), answer.end());
      now += std::chrono::milliseconds{20};
      step = driver->step(now, &reply);
    }
  }
};

TEST_CASE("the driver of the tutorial reads a power and asks nothing else") {
  MeterBench bench;
  bench.poll("-3.20");
  CHECK(bench.asked == std::vector<std::string>{"P?"});
  const Observation seen = bench.driver->observe();
  CHECK(seen.health == DeviceHealth::ready);
  CHECK(seen.proof == Proof::monitor);
  CHECK(std::get<MonitorObservation>(seen.reading).lights == std::vector{LightReading{0, Dbm{-320}, Frequency{}}});
  CHECK_FALSE(bench.driver->check(TransmitterSetpoint{}));  // there is nothing to set
}

TEST_CASE("the driver of the tutorial asks again, then says in a sentence what it was told") {
  MeterBench bench;
  bench.poll("OVERLOAD");
  CHECK(bench.driver->activity() == DriverActivity::failed);
  CHECK(bench.asked.size() == 4);
  CHECK(bench.driver->observe().fault == "meter: P?: \"OVERLOAD\" where a power in dBm was expected in 4 tries");
  bench.poll("-3.20");  // what was put right is read
  CHECK(bench.driver->observe().fault.empty());
}

}  // namespace
}  // namespace loom
