// The commands that talk to a running controller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "controller/workload/settings.hpp"
#include "core/message.hpp"

namespace loom::cli {

class Connection;

/// What an order would change; says that nothing was done.
int print_dry_run(const Globals& globals, const OperatorReply& reply);
/// wait_for_revision on a connection that is open.
int follow_revision(const Globals& globals, Connection& connection, std::uint64_t revision);

/// One noun's rows, or one row of it (not_found complains and fails).
int show(const Globals& globals, Noun noun, std::optional<std::uint64_t> id);

struct JobOrder {
  std::string workload;  ///< a name of the zoo or a trace file
  std::string name;      ///< empty: the workload's
  std::uint32_t nodes = 0;
  Settings settings;
  std::string ranks;   ///< rank -> node: names or numbers after each other with commas, or a file with one a line; empty: any
  bool adapt = false;  ///< its light follows its measured demand
  bool wait = false;   ///< until it is lit, played or refused
};

/// Submits it; the reply names the job and the revision that will light it. Errors: of the workload, of `ranks`, of the
/// controller.
Result<OperatorReply> request_job(Connection& connection, const JobOrder& order, bool dry_run);
/// Until the job is lit, played or refused; an exit code.
int follow_job(Connection& connection, JobId job, Duration timeout);

int submit_job(const Globals& globals, const JobOrder& order);
/// The workload for as many nodes as the job has.
int change_job(const Globals& globals, std::uint64_t job, const JobOrder& order);
int cancel_job(const Globals& globals, std::uint64_t job, bool wait);
/// Of the order only its nodes and whether to wait.
int resize_job(const Globals& globals, std::uint64_t job, const JobOrder& order);
/// Until the controller has confirmed this revision or a later one.
int wait_for_revision(const Globals& globals, std::uint64_t revision);
/// The light of the confirmed revision: circuits by job and timeslot.
int show_schedule(const Globals& globals);

}  // namespace loom::cli
