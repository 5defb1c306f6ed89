// SPDX-License-Identifier: Apache-2.0
// Reads `record_param_comms` and `## process_group:init ##` nodes. What was read on real files is in docs/traffic.md.
#include "controller/workload/import/trace_pytorch.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "controller/workload/import/trace_json.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Json = nlohmann::json;

/// A buffer larger than this is a damaged trace, not a tensor.
constexpr std::int64_t kBufferBytesMax = std::int64_t{1} << 45;
constexpr std::int64_t kElementBytesMax = 64;

constexpr std::string_view kRecord = "record_param_comms";
constexpr std::string_view kGroups = "## process_group:init ##";
constexpr std::string_view kStep = "ProfilerStep#";

struct KindName {
  std::string_view name;
  CollectiveKind kind;
};
/// Names as PyTorch's process groups give them to record_param_comms (torch/csrc/distributed/c10d, ProcessGroupNCCL).
constexpr std::array<KindName, 27> kKindNames{{{"allreduce", CollectiveKind::all_reduce},
                                               {"all_reduce", CollectiveKind::all_reduce},
                                               {"allreduce_coalesced", CollectiveKind::all_reduce},
                                               {"all_reduce_barrier", CollectiveKind::barrier},
                                               {"allgather", CollectiveKind::all_gather},
                                               {"all_gather", CollectiveKind::all_gather},
                                               {"_allgather_base", CollectiveKind::all_gather},
                                               {"_all_gather_base", CollectiveKind::all_gather},
                                               {"all_gather_into_tensor", CollectiveKind::all_gather},
                                               {"allgather_into_tensor_coalesced", CollectiveKind::all_gather},
                                               {"reduce_scatter", CollectiveKind::reduce_scatter},
                                               {"_reduce_scatter_base", CollectiveKind::reduce_scatter},
                                               {"reduce_scatter_base", CollectiveKind::reduce_scatter},
                                               {"reduce_scatter_tensor", CollectiveKind::reduce_scatter},
                                               {"reduce_scatter_tensor_coalesced", CollectiveKind::reduce_scatter},
                                               {"all_to_all", CollectiveKind::all_to_all},
                                               {"all_to_allv", CollectiveKind::all_to_all},
                                               {"alltoall", CollectiveKind::all_to_all},
                                               {"alltoallv", CollectiveKind::all_to_all},
                                               {"alltoall_base", CollectiveKind::all_to_all},
                                               {"all_to_all_single", CollectiveKind::all_to_all},
                                               {"broadcast", CollectiveKind::broadcast},
                                               {"_broadcast_oop", CollectiveKind::broadcast},
                                               {"reduce", CollectiveKind::reduce},
                                               {"_reduce_oop", CollectiveKind::reduce},
                                               {"barrier", CollectiveKind::barrier},
                                               {"send", CollectiveKind::point_to_point}}};
/// Records that move nothing, or whose bytes the sender's record already has.
constexpr std::array<std::string_view, 7> kNoTraffic{"wait",      "init",         "recv", "recvAnySource", "startCoalescing",
                                                     "coalesced", "endCoalescing"};

struct ElementSize {
  std::string_view dtype;
  std::int64_t bytes;
};
constexpr std::array<ElementSize, 15> kElementSizes{{{"Byte", 1},
                                                     {"Char", 1},
                                                     {"Bool", 1},
                                                     {"Float8_e4m3fn", 1},
                                                     {"Float8_e5m2", 1},
                                                     {"Short", 2},
                                                     {"Half", 2},
                                                     {"BFloat16", 2},
                                                     {"Int", 4},
                                                     {"Float", 4},
                                                     {"Long", 8},
                                                     {"Double", 8},
                                                     {"ComplexHalf", 4},
                                                     {"ComplexFloat", 8},
                                                     {"ComplexDouble", 16}}};

std::optional<std::int64_t> integer(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto given = value.get<std::uint64_t>();
    return given > static_cast<std::uint64_t>(INT64_MAX) ? std::nullopt : std::optional{static_cast<std::int64_t>(given)};
  }
  return value.is_number_integer() ? std::optional{value.get<std::int64_t>()} : std::nullopt;
}

std::optional<std::uint32_t> small_number(const Json& value, std::size_t below) {
  const auto given = integer(value);
  if (!given || *given < 0 || static_cast<std::uint64_t>(*given) >= below) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*given);
}

/// The i-th element of an array, or null.
const Json& at(const Json& array, std::size_t index) {
  static const Json kNull;
  return array.is_array() && index < array.size() ? array[index] : kNull;
}

const Json& field(const Json& object, const char* name) {
  static const Json kNull;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNull;
}

std::string text(const Json& value) {
  return value.is_string() ? value.get_ref<const std::string&>().substr(0, 256) : std::string{};
}

/// `inputs` or `outputs` of either generation.
const Json& values(const Json& node, const char* side) {
  const Json& given = field(node, side);
  return given.is_object() ? field(given, "values") : given;
}

const Json& attribute(const Json& node, std::string_view name) {
  static const Json kNull;
  for (const Json& each : field(node, "attrs")) {
    const Json& given = field(each, "name");
    if (given.is_string() && given.get_ref<const std::string&>() == name) {
      return field(each, "value");
    }
  }
  return kNull;
}

struct TensorSum {
  std::int64_t bytes = 0;
  std::int64_t element_bytes = 0;  ///< of the last tensor
  bool any = false;
  bool lawful = true;
};

/// Adds up [id, storage, offset, elements, bytes an element, device] wherever it is nested.
void add_tensors(const Json& value, TensorSum& sum) {
  if (!value.is_array() || value.empty()) {
    return;
  }
  if (value.size() >= 5 && value[0].is_number() && value[4].is_number()) {
    const auto elements = integer(value[3]);
    const auto element_bytes = integer(value[4]);
    sum.any = true;
    if (!elements || !element_bytes || *elements < 0 || *elements > kBufferBytesMax / kElementBytesMax || *element_bytes < 0 ||
        *element_bytes > kElementBytesMax) {
      sum.lawful = false;
      return;
    }
    sum.bytes = std::min(sum.bytes + *elements * *element_bytes, kBufferBytesMax);
    sum.element_bytes = *element_bytes;
    return;
  }
  for (const Json& each : value) {
    add_tensors(each, sum);
  }
}

std::int64_t element_bytes_of(const std::string& dtype) {
  for (const ElementSize& each : kElementSizes) {
    if (each.dtype == dtype) {
      return each.bytes;
    }
  }
  return 0;
}

/// Size of one side: from the attribute and the element size if both are told, else from the tensors.
std::optional<std::int64_t> buffer_bytes(const Json& node, const char* elements_name, const Json& tensors) {
  TensorSum sum;
  add_tensors(tensors, sum);
  const auto elements = integer(attribute(node, elements_name));
  const std::int64_t named = element_bytes_of(text(attribute(node, "dtype")));
  const std::int64_t element_bytes = named != 0 ? named : sum.element_bytes;
  if (elements && element_bytes > 0 && *elements >= 0 && *elements <= kBufferBytesMax / element_bytes) {
    return *elements * element_bytes;
  }
  return sum.any && sum.lawful ? std::optional{sum.bytes} : std::nullopt;
}

/// Splits count rows of the first dimension; the buffer says how many bytes a row has. Empty: even, or not told.
std::vector<std::int64_t> split_bytes(const Json& splits, std::optional<std::int64_t> buffer) {
  std::vector<std::int64_t> rows;
  std::int64_t total = 0;
  if (!splits.is_array() || !buffer) {
    return {};
  }
  for (const Json& each : splits) {
    const auto given = integer(each);
    if (!given || *given < 0 || *given > kBufferBytesMax || total > kBufferBytesMax) {
      return {};
    }
    rows.push_back(*given);
    total += *given;
  }
  if (total == 0 || *buffer % total != 0) {
    return total == 0 ? rows : std::vector<std::int64_t>{};
  }
  for (std::int64_t& row : rows) {
    row *= *buffer / total;
  }
  return rows;
}

/// Where `inputs` names the collective: the first text. Before it stand group and rank, after it the splits.
std::size_t name_position(const Json& inputs) {
  std::size_t position = 0;
  while (position < inputs.size() && !inputs[position].is_string()) {
    ++position;
  }
  return position;
}

std::string group_name(const Json& node, const Json& before_rank) {
  const std::string named = text(attribute(node, "pg_name"));
  if (!named.empty()) {
    return named;
  }
  if (before_rank.is_array()) {
    return text(at(before_rank, 0));
  }
  const auto number = integer(before_rank);
  return number && *number != 0 ? format_text("#{}", *number) : std::string{};
}

bool is_rooted(CollectiveKind kind) { return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce; }

class RankReader {
 public:
  RankReader(RankTrace& trace, const ImportLimits& limits) : trace_(trace), limits_(limits) {}

  bool wants(const std::string& name) {
    named_ = true;
    return name == kRecord || name == kGroups || name.starts_with(kStep);
  }

  Result<void> node(const Json& node) {
    const Json& name = field(node, "name");
    if (!name.is_string()) {
      return {};
    }
    const auto& word = name.get_ref<const std::string&>();
    if (word == kRecord) {
      return record(node);
    }
    if (word == kGroups) {
      groups(at(values(node, "inputs"), 0));
    } else if (word.starts_with(kStep)) {
      ++trace_.iterations;
    }
    return {};
  }

  bool named() const { return named_; }

 private:
  Result<void> record(const Json& node) {
    const Json& inputs = values(node, "inputs");
    const std::size_t position = inputs.is_array() ? name_position(inputs) : 0;
    RankCollective found;
    found.node = static_cast<std::uint64_t>(integer(field(node, "id")).value_or(0));
    found.name = text(attribute(node, "collective_name"));
    if (found.name.empty()) {
      found.name = text(at(inputs, position));
    }
    const auto known =
        std::find_if(kKindNames.begin(), kKindNames.end(), [&](const KindName& k) { return k.name == found.name; });
    found.kind = known == kKindNames.end() ? std::nullopt : std::optional{known->kind};
    const auto rank = position >= 1 ? small_number(at(inputs, position - 1), limits_.ranks) : std::nullopt;
    const bool names_peer = found.name.starts_with("recv") || found.kind == CollectiveKind::point_to_point ||
                            (found.kind && is_rooted(*found.kind));
    if (rank && !names_peer) {  // a rank within its group; the largest is the one within the group of all
      trace_.rank = std::max(trace_.rank.value_or(0), *rank);
    }
    if (std::find(kNoTraffic.begin(), kNoTraffic.end(), found.name) != kNoTraffic.end()) {
      return {};
    }
    if (trace_.collectives.size() >= limits_.collectives) {
      return fail(ErrorCode::out_of_range,
                  format_text("more than {} collectives in one rank (kCollectivesPerJob)", limits_.collectives));
    }
    found.group = group_name(node, position >= 2 ? at(inputs, position - 2) : Json{});
    found.root_or_peer = rank;
    size(node, inputs, position, found);
    membership(node, found);
    trace_.collectives.push_back(std::move(found));
    return {};
  }

  void size(const Json& node, const Json& inputs, std::size_t position, RankCollective& found) const {
    const auto in = buffer_bytes(node, "in_msg_nelems", position >= 4 ? at(inputs, 0) : Json{});
    const auto out = buffer_bytes(node, "out_msg_nelems", values(node, "outputs"));
    found.bytes = found.kind == CollectiveKind::all_gather && out ? out : in;
    if (found.kind == CollectiveKind::barrier) {
      found.bytes = 0;
    } else if (found.kind == CollectiveKind::all_gather && !out) {
      found.bytes = std::nullopt;  // a shard alone does not say how large the gathered buffer is
    } else if (found.kind == CollectiveKind::all_to_all) {
      found.sent_splits = split_bytes(at(inputs, position + 1), in);
      found.received_splits = split_bytes(at(inputs, position + 2), out);
    }
  }

  void membership(const Json& node, RankCollective& found) const {
    const auto size = small_number(attribute(node, "pg_size"), limits_.ranks + 1);
    const auto start = small_number(attribute(node, "global_rank_start"), limits_.ranks);
    const auto stride = small_number(attribute(node, "global_rank_stride"), limits_.ranks);
    found.group_size = size.value_or(static_cast<std::uint32_t>(found.sent_splits.size()));
    if (!size || !start || !stride || *stride == 0) {
      return;
    }
    for (std::uint32_t i = 0; i < *size; ++i) {
      const std::uint64_t rank = *start + std::uint64_t{i} * *stride;
      if (rank >= limits_.ranks) {
        found.group_ranks.clear();
        return;
      }
      found.group_ranks.push_back(static_cast<std::uint32_t>(rank));
    }
  }

  void groups(const Json& value) {
    const Json list = value.is_string() ? Json::parse(value.get_ref<const std::string&>(), nullptr, false) : value;
    if (!list.is_array()) {
      trace_.warnings.push_back("## process_group:init ##: unreadable, groups unknown");
      return;
    }
    for (const Json& each : list) {
      TraceGroup group;
      group.name = text(field(each, "pg_name"));
      group.size = small_number(field(each, "group_size"), limits_.ranks + 1).value_or(0);
      for (const Json& rank : field(each, "ranks")) {
        if (const auto number = small_number(rank, limits_.ranks)) {
          group.ranks.push_back(*number);
        }
      }
      if (trace_.groups.size() < limits_.ranks) {
        trace_.groups.push_back(std::move(group));
      }
    }
  }

  RankTrace& trace_;
  const ImportLimits& limits_;
  bool named_ = false;
};

}  // namespace

Result<RankTrace> read_pytorch_trace(std::istream& stream, const std::string& member, const ImportLimits& limits) {
  RankTrace trace;
  trace.member = member;
  RankReader reader{trace, limits};
  const auto summary = stream_nodes(
      stream, [&](const std::string& name) { return reader.wants(name); }, [&](const Json& node) { return reader.node(node); });
  if (!summary) {
    return std::unexpected(summary.error());
  }
  if (summary->has_events) {
    return fail(ErrorCode::unsupported, "a Kineto trace (\"traceEvents\"); only PyTorch execution traces are read");
  }
  if (!summary->has_nodes || (summary->nodes > 0 && !reader.named())) {
    return fail(ErrorCode::malformed, "JSON, but no execution trace: no \"nodes\" with names");
  }
  trace.schema = summary->schema;
  trace.nodes = summary->nodes;
  const auto by_node = [](const RankCollective& a, const RankCollective& b) { return a.node < b.node; };
  if (!std::is_sorted(trace.collectives.begin(), trace.collectives.end(), by_node)) {
    std::sort(trace.collectives.begin(), trace.collectives.end(), by_node);
  }
  return trace;
}

}  // namespace loom
