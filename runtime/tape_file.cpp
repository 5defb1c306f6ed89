// Frames: u32 length, u32 CRC-32 of the entry, the entry; numbers little-endian.
#include "runtime/tape_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/limits.hpp"
#include "proto/tape.hpp"

namespace loom {
namespace {

constexpr std::string_view kMagic = "lightloom tape 1\n";
/// A start carries the whole journal, and that is the largest thing that a machine hears.
constexpr std::size_t kEntryBytes = limits::kRecordBytes;

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

void put(std::array<char, 8>& out, std::size_t at, std::uint32_t word) {
  for (std::size_t i = 0; i < 4; ++i) {
    out[at + i] = static_cast<char>(word >> (8 * i) & 0xff);
  }
}

std::uint32_t take(const std::array<char, 8>& in, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word |= std::uint32_t{static_cast<unsigned char>(in[at + i])} << (8 * i);
  }
  return word;
}

std::unexpected<Error> no_tape(const std::filesystem::path& path) {
  return fail(ErrorCode::malformed, path.string() + " is no tape: it does not begin with \"lightloom tape 1\"");
}

bool has_magic(std::ifstream& file) {
  std::array<char, kMagic.size()> head{};
  file.read(head.data(), head.size());
  return file.gcount() == static_cast<std::streamsize>(head.size()) && std::string_view(head.data(), head.size()) == kMagic;
}

}  // namespace

Result<TapeWriter> TapeWriter::open(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const bool fresh = error || size == 0;
  if (!fresh) {
    std::ifstream existing(path, std::ios::binary);
    if (!has_magic(existing)) {
      return no_tape(path);
    }
  }
  std::ofstream file(path, std::ios::binary | std::ios::app);
  if (fresh) {
    file << kMagic << std::flush;
  }
  if (!file) {
    return fail(ErrorCode::storage, "tape " + path.string() + " cannot be written");
  }
  return TapeWriter(std::move(file));
}

void TapeWriter::write(std::string_view entry) {
  LOOM_ASSERT(entry.size() <= kEntryBytes);
  std::array<char, 8> frame{};
  put(frame, 0, static_cast<std::uint32_t>(entry.size()));
  put(frame, 4, crc_of(entry));
  file_.write(frame.data(), frame.size());
  file_.write(entry.data(), static_cast<std::streamsize>(entry.size()));
  file_.flush();  // to the kernel: what was heard before a kill -9 is there
}

Result<TapeReader> TapeReader::open(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found, "tape " + path.string() + " cannot be read");
  }
  if (!has_magic(file)) {
    return no_tape(path);
  }
  TapeReader reader(std::move(file));
  reader.offset_ = kMagic.size();
  std::error_code error;
  reader.size_ = std::filesystem::file_size(path, error);
  return reader;
}

std::optional<std::string> TapeReader::damaged(const std::string& why) {
  damage_ = "the entry at byte " + std::to_string(offset_) + " " + why + "; what is before it is sound";
  return std::nullopt;
}

std::optional<std::string> TapeReader::next() {
  if (!damage_.empty()) {
    return std::nullopt;
  }
  std::array<char, 8> frame{};
  file_.read(frame.data(), frame.size());
  if (file_.gcount() == 0) {
    return std::nullopt;
  }
  if (file_.gcount() != static_cast<std::streamsize>(frame.size())) {
    return damaged("is cut short in its head");
  }
  const std::uint32_t size = take(frame, 0);
  if (size > kEntryBytes) {
    return damaged("claims " + std::to_string(size) + " bytes, the limit is " + std::to_string(kEntryBytes));
  }
  const std::uint64_t rest = size_ - std::min(size_, offset_ + frame.size());
  if (size > rest) {
    return damaged("is cut short: " + std::to_string(rest) + " of " + std::to_string(size) + " bytes");
  }
  std::string entry(size, '\0');
  file_.read(entry.data(), static_cast<std::streamsize>(size));
  if (crc_of(entry) != take(frame, 4)) {
    return damaged("has another checksum than was written");
  }
  offset_ += frame.size() + size;
  ++number_;
  return entry;
}

Result<std::optional<TapeEntry>> TapeReader::next_entry() {
  const auto bytes = next();
  if (!bytes) {
    return std::optional<TapeEntry>{};
  }
  auto entry = decode_tape_entry(*bytes);
  if (!entry) {
    return fail(entry.error().code, "entry " + std::to_string(number_) + " of the tape: " + entry.error().message);
  }
  return std::optional<TapeEntry>{*std::move(entry)};
}

}  // namespace loom
