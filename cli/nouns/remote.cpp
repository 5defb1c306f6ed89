// The commands that talk to a running controller.
#include "cli/nouns/remote.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "cli/connection.hpp"
#include "cli/render/rows.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/workload/zoo.hpp"

namespace loom::cli {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds{50};

/// Prints the rows; `rows` is never the empty alternative for a query that was answered.
int print_rows(const Globals& globals, const OperatorReply& reply) {
  return std::visit(
      [&](const auto& rows) -> int {
        if constexpr (std::is_same_v<std::decay_t<decltype(rows)>, std::monostate>) {
          return kDone;
        } else {
          std::fputs((globals.json ? json_of(rows).dump(2) + "\n" : text_of(rows)).c_str(), stdout);
          return kDone;
        }
      },
      reply.rows);
}

std::size_t count_of(const OperatorReply& reply) {
  return std::visit(
      [](const auto& rows) -> std::size_t {
        using Rows = std::decay_t<decltype(rows)>;
        if constexpr (std::is_same_v<Rows, std::monostate>) {
          return 0;
        } else if constexpr (std::is_same_v<Rows, StatusReport> || std::is_same_v<Rows, ChangeReport> ||
                             std::is_same_v<Rows, CircuitExplanation>) {
          return 1;
        } else {
          return rows.size();
        }
      },
      reply.rows);
}

const char* word_of(Noun noun) {
  switch (noun) {
    case Noun::status:
      return "status";
    case Noun::nodes:
      return "node";
    case Noun::devices:
      return "device";
    case Noun::circuits:
      return "circuit";
    case Noun::jobs:
      return "job";
    case Noun::history:
      return "schedule history";
    case Noun::audit:
      return "audit";
    default:
      return "alarm";
  }
}

/// The words of a rank map: a file's lines, or what commas part.
std::vector<std::string> rank_words(const std::string& ranks) {
  std::vector<std::string> words;
  std::string text = ranks;
  if (std::error_code ignored; std::filesystem::is_regular_file(ranks, ignored)) {
    std::ifstream file(ranks);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::string word;
  for (const char letter : text + ",") {
    if (letter != ',' && letter != '\n' && letter != ' ' && letter != '\r') {
      word += letter;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

Result<NodeId> node_of(const std::vector<NodeReport>& nodes, const std::string& word, std::size_t rank) {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const NodeReport& node) {
    return node.name == word || std::to_string(node.node.value) == word;
  });
  if (found == nodes.end()) {
    return fail(ErrorCode::not_found, "rank " + std::to_string(rank) + ": there is no node '" + word + "'", "loom node list");
  }
  return found->node;
}

Result<std::vector<NodeId>> placement_of(Connection& connection, const std::string& ranks) {
  const auto reply = connection.ask(Query{Noun::nodes, {}});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  const auto& nodes = std::get<std::vector<NodeReport>>(reply->rows);
  std::vector<NodeId> placement;
  for (const std::string& word : rank_words(ranks)) {
    auto node = node_of(nodes, word, placement.size());
    if (!node) {
      return std::unexpected(node.error());
    }
    placement.push_back(*node);
  }
  return placement;
}

}  // namespace

int follow_job(Connection& connection, JobId job, Duration timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  Progress progress;
  while (true) {
    const auto jobs = connection.ask(Query{Noun::jobs, job.value});
    if (!jobs) {
      return give_up(jobs.error());
    }
    const auto& rows = std::get<std::vector<JobReport>>(jobs->rows);
    if (rows.empty()) {
      return give_up({ErrorCode::not_found, "job " + std::to_string(job.value) + " is gone"}, "loom job list");
    }
    const JobReport& row = rows.front();
    if (row.state == "refused") {
      return give_up({ErrorCode::refused, "job " + std::to_string(job.value) + " was refused: " + row.reason},
                     "loom schedule history");
    }
    if (row.state == "ended" && row.reason.empty()) {
      return give_up({ErrorCode::refused, "job " + std::to_string(job.value) + " was cancelled before it was in light"},
                     "loom schedule history");
    }
    if (row.state == "ended" || (row.state == "lit" && row.stage + 1 >= row.stages)) {
      progress.finish("job " + std::to_string(job.value) + " is " + row.state + " by revision " +
                      std::to_string(row.revision.value));
      return kDone;
    }
    if (const auto status = connection.ask(Query{Noun::status, {}}); status) {
      const auto& now = std::get<StatusReport>(status->rows);
      progress.show(to_string(now.stage), now.stage_done, now.stage_total);
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return give_up({ErrorCode::timed_out, "job " + std::to_string(job.value) + " is still " + row.state + " after " +
                                                text_of(timeout) + (row.reason.empty() ? "" : ": " + row.reason)},
                     "loom job show " + std::to_string(job.value));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

int print_dry_run(const Globals& globals, const OperatorReply& reply) {
  const auto* change = std::get_if<ChangeReport>(&reply.rows);
  if (change == nullptr) {
    return give_up({ErrorCode::internal, "the controller answered a dry run without a plan"});
  }
  if (const int code = print_rows(globals, reply); globals.json || code != kDone) {
    return code;
  }
  std::printf(
      "would change %u agents, touch %u circuits and move %u switches; %u circuits in all, planned in %s; nothing was done\n",
      change->agents, change->touched, change->switches_moved, change->circuits, text_of(change->plan).c_str());
  return kDone;
}

int follow_revision(const Globals& globals, Connection& connection, std::uint64_t revision) {
  const auto deadline = std::chrono::steady_clock::now() + globals.timeout;
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
        if (row.outcome != CommitOutcome::committed) {
          return give_up({ErrorCode::refused, "revision " + std::to_string(revision) + " was " +
                                                  std::string(to_string(row.outcome)) + ": " + row.reason},
                         "loom schedule history");
        }
      }
    }
    if (status.revision.value >= revision) {
      progress.finish("revision " + std::to_string(status.revision.value) + " is confirmed");
      return kDone;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return give_up(
          {ErrorCode::timed_out, "revision " + std::to_string(revision) + " is not confirmed after " +
                                     text_of(globals.timeout) + "; the newest is " + std::to_string(status.revision.value)},
          "loom status");
    }
    progress.show(to_string(status.stage), status.stage_done, status.stage_total);
    std::this_thread::sleep_for(kPollInterval);
  }
}

int show(const Globals& globals, Noun noun, std::optional<std::uint64_t> id) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(Query{noun, id});
  if (!reply) {
    return give_up(reply.error());
  }
  if (id.has_value() && count_of(*reply) == 0) {
    return give_up({ErrorCode::not_found, std::string("there is no ") + word_of(noun) + " " + std::to_string(*id)},
                   std::string("loom ") + (noun == Noun::history ? "schedule history" : std::string(word_of(noun)) + " list"));
  }
  if (count_of(*reply) == 0) {
    say(std::string("there is nothing to show: no ") + word_of(noun) + (noun == Noun::circuits ? " is lit" : ""));
  }
  return print_rows(globals, *reply);
}

Result<OperatorReply> request_job(Connection& connection, const JobOrder& order, bool dry_run) {
  std::vector<NodeId> placement;
  if (!order.ranks.empty()) {
    auto placed = placement_of(connection, order.ranks);
    if (!placed) {
      return std::unexpected(placed.error());
    }
    placement = std::move(*placed);
  }
  const auto ranks = static_cast<std::uint32_t>(placement.size());
  auto spec = load_workload(order.workload, {order.nodes == 0 ? ranks : order.nodes, order.settings, all_option_keys()});
  if (!spec) {
    return std::unexpected(spec.error());
  }
  if (!order.name.empty()) {
    spec->name = order.name;
  }
  if (!placement.empty() && spec->node_count != ranks) {
    return fail(ErrorCode::invalid_argument,
                "--ranks names " + std::to_string(ranks) + " nodes, the job has " + std::to_string(spec->node_count));
  }
  spec->placement = std::move(placement);
  spec->adapt = order.adapt;
  return connection.ask(SubmitJob{std::move(*spec), dry_run});
}

int submit_job(const Globals& globals, const JobOrder& order) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = request_job(*connection, order, globals.dry_run);
  if (!reply) {
    return give_up(reply.error(), "loom job submit --help");
  }
  if (globals.dry_run) {
    return print_dry_run(globals, *reply);
  }
  if (globals.json) {
    auto object = answer();
    object["job"] = reply->job.value;
    object["revision"] = reply->revision.value;
    std::printf("%s\n", object.dump(2).c_str());
  } else {
    std::printf("job %llu\n", static_cast<unsigned long long>(reply->job.value));
  }
  if (!order.wait) {
    say("its light comes with revision " + std::to_string(reply->revision.value) + "; follow it: loom wait " +
        std::to_string(reply->revision.value));
  }
  return order.wait ? follow_job(*connection, reply->job, globals.timeout) : kDone;
}

int change_job(const Globals& globals, std::uint64_t job, const JobOrder& order) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto known = connection->ask(Query{Noun::jobs, job});
  if (!known) {
    return give_up(known.error());
  }
  const auto& rows = std::get<std::vector<JobReport>>(known->rows);
  const auto nodes = rows.empty() ? 0U : static_cast<std::uint32_t>(rows.front().nodes.size());
  if (nodes == 0) {
    return give_up({ErrorCode::not_found, "job " + std::to_string(job) + " does not run"}, "loom job list");
  }
  auto spec = load_workload(order.workload, {nodes, order.settings, all_option_keys()});
  if (!spec) {
    return give_up(spec.error(), "loom job change --help");
  }
  const auto reply = connection->ask(ChangeJob{JobId{job}, std::move(*spec), globals.dry_run});
  if (!reply) {
    return give_up(reply.error(), "loom job list");
  }
  if (globals.dry_run) {
    return print_dry_run(globals, *reply);
  }
  say("job " + std::to_string(job) + " moves " + order.workload + " from revision " + std::to_string(reply->revision.value) +
      " on");
  return order.wait ? follow_revision(globals, *connection, reply->revision.value) : kDone;
}

int resize_job(const Globals& globals, std::uint64_t job, const JobOrder& order) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(ResizeJob{JobId{job}, order.nodes, globals.dry_run});
  if (!reply) {
    return give_up(reply.error(), "loom job list");
  }
  if (globals.dry_run) {
    return print_dry_run(globals, *reply);
  }
  if (reply->revision.value == 0) {
    say("job " + std::to_string(job) + " has " + std::to_string(order.nodes) + " nodes already");
    return kDone;
  }
  say("job " + std::to_string(job) + " gets " + std::to_string(order.nodes) + " nodes with revision " +
      std::to_string(reply->revision.value));
  return order.wait ? follow_revision(globals, *connection, reply->revision.value) : kDone;
}

int cancel_job(const Globals& globals, std::uint64_t job, bool wait) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(CancelJob{JobId{job}, globals.dry_run});
  if (!reply) {
    return give_up(reply.error(), "loom job list");
  }
  if (globals.dry_run) {
    return print_dry_run(globals, *reply);
  }
  say("job " + std::to_string(job) + " is cancelled; its light goes out with revision " +
      std::to_string(reply->revision.value));
  return wait ? follow_revision(globals, *connection, reply->revision.value) : kDone;
}

int wait_for_revision(const Globals& globals, std::uint64_t revision) {
  auto connection = Connection::open(globals);
  return connection ? follow_revision(globals, *connection, revision) : give_up(connection.error());
}

int show_schedule(const Globals& globals) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto circuits = connection->ask(Query{Noun::circuits, {}});
  const auto status = circuits ? connection->ask(Query{Noun::status, {}}) : circuits;
  if (!status) {
    return give_up(status.error());
  }
  const auto& rows = std::get<std::vector<CircuitReport>>(circuits->rows);
  const auto& now = std::get<StatusReport>(status->rows);
  if (rows.empty()) {
    say("there is nothing to show: no circuit is lit");
  }
  if (globals.json) {
    auto object = json_of(rows);
    object["revision"] = now.revision.value;
    object["certificate"] = json_of(now.certificate);
    std::fputs((object.dump(2) + "\n").c_str(), stdout);
  } else {
    std::fputs((text_of(rows) + text_of(now.certificate)).c_str(), stdout);
  }
  return kDone;
}

}  // namespace loom::cli
