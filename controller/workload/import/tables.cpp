// SPDX-License-Identifier: Apache-2.0
// DLRM and NCF from their settings. Counts and bytes: docs/workloads.md#anchors; NCF's shape: docs/systems/topoopt.md#models.
#include "controller/workload/import/tables.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include "controller/workload/models/compute_time.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 2> kNames{"dlrm", "ncf"};
constexpr std::array<std::string_view, 10> kKeys{"batch", "bottom",  "compute_ms", "dim",    "flops",
                                                 "l",     "overlap", "rows",       "tables", "top"};
constexpr std::array<std::string_view, 2> kOverlaps{"bucketed", "none"};
constexpr std::int64_t kBytesPerParameter = 4;  ///< fp32
constexpr double kForwardShare = 1.0 / 3.0;
/// What a GPU of the A100 class sustains on DLRM's small matrix products; inferred, hence a setting (flops) and printed.
constexpr double kDlrmFlopsPerSecond = 10e12;
/// TopoOpt's dense layer of 61 952 x 4096 on an A100: 64 samples in 2.09 + 3.79 ms (docs/workloads.md#anchors).
constexpr double kNcfFlopsPerSecond = 16.57e12;

struct Defaults {
  std::int64_t batch = 2048;
  std::int64_t rows = 10'000'000;
  std::int64_t dimension = 128;
  std::vector<std::int64_t> bottom{};
  std::vector<std::int64_t> top{};
};

Defaults defaults_of(std::string_view name) {
  if (name == "ncf") {
    // 64 tables x 64 factors are the 4096 inputs of eight layers of 4096; 128 more elements a table go to the factor product
    return {128, 1'000'000, 64 + 128, {}, std::vector<std::int64_t>(8, 4096)};
  }
  return {2048, 10'000'000, 128, {13, 512, 256}, {1024, 1024, 512, 256, 1}};  // after MLPerf DLRM
}

/// Weights and biases of fully connected layers of these widths.
std::int64_t perceptron_parameters(const std::vector<std::int64_t>& widths) {
  std::int64_t total = 0;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    total += widths[i - 1] * widths[i] + widths[i];
  }
  return total;
}

void finish_dlrm(TableModel& model, std::vector<std::int64_t> bottom, std::vector<std::int64_t> top) {
  const std::int64_t features = model.tables + 1;
  bottom.push_back(model.dimension);
  top.insert(top.begin(), features * (features - 1) / 2 + model.dimension);  // dot interaction and the bottom's output
  model.bottom_parameters = perceptron_parameters(bottom);
  model.top_parameters = perceptron_parameters(top);
  const auto k = static_cast<double>(features);
  model.interaction_flops = k * k * static_cast<double>(model.dimension);
  model.flops_per_second = kDlrmFlopsPerSecond;
  model.source = "inferred: 3 x (2 P_mlp + k^2 D) FLOP a sample at 10 TFLOP/s; lookups and updates not counted";
}

void finish_ncf(TableModel& model, std::vector<std::int64_t> top) {
  top.insert(top.begin(), model.tables * (model.dimension / 3));
  model.top_parameters = perceptron_parameters(top);
  model.flops_per_second = kNcfFlopsPerSecond;
  model.source =
      "inferred: 6 FLOP a parameter of the perceptron and sample at 16.6 TFLOP/s (TopoOpt's dense layers on an A100, "
      "docs/workloads.md#anchors); lookups and updates not counted";
}

std::vector<std::string> assumptions_of(const TableModel& model, std::string compute) {
  const bool dlrm = model.name == "dlrm";
  std::string shape =
      format_text("{}{} tables of dimension {} spread evenly over the nodes, local batch {}, MLPs of {} parameters, fp32 {}",
                  dlrm ? "dlrm-like: " : model.name + ": ", model.tables, model.dimension, model.batch,
                  model.bottom_parameters + model.top_parameters,
                  dlrm ? "(defaults after MLPerf DLRM)" : "(defaults after TopoOpt's NCF, docs/systems/topoopt.md#models)");
  return {std::move(compute), std::move(shape),
          model.overlapped ? "overlap = bucketed: the forward all-to-all hides behind the bottom MLP, gradients behind backward"
                           : "overlap = none: compute stops while bytes move"};
}

/// Embeddings on one stream, gradients on another.
constexpr std::uint8_t kTableStream = 2;
constexpr std::uint8_t kGradientStream = 1;

}  // namespace

std::span<const std::string_view> table_model_names() { return kNames; }
std::span<const std::string_view> table_model_keys() { return kKeys; }

Result<TableModel> table_model_of(std::string_view name, const Settings& settings) {
  LOOM_TRY(check_keys(settings, name, kKeys));
  if (settings.contains("batch") && settings.contains("l")) {
    return fail(ErrorCode::invalid_argument, format_text("{}: batch and l both name the local batch; give one of them", name));
  }
  const Defaults absent = defaults_of(name);
  const auto batch = whole_number(settings, settings.contains("l") ? "l" : "batch", absent.batch, 1, 1'048'576);
  const auto tables = whole_number(settings, "tables", 64, 1, 65'536);
  const auto rows = whole_number(settings, "rows", absent.rows, 1, 1'000'000'000);
  const auto dimension = whole_number(settings, "dim", absent.dimension, 1, 65'536);
  const auto bottom = number_list(settings, "bottom", absent.bottom, 1, 65'536);
  const auto top = number_list(settings, "top", absent.top, 1, 65'536);
  const auto overlap = choice(settings, "overlap", "bucketed", kOverlaps);
  const auto rate = number(settings, "flops", 0, 1e-6, 1e6);
  for (const Error* error :
       {batch ? nullptr : &batch.error(), tables ? nullptr : &tables.error(), rows ? nullptr : &rows.error(),
        dimension ? nullptr : &dimension.error(), bottom ? nullptr : &bottom.error(), top ? nullptr : &top.error(),
        overlap ? nullptr : &overlap.error(), rate ? nullptr : &rate.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  TableModel model{.name = std::string{name},
                   .batch = *batch,
                   .tables = *tables,
                   .rows = *rows,
                   .dimension = *dimension,
                   .overlapped = *overlap == "bucketed",
                   .source = {}};
  if (name == "dlrm") {
    finish_dlrm(model, *bottom, *top);
  } else {
    finish_ncf(model, *top);
  }
  if (settings.contains("flops")) {
    model.flops_per_second = *rate * 1e12;
    model.source = format_text("given: flops = {} TFLOP/s", printed("%g", *rate));
  }
  return model;
}

Result<TaskGraph> table_graph(const TableModel& model, const Settings& settings, std::uint32_t nodes) {
  const double flops = model.bottom_flops() + model.top_flops();
  auto compute = compute_time(settings, flops / model.flops_per_second * 1e3, model.source);
  if (!compute) {
    return std::unexpected(compute.error());
  }
  const double bottom_share = model.bottom_flops() / flops;
  const auto at = [&](double share) { return Duration{std::llround(share * static_cast<double>(compute->total.count()))}; };
  const Duration bottom_done = at(kForwardShare * bottom_share);
  const Duration top_back = at(1 - (1 - kForwardShare) * bottom_share);
  const Bytes embeddings{model.batch * model.tables * model.dimension * kBytesPerParameter};

  TaskGraphBuilder build{model.name, nodes};
  std::vector<std::uint32_t> all(nodes);
  std::iota(all.begin(), all.end(), 0U);
  build.graph().node_of_worker = all;
  build.graph().parameters = model.parameters();
  const std::uint32_t workers = build.family(all, 1);
  const std::uint32_t everybody = build.family(all, nodes);
  const std::uint32_t automatic = build.choice({});
  const auto exchange = [&](std::string_view name) {
    return build.communicate(name, everybody, CollectiveKind::all_to_all, embeddings, automatic, kTableStream);
  };
  const auto reduce = [&](std::string_view name, std::int64_t parameters) {
    return build.communicate(name, everybody, CollectiveKind::all_reduce, Bytes{parameters * kBytesPerParameter}, automatic,
                             kGradientStream);
  };
  const std::uint32_t bottom_forward = build.compute("bottom.forward", workers, bottom_done);
  const std::uint32_t rows = exchange("rows");
  const std::uint32_t top_forward =
      build.compute("top.forward", workers, std::max(at(kForwardShare), bottom_done) - bottom_done);
  const std::uint32_t top_backward =
      build.compute("top.backward", workers, top_back - std::max(at(kForwardShare), bottom_done));
  const std::uint32_t bottom_backward = build.compute("bottom.backward", workers, compute->total - top_back);
  const std::uint32_t gradients = exchange("rows' gradients");
  const std::uint32_t top = reduce("top's gradients", model.top_parameters);
  const std::uint32_t bottom = reduce("bottom's gradients", model.bottom_parameters);
  build.edge(bottom_forward, top_forward);
  build.edge(rows, top_forward);
  build.edge(top_forward, top_backward);
  build.edge(top_backward, bottom_backward);
  if (!model.overlapped) {
    build.edge(bottom_forward, rows);
  }
  build.edge(model.overlapped ? top_backward : bottom_backward, gradients);
  build.edge(model.overlapped ? top_backward : bottom_backward, top);
  build.edge(bottom_backward, bottom);
  build.graph().assumptions = assumptions_of(model, compute->assumption);
  return std::move(build).build();
}

}  // namespace loom
