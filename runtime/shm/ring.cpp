// SPDX-License-Identifier: Apache-2.0
// A message lies behind its length (4 bytes, least significant first); both may go around the end of the ring.
//
// Sleeping: the reader says that it sleeps and then looks whether anything was written; the writer says what it has written and
// then looks whether the reader sleeps. All four are sequentially consistent, so at least one of the two sees the other.
#include "runtime/shm/ring.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kLengthBytes = 4;
// Offsets of what is shared; each has a cache line of its own, since another core writes the next one.
constexpr std::size_t kWrittenAt = 0;
constexpr std::size_t kTakenAt = 64;
constexpr std::size_t kSleepsAt = 128;
static_assert(kSleepsAt + 64 <= kRingControlBytes);
static_assert((kRingDataBytes & (kRingDataBytes - 1)) == 0, "places are counted modulo 2^64");
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free, "a lock would be one process's own");

std::atomic_ref<std::uint64_t> number_at(std::span<std::byte> ring, std::size_t offset) {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(ring.data() + offset));
}

std::atomic_ref<std::uint32_t> sleeps_in(std::span<std::byte> ring) {
  return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(ring.data() + kSleepsAt));
}

std::size_t length_of(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = kLengthBytes; i > 0; --i) {
    length = length << 8U | static_cast<unsigned char>(bytes[i - 1]);
  }
  return length;
}

}  // namespace

void RingWriter::copy_in(std::string_view bytes) {
  const std::size_t at = written_ % kRingDataBytes;
  const std::size_t first = std::min(bytes.size(), kRingDataBytes - at);
  std::byte* data = ring_.data() + kRingControlBytes;
  std::memcpy(data + at, bytes.data(), first);
  std::memcpy(data, bytes.data() + first, bytes.size() - first);
  written_ += bytes.size();
}

Result<bool> RingWriter::write(std::span<const std::string_view> parts) {
  std::size_t bytes = 0;
  for (const std::string_view part : parts) {
    bytes += part.size();
  }
  LOOM_ASSERT(bytes > 0 && bytes <= kRingMessageBytes);
  const std::uint64_t taken = number_at(ring_, kTakenAt).load(std::memory_order_acquire);
  const std::uint64_t waiting = written_ - taken;
  if (waiting > kRingDataBytes) {
    return fail(ErrorCode::malformed, format_text("the reader of a shared ring claims to have taken {} bytes of {}, at most {} "
                                                  "of which can wait",
                                                  taken, written_, kRingDataBytes));
  }
  if (kRingDataBytes - waiting < kLengthBytes + bytes) {
    return false;
  }
  char length[kLengthBytes];
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length[i] = static_cast<char>(bytes >> (8 * i) & 0xFFU);
  }
  copy_in({length, kLengthBytes});
  for (const std::string_view part : parts) {
    copy_in(part);
  }
  number_at(ring_, kWrittenAt).store(written_, std::memory_order_seq_cst);
  return true;
}

bool RingWriter::must_wake() {
  const auto sleeps = sleeps_in(ring_);
  return sleeps.load(std::memory_order_seq_cst) != 0 && sleeps.exchange(0, std::memory_order_seq_cst) != 0;
}

void RingWriter::wake_with_next() { sleeps_in(ring_).store(1, std::memory_order_seq_cst); }

Result<RingMessages> RingReader::take(std::size_t bytes_max) {
  LOOM_ASSERT(bytes_max >= kLengthBytes + kRingMessageBytes);
  const std::uint64_t written = number_at(ring_, kWrittenAt).load(std::memory_order_acquire);
  const std::uint64_t waiting = written - taken_;
  if (waiting > kRingDataBytes) {
    return fail(ErrorCode::malformed,
                format_text("the writer of a shared ring claims to have written {} bytes, of which {} are "
                            "taken; at most {} can wait",
                            written, taken_, kRingDataBytes));
  }
  if (waiting == 0) {
    return RingMessages{};
  }
  // The writer may be a liar who changes all this while we read: judged is only our copy.
  const std::size_t count = std::min<std::size_t>(waiting, bytes_max);
  const std::size_t at = taken_ % kRingDataBytes;
  const std::size_t first = std::min(count, kRingDataBytes - at);
  const auto* data = reinterpret_cast<const char*>(ring_.data() + kRingControlBytes);
  auto copy = std::make_shared<std::string>();
  copy->reserve(count);
  copy->append(data + at, first).append(data, count - first);
  RingMessages taken{copy, {}};
  std::string_view rest = *copy;
  while (rest.size() >= kLengthBytes) {
    const std::size_t length = length_of(rest);
    if (length == 0 || length > kRingMessageBytes) {
      return fail(ErrorCode::malformed, format_text("a message at byte {} of a shared ring has {} bytes, allowed 1 to {}",
                                                    taken_ + (count - rest.size()), length, kRingMessageBytes));
    }
    if (rest.size() < kLengthBytes + length) {
      break;
    }
    taken.messages.push_back(rest.substr(kLengthBytes, length));
    rest.remove_prefix(kLengthBytes + length);
  }
  if (!rest.empty() && count == waiting) {
    return fail(ErrorCode::malformed,
                format_text("a shared ring ends at byte {}, {} bytes into a message", written, rest.size()));
  }
  taken_ += count - rest.size();
  number_at(ring_, kTakenAt).store(taken_, std::memory_order_release);
  return taken;
}

bool RingReader::sleep() {
  sleeps_in(ring_).store(1, std::memory_order_seq_cst);
  if (number_at(ring_, kWrittenAt).load(std::memory_order_seq_cst) == taken_) {
    return true;
  }
  stay_awake();
  return false;
}

void RingReader::stay_awake() { sleeps_in(ring_).store(0, std::memory_order_relaxed); }

}  // namespace loom
