// SPDX-License-Identifier: Apache-2.0
// What a job may ask of ODDL, and what it is admitted with, read out of their generic form once and typed from then on.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "controller/schedule/architecture.hpp"
#include "core/demand.hpp"
#include "core/result.hpp"

namespace loom {

/// Which wavelength leads to which group.
enum class MapChoice : std::uint8_t {
  cheapest,  ///< the scheduler's choice, by time of an iteration
  maps,      ///< one map after the other, until every pair of groups had light
  latin,     ///< wavelength j of group g leads to group g + j; nodes relay, two hops at most
  ring,      ///< wavelength 0 leads to the next group, all others stay; nodes relay
  custom,    ///< as OddlOptions::map_groups says; nodes relay
};
std::string_view to_string(MapChoice choice);

struct OddlOptions {
  MapChoice map = MapChoice::cheapest;
  /// Row-major: the job's g-th group x receiver port -> the job's h-th group.
  std::vector<std::uint32_t> map_groups{};
};

inline constexpr std::array<JobOption, 2> kOddlOptions{
    {{"map", "which wavelength leads to which group: cheapest, maps, latin, ring or custom"},
     {"map_groups", "of map=custom: group x port -> group, row by row, as 0-1-1-0"}}};

/// Errors: invalid_argument (a word that is none, map_groups without map=custom or the other way round).
Result<OddlOptions> read_oddl_options(const JobOptions& options);
Result<void> check_oddl_options(const JobSpec& spec);

/// Of a node's transmitters, where it has several: ascending; empty: all.
inline constexpr std::string_view kPlanesShare = "planes";
/// Of the AWGs' orders, where receivers are open: those that were given to the job alone for its ports in its groups,
/// ascending; empty: it takes wavelengths as it needs them.
inline constexpr std::string_view kOrdersShare = "orders";

/// The numbers of a share; none: empty.
const std::vector<std::uint32_t>& numbers_of(const JobShare& share, std::string_view name);

}  // namespace loom
