// SPDX-License-Identifier: Apache-2.0
// What a command writes: whole or not at all, over nothing that it reads, and with the system's reason where it cannot.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cli/output_file.hpp"

namespace loom::cli {
namespace {

namespace fs = std::filesystem;

class OutputFolder {
 public:
  OutputFolder() {
    std::string draft = (fs::temp_directory_path() / "loom-output-XXXXXX").string();
    path_ = ::mkdtemp(draft.data());
  }
  ~OutputFolder() { fs::remove_all(path_); }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  std::string at(const std::string& name) const { return (path_ / name).string(); }
  /// No draft among them.
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(path_), fs::directory_iterator()); }

 private:
  fs::path path_;
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// While it lives, no file of this process grows beyond `bytes`: writes fail as on a full disk (EFBIG).
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : signal_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, signal_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  sighandler_t signal_;
};

}  // namespace

TEST_CASE("a file that cannot be written whole stays as it was") {
  const OutputFolder folder;
  const std::string path = folder.at("plan.json");
  REQUIRE(write_text(path, "the plan before\n", "-o"));
  const auto written = [&] {
    const SmallDisk disk(1'000);
    return write_text(path, std::string(5'000, 'x'), "-o");
  }();
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::storage);
  CHECK(written.error().message == "-o " + path + " cannot be written: File too large");
  CHECK(contents(path) == "the plan before\n");
  CHECK(folder.files() == 1);
}

TEST_CASE("a file that is replaced keeps its mode, and a link to it stays a link") {
  const OutputFolder folder;
  const std::string path = folder.at("plan.json");
  REQUIRE(write_text(path, "1\n", "-o"));
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  fs::create_symlink(path, folder.at("link.json"));
  REQUIRE(write_text(folder.at("link.json"), "2\n", "-o"));
  CHECK(fs::is_symlink(folder.at("link.json")));
  CHECK(contents(path) == "2\n");
  CHECK((fs::status(path).permissions() & fs::perms::all) == fs::perms{0640});
  CHECK(folder.files() == 2);
  fs::create_hard_link(path, folder.at("other.json"));
  REQUIRE(write_text(path, "3\n", "-o"));
  CHECK(contents(folder.at("other.json")) == "3\n");
}

TEST_CASE("what is no regular file is written directly, and a failure has its reason") {
  const OutputFolder folder;
  CHECK(write_text("/dev/null", "x\n", "--trace"));
  const auto full = write_text("/dev/full", "x\n", "--trace");
  REQUIRE_FALSE(full);
  CHECK(full.error().message == "--trace /dev/full cannot be written: No space left on device");
  CHECK(fs::is_character_file("/dev/full"));
  const auto nowhere = write_text(folder.at("no/plan.json"), "x\n", "");
  REQUIRE_FALSE(nowhere);
  CHECK_THAT(nowhere.error().message, Catch::EndsWith("no/plan.json cannot be written: No such file or directory"));
  CHECK_FALSE(write_text(folder.at("."), "x\n", ""));
}

TEST_CASE("no command writes over a file that it reads, by whatever names") {
  const OutputFolder folder;
  const std::string scenario = folder.at("own.yaml");
  REQUIRE(write_text(scenario, "kind: scenario\n", ""));
  fs::create_symlink(scenario, folder.at("link.yaml"));
  for (const std::string& trace : {scenario, folder.at("./own.yaml"), folder.at("link.yaml")}) {
    INFO(trace);
    const auto apart = check_apart({{"SCENARIO", scenario}}, {{"--trace", trace}});
    REQUIRE_FALSE(apart);
    CHECK(apart.error().code == ErrorCode::invalid_argument);
    CHECK(apart.error().message ==
          "--trace " + trace + " would replace a file that is read, SCENARIO " + scenario + ": name another file");
  }
  CHECK(check_apart({{"SCENARIO", scenario}}, {{"--trace", folder.at("trace.json")}}));
  CHECK(check_apart({{"SCENARIO", scenario}}, {{"--trace", ""}}));
  CHECK(check_apart({{"WORKLOAD", "vgg19"}}, {{"-o", "vgg19"}}));  // a model's name
}

TEST_CASE("two outputs are two files, there or not, and what keeps nothing takes both") {
  const OutputFolder folder;
  const auto refused = check_apart({}, {{"-o", folder.at("a.json")}, {"--links", folder.at("./a.json")}});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains("-o ") && Catch::Contains("--links ") && Catch::Contains("one file"));
  CHECK_FALSE(check_apart({}, {{"-o", "loom-not-there.json"}, {"--links", "./loom-not-there.json"}}));
  CHECK(check_apart({}, {{"-o", folder.at("a.json")}, {"--links", folder.at("b.json")}}));
  CHECK(check_apart({}, {{"-o", ""}, {"--links", ""}}));
  CHECK(check_apart({}, {{"-o", "/dev/null"}, {"--links", "/dev/null"}}));
}

TEST_CASE("a trace on stdout and an answer of --json are refused together") {
  CHECK(check_printed("-", "--trace", false));
  CHECK(check_printed("trace.json", "--trace", true));
  const auto both = check_printed("-", "--trace", true);
  REQUIRE_FALSE(both);
  CHECK(both.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("what was printed and did not leave is an error, however much it was") {
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{1'000'000}}) {
    CAPTURE(bytes);
    std::FILE* full = std::fopen("/dev/full", "w");
    REQUIRE(full != nullptr);
    std::fprintf(full, "%s\n", std::string(bytes, 'x').c_str());
    const auto printed = finish_printing(full);
    std::fclose(full);
    REQUIRE_FALSE(printed);
    CHECK(printed.error().code == ErrorCode::storage);
    CHECK(printed.error().message == "standard output cannot be written: No space left on device");
  }
  std::FILE* null = std::fopen("/dev/null", "w");
  REQUIRE(null != nullptr);
  std::fputs("x\n", null);
  CHECK(finish_printing(null));
  std::fclose(null);
}

TEST_CASE("a pipe that nobody reads any more is no error") {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{1'000'000}}) {
    CAPTURE(bytes);
    int ends[2] = {-1, -1};
    REQUIRE(::pipe(ends) == 0);
    ::close(ends[0]);
    std::FILE* stream = ::fdopen(ends[1], "w");
    REQUIRE(stream != nullptr);
    std::fputs(std::string(bytes, 'x').c_str(), stream);
    CHECK(finish_printing(stream));
    std::fclose(stream);
  }
  ::signal(SIGPIPE, before);
}

}  // namespace loom::cli
