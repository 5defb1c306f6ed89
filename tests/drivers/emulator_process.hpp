// SPDX-License-Identifier: Apache-2.0
// EmulatorProcess: a real lightloom-emulate, spawned on any free port and ended with the test.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/text/host_port.hpp"

namespace loom {

class EmulatorProcess {
 public:
  /// `host`: where it listens, and where endpoint() says that it is.
  explicit EmulatorProcess(std::vector<std::string> options = {}, const char* kind = "heater", std::string host = "127.0.0.1")
      : scheme_(std::string(kind) == "heater" ? "modbus-tcp://" : "tcp://"), host_(std::move(host)) {
    std::array<int, 2> out{};
    REQUIRE(pipe(out.data()) == 0);
    std::vector<std::string> words{LOOM_EMULATE_PROGRAM, kind, "--port", "0", "--bind", host_};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(out[1], STDOUT_FILENO);
      execv(arguments.front(), arguments.data());
      _exit(127);
    }
    close(out[1]);
    std::FILE* delivered = fdopen(out[0], "r");
    const int read_words = std::fscanf(delivered, "port %u", &port_);
    std::fclose(delivered);
    REQUIRE(read_words == 1);
  }
  EmulatorProcess(const EmulatorProcess&) = delete;
  EmulatorProcess& operator=(const EmulatorProcess&) = delete;
  ~EmulatorProcess() { end(); }

  void end() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
      process_ = -1;
    }
  }
  void power_cycle() const { kill(process_, SIGHUP); }
  std::string endpoint() const { return scheme_ + to_string(HostPort{host_, static_cast<std::uint16_t>(port_)}); }

 private:
  std::string scheme_;
  std::string host_;
  pid_t process_ = -1;
  unsigned port_ = 0;
};

}  // namespace loom
