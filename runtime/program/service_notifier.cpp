// SPDX-License-Identifier: Apache-2.0
// A connected SOCK_DGRAM socket, as sd_notify(3) describes the protocol.
#include "runtime/program/service_notifier.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <asio/post.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/text/format_text.hpp"
#include "runtime/log.hpp"

namespace loom {
namespace {

/// How often the status is looked at where nobody watches.
constexpr std::chrono::seconds kStatusPeriod{5};

std::string taken_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  unsetenv(name);
  return text;
}

Result<std::uint64_t> parsed(const char* name, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return fail(ErrorCode::invalid_argument, format_text("{} is '{}'; expected a whole number", name, text.substr(0, 64)));
  }
  return number;
}

}  // namespace

Result<std::optional<ServiceManager>> take_service_manager() {
  const std::string socket = taken_variable("NOTIFY_SOCKET");
  const std::string silence = taken_variable("WATCHDOG_USEC");
  const std::string watched = taken_variable("WATCHDOG_PID");
  if (socket.empty()) {
    return std::optional<ServiceManager>{};
  }
  const std::size_t limit = sizeof(sockaddr_un::sun_path) - 1;
  if ((socket[0] != '/' && socket[0] != '@') || socket.size() < 2 || socket.size() > limit) {
    return fail(ErrorCode::invalid_argument,
                format_text("NOTIFY_SOCKET is '{}'; expected a path from / on, or @ and a name, of at most {} characters",
                            socket.substr(0, 128), limit));
  }
  ServiceManager manager{socket, {}};
  if (!watched.empty()) {
    const auto pid = parsed("WATCHDOG_PID", watched);
    if (!pid) {
      return std::unexpected(pid.error());
    }
    if (*pid != static_cast<std::uint64_t>(getpid())) {
      return std::optional(manager);  // another process is watched
    }
  }
  if (!silence.empty()) {
    const auto microseconds = parsed("WATCHDOG_USEC", silence);
    if (!microseconds || *microseconds == 0 || *microseconds > std::uint64_t{1} << 50) {
      return microseconds
                 ? fail(ErrorCode::invalid_argument, format_text("WATCHDOG_USEC is {}; expected 1..2^50", *microseconds))
                 : std::unexpected(microseconds.error());
    }
    manager.silence_max = std::chrono::microseconds{*microseconds};
  }
  return std::optional(manager);
}

Result<std::unique_ptr<ServiceNotifier>> ServiceNotifier::open(asio::io_context& context, const ServiceManager& manager,
                                                               std::function<std::string()> status) {
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) {
    return fail(ErrorCode::internal, format_text("no socket for the service manager: {}", std::strerror(errno)));
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = std::min(manager.socket.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path, manager.socket.data(), size);
  if (manager.socket[0] == '@') {
    address.sun_path[0] = '\0';
  }
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    const int why = errno;
    close(descriptor);
    return fail(ErrorCode::unreachable, format_text("NOTIFY_SOCKET {}: {}", manager.socket, std::strerror(why)));
  }
  return std::unique_ptr<ServiceNotifier>(new ServiceNotifier(context, descriptor, manager.silence_max, std::move(status)));
}

ServiceNotifier::ServiceNotifier(asio::io_context& context, int descriptor,
                                 std::optional<std::chrono::microseconds> silence_max, std::function<std::string()> status)
    : context_(context),
      descriptor_(descriptor),
      // Twice in the time that is allowed, as sd_watchdog_enabled(3) recommends.
      period_(silence_max ? std::max(*silence_max / 2, std::chrono::microseconds{1})
                          : std::chrono::microseconds{kStatusPeriod}),
      is_watched_(silence_max.has_value()),
      status_(std::move(status)),
      timer_(context) {}

ServiceNotifier::~ServiceNotifier() { close(descriptor_); }

void ServiceNotifier::begin() {
  asio::post(context_, [this] {
    send("READY=1\n" + status_line());
    tick(std::chrono::steady_clock::now());
  });
}

void ServiceNotifier::end() {
  timer_.cancel();
  send("STOPPING=1\n");
}

/// A line whose value holds no other line.
std::string ServiceNotifier::status_line() {
  std::string status = status_();
  std::ranges::replace(status, '\n', ' ');
  return std::exchange(told_, status) == status ? "" : format_text("STATUS={}\n", status);
}

void ServiceNotifier::send(const std::string& lines) const {
  if (!lines.empty()) {
    (void)::send(descriptor_, lines.data(), lines.size(), MSG_NOSIGNAL);
  }
}

/// A timer of the context and not of the loop's clock: TAI may be set back while it runs, and the manager counts on.
void ServiceNotifier::tick(std::chrono::steady_clock::time_point due) {
  send((is_watched_ ? "WATCHDOG=1\n" : "") + status_line());
  // A loop that was late for several periods has said so by its silence, and does not make up for it.
  const auto next = std::max(due + period_, std::chrono::steady_clock::now());
  timer_.expires_at(next);
  timer_.async_wait([this, next](const asio::error_code& error) {
    if (!error) {
      tick(next);
    }
  });
}

void run_until_signalled(AsioLoop& loop, std::function<std::string()> status) {
  std::unique_ptr<ServiceNotifier> notifier;
  if (const auto manager = take_service_manager(); !manager) {
    log_warning(manager.error().message);
  } else if (*manager) {
    if (auto opened = ServiceNotifier::open(loop.context(), **manager, std::move(status))) {
      notifier = *std::move(opened);
      notifier->begin();
    } else {
      log_warning(opened.error().message);
    }
  }
  loop.on_signal({});
  loop.run();
  if (notifier) {
    notifier->end();
  }
}

}  // namespace loom
