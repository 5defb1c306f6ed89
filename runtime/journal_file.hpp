// JournalFile: append-only streams of opaque rows in one SQLite file (WAL, synchronous=FULL). Each row carries a CRC and a
// hash over its predecessor's, each stream its length, so a flipped bit, a lost tail and a swapped row are all noticed; a
// witness beside the database knows of rows that a damaged write-ahead log took along.
// Single-threaded; it blocks. It never deletes a row.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "runtime/journal_witness.hpp"
#include "runtime/seams.hpp"

struct sqlite3;

namespace loom {

struct JournalOptions {
  std::filesystem::path path;
  bool restore = false;  ///< move what follows the first damaged row aside and go on behind the sound prefix
  std::string restore_command = "start once with --restore-journal";  ///< what the damage sentence tells people to do
};

class JournalFile {
 public:
  using Contents = StorageSeam::Contents;

  struct Row {
    std::string_view stream;
    std::string_view bytes;
  };

  /// Creates what is missing but the directory. Errors: conflict (another process has it), wrong_version, storage.
  static Result<JournalFile> open(JournalOptions options);
  JournalFile(JournalFile&&) noexcept;
  JournalFile& operator=(JournalFile&&) = delete;
  ~JournalFile();

  /// The verified prefix. Damage is a sentence in `damage`, and then the stream takes no rows until it is restored.
  /// Errors: storage (SQLite cannot read the file at all).
  Result<Contents> load(std::string_view stream);

  /// All of them or none, durable when it returns. Errors: storage (full, damaged, or the disk failed once: then for good).
  Result<void> append(std::span<const Row> rows);

 private:
  using Hash = std::array<unsigned char, 32>;
  struct Head {
    std::uint64_t count = 0;
    Hash chain{};
    std::string damage;  ///< not empty: takes no rows
  };
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  using Database = std::unique_ptr<sqlite3, Closer>;

  JournalFile(JournalOptions options, Database database, int lock);
  Result<void> begin();
  static Hash next_chain(const Hash& previous, std::string_view stream, std::uint64_t number, std::string_view bytes);
  Result<Contents> verify(std::string_view stream, Head& head);
  Result<std::string> compare_with_recorded_head(std::string_view stream, const Head& head);
  std::string compare_with_witness(std::string_view stream, const Head& head) const;
  Result<void> move_aside(std::string_view stream, const Head& head);
  Result<Head*> head_of(std::string_view stream);
  Result<void> insert(const Row& row, Head& head);
  Result<void> record_head(std::string_view stream, const Head& head);
  Result<void> insert_all(std::span<const Row> rows, std::map<std::string, Head, std::less<>>& heads);
  Result<void> run(const char* sql);
  std::unexpected<Error> broken(std::string_view what);

  JournalOptions options_;
  Database database_;
  int lock_ = -1;
  JournalWitness witness_;  ///< in the lock file
  std::map<std::string, Head, std::less<>> heads_;
  std::string failed_;  ///< the disk failed: nothing more is believed
};

}  // namespace loom
