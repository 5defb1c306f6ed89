// SPDX-License-Identifier: Apache-2.0
// TraceEvents: what took how long, for ui.perfetto.dev and chrome://tracing (Trace Event Format, the object with traceEvents:
// phases X and M). It knows no clock: instants are whoever's they are, and become microseconds without loss.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/time.hpp"

namespace loom {

struct TraceSlice {
  std::string_view name;
  std::string_view category;
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
  Instant begin{};
  Duration length{};
  std::vector<std::pair<std::string_view, std::string>> arguments{};  ///< values as JSON
};

class TraceEvents {
 public:
  void name_process(std::uint64_t process, std::string_view name) { add_name("process_name", process, 0, name); }
  void name_thread(std::uint64_t process, std::uint64_t thread, std::string_view name) {
    add_name("thread_name", process, thread, name);
  }
  void add(const TraceSlice& slice);
  /// JSON, an event a line.
  std::string text() const;

 private:
  void add_name(std::string_view kind, std::uint64_t process, std::uint64_t thread, std::string_view name);

  std::vector<std::string> events_;
};

}  // namespace loom
