// SPDX-License-Identifier: Apache-2.0
// Requests that change something on a running controller: what the controller answered is printed, and with --wait the revision
// that carries it out is followed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "cli/command_line.hpp"
#include "core/messages/operator.hpp"

namespace loom::cli {

class Connection;

struct RequestOptions {
  bool wait = false;
  bool force = false;
};

/// --wait.
void add_wait(CLI::App& verb, bool& wait);
/// --dry-run and --wait.
void add_change_flags(CLI::App& verb, CommandLine& line, bool& wait);

/// What a request would change; says that nothing was done.
int print_dry_run(const Globals& globals, const OperatorReply& reply);
/// Until the controller has confirmed this revision or a later one; an exit code.
int follow_revision(const Globals& globals, Connection& connection, std::uint64_t revision);
/// Prints what a request came to: a dry run's changes, or the revision that carries it out, which --wait follows.
int conclude(const Globals& globals, Connection& connection, const OperatorReply& reply, bool wait, const std::string& done);
/// What a request came to, as an answer of --json: numbers by name. Without --json nothing: a note says it.
void print_done(const Globals& globals, std::initializer_list<std::pair<const char*, std::uint64_t>> numbers);
/// Connects, asks, concludes. `done`: what has happened then, e.g. "node 17 is drained".
int request(const Globals& globals, OperatorAsk ask, bool wait, const std::string& done);

}  // namespace loom::cli
