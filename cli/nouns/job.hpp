// SPDX-License-Identifier: Apache-2.0
// What `loom job submit` and `loom job run` have in common: a job as it is written on a command line, asked for and followed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "controller/workload/settings.hpp"
#include "core/messages/operator.hpp"

namespace loom::cli {

class Connection;

struct JobOptions {
  std::string job;       ///< of change, resize and cancel: number or name
  std::string workload;  ///< a name of the zoo or a trace file
  std::string name;      ///< empty: the workload's
  std::uint32_t nodes = 0;
  std::vector<std::string> settings;  ///< key=value
  std::string ranks;   ///< rank -> node: names or numbers after each other with commas, or a file with one a line; empty: any
  bool adapt = false;  ///< its light follows its measured demand
  bool by_grants = false;  ///< its nodes grant each other's light, instead of timeslots
  bool paced_by_training = false;
  bool wait = false;  ///< until it is lit, played or refused
};

/// WORKLOAD and the options that say what kind of job it is.
void add_job_options(CLI::App& verb, JobOptions& options);

/// Submits it; the reply names the job and the revision that will light it. Errors: of the workload, of `ranks`, of the
/// controller.
Result<OperatorReply> request_job(Connection& connection, const JobOptions& options, bool dry_run);
/// Until the job is lit, played or refused; an exit code.
int follow_job(Connection& connection, JobId job, Duration timeout);
/// Ends it and its light.
int cancel_job(const Globals& globals, const std::string& job, bool wait);

}  // namespace loom::cli
