// SPDX-License-Identifier: Apache-2.0
// Places of 64 bytes behind the lock file's note: magic, CRC of the rest, count (little endian), hash of the name, chain.
#include "runtime/journal/journal_witness.hpp"

#include <sodium.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kPlaceBytes = 64;  // divides every sector, so no write is torn
constexpr off_t kFirstPlace = 64;
constexpr std::array<unsigned char, 4> kMagic{'L', 'L', 'W', '1'};
constexpr std::size_t kCrcAt = 4;
constexpr std::size_t kCountAt = 8;
constexpr std::size_t kNameAt = 16;
constexpr std::size_t kChainAt = 32;

using Bytes = std::array<unsigned char, kPlaceBytes>;

off_t offset_of(std::uint64_t index) { return kFirstPlace + static_cast<off_t>(index * kPlaceBytes); }

std::uint32_t crc_of(const Bytes& bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, bytes.data() + kCountAt, bytes.size() - kCountAt));
}

void put(Bytes& bytes, std::size_t at, std::uint64_t value, std::size_t width) {
  for (std::size_t index = 0; index < width; ++index) {
    bytes[at + index] = static_cast<unsigned char>(value >> (8 * index));
  }
}

std::uint64_t number_at(const Bytes& bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t index = 0; index < width; ++index) {
    value |= std::uint64_t{bytes[at + index]} << (8 * index);
  }
  return value;
}

bool is_sound(const Bytes& bytes) {
  return std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0 && number_at(bytes, kCrcAt, 4) == crc_of(bytes);
}

}  // namespace

JournalWitness::JournalWitness(int file) : file_(file) {
  Bytes bytes{};
  for (; pread(file_, bytes.data(), bytes.size(), offset_of(next_index_)) == static_cast<ssize_t>(bytes.size());
       ++next_index_) {
    if (!is_sound(bytes)) {
      continue;
    }
    Name name{};
    Place place{next_index_, {number_at(bytes, kCountAt, 8), {}}};
    std::memcpy(name.data(), bytes.data() + kNameAt, name.size());
    std::memcpy(place.head.chain.data(), bytes.data() + kChainAt, place.head.chain.size());
    places_.insert_or_assign(name, place);
  }
}

JournalWitness::Name JournalWitness::name_of(std::string_view stream) {
  Name name{};
  crypto_generichash(name.data(), name.size(), reinterpret_cast<const unsigned char*>(stream.data()), stream.size(), nullptr,
                     0);
  return name;
}

std::optional<WitnessedHead> JournalWitness::head_of(std::string_view stream) const {
  const auto found = places_.find(name_of(stream));
  return found == places_.end() ? std::nullopt : std::optional(found->second.head);
}

Result<void> JournalWitness::record(std::string_view stream, const WitnessedHead& head) {
  const Name name = name_of(stream);
  const auto [place, is_new] = places_.try_emplace(name, Place{next_index_, {}});
  next_index_ += is_new ? 1 : 0;
  place->second.head = head;
  Bytes bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  put(bytes, kCountAt, head.count, 8);
  std::memcpy(bytes.data() + kNameAt, name.data(), name.size());
  std::memcpy(bytes.data() + kChainAt, head.chain.data(), head.chain.size());
  put(bytes, kCrcAt, crc_of(bytes), 4);
  if (pwrite(file_, bytes.data(), bytes.size(), offset_of(place->second.index)) != static_cast<ssize_t>(bytes.size())) {
    return fail(ErrorCode::storage, format_text("the witness of the journal cannot be written: {}", std::strerror(errno)));
  }
  return {};
}

}  // namespace loom
