// SPDX-License-Identifier: Apache-2.0
// What a plan lights as tables for other programs: a row a circuit, a row a forwarded pair, a row a wire of a patch panel or a
// circuit switch. CSV with a header, or the same rows as one JSON array where the file's name ends in .json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/plan/pipeline.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// Cells are numbers, words, or null where there is nothing to say.
struct PlanTable {
  std::vector<std::string> columns;
  std::vector<std::vector<nlohmann::ordered_json>> rows;
};

/// Every circuit of every stage and timeslot, so also the matching of each round: job, stage, timeslot with guard and hold in
/// microseconds (no hold: until the next revision), ends, the elements between which light goes, wavelength, rate.
PlanTable circuit_table(const Fabric& fabric, const Schedule& schedule);
/// The circuits of a topology by itself, parallel ones each: they have no elements and no wavelengths.
PlanTable circuit_table(const DirectTopology& topology, BitRate link);
/// Pairs whose bytes others pass on, and who: `through` in the order of travel, nodes with blanks between.
PlanTable forwarding_table(const Schedule& schedule);
/// Which input of each switch or panel leads to which output, set by hand or by the controller before light passes.
PlanTable wiring_table(const Fabric& fabric, const Plan& plan);

/// Errors: storage (the file cannot be written).
Result<void> write_table(const std::string& path, const PlanTable& table);

}  // namespace loom::cli
