// SPDX-License-Identifier: Apache-2.0
// Words and lists of numbers into options.
#include "controller/architectures/oddl/options.hpp"

#include <algorithm>
#include <string>

#include "controller/workload/settings.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 5> kMapWords{"cheapest", "maps", "latin", "ring", "custom"};

}  // namespace

std::string_view to_string(MapChoice choice) { return kMapWords.at(static_cast<std::size_t>(choice)); }

Result<OddlOptions> read_oddl_options(const JobOptions& options) {
  const auto word = choice(options, "map", kMapWords[0], kMapWords);
  const auto groups = number_list(options, "map_groups", {}, 0, limits::kNodes - 1);
  if (!word || !groups) {
    return std::unexpected(!word ? word.error() : groups.error());
  }
  OddlOptions read;
  read.map = static_cast<MapChoice>(std::find(kMapWords.begin(), kMapWords.end(), *word) - kMapWords.begin());
  read.map_groups.assign(groups->begin(), groups->end());
  if ((read.map == MapChoice::custom) == read.map_groups.empty()) {
    return fail(ErrorCode::invalid_argument, format_text("map = {}, map_groups has {} entries: map = custom, and only that, "
                                                         "needs map_groups (group x port -> group, row by row, as 0-1-1-0)",
                                                         *word, read.map_groups.size()));
  }
  return read;
}

Result<void> check_oddl_options(const JobSpec& spec) {
  const auto read = read_oddl_options(spec.options);
  return read ? Result<void>{} : std::unexpected(read.error());
}

const std::vector<std::uint32_t>& numbers_of(const JobShare& share, std::string_view name) {
  static const std::vector<std::uint32_t> kNone;
  const auto found = share.find(name);
  return found == share.end() ? kNone : found->second;
}

}  // namespace loom
