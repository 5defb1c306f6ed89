// SPDX-License-Identifier: Apache-2.0
// Words to values.
#include "cli/offline/play_inputs.hpp"

#include "controller/arena/entries.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {

Result<PlayInputs> read_inputs(const PlayWords& words, const Calibration* calibration, std::span<const std::string> fabrics) {
  auto split = read_settings(words.settings, calibration);
  if (!split) {
    return std::unexpected(split.error());
  }
  const auto rate = parse_bit_rate(words.bandwidth);
  if (!rate) {
    return std::unexpected(rate.error());
  }
  for (const std::string& fabric : fabrics) {
    if (arena_keys(fabric).empty()) {
      return fail(ErrorCode::not_found, format_text("no fabric '{}'; did you mean '{}'?", fabric.substr(0, 128),
                                                    loom::nearest(fabric, arena_names())));
    }
  }
  LOOM_TRY(check_arena_keys(split->fabric, fabrics));
  const auto workload = workload_of({words.workload, words.demand, words.model});
  if (!workload) {
    return std::unexpected(workload.error());
  }
  auto graph = read_graph({*workload, words.nodes, std::move(split->workload)});
  if (!graph) {
    return std::unexpected(std::move(graph).error());
  }
  return PlayInputs{std::move(*graph), *rate, std::move(split->fabric)};
}

}  // namespace loom::cli
