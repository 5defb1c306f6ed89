// Words to options.
#include "controller/architectures/topoopt/finder/finder_settings.hpp"

#include <limits>

namespace loom {

Result<FinderOptions> finder_options(const Settings& settings) {
  const auto degree = whole_number(settings, "degree", 4, 1, 64);
  if (!degree) {
    return std::unexpected(degree.error());
  }
  const auto variant = choice(settings, "variant", kFinderVariants[0], kFinderVariants);
  if (!variant) {
    return std::unexpected(variant.error());
  }
  const auto seed = whole_number(settings, "seed", 1, 0, std::numeric_limits<std::uint32_t>::max());
  if (!seed) {
    return std::unexpected(seed.error());
  }
  const auto links = static_cast<std::uint32_t>(*degree);
  FinderOptions options = *variant == kFinderVariants[0]   ? as_in_paper(links)
                          : *variant == kFinderVariants[1] ? as_in_code_2021(links)
                                                           : as_in_code_release(links);
  options.seed = static_cast<std::uint64_t>(*seed);
  return options;
}

}  // namespace loom
