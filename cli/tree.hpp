// The tree of commands: every noun, verb and option of `loom`, and what each one calls. Completion and --help are read off it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/keys/keys.hpp"
#include "cli/lab/lab.hpp"
#include "cli/nouns/audit.hpp"
#include "cli/nouns/backup.hpp"
#include "cli/nouns/job_run.hpp"
#include "cli/nouns/orders.hpp"
#include "cli/nouns/remote.hpp"
#include "cli/offline/arena.hpp"
#include "cli/offline/offline.hpp"
#include "cli/offline/reproduce.hpp"
#include "cli/offline/soak.hpp"
#include "cli/options.hpp"
#include "cli/plan/plan.hpp"

namespace loom::cli {

/// What the parsed command line asks for; set by the callback of the subcommand that was named.
struct Session {
  Globals globals;
  std::string timeout = "10s";
  std::function<int()> command;

  std::uint64_t id = 0;
  std::uint32_t number = 0;
  std::string word;
  std::string colour = "auto";
  OrderOptions order;
  DeviceWords device;
  ScheduleOrder schedule;
  PredictOrder predict;
  ArenaOrder arena;
  AuditOrder audit;
  BackupOrder backup;
  PlanOrder plan;
  ReproduceOrder reproduce;
  SimOrder sim;
  ReplayOrder replay;
  SoakOrder soak;
  KillOrder kills;
  JobOrder job;
  LaunchOrder launch;
  EnvOrder env;
  LabOrder lab;
  KeysOrder keys;
  std::string path;
  std::vector<std::string> paths;
  std::vector<std::string> job_settings;
};

/// Fills `app`; its callbacks set session.command. Both must outlive the parse and the command.
void build_tree(CLI::App& app, Session& session);

}  // namespace loom::cli
