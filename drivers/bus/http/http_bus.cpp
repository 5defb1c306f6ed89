// SPDX-License-Identifier: Apache-2.0
// A request out, a reply in.
#include "drivers/bus/http/http_bus.hpp"

#include <utility>

#include "core/text/format_text.hpp"
#include "core/text/http_text.hpp"
#include "drivers/bus/http/http_message.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {
namespace {

constexpr std::size_t kPart = 16'384;
constexpr std::uint16_t kHttpPort = 80;

/// Without the port where it is the usual one: there are servers that compare.
std::string host_of(const TcpEndpoint& endpoint) {
  return endpoint.port == kHttpPort ? bracketed(endpoint.host) : to_string(endpoint);
}

}  // namespace

HttpBus::HttpBus(TcpEndpoint endpoint) : connection_(endpoint), host_(host_of(endpoint)) {}

BusReply HttpBus::execute(const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  const auto request = frame == nullptr ? std::nullopt : read_http_request(frame->request);
  if (!request) {
    return {BusStatus::exception, 1, {}, {}};
  }
  if (transaction.connection != 0) {
    return connection_is_gone(connection_.where());
  }
  const Instant until = steady_now() + (transaction.deadline > Duration{0} ? transaction.deadline : kUsualDeadline);
  if (connection_.is_open() && !connection_.is_fresh()) {
    connection_.close();
  }
  if (!connection_.is_open()) {
    if (BusReply failure = connection_.open(until); failure.status != BusStatus::ok) {
      return failure;
    }
  }
  BusReply reply = exchange(*request, until);
  if (reply.status != BusStatus::ok) {
    connection_.close();
  }
  return reply;
}

BusReply HttpBus::failed(BusStatus status, const std::string& why) const {
  return {status, 0, {}, {}, status == BusStatus::timeout ? std::string{} : format_text("{}: {}", connection_.where(), why)};
}

BusReply HttpBus::exchange(const HttpRequest& request, Instant until) {
  const std::string bytes = write_http(request, host_);
  const Result<void> sent =
      write_all(connection_.descriptor(), {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, until);
  if (!sent && sent.error().code == ErrorCode::timed_out) {
    return failed(BusStatus::timeout, {});
  }
  // Whoever would not hear all of a request has perhaps said why before it hung up.
  HttpReplyReader reader(kHttpBodyBytesMax);
  while (!reader.is_whole()) {
    if (steady_now() > until) {
      return failed(BusStatus::timeout, {});
    }
    const Result<std::vector<std::uint8_t>> part = read_some(connection_.descriptor(), kPart, until);
    if (!part && part.error().code == ErrorCode::timed_out) {
      return failed(BusStatus::timeout, {});
    }
    if (!part && !sent) {
      return failed(BusStatus::lost, sent.error().message);
    }
    if (!part && part.error().message != kEndOfFile) {
      return failed(BusStatus::lost, part.error().message);
    }
    if (const Result<void> taken = part ? reader.take(*part) : reader.end(); !taken) {
      const bool has_begun = part || reader.has_begun();
      return failed(has_begun ? BusStatus::malformed : BusStatus::lost, taken.error().message);
    }
  }
  if (reader.bytes_after() > 0) {
    return failed(BusStatus::malformed, format_text("{} bytes after its end", reader.bytes_after()));
  }
  BusReply reply;
  reply.bytes = http_reply_bytes(reader.reply());
  if (!sent || !reader.keeps_alive()) {
    connection_.close();
  }
  return reply;
}

}  // namespace loom
