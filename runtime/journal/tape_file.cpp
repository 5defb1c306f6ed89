// SPDX-License-Identifier: Apache-2.0
// Frames: u32 length, u32 CRC-32 of the entry, the entry; numbers little-endian.
#include "runtime/journal/tape_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/text/format_text.hpp"
#include "proto/tape.hpp"
#include "runtime/process_limits.hpp"

namespace loom {
namespace {

constexpr std::string_view kMagic = "lightloom tape 1\n";

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

void put_word(std::array<char, 8>& out, std::size_t at, std::uint32_t word) {
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

std::filesystem::path segment_path(const std::filesystem::path& path, std::uint64_t number) {
  return number == 0 ? path : std::filesystem::path(format_text("{}.{}", path.string(), number));
}

/// "FILE.12" of FILE: 12. Nothing: another file.
std::optional<std::uint64_t> segment_number(const std::string& name, const std::string& first) {
  if (name == first) {
    return 0;
  }
  std::uint64_t number = 0;
  const char* begin = name.data() + std::min(name.size(), first.size() + 1);
  const char* end = name.data() + name.size();
  const bool is_number = name.starts_with(first + ".") && begin != end && *begin != '0' &&
                         std::from_chars(begin, end, number) == std::from_chars_result{end, std::errc{}};
  return is_number ? std::optional(number) : std::nullopt;
}

/// To its end, or not: somebody died while it was written.
Result<bool> is_sound(const std::filesystem::path& path) {
  auto reader = TapeReader::open(path);
  if (!reader) {
    return std::unexpected(reader.error());
  }
  while (reader->next()) {
  }
  return reader->damage().empty();
}

}  // namespace

std::vector<TapeSegment> tape_segments(const std::filesystem::path& path) {
  std::vector<TapeSegment> segments;
  std::error_code error;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (auto it = std::filesystem::directory_iterator(folder, error); !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    const auto number = segment_number(it->path().filename().string(), path.filename().string());
    std::error_code unread;
    const auto bytes = std::filesystem::file_size(it->path(), unread);
    if (number && !unread) {
      segments.push_back({*number, segment_path(path, *number), bytes});
    }
  }
  std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return segments;
}

// --- writing -------------------------------------------------------------------------------------------------------------

Result<TapeWriter> TapeWriter::open(TapeOptions options, TapeHead head) {
  options.segment_bytes = std::min(options.segment_bytes, options.limit_bytes / 8);
  TapeWriter writer(std::move(options), std::move(head));
  const auto there = tape_segments(writer.options_.path);
  writer.segments_.assign(there.begin(), there.end());
  std::uint64_t number = there.empty() ? 0 : there.back().number;
  if (!there.empty() && there.back().bytes > 0) {
    const auto sound = is_sound(there.back().path);
    if (!sound) {
      return std::unexpected(sound.error());
    }
    number += *sound && there.back().bytes < writer.options_.segment_bytes ? 0 : 1;
  }
  writer.first_of_incarnation_ = number;
  LOOM_TRY(writer.begin_segment(number));
  writer.make_room();
  return writer;
}

/// Opens it, new or to go on in it, and writes the incarnation's head.
Result<void> TapeWriter::begin_segment(std::uint64_t number) {
  if (segments_.empty() || segments_.back().number != number) {
    segments_.push_back({number, segment_path(options_.path, number), 0});
  }
  file_ = std::ofstream(segments_.back().path, std::ios::binary | std::ios::app);
  close_to_others(segments_.back().path);
  if (segments_.back().bytes == 0) {
    file_ << kMagic << std::flush;
    segments_.back().bytes = kMagic.size();
  }
  put(encode(head_));
  if (!file_) {
    return fail(ErrorCode::storage, format_text("tape {} cannot be written", segments_.back().path.string()));
  }
  return {};
}

/// Lives that are over make room for this one, oldest first.
void TapeWriter::make_room() {
  std::uint64_t bytes = 0;
  for (const TapeSegment& segment : segments_) {
    bytes += segment.bytes;
  }
  while (bytes + options_.segment_bytes > options_.limit_bytes && segments_.front().number < first_of_incarnation_) {
    std::error_code error;
    std::filesystem::remove(segments_.front().path, error);
    bytes -= segments_.front().bytes;
    segments_.pop_front();
  }
  if (bytes + options_.segment_bytes > options_.limit_bytes) {
    trouble_ = format_text(
        "the tape of this incarnation fills the {} bytes that it was given (--record-limit); what is there replays, what "
        "follows is not recorded until the next start",
        options_.limit_bytes);
  }
}

void TapeWriter::turn_over() {
  make_room();
  if (!trouble_.empty()) {
    return;
  }
  ++head_.part;
  head_.events_before = events_;
  if (const auto begun = begin_segment(segments_.back().number + 1); !begun) {
    trouble_ = begun.error().message;
  }
}

void TapeWriter::put(std::string_view entry) {
  std::array<char, 8> frame{};
  put_word(frame, 0, static_cast<std::uint32_t>(entry.size()));
  put_word(frame, 4, crc_of(entry));
  file_.write(frame.data(), frame.size());
  file_.write(entry.data(), static_cast<std::streamsize>(entry.size()));
  file_.flush();  // to the kernel: what was heard before a kill -9 is there
  segments_.back().bytes += frame.size() + entry.size();
}

void TapeWriter::write(std::string_view entry) {
  if (!trouble_.empty()) {
    return;
  }
  if (entry.size() > limits::kTapeEntryBytes) {
    trouble_ =
        format_text("an entry of the tape of {} bytes exceeds kTapeEntryBytes = {}", entry.size(), limits::kTapeEntryBytes);
    return;
  }
  if (segments_.back().bytes >= options_.segment_bytes) {
    turn_over();
  }
  if (!trouble_.empty()) {
    return;
  }
  put(entry);
  ++events_;
  if (!file_) {
    trouble_ = format_text("tape {} cannot be written any more: {}", segments_.back().path.string(), std::strerror(errno));
  }
}

void TapeWriter::record(Instant at, const Event& event, const std::vector<std::string>& bytes, std::uint64_t digest) {
  std::size_t sum = 0;
  for (const std::string& each : bytes) {
    sum += each.size();
  }
  if (sum > limits::kTapeEntryBytes) {
    trouble_ = trouble_.empty() ? format_text("an event of {} bytes exceeds kTapeEntryBytes = {}", sum, limits::kTapeEntryBytes)
                                : trouble_;
    return;
  }
  write(encode_taped(at, event, bytes, digest));
}

// --- reading -------------------------------------------------------------------------------------------------------------

Result<TapeReader> TapeReader::open(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found, format_text("tape {} cannot be read", path.string()));
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
  damage_ = format_text("the entry at byte {} {}; what is before it is sound", offset_, why);
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
  if (size > limits::kTapeEntryBytes) {
    return damaged(format_text("claims {} bytes, the limit is {}", size, limits::kTapeEntryBytes));
  }
  const std::uint64_t rest = size_ - std::min(size_, offset_ + frame.size());
  if (size > rest) {
    return damaged(format_text("is cut short: {} of {} bytes", rest, size));
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
    return fail(entry.error().code, format_text("entry {} of the tape: {}", number_, entry.error().message));
  }
  return std::optional<TapeEntry>{*std::move(entry)};
}

Result<TapeSequence> TapeSequence::open(const std::filesystem::path& path) {
  auto segments = tape_segments(path);
  if (segments.empty()) {
    return fail(ErrorCode::not_found, format_text("tape {} cannot be read", path.string()));
  }
  return TapeSequence(std::move(segments));
}

/// The next entry of whatever segment has one.
Result<std::optional<TapeEntry>> TapeSequence::next_of_segment() {
  while (reader_ || next_segment_ < segments_.size()) {
    const std::filesystem::path& path = segments_[reader_ ? next_segment_ - 1 : next_segment_].path;
    if (!reader_) {
      auto opened = TapeReader::open(path);
      if (!opened) {
        return std::unexpected(opened.error());
      }
      ++next_segment_;
      reader_ = std::move(*opened);
    }
    auto entry = reader_->next_entry();
    if (!entry) {
      return fail(entry.error().code, format_text("{}: {}", path.string(), entry.error().message));
    }
    if (*entry) {
      return entry;
    }
    if (!reader_->damage().empty()) {
      damage_ += format_text("{}{}: {}", damage_.empty() ? "" : "; ", path.string(), reader_->damage());
      in_incarnation_ = false;  // what comes next of it has a gap before it
    }
    reader_.reset();
  }
  return std::optional<TapeEntry>{};
}

/// Does this head go on with the incarnation in hand, with nothing missing between?
bool TapeSequence::follows(const TapeHead& head) const {
  return in_incarnation_ && head.part == part_ + 1 && head.events_before == events_;
}

Result<std::optional<TapeEntry>> TapeSequence::next() {
  while (true) {
    auto entry = next_of_segment();
    if (!entry || !*entry) {
      return entry;
    }
    const auto* head = std::get_if<TapeHead>(&**entry);
    if (head == nullptr) {
      ++(in_incarnation_ ? events_ : skipped_);
      if (in_incarnation_) {
        return entry;
      }
    } else if (head->part == 0) {
      in_incarnation_ = true;
      part_ = 0;
      events_ = 0;
      return entry;
    } else {
      in_incarnation_ = follows(*head);
      part_ = head->part;
    }
  }
}

}  // namespace loom
