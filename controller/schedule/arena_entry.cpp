// SPDX-License-Identifier: Apache-2.0
// Settings of an entry, each within its range.
#include "controller/schedule/arena_entry.hpp"

#include <algorithm>
#include <cmath>

#include "controller/schedule/pair_bytes.hpp"
#include "core/text/format_text.hpp"

namespace loom {

double ArenaBuilder::read(std::string_view key, double absent, double least, double most) {
  const auto value = number(settings, key, absent, least, most);
  if (!value && !error) {
    error = value.error();
  }
  return value ? *value : absent;
}

std::uint32_t ArenaBuilder::count(std::string_view key, std::int64_t absent, std::int64_t least, std::int64_t most) {
  const auto value = whole_number(settings, key, absent, least, most);
  if (!value && !error) {
    error = value.error();
  }
  return static_cast<std::uint32_t>(value ? *value : absent);
}

std::string ArenaBuilder::word(std::string_view key, std::string_view absent, std::span<const std::string_view> choices) {
  const auto value = choice(settings, key, absent, choices);
  if (!value && !error) {
    error = value.error();
  }
  return value ? *value : std::string{absent};
}

std::string ArenaBuilder::light(std::span<const std::string_view> choices, std::string_view otherwise,
                                std::span<const std::string_view> others) {
  const auto set = std::ranges::find_if(others, [&](std::string_view key) { return settings.contains(std::string(key)); });
  const std::string chosen = word("light", set == others.end() ? "lit" : otherwise, choices);
  if (chosen == "lit" && set != others.end() && !error) {
    error = Error{
        ErrorCode::invalid_argument,
        format_text("{} is for light={}, the published algorithm; light=lit is what our scheduler lights", *set, otherwise)};
  }
  return chosen;
}

Duration ArenaBuilder::microseconds(std::string_view key, double absent) {
  return Duration{std::llround(read(key, absent, 0, kMicrosecondsMax) * 1e3)};
}

void ArenaBuilder::keep(Result<Network> made) {
  if (made) {
    entry.network = std::move(*made);
  } else if (!error) {
    error = std::move(made).error();
  }
}

void carry_rings_both_ways(ArenaBuilder& builder) {
  if (carry_rings(builder.entry.graph, {.algorithm = CollectiveAlgorithm::bidirectional_ring})) {
    builder.assume(builder.entry.fabric + ": rings of collectives go both ways round, half the bytes each");
  }
}

BitRate part_of_rate(BitRate rate, double parts) { return {std::llround(static_cast<double>(rate.bits_per_second) / parts)}; }

}  // namespace loom
