// SPDX-License-Identifier: Apache-2.0
// Where and how sentences are written.
#include "runtime/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>

namespace loom {
namespace {

/// sd-daemon(3): a line that begins with <N> has syslog priority N.
void write(spdlog::level::level_enum level, const char* priority, std::string_view sentence) {
  static const bool is_terminal = isatty(STDERR_FILENO) != 0;
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = spdlog::stderr_color_mt("lightloom");
    made->set_pattern(is_terminal ? "%H:%M:%S.%e %^%l%$ %v" : "%v");
    made->flush_on(spdlog::level::info);
    return made;
  }();
  logger->log(level, "{}{}", is_terminal ? "" : priority, sentence);
}

}  // namespace

void log_info(std::string_view sentence) { write(spdlog::level::info, "<6>", sentence); }
void log_warning(std::string_view sentence) { write(spdlog::level::warn, "<4>", sentence); }
void log_error(std::string_view sentence) { write(spdlog::level::err, "<3>", sentence); }

}  // namespace loom
