// SPDX-License-Identifier: Apache-2.0
// Every byte of a journal's file: one bit of it flipped, and the file cut there. Whatever that hits, the rows that are read are
// a prefix of what was written, and either all of them are there or something is said that names the file and the way back.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/journal/journal_file.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::string>;

class JournalFolder {
 public:
  /// In memory where that can be had: tens of thousands of opens, each of which syncs.
  JournalFolder()
      : path_((fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
              ("loom-offsets-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~JournalFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path journal() const { return path_ / "journal.sqlite"; }

  void write(const Rows& rows) const {
    auto file = JournalFile::open({.path = journal()});
    REQUIRE(file);
    for (const std::string& row : rows) {
      const JournalFile::Row one{"controller", row};
      REQUIRE(file->append({&one, 1}));
    }
  }
  std::string bytes() const {
    std::ifstream in(journal(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void replace(const std::string& bytes) const {
    for (const char* beside : {"-wal", "-shm"}) {
      fs::remove(journal().string() + beside);
    }
    std::ofstream(journal(), std::ios::binary | std::ios::trunc) << bytes;
  }

 private:
  fs::path path_;
};

const Rows& some_rows() {
  static const Rows rows{"marker-alpha", "marker-bravo", "marker-charl", "marker-delta", "marker-echoe"};
  return rows;
}

enum class Notice { nothing_lost, delivered };

/// Fails the test where rows are read that were not written, or fewer are read in silence.
Notice read_damaged(const JournalFolder& folder) {
  auto file = JournalFile::open({.path = folder.journal()});
  if (!file) {
    CHECK_THAT(file.error().message, Catch::Contains("journal.sqlite"));
    return Notice::delivered;
  }
  Rows rows;
  const auto loaded = file->load("controller", [&rows](std::uint64_t, std::string_view row) -> Result<void> {
    rows.emplace_back(row);
    return {};
  });
  if (!loaded) {
    CHECK_THAT(loaded.error().message, Catch::Contains("journal.sqlite"));
    return Notice::delivered;
  }
  REQUIRE(rows.size() <= some_rows().size());
  REQUIRE(std::equal(rows.begin(), rows.end(), some_rows().begin()));
  if (loaded->damage.empty()) {
    REQUIRE(rows.size() == some_rows().size());
    return Notice::nothing_lost;
  }
  REQUIRE_THAT(loaded->damage, Catch::Contains("row") || Catch::Contains("length"));
  REQUIRE_THAT(loaded->damage, Catch::Contains("--restore-journal"));
  return Notice::delivered;
}

}  // namespace

TEST_CASE("a_flipped_bit_at_every_offset_of_the_journals_file_is_noticed_or_hits_nothing") {
  const JournalFolder folder;
  folder.write(some_rows());
  const std::string sound = folder.bytes();
  REQUIRE(sound.size() >= 4096);
  std::size_t delivered = 0;
  for (std::size_t offset = 0; offset < sound.size(); ++offset) {
    INFO("offset " << offset << " of " << sound.size());
    std::string flipped = sound;
    flipped[offset] = static_cast<char>(flipped[offset] ^ (1 << offset % 8));
    folder.replace(flipped);
    delivered += read_damaged(folder) == Notice::delivered ? 1U : 0U;
  }
  CHECK(delivered > 5 * some_rows().front().size());  // every byte of every row at the least
}

TEST_CASE("a_journal_cut_at_every_offset_of_its_file_is_noticed_or_has_lost_nothing") {
  const JournalFolder folder;
  folder.write(some_rows());
  const std::string sound = folder.bytes();
  for (std::size_t length = 0; length < sound.size(); ++length) {
    INFO("cut to " << length << " of " << sound.size());
    folder.replace(sound.substr(0, length));
    (void)read_damaged(folder);  // the last page holds an empty table: a cut there loses nothing
  }
}

TEST_CASE("a_flipped_bit_anywhere_in_the_log_of_a_killed_process_loses_no_row_in_silence") {
  const JournalFolder folder;
  const fs::path living = folder.journal().string() + ".living";
  auto file = JournalFile::open({.path = living});  // stays open: a closed one has no write-ahead log any more
  REQUIRE(file);
  for (const std::string& row : some_rows()) {
    const JournalFile::Row one{"controller", row};
    REQUIRE(file->append({&one, 1}));
  }
  std::ifstream in(living.string() + "-wal", std::ios::binary);
  const std::string log{std::istreambuf_iterator<char>(in), {}};
  REQUIRE(log.size() > 4'096);
  std::size_t delivered = 0;
  for (std::size_t offset = 0; offset < log.size(); offset += offset < 64 ? 1 : 97) {  // its header whole, then a walk
    for (const char* beside : {"", ".lock"}) {
      fs::copy_file(living.string() + beside, folder.journal().string() + beside, fs::copy_options::overwrite_existing);
    }
    fs::remove(folder.journal().string() + "-shm");
    std::string damaged = log;
    damaged[offset] = static_cast<char>(damaged[offset] ^ (1 << offset % 8));
    std::ofstream(folder.journal().string() + "-wal", std::ios::binary | std::ios::trunc) << damaged;
    INFO("offset " << offset << " of " << log.size());
    delivered += read_damaged(folder) == Notice::delivered ? 1 : 0;
  }
  CHECK(delivered > 100);
}

}  // namespace loom
