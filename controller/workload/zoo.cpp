// Jobs of the zoo: gradient buckets in reverse layer order for data-parallel models, two all-to-alls for DLRM.
#include "controller/workload/zoo.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "controller/workload/import.hpp"
#include "controller/workload/layers.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 4> kNames{"vgg16", "vgg19", "resnet50", "dlrm"};
constexpr std::array<std::string_view, 4> kLayeredKeys{"batch", "bucket_mb", "compute_ms", "overlap"};
constexpr std::array<std::string_view, 8> kDlrmKeys{"batch", "bottom", "compute_ms", "dim", "l", "overlap", "tables", "top"};
constexpr std::array<std::string_view, 1> kTraceKeys{"compute_ms"};
constexpr std::array<std::string_view, 2> kOverlaps{"bucketed", "none"};

constexpr std::int64_t kBytesPerParameter = 4;  ///< fp32
constexpr double kMillisecondsMax = 86'400'000;
constexpr double kVgg19Milliseconds = 64;  ///< 32 images, forward and backward: SYSTEMS.md C4
constexpr std::int64_t kVgg19Batch = 32;
/// Backward takes twice the forward pass: two products of the same size a layer (SYSTEMS.md part E, training ~ 3x forward).
constexpr double kForwardShare = 1.0 / 3.0;
/// PyTorch DistributedDataParallel's bucket_cap_mb.
constexpr double kBucketMegabytes = 25;
/// What a GPU of the A100 class sustains on DLRM's small matrix products; inferred, hence a setting (compute_ms) and printed.
constexpr double kDlrmFlopsPerSecond = 10e12;

Duration from_ms(double milliseconds) { return Duration{std::llround(milliseconds * 1e6)}; }

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

struct ComputeTime {
  Duration total{};
  std::string assumption;
};

/// compute_ms if given, else `inferred` with the sentence that says where it comes from.
Result<ComputeTime> compute_time(const Settings& settings, double inferred_ms, const std::string& source) {
  const auto milliseconds = number(settings, "compute_ms", inferred_ms, 0, kMillisecondsMax);
  if (!milliseconds) {
    return std::unexpected(milliseconds.error());
  }
  const bool given = settings.contains("compute_ms");
  return ComputeTime{from_ms(*milliseconds),
                     "compute_ms = " + printed("%.3f", *milliseconds) + (given ? " (given)" : " (" + source + ")")};
}

struct LayeredSettings {
  std::string model;
  std::uint32_t nodes = 0;
  ComputeTime compute;
  std::int64_t bucket_bytes = 0;
  bool overlapped = true;
};

/// Buckets in the order in which the backward pass fills them; a layer's gradient is ready when its share of the backward
/// pass, in proportion to its multiply-accumulates, is done.
std::vector<Collective> gradient_buckets(const std::vector<Layer>& layers, const LayeredSettings& settings) {
  const auto total_macs = static_cast<double>(multiply_accumulates_of(layers));
  const auto compute = static_cast<double>(settings.compute.total.count());
  std::vector<Collective> buckets;
  std::int64_t pending = 0;
  std::int64_t macs_done = 0;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    pending += layer->parameters * kBytesPerParameter;
    macs_done += layer->multiply_accumulates;
    const bool last = std::next(layer) == layers.rend();
    if (pending >= settings.bucket_bytes || last) {
      Collective bucket;
      bucket.kind = CollectiveKind::all_reduce;
      bucket.bytes = Bytes{pending};
      if (settings.overlapped) {
        const double done = kForwardShare + (1 - kForwardShare) * static_cast<double>(macs_done) / total_macs;
        bucket.ready = last ? settings.compute.total : Duration{std::llround(done * compute)};
      }
      buckets.push_back(bucket);
      pending = 0;
    }
  }
  return buckets;
}

Result<JobSpec> make_layered(std::string_view name, const std::vector<Layer>& layers, const WorkloadSettings& settings) {
  LOOM_TRY(check_keys(settings.values, name, kLayeredKeys));
  const auto batch = whole_number(settings.values, "batch", kVgg19Batch, 1, 1'048'576);
  const auto overlap = choice(settings.values, "overlap", "bucketed", kOverlaps);
  const auto bucket_mb = number(settings.values, "bucket_mb", kBucketMegabytes, 0, 1'048'576);
  for (const Error* error :
       {batch ? nullptr : &batch.error(), overlap ? nullptr : &overlap.error(), bucket_mb ? nullptr : &bucket_mb.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  const auto vgg19_macs = static_cast<double>(multiply_accumulates_of(vgg19_layers()));
  const double scale =
      static_cast<double>(multiply_accumulates_of(layers)) / vgg19_macs * static_cast<double>(*batch) / kVgg19Batch;
  const std::string source = name == "vgg19" && *batch == kVgg19Batch
                                 ? "VGG19, 32 images on an A100-class GPU, inferred: SYSTEMS.md C4"
                                 : "inferred: scaled by multiply-accumulates from VGG19's 64 ms for 32 images, SYSTEMS.md C4";
  auto compute = compute_time(settings.values, kVgg19Milliseconds * scale, source);
  if (!compute) {
    return std::unexpected(compute.error());
  }
  LayeredSettings layered{std::string{name}, settings.nodes, *compute, static_cast<std::int64_t>(*bucket_mb * 1e6),
                          *overlap == "bucketed"};
  JobSpec job;
  job.name = name;
  job.workload = name;
  job.node_count = settings.nodes;
  job.compute = compute->total;
  job.collectives = layered.overlapped ? gradient_buckets(layers, layered)
                                       : std::vector<Collective>{{.bytes = Bytes{parameters_of(layers) * kBytesPerParameter}}};
  job.assumptions = {compute->assumption, "batch = " + std::to_string(*batch) + " a node, fp32 gradients",
                     layered.overlapped ? "overlap = bucketed: gradients leave in buckets of " + printed("%g", *bucket_mb) +
                                              " MB, reverse layer order, ready by each layer's share of the backward pass"
                                        : "overlap = none: one all-reduce after all compute"};
  return job;
}

/// Weights and biases of fully connected layers of these widths.
std::int64_t perceptron_parameters(const std::vector<std::int64_t>& widths) {
  std::int64_t total = 0;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    total += widths[i - 1] * widths[i] + widths[i];
  }
  return total;
}

struct Dlrm {
  std::int64_t batch = 0;
  std::int64_t tables = 0;
  std::int64_t dimension = 0;
  std::int64_t bottom_parameters = 0;
  std::int64_t top_parameters = 0;
  bool overlapped = true;

  /// SYSTEMS.md part E: forward FLOP a sample = 2 P_mlp + k^2 D with k = T + 1 features; training three times that.
  double bottom_flops() const { return 3 * 2.0 * static_cast<double>(bottom_parameters * batch); }
  double top_flops() const {
    const auto features = static_cast<double>(tables + 1);
    return 3 * static_cast<double>(batch) *
           (2.0 * static_cast<double>(top_parameters) + features * features * static_cast<double>(dimension));
  }
};

Result<Dlrm> read_dlrm(const Settings& settings) {
  LOOM_TRY(check_keys(settings, "dlrm", kDlrmKeys));
  if (settings.contains("batch") && settings.contains("l")) {
    return fail(ErrorCode::invalid_argument, "dlrm: batch and l both name the local batch; give one of them");
  }
  const auto batch = whole_number(settings, settings.contains("l") ? "l" : "batch", 2048, 1, 1'048'576);
  const auto tables = whole_number(settings, "tables", 64, 1, 65'536);
  const auto dimension = whole_number(settings, "dim", 128, 1, 65'536);
  const auto bottom = number_list(settings, "bottom", {13, 512, 256}, 1, 65'536);
  const auto top = number_list(settings, "top", {1024, 1024, 512, 256, 1}, 1, 65'536);
  const auto overlap = choice(settings, "overlap", "bucketed", kOverlaps);
  for (const Error* error :
       {batch ? nullptr : &batch.error(), tables ? nullptr : &tables.error(), dimension ? nullptr : &dimension.error(),
        bottom ? nullptr : &bottom.error(), top ? nullptr : &top.error(), overlap ? nullptr : &overlap.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  const std::int64_t features = *tables + 1;
  std::vector<std::int64_t> bottom_widths = *bottom;
  bottom_widths.push_back(*dimension);
  std::vector<std::int64_t> top_widths = *top;
  top_widths.insert(top_widths.begin(), features * (features - 1) / 2 + *dimension);  // dot interaction and the bottom's output
  return Dlrm{*batch,
              *tables,
              *dimension,
              perceptron_parameters(bottom_widths),
              perceptron_parameters(top_widths),
              *overlap == "bucketed"};
}

/// Forward: lookups, all-to-all while the bottom MLP runs; the top MLP needs both. Backward: the top MLP first, then the
/// embeddings' gradients travel back while the bottom MLP goes on; the MLPs' gradients are all-reduced.
std::vector<Collective> dlrm_collectives(const Dlrm& model, Duration compute) {
  const double total = model.bottom_flops() + model.top_flops();
  const double bottom_share = model.bottom_flops() / total;
  const auto at = [&](double share) { return Duration{std::llround(share * static_cast<double>(compute.count()))}; };
  const Duration bottom_done = at(kForwardShare * bottom_share);
  const Duration top_back = at(1 - (1 - kForwardShare) * bottom_share);
  const Bytes embeddings{model.batch * model.tables * model.dimension * kBytesPerParameter};
  Collective forward{.kind = CollectiveKind::all_to_all, .bytes = embeddings};
  forward.ready = model.overlapped ? Duration{0} : bottom_done;
  forward.needed = bottom_done;
  Collective backward{.kind = CollectiveKind::all_to_all, .bytes = embeddings};
  Collective top{.kind = CollectiveKind::all_reduce, .bytes = Bytes{model.top_parameters * kBytesPerParameter}};
  Collective bottom{.kind = CollectiveKind::all_reduce, .bytes = Bytes{model.bottom_parameters * kBytesPerParameter}};
  if (model.overlapped) {
    backward.ready = top_back;
    top.ready = top_back;
  }
  return {forward, backward, top, bottom};
}

Result<JobSpec> make_dlrm(const WorkloadSettings& settings) {
  const auto model = read_dlrm(settings.values);
  if (!model) {
    return std::unexpected(model.error());
  }
  const double inferred_ms = (model->bottom_flops() + model->top_flops()) / kDlrmFlopsPerSecond * 1e3;
  auto compute = compute_time(settings.values, inferred_ms,
                              "inferred: 3 x (2 P_mlp + k^2 D) FLOP a sample at 10 TFLOP/s; lookups and updates not counted");
  if (!compute) {
    return std::unexpected(compute.error());
  }
  JobSpec job;
  job.name = "dlrm";
  job.workload = "dlrm";
  job.node_count = settings.nodes;
  job.compute = compute->total;
  job.collectives = dlrm_collectives(*model, compute->total);
  job.assumptions = {
      compute->assumption,
      "dlrm-like: " + std::to_string(model->tables) + " tables of dimension " + std::to_string(model->dimension) +
          " spread evenly over the nodes, local batch " + std::to_string(model->batch) + ", MLPs of " +
          std::to_string(model->bottom_parameters + model->top_parameters) + " parameters, fp32 (defaults after MLPerf DLRM)",
      model->overlapped ? "overlap = bucketed: the forward all-to-all hides behind the bottom MLP, gradients behind backward"
                        : "overlap = none: compute stops while bytes move"};
  return job;
}

}  // namespace

std::span<const std::string_view> workload_names() { return kNames; }

std::span<const std::string_view> workload_keys(std::string_view name) {
  if (name == "dlrm") {
    return kDlrmKeys;
  }
  return std::find(kNames.begin(), kNames.end(), name) == kNames.end() ? std::span<const std::string_view>{}
                                                                       : std::span<const std::string_view>{kLayeredKeys};
}

Result<JobSpec> make_workload(std::string_view name, const WorkloadSettings& settings) {
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    return fail(ErrorCode::not_found, "no workload '" + std::string{name.substr(0, 256)} +
                                          "': neither a known name nor a file; did you mean '" +
                                          std::string{nearest(name, kNames)} + "'?");
  }
  if (settings.nodes < 1 || settings.nodes > limits::kNodes) {
    return fail(ErrorCode::out_of_range, std::string{name} + ": " + std::to_string(settings.nodes) + " nodes; it needs 1 .. " +
                                             std::to_string(limits::kNodes) + " (kNodes); give --nodes");
  }
  if (name == "dlrm") {
    return make_dlrm(settings);
  }
  return make_layered(name, name == "vgg16" ? vgg16_layers() : name == "vgg19" ? vgg19_layers() : resnet50_layers(), settings);
}

Result<JobSpec> load_workload(std::string_view name_or_path, const WorkloadSettings& settings) {
  std::error_code ignored;
  if (std::find(kNames.begin(), kNames.end(), name_or_path) != kNames.end() ||
      !std::filesystem::is_regular_file(std::filesystem::path{name_or_path}, ignored)) {
    return make_workload(name_or_path, settings);
  }
  LOOM_TRY(check_keys(settings.values, "a trace", kTraceKeys));
  auto trace = import_trace(std::string{name_or_path});
  if (!trace) {
    return std::unexpected(trace.error());
  }
  if (settings.nodes != 0 && settings.nodes != trace->job.node_count) {
    return fail(ErrorCode::invalid_argument, std::string{name_or_path} + " brings " + std::to_string(trace->job.node_count) +
                                                 " ranks, --nodes says " + std::to_string(settings.nodes));
  }
  if (settings.values.contains("compute_ms")) {
    auto compute = compute_time(settings.values, 0, "");
    if (!compute) {
      return std::unexpected(compute.error());
    }
    trace->job.compute = compute->total;
    trace->job.assumptions.push_back(compute->assumption);
  }
  return std::move(trace->job);
}

}  // namespace loom
