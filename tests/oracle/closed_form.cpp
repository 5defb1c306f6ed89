// SPDX-License-Identifier: Apache-2.0
// Settings into models, and models into times.
#include "tests/oracle/closed_form.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "controller/architectures/oddl/architecture.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "controller/predict/collective_time.hpp"
#include "controller/predict/iteration_clock.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 2> kNames{"ideal-switch", "fat-tree"};
constexpr std::array<std::string_view, 1> kIdealKeys{"latency_us"};
constexpr std::array<std::string_view, 2> kFatTreeKeys{"latency_us", "oversubscription"};
constexpr std::array<std::string_view, 7> kOddlKeys{"acquisition_us", "blank_us",  "control_us",   "group_size",
                                                    "latency_us",     "retune_us", "wss_settle_ms"};
constexpr double kLatencyMicroseconds = 1;  ///< one link, as in docs/predictor.md
constexpr std::uint32_t kFatTreeLinks = 6;  ///< three tiers, to the core and back
constexpr double kMicrosecondsMax = 60e6;
constexpr std::int64_t kRateMax = 100'000'000'000'000;

Duration from_us(double microseconds) { return Duration{std::llround(microseconds * 1e3)}; }

}  // namespace

std::string in_us(Duration duration) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%g us", static_cast<double>(duration.count()) / 1e3);
  return text.data();
}

Result<Duration> microseconds(const Settings& settings, std::string_view key, Duration absent) {
  const auto value = number(settings, key, static_cast<double>(absent.count()) / 1e3, 0, kMicrosecondsMax);
  if (!value) {
    return std::unexpected(value.error());
  }
  return from_us(*value);
}

namespace {

Result<FabricModel> finish_ideal(FabricModel model, const Settings& settings) {
  LOOM_TRY(check_keys(settings, model.name, kIdealKeys));
  model.assumptions = {"ideal-switch: no contention, the switch itself adds nothing; one link of " + in_us(model.link_latency)};
  return model;
}

Result<FabricModel> finish_fat_tree(FabricModel model, const Settings& settings) {
  LOOM_TRY(check_keys(settings, model.name, kFatTreeKeys));
  const auto oversubscription = number(settings, "oversubscription", 1, 1, 1'000);
  if (!oversubscription) {
    return std::unexpected(oversubscription.error());
  }
  model.form = FabricForm::fat_tree;
  model.links = kFatTreeLinks;
  model.oversubscription = *oversubscription;
  std::array<char, 32> ratio{};
  std::snprintf(ratio.data(), ratio.size(), "%g:1", *oversubscription);
  model.assumptions = {"fat-tree (uncalibrated): full bisection, no ECMP collisions; every path " +
                           std::to_string(kFatTreeLinks) + " links of " + in_us(model.link_latency),
                       std::string{"fat-tree (uncalibrated): oversubscription "} + ratio.data() +
                           " taken from every transfer, as if none were local"};
  return model;
}

}  // namespace

std::span<const std::string_view> fabric_names() { return kNames; }

Result<FabricModel> bare_model(std::string_view name, BitRate rate, std::uint32_t nodes, const Settings& settings) {
  if (rate.bits_per_second < 1 || rate.bits_per_second > kRateMax) {
    return fail(ErrorCode::out_of_range,
                "bandwidth " + std::to_string(rate.bits_per_second) + " bit/s: outside 1 .. " + std::to_string(kRateMax));
  }
  FabricModel model;
  model.name = name;
  model.rate = rate;
  model.nodes = nodes;
  const auto latency = microseconds(settings, "latency_us", from_us(kLatencyMicroseconds));
  if (!latency) {
    return std::unexpected(latency.error());
  }
  model.link_latency = *latency;
  return model;
}

Result<FabricModel> make_fabric_model(std::string_view name, BitRate rate, std::uint32_t nodes, const Settings& settings) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    return fail(ErrorCode::not_found, "no fabric '" + std::string{name.substr(0, 128)} + "' to predict for; did you mean '" +
                                          std::string{nearest(name, kNames)} + "'?");
  }
  auto model = bare_model(name, rate, nodes, settings);
  if (!model) {
    return model;
  }
  return name == "fat-tree" ? finish_fat_tree(*std::move(model), settings) : finish_ideal(*std::move(model), settings);
}

Result<FabricModel> make_oddl_model(BitRate rate, std::uint32_t nodes, const Settings& settings) {
  LOOM_TRY(check_keys(settings, "oddl", kOddlKeys));
  auto bare = bare_model("oddl", rate, nodes, settings);
  if (!bare) {
    return bare;
  }
  FabricModel model = *std::move(bare);
  const OddlParameters defaults;
  const auto retune = microseconds(settings, "retune_us", defaults.laser_retune_max);
  const auto control = microseconds(settings, "control_us", defaults.laser_control_max);
  const auto blank = microseconds(settings, "blank_us", defaults.laser_blank_max);
  const auto acquisition = microseconds(settings, "acquisition_us", defaults.receiver_acquisition_max);
  const auto settle = number(settings, "wss_settle_ms", milliseconds_of(defaults.wss_settle_max), 0, 60e3);
  const auto group = whole_number(settings, "group_size", defaults.group_size, 1, static_cast<std::int64_t>(limits::kNodes));
  for (const Error* error :
       {retune ? nullptr : &retune.error(), control ? nullptr : &control.error(), blank ? nullptr : &blank.error(),
        acquisition ? nullptr : &acquisition.error(), settle ? nullptr : &settle.error(), group ? nullptr : &group.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  model.form = FabricForm::timeslots;
  model.group_size = static_cast<std::uint32_t>(*group);
  model.guard = *blank + *retune + *control + *acquisition;
  model.map_change = *blank + Duration{std::llround(*settle * 1e6)} + *acquisition;
  model.assumptions = {
      "oddl (reconstruction): only the paper's abstract is public; groups of " + std::to_string(model.group_size) +
          ", one transmitter and one fixed-filter receiver a node",
      "oddl: a ring keeps one circuit a neighbour at full rate, no retune; one link of " + in_us(model.link_latency),
      "oddl: an all-to-all is played in timeslots; guard " + in_us(model.guard) + " each (blank " + in_us(*blank) +
          ", retune " + in_us(*retune) + ", control " + in_us(*control) + ", acquisition " + in_us(*acquisition) + ")",
      "oddl: a change of the WSS map darkens the job for " + in_us(model.map_change) +
          "; the controller's own time is not counted"};
  return model;
}
namespace {

Duration rounded(double ns) { return Duration{std::llround(ns)}; }

/// Counts the darkness that ODDL's fast and slow plane cost, collective after collective.
class OddlPlanes {
 public:
  OddlPlanes(const FabricModel& fabric, const JobSpec& job) : fabric_(fabric) {
    for (const Collective& collective : job.collectives) {  // where the iteration before has left the maps
      dark_ns(collective, job.node_count);
    }
  }

  double dark_ns(const Collective& collective, std::uint32_t node_count) {
    const CollectivePlan plan = plan_of(collective, node_count);
    const std::uint32_t groups = (plan.size + fabric_.group_size - 1) / fabric_.group_size;
    const auto guard = static_cast<double>(fabric_.guard.count());
    const auto map_change = static_cast<double>(fabric_.map_change.count());
    switch (plan.movement) {
      case Movement::nothing:
        return 0;
      case Movement::ring:
      case Movement::chain: {
        const bool retune = lasers_ != Lasers::ring && lasers_ != Lasers::unknown;
        const bool move = retune && groups > 1;
        lasers_ = Lasers::ring;
        return move ? map_change : retune ? guard : 0;
      }
      case Movement::direct: {
        const std::uint32_t timeslots = groups > 1 ? groups * fabric_.group_size - 1 : plan.size - 1;
        // The first map of a latin all-to-all keeps each group to itself; the last one left another behind.
        const std::uint32_t changes = groups > 1 ? groups - 1 + (lasers_ == Lasers::unknown ? 0 : 1) : 0;
        lasers_ = Lasers::timeslots;
        return collective.count * (timeslots * guard + changes * map_change);
      }
      case Movement::single: {
        lasers_ = Lasers::timeslots;
        return groups > 1 ? map_change : guard;
      }
    }
    return 0;
  }

 private:
  enum class Lasers : std::uint8_t { unknown, ring, timeslots };

  const FabricModel& fabric_;
  Lasers lasers_ = Lasers::unknown;
};

Result<void> check(const JobSpec& job) {
  if (job.node_count == 0 || job.node_count > limits::kNodes) {
    return fail(ErrorCode::invalid_argument, job.workload + ": " + std::to_string(job.node_count) + " nodes, needs 1 .. " +
                                                 std::to_string(limits::kNodes) + " (kNodes)");
  }
  for (const Collective& collective : job.collectives) {
    const std::string fault = fault_of(collective, job.node_count);
    if (!fault.empty()) {
      return fail(ErrorCode::invalid_argument, job.workload + ": " + fault);
    }
  }
  return {};
}

}  // namespace

Result<Prediction> predict(const JobSpec& job, const PredictOptions& options) {
  LOOM_TRY(check(job));
  const FabricModel& fabric = options.fabric;
  const LinkTerms link = link_terms(fabric.transfer_rate(), fabric.path_latency());
  OddlPlanes planes{fabric, job};
  IterationClock clock{job.compute, job.node_count};
  IterationClock lit{job.compute, job.node_count};  // the same iteration without darkness
  Prediction prediction{job.workload, fabric.name, {}, job.node_count, fabric.rate, {}, job.compute,
                        {},           {},          {}, job.assumptions};
  for (const Collective& collective : job.collectives) {
    const double wire = uniform_ns(collective, job.node_count, link) * collective.count;
    const double dark = fabric.form == FabricForm::timeslots ? planes.dark_ns(collective, job.node_count) : 0;
    const double start = clock.start_of(collective);
    clock.finish(collective, start + wire + dark);
    lit.finish(collective, lit.start_of(collective) + wire);
    prediction.phases.push_back({collective.kind, plan_of(collective, job.node_count).size, collective.bytes, collective.count,
                                 rounded(start), rounded(start + wire + dark), rounded(wire), rounded(dark)});
  }
  prediction.iteration = rounded(clock.end());
  prediction.exposed = prediction.iteration - prediction.compute;
  prediction.dark = prediction.iteration - rounded(lit.end());
  prediction.assumptions.insert(prediction.assumptions.end(), fabric.assumptions.begin(), fabric.assumptions.end());
  prediction.assumptions.emplace_back("flow level: no packet headers, no congestion control; ranks run in step");
  return prediction;
}

}  // namespace loom
