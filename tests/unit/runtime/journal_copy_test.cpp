// SPDX-License-Identifier: Apache-2.0
// Backups: a copy of a journal that its owner goes on writing, proven, and a journal like any other when it is put in its
// place.
#include "runtime/journal/journal_copy.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/runtime/journal_folder.hpp"

namespace loom {

using namespace loom::test;

namespace {

namespace fs = std::filesystem;

Result<JournalCopy> copy(const Folder& from, const fs::path& to) {
  return copy_journal(from.journal(), to, [](std::string_view, std::uint64_t, std::string_view) -> Result<void> { return {}; });
}

void append(JournalFile& file, std::string_view bytes, StorageSeam::RowKind kind = kAddition,
            std::string_view stream = "controller") {
  const JournalFile::Row one{stream, bytes, kind};
  REQUIRE(file.append({&one, 1}).has_value());
}

/// In a folder of its own, as a restored state folder has it.
struct Restored {
  Folder folder;

  explicit Restored(const fs::path& backup) { fs::copy_file(backup, folder.journal()); }
};

}  // namespace

TEST_CASE("a_copy_of_an_open_journal_has_every_row_that_was_answered_and_goes_on_as_a_journal") {
  const Folder folder;
  JournalFile owner = open_journal(folder);
  append(owner, "one");
  append(owner, "all", StorageSeam::RowKind::snapshot);
  append(owner, "three");
  append(owner, "latch", kAddition, "node-0");
  const fs::path backup = folder.journal().string() + ".backup";
  const auto made = copy(folder, backup);
  REQUIRE(made.has_value());
  append(owner, "later");
  REQUIRE(made->streams.size() == 2);
  CHECK(made->streams[0].name == "controller");
  CHECK(made->streams[0].rows == 2);
  CHECK(made->streams[0].last == 3);
  CHECK(made->rows() == 3);
  CHECK(made->bytes == fs::file_size(backup));
  struct stat status{};
  REQUIRE(stat(backup.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK_FALSE(fs::exists(backup.string() + kCopyDraft));
  CHECK_FALSE(fs::exists(backup.string() + "-wal"));
  const Restored restored(backup);
  CHECK(read(restored.folder).rows == Rows{"all", "three"});
  CHECK(read(restored.folder).damage.empty());
  CHECK(read(restored.folder, "node-0").rows == Rows{"latch"});
  write(restored.folder, {"four"});
  CHECK(read(restored.folder).rows == Rows{"all", "three", "four"});
  CHECK(load(owner).rows == Rows{"all", "three", "later"});
}

TEST_CASE("a_journal_that_nobody_has_open_is_copied_too_and_left_as_it_was") {
  const Folder folder;
  write(folder, {"one", "two"});
  const fs::path backup = folder.journal().string() + ".backup";
  REQUIRE(copy(folder, backup).has_value());
  REQUIRE(copy(folder, backup).has_value());  // again, over it
  CHECK(read(Restored(backup).folder).rows == Rows{"one", "two"});
  CHECK(read(folder).rows == Rows{"one", "two"});
}

TEST_CASE("a_damaged_journal_leaves_no_copy_and_says_which_row") {
  const Folder folder;
  write(folder, {"one", "two", "three"});
  tamper(folder, "UPDATE journal SET bytes = x'00' WHERE number = 2");
  const fs::path backup = folder.journal().string() + ".backup";
  const auto made = copy(folder, backup);
  REQUIRE_FALSE(made.has_value());
  CHECK_THAT(made.error().message, Catch::Contains("row 2 fails its checksum") && Catch::Contains("controller"));
  CHECK_FALSE(fs::exists(backup));
  CHECK_FALSE(fs::exists(backup.string() + kCopyDraft));
}

TEST_CASE("a_copy_that_its_reader_cannot_use_is_none") {
  const Folder folder;
  write(folder, {"one"});
  const fs::path backup = folder.journal().string() + ".backup";
  const auto made =
      copy_journal(folder.journal(), backup, [](std::string_view, std::uint64_t, std::string_view) -> Result<void> {
        return fail(ErrorCode::malformed, "no record");
      });
  REQUIRE_FALSE(made.has_value());
  CHECK_THAT(made.error().message, Catch::Contains("row 1 cannot be used: no record"));
  CHECK_FALSE(fs::exists(backup));
}

TEST_CASE("what_is_not_there_or_no_journal_is_not_copied") {
  const Folder folder;
  const fs::path backup = folder.journal().string() + ".backup";
  CHECK(copy(folder, backup).error().code == ErrorCode::not_found);
  std::ofstream(folder.journal()) << std::string(8'192, 'x');
  CHECK_THAT(copy(folder, backup).error().message, Catch::Contains("not a database"));
  CHECK_FALSE(fs::exists(backup));
}

}  // namespace loom
