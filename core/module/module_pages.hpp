// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a pluggable module are: on which of its I2C addresses, on which page; and the one linear offset that the
// optoe kernel driver gives all of them. Drivers speak in offsets, so that one driver does for both buses.
#pragma once

#include <cstdint>
#include <optional>

#include "core/transaction.hpp"

namespace loom {

inline constexpr std::uint32_t kPageBytes = 128;       ///< of an upper page, and of the lower memory
inline constexpr std::uint8_t kPageSelect = 127;       ///< CMIS 5.4 section 8.2; SFF-8472 section 4.3
inline constexpr std::uint8_t kBankSelect = 126;       ///< CMIS only
inline constexpr std::uint16_t kModuleAddress = 0x50;  ///< 7 bits; an SFP has the next one too

/// One byte of a module.
struct PagedByte {
  bool second_address = false;  ///< of an SFP: A2h
  std::uint8_t page = 0;        ///< of a byte from 128 on
  std::uint8_t byte = 0;
  bool operator==(const PagedByte&) const = default;
};

/// The first 256 bytes are the lower memory and page 0, or an SFP's A0h, which has no pages.
constexpr std::uint32_t offset_of(PageLayout layout, PagedByte place) {
  const bool is_one = layout == PageLayout::one_address;
  const std::uint32_t base = is_one || !place.second_address ? 0 : 2 * kPageBytes;
  return base + place.byte + (is_one || place.second_address ? place.page * kPageBytes : 0);
}

/// Nothing: no module has so many pages.
constexpr std::optional<PagedByte> place_of(PageLayout layout, std::uint32_t offset) {
  const bool second = layout == PageLayout::two_addresses && offset >= 2 * kPageBytes;
  const std::uint32_t within = second ? offset - 2 * kPageBytes : offset;
  if (within < kPageBytes || (layout == PageLayout::two_addresses && !second)) {
    return PagedByte{second, 0, static_cast<std::uint8_t>(within)};
  }
  const std::uint32_t page = within / kPageBytes - 1;
  if (page > 255) {
    return std::nullopt;
  }
  return PagedByte{second, static_cast<std::uint8_t>(page), static_cast<std::uint8_t>(kPageBytes + within % kPageBytes)};
}

/// Is it behind the page select?
constexpr bool is_paged(PageLayout layout, PagedByte place) {
  return place.byte >= kPageBytes && (layout == PageLayout::one_address || place.second_address);
}

/// Do so many bytes from there on lie in one page? What crosses its end would wrap around in the module.
constexpr bool fits_page(PageLayout layout, PagedByte place, std::size_t count) {
  const bool is_whole = layout == PageLayout::two_addresses && !place.second_address;  // A0h: 256 bytes, without pages
  const std::size_t end = is_whole || place.byte >= kPageBytes ? 2 * kPageBytes : kPageBytes;
  return count > 0 && place.byte + count <= end;
}

}  // namespace loom
