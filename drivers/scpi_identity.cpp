// SPDX-License-Identifier: Apache-2.0
// Four fields between commas.
#include "drivers/scpi_identity.hpp"

#include <algorithm>
#include <utility>

namespace loom::scpi {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
}

std::optional<Identity> read_identity(std::string_view text) {
  if (std::ranges::count(text, ',') != 3) {
    return std::nullopt;
  }
  const auto field = [&] {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string value(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    return value;
  };
  Identity identity;
  identity.vendor = field();
  identity.model = field();
  identity.serial = field();
  identity.release = field();
  return identity.vendor.empty() ? std::nullopt : std::optional(std::move(identity));
}

}  // namespace loom::scpi
