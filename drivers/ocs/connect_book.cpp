// SPDX-License-Identifier: Apache-2.0
// Sets of connections, ascending.
#include "drivers/ocs/connect_book.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/fabric/occupied_ports.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Connects = ConnectBook::Connects;

Connects without(const Connects& some, const Connects& others) {
  Connects rest;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(rest), ascends);
  return rest;
}

std::string output_of(const Connects& connects, std::uint16_t input) {
  const auto found = std::ranges::find(connects, input, &CrossConnect::input);
  return found == connects.end() ? "nothing" : format_text("output {}", found->output);
}

}  // namespace

void ConnectBook::claim(const Connects& connects) {
  Connects all;
  std::set_union(claims_.begin(), claims_.end(), connects.begin(), connects.end(), std::back_inserter(all), ascends);
  claims_ = std::move(all);
}

void ConnectBook::drop_claims(const SeenConnects& seen, const Connects& wanted) {
  std::erase_if(claims_, [&](CrossConnect each) { return !contains(seen.inside, each) && !contains(wanted, each); });
}

void ConnectBook::see(const SeenConnects& seen, ForeignConnects foreign) {
  ours_.clear();
  others_ = seen.across;
  for (const CrossConnect each : seen.inside) {
    (foreign == ForeignConnects::remove || contains(claims_, each) ? ours_ : others_).push_back(each);
  }
  std::ranges::sort(others_, ascends);
}

void ConnectBook::take_away(const Connects& connects) { ours_ = without(ours_, connects); }

bool ConnectBook::holds(CrossConnect connect) const { return contains(ours_, connect); }

Connects ConnectBook::excess(const Connects& wanted) const { return without(ours_, wanted); }
Connects ConnectBook::lacking(const Connects& wanted) const { return without(wanted, ours_); }

std::optional<std::string> ConnectBook::obstacle(const Connects& wanted) const {
  for (const CrossConnect each : lacking(wanted)) {
    if (const auto occupant = occupant_of(others_, each)) {
      return describe_occupant(*occupant);
    }
  }
  return std::nullopt;
}

std::string ConnectBook::reading_of(std::uint16_t input) const { return output_of(ours_, input); }

std::string ConnectBook::difference(const Connects& wanted) const {
  const Connects lacks = lacking(wanted);
  const std::uint16_t input = lacks.empty() ? excess(wanted).front().input : lacks.front().input;
  return format_text("input {} reads {}, wanted {}", input, reading_of(input), output_of(wanted, input));
}

}  // namespace loom
