// SPDX-License-Identifier: Apache-2.0
// Lines of text as frames and in sentences, and what a register device means by an exception.
#include "drivers/read_back_driver.hpp"

#include "core/text/format_text.hpp"

namespace loom {

std::string_view characters_of(const BusReply& reply) {
  return {reinterpret_cast<const char*>(reply.bytes.data()), reply.bytes.size()};
}

Frame line_order(std::string_view line, std::string_view terminator) {
  return {{line.begin(), line.end()}, 0, std::string(terminator)};
}

std::string quoted(std::string_view text, std::size_t shown) { return format_text("\"{}\"", text.substr(0, shown)); }

std::string clipped(std::string_view text, std::size_t shown) {
  return format_text("\"{}{}", text.substr(0, shown), text.size() > shown ? "...\"" : "\"");
}

bool is_busy(const BusReply& reply) {
  constexpr std::uint8_t kDeviceBusy = 6;
  return reply.status == BusStatus::exception && reply.exception == kDeviceBusy;
}

}  // namespace loom
