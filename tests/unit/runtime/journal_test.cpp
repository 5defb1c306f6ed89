// SPDX-License-Identifier: Apache-2.0
// The journal on a real disk: what was written is read, and whatever was done to the file behind its back is noticed.
#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/limits.hpp"
#include "runtime/journal/sqlite_store.hpp"
#include "tests/unit/runtime/journal_folder.hpp"

namespace loom {

using namespace loom::test;

namespace {

Rows five_rows() { return {"one", "two", std::string(3, '\0'), "", "five"}; }

Rows prefix_of(const Rows& rows, std::size_t count) {
  return {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

TEST_CASE("reads_back_what_it_wrote_and_continues_the_chain_after_reopening") {
  const Folder folder;
  write(folder, five_rows());
  CHECK(read(folder).rows == five_rows());
  write(folder, {"six"});
  Rows six = five_rows();
  six.push_back("six");
  CHECK(read(folder).rows == six);
  CHECK(read(folder).damage.empty());
}

TEST_CASE("streams_of_one_file_do_not_see_each_other") {
  const Folder folder;
  write(folder, {"a1", "a2"}, "node1");
  write(folder, {"b1"}, "node2");
  CHECK(read(folder, "node1").rows == Rows{"a1", "a2"});
  CHECK(read(folder, "node2").rows == Rows{"b1"});
  CHECK(read(folder, "node3").rows.empty());
  CHECK(read(folder, "node3").damage.empty());
}

TEST_CASE("its_size_is_of_the_rows_that_are_in_it_and_of_what_lies_on_disk") {
  const Folder folder;
  write(folder, {"a1", "a2"}, "node1");
  JournalFile file = open_journal(folder);
  load(file, "node1");
  CHECK(file.size().rows == 2);
  const std::uint64_t before = file.size().bytes;
  CHECK(before >= std::filesystem::file_size(folder.journal()));
  const std::string large(100'000, 'x');
  const JournalFile::Row row{"node2", large};
  REQUIRE(file.append({&row, 1}).has_value());
  CHECK(file.size().rows == 3);
  CHECK(file.size().bytes >= before + large.size());
  const JournalFile::Row snapshot{"node1", "all", StorageSeam::RowKind::snapshot};
  REQUIRE(file.append({&snapshot, 1}).has_value());
  CHECK(file.size().rows == 2);  // it stands for what was before it
}

TEST_CASE("a_store_knows_its_size_without_waiting_for_its_disk") {
  const Folder folder;
  HandLoop loop;
  auto store = SqliteStore::open({.path = folder.journal()}, loop.post());
  REQUIRE(store.has_value());
  StorageSeam& stream = (*store)->stream("controller");
  load(stream);
  CHECK((*store)->size().rows == 0);
  CHECK((*store)->size().bytes > 0);
  bool durable = false;
  stream.append("one", kAddition, [&](const Result<void>& done) { durable = done.has_value(); });
  loop.run(1);
  CHECK(durable);
  CHECK((*store)->size().rows == 1);
}

TEST_CASE("notices_a_lost_tail_at_every_length") {
  for (std::size_t kept = 0; kept < 5; ++kept) {
    const Folder folder;
    write(folder, five_rows());
    tamper(folder, "DELETE FROM journal WHERE number > " + std::to_string(kept));
    const auto contents = read(folder);
    CHECK(contents.rows == prefix_of(five_rows(), kept));
    CHECK_THAT(contents.damage, Catch::Contains("row " + std::to_string(kept + 1) + " of 5 is missing"));
    CHECK_THAT(contents.damage, Catch::Contains("--restore-journal"));
  }
}

TEST_CASE("notices_a_hole_at_every_row") {
  for (std::size_t row = 1; row <= 5; ++row) {
    const Folder folder;
    write(folder, five_rows());
    tamper(folder, "DELETE FROM journal WHERE number = " + std::to_string(row));
    const auto contents = read(folder);
    CHECK(contents.rows == prefix_of(five_rows(), row - 1));
    CHECK_THAT(contents.damage, Catch::Contains("row " + std::to_string(row)));
  }
}

TEST_CASE("notices_a_changed_byte_at_every_row") {
  for (std::size_t row = 1; row <= 5; ++row) {
    const Folder folder;
    write(folder, five_rows());
    tamper(folder, "UPDATE journal SET bytes = CAST(bytes || x'01' AS BLOB) WHERE number = " + std::to_string(row));
    const auto contents = read(folder);
    CHECK(contents.rows == prefix_of(five_rows(), row - 1));
    CHECK_THAT(contents.damage, Catch::Contains("row " + std::to_string(row) + " fails its checksum"));
  }
}

TEST_CASE("notices_a_row_from_elsewhere_even_if_its_checksum_is_right") {
  for (std::size_t row = 1; row <= 5; ++row) {
    const Folder folder;
    write(folder, five_rows());
    write(folder, {"x1", "x2", "x3", "x4", "x5"}, "other");
    tamper(folder,
           "UPDATE journal SET (bytes, crc, chain) = (SELECT bytes, crc, chain FROM journal AS o WHERE o.stream = 'other' AND "
           "o.number = journal.number) WHERE stream = 'controller' AND number = " +
               std::to_string(row));
    const auto contents = read(folder);
    CHECK(contents.rows == prefix_of(five_rows(), row - 1));
    CHECK_THAT(contents.damage, Catch::Contains("row " + std::to_string(row) + " does not continue"));
  }
}

TEST_CASE("notices_every_flipped_bit_of_every_row_in_the_file_itself") {
  const Rows rows{"marker-alpha", "marker-bravo", "marker-charl"};
  const Folder folder;
  write(folder, rows);
  std::ifstream in(folder.journal(), std::ios::binary);
  const std::string sound{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t place = sound.find(rows[row]);
    REQUIRE(place != std::string::npos);
    for (std::size_t bit = 0; bit < 8 * rows[row].size(); ++bit) {
      std::string flipped = sound;
      flipped[place + bit / 8] = static_cast<char>(flipped[place + bit / 8] ^ (1 << bit % 8));
      std::ofstream(folder.journal(), std::ios::binary | std::ios::trunc) << flipped;
      const auto contents = read(folder);
      CHECK(contents.rows == prefix_of(rows, row));
      CHECK_FALSE(contents.damage.empty());
    }
  }
}

TEST_CASE("notices_a_file_cut_anywhere") {
  const Folder folder;
  Rows rows;
  for (int i = 0; i < 100; ++i) {
    rows.push_back(std::string(500, static_cast<char>('a' + i % 26)));
  }
  write(folder, rows);
  std::ifstream in(folder.journal(), std::ios::binary);
  const std::string sound{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t length = 0; length < sound.size(); length += 4096) {
    std::ofstream(folder.journal(), std::ios::binary | std::ios::trunc) << sound.substr(0, length);
    auto file = JournalFile::open({.path = folder.journal()});
    if (!file) {
      CHECK(file.error().code == ErrorCode::storage);
      continue;
    }
    const auto loaded = file->load("controller", [](std::uint64_t, std::string_view) -> Result<void> { return {}; });
    CHECK((!loaded.has_value() || !loaded->damage.empty()));
  }
}

TEST_CASE("a_damaged_stream_takes_no_rows_until_it_is_restored") {
  const Folder folder;
  write(folder, five_rows());
  write(folder, {"sound"}, "other");
  tamper(folder, "UPDATE journal SET bytes = x'00' WHERE stream = 'controller' AND number = 3");
  const JournalFile::Row more{"controller", "more"};
  {
    JournalFile file = open_journal(folder);
    CHECK_FALSE(load(file).damage.empty());
    const auto refused = file.append({&more, 1});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::storage);
    CHECK_THAT(refused.error().message, Catch::Contains("row 3") && Catch::Contains("--restore-journal"));
    const JournalFile::Row other{"other", "still sound"};
    CHECK(file.append({&other, 1}).has_value());
  }
  {
    JournalFile file = open_journal(folder, true);
    CHECK_THAT(load(file).damage, Catch::Contains("moved aside"));
    CHECK(file.append({&more, 1}).has_value());
  }
  const auto contents = read(folder);
  CHECK(contents.rows == Rows{"one", "two", "more"});
  CHECK(contents.damage.empty());
  tamper(folder, "DELETE FROM moved_aside WHERE number IN (3, 4, 5)");  // fails unless they are there
}

TEST_CASE("a_group_of_rows_is_written_as_one_or_not_at_all") {
  const Folder folder;
  {
    JournalFile file = open_journal(folder);
    const std::string too_long(limits::kRecordBytes + 1, 'x');
    const std::vector<JournalFile::Row> rows{{"controller", "first"}, {"controller", too_long}};
    CHECK_FALSE(file.append(rows).has_value());
    const std::vector<JournalFile::Row> good{{"controller", "a"}, {"other", "b"}, {"controller", "c"}};
    CHECK(file.append(good).has_value());
  }
  CHECK(read(folder).rows == Rows{"a", "c"});
  CHECK(read(folder, "other").rows == Rows{"b"});
}

TEST_CASE("only_one_process_has_a_journal") {
  const Folder folder;
  {
    const JournalFile first = open_journal(folder);
    const auto second = JournalFile::open({.path = folder.journal()});
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == ErrorCode::conflict);
  }
  CHECK(JournalFile::open({.path = folder.journal()}).has_value());
}

TEST_CASE("an_open_that_fails_says_which_file_and_why") {
  const Folder folder;
  const auto nowhere = JournalFile::open({.path = folder.journal() / "deeper"});
  REQUIRE_FALSE(nowhere.has_value());
  CHECK_THAT(nowhere.error().message, Catch::Contains("deeper"));
  std::ofstream(folder.journal()) << std::string(8192, 'x');
  const auto foreign = JournalFile::open({.path = folder.journal()});
  REQUIRE_FALSE(foreign.has_value());
  CHECK(foreign.error().code == ErrorCode::storage);
  CHECK_THAT(foreign.error().message, Catch::Contains("not a database"));
}

TEST_CASE("a_journal_of_another_schema_is_refused") {
  const Folder folder;
  write(folder, {"one"});
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(folder.journal().c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, "PRAGMA user_version = 9", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  const auto file = JournalFile::open({.path = folder.journal()});
  REQUIRE_FALSE(file.has_value());
  CHECK(file.error().code == ErrorCode::wrong_version);
}

// --- the store with its writer thread ------------------------------------------------------------------------------------

TEST_CASE("answers_appends_in_order_and_only_when_they_are_durable") {
  const Folder folder;
  HandLoop loop;
  std::vector<int> answered;
  {
    auto store = SqliteStore::open({.path = folder.journal()}, loop.post());
    REQUIRE(store.has_value());
    StorageSeam& stream = (*store)->stream("controller");
    CHECK(&stream == &(*store)->stream("controller"));
    CHECK(load(stream).rows.empty());
    for (int i = 0; i < 200; ++i) {
      stream.append("row " + std::to_string(i), kAddition, [&answered, i](const Result<void>& result) {
        CHECK(result.has_value());
        answered.push_back(i);
      });
    }
    CHECK(answered.empty());  // never from inside append
    loop.run(200);
  }
  REQUIRE(answered.size() == 200);
  CHECK(std::is_sorted(answered.begin(), answered.end()));
  CHECK(read(folder).rows.size() == 200);
}

TEST_CASE("writes_what_waits_before_it_closes") {
  const Folder folder;
  HandLoop loop;
  {
    auto store = SqliteStore::open({.path = folder.journal()}, loop.post());
    REQUIRE(store.has_value());
    for (int i = 0; i < 20; ++i) {
      (*store)->stream("controller").append("row", kAddition, [](const Result<void>&) {});
    }
  }
  CHECK(read(folder).rows.size() == 20);
}

TEST_CASE("one_streams_damage_does_not_fail_anothers_appends") {
  const Folder folder;
  write(folder, {"one"}, "bad");
  tamper(folder, "DELETE FROM journal");
  HandLoop loop;
  auto store = SqliteStore::open({.path = folder.journal()}, loop.post());
  REQUIRE(store.has_value());
  int good = 0;
  int bad = 0;
  for (int i = 0; i < 10; ++i) {
    (*store)->stream("good").append("row", kAddition,
                                    [&good](const Result<void>& result) { good += result.has_value() ? 1 : 0; });
    (*store)->stream("bad").append("row", kAddition, [&bad](const Result<void>& result) { bad += result.has_value() ? 0 : 1; });
  }
  loop.run(20);
  CHECK(good == 10);
  CHECK(bad == 10);
}

TEST_CASE("what_is_durable_is_a_prefix_of_what_was_appended") {
  const Folder folder;
  HandLoop loop;
  std::vector<bool> answers;
  auto store = SqliteStore::open({.path = folder.journal()}, loop.post());
  REQUIRE(store.has_value());
  StorageSeam& stream = (*store)->stream("controller");
  const auto keep = [&answers](const Result<void>& result) { answers.push_back(result.has_value()); };
  stream.append("one", kAddition, keep);
  stream.append(std::string(limits::kRecordBytes + 1, 'x'), kAddition, keep);
  stream.append("three", kAddition, keep);
  loop.run(3);
  CHECK(answers == std::vector<bool>{true, false, false});
  CHECK(load(stream).rows == Rows{"one"});
  stream.append("two", kAddition, keep);
  loop.run(1);
  CHECK(answers.back());
}

}  // namespace loom
