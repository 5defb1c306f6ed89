// SPDX-License-Identifier: Apache-2.0
// Submit, wait, start, stand by, cancel.
#include "cli/nouns/job_run.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/naming.hpp"
#include "cli/nouns/read.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

struct EnvOptions {
  std::string job;        ///< number or name
  bool hostfile = false;  ///< a node's name a line, in rank order, as MPI launchers read it
};

struct LaunchOptions {
  JobOptions job;
  std::string on_quiesce;  ///< run by /bin/sh when light of the job is about to go dark; the change waits for its end
  std::string on_resume;   ///< when all of it is back
  bool keep = false;       ///< the job's light stays when the command has ended
  std::vector<std::string> command;
};

constexpr auto kAttendInterval = std::chrono::milliseconds{100};

using Variables = std::vector<std::pair<std::string, std::string>>;

std::string number(std::uint64_t value) { return std::to_string(value); }

Result<JobReport> row_of(Connection& connection, OperatorAsk ask, JobId job) {
  auto reply = connection.ask(std::move(ask));
  if (!reply) {
    return std::unexpected(reply.error());
  }
  auto* rows = std::get_if<std::vector<JobReport>>(&reply->rows);
  if (rows == nullptr || rows->empty()) {
    return fail(ErrorCode::not_found, format_text("there is no job {}", job.value), "loom job list");
  }
  return std::move(rows->front());
}

/// The names of a job's nodes in rank order.
Result<std::vector<std::string>> names_of(Connection& connection, const JobReport& job) {
  const auto reply = connection.ask(Query{Noun::nodes, {}});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  const auto& nodes = std::get<std::vector<NodeReport>>(reply->rows);
  std::vector<std::string> names;
  for (const NodeId node : job.nodes) {
    if (node.value >= nodes.size()) {
      return fail(ErrorCode::internal,
                  format_text("job {} is on node {}, which the controller does not list", job.job.value, node.value));
    }
    names.push_back(nodes[node.value].name);
  }
  return names;
}

Variables variables_of(const JobReport& job, const std::vector<std::string>& names, const std::string& state) {
  std::string listed;
  for (const std::string& name : names) {
    listed += (listed.empty() ? "" : ",") + name;
  }
  return {{"LIGHTLOOM_JOB", number(job.job.value)},
          {"LIGHTLOOM_JOB_NAME", job.name},
          {"LIGHTLOOM_WORLD_SIZE", number(names.size())},
          {"LIGHTLOOM_NODES", std::move(listed)},
          {"LIGHTLOOM_JOB_STATE", job.state},
          {"LIGHTLOOM_REVISION", number(job.revision.value)},
          {"LIGHTLOOM_STATE", state}};
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) {
    out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return out + "'";
}

Result<pid_t> start(const std::vector<std::string>& words, const Variables& variables) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) {
    return fail(ErrorCode::internal, format_text("cannot start {}: {}", words.front(), std::strerror(errno)));
  }
  if (pid == 0) {
    for (const int number : {SIGINT, SIGTERM}) {
      signal(number, SIG_DFL);
    }
    for (const auto& [name, value] : variables) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    execvp(arguments.front(), arguments.data());
    complain(ErrorCode::not_found, format_text("cannot run {}: {}", arguments.front(), std::strerror(errno)));
    _exit(127);
  }
  return pid;
}

/// Its exit code once it has ended; nothing while it runs.
std::optional<int> ended(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) != pid) {
    return std::nullopt;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::atomic<int> wanted_signal{0};
extern "C" void pass_on(int number) { wanted_signal = number; }

/// Stands by a running command: answers the controller's wish for quiet by the hooks, passes signals on.
class Attendance {
 public:
  Attendance(const Globals& globals, const LaunchOptions& order, Connection connection, JobReport job,
             std::vector<std::string> names)
      : globals_(globals), order_(order), connection_(std::move(connection)), job_(std::move(job)), names_(std::move(names)) {}

  int follow(pid_t command) {
    while (true) {
      if (const auto code = ended(command)) {
        return *code;
      }
      if (const int number = wanted_signal.exchange(0); number != 0) {
        kill(command, number);
      }
      attend();
      std::this_thread::sleep_for(kAttendInterval);
    }
  }

 private:
  void attend() {
    finish_hook();
    const bool asks = !order_.on_quiesce.empty() || !order_.on_resume.empty();
    auto row =
        row_of(connection_, asks ? OperatorAsk(AttendJob{job_.job, quiet_for_}) : Query{Noun::jobs, job_.job.value}, job_.job);
    if (!row) {
      return lose(row.error());
    }
    is_lost_ = false;
    if ((row->state == "ended" || row->state == "refused") && job_.state != row->state) {
      warn(format_text("job {} is {}{}; its light is gone, the command runs on", job_.job.value, row->state,
                       row->reason.empty() ? "" : ": " + row->reason),
           "loom job list");
    }
    job_ = std::move(*row);
    if (asks && hook_ == 0) {
      answer_quiesce();
    }
  }

  void answer_quiesce() {
    if (job_.quiesce.value != 0 && !is_quiet_ && failed_for_ != job_.quiesce) {
      asked_for_ = job_.quiesce;
      begin_hook("quiesce", order_.on_quiesce);
    } else if (job_.quiesce.value != 0 && is_quiet_) {
      quiet_for_ = job_.quiesce;  // it stays quiet for the next change too
    } else if (job_.quiesce.value == 0 && is_quiet_) {
      begin_hook("resume", order_.on_resume);
    }
  }

  void begin_hook(const std::string& phase, const std::string& command) {
    phase_ = phase;
    print_note(format_text(
        "  job {}: {}{}", job_.job.value, phase,
        phase == "quiesce" ? format_text(", revision {} darkens its light", asked_for_.value) : ", its light is back"));
    if (command.empty()) {
      return end_hook(0);
    }
    Variables variables = variables_now();
    variables.emplace_back("LIGHTLOOM_PHASE", phase);
    variables.emplace_back("LIGHTLOOM_QUIESCE_REVISION", number(asked_for_.value));
    const auto pid = start({"/bin/sh", "-c", command}, variables);
    pid ? static_cast<void>(hook_ = *pid) : end_hook(127);
  }

  /// The job may have moved and been lit again since its command began. A controller that does not answer leaves the names as
  /// they were.
  Variables variables_now() {
    if (auto names = names_of(connection_, job_)) {
      names_ = *std::move(names);
    }
    return variables_of(job_, names_, globals_.state_dir);
  }

  void finish_hook() {
    if (hook_ == 0) {
      return;
    }
    if (const auto code = ended(hook_)) {
      hook_ = 0;
      end_hook(*code);
    }
  }

  void end_hook(int code) {
    if (code != 0) {
      warn(format_text("the {} hook ended with {}{}", phase_, code,
                       phase_ == "quiesce" ? "; the controller waits until its deadline and darkens the light then" : ""),
           "loom alarm list");
    }
    if (phase_ == "resume") {
      is_quiet_ = false;
    } else if (code == 0) {
      is_quiet_ = true;
      quiet_for_ = asked_for_;
    } else {
      failed_for_ = asked_for_;
    }
  }

  /// A controller that is away leaves the light as it is; its next incarnation may be elsewhere.
  void lose(const Error& error) {
    if (!is_lost_) {
      print_note(format_text("  {}; agents keep the light as it is, waiting for the controller", error.message));
    }
    is_lost_ = true;
    if (auto again = Connection::open(globals_)) {
      connection_ = std::move(*again);
    }
  }

  const Globals& globals_;
  const LaunchOptions& order_;
  Connection connection_;
  JobReport job_;
  std::vector<std::string> names_;  ///< of its nodes, in rank order
  std::string phase_;
  pid_t hook_ = 0;       ///< 0: none runs
  Revision asked_for_;   ///< the wish that the present hook answers
  Revision quiet_for_;   ///< what the controller is told
  Revision failed_for_;  ///< a wish whose hook failed is not tried again
  bool is_quiet_ = false;
  bool is_lost_ = false;
};

void print_hostfile(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::printf("%s\n", name.c_str());
  }
}

/// LIGHTLOOM_* of a job, as lines for a shell's `eval`, as a host file, or as JSON.
int print_job_env(const Globals& globals, const EnvOptions& order) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto found = find_id(*connection, Noun::jobs, order.job);
  if (!found) {
    return give_up(found.error());
  }
  const JobId id{*found};
  const auto job = row_of(*connection, Query{Noun::jobs, id.value}, id);
  const auto names = job ? names_of(*connection, *job) : Result<std::vector<std::string>>(std::unexpected(job.error()));
  if (!names) {
    return give_up(names.error());
  }
  if (order.hostfile) {
    print_hostfile(*names);
    return kDone;
  }
  const Variables variables = variables_of(*job, *names, globals.state_dir);
  if (globals.json) {
    auto object = answer();
    for (const auto& [name, value] : variables) {
      object[name] = value;
    }
    object["ranks"] = *names;
    print(object);
    return kDone;
  }
  for (const auto& [name, value] : variables) {
    std::printf("export %s=%s\n", name.c_str(), quoted(value).c_str());
  }
  return kDone;
}

/// Submits the job, waits for its light, runs the command with LIGHTLOOM_* in its environment, and cancels the job when it
/// ends. Returns the command's exit code; 128 + n where signal n ended it.
int run_with_job(const Globals& globals, const LaunchOptions& order) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto id = request_job(*connection, order.job, false);
  if (!id) {
    return give_up(id.error(), "loom job run --help");
  }
  if (const int code = follow_job(*connection, id->job, globals.timeout); code != kDone) {
    const auto cancelled = connection->ask(CancelJob{id->job, false});  // of one that was refused there is nothing left
    return cancelled || code != kTimedOut ? code : give_up(cancelled.error());
  }
  auto job = row_of(*connection, Query{Noun::jobs, id->job.value}, id->job);
  const auto names = job ? names_of(*connection, *job) : Result<std::vector<std::string>>(std::unexpected(job.error()));
  if (!names) {
    return give_up(names.error());
  }
  for (const int number : {SIGINT, SIGTERM}) {
    signal(number, pass_on);
  }
  const Variables variables = variables_of(*job, *names, globals.state_dir);
  const auto command = start(order.command, variables);
  if (!command) {
    return give_up(command.error());
  }
  const int code = Attendance(globals, order, std::move(*connection), std::move(*job), *names).follow(*command);
  if (order.keep) {
    print_note(format_text("  job {} keeps its light; end it: loom job cancel {}", id->job.value, id->job.value));
    return code;
  }
  Globals silent = globals;  // stdout is the command's
  silent.json = false;
  const int cancelled = cancel_job(silent, number(id->job.value), false);
  return code != kDone ? code : cancelled;
}

}  // namespace

void add_launcher(CLI::App& job, CommandLine& line) {
  CLI::App* env = job.add_subcommand("env", "What a launcher needs to know: rank -> node, for eval, as a host file or as JSON");
  auto& wanted = line.keep<EnvOptions>();
  add_named(*env, "JOB", wanted.job, "The job's number or name");
  env->add_flag("--hostfile", wanted.hostfile, "A node's name a line, in rank order");
  line.when(*env, print_job_env, wanted);

  CLI::App* run =
      job.add_subcommand("run", "Submit a job, run a command when its circuits are ready, cancel the job at its end");
  auto& options = line.keep<LaunchOptions>();
  add_job_options(*run, options.job);
  run->add_option("--on-quiesce", options.on_quiesce,
                  "Shell command that makes the job quiet; light of the job goes dark only after it has ended");
  run->add_option("--on-resume", options.on_resume, "Shell command that is run when all light is back");
  run->add_flag("--keep", options.keep, "Leave the job and its light when the command has ended");
  run->add_option("COMMAND", options.command, "After --; it finds LIGHTLOOM_JOB, LIGHTLOOM_NODES, ... in its environment")
      ->required();
  line.when(*run, run_with_job, options);
}

}  // namespace loom::cli
