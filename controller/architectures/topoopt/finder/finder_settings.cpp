// SPDX-License-Identifier: Apache-2.0
// Words to options.
#include "controller/architectures/topoopt/finder/finder_settings.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace loom {
namespace {

constexpr std::array<std::string_view, 2> kDirections{"one-way", "both-ways"};  // by number of the enumeration, as all below
constexpr std::array<std::string_view, 2> kShares{"as-in-paper", "as-in-code"};
constexpr std::array<std::string_view, 2> kDiscounts{"harmonic", "halving"};
constexpr std::array<std::string_view, 2> kMatchings{"exact", "greedy"};
constexpr std::array<std::string_view, 2> kSees{"demand", "rings"};
constexpr std::int64_t kPathsMost = 64;

template <class Enum>
Result<void> read_word(const Settings& settings, std::string_view key, std::span<const std::string_view> words, Enum& into) {
  const auto word = choice(settings, key, words[static_cast<std::size_t>(into)], words);
  if (!word) {
    return std::unexpected(word.error());
  }
  into = static_cast<Enum>(std::ranges::find(words, *word) - words.begin());
  return {};
}

Result<void> read_count(const Settings& settings, std::string_view key, std::int64_t most, std::uint32_t& into) {
  const auto value = whole_number(settings, key, into, 1, most);
  if (!value) {
    return std::unexpected(value.error());
  }
  into = static_cast<std::uint32_t>(*value);
  return {};
}

}  // namespace

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
  LOOM_TRY(read_word(settings, "ring_directions", kDirections, options.directions));
  LOOM_TRY(read_word(settings, "split", kFinderVariants, options.split));
  LOOM_TRY(read_word(settings, "share", kShares, options.share));
  LOOM_TRY(read_word(settings, "discount", kDiscounts, options.discount));
  LOOM_TRY(read_word(settings, "matching", kMatchings, options.matching));
  LOOM_TRY(read_word(settings, "matching_sees", kSees, options.sees));
  LOOM_TRY(read_count(settings, "paths", kPathsMost, options.paths_of_a_pair));
  LOOM_TRY(read_count(settings, "primes_beyond", std::numeric_limits<std::uint32_t>::max(), options.primes_beyond));
  return options;
}

}  // namespace loom
