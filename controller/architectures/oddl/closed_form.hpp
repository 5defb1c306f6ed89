// ODDL in closed form: guards and map changes of the reconstruction, never light itself. An approximation of what its schedules
// take; controller/predict says what is done with it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "controller/predict/fabric_model.hpp"
#include "core/result.hpp"

namespace loom {

inline constexpr std::array<std::string_view, 7> kOddlModelKeys{"acquisition_us", "blank_us",  "control_us",   "group_size",
                                                                "latency_us",     "retune_us", "wss_settle_ms"};

/// `settings`: kOddlModelKeys. Errors: invalid_argument, out_of_range.
Result<FabricModel> make_oddl_model(BitRate rate, std::uint32_t nodes, const Settings& settings);

}  // namespace loom
