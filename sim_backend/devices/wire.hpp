// SPDX-License-Identifier: Apache-2.0
// How long bytes take on a serial wire, and what of them a device of lines takes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/time.hpp"
#include "core/transaction.hpp"
#include "sim_backend/devices/late_answers.hpp"

namespace loom {

/// 8N1: ten bits a byte.
inline Duration wire_time(std::size_t bytes, std::uint32_t baud) {
  return Duration{static_cast<std::int64_t>(bytes) * 10'000'000'000 / static_cast<std::int64_t>(baud)};
}

/// What a device of lines is sent, without its end; nothing: no line, or one whose end it waits for in vain.
inline std::optional<std::string_view> line_in(const Transaction& transaction, std::string_view end = "\n") {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  if (frame == nullptr) {
    return std::nullopt;
  }
  const std::string_view line(reinterpret_cast<const char*>(frame->request.data()), frame->request.size());
  return line.ends_with(end) ? std::optional(line.substr(0, line.size() - end.size())) : std::nullopt;
}

/// The same of one that takes a carriage return before the end for a part of it.
inline std::optional<std::string_view> scpi_line_in(const Transaction& transaction) {
  const auto line = line_in(transaction);
  return line && line->ends_with('\r') ? std::optional(line->substr(0, line->size() - 1)) : line;
}

/// Does whoever sends this frame wait for an answer?
inline bool wants_reply(const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  return frame != nullptr && (!frame->terminator.empty() || frame->reply_bytes > 0);
}

/// Nothing is answered: whoever asked waits for as long as it has patience.
inline ModelReply no_answer(const Transaction& transaction) { return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline}; }

/// I2C: eight bits and their acknowledgement a byte; start and stop not counted.
inline Duration i2c_time(std::size_t bytes, std::uint32_t hertz) {
  return Duration{static_cast<std::int64_t>(bytes) * 9'000'000'000 / static_cast<std::int64_t>(hertz)};
}

/// Between `low` and `high` percent of a worst case, from one draw.
inline Duration part_of(Duration worst, std::uint64_t draw, std::int64_t low, std::int64_t high) {
  return worst / 100 * (low + static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(high - low + 1)));
}

}  // namespace loom
