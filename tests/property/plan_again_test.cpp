// SPDX-License-Identifier: Apache-2.0
// Plans that are lowered and judged only where they differ from the one before are the plans, and the verdicts, of planning and
// judging all of it: on larger fabrics where small jobs come and go, where plans are asked for and not taken, and whatever is
// wrong with a plan.
#include <catch2/catch.hpp>
#include <functional>

#include "controller/architectures/registry.hpp"
#include "controller/architectures/sip_ocs/fabric.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "controller/architectures/topoopt/fabric.hpp"
#include "controller/plan/verify/verify.hpp"
#include "controller/plan/verify/verify_memory.hpp"
#include "tests/property/plan_worlds.hpp"

namespace {

using namespace loom;
using namespace loom::testing;

std::shared_ptr<const Fabric> fabric_of(Chance& chance) {
  switch (chance.below(3)) {
    case 0: {
      SipOcsParameters parameters;
      parameters.nodes = 24 + chance.below(24);
      parameters.switches = 1 + chance.below(5);
      return std::make_shared<const Fabric>(make_sip_ocs(parameters));
    }
    case 1: {
      SipRingParameters parameters;
      parameters.nodes = 16 + chance.below(12);
      parameters.rings = 1 + chance.below(2);
      parameters.wavelengths = 2 * parameters.rings * (1 + chance.below(4));
      parameters.filters_per_bank = 1 + chance.below(8);
      return std::make_shared<const Fabric>(make_sip_ring(parameters));
    }
    default: {
      TopooptParameters parameters;
      parameters.nodes = 24 + chance.below(16);
      return std::make_shared<const Fabric>(make_topoopt(parameters));
    }
  }
}

Job small_job(Chance& chance, std::uint64_t id) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = 2 + chance.below(4);
  job.spec.collectives.push_back({static_cast<CollectiveKind>(chance.below(7)), {}, Bytes{1 + chance.below(1'000'000)}, 1});
  return job;
}

void change(Chance& chance, Intent& intent, std::uint64_t& next_job) {
  const std::uint32_t what = chance.below(16);
  if (what < 9 || intent.jobs.empty()) {
    intent.jobs.push_back(small_job(chance, next_job++));
  } else if (what < 13) {
    intent.jobs.erase(intent.jobs.begin() + chance.below(static_cast<std::uint32_t>(intent.jobs.size())));
  } else if (what == 13) {
    intent.lasers_off = !intent.lasers_off;
  } else {
    intent.jobs[chance.below(static_cast<std::uint32_t>(intent.jobs.size()))].stage = chance.below(2);
  }
}

void check_same(const PlanResult& one, const PlanResult& other) {
  CHECK(one.plan.revision == other.plan.revision);
  CHECK(one.plan.base == other.plan.base);
  CHECK(one.plan.nodes == other.plan.nodes);
  CHECK(one.plan.circuits == other.plan.circuits);
  CHECK(one.plan.touched == other.plan.touched);
  CHECK(one.plan.changed == other.plan.changed);
  CHECK(one.plan.moved_steering == other.plan.moved_steering);
  CHECK(one.plan.certificate == other.plan.certificate);
  CHECK(one.next_circuit == other.next_circuit);
  CHECK(one.schedule.jobs == other.schedule.jobs);
}

/// `take(result)`: what a plan that was made is taken for; each is made with the memory and without, and both are the same.
std::vector<Accepted> plan_twice(std::uint64_t seed, int revisions, PlanMemory& memory) {
  Chance chance(seed);
  PlanRequest request;
  request.fabric = fabric_of(chance);
  request.algorithm = request.fabric->architecture;
  std::vector<Accepted> accepted;
  std::shared_ptr<const PlanResult> base;
  std::uint64_t next_job = 1;
  for (int i = 0; i < revisions; ++i) {
    const Intent before = request.intent;
    change(chance, request.intent, next_job);
    request.revision.value += 1;
    const auto made = make_plan(all_architectures(), request, memory);
    const auto alone = make_plan(all_architectures(), request);
    INFO("seed " << seed << ", revision " << request.revision.value);
    REQUIRE(made.has_value() == alone.has_value());
    if (!made) {
      CHECK(made.error() == alone.error());
      request.intent = before;
      continue;
    }
    check_same(**made, **alone);
    if (chance.one_in(4)) {  // somebody only asked
      request.intent = before;
      continue;
    }
    accepted.push_back({request.fabric, base, *made});
    base = *made;
    request.base = {base, &base->plan};
    request.intent = base->intent;
    request.next_circuit = base->next_circuit;
  }
  return accepted;
}

TEST_CASE("a_plan_that_is_made_from_differences_is_the_plan_that_is_made_of_all") {
  std::uint64_t lowered = 0;
  std::uint64_t verified = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    PlanMemory memory;
    CHECK(plan_twice(seed, 30, memory).size() <= 30);
    lowered += memory.lowered_again();
    verified += memory.verified_again();
  }
  INFO("lowered " << lowered << ", verified " << verified);
  CHECK(lowered > 200);
  CHECK(verified > 200);
}

// --- what may be wrong with a plan ---------------------------------------------------------------------------------------

DevicePlan* any_device(Chance& chance, Plan& plan) {
  NodePlan& node = plan.nodes.edit(chance.below(static_cast<std::uint32_t>(plan.nodes.size())));
  return node.devices.empty() ? nullptr : &node.devices[chance.below(static_cast<std::uint32_t>(node.devices.size()))];
}

/// Of a node that takes part.
DevicePlan* any_that_moves(Chance& chance, Plan& plan) {
  if (plan.changed.empty()) {
    return nullptr;
  }
  NodePlan& node = plan.nodes.edit(plan.changed[chance.below(static_cast<std::uint32_t>(plan.changed.size()))].value);
  return node.devices.empty() ? nullptr : &node.devices[chance.below(static_cast<std::uint32_t>(node.devices.size()))];
}

void damage_setpoint(Chance& chance, Setpoint& setpoint) {
  if (auto* laser = std::get_if<TransmitterSetpoint>(&setpoint)) {
    switch (chance.below(3)) {
      case 0:
        laser->emit = !laser->emit;
        break;
      case 1:
        laser->slot.n += 16;
        break;
      default:
        laser->power = laser->power + Db{-100};
    }
  } else if (auto* bank = std::get_if<FilterSetpoint>(&setpoint); bank != nullptr && !bank->rings.empty()) {
    if (chance.one_in(2)) {
      bank->rings.pop_back();
    } else {
      bank->rings.back().resonance.mhz -= 100'000;
    }
  } else if (auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint); ocs != nullptr && ocs->connects.size() > 1) {
    if (chance.one_in(2)) {
      ocs->connects.erase(ocs->connects.begin() + chance.below(static_cast<std::uint32_t>(ocs->connects.size())));
    } else {
      std::swap(ocs->connects.front().output, ocs->connects.back().output);
    }
  }
}

void damage(Chance& chance, Plan& plan) {
  DevicePlan* device = chance.one_in(2) ? any_device(chance, plan) : any_that_moves(chance, plan);
  const std::uint32_t what = chance.below(16);
  if (what == 14) {
    plan.revision.value -= std::min<std::uint64_t>(plan.revision.value, chance.below(3));
  } else if (what == 15) {
    plan.base.value += chance.below(2);
  } else if (what < 4 && device != nullptr) {
    damage_setpoint(chance, device->timeline.front().setpoint);
  } else if (what == 4 && device != nullptr) {
    device->touched = !device->touched;
  } else if (what == 5 && device != nullptr) {
    device->may_hold.clear();
  } else if (what == 6 && device != nullptr) {
    device->left_alone = true;
  } else if (what == 7 && !plan.changed.empty()) {
    plan.changed.pop_back();
  } else if (what == 8 && !plan.touched.empty()) {
    plan.touched.erase(plan.touched.begin());
  } else if (what == 9 && !plan.moved_steering.empty()) {
    plan.moved_steering.pop_back();
  } else if (what == 10) {
    plan.certificate.physically_isolated = !plan.certificate.physically_isolated;
  } else if (what == 11) {
    plan.certificate.light.link_margin = plan.certificate.light.link_margin + Db{10};
  } else if (what == 12 && !plan.circuits.empty()) {
    Circuit& circuit = plan.circuits[chance.below(static_cast<std::uint32_t>(plan.circuits.size()))];
    const Circuit& other = plan.circuits[chance.below(static_cast<std::uint32_t>(plan.circuits.size()))];
    if (chance.one_in(2)) {
      circuit.receiver = other.receiver;
    } else {
      circuit.slot.n += 16;
    }
  } else if (device != nullptr) {
    device->timeline.front().hold = Duration{1'000'000};
  }
}

TEST_CASE("whatever_is_wrong_with_a_plan_is_found_where_it_differs_too") {
  std::uint64_t told = 0;
  std::uint32_t refused = 0;
  std::uint32_t clean = 0;
  for (std::uint64_t seed = 1'001; seed <= 1'060; ++seed) {
    PlanMemory memory;
    const std::vector<Accepted> accepted = plan_twice(seed, 10, memory);
    Chance chance(seed + 7);
    for (std::size_t i = 1; i < accepted.size(); ++i) {
      const Accepted& one = accepted[i];
      const LightOrder order(*one.fabric);
      const Plan* before = accepted[i - 1].base ? &accepted[i - 1].base->plan : nullptr;
      VerifyMemory again;
      again.examine(*one.fabric, order, one.base->plan, before, one.base->intent, {});
      for (int k = 0; k < 12; ++k) {
        Plan plan = one.result->plan;
        for (std::uint32_t n = k == 0 ? 0 : 1 + chance.below(2); n > 0; --n) {
          damage(chance, plan);
        }
        INFO("seed " << seed << ", revision " << plan.revision.value << ", damage " << k);
        const Verdict verdict = again.examine(*one.fabric, order, plan, &one.base->plan, one.result->intent, {});
        const Verdict whole = examine(*one.fabric, order, plan, &one.base->plan, one.result->intent, {});
        CHECK(verdict.violations == whole.violations);
        CHECK(verdict.light == whole.light);
        CHECK(verdict.disturbed == whole.disturbed);
        ++(whole.violations.empty() ? clean : refused);
      }
      told += again.told();
    }
  }
  CHECK(told > 200);
  CHECK(refused > 1'000);
  CHECK(clean > 200);
}

}  // namespace
