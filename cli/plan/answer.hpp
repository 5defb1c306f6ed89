// SPDX-License-Identifier: Apache-2.0
// What every way of planning answers, and how it is printed: the same rows, keys and sentences whoever planned.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "controller/architectures/sip_ring/occupancy.hpp"
#include "controller/plan/plan_summary.hpp"
#include "core/time.hpp"

namespace loom::cli {

/// The isolation certificate, or why there is none.
struct CertificateAnswer {
  bool verified = false;
  bool wavelength_isolated = false;
  bool physically_isolated = false;
  std::uint32_t shared_amplifiers = 0;
  std::string note;
};

/// One iteration of a job over its schedule, as a lab's report predicts it; or why there is none.
struct IterationAnswer {
  std::string job;
  std::optional<Duration> iteration;
  Duration compute{};
  std::string why_not{};
};

struct PlanAnswer {
  std::string algorithm;
  std::string fabric;
  std::string subject;   ///< what the objective is of: "on the wire of one iteration, the worst job"
  double objective = 0;  ///< s
  double bound = 0;      ///< s
  std::optional<double> gap;
  double elapsed_ms = 0;
  std::string elapsed_of;  ///< "place, schedule, lower, verify"
  std::uint32_t circuits = 0;
  std::uint32_t touched = 0;
  std::uint32_t kept = 0;
  std::vector<std::uint32_t> jumps;          ///< TopoOpt
  std::optional<std::uint32_t> wavelengths;  ///< lit; nothing where light has no choice of wavelength
  CertificateAnswer certificate;
  std::vector<JobSummary> jobs;
  std::vector<IterationAnswer> iterations;   ///< in the order of the schedule; none of a topology by itself
  std::optional<OccupancySums> occupancy{};  ///< of rings; only if asked for
  std::vector<std::string> assumptions;
  std::vector<std::string> hints{};      ///< what would be better, and how to ask for it
  std::vector<std::string> explanation;  ///< empty unless asked for
};

nlohmann::ordered_json json_of(const PlanAnswer& answer);
std::string text_of(const PlanAnswer& answer);

}  // namespace loom::cli
