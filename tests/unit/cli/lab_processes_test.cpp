// SPDX-License-Identifier: Apache-2.0
// A number is no process: what is ended must be what was started.
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "cli/lab/processes.hpp"

namespace fs = std::filesystem;
using namespace loom;
using namespace loom::cli;

namespace {

constexpr int kPatienceMs = 3'000;

class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "loom-processes-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string log(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(path_ + "/" + name + ".log").rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

Result<void> accept(const LabProcess&) { return {}; }

LabProcess sleeper(const Folder& folder) {
  const auto started = start_process(folder.path(), {"sleeper", {"/bin/sleep", "1000"}}, Lifetime::ours, accept);
  REQUIRE(started);
  return *started;
}

}  // namespace

TEST_CASE("a process is noted before its program runs, and its log is nobody else's to read") {
  const Folder folder;
  std::string program_when_noted;
  LabProcess noted;
  const auto started = start_process(
      folder.path(), {"sleeper", {"/bin/sleep", "1000"}}, Lifetime::ours, [&](const LabProcess& process) -> Result<void> {
        std::error_code problem;
        noted = process;
        program_when_noted = fs::read_symlink("/proc/" + std::to_string(process.pid) + "/exe", problem);
        return {};
      });
  REQUIRE(started);
  CHECK(noted == *started);
  CHECK(program_when_noted == fs::read_symlink("/proc/self/exe"));  // still ourselves
  CHECK(state_of(*started) == ProcessState::running);
  CHECK(age_seconds(*started) >= 0);
  CHECK(fs::status(folder.path() + "/sleeper.log").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(stop_processes({*started}, kPatienceMs).stopped == std::vector<std::string>{"sleeper"});
  CHECK(state_of(*started) == ProcessState::ended);
  CHECK(age_seconds(*started) < 0);
}

TEST_CASE("a program that must not be noted never runs, and one that cannot run says why") {
  const Folder folder;
  const std::string trace = folder.path() + "/trace";
  const auto refused = start_process(folder.path(), {"touch", {"/usr/bin/touch", trace}}, Lifetime::ours,
                                     [](const LabProcess&) { return fail(ErrorCode::storage, "the disk is full"); });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "the disk is full");
  CHECK_FALSE(fs::exists(trace));
  const auto missing = start_process(folder.path(), {"none", {folder.path() + "/no such program"}}, Lifetime::ours, accept);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("No such file") != std::string::npos);
}

TEST_CASE("a process whose start, boot or program is another one is left alone") {
  const Folder folder;
  const LabProcess truth = sleeper(folder);
  const auto spare = [&](LabProcess process) {
    const Stopped stopped = stop_processes({std::move(process)}, 0);
    CHECK(stopped.stopped.empty());
    CHECK(state_of(truth) == ProcessState::running);
    return stopped.not_ours.size();
  };
  LabProcess process = truth;
  process.start_ticks -= 1;
  CHECK(spare(process) == 1);
  process = truth;
  process.executable = "/usr/local/bin/lightloomd";
  CHECK(spare(process) == 1);
  process = truth;
  process.boot_id = "00000000-0000-0000-0000-000000000000";
  CHECK(spare(process) == 0);  // of another boot: it has ended with that
  process = truth;
  process.pid = getpid();
  CHECK(spare(process) == 1);
  CHECK(stop_processes({truth}, kPatienceMs).stopped.size() == 1);
}

TEST_CASE("a process that has not become its program yet is ended all the same") {
  const Folder folder;
  std::size_t stopped = 0;
  LabProcess noted;
  (void)start_process(folder.path(), {"sleeper", {"/bin/sleep", "1000"}}, Lifetime::outlasts,
                      [&](const LabProcess& process) -> Result<void> {
                        noted = process;
                        stopped = stop_processes({process}, 0).stopped.size();
                        return {};
                      });
  CHECK(stopped == 1);
  CHECK_FALSE(is_running(noted.pid));
}

TEST_CASE("a process that ignores SIGTERM is killed, and one that is stopped, too") {
  const Folder folder;
  const auto stubborn =
      start_process(folder.path(), {"stubborn", {"/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1; done"}},
                    Lifetime::ours, accept);
  REQUIRE(stubborn);
  while (folder.log("stubborn").find("deaf") == std::string::npos) {
    REQUIRE(is_running(stubborn->pid));
  }
  const LabProcess stopped = sleeper(folder);
  REQUIRE(kill(stopped.pid, SIGSTOP) == 0);
  CHECK(stop_processes({*stubborn, stopped}, 50).stopped.size() == 2);
  CHECK(state_of(*stubborn) == ProcessState::ended);
  CHECK(state_of(stopped) == ProcessState::ended);
}

TEST_CASE("a program that was rebuilt while it runs is still itself") {
  const Folder folder;
  const std::string program = folder.path() + "/program";
  fs::copy_file("/bin/sleep", program);
  const auto started = start_process(folder.path(), {"program", {program, "1000"}}, Lifetime::ours, accept);
  REQUIRE(started);
  fs::rename(program, folder.path() + "/.linker-draft");  // as mold does
  fs::remove(folder.path() + "/.linker-draft");
  fs::copy_file("/bin/sleep", program);
  CHECK(state_of(*started) == ProcessState::running);
  CHECK(stop_processes({*started}, kPatienceMs).stopped.size() == 1);
}

TEST_CASE("processes of a command that is killed end with it, unless they shall outlast it") {
  const Folder folder;
  const auto try_lifetime = [&](Lifetime lifetime) {
    const std::string note = folder.path() + "/note";
    std::ofstream(note, std::ios::trunc).close();
    const pid_t command = fork();
    if (command == 0) {
      const auto started = start_process(folder.path(), {"sleeper", {"/bin/sleep", "1000"}}, lifetime, accept);
      std::ofstream(note) << started->pid << ' ' << started->start_ticks << std::endl;
      pause();
      _exit(0);
    }
    LabProcess process = {"sleeper", 0, 0, "", fs::canonical("/bin/sleep"), ""};
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, process.boot_id);
    while (!(std::ifstream(note) >> process.pid >> process.start_ticks)) {
    }
    REQUIRE(state_of(process) == ProcessState::running);
    kill(command, SIGKILL);
    waitpid(command, nullptr, 0);
    return process;
  };
  const LabProcess own = try_lifetime(Lifetime::ours);
  while (state_of(own) == ProcessState::running) {  // the test's time-out is the limit
  }
  int looks = 0;
  while (state_of(own) != ProcessState::ended && ++looks < 100'000) {  // the kernel's signal comes a moment later
    sched_yield();
  }
  CHECK(state_of(own) == ProcessState::ended);
  const LabProcess lasting = try_lifetime(Lifetime::outlasts);
  CHECK(state_of(lasting) == ProcessState::running);
  CHECK(stop_processes({lasting}, kPatienceMs).stopped.size() == 1);
}
