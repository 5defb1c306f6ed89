// Words to values.
#include "cli/offline/play_inputs.hpp"

#include "controller/arena/entries.hpp"
#include "controller/workload/load_graph.hpp"

namespace loom::cli {

Result<PlayInputs> read_inputs(const PlayWords& words, const Calibration* calibration, std::span<const std::string> fabrics) {
  auto settings = parse_settings(words.settings);
  if (!settings) {
    return std::unexpected(settings.error());
  }
  if (calibration != nullptr) {
    settings->insert(calibration->settings.begin(), calibration->settings.end());
  }
  SplitSettings split = split_settings(*settings);
  const auto rate = parse_bit_rate(words.bandwidth);
  if (!rate) {
    return std::unexpected(rate.error());
  }
  for (const std::string& fabric : fabrics) {
    if (arena_keys(fabric).empty()) {
      return fail(ErrorCode::not_found, "no fabric '" + fabric.substr(0, 128) + "'; did you mean '" +
                                            std::string(loom::nearest(fabric, arena_names())) + "'?");
    }
  }
  LOOM_TRY(check_arena_keys(split.fabric, fabrics));
  auto graph = load_task_graph(words.workload, {words.nodes, split.workload});
  if (!graph) {
    return std::unexpected(std::move(graph).error());
  }
  return PlayInputs{std::move(*graph), *rate, std::move(split.fabric)};
}

}  // namespace loom::cli
