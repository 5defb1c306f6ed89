// SPDX-License-Identifier: Apache-2.0
// loom job list|show|env|run|submit|change|resize|cancel.
#include "cli/nouns/job.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/naming.hpp"
#include "cli/nouns/job_run.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/read.hpp"
#include "cli/nouns/request.hpp"
#include "cli/nouns/rows.hpp"
#include "cli/workloads.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds{50};
/// What WORKLOAD may be, with every model there is.
std::string workload_help() {
  std::string names;
  for (const std::string_view name : workload_names()) {
    names += format_text("{}{}", names.empty() ? "" : ", ", name);
  }
  return format_text("A trace, task graph, demand or model file, or a model of the zoo: {}", names);
}

/// "30 pairs, 3 hops; 64 circuits wait for panels"
std::string forwarding_text(const JobReport& row) {
  std::string text =
      row.forwarded_pairs == 0 ? "-" : format_text("{} pairs, {} hops at most", row.forwarded_pairs, row.hops_most);
  return row.waiting_circuits == 0
             ? text
             : format_text("{}; {} circuits come or go with the next revision", text, row.waiting_circuits);
}

/// "410, 142.1 ms each, p99 150.2 ms, predicted 151.3 ms (3 played again)"
std::string iterations_text(const JobReport& row) {
  if (row.iterations == 0) {
    return "-";
  }
  std::string text = std::to_string(row.iterations);
  if (row.iteration_p50 > Duration{}) {
    text += format_text(", {} each, p99 {}", text_of(row.iteration_p50), text_of(row.iteration_p99));
    text += row.iteration_predicted > Duration{} ? format_text(", predicted {}", text_of(row.iteration_predicted)) : "";
  }
  return row.replayed == 0 ? text : format_text("{} ({} played again)", text, row.replayed);
}

constexpr Column<JobReport> kColumns[] = {
    {"job", kCell<&JobReport::job>},
    {"name", kCell<&JobReport::name>},
    {"workload", kCell<&JobReport::workload>},
    {"state", kCell<&JobReport::state>},
    {"stage", [](const JobReport& row) { return row.stages == 0 ? "-" : format_text("{} of {}", row.stage + 1, row.stages); }},
    {"nodes", kCell<&JobReport::nodes>},
    {"revision", kCell<&JobReport::revision>},
    {"underflows", kCell<&JobReport::underflows>},
    {"iterations", iterations_text},
    {"forwarding", forwarding_text},
    {"schedule", kCell<&JobReport::note>},
    {"why", kCell<&JobReport::reason>}};

/// Where the time of an iteration goes, and what was unusual.
std::string ledger_text(const JobReport& row) {
  if (row.iteration_p50 == Duration{} && row.awaited.empty()) {
    return {};
  }
  std::string text;
  if (row.iteration_p50 > Duration{}) {
    text = format_text("job {}, mean of the last iterations: light {}, compute {}, waited {}, dark {}, lead {}\n",
                       row.job.value, text_of(row.ledger.light), text_of(row.ledger.compute), text_of(row.ledger.waited),
                       text_of(row.ledger.dark), text_of(row.ledger.lead));
    text += row.slowest.empty() ? "" : format_text("  slowest   {}\n", row.slowest);
  }
  return row.awaited.empty() ? text : format_text("{}  waits for {}\n", text, row.awaited);
}

/// Measured against declared demand, and what is made of it.
std::string adaptation_text(const JobReport& row) {
  return format_text("job {} adapts, light made for {} demand\n  declared  {}\n  measured  {}\n  decision  {}\n", row.job.value,
                     row.made_for, row.declared, row.measured.empty() ? "-" : row.measured,
                     row.decision.empty() ? "-" : row.decision);
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
    return fail(ErrorCode::not_found, format_text("rank {}: there is no node '{}'", rank, word), "loom node list");
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

/// A controller, and the job that a word stands for.
struct JobAtHand {
  Connection connection;
  JobId job;
};

Result<JobAtHand> find_job(const Globals& globals, const std::string& word) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return std::unexpected(connection.error());
  }
  const auto job = find_id(*connection, Noun::jobs, word);
  return job ? Result<JobAtHand>(JobAtHand{std::move(*connection), JobId{*job}}) : std::unexpected(job.error());
}

Result<JobSpec> load_job(const JobOptions& options, std::uint32_t nodes) {
  auto settings = parse_settings(options.settings);
  return settings ? read_job({options.workload, nodes, std::move(*settings), options.name}) : std::unexpected(settings.error());
}

int submit_job(const Globals& globals, const JobOptions& order) {
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
    print(object);
  } else {
    std::printf("job %llu\n", static_cast<unsigned long long>(reply->job.value));
  }
  if (!order.wait) {
    print_note(
        format_text("its light comes with revision {}; follow it: loom wait {}", reply->revision.value, reply->revision.value));
  }
  return order.wait ? follow_job(*connection, reply->job, globals.timeout) : kDone;
}

/// The workload for as many nodes as the job has.
int change_job(const Globals& globals, const JobOptions& order) {
  auto at = find_job(globals, order.job);
  if (!at) {
    return give_up(at.error());
  }
  auto& [connection, job] = *at;
  const auto known = connection.ask(Query{Noun::jobs, job.value});
  if (!known) {
    return give_up(known.error());
  }
  const auto& rows = std::get<std::vector<JobReport>>(known->rows);
  const auto nodes = rows.empty() ? 0U : static_cast<std::uint32_t>(rows.front().nodes.size());
  if (nodes == 0) {
    return give_up({ErrorCode::not_found, format_text("job {} does not run", job.value)}, "loom job list");
  }
  auto spec = load_job(order, nodes);
  if (!spec) {
    return give_up(spec.error(), "loom job change --help");
  }
  const auto reply = connection.ask(ChangeJob{job, std::move(*spec), globals.dry_run});
  if (!reply) {
    return give_up(reply.error(), "loom job list");
  }
  if (globals.dry_run) {
    return print_dry_run(globals, *reply);
  }
  print_done(globals, {{"job", job.value}, {"revision", reply->revision.value}});
  print_note(format_text("job {} moves {} from revision {} on", job.value, order.workload, reply->revision.value));
  return order.wait ? follow_revision(globals, connection, reply->revision.value) : kDone;
}

int resize_job(const Globals& globals, const JobOptions& order) {
  auto at = find_job(globals, order.job);
  if (!at) {
    return give_up(at.error());
  }
  auto& [connection, job] = *at;
  const auto reply = connection.ask(ResizeJob{job, order.nodes, globals.dry_run});
  if (!reply) {
    return give_up(reply.error(), "loom job list");
  }
  if (globals.dry_run) {
    return print_dry_run(globals, *reply);
  }
  print_done(globals, {{"job", job.value}, {"revision", reply->revision.value}});
  if (reply->revision.value == 0) {
    print_note(format_text("job {} has {} nodes already", job.value, order.nodes));
    return kDone;
  }
  print_note(format_text("job {} gets {} nodes with revision {}", job.value, order.nodes, reply->revision.value));
  return order.wait ? follow_revision(globals, connection, reply->revision.value) : kDone;
}

int adapt_job(const Globals& globals, const std::string& word, bool on) {
  auto at = find_job(globals, word);
  if (!at) {
    return give_up(at.error());
  }
  auto& [connection, job] = *at;
  const auto reply = connection.ask(AdaptJob{job, on});
  if (!reply) {
    return give_up(reply.error(), "loom job list");
  }
  print_done(globals, {{"job", job.value}, {"revision", reply->revision.value}});
  print_note(format_text("the light of job {} {} its measured demand", job.value, on ? "follows" : "no longer follows"));
  return kDone;
}

/// What is no key=value is refused before anybody is asked.
void add_settings(CLI::App& verb, JobOptions& options) {
  verb.add_option("--set", options.settings,
                  "key=value, repeatable; loom workload show NAME and loom fabric show NAME list them")
      ->check([](const std::string& word) {
        const auto setting = parse_settings(std::span(&word, 1));
        return setting ? std::string{} : setting.error().message;
      });
}

void add_running(CLI::App& job, CommandLine& line) {
  auto& options = line.keep<JobOptions>();
  const auto add_number = [&](CLI::App& verb) { add_named(verb, "JOB", options.job, "The job's number or name"); };
  CLI::App* change = job.add_subcommand("change", "Other traffic for a job that runs, on its nodes: a model or a trace file");
  add_number(*change);
  change->add_option("WORKLOAD", options.workload, workload_help())->required();
  add_settings(*change, options);
  add_wait(*change, options.wait);
  change->add_flag("--dry-run", line.globals.dry_run, "Say what would change");
  line.when(*change, change_job, options);
  CLI::App* resize = job.add_subcommand("resize", "More or fewer nodes for a running job; others run on untouched");
  add_number(*resize);
  resize->add_option("--nodes", options.nodes, "How many nodes from now on")
      ->required()
      ->check(number_check<std::uint32_t>("number of nodes", 1));
  resize->add_flag("--wait", options.wait, "Return when its light is confirmed");
  resize->add_flag("--dry-run", line.globals.dry_run, "Say what would change");
  line.when(*resize, resize_job, options);
  CLI::App* adapt = job.add_subcommand("adapt", "The light of a job that runs follows its measured demand from now on");
  auto& off = line.keep<bool>();
  add_number(*adapt);
  adapt->add_flag("--off", off, "No longer; what its light is made for stays");
  line.when(*adapt, [&options, &off](const Globals& globals) { return adapt_job(globals, options.job, !off); });
  CLI::App* cancel = job.add_subcommand("cancel", "End a job and its light");
  add_number(*cancel);
  add_wait(*cancel, options.wait);
  cancel->add_flag("--dry-run", line.globals.dry_run, "Say what would change");
  line.when(*cancel, [&options](const Globals& globals) { return cancel_job(globals, options.job, options.wait); });
}

}  // namespace

std::string text_of(const std::vector<JobReport>& rows) {
  std::string text = table_of(kColumns, rows);
  for (const JobReport& row : rows) {
    text += ledger_text(row);
    text += row.adapts ? adaptation_text(row) : "";
  }
  return text;
}

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
      return give_up({ErrorCode::not_found, format_text("job {} is gone", job.value)}, "loom job list");
    }
    const JobReport& row = rows.front();
    if (row.state == "refused") {
      return give_up({ErrorCode::refused, format_text("job {} was refused: {}", job.value, row.reason)},
                     "loom schedule history");
    }
    if (row.state == "ended" && row.reason.empty()) {
      return give_up({ErrorCode::refused, format_text("job {} was cancelled before it was in light", job.value)},
                     "loom schedule history");
    }
    if (row.state == "ended" || (row.state == "lit" && row.stage + 1 >= row.stages)) {
      progress.finish(format_text("job {} is {} by revision {}", job.value, row.state, row.revision.value));
      return kDone;
    }
    if (const auto status = connection.ask(Query{Noun::status, {}}); status) {
      const auto& now = std::get<StatusReport>(status->rows);
      progress.show(to_string(now.stage), now.stage_done, now.stage_total);
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return give_up({ErrorCode::timed_out, format_text("job {} is still {} after {}{}", job.value, row.state, text_of(timeout),
                                                        row.reason.empty() ? "" : ": " + row.reason)},
                     format_text("loom job show {}", job.value));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

int cancel_job(const Globals& globals, const std::string& word, bool wait) {
  auto at = find_job(globals, word);
  if (!at) {
    return give_up(at.error());
  }
  auto& [connection, job] = *at;
  const auto reply = connection.ask(CancelJob{job, globals.dry_run});
  if (!reply) {
    return give_up(reply.error(), "loom job list");
  }
  if (globals.dry_run) {
    return print_dry_run(globals, *reply);
  }
  print_done(globals, {{"job", job.value}, {"revision", reply->revision.value}});
  print_note(format_text("job {} is cancelled; its light goes out with revision {}", job.value, reply->revision.value));
  return wait ? follow_revision(globals, connection, reply->revision.value) : kDone;
}

Result<OperatorReply> request_job(Connection& connection, const JobOptions& order, bool dry_run) {
  std::vector<NodeId> placement;
  if (!order.ranks.empty()) {
    auto placed = placement_of(connection, order.ranks);
    if (!placed) {
      return std::unexpected(placed.error());
    }
    placement = std::move(*placed);
  }
  const auto ranks = static_cast<std::uint32_t>(placement.size());
  auto spec = load_job(order, order.nodes == 0 ? ranks : order.nodes);
  if (!spec) {
    return std::unexpected(spec.error());
  }
  if (!placement.empty() && spec->node_count != ranks) {
    return fail(ErrorCode::invalid_argument, format_text("--ranks names {} nodes, the job has {}", ranks, spec->node_count));
  }
  spec->placement = std::move(placement);
  spec->adapt = order.adapt;
  spec->transmit = order.by_grants ? Transmit::grants : Transmit::slots;
  spec->paced_by = order.paced_by_training ? PacedBy::training : PacedBy::model;
  return connection.ask(SubmitJob{std::move(*spec), dry_run});
}

void add_job_options(CLI::App& verb, JobOptions& options) {
  verb.add_option("WORKLOAD", options.workload, workload_help())->required();
  verb.add_option("--nodes", options.nodes, "How many nodes; a trace brings its own")
      ->check(number_check<std::uint32_t>("number of nodes", 1));
  verb.add_option("--ranks", options.ranks, "Rank-to-node map: nodes in rank order (3,node-7,...) or a file, one a line");
  verb.add_option("--name", options.name, "What to call it");
  verb.add_flag("--adapt", options.adapt, "Its light follows its measured demand (lightloom-agent --inspector-dir)");
  verb.add_flag("--grants", options.by_grants, "Its nodes grant each other's light, instead of playing timeslots");
  verb.add_flag("--paced-by-training", options.paced_by_training,
                "Its training processes say when an iteration begins (lightloom-agent --training-dir), not its model");
  add_settings(verb, options);
}

void add_job(CLI::App& app, CommandLine& line) {
  CLI::App& job = add_reading(
      app, line, RowFields<JobReport>::kList, "jobs",
      "state: pending (being planned or committed), waiting (why says for whom), lit, degraded or dark (by its circuits and "
      "the laser latch), ended, refused.");
  add_launcher(job, line);
  CLI::App* submit = job.add_subcommand("submit", "Ask for a job's circuits: a model of the zoo or a trace file");
  auto& options = line.keep<JobOptions>();
  add_job_options(*submit, options);
  submit->add_flag("--wait", options.wait, "Return when its light is confirmed");
  submit->add_flag("--dry-run", line.globals.dry_run, "Plan only: say what would change");
  line.when(*submit, submit_job, options);
  add_running(job, line);
}

}  // namespace loom::cli
