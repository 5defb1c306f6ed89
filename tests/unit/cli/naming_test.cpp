// SPDX-License-Identifier: Apache-2.0
// Names where numbers are taken, and tables on narrow terminals.
#include <catch2/catch.hpp>

#include <sstream>

#include "cli/naming.hpp"
#include "cli/render/term.hpp"

namespace loom::cli {
namespace {

TEST_CASE("a name stands for the one row that has it") {
  const std::vector<NamedRow> rows{{0, "node-0"}, {1, "node-1"}, {2, "node-2"}};
  CHECK(pick("node", "node-1", rows) == 1);
  const auto missing = pick("node", "nodee-1", rows);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().message == "there is no node 'nodee-1'; did you mean 'node-1'?");
  CHECK(missing.error().next_command == "loom node list");
}

TEST_CASE("a name of several rows is refused with their numbers, unless all but one are over") {
  const auto refused = pick("job", "vgg19", {{1, "vgg19"}, {4, "vgg19"}, {5, "dlrm"}});
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().message == "'vgg19' is the name of 2 jobs: 1, 4; name one by its number");
  CHECK(pick("job", "vgg19", {{1, "vgg19", true}, {4, "vgg19"}}) == 4);
  CHECK(pick("job", "vgg19", {{1, "vgg19", true}}) == 1);
  CHECK_FALSE(pick("job", "vgg19", {{1, "vgg19", true}, {2, "vgg19", true}}));
}

std::size_t longest(const std::string& text) {
  std::istringstream lines(text);
  std::size_t most = 0;
  for (std::string line; std::getline(lines, line);) {
    most = std::max(
        most, static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; })));
  }
  return most;
}

TEST_CASE("a table is no wider than its terminal, and whole where there is none") {
  Table table({"device", "name", "reading", "fault"});
  table.add({"123456", "amplifier-of-the-north-3", "193.1 THz, -1.00 dBm", "nothing answers on its bus since 12 s"});
  const std::string whole = table.text(0);
  CHECK(whole.find("nothing answers on its bus since 12 s") != std::string::npos);
  CHECK(table.text(200) == whole);
  for (const std::size_t width : {90U, 60U, 50U, 40U}) {
    CAPTURE(width);
    const std::string text = table.text(width);
    CHECK(longest(text) <= width);
    CHECK(text.find("123456") != std::string::npos);  // numbers are never cut
    CHECK(text.find("fault") != std::string::npos);   // the last column says why
  }
  const std::string narrow = table.text(60);
  CHECK(narrow.find("amplif\u2026orth-3") == std::string::npos);
  CHECK(narrow.find("\u2026") != std::string::npos);
}

TEST_CASE("names are cut in the middle, sentences at the end, and letters of two bytes are one") {
  Table table({"name", "why"});
  table.add({"abcdefghijklmnopqrst", "\u00e4\u00e4 one two three four"});
  CHECK(table.text(26) == "name          why\nabcdef\u2026pqrst  \u00e4\u00e4 one two\u2026\n");
}

TEST_CASE("columns that say nothing go first, then those before the last, which is told") {
  Table table({"a", "empty", "b", "c", "why"});
  table.add({"1", "-", "22222222", "33333333", "because"});
  CHECK(table.text(30) == "a  b         c         why\n1  22222222  33333333  because\n");
  const std::string text = table.text(20);
  CHECK(text.find("33333333") == std::string::npos);
  CHECK(text.find("because") != std::string::npos);
  CHECK(text.find("(1 more column") != std::string::npos);
  CHECK(longest(text) <= 20);
}

}  // namespace
}  // namespace loom::cli
