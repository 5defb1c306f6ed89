// SPDX-License-Identifier: Apache-2.0
// What a plan says of devices that light passes: who waits for everybody's dark, from where they may move, and which light goes
// dark for it when the fabric is not as confirmed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/architectures/sip_ocs/fabric.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "controller/plan/light/light_scope.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/plan/reconcile/reconcile.hpp"
#include "controller/plan/steering.hpp"
#include "controller/plan/verify/verify.hpp"

namespace {

using namespace loom;

Job job_of(std::uint64_t id, std::vector<NodeId> nodes) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = static_cast<std::uint32_t>(nodes.size());
  job.spec.placement = std::move(nodes);
  job.spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}, 1}};
  return job;
}

std::vector<NodeId> nodes(std::uint32_t first, std::uint32_t count) {
  std::vector<NodeId> ids;
  for (std::uint32_t i = 0; i < count; ++i) {
    ids.push_back(NodeId{first + i});
  }
  return ids;
}

Fabric oddl_8() {
  OddlParameters parameters;
  parameters.nodes = 8;
  parameters.group_size = 4;
  parameters.channels = 8;
  return make_oddl(parameters);
}

Fabric ring_8() {
  SipRingParameters parameters;
  parameters.nodes = 8;
  parameters.rings = 1;
  parameters.wavelengths = 8;
  return make_sip_ring(parameters);
}

Fabric ocs_6() {
  SipOcsParameters parameters;
  parameters.nodes = 6;
  parameters.switches = 2;
  return make_sip_ocs(parameters);
}

/// Plans one after the other, and devices that read as the last one says until a test changes a reading.
struct Lab {
  explicit Lab(Fabric made, std::string algorithm) : fabric(std::make_shared<const Fabric>(std::move(made))) {
    request.fabric = fabric;
    request.algorithm = std::move(algorithm);
    seen.resize(fabric->devices.size());
  }

  Result<std::shared_ptr<const PlanResult>> attempt() {
    request.revision.value += 1;
    return make_plan(all_architectures(), request);
  }

  std::shared_ptr<const PlanResult> plan() {
    const auto made = attempt();
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    return *made;
  }

  void confirm(const std::shared_ptr<const PlanResult>& made) {
    request.base = {made, &made->plan};
    request.intent = made->intent;
    request.next_circuit = made->next_circuit;
    for (const NodePlan& node : made->plan.nodes) {
      for (const DevicePlan& device : node.devices) {
        seen[device.device.value] = {device.device, DeviceHealth::ready, instant_from_ns(1), read(device), ""};
      }
    }
  }

  Reading read(const DevicePlan& device) const {
    const Setpoint& setpoint = device.timeline.front().setpoint;
    if (const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint)) {
      return TransmitterObservation{centre_of(laser->slot), laser->emit ? laser->power : kNoLight, laser->emit, true, 0, 0};
    }
    if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
      return WavelengthSwitchObservation{wss->routes, true};
    }
    if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint)) {
      return CircuitSwitchObservation{ocs->connects, true};
    }
    FilterObservation bank;
    bank.millivolts.resize(fabric->device(device.device).elements.size());
    for (const RingResonance& wanted : std::get<FilterSetpoint>(setpoint).rings) {
      const auto& ring = std::get<RingFilter>(fabric->element(fabric->device(device.device).elements[wanted.channel]).kind);
      const double watts = static_cast<double>((ring.cold_resonance - wanted.resonance).mhz) / ring.mhz_per_milliwatt / 1000;
      bank.millivolts[wanted.channel] = static_cast<std::int32_t>(std::lround(1000 * std::sqrt(watts * ring.heater_ohm)));
    }
    return bank;
  }

  std::vector<const Observation*> observations() const {
    std::vector<const Observation*> all;
    for (const Observation& each : seen) {
      all.push_back(each.health == DeviceHealth::unknown ? nullptr : &each);
    }
    return all;
  }

  Plan completed(const PlanResult& made, std::vector<const Plan*> uncertain = {}) const {
    Plan plan = made.plan;
    see_to_steering(*fabric, {request.base.get(), std::move(uncertain), observations()}, plan);
    return plan;
  }

  DeviceId device(const std::string& name) const {
    const auto found =
        std::find_if(fabric->devices.begin(), fabric->devices.end(), [&](const Device& each) { return each.name == name; });
    REQUIRE(found != fabric->devices.end());
    return found->id;
  }
  template <class T>
  T& reading(const std::string& name) {
    return std::get<T>(seen[device(name).value].reading);
  }

  std::shared_ptr<const Fabric> fabric;
  PlanRequest request{};
  std::vector<Observation> seen;  ///< by device
};

const DevicePlan& of(const Plan& plan, const Fabric& fabric, DeviceId id) {
  const auto& devices = plan.nodes[fabric.device(id).agent.value].devices;
  return *std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == id; });
}

std::vector<std::string> touched_lasers(const Fabric& fabric, const Plan& plan) {
  std::vector<std::string> names;
  for (const Device& device : fabric.devices) {
    if (device.role == DeviceRole::transmitter && of(plan, fabric, device.id).touched) {
      names.push_back(device.name);
    }
  }
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool breaks(const std::vector<PlanViolation>& found, std::string_view rule, const std::string& evidence) {
  return std::any_of(found.begin(), found.end(), [&](const PlanViolation& each) {
    return each.rule == rule && each.evidence.find(evidence) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("every_device_that_moves_in_others_light_waits_and_says_from_where_it_may_move") {
  for (const bool is_ring : {false, true}) {
    Lab lab(is_ring ? ring_8() : oddl_8(), is_ring ? "sip-ring" : "oddl");
    lab.request.intent.jobs = {job_of(1, nodes(0, 4))};
    const auto first = lab.plan();
    lab.confirm(first);
    lab.request.intent.jobs.push_back(job_of(2, nodes(4, 4)));
    const auto second = lab.plan();
    std::size_t heaters = 0;
    for (const auto* made : {&first->plan, &second->plan}) {
      for (const NodePlan& node : made->nodes) {
        for (const DevicePlan& device : node.devices) {
          const DeviceRole role = lab.fabric->device(device.device).role;
          const bool moves = device.touched && role != DeviceRole::transmitter;
          CHECK(std::binary_search(made->moved_steering.begin(), made->moved_steering.end(), device.device) == moves);
          CHECK(device.may_hold.empty() != moves);
          heaters += moves && role == DeviceRole::filter ? 1U : 0U;
        }
      }
    }
    CHECK(heaters > 0);
    const DeviceId heater = lab.device(is_ring ? "heater-4-0" : "heater-4");
    const DevicePlan& moved = of(second->plan, *lab.fabric, heater);
    REQUIRE(moved.touched);
    CHECK(moved.may_hold == std::vector{of(first->plan, *lab.fabric, heater).timeline.front().setpoint});
  }
}

TEST_CASE("verify_refuses_a_heater_that_would_not_wait_or_that_moves_from_elsewhere_than_the_base_says") {
  Lab lab(ring_8(), "sip-ring");
  lab.request.intent.jobs = {job_of(1, nodes(0, 4))};
  lab.confirm(lab.plan());
  lab.request.intent.jobs.push_back(job_of(2, nodes(4, 4)));
  const auto made = lab.plan();
  const DeviceId heater = lab.device("heater-4-0");
  const auto judged = [&](const Plan& plan) { return verify(*lab.fabric, plan, lab.request.base.get(), made->intent); };
  REQUIRE(judged(made->plan).empty());
  Plan hasty = made->plan;
  std::erase(hasty.moved_steering, heater);
  CHECK(breaks(judged(hasty), rules::kChangeDeclared, "heater-4-0 moves but is not among the devices that wait"));
  Plan idle = made->plan;
  const DeviceId still = lab.device("heater-0-0");
  idle.moved_steering.insert(std::lower_bound(idle.moved_steering.begin(), idle.moved_steering.end(), still), still);
  CHECK(breaks(judged(idle), rules::kChangeDeclared, "heater-0-0 does not move but is among"));
  Plan elsewhere = made->plan;
  for (DevicePlan& device : elsewhere.nodes.edit(4).devices) {
    if (device.device == heater) {
      device.may_hold = {FilterSetpoint{{{0, Frequency{193'000'000}}}}};
    }
  }
  CHECK(breaks(judged(elsewhere), rules::kChangeDeclared, "heater-4-0 moves from where the base has it"));
}

TEST_CASE("a_fabric_that_is_as_confirmed_loses_no_light_that_the_plan_does_not_take") {
  Lab lab(oddl_8(), "oddl");
  lab.request.intent.jobs = {job_of(1, nodes(0, 4))};
  lab.confirm(lab.plan());
  lab.request.intent.jobs.push_back(job_of(2, nodes(4, 4)));
  const auto made = lab.plan();
  const Plan plan = lab.completed(*made);
  CHECK(touched_lasers(*lab.fabric, plan) == touched_lasers(*lab.fabric, made->plan));
  CHECK(plan.changed == made->plan.changed);
  CHECK(plan.touched == made->plan.touched);
  CHECK(plan.nodes == made->plan.nodes);
}

TEST_CASE("light_that_meets_what_a_moving_switch_was_found_to_have_lost_goes_dark_first") {
  Lab lab(oddl_8(), "oddl");
  lab.request.intent.jobs = {job_of(1, nodes(0, 2)), job_of(2, nodes(2, 2))};
  lab.confirm(lab.plan());
  lab.request.intent.jobs.erase(lab.request.intent.jobs.begin());  // the first job's routes are taken out
  const auto made = lab.plan();
  const DeviceId wss = lab.device("wss-in-0");
  REQUIRE(of(made->plan, *lab.fabric, wss).touched);
  REQUIRE_FALSE(has(touched_lasers(*lab.fabric, made->plan), "laser-2"));
  const Plan undisturbed = lab.completed(*made);
  CHECK_FALSE(has(touched_lasers(*lab.fabric, undisturbed), "laser-2"));
  lab.reading<WavelengthSwitchObservation>("wss-in-0").routes.clear();  // its power went
  const Plan plan = lab.completed(*made);
  CHECK(has(touched_lasers(*lab.fabric, plan), "laser-2"));
  CHECK(has(touched_lasers(*lab.fabric, plan), "laser-3"));
  for (const NodeId node : nodes(0, 4)) {
    CHECK(std::binary_search(plan.changed.begin(), plan.changed.end(), node));
  }
  for (const Circuit& circuit : plan.circuits) {
    CHECK(std::binary_search(plan.touched.begin(), plan.touched.end(), circuit.id));
  }
  const auto& may_hold = of(plan, *lab.fabric, wss).may_hold;
  CHECK(std::find(may_hold.begin(), may_hold.end(), Setpoint{WavelengthSwitchSetpoint{}}) != may_hold.end());
  lab.seen[wss.value].health = DeviceHealth::unknown;  // not read since: what it holds is the agent's to see
  CHECK_FALSE(has(touched_lasers(*lab.fabric, lab.completed(*made)), "laser-2"));
}

TEST_CASE("a_heater_bank_that_lost_its_heat_counts_like_a_switch_that_lost_its_routes") {
  Lab lab(ring_8(), "sip-ring");
  lab.request.intent.jobs = {job_of(1, nodes(0, 4)), job_of(2, nodes(4, 4))};
  const auto first = lab.plan();
  lab.confirm(first);
  // A plan that moves one ring of a bank whose other rings drop light that stays.
  Plan plan = first->plan;
  plan.base = first->plan.revision;
  for (NodePlan& node : plan.nodes.edit_all()) {
    for (DevicePlan& device : node.devices) {
      device.touched = false;
    }
  }
  const DeviceId heater = lab.device("heater-1-0");
  DevicePlan* bank = nullptr;
  for (DevicePlan& device : plan.nodes.edit(1).devices) {
    bank = device.device == heater ? &device : bank;
  }
  REQUIRE(bank != nullptr);
  const auto& rings = std::get<FilterSetpoint>(bank->timeline.front().setpoint).rings;
  REQUIRE(rings.size() >= 2);
  bank->touched = true;
  bank->may_hold = {bank->timeline.front().setpoint};
  std::get<FilterSetpoint>(bank->timeline.front().setpoint).rings.erase(rings.begin());
  plan.moved_steering = {heater};
  plan.changed = {NodeId{1}};
  PlanResult made{plan, {}, {}, {}, {}};
  const std::size_t lit =
      static_cast<std::size_t>(std::count_if(first->plan.circuits.begin(), first->plan.circuits.end(),
                                             [&](const Circuit& circuit) { return circuit.destination == NodeId{1}; }));
  REQUIRE(lit >= 2);
  CHECK(touched_lasers(*lab.fabric, lab.completed(made)).empty());
  std::fill(lab.reading<FilterObservation>("heater-1-0").millivolts.begin(),
            lab.reading<FilterObservation>("heater-1-0").millivolts.end(), 0);
  const auto lasers = touched_lasers(*lab.fabric, lab.completed(made));
  for (const Circuit& circuit : first->plan.circuits) {
    if (circuit.destination == NodeId{1}) {
      CHECK(has(lasers, lab.fabric->device(*lab.fabric->device_of_element[circuit.transmitter.value]).name));
    }
  }
  CHECK(lasers.size() < first->plan.circuits.size());  // what never comes there goes on
}

TEST_CASE("light_that_was_observed_where_something_moves_is_proven_dark_like_any_other") {
  Lab lab(ocs_6(), "sip-ocs");
  lab.request.intent.jobs = {job_of(1, nodes(0, 2))};
  lab.confirm(lab.plan());
  lab.request.intent.jobs.push_back(job_of(2, nodes(2, 2)));
  const auto made = lab.plan();
  REQUIRE(of(made->plan, *lab.fabric, lab.device("ocs-0")).touched);
  REQUIRE_FALSE(has(touched_lasers(*lab.fabric, made->plan), "laser-5-0"));
  const auto& moved =
      std::get<CircuitSwitchSetpoint>(of(made->plan, *lab.fabric, lab.device("ocs-0")).timeline.front().setpoint);
  // Node 5's laser shines, though no plan says so, into a switch that is found to connect it to where a new circuit shall end.
  lab.reading<TransmitterObservation>("laser-5-0").emitting = true;
  CHECK(touched_lasers(*lab.fabric, lab.completed(*made)) ==
        touched_lasers(*lab.fabric, made->plan));  // it meets nothing that moves
  lab.reading<CircuitSwitchObservation>("ocs-0").connects.push_back({5, moved.connects.back().output});
  const Plan plan = lab.completed(*made);
  CHECK(has(touched_lasers(*lab.fabric, plan), "laser-5-0"));
  CHECK(std::binary_search(plan.changed.begin(), plan.changed.end(), NodeId{5}));
}

TEST_CASE("light_of_a_laser_that_follows_no_order_is_not_steered_by_anybody") {
  Lab lab(ocs_6(), "sip-ocs");
  lab.request.intent.jobs = {job_of(1, nodes(0, 2))};
  lab.confirm(lab.plan());
  lab.request.intent.jobs.push_back(job_of(2, nodes(2, 2)));
  Plan plan = lab.plan()->plan;
  const KnownState known{lab.request.base.get(), {}, lab.observations()};
  CHECK(unprovable_lasers(*lab.fabric, known, plan).empty());
  const DeviceId laser = lab.device("laser-2-0");
  for (DevicePlan& device : plan.nodes.edit(2).devices) {
    device.left_alone = device.left_alone || device.device == laser;
  }
  CHECK(unprovable_lasers(*lab.fabric, known, plan) == std::vector{laser});  // it may shine into the ports that are joined
  see_to_steering(*lab.fabric, known, plan);
}

TEST_CASE("a_device_that_an_uncertain_revision_moved_may_be_where_that_put_it") {
  Lab lab(oddl_8(), "oddl");
  lab.request.intent.jobs = {job_of(1, nodes(0, 4))};
  const auto confirmed = lab.plan();
  lab.confirm(confirmed);
  lab.request.intent.jobs.push_back(job_of(2, nodes(4, 4)));
  const auto went = lab.plan();
  lab.request.intent.jobs.pop_back();
  Plan back = lab.plan()->plan;
  const DeviceId heater = lab.device("heater-4");
  for (DevicePlan& device : back.nodes.edit(4).devices) {
    device.touched = device.touched || device.device == heater;
  }
  see_to_steering(*lab.fabric, {&confirmed->plan, {&went->plan}, lab.observations()}, back);
  const auto& may_hold = of(back, *lab.fabric, heater).may_hold;
  REQUIRE(may_hold.size() == 2);
  for (const Plan* plan : {&confirmed->plan, &went->plan}) {
    CHECK(std::find(may_hold.begin(), may_hold.end(), of(*plan, *lab.fabric, heater).timeline.front().setpoint) !=
          may_hold.end());
  }
}

TEST_CASE("on_a_ring_a_repair_darkens_the_light_that_comes_by_and_not_what_was_dropped_before") {
  Lab lab(ring_8(), "sip-ring");
  lab.request.intent.jobs = {job_of(1, nodes(0, 4)), job_of(2, nodes(4, 4))};
  const auto made = lab.plan();
  lab.confirm(made);
  const DeviceId heater = lab.device("heater-1-0");
  std::fill(lab.reading<FilterObservation>("heater-1-0").millivolts.begin(),
            lab.reading<FilterObservation>("heater-1-0").millivolts.end(), 0);
  const RepairScope scope = repair_scope(*lab.fabric, made->plan, {heater}, lab.observations(), {});
  CHECK(scope.steering == std::vector{heater});
  for (const Circuit& circuit : made->plan.circuits) {
    const DeviceId laser = *lab.fabric->device_of_element[circuit.transmitter.value];
    const bool is_dark = std::binary_search(scope.devices.begin(), scope.devices.end(), laser);
    CAPTURE(lab.fabric->device(laser).name, circuit.destination.value);
    if (circuit.source == NodeId{1} || circuit.destination == NodeId{1}) {
      CHECK(is_dark);
    }
    if (circuit.job == JobId{2}) {
      CHECK_FALSE(is_dark);  // its arcs end before node 1, or begin after it
    }
  }
}

TEST_CASE("devices_that_were_read_before_the_first_plan_are_its_base") {
  Lab lab(oddl_8(), "oddl");
  lab.request.intent.jobs = {job_of(1, nodes(0, 4))};
  const auto before = lab.plan();
  lab.confirm(before);  // what shines now; then every journal is gone
  auto found = std::make_shared<const Plan>(plan_as_found(*lab.fabric, lab.observations()));
  CHECK(found->revision == Revision{});
  Lab later(oddl_8(), "oddl");
  later.request.base = found;
  later.request.intent.jobs = {job_of(1, nodes(4, 4))};
  const auto made = later.plan();
  CHECK(made->plan.base == Revision{});
  const auto lasers = touched_lasers(*later.fabric, made->plan);
  for (const char* name : {"laser-0", "laser-1", "laser-2", "laser-3"}) {
    CHECK(has(lasers, name));  // dark before anything moves
  }
  for (const NodeId node : nodes(0, 8)) {
    CHECK(std::binary_search(made->plan.changed.begin(), made->plan.changed.end(), node));
  }
  const DevicePlan& wss = of(made->plan, *later.fabric, later.device("wss-out-0"));
  CHECK(wss.touched);
  CHECK(std::get<WavelengthSwitchSetpoint>(wss.timeline.front().setpoint).routes.empty());
  CHECK(wss.may_hold == std::vector{of(before->plan, *lab.fabric, later.device("wss-out-0")).timeline.front().setpoint});
  lab.request.base = nullptr;
  lab.request.intent = {};
  CHECK(lab.plan()->plan.changed.empty());  // a dark fabric has nothing to do
  later.request.base = found;
  later.request.intent = {};
  CHECK(touched_lasers(*later.fabric, later.plan()->plan).size() == 4);
}

TEST_CASE("observed_light_is_occupied_until_it_is_proven_dark") {
  Lab lab(oddl_8(), "oddl");
  lab.request.intent.jobs = {job_of(1, nodes(0, 4))};
  const auto alone = lab.plan();
  // Whatever node 0 would send, the idle laser of node 5 sends already, in the other group; that of node 3's group mate
  // collides.
  const auto light_of = [&](std::uint32_t node, bool may_darken) {
    const Circuit& circuit = alone->plan.circuits.front();
    return ObservedLight{lab.device("laser-" + std::to_string(node)), TransmitterSetpoint{circuit.slot, Dbm{0}, true},
                         may_darken};
  };
  lab.request.intent.jobs = {job_of(1, nodes(0, 3))};
  const auto made = lab.plan();
  const ObservedLight stuck{lab.device("laser-3"), TransmitterSetpoint{made->plan.circuits.front().slot, Dbm{0}, true}, false};
  lab.request.observed = {stuck};
  const auto refused = lab.attempt();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unverified);
  CAPTURE(refused.error().message);
  CHECK(refused.error().message.find("inputs 0 and 3 both carry") != std::string::npos);
  CHECK(refused.error().message.ends_with("nobody can take away now: laser-3"));
  lab.request.observed.front().may_darken = true;
  const auto after = lab.plan();
  CHECK(has(touched_lasers(*lab.fabric, after->plan), "laser-3"));
  CHECK(std::binary_search(after->plan.changed.begin(), after->plan.changed.end(), NodeId{3}));
  CHECK(after->plan.circuits.size() == made->plan.circuits.size());
  lab.request.observed = {light_of(5, true)};  // in nobody's way: left to its own repair
  const auto beside = lab.plan();
  CHECK_FALSE(has(touched_lasers(*lab.fabric, beside->plan), "laser-5"));
}

TEST_CASE("the_way_of_light_that_nobody_can_take_away_stays_as_it_is") {
  for (const bool is_ring : {false, true}) {
    Lab lab(is_ring ? ring_8() : ocs_6(), is_ring ? "sip-ring" : "sip-ocs");
    lab.request.intent.jobs = {job_of(1, nodes(0, 2)), job_of(2, nodes(2, 2))};
    const auto first = lab.plan();
    lab.confirm(first);
    lab.request.intent.jobs.erase(lab.request.intent.jobs.begin());  // its nodes are away, and were lit when they went
    const auto ended = lab.plan();
    std::vector<ObservedLight> held;
    for (const Circuit& circuit : first->plan.circuits) {
      if (circuit.job == JobId{1}) {
        held.push_back({*lab.fabric->device_of_element[circuit.transmitter.value],
                        TransmitterSetpoint{circuit.slot, Dbm{0}, true}, false});
      }
    }
    std::sort(held.begin(), held.end(), [](const ObservedLight& a, const ObservedLight& b) { return a.laser < b.laser; });
    REQUIRE(held.size() >= 2);
    REQUIRE_FALSE(ended->plan.moved_steering.empty());
    lab.request.observed = held;
    const auto made = lab.plan();
    CHECK(made->plan.moved_steering.empty());
    CHECK(made->plan.circuits.size() == ended->plan.circuits.size());
  }
}
