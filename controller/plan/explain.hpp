// SPDX-License-Identifier: Apache-2.0
// Explain: the way of one circuit through the fabric as a plan sets it, with the power that is expected behind every element.
// For people; verify decides with its own tracer.
#pragma once

#include <optional>
#include <vector>

#include "controller/plan/light/paths.hpp"
#include "core/result.hpp"

namespace loom {

struct LitHop {
  Hop hop;
  Db loss{0};     ///< of the element (gain negative) and of the fibre behind it
  Dbm power_out;  ///< behind the element, before the fibre; of the receiver: what it receives
};

/// Transmitter to receiver. Errors: infeasible (the plan's switches do not carry it).
Result<std::vector<LitHop>> trace_circuit(const Fabric& fabric, const Plan& plan, const Circuit& circuit);

/// The power that one plan's lights have at their receivers, told one after the other: lights that the plan has at one time.
class PowerTrace {
 public:
  PowerTrace(const Fabric& fabric, const Plan& plan);
  PowerTrace(const PowerTrace&) = delete;  // its finder looks at its positions
  PowerTrace& operator=(const PowerTrace&) = delete;
  /// Nothing: the plan's switches do not carry it. Rings that are driven by a calibration stand where they were put.
  std::optional<Dbm> at_receiver(const Circuit& light);

 private:
  const Fabric& fabric_;
  const Plan& plan_;
  Positions positions_;
  PathFinder finder_;
};

/// By device: connections of a circuit switch that a circuit of the plan comes to; 0 for everything else. What else it holds is
/// dark. Follows light through circuit switches only: behind any other element that divides it, nobody is counted.
std::vector<std::uint32_t> lit_ways(const Fabric& fabric, const Plan& plan);

/// `transmitter`, `wss`, `ring filter`, ...
std::string_view kind_of(const Element& element);

}  // namespace loom
