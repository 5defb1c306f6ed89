// SPDX-License-Identifier: Apache-2.0
// Intent to verified plan, and plan to answer.
#include "cli/plan/lit_plan.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "cli/plan/saved_plan.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/figure.hpp"
#include "cli/render/occupancy_plot.hpp"
#include "cli/render/term.hpp"
#include "cli/render/topology_plot.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/schedule/estimate.hpp"
#include "controller/schedule/job_alone.hpp"
#include "core/text/format_text.hpp"
#include "drivers/check_plan.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

Result<Intent> intent_of(const PlanInputs& inputs, const BasePlan* base) {
  Intent intent;
  for (std::size_t i = 0; i < inputs.jobs.size(); ++i) {
    Job job{JobId{i + 1}, inputs.jobs[i].spec, {}, 0};
    if (base != nullptr) {
      const auto ranks = base->ranks.find(job.id);
      if (ranks != base->ranks.end() && ranks->second.size() == job.spec.node_count) {
        job.nodes = ranks->second;
      }
    }
    if (inputs.lay) {
      for (std::uint32_t node = 0; node < job.spec.node_count; ++node) {
        job.nodes.push_back(NodeId{node});
      }
    }
    intent.jobs.push_back(std::move(job));
  }
  if (inputs.lay) {
    auto laid = inputs.lay(*inputs.fabric, estimate(intent, nullptr).jobs.front());
    if (!laid) {
      return std::unexpected(std::move(laid).error());
    }
    intent.pinned.push_back(*std::move(laid));
  }
  return intent;
}

/// Sentences and a drawing, by the account that came with the schedule; without one the circuits alone are drawn.
void account_for(const PlanCommand& order, const PlanInputs& inputs, const PlanResult& result, Planned& planned) {
  const ScheduleAccount& account = result.schedule.account;
  const std::string title = format_text("{} on {}", result.schedule.algorithm, inputs.fabric->name);
  planned.answer.jumps = account.jumps;
  if (account.wavelengths) {
    planned.answer.wavelengths = account.wavelengths;
  }
  if (order.explain) {
    planned.answer.explanation = account.why;
    for (const JobSummary& job : account.why.empty() ? planned.answer.jobs : std::vector<JobSummary>{}) {
      planned.answer.explanation.push_back(
          format_text("job {}: {} stages of {} timeslots in sum; its first stage lights {} circuits", job.job.value, job.stages,
                      job.timeslots, job.circuits));
    }
  }
  if (order.plot.empty()) {
    return;
  }
  const auto nodes = static_cast<std::uint32_t>(inputs.fabric->nodes.size());
  if (account.rings.empty()) {
    planned.drawing = picture_of(drawing_of(result.plan.circuits, nodes, title));
    return;
  }
  planned.drawing = picture_of(
      RingsDrawing{title + ": wavelengths lit on each segment", account.rings, account.ring_load, account.ring_channels});
}

/// Before anything is planned.
Result<void> check_rings(const PlanCommand& order, const PlanInputs& inputs) {
  if (order.occupancy.empty()) {
    return {};
  }
  const auto map = occupancy_of(*inputs.fabric, {});
  if (!map) {
    return fail(
        ErrorCode::unsupported,
        format_text("--occupancy: a map of segments is of fabrics whose circuits share rings of fibre (sip-ring); {} is "
                    "of architecture {}",
                    inputs.fabric->name, inputs.fabric->architecture),
        "--links FILE.csv lists the circuits of every fabric");
  }
  return check(*map);
}

/// Who holds the wavelengths of the rings.
Result<void> map_rings(const PlanCommand& order, const PlanInputs& inputs, const PlanResult& result, Planned& planned) {
  if (order.occupancy.empty()) {
    return {};
  }
  const auto map = occupancy_of(*inputs.fabric, result.schedule);
  if (!map) {
    return std::unexpected(map.error());
  }
  planned.answer.occupancy = sums_of(*map);
  planned.occupancy =
      Picture{draw(*map, format_text("Wavelengths of {} by segment ({})", inputs.fabric->name, result.schedule.algorithm)),
              csv_of(*map)};
  return {};
}

/// Each job over the schedule that it would be lit with, by the prediction that a lab's report has.
std::vector<IterationAnswer> iterations_of(const Fabric& fabric, const PlanResult& result) {
  std::vector<IterationAnswer> all;
  const ScheduleTimings timings = timings_on(fabric, {}, *all_architectures().find(result.schedule.algorithm));
  for (const JobSchedule& schedule : result.schedule.jobs) {
    const auto job = std::ranges::find(result.intent.jobs, schedule.job, &Job::id);
    if (job == result.intent.jobs.end()) {
      continue;
    }
    const auto predicted = predict_placed(*job, schedule, timings);
    all.push_back(predicted ? IterationAnswer{job->spec.name, predicted->iteration, predicted->compute, {}}
                            : IterationAnswer{job->spec.name, std::nullopt, job->spec.compute, predicted.error().message});
  }
  return all;
}

PlanAnswer answer_of(const PlanInputs& inputs, const PlanResult& result, const Plan* base) {
  PlanSummary summary = summary_of(result, base);
  PlanAnswer answered;
  answered.algorithm = summary.algorithm;
  answered.fabric = inputs.fabric->name;
  answered.subject = "on the wire of one iteration, the worst job";
  answered.objective = summary.objective;
  answered.bound = summary.bound;
  answered.gap = summary.gap;
  answered.elapsed_of = "place, schedule, lower, verify";
  answered.circuits = summary.circuits;
  answered.touched = summary.touched;
  answered.kept = summary.kept;
  answered.wavelengths = summary.slots;
  answered.certificate = {true,
                          summary.certificate.wavelength_isolated,
                          summary.certificate.physically_isolated,
                          static_cast<std::uint32_t>(summary.certificate.shared_amplifiers.size()),
                          {}};
  answered.jobs = std::move(summary.jobs);
  answered.iterations = iterations_of(*inputs.fabric, result);
  answered.assumptions = result.schedule.assumptions;
  answered.assumptions.insert(answered.assumptions.end(), inputs.fabric->assumptions.begin(), inputs.fabric->assumptions.end());
  return answered;
}

/// A fabric of another kind: say which algorithm it has.
Error with_nearest(Error error, const PlanInputs& inputs) {
  const std::string& own = inputs.fabric->architecture;
  if (error.code == ErrorCode::unsupported && own != inputs.algorithm) {
    error.message += all_architectures().find_scheduler(own) ? "; nearest: --algorithm " + own : std::string{};
  }
  return error;
}

Result<void> write_picture(const PictureFiles& files, std::optional<Picture> picture, const PlanAnswer& answered) {
  LOOM_ASSERT(picture.has_value());
  auto& caption = picture->drawing.caption;
  caption.insert(caption.end(), answered.assumptions.begin(), answered.assumptions.end());
  const auto written = write(files, *picture);
  if (!written) {
    return std::unexpected(written.error());
  }
  print_note(*written);
  return {};
}

}  // namespace

Result<Planned> plan_in_light(const PlanCommand& order, const PlanInputs& inputs, const std::atomic<bool>* stop) {
  LOOM_TRY(check_rings(order, inputs));
  std::size_t nodes = 0;
  for (const PlannedJob& job : inputs.jobs) {
    nodes += job.spec.node_count;
  }
  LOOM_TRY(check_reach(*inputs.fabric, nodes));
  std::optional<BasePlan> base;
  if (!order.base.empty()) {
    auto read = read_base(order.base, inputs.fabric, inputs.algorithm);
    if (!read) {
      return std::unexpected(with_nearest(std::move(read).error(), inputs));
    }
    base = *std::move(read);
  }
  auto intent = intent_of(inputs, base ? &*base : nullptr);
  if (!intent) {
    return std::unexpected(std::move(intent).error());
  }
  PlanRequest request;
  request.fabric = inputs.fabric;
  request.base = base ? base->plan : nullptr;
  request.intent = *std::move(intent);
  request.revision = Revision{base ? 2U : 1U};
  request.next_circuit = base ? base->next_circuit : CircuitId{1};
  request.algorithm = inputs.algorithm;
  request.budget.wants_account = order.explain || !order.plot.empty();
  request.budget.stop.requested = stop;
  const auto begin = Clock::now();
  auto made = make_plan(all_architectures(), request);
  const double elapsed = milliseconds_since(begin);
  if (!made) {
    return std::unexpected(with_nearest(std::move(made).error(), inputs));
  }
  LOOM_TRY(check_with_drivers(*inputs.fabric, (*made)->plan));
  Planned planned{answer_of(inputs, **made, request.base.get()), {}, *made};
  planned.answer.elapsed_ms = elapsed;
  account_for(order, inputs, **made, planned);
  LOOM_TRY(map_rings(order, inputs, **made, planned));
  planned.links = order.links.empty() ? PlanTable{} : circuit_table(*inputs.fabric, (*made)->schedule);
  return planned;
}

Result<void> write_files(const PlanCommand& order, const PlanInputs& inputs, const Planned& planned) {
  if (!order.output.empty() && planned.result != nullptr) {
    LOOM_TRY(write_plan(order.output, *inputs.fabric, *planned.result));
    print_note(format_text("saved to {}; plan a change of it: --base {}", order.output, order.output));
  }
  if (!order.links.empty()) {
    LOOM_TRY(write_table(order.links, planned.links));
    print_note(format_text("{} circuits listed in {}", planned.links.rows.size(), order.links));
  }
  if (!order.forwarding.empty()) {
    LOOM_TRY(write_table(order.forwarding, forwarding_table(planned.result->schedule)));
    print_note("forwarding listed in " + order.forwarding);
  }
  if (!order.wiring.empty()) {
    LOOM_TRY(write_table(order.wiring, wiring_table(*inputs.fabric, planned.result->plan)));
    print_note("wiring listed in " + order.wiring);
  }
  if (!order.plot.empty()) {
    LOOM_TRY(write_picture(plot_files(order), planned.drawing, planned.answer));
  }
  if (!order.occupancy.empty()) {
    LOOM_TRY(write_picture(occupancy_files(order), planned.occupancy, planned.answer));
  }
  return {};
}

}  // namespace loom::cli
