// The main job: each job of a scenario from submission to verified light, predicted and replayed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <span>
#include <thread>

#include "cli/lab_report.hpp"
#include "cli/lab_session.hpp"
#include "cli/process.hpp"
#include "cli/term.hpp"
#include "controller/plan/estimate.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/predict/predict.hpp"
#include "controller/predict/replay.hpp"
#include "controller/schedule/arena.hpp"
#include "controller/workload/zoo.hpp"
#include "drivers/bus/bus_device.hpp"
#include "runtime/clock.hpp"
#include "sim_backend/light/light_model.hpp"
#include "sim_backend/light_log.hpp"

namespace loom::cli {
namespace {

constexpr std::uint32_t kPlayedNodesMost = 128;
constexpr auto kPollInterval = std::chrono::milliseconds{20};
constexpr auto kJobPatience = std::chrono::seconds{60};
/// Light logs are written out every 50 ms; a busy host takes longer.
constexpr auto kLogPatience = std::chrono::seconds{20};

Result<JobReport> job_report(LabSession& lab, JobId job) {
  auto reply = lab.connection->ask(Query{Noun::jobs, job.value});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  auto& rows = std::get<std::vector<JobReport>>(reply->rows);
  if (rows.empty()) {
    return fail(ErrorCode::not_found, "job " + std::to_string(job.value) + " is not known to the controller");
  }
  return std::move(rows.front());
}

/// Follows the job through its stages; returns when its last one is in light or played out.
Result<JobReport> follow(LabSession& lab, JobId job, bool under_grants) {
  const auto deadline = std::chrono::steady_clock::now() + kJobPatience;
  Progress progress;
  while (true) {
    auto row = job_report(lab, job);
    if (!row) {
      return row;
    }
    if (row->state == "refused") {
      return fail(ErrorCode::refused, "job " + row->name + " was refused: " + row->reason);
    }
    const bool is_last = row->stages > 0 && row->stage + 1 >= row->stages;
    const bool is_static = !under_grants;  // light that stays; granted light comes and goes until all is sent
    if (row->state == "ended" || (row->state == "lit" && is_last && is_static && row->waiting_circuits == 0)) {
      progress.finish("job " + row->name + " is in light, revision " + std::to_string(row->revision.value));
      return row;
    }
    auto status = lab.connection->ask(Query{Noun::status, {}});
    if (!status) {
      return std::unexpected(status.error());
    }
    const auto& now = std::get<StatusReport>(status->rows);
    const std::string stage =
        row->stages > 1 ? " (stage " + std::to_string(row->stage + 1) + " of " + std::to_string(row->stages) + ")" : "";
    if (now.stage == CommitStage::idle && row->state == "lit") {
      progress.show(row->name + stage + " plays its timeslots, nodes done", row->cycles_done, row->nodes.size());
    } else if (now.stage == CommitStage::idle) {
      progress.show(row->name + stage + " waits for its revision", 0, row->nodes.size());
    } else {
      progress.show(row->name + stage + " " + std::string(to_string(now.stage)), now.stage_done, now.stage_total);
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return fail(ErrorCode::timed_out,
                  "job " + row->name + " is still " + row->state + " after " + text_of(Duration{kJobPatience}));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

/// Rings behind an emulated or real heater bank leave no light log: their resonance follows from the voltages that the bank's
/// registers hold now (P = V^2 / R), read over the bank's own protocol.
Result<void> add_banks_on_buses(const LabSession& lab, Instant begin, std::vector<OpticalChange>& changes) {
  const Fabric& fabric = *lab.scenario.fabric;
  for (const Device& device : fabric.devices) {
    const std::string& endpoint = fabric.buses[device.bus.value].endpoint;
    if (device.kind != DeviceKind::heater_bank || endpoint == "sim") {
      continue;
    }
    auto bus = make_bus(endpoint);
    if (!bus) {
      return std::unexpected(bus.error());
    }
    const auto channels = static_cast<std::uint16_t>(device.elements.size());
    const BusReply reply =
        (*bus)->execute({device.id, device.bus_address, Registers{0, channels, {}}, std::chrono::seconds{1}});
    if (reply.status != BusStatus::ok || reply.words.size() != channels) {
      return fail(ErrorCode::device_silent, device.name + " at " + endpoint + " did not tell its voltages");
    }
    RingLight light;
    for (std::size_t channel = 0; channel < device.elements.size(); ++channel) {
      const auto& ring = std::get<RingFilter>(fabric.element(device.elements[channel]).kind);
      const double volts = reply.words[channel] * 1e-3;
      const double milliwatts = volts * volts / ring.heater_ohm * 1e3;
      light.resonances.push_back(ring.cold_resonance - FrequencyOffset{std::llround(milliwatts * ring.mhz_per_milliwatt)});
    }
    changes.push_back({begin, device.id, 0, std::move(light)});
  }
  return {};
}

/// Emulated switches leave light logs of their own, on the clock of this host as the agents' are.
Result<void> add_emulated_switches(const LabSession& lab, std::vector<OpticalChange>& changes) {
  for (const Device& device : lab.scenario.fabric->devices) {
    if (!is_emulated_switch(*lab.scenario.fabric, device)) {
      continue;
    }
    auto part = read_light_log(lab.files.light_log(device));
    if (!part) {
      return std::unexpected(part.error());
    }
    changes.insert(changes.end(), part->begin(), part->end());
  }
  return {};
}

/// Waits until the agents' light logs tell everything that has happened by now.
Result<void> await_light_logs(const LabSession& lab) {
  const Instant now = monotonic_now();  // the agents' clock, on this host
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    const std::string path = lab.files.light_log(process);
    while (light_log_whole_through(path) < now) {
      if (monotonic_now() - now > kLogPatience) {
        return fail(ErrorCode::timed_out, path + " has not been written for " + text_of(Duration{kLogPatience}), "loom status");
      }
      std::this_thread::sleep_for(kPollInterval);
    }
  }
  return {};
}

/// What the devices' light amounted to since `begin`, between the job's nodes.
Result<LightTimeline> light_since(const LabSession& lab, Instant begin, const std::vector<NodeId>& nodes) {
  LOOM_TRY(await_light_logs(lab));
  std::vector<OpticalChange> changes;
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    auto part = read_light_log(lab.files.light_log(process));
    if (!part) {
      return std::unexpected(part.error());
    }
    changes.insert(changes.end(), part->begin(), part->end());
  }
  LOOM_TRY(add_emulated_switches(lab, changes));
  LOOM_TRY(add_banks_on_buses(lab, begin, changes));
  LightTimeline light = timeline_of(lab.scenario.fabric, std::move(changes));
  std::vector<NodeId> sorted = nodes;
  std::sort(sorted.begin(), sorted.end());
  const auto is_ours = [&](NodeId node) { return std::binary_search(sorted.begin(), sorted.end(), node); };
  std::erase_if(light, [&](const LitWindow& window) {
    return window.end <= begin || !is_ours(window.source) || !is_ours(window.destination);
  });
  return light;
}

/// What became of the grants that were asked for since `begin`.
Result<std::vector<GrantTimes>> grants_since(const LabSession& lab, Instant begin) {
  std::vector<GrantTimes> all;
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    auto part = read_grant_log(lab.files.grant_log(process));
    if (!part) {
      return std::unexpected(part.error());
    }
    std::copy_if(part->begin(), part->end(), std::back_inserter(all),
                 [&](const GrantTimes& times) { return times.asked >= begin; });
  }
  return all;
}

/// When the replayed iteration begins: a ring when its last circuit is lit; timeslots when their first light comes.
Instant replay_start(const LightTimeline& light, Instant begin, TransferOrder order) {
  const bool waits_for_all = order != TransferOrder::merged;
  Instant start = waits_for_all ? begin : kNever;
  for (const LitWindow& window : light) {
    start = waits_for_all ? std::max(start, window.begin) : std::min(start, std::max(begin, window.begin));
  }
  return start;
}

/// The schedule that the controller had for this job, made again from the same inputs: planning is a pure function.
Result<JobSchedule> schedule_of(const LabSession& lab, JobId id, const JobSpec& spec, const std::vector<NodeId>& nodes) {
  PlanRequest request;
  request.fabric = lab.scenario.fabric;
  request.revision = Revision{1};
  request.next_circuit = CircuitId{1};
  request.algorithm = lab.scenario.algorithm;
  request.intent.jobs.push_back({id, spec, {}, 0});
  request.intent.jobs.back().spec.placement = nodes;  // it arrives: what it is admitted with is decided again
  auto plan = make_plan(request);
  if (!plan) {
    return std::unexpected(plan.error());
  }
  return (*plan)->schedule.jobs.front();
}

Result<std::vector<CommitReport>> commits_since(LabSession& lab, Revision before) {
  auto reply = lab.connection->ask(Query{Noun::history, {}});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  auto rows = std::get<std::vector<CommitReport>>(std::move(reply->rows));
  std::erase_if(rows, [&](const CommitReport& row) { return row.revision <= before; });
  return rows;
}

Result<Revision> confirmed_revision(LabSession& lab) {
  auto reply = lab.connection->ask(Query{Noun::status, {}});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  return std::get<StatusReport>(reply->rows).revision;
}

/// The same job on electrical fabrics by closed forms: at 1024 nodes the engine takes seconds for a fat-tree.
Result<std::vector<Prediction>> reckon_beside(const JobSpec& spec, BitRate rate) {
  std::vector<Prediction> beside;
  for (const char* name : {"ideal-switch", "fat-tree"}) {
    auto model = make_fabric_model(name, rate, spec.node_count, {});
    auto prediction = model ? loom::predict(spec, {*model}) : Result<Prediction>(std::unexpected(model.error()));
    if (!prediction) {
      return std::unexpected(prediction.error());
    }
    prediction->assumptions.push_back(std::string(name) + ": closed forms, not played, beyond " +
                                      std::to_string(kPlayedNodesMost) + " nodes");
    beside.push_back(std::move(*prediction));
  }
  return beside;
}

/// The same, played by the engine; ways of the tree sprayed, which is its best.
Result<std::vector<Prediction>> play_beside(const LabSession& lab, const JobSpec& spec) {
  const Fabric& fabric = *lab.scenario.fabric;
  const BitRate rate = fabric.nodes.empty() ? gigabits(100) : node_rate_of(fabric);
  if (spec.node_count > kPlayedNodesMost) {
    return reckon_beside(spec, rate);
  }
  const auto graph = graph_of(spec);
  const auto compute = graph ? compute_alone(*graph) : Result<Duration>(std::unexpected(graph.error()));
  if (!compute) {
    return std::unexpected(compute.error());
  }
  std::vector<Prediction> beside;
  for (const char* name : {"ideal-switch", "fat-tree"}) {
    const bool is_tree = std::string_view(name) == "fat-tree";
    auto contestant = make_contestant(name, *graph, rate, is_tree ? Settings{{"ways", "sprayed"}} : Settings{});
    const auto row = contestant ? play(*contestant, *compute) : Result<ArenaRow>(std::unexpected(contestant.error()));
    if (!row) {
      return std::unexpected(row.error());
    }
    beside.push_back(prediction_of(*row, *graph, rate));
  }
  return beside;
}

/// `changes`: no job of its own, but other traffic of this one.
Result<JobOutcome> run_job(LabSession& lab, const JobSubmission& submission, std::optional<JobId> changes) {
  auto spec = load_workload(submission.workload, {submission.nodes, {submission.settings.begin(), submission.settings.end()}});
  if (!spec) {
    return std::unexpected(spec.error());
  }
  spec->name = submission.name;
  spec->transmit = submission.transmit;
  spec->adapt = submission.adapt;
  const auto before = confirmed_revision(lab);
  if (!before) {
    return std::unexpected(before.error());
  }
  const Instant begin = monotonic_now();
  auto submitted =
      changes ? lab.connection->ask(ChangeJob{*changes, *spec, false}) : lab.connection->ask(SubmitJob{*spec, false});
  if (!submitted) {
    return std::unexpected(submitted.error());
  }
  JobOutcome outcome;
  outcome.job = submitted->job;
  outcome.begin = begin;
  auto row = follow(lab, outcome.job, spec->transmit == Transmit::grants);
  if (!row) {
    return std::unexpected(row.error());
  }
  outcome.row = std::move(*row);
  spec->placement = outcome.row.nodes;
  auto schedule = schedule_of(lab, outcome.job, *spec, outcome.row.nodes);
  auto commits = commits_since(lab, *before);
  auto light = light_since(lab, begin, outcome.row.nodes);
  if (!schedule || !commits || !light) {
    return std::unexpected(!schedule ? schedule.error() : !commits ? commits.error() : light.error());
  }
  outcome.commits = std::move(*commits);
  outcome.light = std::move(*light);
  ScheduleTimings timings;
  timings.stage_change = dark_time_of(*lab.scenario.fabric, lab.scenario.controller);
  timings.fabric = lab.scenario.algorithm;
  auto predicted = predict_schedule(*spec, *schedule, timings);
  if (!predicted) {
    return std::unexpected(predicted.error());
  }
  outcome.predicted = std::move(*predicted);
  const TransferOrder order = order_of(*schedule);
  outcome.transmit = spec->transmit;
  outcome.node_rate = node_rate_of(*lab.scenario.fabric);
  if (spec->transmit == Transmit::grants) {
    auto grants = grants_since(lab, begin);
    if (!grants) {
      return std::unexpected(grants.error());
    }
    outcome.control = control_times_of(*grants, rate_of(*lab.scenario.fabric));
  }
  const TransferOrder start_order = spec->transmit == Transmit::grants ? TransferOrder::merged : order;
  auto replayed =
      replay(*spec, outcome.light,
             {replay_start(outcome.light, begin, start_order), timings.latency, order, &*schedule, timings.forward});
  if (!replayed) {
    return std::unexpected(replayed.error());
  }
  outcome.replayed = std::move(*replayed);
  auto beside = play_beside(lab, *spec);
  if (!beside) {
    return std::unexpected(beside.error());
  }
  outcome.beside = std::move(*beside);
  return outcome;
}

Result<void> end_job(LabSession& lab, JobId job) {
  const auto before = confirmed_revision(lab);
  if (!before) {
    return std::unexpected(before.error());
  }
  auto cancelled = lab.connection->ask(CancelJob{job, false});
  if (!cancelled) {
    return std::unexpected(cancelled.error());
  }
  const auto deadline = std::chrono::steady_clock::now() + kJobPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    const auto now = confirmed_revision(lab);
    if (!now || *now > *before) {
      return now ? Result<void>{} : Result<void>(std::unexpected(now.error()));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return fail(ErrorCode::timed_out,
              "job " + std::to_string(job.value) + " did not end within " + text_of(Duration{kJobPatience}));
}

/// Every job ends before the next begins, but for those whose traffic a later submission changes; the last one stays.
Result<void> end_unwanted(LabSession& lab, std::vector<JobOutcome>& outcomes, std::span<const JobSubmission> later) {
  for (JobOutcome& outcome : outcomes) {
    const auto wants = [&](const JobSubmission& submission) { return submission.changes == outcome.row.name; };
    if (later.empty() || outcome.is_over || std::any_of(later.begin(), later.end(), wants)) {
      continue;
    }
    for (JobOutcome& each : outcomes) {
      each.is_over = each.is_over || each.job == outcome.job;
    }
    LOOM_TRY(end_job(lab, outcome.job));
  }
  return {};
}

}  // namespace

int run_jobs(LabSession& lab, const Globals& globals) {
  std::vector<JobOutcome> outcomes;
  for (const JobSubmission& submission : lab.scenario.jobs) {
    const auto changed = std::find_if(outcomes.begin(), outcomes.end(),
                                      [&](const JobOutcome& each) { return each.row.name == submission.changes; });
    auto outcome = run_job(lab, submission, changed == outcomes.end() ? std::nullopt : std::optional(changed->job));
    if (!outcome) {
      return give_up(outcome.error(), "loom alarm list");
    }
    if (!globals.json) {
      std::fputs(text_of(*outcome).c_str(), stdout);
    }
    outcomes.push_back(std::move(*outcome));
    if (const auto ended = end_unwanted(lab, outcomes, std::span(lab.scenario.jobs).subspan(outcomes.size())); !ended) {
      return give_up(ended.error(), "loom status");
    }
  }
  LabFootprint footprint;
  footprint.join = lab.join_time;
  footprint.controller_bytes = resident_bytes(lab.controller_pid);
  for (const int pid : lab.agent_pids) {
    footprint.agent_bytes.push_back(resident_bytes(pid));
  }
  if (globals.json) {
    std::printf("%s\n", json_of(outcomes, footprint).dump(2).c_str());
  } else {
    std::fputs(text_of(footprint).c_str(), stdout);
  }
  return kDone;
}

}  // namespace loom::cli
