// SPDX-License-Identifier: Apache-2.0
// TapeFile: a tape on disk, in segments FILE, FILE.1, FILE.2 and so on: each a magic line, then entries, each with its length
// and CRC-32. Written with plain appends and never forced to the platter: a killed process loses nothing that it wrote, a
// crashed host its last moments. Every segment begins with the head of the incarnation that it belongs to, so each says by
// itself what it is; together they never take more room than they are given. It says how far a file can be believed; it knows
// nothing of what entries mean.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/journal/tape.hpp"
#include "core/limits.hpp"
#include "core/result.hpp"
#include "core/step.hpp"

namespace loom {

struct TapeOptions {
  std::filesystem::path path;
  std::uint64_t limit_bytes = 8ULL << 30;  ///< of all segments
  /// A segment that is longer is followed by the next one. At most an eighth of the limit counts.
  std::uint64_t segment_bytes = 256ULL << 20;
};

/// A file of a tape.
struct TapeSegment {
  std::uint64_t number = 0;  ///< 0: FILE itself
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

/// What there is of FILE, FILE.1, ..., ascending.
std::vector<TapeSegment> tape_segments(const std::filesystem::path& path);

class TapeWriter {
 public:
  /// A new incarnation, behind what there is. Segments of earlier incarnations go, oldest first, as room is needed; a segment
  /// that is cut short is left as it is. Errors: storage, malformed (a file is no tape).
  static Result<TapeWriter> open(TapeOptions options, TapeHead head);
  /// What a machine heard; `bytes` and `digest` as in TapedEvent.
  void record(Instant at, const Event& event, const std::vector<std::string>& bytes, std::uint64_t digest);
  /// One entry. Nothing more is written once there is trouble: what is there replays to its end.
  void write(std::string_view entry);
  /// Why nothing more is written: an entry did not fit on the disk, or this incarnation alone fills what it was given. Empty:
  /// it is.
  const std::string& trouble() const { return trouble_; }

 private:
  explicit TapeWriter(TapeOptions options, TapeHead head) : options_(std::move(options)), head_(std::move(head)) {}
  Result<void> begin_segment(std::uint64_t number);
  void make_room();
  void turn_over();
  void put(std::string_view entry);

  TapeOptions options_;
  TapeHead head_;                           ///< of the present segment
  std::deque<TapeSegment> segments_;        ///< the last one is written
  std::uint64_t first_of_incarnation_ = 0;  ///< number of the segment in which this incarnation begins
  std::uint64_t events_ = 0;                ///< of this incarnation
  std::ofstream file_;
  std::string trouble_;
};

class TapeReader {
 public:
  /// One segment. Errors: not_found, malformed (the file is no tape).
  static Result<TapeReader> open(const std::filesystem::path& path);
  /// The bytes of the next entry; nothing at the end or at the first damage.
  std::optional<std::string> next();
  /// The same, decoded. Errors: as decode_tape_entry, naming the entry.
  Result<std::optional<TapeEntry>> next_entry();
  /// What ended the reading, with its offset; empty: the whole segment is sound so far.
  const std::string& damage() const { return damage_; }

 private:
  explicit TapeReader(std::ifstream file) : file_(std::move(file)) {}
  std::optional<std::string> damaged(const std::string& why);

  std::ifstream file_;
  std::uint64_t offset_ = 0;  ///< of the entry that is read next
  std::uint64_t number_ = 0;  ///< of the entry that was read last, from 1
  std::uint64_t size_ = 0;    ///< of the file when it was opened
  std::string damage_;
};

/// All segments of a tape as one: incarnations from their beginnings, each as far as it is there without a gap.
class TapeSequence {
 public:
  /// Errors: not_found (no segment at all).
  static Result<TapeSequence> open(const std::filesystem::path& path);
  /// Heads of incarnations and their events. Errors: as TapeReader's, naming the file.
  Result<std::optional<TapeEntry>> next();
  /// Of all segments, empty: sound.
  const std::string& damage() const { return damage_; }
  /// Of incarnations whose beginning is gone.
  std::uint64_t skipped_events() const { return skipped_; }

 private:
  explicit TapeSequence(std::vector<TapeSegment> segments) : segments_(std::move(segments)) {}
  Result<std::optional<TapeEntry>> next_of_segment();
  bool follows(const TapeHead& head) const;

  std::vector<TapeSegment> segments_;
  std::size_t next_segment_ = 0;
  std::optional<TapeReader> reader_;
  bool in_incarnation_ = false;  ///< what comes can be replayed
  std::uint32_t part_ = 0;       ///< of the incarnation in hand
  std::uint64_t events_ = 0;     ///< of it, so far
  std::uint64_t skipped_ = 0;
  std::string damage_;
};

}  // namespace loom
