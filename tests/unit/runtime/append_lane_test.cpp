// SPDX-License-Identifier: Apache-2.0
// A lane whose disk is slow: nobody waits, nothing is lost, and at most one text waits.
#include "runtime/append_lane.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <semaphore>

#include "tests/unit/runtime/journal_folder.hpp"

namespace loom::test {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_CASE("a lane takes no second text while the disk has the first", "[runtime]") {
  const Folder folder;
  const std::string path = folder.journal();
  std::binary_semaphore disk{0};
  std::string text = "one\n";
  {
    AppendLane lane(path);
    REQUIRE(lane.try_append(text, [&disk] { disk.acquire(); }));
    CHECK(text.empty());
    text = "two\n";
    CHECK_FALSE(lane.try_append(text));
    text += "three\n";
    CHECK_FALSE(lane.try_append(text));
    CHECK(text == "two\nthree\n");
    disk.release();
    lane.append(text);
    CHECK(text.empty());
  }
  CHECK(read(path) == "one\ntwo\nthree\n");
}

TEST_CASE("what a lane took is written before it ends, and after what was there", "[runtime]") {
  const Folder folder;
  const std::string path = folder.journal();
  std::ofstream(path) << "before\n";
  std::string seen;
  {
    AppendLane lane(path);
    std::string text = "after\n";
    REQUIRE(lane.try_append(text, [&] { seen = read(path); }));
  }
  CHECK(seen == "before\nafter\n");
}

TEST_CASE("a lane without a file goes on and calls nothing written", "[runtime]") {
  const Folder folder;
  std::atomic<bool> is_written = false;
  std::string text = "lost\n";
  {
    AppendLane lane(folder.journal() / "missing");
    lane.append(text, [&] { is_written = true; });
    text = "too\n";
    lane.append(text);
  }
  CHECK(text.empty());
  CHECK_FALSE(is_written);
}

}  // namespace
}  // namespace loom::test
