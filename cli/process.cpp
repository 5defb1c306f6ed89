// fork, exec, pid files.
#include "cli/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <thread>

namespace loom::cli {
namespace fs = std::filesystem;
namespace {

std::string path_of(const std::string& folder, const std::string& name, const char* suffix) {
  return folder + "/" + name + suffix;
}

std::vector<int> pids_in(const std::string& folder) {
  std::vector<int> pids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".pid") {
      int pid = 0;
      std::ifstream(entry.path()) >> pid;
      if (pid > 1) {
        pids.push_back(pid);
      }
    }
  }
  return pids;
}

bool any_running(const std::vector<int>& pids) {
  bool any = false;
  for (const int pid : pids) {
    any = is_running(pid) || any;
  }
  return any;
}

}  // namespace

Result<int> start_process(const std::string& folder, const ProcessOrder& order) {
  const std::string log = path_of(folder, order.name, ".log");
  std::vector<char*> arguments;
  std::vector<std::string> words = order.command;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) {
    return fail(ErrorCode::internal, "cannot start " + order.name + ": " + std::strerror(errno));
  }
  if (pid == 0) {
    setsid();
    const int output = open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (output >= 0 && input >= 0) {
      dup2(input, STDIN_FILENO);
      dup2(output, STDOUT_FILENO);
      dup2(output, STDERR_FILENO);
    }
    execv(arguments[0], arguments.data());
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", arguments[0], std::strerror(errno));
    _exit(127);
  }
  std::ofstream(path_of(folder, order.name, ".pid")) << pid << "\n";
  return static_cast<int>(pid);
}

bool is_running(int pid) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) == pid) {
    return false;
  }
  return kill(pid, 0) == 0;
}

int stop_processes(const std::string& folder, int patience_ms) {
  const std::vector<int> pids = pids_in(folder);
  int running = 0;
  for (const int pid : pids) {
    if (is_running(pid)) {
      ++running;
      kill(pid, SIGTERM);
    }
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{patience_ms};
  while (any_running(pids) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  for (const int pid : pids) {
    if (is_running(pid)) {
      kill(pid, SIGKILL);
    }
  }
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".pid") {
      files.push_back(entry.path());
    }
  }
  for (const fs::path& file : files) {
    fs::remove(file, ignored);
  }
  return running;
}

std::string tail_of_log(const std::string& folder, const std::string& name) {
  std::ifstream file(path_of(folder, name, ".log"));
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
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  long long total = 0;
  long long resident = 0;
  file >> total >> resident;
  return file ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace loom::cli
