// SPDX-License-Identifier: Apache-2.0
// What the house knows of ODDL.
#include "controller/architectures/oddl/architecture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/architectures/oddl/allotment.hpp"
#include "controller/architectures/oddl/entries.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/oddl/options.hpp"
#include "controller/architectures/oddl/planes.hpp"
#include "controller/architectures/oddl/schedule.hpp"
#include "controller/schedule/arena_entry.hpp"
#include "controller/schedule/job_alone.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 6> kCompareKeys{"acquisition_us", "blank_us",  "control_us",
                                                       "group_size",     "retune_us", "wss_settle_ms"};

/// The fabric of those settings, as large as the job needs: whole groups.
std::optional<OddlParameters> parameters_of(ArenaBuilder& builder) {
  const OddlParameters usual;
  OddlParameters oddl;
  oddl.rate = lit_rate(builder.terms, builder.rate);
  oddl.group_size = builder.count("group_size", usual.group_size, 1, 1'024);
  oddl.nodes = (builder.graph.nodes + oddl.group_size - 1) / oddl.group_size * oddl.group_size;
  oddl.channels = std::max(usual.channels, static_cast<std::int32_t>(oddl.group_size));
  const auto time = [&](std::string_view key, Duration absent) {
    return builder.microseconds(key, static_cast<double>(absent.count()) / 1e3);
  };
  oddl.laser_retune_max = time("retune_us", usual.laser_retune_max);
  oddl.laser_control_max = time("control_us", usual.laser_control_max);
  oddl.laser_blank_max = time("blank_us", usual.laser_blank_max);
  oddl.receiver_acquisition_max = time("acquisition_us", usual.receiver_acquisition_max);
  oddl.wss_settle_max =
      Duration{std::llround(1e6 * builder.read("wss_settle_ms", milliseconds_of(usual.wss_settle_max), 0, 60e3))};
  return builder.error ? std::nullopt : std::optional<OddlParameters>(oddl);
}

void enter_oddl(ArenaBuilder& builder) {
  const auto parameters = parameters_of(builder);
  if (!parameters) {
    return;
  }
  builder.assume(format_text("{}: groups of {}", label_of(kOddl.name, kOddl.qualifier), parameters->group_size));
  enter_lit(builder, kOddl, make_oddl(*parameters));
}

/// Groups are full: as many nodes as fill the last one.
std::uint32_t whole_groups(std::uint32_t needed, const Settings& template_settings) {
  const auto group = whole_number(template_settings, "group_size", OddlParameters{}.group_size, 1, 1'024);
  const auto size = static_cast<std::uint32_t>(group ? *group : 1);
  return (needed + size - 1) / size * size;
}

/// Of a fabric that is no ODDL after all, as they come.
std::vector<NodeId> entered_well(const Fabric& fabric, const std::vector<NodeId>& chosen, const std::vector<NodeUse>& uses) {
  const auto shape = read_oddl(fabric);
  return shape ? enter_groups(*shape, chosen, uses) : chosen;
}

}  // namespace

const Architecture kOddl{.name = "oddl",
                         .summary = "isolation by wavelength switches, tunable lasers",
                         .qualifier = "reconstruction",
                         .fabric = &kOddlTemplate,
                         .schedule = &schedule_oddl,
                         .leaves_light_to_grants = true,
                         .order_ranks = entered_well,
                         .share_out = allot,
                         .options = kOddlOptions,
                         .check_options = check_oddl_options,
                         .whole_nodes = whole_groups,
                         .compare = enter_oddl,
                         .compare_keys = kCompareKeys};

}  // namespace loom
