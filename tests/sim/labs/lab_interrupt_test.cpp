// SPDX-License-Identifier: Apache-2.0
// Ctrl-C of `loom lab run` and `loom lab up`, at every stage of their lives: nothing that they started lives on.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/sim/labs/lab.hpp"

namespace fs = std::filesystem;
using namespace loom;
using namespace loom::test;

namespace {

constexpr auto kPatience = std::chrono::seconds{60};

/// `loom` in the background, its words in a file.
class Command {
 public:
  Command(const Lab& lab, std::vector<std::string> words) : words_(lab.state().string() + ".words") {
    std::vector<std::string> all{LOOM_PROGRAM, "--state", lab.state()};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& word : all) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    const int file = open(words_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(file, STDOUT_FILENO);
      dup2(file, STDERR_FILENO);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(file);
  }
  ~Command() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    fs::remove(words_);
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  int pid() const { return pid_; }
  std::string words() const {
    std::stringstream text;
    text << std::ifstream(words_).rdbuf();
    return text.str();
  }
  /// Until it has come so far. False: it ended before that.
  bool reaches(const std::function<bool(const std::string& words)>& stage) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!stage(words())) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) {
        return stage(words());
      }
      std::this_thread::yield();
    }
    return true;
  }
  /// Its exit code; -1: a signal ended it.
  int ends() {
    int status = 0;
    REQUIRE(waitpid(pid_, &status, 0) == pid_);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::string words_;
  pid_t pid_ = 0;
};

struct Stage {
  std::string name;
  std::function<bool(const Lab& lab, const std::string& words)> is_reached;
};

bool exists(const Lab& lab, const char* file) { return fs::exists(lab.state() / file); }

std::vector<Stage> stages() {
  const auto file = [](const char* name) { return [name](const Lab& lab, const std::string&) { return exists(lab, name); }; };
  const auto word = [](const char* delivered) {
    return [delivered](const Lab&, const std::string& words) { return words.find(delivered) != std::string::npos; };
  };
  return {{"the manifest is there", file("lab.json")},
          {"an emulator starts", [](const Lab& lab, const std::string&) { return !lab.pids().empty(); }},
          {"an emulator is up", word("emulated")},
          {"the controller starts", file("lightloomd.log")},
          {"the controller is up", file("controller.address")},
          {"the last agents start", file("agents-1.log")},
          {"agents join", word("agents joined")},
          {"all have joined", word("agents joined in")},
          {"the run begins", file("run.start")},
          {"the first job is planned or lit", [](const Lab& lab, const std::string&) {
             return exists(lab, "run.start") && fs::file_size(lab.state() / "agents-0.light") > 0;
           }}};
}

std::string scenario_of(const Lab& lab) {
  return lab.write_scenario("mode: mixed\ninventory: {bus-heater-2: 'modbus-tcp://127.0.0.1:" + std::to_string(free_ports(1)) +
                            "'}\nduration: 60 s\njobs:\n  - {name: ring, workload: vgg19, nodes: 8}\n");
}

void check_all_ended(const Lab& lab) {
  for (const auto& [name, pid] : lab.pids()) {
    CAPTURE(name);
    CHECK_FALSE(Lab::is_alive(pid));
  }
}

}  // namespace

TEST_CASE("Ctrl-C ends lab run and all that it started, at whatever stage it comes") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    for (const Stage& stage : stages()) {
      if (signal != SIGINT && stage.name.find("the controller") == std::string::npos) {
        continue;  // every stage for one, two for the others
      }
      const Lab lab;
      Command command(lab, {"lab", "run", scenario_of(lab)});
      INFO(stage.name << ", signal " << signal);
      REQUIRE(command.reaches([&](const std::string& words) { return stage.is_reached(lab, words); }));
      REQUIRE(kill(command.pid(), signal) == 0);
      CHECK(command.ends() == 130);
      INFO(command.words());
      CHECK_FALSE(lab.pids().empty() == (stage.name != "the manifest is there"));
      check_all_ended(lab);
    }
  }
}

TEST_CASE("Ctrl-C ends lab up while it starts, and a second one ends it at once") {
  for (const bool twice : {false, true}) {
    const Lab lab;
    Command command(lab, {"lab", "up", scenario_of(lab)});
    REQUIRE(command.reaches([&](const std::string&) { return exists(lab, "agents-0.log"); }));
    REQUIRE(kill(command.pid(), SIGINT) == 0);
    if (twice) {
      (void)kill(command.pid(), SIGINT);
    }
    CHECK(command.ends() == 130);
    check_all_ended(lab);
    CHECK(lab.run("lab run " + lab.write_scenario("mode: soft\n")).code == 0);  // nothing of worth was left
  }
}

TEST_CASE("a loom that is killed with SIGKILL takes its run along, but not a lab that was to stay") {
  for (const bool keeps : {false, true}) {
    const Lab lab;
    std::vector<std::string> words{"lab", "run", scenario_of(lab)};
    if (keeps) {
      words.emplace_back("--keep");
    }
    Command command(lab, words);
    REQUIRE(command.reaches([&](const std::string&) { return exists(lab, "run.start"); }));
    const auto pids = lab.pids();
    REQUIRE(pids.size() == 4);
    kill(command.pid(), SIGKILL);
    CHECK(command.ends() == -1);
    for (const auto& [name, pid] : pids) {
      CAPTURE(name, keeps);
      const auto deadline = std::chrono::steady_clock::now() + kPatience;
      while (!keeps && Lab::is_alive(pid) && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
      CHECK(Lab::is_alive(pid) == keeps);
    }
    CHECK(lab.run("lab down").code == 0);
    check_all_ended(lab);
  }
}

TEST_CASE("a run goes on while its controller is restarted from elsewhere, and ends that one too") {
  const Lab lab;
  Command command(lab, {"lab", "run", scenario_of(lab)});
  REQUIRE(command.reaches([&](const std::string&) { return exists(lab, "run.start"); }));
  const auto before = lab.pids();
  const Finished restarted = lab.run("lab restart controller");
  INFO(restarted.words << command.words());
  REQUIRE(restarted.code == 0);
  CHECK(lab.pids().at("lightloomd") != before.at("lightloomd"));
  CHECK(Lab::is_alive(command.pid()));
  REQUIRE(kill(command.pid(), SIGINT) == 0);
  CHECK(command.ends() == 130);
  check_all_ended(lab);
}
