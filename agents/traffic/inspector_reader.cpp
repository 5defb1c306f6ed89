// SPDX-License-Identifier: Apache-2.0
// Lines out of bytes, records out of lines.
#include "agents/traffic/inspector_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kVersion = "v4";
constexpr std::size_t kQuotedBytes = 60;

struct KnownCollective {
  std::string_view name;
  CollectiveKind kind;
  bool is_share = false;  ///< the dump tells one rank's share of the buffer
};

constexpr std::array<KnownCollective, 7> kKnown{KnownCollective{"AllReduce", CollectiveKind::all_reduce},
                                                KnownCollective{"AllGather", CollectiveKind::all_gather, true},
                                                KnownCollective{"ReduceScatter", CollectiveKind::reduce_scatter, true},
                                                KnownCollective{"AlltoAll", CollectiveKind::all_to_all, true},
                                                KnownCollective{"AllToAll", CollectiveKind::all_to_all, true},
                                                KnownCollective{"Broadcast", CollectiveKind::broadcast},
                                                KnownCollective{"Reduce", CollectiveKind::reduce}};

std::string shown(std::string_view text) {
  std::string out;
  for (const char letter : text.substr(0, kQuotedBytes)) {
    out += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return format_text("'{}{}", out, text.size() > kQuotedBytes ? "...'" : "'");
}

/// Looks for the fields of one object; the first that is not there, or is something else, is the fault of all.
class Fields {
 public:
  explicit Fields(const Json& line) : line_(line) {}

  std::string text(const char* map, const char* key) {
    const Json* found = find(map, key);
    if (found != nullptr && found->is_string()) {
      return found->get<std::string>();
    }
    miss(map, key, "a text");
    return {};
  }
  std::int64_t number(const char* map, const char* key, std::int64_t most) {
    const Json* found = find(map, key);
    if (found == nullptr || !found->is_number_integer()) {
      miss(map, key, "a whole number");
      return 0;
    }
    const bool is_huge = found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
    const std::int64_t value = is_huge ? most + 1 : found->get<std::int64_t>();
    if (!fault_ && (value < 0 || value > most)) {
      fault_ = Error{ErrorCode::out_of_range, format_text("{} = {}: 0 to {} are lawful", name(map, key), found->dump(), most)};
    }
    return value;
  }
  const std::optional<Error>& fault() const { return fault_; }

 private:
  static std::string name(const char* map, const char* key) { return format_text("{}.{}", map, key); }
  const Json* find(const char* map, const char* key) const {
    const auto outer = line_.find(map);
    if (outer == line_.end() || !outer->is_object()) {
      return nullptr;
    }
    const auto inner = outer->find(key);
    return inner == outer->end() ? nullptr : &*inner;
  }
  void miss(const char* map, const char* key, const char* expected) {
    if (!fault_) {
      fault_ = Error{ErrorCode::malformed, format_text("{} is missing or not {}", name(map, key), expected)};
    }
  }

  const Json& line_;
  std::optional<Error> fault_;
};

/// The communicator's hash as it is printed, "0x7f8c..."; another text is hashed.
std::uint64_t communicator_of(std::string_view id) {
  const std::string_view digits = id.starts_with("0x") ? id.substr(2) : id;
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return problem == std::errc{} && end == digits.data() + digits.size() ? value : std::hash<std::string_view>{}(id);
}

Result<TrafficRecord> record_of(Fields& fields, const std::string& collective) {
  const auto known =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const KnownCollective& each) { return each.name == collective; });
  if (known == kKnown.end() && !fields.fault()) {
    return fail(
        ErrorCode::unsupported,
        format_text("coll_perf.coll = {}: AllReduce, AllGather, ReduceScatter, AlltoAll, Broadcast and Reduce are known",
                    shown(collective)));
  }
  TrafficRecord record;
  record.communicator = communicator_of(fields.text("header", "id"));
  record.ranks = static_cast<std::uint32_t>(fields.number("header", "n_ranks", limits::kNodes));
  record.rank = static_cast<std::uint32_t>(fields.number("header", "rank", std::int64_t{record.ranks} - 1));
  record.sequence = static_cast<std::uint64_t>(fields.number("coll_perf", "coll_sn", INT64_MAX - 1));
  const std::int64_t shares = known != kKnown.end() && known->is_share ? std::max(1U, record.ranks) : 1;
  record.bytes = {shares * fields.number("coll_perf", "coll_msg_size_bytes", limits::kCollectiveBytes / shares)};
  record.at = std::chrono::microseconds{fields.number("metadata", "dump_timestamp_us", limits::kInstantNs / 1'000)};
  if (fields.fault()) {
    return std::unexpected(*fields.fault());
  }
  record.kind = known->kind;
  return record;
}

}  // namespace

Result<InspectorLine> read_inspector_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) {
    return fail(ErrorCode::malformed, "no JSON object: " + shown(line));
  }
  Fields fields(json);
  const std::string version = fields.text("metadata", "inspector_output_format_version");
  if (fields.fault()) {
    return std::unexpected(*fields.fault());
  }
  if (version != kVersion && !version.starts_with(format_text("{}.", kVersion))) {
    return fail(ErrorCode::wrong_version, format_text("Inspector's format {}; {} is read", shown(version), kVersion));
  }
  const std::int64_t nodes = fields.number("header", "nnodes", limits::kNodes);
  const bool is_transfer = json.contains("p2p_perf");
  const std::string collective = is_transfer ? std::string() : fields.text("coll_perf", "coll");
  if (fields.fault()) {
    return std::unexpected(*fields.fault());
  }
  if (nodes == 1) {
    return InspectorLine{};
  }
  if (is_transfer) {
    return InspectorLine{std::nullopt, true};
  }
  auto record = record_of(fields, collective);
  if (!record) {
    return std::unexpected(std::move(record).error());
  }
  return InspectorLine{*record, false};
}

void InspectorReader::refuse(std::string fault) {
  ++reported_.refused;
  reported_.fault = std::move(fault);
}

void InspectorReader::read_line(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
    return;
  }
  const auto read = read_inspector_line(line);
  if (!read) {
    return refuse(read.error().message);
  }
  reported_.unfolded += read->is_transfer ? 1 : 0;
  if (!read->record) {
    return;
  }
  if (reported_.records.size() >= limits::kTrafficRecordsAtOnce) {
    return refuse(format_text("more than {} collectives at once", limits::kTrafficRecordsAtOnce));
  }
  reported_.records.push_back(*read->record);
}

void InspectorReader::read(std::uint64_t file, std::string_view bytes, bool restarted) {
  Rest& rest = rests_[file];
  if (restarted) {
    rest = {};
  }
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (!rest.is_overlong && rest.text.size() + part.size() > limits::kInspectorLineBytes) {
      refuse(format_text("a line of more than {} bytes", limits::kInspectorLineBytes));
      rest = {{}, true};
    }
    if (end == std::string_view::npos) {
      rest.text += rest.is_overlong ? std::string_view{} : part;
      return;
    }
    if (!rest.is_overlong) {
      rest.text += part;
      read_line(rest.text);
    }
    rest = {};
    bytes.remove_prefix(end + 1);
  }
}

void InspectorReader::forget(std::uint64_t file) { rests_.erase(file); }

TrafficReported InspectorReader::take() { return std::exchange(reported_, {}); }

}  // namespace loom
