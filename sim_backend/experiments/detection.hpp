// SPDX-License-Identifier: Apache-2.0
// Detection: a fabric in light, one fault of the catalogue in one of its devices or fibres, nothing ordered, and the time until
// somebody is told. For the tests and for `detection_table`; all times are virtual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/result.hpp"

namespace loom {

/// One fault, on a device or at a fibre of a fabric.
struct DetectionCase {
  std::string fault;  ///< its name in the catalogue
  std::string what;   ///< the device, or the element at which the fibre ends
  std::string model;  ///< of the device's driver; "fibre"
  std::variant<ScenarioFault, FibreFault> injected;
};

struct Detection {
  std::optional<Duration> alarm_after;  ///< the first alarm that was not there before, whomever it names
  std::string alarm;                    ///< its code and evidence
  std::optional<Duration> unlit_after;  ///< until the controller says of a circuit that it is not lit
  bool harms = false;                   ///< ground truth: another number of receivers is reached than before
};

/// How long a fault lasts, and is waited for.
inline constexpr Duration kDetectionPatience = std::chrono::seconds{20};

/// Every fault of the catalogue on the first device of every model of the fabric that can have it, channel 0; and of fibres, at
/// the first receiver. Values are larger than what devices tolerate. Nothing is ordered: what acts on a new order only is
/// injected, and not tried.
std::vector<DetectionCase> detection_cases(const Fabric& fabric);

/// `scenario` has one job. Errors: those of come_into_light and World::start; internal (not all of it is lit).
Result<Detection> detect(const Scenario& scenario, const DetectionCase& one, std::uint64_t seed);

/// VGG19 on all nodes of the fabric, scheduled by `algorithm`.
Scenario detection_scenario(std::shared_ptr<const Fabric> fabric, std::string algorithm);

}  // namespace loom
