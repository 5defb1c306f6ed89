// SPDX-License-Identifier: Apache-2.0
// loom schedule show|history|diff|apply|confirm|rollback, and loom wait: revisions and the light that they bring.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/naming.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/read.hpp"
#include "cli/nouns/request.hpp"
#include "cli/nouns/rows.hpp"
#include "cli/nouns/schedule_file.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

struct ScheduleOptions {
  bool wait = false;
  std::string target;  ///< diff: a revision, a file or empty; apply: a file; rollback: a revision or empty
  std::string mode = "safe";
  std::string confirm_within;
  std::string job;  ///< apply: whose circuits the file's are; empty: as the file says
};

constexpr std::size_t kNamesShown = 8;  ///< of shared amplifiers; JSON has all

std::string number(std::uint64_t value) { return std::to_string(value); }

bool has_light(const CommitReport& row) { return row.certificate.light.circuits > 0; }

/// "149.6 ms of 145.0 ms predicted": what the circuit that was dark longest was, and what was expected before.
std::string dark_text(const CommitReport& row) {
  if (row.touched == 0) {
    return "-";
  }
  const std::string predicted = text_of(row.dark_predicted) + " predicted";
  return row.dark.count == 0 ? predicted : text_of(row.dark.max) + ", " + predicted;
}

constexpr Column<CommitReport> kColumns[] = {
    {"revision", kCell<&CommitReport::revision>},
    {"started", kCell<&CommitReport::started_wall>},
    {"outcome", kCell<&CommitReport::outcome>},
    {"agents", kCell<&CommitReport::agents>},
    {"touched", kCell<&CommitReport::touched>},
    {"plan", kCell<&CommitReport::plan>},
    {"prepare", kCell<&CommitReport::prepare>},
    {"arm", kCell<&CommitReport::arm>},
    {"wait", kCell<&CommitReport::wait>},
    {"darken", kCell<&CommitReport::darken>},
    {"move", kCell<&CommitReport::move>},
    {"relight", kCell<&CommitReport::relight>},
    {"total", kCell<&CommitReport::total>},
    {"slowest device needs", [](const CommitReport& row) { return row.slowest.empty() ? "-" : text_of(row.slowest_time); }},
    {"dark", [](const CommitReport& row) { return dark_text(row); }},
    {"resent", kCell<&CommitReport::resent>},
    {"isolation", [](const CommitReport& row) { return isolation_word(row.certificate); }},
    {"link margin",
     [](const CommitReport& row) { return has_light(row) ? loom::to_string(row.certificate.light.link_margin) : "-"; }},
    {"crosstalk",
     [](const CommitReport& row) { return has_light(row) ? loom::to_string(row.certificate.light.crosstalk) : "-"; }},
    {"ordered by", [](const CommitReport& row) { return row.ordered_by.empty() ? std::string("-") : row.ordered_by; }},
    {"reason", kCell<&CommitReport::reason>}};

/// Whole stages, put together from their parts.
struct StageRow {
  JobId job;
  std::uint32_t number = 0;
  const Stage* stage = nullptr;
};

constexpr Column<StageRow> kStageColumns[] = {
    {"job", [](const StageRow& row) { return number(row.job.value); }},
    {"stage", [](const StageRow& row) { return number(row.number + 1); }},
    {"timeslots", [](const StageRow& row) { return number(row.stage->timeslots.size()); }},
    {"circuits",
     [](const StageRow& row) {
       std::size_t most = 0;
       for (const Timeslot& timeslot : row.stage->timeslots) {
         most = std::max(most, timeslot.circuits.size());
       }
       return number(most);
     }},
    {"cycle",
     [](const StageRow& row) {
       Duration cycle{};
       for (const Timeslot& timeslot : row.stage->timeslots) {
         if (timeslot.hold == kForever) {
           return std::string("static");
         }
         cycle += timeslot.guard + timeslot.hold;
       }
       return text_of(cycle);
     }},
    {"cycles", [](const StageRow& row) { return row.stage->cycles == 0 ? std::string("on") : number(row.stage->cycles); }},
    {"lit by", [](const StageRow& row) { return std::string(row.stage->transmit == Transmit::grants ? "grants" : "plan"); }}};

std::optional<std::uint64_t> revision_of(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// The circuits of a file, or an exit code after every error was said.
Result<std::vector<ScheduledCircuit>> load(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    return fail(ErrorCode::not_found, format_text("there is no file '{}'", path),
                "loom schedule show --json > my-schedule.json");
  }
  auto circuits = read_schedule(path);
  if (!circuits) {
    for (const ConfigError& error : circuits.errors) {
      print_note(to_string(error));
    }
    return fail(ErrorCode::invalid_config, path + " is no schedule that can be applied", "loom schedule show --json");
  }
  return std::move(*circuits.value);
}

Result<ApplyMode> mode_of(const std::string& word) {
  for (const ApplyMode mode : {ApplyMode::safe, ApplyMode::update, ApplyMode::overwrite}) {
    if (word == loom::to_string(mode)) {
      return mode;
    }
  }
  const std::string near = nearest(word, {"safe", "update", "overwrite"});
  return fail(
      ErrorCode::invalid_argument,
      format_text("mode '{}' is none of safe, update, overwrite{}", word, near.empty() ? "" : "; did you mean: " + near),
      "loom schedule apply --help");
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
    print_note("there is nothing to show: no circuit is lit");
  }
  if (globals.json) {
    auto object = json_of(rows);
    object["revision"] = now.revision.value;
    object["certificate"] = json_of(now.certificate);
    print(object);
  } else {
    std::fputs((text_of(rows) + text_of(now.certificate)).c_str(), stdout);
  }
  return kDone;
}

/// Exit 1: they differ.
int diff_schedule(const Globals& globals, const ScheduleOptions& order) {
  DiffSchedule ask;
  if (const auto revision = revision_of(order.target)) {
    ask.revision = Revision{*revision};
  } else if (!order.target.empty()) {
    auto circuits = load(order.target);
    if (!circuits) {
      return give_up(circuits.error());
    }
    ask.circuits = std::move(*circuits);
  }
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(std::move(ask));
  if (!reply) {
    return give_up(reply.error());
  }
  const auto& change = std::get<ChangeReport>(reply->rows);
  print_rows(globals, *reply);
  const std::string against = order.target.empty()        ? "what would be planned now"
                              : revision_of(order.target) ? "revision " + order.target
                                                          : order.target;
  print_note(change.touched == 0
                 ? "the light that is confirmed is the same as " + against
                 : format_text("{} circuits differ between the confirmed light and {}", change.touched, against));
  return change.touched == 0 ? kDone : kFailed;
}

int apply_schedule(const Globals& globals, const ScheduleOptions& order) {
  ApplySchedule ask;
  ask.dry_run = globals.dry_run;
  const auto mode = mode_of(order.mode);
  if (!mode) {
    return give_up(mode.error());
  }
  ask.mode = *mode;
  if (!order.confirm_within.empty()) {
    const auto within = parse_duration(order.confirm_within, "--confirm-within");
    if (!within) {
      return give_up(within.error(), "loom schedule apply FILE --confirm-within 120s");
    }
    ask.confirm_within = *within;
  }
  auto circuits = load(order.target);
  if (!circuits) {
    return give_up(circuits.error());
  }
  if (!order.job.empty()) {
    auto connection = Connection::open(globals);
    const auto job =
        connection ? find_id(*connection, Noun::jobs, order.job) : Result<std::uint64_t>(std::unexpected(connection.error()));
    if (!job) {
      return give_up(job.error());
    }
    const auto other =
        std::ranges::find_if(*circuits, [&](const ScheduledCircuit& circuit) { return circuit.job != circuits->front().job; });
    if (other != circuits->end()) {
      return give_up({ErrorCode::invalid_argument,
                      format_text("--job {}: {} has circuits of jobs {} and {}; nearest: a file of one job", order.job,
                                  order.target, circuits->front().job.value, other->job.value),
                      "loom schedule apply --help"});
    }
    for (ScheduledCircuit& circuit : *circuits) {
      circuit.job = JobId{*job};
    }
  }
  ask.circuits = std::move(*circuits);
  const bool is_tentative = ask.confirm_within > Duration{};
  const int code = request(globals, std::move(ask), order.wait, order.target + " is applied");
  if (code == kDone && is_tentative && !globals.dry_run) {
    print_note(format_text("  it returns by itself in {} unless: loom schedule confirm", order.confirm_within));
  }
  return code;
}

int show_history(const Globals& globals, const PictureFiles& files) {
  if (files.picture.empty()) {
    return show(globals, Noun::history);
  }
  if (const auto lawful = check(files); !lawful) {
    return give_up(lawful.error(), "loom schedule history --help");
  }
  auto connection = Connection::open(globals);
  const auto reply =
      connection ? connection->ask(Query{Noun::history, {}}) : Result<OperatorReply>(std::unexpected(connection.error()));
  if (!reply) {
    return give_up(reply.error());
  }
  const auto written = write(files, picture_of(std::get<std::vector<CommitReport>>(reply->rows)));
  if (!written) {
    return give_up(written.error(), "give --plot a path that can be written");
  }
  print_rows(globals, *reply);
  print_note(*written);
  return kDone;
}

int confirm_schedule(const Globals& globals) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(ConfirmSchedule{});
  if (!reply) {
    return give_up(reply.error());
  }
  print_done(globals, {{"revision", reply->revision.value}});
  print_note(format_text("the schedule of revision {} stays", reply->revision.value));
  return kDone;
}

int roll_back_schedule(const Globals& globals, const ScheduleOptions& order) {
  RollBackSchedule ask{{}, globals.dry_run};
  if (!order.target.empty()) {
    const auto revision = revision_of(order.target);
    if (!revision || *revision == 0) {
      return give_up({ErrorCode::invalid_argument, format_text("'{}' is no revision", order.target), "loom schedule history"});
    }
    ask.to = Revision{*revision};
  }
  return request(
      globals, ask, order.wait,
      order.target.empty() ? "the earlier schedule returns" : format_text("the schedule of revision {} returns", order.target));
}

int wait_for_revision(const Globals& globals, const std::uint64_t& revision) {
  auto connection = Connection::open(globals);
  return connection ? follow_revision(globals, *connection, revision) : give_up(connection.error());
}

void add_changes(CLI::App& group, CommandLine& line) {
  auto& options = line.keep<ScheduleOptions>();
  CLI::App* diff = group.add_subcommand("diff", "Confirmed light against what would be planned now, a revision or a file");
  diff->add_option("REVISION_OR_FILE", options.target, "Nothing: what would be planned now. Exit 1: they differ");
  line.when(*diff, diff_schedule, options);
  CLI::App* apply = group.add_subcommand("apply", "Your own schedule, as loom schedule show --json prints one");
  apply->add_option("FILE", options.target, "YAML or JSON")->required();
  apply
      ->add_option("--mode", options.mode,
                   "safe: refused if light is disturbed; update: what it names changes; overwrite: exactly this")
      ->capture_default_str();
  apply->add_option("--confirm-within", options.confirm_within, "Returns by itself unless confirmed in time, e.g. 120s");
  apply->add_option("--job", options.job, "The file's circuits are this job's, whatever number it had where it was planned");
  add_change_flags(*apply, line, options.wait);
  line.when(*apply, apply_schedule, options);
  line.when(*group.add_subcommand("confirm", "What was applied with --confirm-within stays"), confirm_schedule);
  CLI::App* back = group.add_subcommand("rollback", "Back to the jobs and schedules of an earlier confirmed revision");
  back->add_option("REVISION", options.target, "Nothing: the last one that carried out something else");
  add_change_flags(*back, line, options.wait);
  line.when(*back, roll_back_schedule, options);
}

}  // namespace

std::string text_of(const std::vector<CommitReport>& rows) { return table_of(kColumns, rows); }

std::string isolation_word(const CertificateReport& certificate) {
  return certificate.light.circuits == 0   ? "-"
         : certificate.physically_isolated ? "physical"
         : certificate.wavelength_isolated ? "wavelength"
                                           : "NONE";
}

std::string text_of(const CertificateReport& certificate) {
  const LightMargins& light = certificate.light;
  if (light.circuits == 0) {
    return {};
  }
  std::string text = "isolation    " + isolation_word(certificate);
  const auto& shared = certificate.shared_amplifiers;
  for (std::size_t i = 0; i < shared.size() && i < kNamesShown; ++i) {
    text += (i == 0 ? "; shared amplifiers " : ", ") + shared[i];
  }
  text += shared.size() > kNamesShown ? format_text(", and {} more (--json has all)", shared.size() - kNamesShown) : "";
  text += format_text("\nmargins      link {} at {}; crosstalk {} at {}, {} to its limit (computed from the fabric file)\n",
                      loom::to_string(light.link_margin), certificate.weakest, loom::to_string(light.crosstalk),
                      certificate.noisiest, loom::to_string(light.crosstalk_margin));
  if (light.dipped > 0) {
    text += format_text("reload       {} untouched circuits dip by up to {} for {} at most, and keep {}\n", light.dipped,
                        loom::to_string(light.dip), text_of(light.dip_time), loom::to_string(light.dip_margin));
  }
  return text;
}

std::string text_of(const std::vector<SchedulePart>& rows) {
  std::string text;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(first, rows.end(), [&](const SchedulePart& part) { return part.job != first->job; });
    const JobSchedule schedule = join_parts({first, last});
    std::vector<StageRow> stages;
    for (std::uint32_t number = 0; number < schedule.stages.size(); ++number) {
      stages.push_back({schedule.job, number, &schedule.stages[number]});
    }
    text += table_of(kStageColumns, stages) + (schedule.note.empty() ? "" : schedule.note + "\n");
    first = last;
  }
  return text;
}

void add_schedule(CLI::App& app, CommandLine& line) {
  CLI::App* schedule = app.add_subcommand("schedule", "The light that is confirmed, and how it came");
  schedule->require_subcommand(1);
  line.when(*schedule->add_subcommand("show", "Circuits by job and timeslot"), show_schedule);
  CLI::App* history = schedule->add_subcommand("history", "Every revision: outcome, stages, reason");
  auto& picture = line.keep<PictureFiles>();
  history->add_option("--plot", picture.picture, "Write an SVG or PDF: a lane a revision, and its CSV beside it");
  line.when(*history, show_history, picture);
  CLI::App* stages = schedule->add_subcommand("stages", "What each job is lit with: stages, their timeslots and cycles");
  auto& job = line.keep<std::string>();
  stages->add_option("JOB", job, "Its number or name; all jobs if not named");
  line.when(*stages, [&job](const Globals& globals) { return show(globals, Noun::schedules, job); });
  add_changes(*schedule, line);
  CLI::App* wait = app.add_subcommand("wait", "Until a revision is confirmed (--timeout)");
  auto& revision = line.keep<std::uint64_t>();
  wait->add_option("REVISION", revision, "Its number")->required()->check(number_check<std::uint64_t>("revision", 1));
  line.when(*wait, wait_for_revision, revision);
}

}  // namespace loom::cli
