// SPDX-License-Identifier: Apache-2.0
// Batch: several envelopes in one ZeroMQ message, each behind its length as a protobuf varint, because one connection of a host
// speaks for many agents. An empty message is a lawful batch of nothing (a probe).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/messages/intake_limits.hpp"
#include "core/result.hpp"

namespace loom {

class Batch {
 public:
  /// Whether one more envelope of this size fits into a lawful frame.
  bool fits(std::size_t envelope_bytes) const;
  /// Precondition: fits(envelope.size()).
  void add(std::string_view envelope);
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  const std::string& bytes() const { return bytes_; }
  /// Keeps its memory.
  void clear();

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

/// The envelopes of a frame, which point into it. A frame is lawful as a whole or not at all.
/// Errors: malformed (names the offset and the limit).
Result<std::vector<std::string_view>> split_batch(std::string_view frame);

}  // namespace loom
