// SPDX-License-Identifier: Apache-2.0
// Lines of JSON.
#include "core/text/trace_events.hpp"

#include "core/text/format_text.hpp"
#include "core/text/json_text.hpp"

namespace loom {
namespace {

/// Nanoseconds as microseconds, exactly.
std::string microseconds(Duration duration) {
  const std::int64_t ns = duration.count();
  const std::int64_t size = ns < 0 ? -ns : ns;
  return format_text("{}{}.{:03}", ns < 0 ? "-" : "", size / 1'000, size % 1'000);
}

}  // namespace

void TraceEvents::add_name(std::string_view kind, std::uint64_t process, std::uint64_t thread, std::string_view name) {
  events_.push_back(format_text(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", kind, process, thread,
                                json_text(name)));
}

void TraceEvents::add(const TraceSlice& slice) {
  std::string arguments;
  for (const auto& [key, value] : slice.arguments) {
    arguments += format_text("{}{}:{}", arguments.empty() ? "" : ",", json_text(key), value);
  }
  events_.push_back(format_text(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{}{}}})",
                                json_text(slice.name), json_text(slice.category), slice.process, slice.thread,
                                microseconds(slice.begin.time_since_epoch()), microseconds(slice.length),
                                arguments.empty() ? std::string{} : format_text(R"(,"args":{{{}}})", arguments)));
}

std::string TraceEvents::text() const {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (std::size_t i = 0; i < events_.size(); ++i) {
    out += events_[i] + (i + 1 < events_.size() ? ",\n" : "\n");
  }
  return out + "]}\n";
}

}  // namespace loom
