// SPDX-License-Identifier: Apache-2.0
// Detection: a fabric in light, one fault of the catalogue in one of its devices or fibres, and the time until somebody is
// told: while nothing is ordered, or by the next order. For the tests and for `detection_table`; all times are virtual.
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

/// What is asked of the fabric while the fault is there.
enum class DetectionOrder : std::uint8_t {
  none,
  another_job  ///< its job ends, and one of half the nodes takes its place: most devices are ordered to go elsewhere
};

/// Times count from the fault, or from the order that follows it.
struct Detection {
  std::optional<Duration> alarm_after;  ///< the first alarm that was not there before, whomever it names
  std::optional<Duration> named_after;  ///< the first that names where the fault is
  std::string alarm;                    ///< code and evidence of that; of none, of the first alarm
  std::optional<Duration> unlit_after;  ///< nothing ordered: until the controller says of a circuit that it is not lit
  bool harms = false;         ///< ground truth: another number of receivers is reached than before; ordered: fewer than planned
  bool is_lit_at_end = true;  ///< the controller says that all circuits are
};

/// How long somebody is waited for who tells of a fault.
inline constexpr Duration kDetectionPatience = std::chrono::seconds{20};

/// Every fault of the catalogue on the first device of every model of the fabric that can have it, channel 0; and of fibres, at
/// the first receiver. Values are larger than what devices tolerate.
std::vector<DetectionCase> detection_cases(const Fabric& fabric);

/// Of a scenario of detection_scenario(). Errors: those of come_into_light and World::start; internal (not all of it is lit).
Result<Detection> detect(const Scenario& scenario, const DetectionCase& one, std::uint64_t seed,
                         DetectionOrder order = DetectionOrder::none);

/// VGG19 on all nodes of the fabric, scheduled by `algorithm`; with an order its job ends after half a minute, and a smaller
/// one follows.
Scenario detection_scenario(std::shared_ptr<const Fabric> fabric, std::string algorithm,
                            DetectionOrder order = DetectionOrder::none);

}  // namespace loom
