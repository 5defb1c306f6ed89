// SPDX-License-Identifier: Apache-2.0
// A bench for ODDL's slow plane: jobs in, plans out.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <utility>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"

namespace loom::testing {

/// Plans one after the other on a fabric of the template, each from what the one before has left.
struct OddlLab {
  explicit OddlLab(OddlParameters parameters) { request.fabric = std::make_shared<const Fabric>(make_oddl(parameters)); }

  Result<std::shared_ptr<const PlanResult>> plan() {
    request.revision.value += 1;
    auto made = make_plan(all_architectures(), request);
    if (made) {
      request.base = {*made, &(*made)->plan};
      request.intent = (*made)->intent;
      request.next_circuit = (*made)->next_circuit;
    }
    return made;
  }

  std::shared_ptr<const PlanResult> planned() {
    const auto made = plan();
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    return *made;
  }

  Job& add(std::uint64_t id, std::uint32_t nodes, CollectiveKind kind, std::int64_t bytes = 1'000'000) {
    Job job;
    job.id = JobId{id};
    job.spec.node_count = nodes;
    job.spec.collectives = {{kind, {}, Bytes{bytes}, 1}};
    request.intent.jobs.push_back(std::move(job));
    return request.intent.jobs.back();
  }

  PlanRequest request{};
};

inline OddlParameters groups_of(std::uint32_t groups, std::uint32_t size, std::int32_t channels) {
  OddlParameters parameters;
  parameters.nodes = groups * size;
  parameters.group_size = size;
  parameters.channels = channels;
  return parameters;
}

}  // namespace loom::testing
