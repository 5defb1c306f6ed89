// SPDX-License-Identifier: Apache-2.0
// The reader of the authors' measurement files: every field is checked before it is believed.
#include "controller/workload/models/op_times.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using nlohmann::json;

constexpr double kDayMs = 86'400'000;

std::unexpected<Error> refuse(std::string_view source, ErrorCode code, const std::string& what) {
  return fail(code, format_text("{}: {}", source, what));
}

Result<double> number(const json& in, const char* field, std::string_view source, const std::string& where) {
  const auto found = in.find(field);
  if (found == in.end() || !found->is_number()) {
    return refuse(source, ErrorCode::malformed, format_text("{} has no number '{}'", where, field));
  }
  return found->get<double>();
}

Result<std::uint32_t> count(const json& in, const char* field, std::string_view source, double most) {
  const auto value = number(in, field, source, "the file");
  if (!value) {
    return std::unexpected(value.error());
  }
  if (!(*value >= 1) || *value > most || *value != std::floor(*value)) {
    return refuse(source, ErrorCode::out_of_range,
                  format_text("'{}' is {}; whole numbers from 1 to {} are lawful", field, in[field].dump(),
                              static_cast<std::uint64_t>(most)));
  }
  return static_cast<std::uint32_t>(*value);
}

/// "2-1-4" -> {1, 4}.
std::optional<std::vector<std::uint32_t>> degrees_of(std::string_view text) {
  std::vector<std::uint32_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (numbers.size() < 16) {
    std::uint32_t number = 0;
    const auto [next, fault] = std::from_chars(at, end, number);
    if (fault != std::errc{} || number == 0) {
      return std::nullopt;
    }
    numbers.push_back(number);
    if (next == end) {
      break;
    }
    if (*next != '-') {
      return std::nullopt;
    }
    at = next + 1;
  }
  if (numbers.size() < 2 || numbers.front() != numbers.size() - 1) {
    return std::nullopt;
  }
  numbers.erase(numbers.begin());
  return numbers;
}

Result<Duration> time(const json& in, const char* field, std::string_view source, const std::string& where) {
  const auto ms = number(in, field, source, where);
  if (!ms) {
    return std::unexpected(ms.error());
  }
  if (!(*ms >= 0) || *ms > kDayMs) {
    return refuse(source, ErrorCode::out_of_range,
                  format_text("{}: '{}' is {} ms; 0 to a day is lawful", where, field, in[field].dump()));
  }
  return Duration{std::llround(*ms * 1e6)};
}

Result<Measure> measure(const json& in, std::size_t at, std::string_view source) {
  std::string where = format_text("measurement {}", at);
  const auto text = [&](const char* field) {
    const auto found = in.is_object() ? in.find(field) : in.end();
    return found != in.end() && found->is_string() ? found->get<std::string>() : std::string{};
  };
  Measure result;
  result.name = text("name");
  if (result.name.empty()) {
    return refuse(source, ErrorCode::malformed, where + " has no 'name'");
  }
  where += format_text(" '{}'", result.name);
  auto degrees = degrees_of(text("pc_str"));
  if (!degrees) {
    return refuse(
        source, ErrorCode::malformed,
        format_text("{}: 'pc_str' is \"{}\", not dimensions and as many degrees like \"2-1-4\"", where, text("pc_str")));
  }
  result.degrees = std::move(*degrees);
  auto forward = time(in, "fw_time", source, where);
  if (!forward) {
    return std::unexpected(forward.error());
  }
  auto backward = time(in, "bw_time", source, where);
  if (!backward) {
    return std::unexpected(backward.error());
  }
  auto memory = number(in, "mem_req", source, where);
  if (!memory) {
    return std::unexpected(memory.error());
  }
  if (!(*memory >= 0) || *memory > 1e18) {
    return refuse(source, ErrorCode::out_of_range,
                  format_text("{}: 'mem_req' is {} bytes; 0 to 1e18 is lawful", where, in["mem_req"].dump()));
  }
  result.forward = *forward;
  result.backward = *backward;
  result.memory = {static_cast<std::int64_t>(*memory)};
  return result;
}

Result<void> check_unique(const Measures& measures) {
  std::map<std::pair<std::string_view, std::vector<std::uint32_t>>, const Measure*> known;
  for (const Measure& each : measures.entries) {
    const auto [at, is_new] = known.emplace(std::pair{std::string_view{each.name}, each.degrees}, &each);
    if (!is_new && (at->second->forward != each.forward || at->second->backward != each.backward)) {
      return refuse(measures.source, ErrorCode::conflict,
                    format_text("'{}' is measured twice for one division, differently", each.name));
    }
  }
  return {};
}

/// The first few, for people.
std::string names_in(const Measures& measures) {
  constexpr std::size_t kNamed = 12;
  std::set<std::string_view> names;
  for (const Measure& each : measures.entries) {
    names.insert(each.name);
  }
  std::string text;
  std::size_t left = kNamed;
  for (const std::string_view name : names) {
    if (left-- == 0) {
      return text + format_text(" and {} more", names.size() - kNamed);
    }
    text += format_text("{}{}", text.empty() ? "" : ", ", name);
  }
  return text;
}

}  // namespace

Result<Measures> read_measures(std::string_view text, std::string_view source) {
  const json file = json::parse(text, nullptr, false);
  if (file.is_discarded() || !file.is_object()) {
    return refuse(source, ErrorCode::malformed, "not a JSON object");
  }
  Measures measures;
  measures.source = source;
  const auto samples = count(file, "batch_size", source, 0xffffffff);
  if (!samples) {
    return std::unexpected(samples.error());
  }
  const auto nodes = count(file, "ngpus", source, limits::kNodes);
  if (!nodes) {
    return std::unexpected(nodes.error());
  }
  measures.samples = *samples;
  measures.nodes = *nodes;
  const auto list = file.find("measurements");
  if (list == file.end() || !list->is_array()) {
    return refuse(source, ErrorCode::malformed, "no list 'measurements'");
  }
  for (std::size_t at = 0; at < list->size(); ++at) {
    auto each = measure((*list)[at], at, source);
    if (!each) {
      return std::unexpected(each.error());
    }
    measures.entries.push_back(std::move(*each));
  }
  LOOM_TRY(check_unique(measures));
  return measures;
}

Result<Measures> load_measures(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found, path + ": cannot be opened");
  }
  std::string text(limits::kConfigFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > limits::kConfigFileBytes) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: more than {} bytes (kConfigFileBytes)", path, limits::kConfigFileBytes));
  }
  return read_measures(text, path);
}

const OpTime& OpTimes::of(std::uint32_t op, std::uint32_t parts) const {
  const auto at = std::lower_bound(degrees.begin(), degrees.end(), parts) - degrees.begin();
  const auto& found = times[op * degrees.size() + static_cast<std::size_t>(at)];
  LOOM_ASSERT(found.has_value());
  return *found;
}

Result<OpTimes> times_of(const OpGraph& graph, const Measures& measures) {
  LOOM_TRY(check(graph));
  if (measures.samples != graph.samples) {
    return refuse(
        measures.source, ErrorCode::invalid_argument,
        format_text("measured with {} samples an iteration; '{}' has {}", measures.samples, graph.name, graph.samples));
  }
  OpTimes result;
  for (std::uint32_t parts = 1; parts <= graph.nodes; ++parts) {
    if (graph.nodes % parts == 0) {
      result.degrees.push_back(parts);
    }
  }
  for (const Operator& of : graph.operators) {
    std::vector<std::uint32_t>& lawful = result.lawful.emplace_back();
    for (const std::uint32_t parts : result.degrees) {
      const auto found = std::ranges::find_if(measures.entries, [&](const Measure& each) {
        return each.name == of.name && each.degrees.back() == parts &&
               (!of.knows_dimensions || each.degrees.size() == of.shape.size() + 1) &&
               std::all_of(each.degrees.begin(), each.degrees.end() - 1, [](std::uint32_t degree) { return degree == 1; });
      });
      const bool is_lawful = found != measures.entries.end() && (parts == 1 || of.is_divisible) && graph.samples % parts == 0;
      result.times.push_back(is_lawful ? std::optional{OpTime{found->forward, found->backward}} : std::nullopt);
      if (is_lawful) {
        lawful.push_back(parts);
      }
    }
    if (lawful.empty()) {
      return refuse(measures.source, ErrorCode::not_found,
                    of.knows_dimensions
                        ? format_text("nothing measured for '{}' with {} dimensions", of.name, of.shape.size() + 1)
                        : format_text("nothing measured for '{}' whose samples alone are divided; it has {}", of.name,
                                      names_in(measures)));
    }
  }
  return result;
}

}  // namespace loom
