// SPDX-License-Identifier: Apache-2.0
// fork, exec, pidfds, and what /proc says of a process.
#include "cli/lab/processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "cli/lab/folder.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kKillPatience = std::chrono::seconds{5};
constexpr std::string_view kDeleted = " (deleted)";  // proc(5): the program's file was replaced, as a build does

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string proc(int pid, const char* what) { return format_text("/proc/{}/{}", pid, what); }

struct Stat {
  char state = 0;                 ///< field 3; Z and X: it has ended
  int parent = 0;                 ///< field 4
  std::uint64_t start_ticks = 0;  ///< field 22
};

/// Nothing: there is no such process.
std::optional<Stat> stat_of(int pid) {
  const std::string line = line_of(proc(pid, "stat"));
  const auto end_of_name = line.rfind(')');  // field 2 is the program's own choice, parentheses and all
  if (end_of_name == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream rest(line.substr(end_of_name + 1));
  Stat stat;
  rest >> stat.state >> stat.parent;
  std::string field;
  for (int i = 5; i < 22; ++i) {
    rest >> field;
  }
  rest >> stat.start_ticks;
  return rest ? std::optional(stat) : std::nullopt;
}

/// A program that was rebuilt or upgraded while it runs is deleted, and a linker may have renamed it before: of such a one only
/// its folder is known. Start and boot have told already that it is this very process.
bool runs_program(int pid, const std::string& executable) {
  std::error_code problem;
  std::string path = fs::read_symlink(proc(pid, "exe"), problem).string();
  if (!path.ends_with(kDeleted)) {
    return path == executable;
  }
  path.resize(path.size() - kDeleted.size());
  return fs::path(path).parent_path() == fs::path(executable).parent_path();
}

/// A child of ours that has not become its program yet.
bool is_starting(int pid, int parent) {
  std::error_code problem;
  const fs::path program = fs::read_symlink(proc(pid, "exe"), problem);
  return !problem && parent == getpid() && program == fs::read_symlink("/proc/self/exe", problem);
}

std::string boot_id() { return line_of("/proc/sys/kernel/random/boot_id"); }

/// glibc 2.36 declares these without C linkage, so a C++ program cannot link them.
int open_pidfd(int pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }
void send(const Descriptor& pidfd, int signal) { (void)syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0); }

/// A process that a record names, held: whatever becomes of its number, signals reach this one or nobody.
struct HeldProcess {
  const LabProcess* process = nullptr;
  Descriptor pidfd;
};

struct ProcessView {
  ProcessState state = ProcessState::ended;
  Descriptor pidfd{};
};

/// The descriptor first: what is read of the number afterwards is of this process, or of one whose start differs.
ProcessView look_at(const LabProcess& process) {
  ProcessView look{ProcessState::ended, Descriptor(open_pidfd(process.pid))};
  const auto stat = stat_of(process.pid);
  if (!stat || process.boot_id != boot_id()) {
    return look;
  }
  const bool is_over = stat->state == 'Z' || stat->state == 'X';
  if (stat->start_ticks != process.start_ticks) {
    look.state = ProcessState::another;
  } else if (!is_over && look.pidfd.is_open()) {
    const bool is_ours = runs_program(process.pid, process.executable) || is_starting(process.pid, stat->parent);
    look.state = is_ours ? ProcessState::running : ProcessState::another;
  }
  return look;
}

bool has_ended(const HeldProcess& held) {
  pollfd item{held.pidfd.get(), POLLIN, 0};
  return poll(&item, 1, 0) > 0;
}

/// Until all have ended or the deadline passes.
void wait_for_all(const std::vector<HeldProcess>& all, Clock::time_point deadline) {
  for (const HeldProcess& each : all) {
    pollfd item{each.pidfd.get(), POLLIN, 0};
    auto left = [&] { return std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count(); };
    while (!has_ended(each) && left() > 0) {
      (void)poll(&item, 1, static_cast<int>(left()));
    }
  }
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

struct Pipe {
  Descriptor out;
  Descriptor in;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::internal, format_text("no pipe: {}", std::strerror(errno)));
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Nobody else's to read.
Result<Descriptor> open_log(const std::string& path, bool is_extended) {
  const int what = is_extended ? O_APPEND : O_TRUNC;
  Descriptor log(open(path.c_str(), O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC | what, 0600));
  if (!log.is_open() || fchmod(log.get(), 0600) != 0) {
    return fail(ErrorCode::storage, format_text("log {} cannot be written: {}", path, std::strerror(errno)));
  }
  return log;
}

/// What the child does. Only calls that are safe between fork and exec: signal-safety(7).
struct Child {
  char* const* arguments;
  int go;      ///< a byte comes: run. Its end: our parent gave up
  int report;  ///< errno of what failed; closed by a program that runs
  int log;
  int null;
  int parent;
  Lifetime lifetime;

  [[noreturn]] void become_program() const {
    setsid();
    if (lifetime == Lifetime::ours) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) {
        _exit(127);  // it has died in between, and nobody would tell us
      }
    }
    sigset_t none;
    sigemptyset(&none);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) {
      ::signal(signal, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &none, nullptr);
    umask(0077);
    char word = 0;
    if (read(go, &word, 1) != 1) {
      _exit(127);
    }
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execv(arguments[0], arguments);
    const int problem = errno;
    (void)!write(report, &problem, sizeof problem);
    _exit(127);
  }
};

/// Lets the child run, and waits until its program does.
Result<void> release(const ProcessSpec& order, int pid, Pipe& go, Pipe& report) {
  report.in = Descriptor();
  const char word = 'g';
  int problem = 0;
  const bool was_released = write(go.in.get(), &word, 1) == 1;
  if (was_released && read(report.out.get(), &problem, sizeof problem) == 0) {
    return {};
  }
  waitpid(pid, nullptr, 0);
  return fail(ErrorCode::unreachable, format_text("cannot run {}: {}", order.command.front(), std::strerror(problem)));
}

}  // namespace

Result<LabProcess> start_process(const std::string& folder, const ProcessSpec& order, Lifetime lifetime,
                                 const NoteProcess& note) {
  auto log = open_log(format_text("{}/{}.log", folder, order.name), order.extends_log);
  const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto go = make_pipe();
  auto report = make_pipe();
  if (!log || !go || !report) {
    return std::unexpected(!log ? log.error() : !go ? go.error() : report.error());
  }
  std::vector<std::string> words = order.command;
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  const Child child{arguments.data(), go->out.get(), report->in.get(), log->get(), null.get(), getpid(), lifetime};
  const pid_t pid = fork();
  if (pid == 0) {
    close(go->in.get());  // or our own end would keep us waiting for a parent that has died
    child.become_program();
  }
  if (pid < 0) {
    return fail(ErrorCode::internal, format_text("cannot start {}: {}", order.name, std::strerror(errno)));
  }
  std::error_code problem;
  LabProcess process{order.name, pid, 0, boot_id(), fs::weakly_canonical(order.command.front(), problem).string(), utc_now()};
  process.start_ticks = stat_of(pid).value_or(Stat{}).start_ticks;
  if (const auto noted = note(process); !noted) {
    go->in = Descriptor();
    waitpid(pid, nullptr, 0);
    return std::unexpected(noted.error());
  }
  LOOM_TRY(release(order, pid, *go, *report));
  return process;
}

ProcessState state_of(const LabProcess& process) { return look_at(process).state; }

bool is_running(int pid) {
  (void)waitpid(pid, nullptr, WNOHANG);
  const auto stat = stat_of(pid);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

Stopped stop_processes(const std::vector<LabProcess>& processes, int patience_ms) {
  Stopped result;
  std::vector<HeldProcess> held;
  for (const LabProcess& process : processes) {
    ProcessView look = look_at(process);
    if (look.state == ProcessState::running) {
      send(look.pidfd, patience_ms > 0 ? SIGTERM : SIGKILL);
      result.stopped.push_back(process.name);
      held.push_back({&process, std::move(look.pidfd)});
    } else if (look.state == ProcessState::another) {
      result.not_ours.push_back(process.name);
    }
  }
  wait_for_all(held, Clock::now() + std::chrono::milliseconds{patience_ms});
  for (const HeldProcess& each : held) {
    if (!has_ended(each)) {
      send(each.pidfd, SIGKILL);
    }
  }
  wait_for_all(held, Clock::now() + kKillPatience);
  for (const HeldProcess& each : held) {
    if (!has_ended(each)) {
      result.would_not.push_back(each.process->name);
    }
    (void)waitpid(each.process->pid, nullptr, WNOHANG);  // if it is a child of ours
  }
  return result;
}

std::string tail_of_log(const std::string& folder, const std::string& name) {
  std::ifstream file(format_text("{}/{}.log", folder, name));
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > 5) {
      lines.pop_front();
    }
  }
  std::string text;
  for (const std::string& line : lines) {
    text += "\n    " + line;
  }
  return text;
}

std::string program_folder() {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  return problem ? std::string(".") : self.parent_path().string();
}

long long resident_bytes(int pid) {
  std::ifstream file(proc(pid, "statm"));
  long long total = 0;
  long long resident = 0;
  file >> total >> resident;
  return file ? resident * sysconf(_SC_PAGESIZE) : 0;
}

double age_seconds(const LabProcess& process) {
  if (state_of(process) != ProcessState::running) {
    return -1;
  }
  double uptime = 0;
  std::ifstream("/proc/uptime") >> uptime;
  return uptime - static_cast<double>(process.start_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace loom::cli
