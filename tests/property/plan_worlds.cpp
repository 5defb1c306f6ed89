// SPDX-License-Identifier: Apache-2.0
// A random controller: it changes an intent, asks for a plan, and takes it as confirmed.
#include "tests/property/plan_worlds.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/architectures/sip_ocs/fabric.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"

#include <string>

namespace loom::testing {
namespace {

std::shared_ptr<const Fabric> random_fabric(Chance& chance) {
  OddlParameters parameters;
  parameters.group_size = 2U << chance.below(3);
  const std::uint32_t groups = 1 + chance.below(64 / parameters.group_size > 8 ? 8 : 64 / parameters.group_size);
  parameters.nodes = std::max(8U, groups * parameters.group_size);
  const std::uint32_t extra = chance.below(parameters.group_size + 1);
  parameters.channels = static_cast<std::int32_t>(parameters.group_size + extra);
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

std::shared_ptr<const Fabric> random_sip(Chance& chance) {
  if (chance.one_in(2)) {
    SipOcsParameters parameters;
    parameters.nodes = 4 + chance.below(8);
    parameters.switches = 1 + chance.below(6);
    return std::make_shared<const Fabric>(make_sip_ocs(parameters));
  }
  SipRingParameters parameters;
  parameters.nodes = 4 + chance.below(5);
  parameters.rings = 1 + chance.below(2);
  parameters.wavelengths = 2 * parameters.rings * (1 + chance.below(6));
  parameters.filters_per_bank = 1 + chance.below(8);
  return std::make_shared<const Fabric>(make_sip_ring(parameters));
}

Job random_job(Chance& chance, std::uint64_t id, std::uint32_t nodes) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = 1 + chance.below(nodes);
  const std::uint32_t collectives = 1 + chance.below(3);
  for (std::uint32_t i = 0; i < collectives; ++i) {
    const auto kind = static_cast<CollectiveKind>(chance.below(7));
    job.spec.collectives.push_back({kind, {}, Bytes{1 + chance.below(1'000'000)}, 1});
  }
  return job;
}

void change(Chance& chance, Intent& intent, std::uint64_t& next_job, std::uint32_t nodes) {
  const std::uint32_t what = chance.below(8);
  if (what < 4 || intent.jobs.empty()) {
    intent.jobs.push_back(random_job(chance, next_job++, nodes));
  } else if (what == 4) {
    intent.jobs.erase(intent.jobs.begin() + chance.below(static_cast<std::uint32_t>(intent.jobs.size())));
  } else if (what == 5) {
    intent.jobs[chance.below(static_cast<std::uint32_t>(intent.jobs.size()))].stage += 1;
  } else if (what == 6) {
    intent.lasers_off = !intent.lasers_off;
  } else {
    intent.drained = {NodeId{chance.below(nodes)}};
  }
}

Walk walk_on(std::shared_ptr<const Fabric> fabric, Chance& chance, std::uint32_t revisions, std::string& fault,
             PlanMemory* memory) {
  Walk result;
  PlanRequest request;
  request.fabric = std::move(fabric);
  request.algorithm = request.fabric->architecture;
  std::shared_ptr<const PlanResult> base;
  std::uint64_t next_job = 1;
  const auto nodes = static_cast<std::uint32_t>(request.fabric->nodes.size());
  for (std::uint32_t i = 0; i < revisions; ++i) {
    const Intent before = request.intent;
    if (!chance.one_in(4)) {  // else the same again
      change(chance, request.intent, next_job, nodes);
    }
    request.revision.value += 1;
    auto made = memory != nullptr ? make_plan(all_architectures(), request, *memory) : make_plan(all_architectures(), request);
    if (!made) {
      const ErrorCode code = made.error().code;
      if (code != ErrorCode::infeasible && code != ErrorCode::out_of_range) {
        fault = made.error().message;
        return result;
      }
      ++result.refused;
      request.intent = before;
      continue;
    }
    result.accepted.push_back({request.fabric, base, *made});
    base = *made;
    request.base = {base, &base->plan};
    request.intent = base->intent;
    request.next_circuit = base->next_circuit;
  }
  return result;
}

}  // namespace

Walk walk(std::uint64_t seed, std::uint32_t revisions, std::string& fault, PlanMemory* memory) {
  Chance chance(seed);
  const auto fabric = random_fabric(chance);
  return walk_on(fabric, chance, revisions, fault, memory);
}

Walk walk_sip(std::uint64_t seed, std::uint32_t revisions, std::string& fault, PlanMemory* memory) {
  Chance chance(seed);
  const auto fabric = random_sip(chance);
  return walk_on(fabric, chance, revisions, fault, memory);
}

}  // namespace loom::testing
