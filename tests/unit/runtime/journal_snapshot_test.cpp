// SPDX-License-Identifier: Apache-2.0
// Snapshots in a journal: what leaves the file and what stays, that the chain goes on over them, and that a process killed or a
// power cut anywhere leaves the old rows or the new ones. Also what an answered append is worth when the power goes.
#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/limits.hpp"
#include "proto/codec.hpp"
#include "runtime/journal/sqlite_store.hpp"
#include "tests/unit/runtime/journal_folder.hpp"
#include "tests/unit/runtime/watched_vfs.hpp"

namespace loom {

using namespace loom::test;

namespace {

namespace fs = std::filesystem;

constexpr auto kSnapshot = StorageSeam::RowKind::snapshot;

void append(JournalFile& file, std::string_view bytes, StorageSeam::RowKind kind = kAddition,
            std::string_view stream = "controller") {
  const JournalFile::Row one{stream, bytes, kind};
  REQUIRE(file.append({&one, 1}).has_value());
}

/// Rows 1 to 3, a snapshot as row 4, and row 5 behind it.
void write_segment(const Folder& folder) {
  write(folder, {"one", "two", "three"});
  JournalFile file = open_journal(folder);
  append(file, "all", kSnapshot);
  append(file, "five");
}

std::uintmax_t bytes_in(const Folder& folder) { return fs::file_size(folder.journal()); }

/// As `cp` of a stopped or killed process' files.
void copy_files(const Folder& from, const Folder& to) {
  for (const char* beside : {"", "-wal", ".lock"}) {
    const fs::path path = from.journal().string() + beside;
    const fs::path copy = to.journal().string() + beside;
    fs::remove(copy);
    if (fs::exists(path)) {
      fs::copy_file(path, copy);
    }
  }
  fs::remove(to.journal().string() + "-shm");
}

}  // namespace

TEST_CASE("a_snapshot_takes_the_place_of_the_rows_before_it_and_the_chain_goes_on") {
  const Folder folder;
  write_segment(folder);
  const auto contents = read(folder);
  CHECK(contents.rows == Rows{"all", "five"});
  CHECK(contents.first == 4);
  CHECK(contents.damage.empty());
  write(folder, {"six"});
  CHECK(read(folder).rows == Rows{"all", "five", "six"});
  {
    JournalFile file = open_journal(folder);
    append(file, "all of it", kSnapshot);
  }
  CHECK(read(folder).rows == Rows{"all of it"});
  CHECK(read(folder).first == 7);
}

TEST_CASE("a_snapshot_drops_no_row_of_another_stream") {
  const Folder folder;
  write(folder, {"a1", "a2"}, "node1");
  write_segment(folder);
  CHECK(read(folder, "node1").rows == Rows{"a1", "a2"});
  CHECK(read(folder).rows == Rows{"all", "five"});
}

TEST_CASE("rows_and_a_snapshot_of_one_group_are_written_as_one") {
  const Folder folder;
  JournalFile file = open_journal(folder);
  const std::vector<JournalFile::Row> group{
      {"controller", "one"}, {"controller", "all", kSnapshot}, {"other", "x"}, {"controller", "three"}};
  REQUIRE(file.append(group).has_value());
  CHECK(load(file).rows == Rows{"all", "three"});
  CHECK(load(file, "other").rows == Rows{"x"});
}

TEST_CASE("what_was_done_to_a_segment_behind_its_back_is_noticed") {
  const auto damage_after = [](const std::string& sql) {
    const Folder folder;
    write_segment(folder);
    tamper(folder, sql);
    const auto contents = read(folder);
    CHECK(contents.rows.size() < 2);
    return contents.damage;
  };
  CHECK_THAT(damage_after("DELETE FROM journal WHERE number = 4"), Catch::Contains("row 4 is missing"));
  CHECK_THAT(damage_after("DELETE FROM journal WHERE number = 5"), Catch::Contains("row 5 of 5 is missing"));
  CHECK_THAT(damage_after("UPDATE journal SET bytes = x'00' WHERE number = 4"), Catch::Contains("row 4 fails its checksum"));
  CHECK_THAT(damage_after("UPDATE head SET base = 2"), Catch::Contains("row 3 is missing"));
  CHECK_THAT(damage_after("UPDATE head SET base_chain = zeroblob(32)"), Catch::Contains("row 4 does not continue"));
  CHECK_THAT(damage_after("DELETE FROM head"), Catch::Contains("row 1 is missing"));
  CHECK_THAT(damage_after("UPDATE journal SET number = number - 3"), Catch::Contains("row 4 is missing"));
}

TEST_CASE("a_lost_snapshot_names_the_backup_and_what_is_restored_without_one_begins_anew") {
  const Folder folder;
  write_segment(folder);
  tamper(folder, "UPDATE journal SET bytes = x'00' WHERE number = 4");
  CHECK_THAT(read(folder).damage, Catch::Contains("loom backup"));
  {
    JournalFile file = open_journal(folder, true);
    CHECK_THAT(load(file).damage, Catch::Contains("moved aside"));
    append(file, "anew");
  }
  const auto contents = read(folder);
  CHECK(contents.rows == Rows{"anew"});
  CHECK(contents.first == 1);
  CHECK(contents.damage.empty());
}

TEST_CASE("an_older_file_under_a_witness_of_a_newer_one_is_noticed_over_snapshots") {
  const Folder folder;
  const Folder older;
  write_segment(folder);
  copy_files(folder, older);
  {
    JournalFile file = open_journal(folder);
    append(file, "six");
    append(file, "all of it", kSnapshot);
  }
  fs::copy_file(older.journal(), folder.journal(), fs::copy_options::overwrite_existing);
  const auto contents = read(folder);
  CHECK(contents.rows == Rows{"all", "five"});
  CHECK_THAT(contents.damage, Catch::Contains("row 6 of 7 was durable and is gone"));
}

TEST_CASE("a_file_that_snapshots_keep_short_does_not_grow") {
  const Folder folder;
  const std::string row(100'000, 'x');
  JournalFile file = open_journal(folder);
  const auto fill = [&] {
    for (int i = 0; i < 50; ++i) {
      append(file, row);
    }
    append(file, row, kSnapshot);
  };
  fill();
  fill();
  const std::uintmax_t before = bytes_in(folder);
  for (int round = 0; round < 10; ++round) {
    fill();
  }
  CHECK(bytes_in(folder) <= before + before / 4);
  CHECK(load(file).rows == Rows{row});
}

TEST_CASE("a_file_that_was_long_gives_its_space_back") {
  const Folder folder;
  {
    JournalFile file = open_journal(folder);
    const std::string row(10u << 20, 'x');
    for (int i = 0; i < 12; ++i) {
      append(file, row);
    }
    append(file, "all", kSnapshot);
  }
  CHECK(bytes_in(folder) < 80u << 20);
  CHECK(read(folder).rows == Rows{"all"});
}

TEST_CASE("a_journal_of_the_first_version_is_read_and_goes_on") {
  const Folder folder;
  write(folder, {"one", "two"});
  tamper(folder,
         "CREATE TABLE old (stream TEXT PRIMARY KEY, count INTEGER NOT NULL, chain BLOB NOT NULL) STRICT, WITHOUT ROWID;"
         "INSERT INTO old SELECT stream, count, chain FROM head; DROP TABLE head; ALTER TABLE old RENAME TO head;"
         "PRAGMA user_version = 1");
  {
    JournalFile file = open_journal(folder);
    CHECK(load(file).rows == Rows{"one", "two"});
    append(file, "all", kSnapshot);
  }
  CHECK(read(folder).rows == Rows{"all"});
  CHECK(read(folder).damage.empty());
}

// --- rows that are sound and of no use -----------------------------------------------------------------------------------

namespace {

/// As the Host reads: every row has to decode.
Result<void> decode(std::uint64_t, std::string_view row) {
  const auto record = decode_record(row);
  return record ? Result<void>{} : std::unexpected(record.error());
}

}  // namespace

TEST_CASE("a_sound_row_that_its_reader_cannot_use_is_damage_and_nothing_is_written_behind_it") {
  const Folder folder;
  const std::string term = encode(Record{TermRecord{Term{4}}});
  write(folder, {term, "\xff\xff no record", term});
  const JournalFile::Row more{"controller", term};
  {
    JournalFile file = open_journal(folder);
    const auto loaded = file.load("controller", decode);
    REQUIRE(loaded.has_value());
    CHECK(loaded->rows == 1);
    CHECK_THAT(loaded->damage, Catch::Contains("stream 'controller'") && Catch::Contains("row 2 cannot be used") &&
                                   Catch::Contains("no protobuf message") && Catch::Contains("--restore-journal"));
    const auto refused = file.append({&more, 1});
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error().message, Catch::Contains("row 2 cannot be used"));
    CHECK_THAT(refused.error().next_command, Catch::Contains("--restore-journal"));
  }
  {
    JournalFile file = open_journal(folder, true);
    const auto loaded = file.load("controller", decode);
    REQUIRE(loaded.has_value());
    CHECK_THAT(loaded->damage, Catch::Contains("moved aside"));
    CHECK(file.append({&more, 1}).has_value());
  }
  CHECK(read(folder).rows == Rows{term, term});
  CHECK(read(folder).damage.empty());
  tamper(folder, "DELETE FROM moved_aside WHERE number IN (2, 3)");  // fails unless they are there
}

TEST_CASE("a_row_of_a_newer_version_says_so") {
  CHECK_THAT(decode(1, std::string{"\x08\x63\x12\x00", 4}).error().message, Catch::Contains("a newer version"));
  // Record{wire_version_number: 3, field 15: {}}
  std::string unknown = encode(Record{TermRecord{Term{4}}}).substr(0, 2);
  unknown += std::string{"\x7a\x00", 2};
  CHECK_THAT(decode(1, unknown).error().message, Catch::Contains("a newer version wrote it"));
  CHECK_THAT(decode(1, unknown.substr(0, 2)).error().message, Catch::Contains("record: is missing"));
}

// --- kills and power cuts ------------------------------------------------------------------------------------------------

TEST_CASE("an_answered_append_survives_a_power_cut_at_that_instant") {
  const Folder folder;
  const WatchedVfs vfs;
  JournalFile file = open_journal(folder);
  Rows answered;
  for (int i = 0; i < 20; ++i) {
    const bool is_snapshot = i % 7 == 6;
    answered.push_back("row " + std::to_string(i));
    const int syncs = vfs.syncs();
    append(file, answered.back(), is_snapshot ? kSnapshot : kAddition);
    CHECK(vfs.syncs() > syncs);
    if (is_snapshot) {
      answered = {answered.back()};
    }
    const Folder after;
    vfs.cut_power(folder.journal().parent_path(), after.journal().parent_path());
    INFO("after row " << i);
    REQUIRE(read(after).rows == answered);
    REQUIRE(read(after).damage.empty());
  }
}

TEST_CASE("a_process_killed_anywhere_in_a_snapshot_leaves_the_old_rows_or_the_new") {
  const Folder folder;
  const Rows old{std::string(9'000, 'a'), std::string(9'000, 'b'), std::string(9'000, 'c')};
  const std::string all(20'000, 'S');
  WatchedVfs vfs;
  write(folder, old);
  int looks = 0;
  int old_rows = 0;
  int new_rows = 0;
  const auto judge = [&](const Folder& after) {
    const auto contents = read(after);
    REQUIRE(contents.damage.empty());
    const bool is_old = contents.rows == old;
    REQUIRE((is_old || contents.rows == Rows{all}));
    ++(is_old ? old_rows : new_rows);
  };
  {
    JournalFile file = open_journal(folder);
    std::vector<std::unique_ptr<Folder>> kept;
    const auto look = [&] {
      ++looks;
      copy_files(folder, *kept.emplace_back(std::make_unique<Folder>()));
      vfs.cut_power(folder.journal().parent_path(), kept.emplace_back(std::make_unique<Folder>())->journal().parent_path());
    };
    CHECK(load(file).rows == old);
    vfs.on_change(look);
    append(file, all, kSnapshot);
    look();
    vfs.on_change({});
    for (const auto& after : kept) {
      judge(*after);
    }
  }
  CHECK(looks > 5);
  CHECK(old_rows > 0);
  CHECK(new_rows > 0);
}

TEST_CASE("a_refused_snapshot_ends_nothing_and_a_refused_row_does") {
  const Folder folder;
  HandLoop loop;
  std::vector<bool> answers;
  const auto keep = [&answers](const Result<void>& result) { answers.push_back(result.has_value()); };
  auto store = SqliteStore::open({.path = folder.journal()}, loop.post());
  REQUIRE(store.has_value());
  StorageSeam& stream = (*store)->stream("controller");
  stream.append("one", kAddition, keep);
  stream.append(std::string(limits::kRecordBytes + 1, 'x'), kSnapshot, keep);
  stream.append("two", kAddition, keep);
  stream.append(std::string(limits::kRecordBytes + 1, 'x'), kAddition, keep);
  stream.append("three", kAddition, keep);
  loop.run(5);
  CHECK(answers == std::vector<bool>{true, false, true, false, false});
  CHECK(load(stream).rows == Rows{"one", "two"});
}

TEST_CASE("a_full_disk_says_what_to_free_and_what_to_start_and_takes_rows_when_it_has_room") {
  const Folder folder;
  WatchedVfs vfs;
  auto file = JournalFile::open({.path = folder.journal(), .start_command = "start lightloomd again"});
  REQUIRE(file.has_value());
  append(*file, "one");
  vfs.fail_writes(SQLITE_FULL);
  const JournalFile::Row row{"controller", "two"};
  const auto refused = file->append({&row, 1});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::storage);
  CHECK_THAT(refused.error().message, Catch::Contains(folder.journal().string()) && Catch::Contains("full") &&
                                          Catch::Contains("free space on the disk of") &&
                                          Catch::Contains("start lightloomd again"));
  CHECK(refused.error().next_command == "df -h " + folder.journal().parent_path().string());
  vfs.fail_writes(SQLITE_OK);
  append(*file, "two");
  CHECK(load(*file).rows == Rows{"one", "two"});
}

TEST_CASE("after_a_failed_write_nothing_is_believed_but_what_a_new_life_reads") {
  const Folder folder;
  WatchedVfs vfs;
  {
    JournalFile file = open_journal(folder);
    append(file, "one");
    vfs.fail_writes(SQLITE_IOERR_WRITE);
    const JournalFile::Row row{"controller", "two"};
    const auto refused = file.append({&row, 1});
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error().message, Catch::Contains("disk I/O error") && Catch::Contains("start it again"));
    vfs.fail_writes(SQLITE_OK);
    CHECK(file.append({&row, 1}).error().message == refused.error().message);
  }
  CHECK(read(folder).rows == Rows{"one"});
}

}  // namespace loom
