// SPDX-License-Identifier: Apache-2.0
// sched_setscheduler, mlockall, sched_setaffinity.
#include "runtime/program/realtime.hpp"

#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

bool has_capability(unsigned capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  return syscall(SYS_capget, &header, data) == 0 && (data[capability / 32].effective >> capability % 32 & 1U) != 0;
}

std::string text_of_limit(int resource, rlim_t unit) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) {
    return "unknown";
  }
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur / unit);
}

void take_priority(RealtimeGrant& grant) {
  sched_param priority{};
  priority.sched_priority = kLoopPriority;
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) == 0) {
    grant.priority = kLoopPriority;
  } else {
    grant.refused.push_back(format_text("SCHED_FIFO {}: {} (ulimit -r: {}; it needs {}, or LimitRTPRIO= of its unit)",
                                        kLoopPriority, std::strerror(errno), text_of_limit(RLIMIT_RTPRIO, 1), kLoopPriority));
  }
}

/// Under a limit the kernel would refuse memory once that much is locked, in the middle of whatever asks for it: then not at
/// all.
void lock_memory(RealtimeGrant& grant) {
  rlimit limit{};
  const bool is_limited =
      getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || (limit.rlim_cur != RLIM_INFINITY && !has_capability(CAP_IPC_LOCK));
  if (is_limited) {
    grant.refused.push_back(
        format_text("memory is not locked: no more than {} KiB may be (ulimit -l; it needs unlimited, or "
                    "LimitMEMLOCK=infinity of its unit)",
                    text_of_limit(RLIMIT_MEMLOCK, 1024)));
  } else if (mlockall(MCL_CURRENT) != 0 || mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
    grant.refused.push_back(format_text("memory is not locked: {}", std::strerror(errno)));
  } else {
    grant.is_memory_locked = true;
  }
}

void take_processor(unsigned cpu, RealtimeGrant& grant) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (cpu < CPU_SETSIZE) {
    CPU_SET(cpu, &processors);
  }
  if (sched_setaffinity(0, sizeof processors, &processors) == 0) {
    grant.cpu = cpu;
  } else {
    grant.refused.push_back(format_text("processor {}: {} (this process may use {} processors; see taskset -p {})", cpu,
                                        std::strerror(errno), sysconf(_SC_NPROCESSORS_ONLN), getpid()));
  }
}

}  // namespace

RealtimeGrant run_in_real_time(const RealtimeWish& wish) {
  RealtimeGrant grant;
  if (wish.cpu) {
    take_processor(*wish.cpu, grant);
  }
  if (wish.is_wanted) {
    lock_memory(grant);
    take_priority(grant);
  }
  return grant;
}

std::string text_of(const RealtimeGrant& grant) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (grant.priority > 0) {
    add(format_text("SCHED_FIFO {}", grant.priority));
  }
  if (grant.is_memory_locked) {
    add("memory locked");
  }
  if (grant.cpu) {
    add(format_text("processor {}", *grant.cpu));
  }
  return text;
}

}  // namespace loom
