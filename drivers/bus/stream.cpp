// SPDX-License-Identifier: Apache-2.0
// poll, read, write.
#include "drivers/bus/stream.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// `late`: why nothing came in time.
BusReply failed(const Error& error, std::string late) {
  const bool is_late = error.code == ErrorCode::timed_out;
  return {is_late ? BusStatus::timeout : BusStatus::lost, 0, {}, {}, is_late ? std::move(late) : error.message};
}

/// Of a reply that is not whole.
std::string missing_of(const Frame& frame, const std::vector<std::uint8_t>& bytes) {
  return bytes.empty()           ? std::string("silence")
         : frame.reply_bytes > 0 ? format_text("{} of {} bytes came", bytes.size(), frame.reply_bytes)
                                 : format_text("{} bytes came, and no end", bytes.size());
}

std::unexpected<Error> gone() {
  return fail(ErrorCode::unreachable, errno != 0 ? describe_errno(errno) : std::string(kEndOfFile));
}

/// How many bytes the reply has, once it is whole; 0 until then.
std::size_t whole_reply(const Frame& frame, const std::vector<std::uint8_t>& bytes) {
  if (frame.reply_bytes > 0) {
    return bytes.size() >= frame.reply_bytes ? frame.reply_bytes : 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t begin = 0;
  for (std::size_t end = text.find(frame.terminator); end != std::string_view::npos; end = text.find(frame.terminator, begin)) {
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + frame.terminator.size();
    if (!frame.answers.empty()) {
      if (line.find(frame.answers) != std::string_view::npos) {
        return begin;
      }
      continue;
    }
    if (frame.last_lines.empty() || std::ranges::find(frame.last_lines, line) != frame.last_lines.end()) {
      return begin;
    }
  }
  return 0;
}

}  // namespace

std::string describe_errno(int number) { return format_text("{} (errno {})", std::strerror(number), number); }

Instant steady_now() { return Instant{Duration{std::chrono::steady_clock::now().time_since_epoch()}}; }

Result<void> wait_for(int descriptor, short events, Instant until) {
  const std::int64_t rest_us = std::max<std::int64_t>((until - steady_now()).count() / 1000, 0);
  const timespec rest{rest_us / 1'000'000, rest_us % 1'000'000 * 1000};
  pollfd port{descriptor, events, 0};
  const int ready = ppoll(&port, 1, &rest, nullptr);
  if (ready == 0) {
    return fail(ErrorCode::timed_out, "the line did not answer in time");
  }
  if (ready < 0 && errno != EINTR) {
    return fail(ErrorCode::unreachable, "the line cannot be waited for: " + describe_errno(errno));
  }
  return {};
}

void listen_out(int descriptor, Instant until) {
  constexpr Duration kSilence = std::chrono::milliseconds{35};  // 3.5 characters at 1200 baud, the slowest that we speak
  std::array<char, 256> dropped{};
  while (wait_for(descriptor, POLLIN, until) && read(descriptor, dropped.data(), dropped.size()) > 0) {
    until = std::min(until, steady_now() + kSilence);
  }
}

Result<void> write_all(int descriptor, std::span<const std::uint8_t> bytes, Instant until) {
  while (!bytes.empty()) {
    LOOM_TRY(wait_for(descriptor, POLLOUT, until));
    errno = 0;
    ssize_t written = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == ENOTSOCK) {
      errno = 0;
      written = ::write(descriptor, bytes.data(), bytes.size());
    }
    if (written < 0 && errno != EAGAIN && errno != EINTR) {
      return gone();
    }
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return {};
}

Result<std::vector<std::uint8_t>> read_some(int descriptor, std::size_t limit, Instant until) {
  while (true) {
    LOOM_TRY(wait_for(descriptor, POLLIN, until));
    std::vector<std::uint8_t> bytes(limit);
    errno = 0;
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    if (count > 0) {
      bytes.resize(static_cast<std::size_t>(count));
      return bytes;
    }
    if (errno != EAGAIN && errno != EINTR) {
      return gone();
    }
  }
}

BusReply connection_is_gone(const std::string& where) {
  return {BusStatus::lost, 0, {}, {}, format_text("{}: the connection that this belongs to was lost", where)};
}

BusReply exchange_frame(int descriptor, const Frame& frame, Instant until) {
  constexpr std::size_t kPart = 4096;
  if (const Result<void> sent = write_all(descriptor, frame.request, until); !sent) {
    return failed(sent.error(), "its request could not be sent");
  }
  BusReply reply;
  if (frame.reply_bytes == 0 && frame.terminator.empty()) {
    return reply;
  }
  while (whole_reply(frame, reply.bytes) == 0) {
    if (reply.bytes.size() >= kReplyBytesMax) {
      return {BusStatus::malformed, 0, {}, {}, format_text("more than {} bytes without an end", kReplyBytesMax)};
    }
    const Result<std::vector<std::uint8_t>> part = read_some(descriptor, kPart, until);
    if (!part) {
      BusReply failure = failed(part.error(), missing_of(frame, reply.bytes));
      failure.bytes = std::move(reply.bytes);
      return failure;
    }
    reply.bytes.insert(reply.bytes.end(), part->begin(), part->end());
    if (steady_now() > until && whole_reply(frame, reply.bytes) == 0) {
      std::string missing = missing_of(frame, reply.bytes);
      return {BusStatus::timeout, 0, {}, std::move(reply.bytes), std::move(missing)};
    }
  }
  const std::size_t whole = whole_reply(frame, reply.bytes);
  if (!frame.answers.empty()) {
    reply.bytes.resize(whole);  // the rest is a line end, or the next autonomous message
  }
  if (whole != reply.bytes.size()) {
    reply.status = BusStatus::malformed;
    reply.cause = format_text("{} bytes after its end", reply.bytes.size() - whole);
  }
  return reply;
}

}  // namespace loom
