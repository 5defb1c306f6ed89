// SPDX-License-Identifier: Apache-2.0
// DiscreteInputServer: a Modbus server of pymodbus in a process of its own, which ends with the test. Where pymodbus is not
// installed the test is skipped, and says so.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "tests/skip.hpp"

namespace loom {

class DiscreteInputServer {
 public:
  explicit DiscreteInputServer(bool closed) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    REQUIRE(pipe2(in.data(), O_CLOEXEC) == 0);
    REQUIRE(pipe2(out.data(), O_CLOEXEC) == 0);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execl("/usr/bin/python3", "python3", LOOM_SOURCE_DIR "/tests/drivers/discrete_input_server.py", closed ? "1" : "0",
            nullptr);
      _exit(77);
    }
    close(in[0]);
    close(out[1]);
    orders_ = fdopen(in[1], "w");
    words_ = fdopen(out[0], "r");
    std::array<char, 64> word{};
    if (std::fgets(word.data(), word.size(), words_) == nullptr || std::sscanf(word.data(), "port %u", &port_) != 1) {
      end();
      testing::skip("no Modbus server of another hand: install python3-pymodbus");
    }
  }
  DiscreteInputServer(const DiscreteInputServer&) = delete;
  DiscreteInputServer& operator=(const DiscreteInputServer&) = delete;
  ~DiscreteInputServer() {
    end();
    std::fclose(orders_);
    std::fclose(words_);
  }

  bool is_there() const { return port_ != 0; }
  std::string endpoint(int unit, int input) const {
    return "modbus-tcp://127.0.0.1:" + std::to_string(port_) + "/" + std::to_string(unit) + "/" + std::to_string(input);
  }
  /// Input 3 of unit 1; returns when it is so.
  void set(bool closed) {
    std::fputs(closed ? "1\n" : "0\n", orders_);
    std::fflush(orders_);
    std::array<char, 16> word{};
    REQUIRE(std::fgets(word.data(), word.size(), words_) != nullptr);
  }
  /// It goes on listening, and answers nothing.
  void stop() const { kill(process_, SIGSTOP); }
  void go_on() const { kill(process_, SIGCONT); }
  void end() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
      process_ = -1;
    }
  }

 private:
  pid_t process_ = -1;
  std::FILE* orders_ = nullptr;
  std::FILE* words_ = nullptr;
  unsigned port_ = 0;
};

}  // namespace loom
