// SPDX-License-Identifier: Apache-2.0
// What a state folder must be before a lab touches it: the manifest's text, the folder on disk, and what an earlier lab allows.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "cli/lab/folder.hpp"
#include "cli/lab/manifest.hpp"
#include "cli/lab/policy.hpp"

namespace fs = std::filesystem;
using namespace loom;
using namespace loom::cli;

namespace {

/// A folder of its own, gone with the test.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "loom-folder-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    fs::create_directory(path_ / "state");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path state() const { return path_ / "state"; }
  fs::path outside() const { return path_ / "outside"; }
  void write(const fs::path& file, const std::string& text) const { std::ofstream(file, std::ios::binary) << text; }
  /// Every file below, with its content, links as what they point to.
  std::map<std::string, std::string> content() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      std::string& text = files[entry.path()];
      if (entry.is_symlink()) {
        text = "-> " + fs::read_symlink(entry.path()).string();
      } else if (entry.is_regular_file()) {
        std::ifstream file(entry.path(), std::ios::binary);
        text.assign(std::istreambuf_iterator<char>(file), {});
      }
    }
    return files;
  }

 private:
  fs::path path_;
};

LabManifest sample() {
  LabManifest manifest;
  manifest.use = LabUse::up;
  manifest.scenario = "/labs/first light.yaml";
  manifest.fabric = "oddl-8";
  manifest.fabric_digest = 0xfedc'ba98'7654'3210ULL;
  manifest.agent_processes = 2;
  manifest.record = manifest.metrics = true;
  manifest.address = "tcp://127.0.0.1:7601";
  manifest.files = {"agents-0.db", "controller.db", "controller.tape"};
  manifest.processes = {
      {"lightloomd", 4711, 123'456, "boot", "/bin/lightloomd", "2026-01-01T00:00:00Z", "http://127.0.0.1:9101/metrics"}};
  return manifest;
}

void expect_refusal(const Result<LabFolder>& looked, const std::string& words) {
  REQUIRE_FALSE(looked);
  INFO(looked.error().message);
  CHECK(looked.error().code == ErrorCode::refused);
  CHECK(looked.error().message.find(words) != std::string::npos);
  CHECK(looked.error().message.find("nothing was touched") != std::string::npos);
}

std::string with(const std::string& key, const std::string& value) {
  std::string text = to_text(sample());
  const auto at = text.find("\"" + key + "\": ");
  REQUIRE(at != std::string::npos);
  const auto begin = at + key.size() + 4;
  auto end = text.find_first_of("\n", begin);
  end = text[end - 1] == ',' ? end - 1 : end;
  return text.replace(begin, end - begin, value);
}

}  // namespace

TEST_CASE("a manifest is read as it was written") {
  const auto read = parse_manifest(to_text(sample()));
  REQUIRE(read);
  CHECK(*read == sample());
  CHECK(parse_manifest(to_text(LabManifest{})).value() == LabManifest{});
}

TEST_CASE("a manifest of a loom that knew no metrics is read, and has none") {
  std::string text = to_text(sample());
  const std::string of_lab = " \"metrics\": true,\n";
  const std::string of_process = ",\n   \"metrics\": \"http://127.0.0.1:9101/metrics\"";
  for (const std::string& key : {of_lab, of_process}) {
    const auto at = text.find(key);
    INFO(text);
    REQUIRE(at != std::string::npos);
    text.erase(at, key.size());
  }
  const auto read = parse_manifest(text);
  REQUIRE(read);
  CHECK_FALSE(read->metrics);
  CHECK(read->processes.at(0).metrics.empty());
  CHECK_FALSE(parse_manifest(with("metrics", "\"yes\"")));
}

TEST_CASE("no other text passes for a manifest, and the sentence says why") {
  const auto why = [](const std::string& text) {
    const auto read = parse_manifest(text);
    REQUIRE_FALSE(read);
    return read.error().message;
  };
  const std::string whole = to_text(sample());
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
    CHECK_FALSE(parse_manifest(whole.substr(0, length)));
  }
  CHECK(why("{}").find("no magic") != std::string::npos);
  CHECK(why("[1, 2]").find("no whole JSON object") != std::string::npos);
  CHECK(why(with("version", "2")).find("version 2, this loom knows 1: a newer loom wrote it") != std::string::npos);
  CHECK(why(with("version", "\"1\"")).find("version") != std::string::npos);
  CHECK(why(with("use", "\"mine\"")).find("'use' is 'mine'") != std::string::npos);
  CHECK(why(with("pid", "1")).find("'pid'") != std::string::npos);
  CHECK(why(with("pid", "-9")).find("'pid'") != std::string::npos);
  CHECK(why(with("pid", "4294967296")).find("'pid'") != std::string::npos);
  CHECK(why(with("start_ticks", "\"x\"")).find("'start_ticks'") != std::string::npos);
  CHECK(why(with("executable", "\"lightloomd\"")).find("no program") != std::string::npos);
}

TEST_CASE("a manifest names no file outside of its folder, nor keys, nor itself") {
  for (const char* name : {"../thesis.tex", "..", ".", "", "/etc/passwd", "keys/operator", "keys", "lab.json", "a/../../b"}) {
    CAPTURE(name);
    CHECK_FALSE(is_bare_name(name));
    LabManifest manifest = sample();
    manifest.files.emplace_back(name);
    const auto read = parse_manifest(to_text(manifest));
    REQUIRE_FALSE(read);
    CHECK(read.error().message.find("no file of this folder") != std::string::npos);
  }
  CHECK(is_bare_name("wss-out-0.light"));
}

TEST_CASE("a folder that no lab made is refused by what it holds") {
  const Folder folder;
  const auto refuse = [&](const std::string& words) {
    const auto before = folder.content();
    expect_refusal(LabFolder::look(folder.state()), words);
    CHECK(folder.content() == before);
    fs::remove_all(folder.state());
    fs::create_directory(folder.state());
  };
  folder.write(folder.state() / "thesis.tex", "five years");
  refuse("it holds thesis.tex and no lab.json");
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    folder.write(folder.state() / name, name);
  }
  refuse("it holds a, b, c and 2 more");
  fs::create_directory(folder.state() / "keys");
  refuse("it holds keys and no lab.json");
  folder.write(folder.state() / "lab.json", R"({"name": "my lab"})");
  refuse("no magic");
  folder.write(folder.state() / "lab.json", to_text(sample()).substr(0, 100));
  refuse("no whole JSON object");
  folder.write(folder.state() / "lab.json", with("version", "7"));
  refuse("a newer loom wrote it");
  LabManifest evil = sample();
  evil.files = {"../outside"};
  folder.write(folder.state() / "lab.json", to_text(evil));
  refuse("'../outside', which is no file of this folder");
  REQUIRE(mkfifo((folder.state() / "lab.json").c_str(), 0600) == 0);
  refuse("lab.json is a pipe");
  folder.write(folder.outside(), to_text(sample()));
  fs::create_symlink(folder.outside(), folder.state() / "lab.json");
  refuse("lab.json is a symbolic link");
  fs::create_directory(folder.state() / "lab.json");
  refuse("lab.json is a folder");
  folder.write(folder.state() / "lab.json", to_text(sample()));
  fs::permissions(folder.state() / "lab.json", fs::perms::all);
  refuse("others may write its lab.json");
}

TEST_CASE("a state folder that is a file or a link is refused, also with a slash behind it") {
  const Folder folder;
  fs::remove(folder.state());
  folder.write(folder.state(), "a thesis");
  expect_refusal(LabFolder::look(folder.state()), "it is a regular file, not a folder");
  fs::remove(folder.state());
  fs::create_directory(folder.outside());
  fs::create_directory_symlink(folder.outside(), folder.state());
  expect_refusal(LabFolder::look(folder.state()), "it is a symbolic link");
  expect_refusal(LabFolder::look(folder.state().string() + "/"), "it is a symbolic link");
}

TEST_CASE("a folder that is missing or empty becomes a lab's, closed to others, and is read again by the next") {
  const Folder folder;
  const fs::path deep = folder.state() / "run" / "lab";
  for (const fs::path& path : {deep, folder.state() / "run" / "made_by_hand"}) {
    if (path != deep) {
      fs::create_directory(path);
    }
    auto looked = LabFolder::look(path);
    REQUIRE(looked);
    CHECK(looked->is_there() == (path != deep));
    CHECK_FALSE(looked->manifest());
    REQUIRE(looked->take("a test"));
    REQUIRE(looked->save(sample()));
    CHECK(fs::status(path).permissions() == fs::perms::owner_all);
    const auto private_file = fs::perms::owner_read | fs::perms::owner_write;
    CHECK(fs::status(path / "lab.json").permissions() == private_file);
    CHECK(fs::status(path / "lab.lock").permissions() == private_file);
    const auto again = LabFolder::look(path);
    REQUIRE(again);
    CHECK(again->manifest() == sample());
  }
}

TEST_CASE("two commands do not change one folder at once, and the second learns who the first is") {
  const Folder folder;
  auto first = LabFolder::look(folder.state());
  auto second = LabFolder::look(folder.state());
  REQUIRE(first->take("loom lab up mine.yaml"));
  const auto refused = second->take("loom lab down");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::conflict);
  CHECK(refused.error().message.find("loom lab up mine.yaml (process " + std::to_string(getpid()) + ")") != std::string::npos);
  REQUIRE(first->save(sample()));
  first->release();
  REQUIRE(second->take("loom lab down"));
  CHECK(second->manifest() == sample());  // what the first wrote while the second waited
}

TEST_CASE("only regular files that the manifest names are forgotten, parts of a tape among them") {
  const Folder folder;
  auto looked = LabFolder::look(folder.state());
  REQUIRE(looked->take("a test"));
  REQUIRE(looked->save(sample()));
  for (const char* name : {"agents-0.db", "controller.db", "controller.tape", "controller.tape.1", "controller.tape.12",
                           "controller.tape.old", "thesis.tex", "controller.db.bak"}) {
    folder.write(folder.state() / name, name);
  }
  const auto forgotten = looked->forget([](const std::string&) { return true; });
  REQUIRE(forgotten);
  CHECK(*forgotten == 5);
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder.state())) {
    left.insert(entry.path().filename());
  }
  CHECK(left == std::set<std::string>{"lab.json", "lab.lock", "thesis.tex", "controller.db.bak", "controller.tape.old"});
}

TEST_CASE("a link in the place of a lab's file is refused before anything goes, and its target stays") {
  const Folder folder;
  auto looked = LabFolder::look(folder.state());
  REQUIRE(looked->take("a test"));
  REQUIRE(looked->save(sample()));
  folder.write(folder.outside(), "a thesis");
  folder.write(folder.state() / "agents-0.db", "a journal");
  fs::create_symlink(folder.outside(), folder.state() / "controller.db");
  const auto before = folder.content();
  const auto forgotten = looked->forget([](const std::string&) { return true; });
  REQUIRE_FALSE(forgotten);
  CHECK(forgotten.error().code == ErrorCode::refused);
  CHECK(forgotten.error().message.find("controller.db is a symbolic link") != std::string::npos);
  CHECK_FALSE(looked->may_make({"controller.db"}));
  CHECK(folder.content() == before);
}

TEST_CASE("a lab does not write over a file that no lab made") {
  const Folder folder;
  auto looked = LabFolder::look(folder.state());
  REQUIRE(looked->take("a test"));
  REQUIRE(looked->save(sample()));
  folder.write(folder.state() / "lightloomd.log", "my notes");
  folder.write(folder.state() / "controller.db", "a journal");
  CHECK(looked->may_make({"controller.db", "agents-1.db"}));
  const auto refused = looked->may_make({"controller.db", "lightloomd.log"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("holds lightloomd.log, which no lab made") != std::string::npos);
}

TEST_CASE("files that an earlier version left open to others are closed") {
  const Folder folder;
  auto looked = LabFolder::look(folder.state());
  REQUIRE(looked->take("a test"));
  REQUIRE(looked->save(sample()));
  folder.write(folder.state() / "controller.db", "a journal");
  folder.write(folder.state() / "notes", "not a lab's");
  for (const char* name : {"controller.db", "notes"}) {
    REQUIRE(chmod((folder.state() / name).c_str(), 0644) == 0);
  }
  REQUIRE(looked->tighten());
  CHECK((fs::status(folder.state() / "controller.db").permissions() & fs::perms::others_all) == fs::perms::none);
  CHECK((fs::status(folder.state() / "notes").permissions() & fs::perms::others_read) == fs::perms::others_read);
}

TEST_CASE("what an earlier lab left decides how a new one begins") {
  const LabManifest mine = sample();
  const auto decide = [&](LabUse was, LabUse use, bool fresh = false) {
    LabManifest earlier = mine;
    earlier.use = was;
    return decide_beginning(earlier, {}, {use, mine, "run/lab", false, fresh});
  };
  CHECK_FALSE(decide_beginning({}, {}, {LabUse::up, mine, "run/lab"})->keeps_journals);
  // lab up goes on from an operator's journals, and from those of a run that was kept; a played run is over.
  CHECK(decide(LabUse::up, LabUse::up)->keeps_journals);
  CHECK(decide(LabUse::run_kept, LabUse::up)->keeps_journals);
  CHECK_FALSE(decide(LabUse::run, LabUse::up)->keeps_journals);
  CHECK_FALSE(decide(LabUse::none, LabUse::up)->keeps_journals);
  CHECK_FALSE(decide(LabUse::up, LabUse::up, true)->keeps_journals);
  // lab run plays from the beginning, every day again, but not over an operator's journals.
  for (const LabUse was : {LabUse::none, LabUse::run, LabUse::run_kept}) {
    for (const LabUse use : {LabUse::run, LabUse::run_kept}) {
      REQUIRE(decide(was, use));
      CHECK_FALSE(decide(was, use)->keeps_journals);
    }
  }
  const auto refused = decide(LabUse::up, LabUse::run);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::refused);
  CHECK(refused.error().next_command.find("--fresh") != std::string::npos);
  CHECK(decide(LabUse::up, LabUse::run, true));
}

TEST_CASE("journals of another scenario, fabric or number of agent processes are not gone on from, and both are named") {
  const LabManifest mine = sample();
  const auto why = [&](const LabManifest& earlier) {
    const auto decided = decide_beginning(earlier, {}, {LabUse::up, mine, "run/lab"});
    REQUIRE_FALSE(decided);
    CHECK(decided.error().code == ErrorCode::refused);
    CHECK(decided.error().next_command.find("--fresh") != std::string::npos);
    return decided.error().message;
  };
  LabManifest other = mine;
  other.scenario = "/labs/other.yaml";
  CHECK(why(other).find("/labs/other.yaml") != std::string::npos);
  CHECK(why(other).find("/labs/first light.yaml") != std::string::npos);
  other = mine;
  other.agent_processes = 4;
  CHECK(why(other).find("4 agent processes") != std::string::npos);
  other = mine;
  other.fabric_digest = 1;
  CHECK(why(other).find("has changed since") != std::string::npos);
}

TEST_CASE("a lab that runs is replaced only when asked to") {
  const LabManifest mine = sample();
  LabClaim claim{LabUse::up, mine, "run/lab"};
  const auto refused = decide_beginning(mine, {"lightloomd (process 4711)"}, claim);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::refused);
  CHECK(refused.error().message.find("lightloomd (process 4711)") != std::string::npos);
  CHECK(refused.error().next_command.find("loom lab down") == 0);
  claim.replace = true;
  const auto decided = decide_beginning(mine, {"lightloomd (process 4711)"}, claim);
  REQUIRE(decided);
  CHECK(decided->stops_what_runs);
  CHECK(decided->keeps_journals);
  claim.use = LabUse::run;  // --replace stops; what it would throw away is another question
  CHECK_FALSE(decide_beginning(mine, {"lightloomd (process 4711)"}, claim));
}
