// SPDX-License-Identifier: Apache-2.0
// A loop in real time: what the system permits is had and said, what it does not is said and changes nothing.
#include "runtime/program/realtime.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <thread>

namespace loom::test {
namespace {

/// In a process of its own, as somebody who may nothing. True: it held.
bool as_nobody(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr rlimit kNone{0, 0};
    const bool is_nobody = setrlimit(RLIMIT_RTPRIO, &kNone) == 0 && setrlimit(RLIMIT_MEMLOCK, &kNone) == 0 &&
                           (getuid() != 0 || setuid(65'534) == 0);
    _exit(is_nobody && check() ? 0 : 1);
  }
  int status = 1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("nothing is asked of the system that nobody wants") {
  const RealtimeGrant grant = run_in_real_time({});
  CHECK(grant.priority == 0);
  CHECK_FALSE(grant.is_memory_locked);
  CHECK(grant.refused.empty());
  CHECK(text_of(grant).empty());
}

TEST_CASE("whoever may nothing runs on as before, and is told what would permit it") {
  CHECK(as_nobody([] {
    const RealtimeGrant grant = run_in_real_time({true, {}});
    return grant.priority == 0 && !grant.is_memory_locked && sched_getscheduler(0) == SCHED_OTHER &&
           grant.refused.size() == 2 && grant.refused[0].find("LimitMEMLOCK=infinity") != std::string::npos &&
           grant.refused[1].find("LimitRTPRIO=") != std::string::npos;
  }));
}

TEST_CASE("a processor that is not there is refused by its number") {
  const RealtimeGrant grant = run_in_real_time({false, 4'095});
  CHECK_FALSE(grant.cpu);
  REQUIRE(grant.refused.size() == 1);
  CHECK(grant.refused.front().find("processor 4095") == 0);
}

TEST_CASE("what is granted is had by the thread that asked, and by none that it makes") {
  std::thread([] {
    cpu_set_t mine;
    CHECK(sched_getaffinity(0, sizeof mine, &mine) == 0);
    unsigned cpu = 0;
    while (!CPU_ISSET(cpu, &mine)) {
      ++cpu;
    }
    const RealtimeGrant grant = run_in_real_time({true, cpu});
    CHECK(grant.cpu == cpu);
    CHECK(sched_getcpu() == static_cast<int>(cpu));
    CHECK(text_of(grant).find("processor") != std::string::npos);
    const std::size_t granted = (grant.priority > 0 ? 1U : 0U) + (grant.is_memory_locked ? 1U : 0U);
    CHECK(granted + grant.refused.size() == 2);
    if (grant.priority > 0) {
      sched_param priority{};
      CHECK((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO);
      CHECK((sched_getparam(0, &priority) == 0 && priority.sched_priority == kLoopPriority));
      std::thread([] { CHECK((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER); }).join();
    }
    (void)munlockall();
  }).join();
}

}  // namespace
}  // namespace loom::test
