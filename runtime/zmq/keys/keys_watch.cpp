// SPDX-License-Identifier: Apache-2.0
// One inotify descriptor, one timer, one signal.
#include "runtime/zmq/keys/keys_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <csignal>
#include <utility>

namespace loom {
namespace {

/// No IN_MODIFY: a file that is being written is not read before its writer closes it.
constexpr std::uint32_t kFolderEvents =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

}  // namespace

void ignore_hangups() { std::signal(SIGHUP, SIG_IGN); }

class KeysWatch::Core : public std::enable_shared_from_this<KeysWatch::Core> {
 public:
  Core(asio::io_context& io, std::filesystem::path folder, Changed changed, std::chrono::milliseconds interval)
      : folder_(std::move(folder)), changed_(std::move(changed)), interval_(interval), events_(io), timer_(io), hangups_(io) {}

  void open() {
    asio::error_code ignored;  // without any of the three the others remain
    hangups_.add(SIGHUP, ignored);
    const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (descriptor >= 0) {
      events_.assign(descriptor, ignored);
      watch_folder();
      wait_for_events();
    }
    wait_for_hangup();
    wait_for_interval();
  }

  void close() {
    changed_ = nullptr;
    asio::error_code ignored;
    events_.close(ignored);
    timer_.cancel();
    hangups_.clear(ignored);
    ignore_hangups();  // also while the process ends
  }

 private:
  void report(Cause cause) {
    if (const Changed changed = changed_) {  // a copy: it may end this watch
      changed(cause);
    }
  }

  /// The folder may have been made, removed or replaced since. Of one that is watched already it changes nothing.
  void watch_folder() {
    if (events_.is_open()) {
      ::inotify_add_watch(events_.native_handle(), folder_.c_str(), kFolderEvents);
    }
  }

  void wait_for_events() {
    events_.async_wait(asio::posix::stream_descriptor::wait_read, [weak = weak_from_this()](asio::error_code error) {
      const auto self = weak.lock();
      if (!self || error || !self->events_.is_open()) {
        return;
      }
      alignas(inotify_event) std::array<char, 4'096> reported{};
      while (::read(self->events_.native_handle(), reported.data(), reported.size()) > 0) {
      }
      self->watch_folder();
      self->report(Cause::written);
      if (self->events_.is_open()) {
        self->wait_for_events();
      }
    });
  }

  void wait_for_hangup() {
    hangups_.async_wait([weak = weak_from_this()](asio::error_code error, int) {
      const auto self = weak.lock();
      if (!self || error) {
        return;
      }
      self->watch_folder();
      self->report(Cause::hangup);
      self->wait_for_hangup();
    });
  }

  void wait_for_interval() {
    timer_.expires_after(interval_);
    timer_.async_wait([weak = weak_from_this()](asio::error_code error) {
      const auto self = weak.lock();
      if (!self || error) {
        return;
      }
      self->watch_folder();
      self->report(Cause::interval);
      self->wait_for_interval();
    });
  }

  std::filesystem::path folder_;
  Changed changed_;
  std::chrono::milliseconds interval_;
  asio::posix::stream_descriptor events_;
  asio::steady_timer timer_;
  asio::signal_set hangups_;
};

KeysWatch::KeysWatch(asio::io_context& io, std::filesystem::path folder, Changed changed, std::chrono::milliseconds interval)
    : core_(std::make_shared<Core>(io, std::move(folder), std::move(changed), interval)) {
  core_->open();
}

KeysWatch::~KeysWatch() { core_->close(); }

}  // namespace loom
