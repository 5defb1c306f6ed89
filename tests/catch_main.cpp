// SPDX-License-Identifier: Apache-2.0
// The one main() of every Catch2 test program. A test case that asserts nothing fails: what it means to try was never reached.
// (Catch's own NoAssertions asks that of every section, also of one that only sets up what is asserted behind it.)
#define CATCH_CONFIG_RUNNER
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>

#include "tests/skip.hpp"

namespace loom::testing {
namespace {

std::size_t begun = 0;
std::size_t skipped = 0;
std::size_t empty = 0;
bool is_skipped = false;  ///< the test case that runs now

struct Counter : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo&) override {
    ++begun;
    is_skipped = false;
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    skipped += is_skipped ? 1 : 0;
    if (stats.totals.assertions.total() == 0) {
      ++empty;
      std::printf("FAILED: '%s' asserted nothing\n", stats.testInfo.name.c_str());
    }
  }
};

}  // namespace

void skip(const std::string& why) {
  std::printf("SKIPPED: %s\n", why.c_str());
  is_skipped = true;
  SUCCEED("skipped");
}

std::optional<std::filesystem::path> public_data(const std::filesystem::path& name) {
  const char* folder = std::getenv("LIGHTLOOM_DATA");
  const std::filesystem::path file = std::filesystem::path(folder != nullptr ? folder : "../shared/data") / name;
  if (std::filesystem::exists(file)) {
    return file;
  }
  skip(file.string() + " is absent (set LIGHTLOOM_DATA)");
  return std::nullopt;
}

CATCH_REGISTER_LISTENER(Counter)

}  // namespace loom::testing

int main(int argc, char** argv) {
  Catch::Session session;
  const int failed = session.run(argc, argv);
  if (failed != 0 || loom::testing::empty > 0) {
    return 1;  // however many: 77 failures are no skipped test
  }
  return loom::testing::begun > 0 && loom::testing::skipped == loom::testing::begun ? loom::testing::kSkippedExitCode : 0;
}
