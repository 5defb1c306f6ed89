// SPDX-License-Identifier: Apache-2.0
// Files to operators.
#include "controller/architectures/sip_ml/profile_file.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/architectures/sip_ml/graph_profile.pb.h"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using sip::GraphProfile;
using Wire = GraphProfile::Operation;

constexpr std::uint32_t kBatchMost = 1'048'576;
constexpr std::string_view kBatchMark = "_bs";
constexpr std::string_view kEnding = ".pb";

/// Of a file's name.
struct FileName {
  std::string_view prefix;
  std::uint32_t batch = 0;
};

std::optional<FileName> split(std::string_view path) {
  const auto mark = path.rfind(kBatchMark);
  if (!path.ends_with(kEnding) || mark == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view digits =
      path.substr(mark + kBatchMark.size(), path.size() - kEnding.size() - mark - kBatchMark.size());
  FileName name{path.substr(0, mark), 0};
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), name.batch);
  return problem == std::errc{} && end == digits.data() + digits.size() ? std::optional(name) : std::nullopt;
}

std::unexpected<Error> refuse(const std::filesystem::path& path, ErrorCode code, const std::string& what) {
  return fail(code, path.string() + ": " + what);
}

std::string in_quotes(std::string_view name) { return format_text("'{}'", name.substr(0, 200)); }

using FilesByBatch = std::map<std::uint32_t, std::filesystem::path>;

Result<FilesByBatch> files_of(const std::string& prefix) {
  const std::filesystem::path whole{prefix};
  const std::filesystem::path folder = whole.has_parent_path() ? whole.parent_path() : std::filesystem::path{"."};
  const std::string name = whole.filename().string();
  FilesByBatch files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string each = entry.path().filename().string();
    const auto parts = split(each);
    if (!parts || parts->prefix != name) {
      continue;
    }
    if (parts->batch < 1 || parts->batch > kBatchMost) {
      return refuse(entry.path(), ErrorCode::out_of_range, format_text("batch {}; 1 to {}", parts->batch, kBatchMost));
    }
    if (!files.emplace(parts->batch, entry.path()).second) {
      return refuse(entry.path(), ErrorCode::invalid_argument, format_text("another file of batch {} is there", parts->batch));
    }
  }
  if (files.empty()) {
    return fail(ErrorCode::not_found, format_text("no file {}_bs1.pb, {}_bs2.pb, ...", prefix, prefix),
                "name what the files have in common, or one of them");
  }
  if (files.size() > kProfileBatches) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} batch sizes; at most {} (kProfileBatches)", prefix, files.size(), kProfileBatches));
  }
  return files;
}

Result<GraphProfile> parse(const std::filesystem::path& path) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  std::ifstream file(path, std::ios::binary);
  if (problem || !file) {
    return refuse(path, ErrorCode::not_found, "cannot be read");
  }
  if (size > limits::kTraceFileBytes) {
    return refuse(path, ErrorCode::out_of_range,
                  format_text("{} bytes; at most {} (kTraceFileBytes)", size, limits::kTraceFileBytes));
  }
  GraphProfile parsed;
  if (!parsed.ParseFromIstream(&file)) {
    return refuse(path, ErrorCode::malformed, "not a profile of SiP-ML's tools (protobuf that cannot be read)");
  }
  const auto count = static_cast<std::size_t>(parsed.operations_size());
  if (count == 0) {
    return refuse(path, ErrorCode::malformed, "a profile without operators");
  }
  if (count > kProfileOperations) {
    return refuse(path, ErrorCode::out_of_range,
                  format_text("{} operators; at most {} (kProfileOperations)", count, kProfileOperations));
  }
  return parsed;
}

/// One profile as its files are read, operators in the order of the first.
class Reader {
 public:
  explicit Reader(ProfileReading reading) : reading_(reading) {}

  Result<void> add(const std::filesystem::path& path, std::uint32_t batch) {
    const auto parsed = parse(path);
    if (!parsed) {
      return std::unexpected(parsed.error());
    }
    const bool is_first = batches_.empty();
    batches_.push_back(batch);
    for (const Wire& each : parsed->operations()) {
      LOOM_TRY(add(path, each, is_first));
    }
    for (const ProfiledOperation& each : operations_) {
      if (each.compute.size() != batches_.size()) {
        return refuse(path, ErrorCode::invalid_argument, format_text("operator {} is missing", in_quotes(each.name)));
      }
    }
    auto inputs = inputs_in(path, *parsed);
    if (!inputs) {
      return std::unexpected(std::move(inputs).error());
    }
    if (is_first) {
      inputs_ = *std::move(inputs);
    } else if (*inputs != inputs_) {
      return refuse(path, ErrorCode::invalid_argument, "operators read others than at the smallest batch: not one model");
    }
    return {};
  }

  Result<SipProfile> take(const std::string& prefix) && {
    const auto order = order_of(prefix);
    if (!order) {
      return std::unexpected(order.error());
    }
    std::vector<std::uint32_t> place(operations_.size());
    for (std::uint32_t i = 0; i < order->size(); ++i) {
      place[(*order)[i]] = i;
    }
    SipProfile profile{std::filesystem::path{prefix}.filename().string(),
                       format_text("measured on one GPU, SiP-ML's profiler: {}", prefix),
                       std::move(batches_),
                       {}};
    if (reading_ == ProfileReading::as_in_code) {
      profile.source += ", times and outputs halved as the authors' reader does";
    }
    for (const std::uint32_t at : *order) {
      ProfiledOperation& operation = profile.operations.emplace_back(std::move(operations_[at]));
      for (const std::uint32_t input : inputs_[at]) {
        operation.inputs.push_back(place[input]);
      }
      std::ranges::sort(operation.inputs);
    }
    return profile;
  }

 private:
  Result<void> add(const std::filesystem::path& path, const Wire& each, bool is_first) {
    const bool is_memory = each.kind() != Wire::COMPUTE;
    const bool is_read = each.memory() == Wire::READ_VARIABLE;
    if (!Wire::Kind_IsValid(each.kind())) {
      return refuse(
          path, ErrorCode::invalid_argument,
          format_text("operator {}: kind {} is none of 0, 1, 2", in_quotes(each.name()), static_cast<int>(each.kind())));
    }
    if (each.kind() == Wire::MEMORY && !is_read && each.memory() != Wire::WRITE_VARIABLE) {
      return refuse(path, ErrorCode::invalid_argument,
                    format_text("operator {}: memory of kind {}; variables are read (2) or written (1)", in_quotes(each.name()),
                                static_cast<int>(each.memory())));
    }
    const auto [found, is_new] = index_.emplace(each.name(), static_cast<std::uint32_t>(operations_.size()));
    if (is_new && !is_first) {
      return refuse(path, ErrorCode::invalid_argument,
                    format_text("operator {} is not in the file of the smallest batch", in_quotes(each.name())));
    }
    if (is_new) {
      operations_.push_back({each.name(), {}, {}, {}, is_memory, {}});
    }
    ProfiledOperation& operation = operations_[found->second];
    if (operation.is_memory != is_memory) {
      return refuse(path, ErrorCode::invalid_argument,
                    format_text("operator {} is of another kind at a smaller batch", in_quotes(each.name())));
    }
    if (operation.compute.size() == batches_.size()) {
      return refuse(path, ErrorCode::invalid_argument, format_text("operator {} is there twice", in_quotes(each.name())));
    }
    if (each.kind() == Wire::MEMORY && is_read) {
      operation.parameters = Bytes{std::max<std::int64_t>(operation.parameters.count, each.memory_bytes())};
    }
    const bool is_halved = reading_ == ProfileReading::as_in_code;
    const bool hands_on = !is_memory && !(is_halved && each.name().find("Reshape") != std::string::npos);
    const std::int64_t nanoseconds = is_memory ? 0 : std::int64_t{each.compute_us()} * 1'000;
    operation.compute.push_back(Duration{is_halved ? nanoseconds / 2 : nanoseconds});
    operation.output.push_back(Bytes{hands_on ? std::int64_t{each.output_bytes()} / (is_halved ? 2 : 1) : 0});
    return {};
  }

  Result<std::vector<std::vector<std::uint32_t>>> inputs_in(const std::filesystem::path& path,
                                                            const GraphProfile& parsed) const {
    std::vector<std::vector<std::uint32_t>> inputs(operations_.size());
    std::size_t edges = 0;
    for (const GraphProfile::Readers& each : parsed.graph()) {
      const auto from = index_.find(each.name());
      if (from == index_.end()) {
        return refuse(path, ErrorCode::invalid_argument,
                      format_text("the graph has {}, which is no operator", in_quotes(each.name())));
      }
      edges += static_cast<std::size_t>(each.readers_size());
      if (edges > kProfileEdges) {
        return refuse(path, ErrorCode::out_of_range, format_text("more than {} edges (kProfileEdges)", kProfileEdges));
      }
      for (const std::string& reader : each.readers()) {
        const auto to = index_.find(reader);
        if (to == index_.end()) {
          return refuse(path, ErrorCode::invalid_argument,
                        format_text("{} is read by {}, which is no operator", in_quotes(each.name()), in_quotes(reader)));
        }
        inputs[to->second].push_back(from->second);
      }
    }
    for (auto& each : inputs) {
      std::ranges::sort(each);
      each.erase(std::unique(each.begin(), each.end()), each.end());
    }
    return inputs;
  }

  /// Each after what it reads, otherwise as in the file. Errors: a cycle.
  Result<std::vector<std::uint32_t>> order_of(const std::string& prefix) const {
    std::vector<std::size_t> waits;
    std::vector<std::vector<std::uint32_t>> readers(inputs_.size());
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> able;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
      waits.push_back(inputs_[i].size());
      for (const std::uint32_t input : inputs_[i]) {
        readers[input].push_back(i);
      }
      if (waits.back() == 0) {
        able.push(i);
      }
    }
    std::vector<std::uint32_t> order;
    while (!able.empty()) {
      order.push_back(able.top());
      able.pop();
      for (const std::uint32_t reader : readers[order.back()]) {
        if (--waits[reader] == 0) {
          able.push(reader);
        }
      }
    }
    if (order.size() == inputs_.size()) {
      return order;
    }
    return fail(ErrorCode::invalid_argument, format_text("{}: a cycle: {}", prefix, cycle_among(waits)));
  }

  /// Operators that still wait hold one: back along any input that waits too, until one comes again.
  std::string cycle_among(const std::vector<std::size_t>& waits) const {
    std::vector<std::uint32_t> path;
    auto at =
        static_cast<std::uint32_t>(std::ranges::find_if(waits, [](std::size_t left) { return left > 0; }) - waits.begin());
    while (std::ranges::find(path, at) == path.end()) {
      path.push_back(at);
      at = *std::ranges::find_if(inputs_[at], [&](std::uint32_t input) { return waits[input] > 0; });
    }
    path.erase(path.begin(), std::ranges::find(path, at));
    constexpr std::size_t kNamed = 8;
    const std::size_t cut = path.size() > kNamed ? path.size() - kNamed : 0;
    std::string text = operations_[at].name + (cut > 0 ? format_text(" -> ({} more)", cut) : "");
    for (std::size_t i = path.size() - cut; i-- > 0;) {
      text += " -> " + operations_[path[i]].name;
    }
    return text;
  }

  ProfileReading reading_;
  std::vector<std::uint32_t> batches_;
  std::vector<ProfiledOperation> operations_;
  std::unordered_map<std::string, std::uint32_t> index_;
  std::vector<std::vector<std::uint32_t>> inputs_;
};

}  // namespace

bool is_profile_file(std::string_view path) { return split(path).has_value(); }

std::string profile_prefix(std::string_view path) {
  const auto parts = split(path);
  return std::string{parts ? parts->prefix : path};
}

std::filesystem::path profile_accuracy_table(const std::string& prefix) { return prefix + "_iter.prof"; }

Result<SipProfile> read_profile_files(const std::string& prefix, ProfileReading reading) {
  const auto files = files_of(prefix);
  if (!files) {
    return std::unexpected(files.error());
  }
  Reader reader(reading);
  for (const auto& [batch, path] : *files) {
    LOOM_TRY(reader.add(path, batch));
  }
  return std::move(reader).take(prefix);
}

}  // namespace loom
