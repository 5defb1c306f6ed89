// TapeFile: a tape on disk: a magic line, then entries, each with its length and CRC-32. Written with plain appends and never
// forced to the platter: a killed process loses nothing that it wrote, a crashed host its last moments. It says how far a
// file can be believed; it knows nothing of what entries mean.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/tape.hpp"

namespace loom {

class TapeWriter {
 public:
  /// Goes on behind what the file has. Errors: storage, malformed (the file is no tape).
  static Result<TapeWriter> open(const std::filesystem::path& path);
  /// Once an entry did not fit on the disk, nothing more is written: see failed().
  void write(std::string_view entry);
  bool failed() const { return !file_; }

 private:
  explicit TapeWriter(std::ofstream file) : file_(std::move(file)) {}
  std::ofstream file_;
};

class TapeReader {
 public:
  /// Errors: not_found, malformed (the file is no tape).
  static Result<TapeReader> open(const std::filesystem::path& path);
  /// The bytes of the next entry; nothing at the end or at the first damage.
  std::optional<std::string> next();
  /// The same, decoded. Errors: as decode_tape_entry, naming the entry.
  Result<std::optional<TapeEntry>> next_entry();
  /// What ended the reading, with its offset; empty: the whole tape is sound so far.
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

}  // namespace loom
