// SPDX-License-Identifier: Apache-2.0
// Plans around devices that follow no order: only the job that needs one does without its light, and nobody asks the device.
#include "controller/plan/unusable.hpp"

#include <catch2/catch.hpp>

#include "controller/plan/lower/lower.hpp"
#include "controller/plan/verify/verify.hpp"
#include "controller/schedule/usable_nodes.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom::test {
namespace {

DeviceId laser_of(const Fabric& fabric, std::uint32_t node) {
  return *fabric.device_of_element[fabric.nodes[node].transmitters[0].value];
}

const DevicePlan& planned(const Fabric& fabric, const Plan& plan, DeviceId id) {
  const auto& devices = plan.nodes[fabric.device(id).agent.value].devices;
  return *std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == id; });
}

std::vector<JobId> jobs_in(const Plan& plan) {
  std::vector<JobId> jobs;
  for (const Circuit& circuit : plan.circuits) {
    if (std::find(jobs.begin(), jobs.end(), circuit.job) == jobs.end()) {
      jobs.push_back(circuit.job);
    }
  }
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

std::vector<Circuit> circuits_of(const Plan& plan, JobId job) {
  std::vector<Circuit> circuits;
  std::copy_if(plan.circuits.begin(), plan.circuits.end(), std::back_inserter(circuits),
               [&](const Circuit& circuit) { return circuit.job == job; });
  return circuits;
}

/// Three jobs, each on a group of its own.
Planning three_groups() {
  Planning planning(small_fabric(0));
  planning.request.intent.jobs = {placed_job(1, {0, 1, 2, 3}), placed_job(2, {4, 5, 6, 7}), placed_job(3, {8, 9, 10, 11})};
  return planning;
}

TEST_CASE("one dead laser leaves out only the job that needs it") {
  Planning planning = three_groups();
  planning.request.may_leave_out = {JobId{1}, JobId{2}, JobId{3}};
  planning.request.unusable = {{laser_of(*planning.fabric, 5), false, {}, "laser-5: no answer"}};
  const auto made = planning.attempt();
  REQUIRE(made);
  CHECK(jobs_in((*made)->plan) == std::vector<JobId>{JobId{1}, JobId{3}});
  REQUIRE((*made)->left_out.size() == 1);
  const LeftOut& left_out = (*made)->left_out[0];
  CHECK(left_out.job == JobId{2});
  CHECK_FALSE(left_out.in_part);
  CHECK(left_out.devices == std::vector<DeviceId>{laser_of(*planning.fabric, 5)});
  CHECK_THAT(left_out.why.message, Catch::Contains("job 2 (job-2)") && Catch::Contains("laser-5: no answer"));
  CHECK((*made)->is_without(JobId{2}));
  CHECK((*made)->intent.jobs.size() == 3);
}

/// The first connection of a job's light through a circuit switch.
std::pair<DeviceId, CrossConnect> connect_of(const Fabric& fabric, const Plan& plan) {
  for (const Device& device : fabric.devices) {
    if (device.role == DeviceRole::circuit_switch) {
      const auto& setpoint = planned(fabric, plan, device.id).timeline.front().setpoint;
      const auto& connects = std::get<CircuitSwitchSetpoint>(setpoint).connects;
      if (!connects.empty()) {
        return {device.id, connects.front()};
      }
    }
  }
  FAIL("no connection");
  return {};
}

TEST_CASE("ports that somebody else connected cost the circuits that need them, and no others of the switch") {
  Planning planning(small_fabric(3));
  planning.request.intent.jobs = {placed_job(1, {0, 1, 2, 3}), placed_job(2, {4, 5, 6, 7})};
  planning.request.may_leave_out = {JobId{1}, JobId{2}};
  Planning free = planning;
  const auto open = free.attempt();
  REQUIRE(open);
  REQUIRE((*open)->left_out.empty());
  const auto [ocs, wanted] = connect_of(*planning.fabric, (*open)->plan);
  SECTION("an output that is taken") {
    planning.request.unusable = {{ocs, true, {}, "output taken", {{kPortElsewhere, wanted.output}}}};
  }
  SECTION("an input that is taken") {
    planning.request.unusable = {{ocs, true, {}, "input taken", {{wanted.input, kPortElsewhere}}}};
  }
  SECTION("the very connection: it serves") {
    planning.request.unusable = {{ocs, true, {}, "wanted", {wanted}}};
    const auto made = planning.attempt();
    REQUIRE(made);
    CHECK((*made)->left_out.empty());
    return;
  }
  const auto made = planning.attempt();
  REQUIRE(made);
  REQUIRE((*made)->left_out.size() == 1);
  CHECK((*made)->left_out[0].devices == std::vector{ocs});
  CHECK_THAT((*made)->left_out[0].why.message, Catch::Contains("taken") && !Catch::Contains("follows no order"));
  CHECK(jobs_in((*made)->plan).size() == 1);
  const DevicePlan& device = planned(*planning.fabric, (*made)->plan, ocs);
  CHECK_FALSE(device.left_alone);
  for (const CrossConnect each : std::get<CircuitSwitchSetpoint>(device.timeline.front().setpoint).connects) {
    CHECK_FALSE(occupant_of(planning.request.unusable[0].occupied, each));
  }
}

TEST_CASE("a job without a place of its own moves away from what is unusable") {
  for (std::size_t index = 0; index < kSmallFabrics; ++index) {
    Planning planning(small_fabric(index));
    INFO(planning.fabric->architecture << " " << index);
    planning.request.intent.jobs = {job_of(1, 4)};
    for (const ElementId transmitter : planning.fabric->nodes[1].transmitters) {
      planning.request.unusable.push_back({*planning.fabric->device_of_element[transmitter.value], false, {}, {}});
    }
    std::sort(planning.request.unusable.begin(), planning.request.unusable.end(),
              [](const UnusableDevice& a, const UnusableDevice& b) { return a.device < b.device; });
    CHECK(fitness_of(*planning.fabric, planning.request.unusable).unfit[1]);
    CHECK_FALSE(fitness_of(*planning.fabric, planning.request.unusable).unfit[0]);
    const auto made = planning.attempt();
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    const auto& nodes = (*made)->intent.jobs[0].nodes;
    CHECK(std::find(nodes.begin(), nodes.end(), NodeId{1}) == nodes.end());
    CHECK((*made)->left_out.empty());
  }
}

TEST_CASE("a switch of a group keeps new jobs out of the group, whatever its nodes") {
  Planning planning(small_fabric(0));
  const auto wss = std::find_if(planning.fabric->devices.begin(), planning.fabric->devices.end(),
                                [](const Device& device) { return device.role == DeviceRole::wavelength_switch; });
  planning.request.unusable = {{wss->id, true, {}, {}}};
  planning.request.intent.jobs = {job_of(1, 4)};
  const auto made = planning.attempt();
  REQUIRE(made);
  CHECK(planning.fabric->nodes[(*made)->intent.jobs[0].nodes[0].value].group != planning.fabric->nodes[wss->agent.value].group);
}

TEST_CASE("a running job loses what needs the device, and only that") {
  Planning planning = three_groups();
  const auto before = planning.attempt();
  REQUIRE(before);
  const DeviceId laser = laser_of(*planning.fabric, 5);
  planning.request.unusable = {{laser, false, {}, {}}};
  const auto made = planning.attempt();
  REQUIRE(made);
  REQUIRE((*made)->left_out.size() == 1);
  CHECK((*made)->left_out[0].in_part);
  REQUIRE((*made)->left_out[0].circuits.size() == 1);
  CHECK((*made)->left_out[0].circuits[0].circuit.source == NodeId{5});
  CHECK(circuits_of((*made)->plan, JobId{1}) == circuits_of((*before)->plan, JobId{1}));
  CHECK(circuits_of((*made)->plan, JobId{3}) == circuits_of((*before)->plan, JobId{3}));
  CHECK(circuits_of((*made)->plan, JobId{2}).size() == 3);
  CHECK((*made)->intent.jobs.size() == 3);
  const DevicePlan& plan = planned(*planning.fabric, (*made)->plan, laser);
  CHECK(plan.left_alone);
  CHECK_FALSE(plan.touched);
  CHECK_FALSE(emits(plan.timeline.front().setpoint));
  for (const NodeId node : (*made)->plan.changed) {
    CHECK(planning.fabric->nodes[node.value].group == 1);
  }

  planning.request.unusable.clear();  // it answers again
  const auto back = planning.attempt();
  REQUIRE(back);
  CHECK((*back)->left_out.empty());
  CHECK(circuits_of((*back)->plan, JobId{2}).size() == 4);
  CHECK(planned(*planning.fabric, (*back)->plan, laser).touched);
  CHECK_FALSE(planned(*planning.fabric, (*back)->plan, laser).left_alone);
}

TEST_CASE("a laser that comes back into a job in timeslots begins them with all others, also where another stage follows") {
  Planning planning(std::make_shared<const Fabric>(small_oddl(12, 4)));
  Job job = placed_job(1, {0, 1, 2, 3, 4, 5, 6, 7});
  job.spec.collectives[0].kind = CollectiveKind::all_to_all;
  job.spec.options["map"] = "maps";
  planning.request.intent.jobs = {job};
  const auto before = planning.attempt();
  REQUIRE(before);
  REQUIRE((*before)->schedule.jobs[0].stages.size() > 1);
  REQUIRE((*before)->schedule.jobs[0].stages[0].timeslots.size() > 1);
  planning.request.unusable = {{laser_of(*planning.fabric, 5), false, {}, {}}};
  const auto without = planning.attempt();
  REQUIRE(without);
  REQUIRE((*without)->left_out.size() == 1);
  planning.request.unusable.clear();
  const auto back = planning.attempt();
  REQUIRE(back);
  for (const Circuit& circuit : (*back)->plan.circuits) {
    CHECK(planned(*planning.fabric, (*back)->plan, laser_of(*planning.fabric, circuit.source.value)).touched);
  }
}

TEST_CASE("new light passes no filter that may stand where it takes it, and light that is there stays") {
  Planning planning(small_fabric(2));
  const Fabric& fabric = *planning.fabric;
  planning.request.intent.jobs = {placed_job(1, {0, 4})};
  REQUIRE(planning.attempt());
  std::vector<DeviceId> banks;  // between the nodes of each job, whichever way round
  for (const std::uint32_t node : {3U, 7U}) {
    std::ranges::copy_if(fabric.devices_of_agent[node], std::back_inserter(banks),
                         [&](DeviceId id) { return fabric.device(id).role == DeviceRole::filter; });
  }
  REQUIRE_FALSE(banks.empty());
  const bool holds = GENERATE(false, true);
  for (const DeviceId bank : banks) {
    planning.request.unusable.push_back({bank, holds, {}, "a repair left it"});
  }
  planning.request.intent.jobs.push_back(placed_job(2, {2, 6}));
  planning.request.may_leave_out = {JobId{2}};
  const auto made = planning.attempt();
  REQUIRE(made);
  CHECK((*made)->is_without(JobId{2}) != holds);
  CHECK_FALSE(circuits_of((*made)->plan, JobId{1}).empty());
}

TEST_CASE("light that passes what is merely silent stays as it is") {
  for (std::size_t index = 0; index < kSmallFabrics; ++index) {
    Planning planning(small_fabric(index));
    planning.request.intent.jobs = {job_of(1, 4)};
    const auto before = planning.attempt();
    REQUIRE(before);
    for (const DeviceId device : planning.fabric->devices_of_agent[1]) {
      planning.request.unusable.push_back({device, true, {}, "its agent is away"});
    }
    planning.request.intent.jobs.push_back(job_of(2, 3));
    planning.request.may_leave_out = {JobId{2}};
    const auto made = planning.attempt();
    INFO(planning.fabric->architecture << " " << index << (made ? "" : ": " + made.error().message));
    REQUIRE(made);
    CHECK(circuits_of((*made)->plan, JobId{1}) == circuits_of((*before)->plan, JobId{1}));
    const auto& changed = (*made)->plan.changed;
    CHECK(std::find(changed.begin(), changed.end(), NodeId{1}) == changed.end());
    for (const LeftOut& each : (*made)->left_out) {
      CHECK(each.job == JobId{2});
      CHECK_FALSE(each.devices.empty());
    }
  }
}

/// A job whose nodes repeat timeslots without the controller, some light in several of them.
Planning repeated_timeslots() {
  Planning planning(std::make_shared<const Fabric>(small_oddl(12, 4)));
  Job job = placed_job(1, {0, 1, 2, 3});
  Collective first = job.spec.collectives[0];
  first.kind = CollectiveKind::all_to_all;
  Collective second = first;
  second.kind = CollectiveKind::all_reduce;
  job.spec.collectives = {first, second};
  planning.request.intent.jobs = {job};
  return planning;
}

void fall_silent(Planning& planning, std::uint32_t node) {
  for (const DeviceId device : planning.fabric->devices_of_agent[node]) {
    planning.request.unusable.push_back({device, true, {}, "its agent is away"});
  }
}

TEST_CASE("timeslots go on as they are when a node of theirs is silent and another job comes") {
  Planning planning = repeated_timeslots();
  const auto before = planning.attempt();
  REQUIRE(before);
  const Stage& stage = (*before)->schedule.jobs[0].stages[0];
  std::size_t lights = 0;
  for (const Timeslot& timeslot : stage.timeslots) {
    lights += timeslot.circuits.size();
  }
  REQUIRE(lights > circuits_of((*before)->plan, JobId{1}).size());
  REQUIRE((*before)->plan.nodes[1].iterations);
  fall_silent(planning, 1);
  planning.request.intent.jobs.push_back(placed_job(2, {8, 9}));
  const auto made = planning.attempt();
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  CHECK((*made)->left_out.empty());
  CHECK(circuits_of((*made)->plan, JobId{1}) == circuits_of((*before)->plan, JobId{1}));
  CHECK_FALSE(circuits_of((*made)->plan, JobId{2}).empty());
  for (std::uint32_t node = 0; node < 4; ++node) {
    CHECK_FALSE(planned(*planning.fabric, (*made)->plan, laser_of(*planning.fabric, node)).touched);
    CHECK((*made)->plan.nodes[node].iterations == (*before)->plan.nodes[node].iterations);
  }
}

TEST_CASE("where timeslots begin anew nothing meets what a silent laser of theirs may go on with") {
  Planning planning = repeated_timeslots();
  const auto before = planning.attempt();
  REQUIRE(before);
  const bool are_two = GENERATE(false, true);
  fall_silent(planning, 1);
  if (are_two) {
    fall_silent(planning, 2);  // the two count from one beginning still
  }
  const DeviceId broken = laser_of(*planning.fabric, 3);
  planning.request.unusable.push_back({broken, false, {}, "no answer"});
  std::ranges::sort(planning.request.unusable, {}, &UnusableDevice::device);
  planning.request.intent.jobs.push_back(placed_job(2, {8, 9}));
  const auto made = planning.attempt();
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  const Plan& plan = (*made)->plan;
  CHECK_FALSE(circuits_of(plan, JobId{2}).empty());
  const DevicePlan& silent = planned(*planning.fabric, plan, laser_of(*planning.fabric, 1));
  CHECK(silent.left_alone);
  CHECK_FALSE(silent.touched);
  CHECK_FALSE(plan.nodes[1].iterations);  // the others do not wait for it
  std::vector<Circuit> lingering;
  std::vector<Circuit> anew;
  for (const Circuit& circuit : circuits_of(plan, JobId{1})) {
    const bool is_silent = circuit.source == NodeId{1} || (are_two && circuit.source == NodeId{2});
    (is_silent ? lingering : anew).push_back(circuit);
  }
  CHECK_FALSE(lingering.empty());
  for (const Circuit& goes_on : lingering) {
    for (const Circuit& circuit : anew) {
      CHECK(circuit.receiver != goes_on.receiver);
    }
  }
  for (const LeftOut& each : (*made)->left_out) {
    CHECK(each.job == JobId{1});
  }

  planning.request.unusable.clear();
  const auto back = planning.attempt();
  INFO((back ? "" : back.error().message));
  REQUIRE(back);
  CHECK((*back)->left_out.empty());
  CHECK(circuits_of((*back)->plan, JobId{1}).size() == circuits_of((*before)->plan, JobId{1}).size());
  for (const Circuit& circuit : circuits_of((*back)->plan, JobId{1})) {
    CHECK(planned(*planning.fabric, (*back)->plan, laser_of(*planning.fabric, circuit.source.value)).touched);
  }
}

TEST_CASE("two silent nodes may grant each other light, and nobody is given what that would be") {
  Planning planning(std::make_shared<const Fabric>(small_oddl(12, 4)));
  Job job = placed_job(1, {0, 1, 2, 3});
  job.spec.collectives[0].kind = CollectiveKind::all_to_all;
  job.spec.transmit = Transmit::grants;
  planning.request.intent.jobs = {job};
  const auto before = planning.attempt();
  REQUIRE(before);
  REQUIRE((*before)->plan.nodes[1].grants);
  const bool are_two = GENERATE(false, true);
  fall_silent(planning, 1);
  if (are_two) {
    fall_silent(planning, 2);
  }
  Job other = placed_job(2, {3, 2});  // into the receiver that node 1 lit
  other.spec.collectives[0].kind = CollectiveKind::point_to_point;
  other.spec.collectives[0].ranks = {0, 1};
  planning.request.intent.jobs = {other};
  planning.request.may_leave_out = {JobId{2}};
  const auto made = planning.attempt();
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  CHECK((*made)->is_without(JobId{2}) == are_two);
  CHECK_FALSE(planned(*planning.fabric, (*made)->plan, laser_of(*planning.fabric, 1)).may_hold.empty());
}

TEST_CASE("a plan that lays timeslots anew beside a laser of theirs that goes on is refused where they may meet") {
  Planning planning = repeated_timeslots();
  const auto made = planning.attempt();
  REQUIRE(made);
  const auto meetings = [&](const Plan& plan) {
    return std::ranges::count_if(verify(*planning.fabric, plan, nullptr, (*made)->intent), [](const PlanViolation& each) {
      return each.evidence.find("a laser that goes on beside its job") != std::string::npos;
    });
  };
  Plan plan = (*made)->plan;
  CHECK(meetings(plan) == 0);
  for (DevicePlan& device : plan.nodes.edit(1).devices) {
    device.left_alone = true;
    device.touched = false;
  }
  CHECK(meetings(plan) > 0);
  for (std::uint32_t node = 0; node < 4; ++node) {  // nothing of it is laid anew: it goes on with the others
    for (DevicePlan& device : plan.nodes.edit(node).devices) {
      device.touched = false;
    }
  }
  CHECK(meetings(plan) == 0);
}

TEST_CASE("light that nobody can put out stays in the plan until somebody can") {
  Planning planning = three_groups();
  const auto before = planning.attempt();
  REQUIRE(before);
  const DeviceId laser = laser_of(*planning.fabric, 5);
  planning.request.unusable = {{laser, true, {}, "its agent is away"}};
  std::erase_if(planning.request.intent.jobs, [](const Job& job) { return job.id == JobId{2}; });
  planning.request.intent.jobs.push_back(placed_job(4, {4, 6, 7}));
  planning.request.may_leave_out = {JobId{4}};
  const auto made = planning.attempt();
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  const std::vector<Circuit> lingering = circuits_of((*made)->plan, JobId{2});
  REQUIRE(lingering.size() == 1);
  CHECK(lingering[0].source == NodeId{5});
  CHECK(emits(planned(*planning.fabric, (*made)->plan, laser).timeline.front().setpoint));
  for (const Circuit& circuit : circuits_of((*made)->plan, JobId{4})) {
    CHECK(circuit.receiver != lingering[0].receiver);
    CHECK_FALSE(overlaps(circuit.slot, lingering[0].slot));
  }
  planning.request.unusable.clear();
  const auto back = planning.attempt();
  REQUIRE(back);
  CHECK(circuits_of((*back)->plan, JobId{2}).empty());
  CHECK(planned(*planning.fabric, (*back)->plan, laser).touched);
}

TEST_CASE("who needs a receiver that light of a silent node comes to waits for that node, and is not refused") {
  Planning planning = three_groups();
  const auto before = planning.attempt();
  REQUIRE(before);
  const Circuit lit = circuits_of((*before)->plan, JobId{2}).front();
  fall_silent(planning, lit.source.value);
  std::erase_if(planning.request.intent.jobs, [](const Job& job) { return job.id == JobId{2}; });
  std::uint32_t other = 4;
  while (NodeId{other} == lit.source || NodeId{other} == lit.destination) {
    ++other;
  }
  planning.request.intent.jobs.push_back(placed_job(4, {other, lit.destination.value}));
  planning.request.may_leave_out = {JobId{4}};
  const auto made = planning.attempt();
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  REQUIRE((*made)->is_without(JobId{4}));
  const auto& devices = (*made)->left_out[0].devices;
  CHECK(std::ranges::count(devices, *planning.fabric->device_of_element[lit.transmitter.value]) == 1);
}

TEST_CASE("no new light comes where a laser may shine that follows no order") {
  Planning planning(small_fabric(0));
  planning.request.intent.jobs = {placed_job(1, {0, 1, 2, 3})};
  const auto free = Planning(planning).attempt();
  REQUIRE(free);
  const FrequencySlot slot = circuits_of((*free)->plan, JobId{1})[0].slot;
  std::uint32_t source = circuits_of((*free)->plan, JobId{1})[0].source.value;
  planning.request.intent.jobs = {placed_job(1, {source, (source + 1) % 4})};
  planning.request.unusable = {{laser_of(*planning.fabric, (source + 2) % 4), false, {slot}, {}}};
  planning.request.may_leave_out = {JobId{1}};
  const auto made = planning.attempt();
  REQUIRE(made);
  for (const Circuit& circuit : (*made)->plan.circuits) {
    CHECK_FALSE(overlaps(circuit.slot, slot));
  }
}

TEST_CASE("nobody asks anything of unusable devices, on any fabric and whichever they are") {
  for (std::size_t index = 0; index < kSmallFabrics; ++index) {
    const auto fabric = small_fabric(index);
    Planning lit(fabric);
    lit.request.intent.jobs = {job_of(1, 4), job_of(2, 3)};
    REQUIRE(lit.attempt());
    for (const Device& device : fabric->devices) {
      for (const bool holds : {true, false}) {
        for (const bool cancels : {true, false}) {
          Planning planning = lit;
          planning.request.unusable = {{device.id, holds, {}, {}}};
          planning.request.may_leave_out = {JobId{3}};
          if (cancels) {
            planning.request.intent.jobs.erase(planning.request.intent.jobs.begin());
          }
          planning.request.intent.jobs.push_back(job_of(3, 2));
          const auto made = planning.attempt();
          INFO(fabric->architecture << " " << index << ", device " << device.name << (holds ? " holds" : " is in doubt")
                                    << (cancels ? ", job 1 ends" : "") << (made ? "" : ": " + made.error().message));
          REQUIRE(made);
          const DevicePlan& plan = planned(*fabric, (*made)->plan, device.id);
          CHECK(plan.left_alone);
          CHECK_FALSE(plan.touched);
          const DevicePlan& before = planned(*fabric, *lit.request.base, device.id);
          const bool is_laser = device.role == DeviceRole::transmitter;
          const bool goes_on = holds && is_laser && !is_dark(before) && is_dark(plan);  // whoever starts on this plan knows
          CHECK(plan.may_hold.size() == (goes_on ? 1U : 0U));
          const auto& moved = (*made)->plan.moved_steering;
          CHECK(std::find(moved.begin(), moved.end(), device.id) == moved.end());
        }
      }
    }
  }
}

}  // namespace
}  // namespace loom::test
