// SPDX-License-Identifier: Apache-2.0
// Ask, print, follow.
#include "cli/nouns/request.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/nouns/read.hpp"
#include "cli/nouns/rows.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds{50};
/// A commit that returned is begun again, if it is, after return_backoff (1 s) and what the return itself takes; one that is
/// followed by another is so at once.
constexpr auto kAgainPatience = std::chrono::seconds{4};
constexpr std::size_t kChangesShown = 40;  ///< of a table; JSON has all

std::string number(std::uint64_t value) { return std::to_string(value); }

constexpr Column<CircuitChange> kColumns[] = {
    {"change", kCell<&CircuitChange::kind>},
    {"circuit", [](const CircuitChange& row) { return number(row.circuit.id.value); }},
    {"job", [](const CircuitChange& row) { return number(row.circuit.job.value); }},
    {"from", [](const CircuitChange& row) { return number(row.circuit.source.value); }},
    {"to", [](const CircuitChange& row) { return number(row.circuit.destination.value); }},
    {"frequency", [](const CircuitChange& row) { return loom::to_string(centre_of(row.circuit.slot)); }}};

}  // namespace

std::string text_of(const ChangeReport& change) {
  std::string text;
  for (const JobMove& move : change.moves) {
    text += format_text("job {}: node {} -> node {}\n", move.job.value, move.from.value, move.to.value);
  }
  if (!change.changes.empty()) {
    const std::size_t shown = std::min(kChangesShown, change.changes.size());
    const auto first = change.changes.begin();
    text += table_of(kColumns, std::vector<CircuitChange>(first, first + static_cast<std::ptrdiff_t>(shown)));
    if (shown < change.changes.size()) {
      text += format_text("... and {} more (--json has all)\n", change.changes.size() - shown);
    }
  }
  return text + text_of(change.certificate);
}

void add_wait(CLI::App& verb, bool& wait) {
  verb.add_flag("--wait", wait, "Return when the revision that carries it out, or the last of them, is confirmed (--timeout)");
}

void add_change_flags(CLI::App& verb, CommandLine& line, bool& wait) {
  verb.add_flag("--dry-run", line.globals.dry_run, "Say what would change, and do nothing");
  add_wait(verb, wait);
}

std::string darkness_of(const ChangeReport& change) {
  if (change.dark_predicted <= Duration{}) {
    return {};
  }
  const std::string by =
      change.slowest.empty() ? "" : format_text("{} needs {} by itself", change.slowest, text_of(change.slowest_time));
  if (change.dark_predicted == change.slowest_time) {
    return format_text("dark for {} at least: {}\n", text_of(change.dark_predicted), by);
  }
  return format_text("dark for some {}, inferred from earlier commits{}{}\n", text_of(change.dark_predicted),
                     by.empty() ? "" : "; ", by);
}

int print_dry_run(const Globals& globals, const OperatorReply& reply) {
  const auto* change = std::get_if<ChangeReport>(&reply.rows);
  if (change == nullptr) {
    return give_up({ErrorCode::internal, "the controller answered a dry run without a plan"});
  }
  print_rows(globals, reply);
  if (globals.json) {
    return kDone;
  }
  std::fputs(darkness_of(*change).c_str(), stdout);
  std::printf(
      "would change %u agents, touch %u circuits and move %u switches; %u circuits in all, planned in %s; nothing was done\n",
      change->agents, change->touched, change->switches_moved, change->circuits, text_of(change->plan).c_str());
  return kDone;
}

namespace {

/// What the controller did after `revision` came to nothing; nothing: it has not decided yet.
std::optional<CommitReport> next_after(Connection& connection, std::uint64_t revision) {
  const auto history = connection.ask(Query{Noun::history, {}});
  std::optional<CommitReport> next;
  for (const CommitReport& row : history ? std::get<std::vector<CommitReport>>(history->rows) : std::vector<CommitReport>{}) {
    if (row.revision.value > revision && (!next || row.revision < next->revision)) {
      next = row;
    }
  }
  return next;
}

/// The revision by which the controller commits the same once more, where this one came to nothing through no fault of the
/// order's (an agent was late): it does so after a pause. Nothing: it does not.
std::optional<std::uint64_t> taken_up_again(Connection& connection, std::uint64_t revision,
                                            std::chrono::steady_clock::time_point deadline) {
  const auto patience = std::min(deadline, std::chrono::steady_clock::now() + kAgainPatience);
  while (std::chrono::steady_clock::now() < patience) {
    if (const auto next = next_after(connection, revision)) {
      return next->reason.starts_with("again: ") ? std::optional(next->revision.value) : std::nullopt;
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return std::nullopt;
}

/// Circuits that come or go with the revision that follows what is confirmed: one order may take two (ADR 97, ADR 15).
std::uint64_t circuits_to_follow(Connection& connection) {
  const auto jobs = connection.ask(Query{Noun::jobs, {}});
  std::uint64_t count = 0;
  for (const JobReport& row : jobs ? std::get<std::vector<JobReport>>(jobs->rows) : std::vector<JobReport>{}) {
    count += row.waiting_circuits;
  }
  return count;
}

}  // namespace

int follow_revision(const Globals& globals, Connection& connection, std::uint64_t revision) {
  const auto deadline = std::chrono::steady_clock::now() + globals.timeout;
  auto at_rest_since = std::chrono::steady_clock::now();
  Progress progress;
  while (true) {
    const auto reply = connection.ask(Query{Noun::status, {}});
    if (!reply) {
      return give_up(reply.error());
    }
    const auto& status = std::get<StatusReport>(reply->rows);
    const auto history = connection.ask(Query{Noun::history, revision});
    if (history) {
      for (const CommitReport& row : std::get<std::vector<CommitReport>>(history->rows)) {
        const auto again = row.outcome == CommitOutcome::returned ? taken_up_again(connection, revision, deadline)
                                                                  : std::optional<std::uint64_t>{};
        if (again) {
          print_note(format_text("revision {} was returned: {}; the same again as revision {}", revision, row.reason, *again));
          revision = *again;
          break;
        }
        if (row.outcome != CommitOutcome::committed) {
          return give_up(
              {ErrorCode::refused, format_text("revision {} was {}: {}", revision, to_string(row.outcome), row.reason)},
              "loom schedule history");
        }
      }
    }
    const auto now = std::chrono::steady_clock::now();
    at_rest_since = status.stage == CommitState::idle ? at_rest_since : now;
    std::uint64_t to_follow = 0;
    if (status.revision.value >= revision) {
      to_follow = circuits_to_follow(connection);
      if (to_follow == 0 || now >= at_rest_since + kAgainPatience) {
        const std::string open = to_follow == 0 ? "" : format_text("; {} circuits come or go with the next one", to_follow);
        progress.finish(format_text("revision {} is confirmed{}", status.revision.value, open));
        return kDone;
      }
    }
    if (now >= deadline) {
      const std::string state = to_follow > 0
                                    ? format_text("confirmed, and the next one, with {} circuits more, is not", to_follow)
                                    : std::string("not confirmed");
      return give_up({ErrorCode::timed_out, format_text("revision {} is {} after {}; the newest is {}", revision, state,
                                                        text_of(globals.timeout), status.revision.value)},
                     "loom status");
    }
    progress.show(to_string(status.stage), status.stage_done, status.stage_total);
    std::this_thread::sleep_for(kPollInterval);
  }
}

int conclude(const Globals& globals, Connection& connection, const OperatorReply& reply, bool wait, const std::string& done) {
  if (globals.dry_run) {
    return print_dry_run(globals, reply);
  }
  if (globals.json) {
    auto object = answer();
    object["revision"] = reply.revision.value;
    print(object);
  } else if (reply.revision.value != 0) {
    std::printf("revision %s\n", number(reply.revision.value).c_str());
  }
  if (reply.revision.value == 0) {
    print_note(done + "; no light changes");
    return kDone;
  }
  if (wait) {
    return follow_revision(globals, connection, reply.revision.value);
  }
  print_note(format_text("{} by revision {}; follow it: loom wait {}", done, reply.revision.value, reply.revision.value));
  return kDone;
}

void print_done(const Globals& globals, std::initializer_list<std::pair<const char*, std::uint64_t>> numbers) {
  if (!globals.json) {
    return;
  }
  auto object = answer();
  for (const auto& [name, number] : numbers) {
    object[name] = number;
  }
  print(object);
}

int request(const Globals& globals, OperatorAsk ask, bool wait, const std::string& done) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(std::move(ask));
  return reply ? conclude(globals, *connection, *reply, wait, done) : give_up(reply.error());
}

}  // namespace loom::cli
