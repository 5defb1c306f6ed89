// SPDX-License-Identifier: Apache-2.0
// Lengths before envelopes.
#include "runtime/zmq/batch.hpp"

#include <cstdint>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kVarintBytesMax = 5;  // lengths are far below 2^35

}  // namespace

bool Batch::fits(std::size_t envelope_bytes) const {
  return envelope_bytes <= limits::kMessageBytes && count_ < limits::kEnvelopesPerFrame &&
         bytes_.size() + kVarintBytesMax + envelope_bytes <= limits::kBatchBytes;
}

void Batch::add(std::string_view envelope) {
  LOOM_ASSERT(fits(envelope.size()));
  std::size_t rest = envelope.size();
  while (rest >= 0x80) {
    bytes_ += static_cast<char>((rest & 0x7Fu) | 0x80u);
    rest >>= 7;
  }
  bytes_ += static_cast<char>(rest);
  bytes_ += envelope;
  ++count_;
}

void Batch::clear() {
  bytes_.clear();
  count_ = 0;
}

Result<std::vector<std::string_view>> split_batch(std::string_view frame) {
  const auto malformed = [](std::size_t at, const std::string& why) {
    return fail(ErrorCode::malformed, format_text("a frame, byte {}: {}", at, why));
  };
  if (frame.size() > limits::kBatchBytes) {
    return malformed(0, format_text("{} bytes, the limit is {}", frame.size(), limits::kBatchBytes));
  }
  std::vector<std::string_view> envelopes;
  std::size_t at = 0;
  while (at < frame.size()) {
    const std::size_t begin = at;
    std::uint64_t length = 0;
    bool is_complete = false;
    for (std::size_t i = 0; i < kVarintBytesMax && at < frame.size() && !is_complete; ++i) {
      const auto byte = static_cast<unsigned char>(frame[at++]);
      length |= static_cast<std::uint64_t>(byte & 0x7Fu) << (7 * i);
      is_complete = byte < 0x80;
    }
    if (!is_complete) {
      return malformed(begin, "no length");
    }
    if (length > limits::kMessageBytes) {
      return malformed(begin, format_text("an envelope of {} bytes, the limit is {}", length, limits::kMessageBytes));
    }
    if (length > frame.size() - at) {
      return malformed(begin, format_text("an envelope of {} bytes, {} are left", length, frame.size() - at));
    }
    if (envelopes.size() == limits::kEnvelopesPerFrame) {
      return malformed(begin, format_text("more than {} envelopes", limits::kEnvelopesPerFrame));
    }
    envelopes.push_back(frame.substr(at, length));
    at += length;
  }
  return envelopes;
}

}  // namespace loom
