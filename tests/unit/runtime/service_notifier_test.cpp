// SPDX-License-Identifier: Apache-2.0
// What a service manager receives of a daemon's loop, and that a loop which hangs is silent.
#include "runtime/program/service_notifier.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <asio/post.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace loom;

namespace {

/// The manager's end: a datagram socket with a name in the abstract namespace, so that no file is left.
class Manager {
 public:
  Manager() : name_("@lightloom-notify-" + std::to_string(getpid()) + "-" + std::to_string(++count)) {
    descriptor_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name_.data(), name_.size());
    address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    REQUIRE(bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), length) == 0);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() { close(descriptor_); }

  const std::string& name() const { return name_; }

  /// What lies there by now.
  std::vector<std::string> received() {
    std::vector<std::string> all;
    char buffer[4096];
    for (ssize_t size = 0; (size = recv(descriptor_, buffer, sizeof buffer, MSG_DONTWAIT)) >= 0;) {
      all.emplace_back(buffer, static_cast<std::size_t>(size));
    }
    return all;
  }

 private:
  static int count;
  std::string name_;
  int descriptor_ = -1;
};
int Manager::count = 0;

std::unique_ptr<AsioLoop> open_loop() {
  auto loop = AsioLoop::open();
  REQUIRE(loop);
  return *std::move(loop);
}

std::unique_ptr<ServiceNotifier> open_notifier(AsioLoop& loop, const ServiceManager& manager,
                                               std::function<std::string()> status) {
  auto notifier = ServiceNotifier::open(loop.context(), manager, std::move(status));
  REQUIRE(notifier);
  return *std::move(notifier);
}

std::size_t watchdogs_in(const std::vector<std::string>& messages) {
  std::size_t count = 0;
  for (const std::string& message : messages) {
    count += message.starts_with("WATCHDOG=1\n") ? 1U : 0U;
  }
  return count;
}

/// Runs the loop until `is_enough` says so of everything received.
std::vector<std::string> run_until(AsioLoop& loop, Manager& manager,
                                   const std::function<bool(const std::vector<std::string>&)>& is_enough) {
  std::vector<std::string> all;
  std::function<void()> look = [&] {
    for (std::string& message : manager.received()) {
      all.push_back(std::move(message));
    }
    if (is_enough(all)) {
      loop.stop();
      return;
    }
    loop.call_at(loop.now() + std::chrono::milliseconds{1}, Precision::ordinary, look);
  };
  loop.call_at(loop.now(), Precision::ordinary, look);
  loop.run();
  return all;
}

}  // namespace

TEST_CASE("a manager is told that the daemon serves, then that its loop turns, then that it ends") {
  Manager manager;
  const auto loop = open_loop();
  const auto notifier = open_notifier(*loop, {manager.name(), std::chrono::milliseconds{4}}, [] { return "4 of 4\nnodes"; });
  notifier->begin();
  CHECK(manager.received().empty());  // not before the loop turns
  const auto all = run_until(*loop, manager, [](const auto& messages) { return watchdogs_in(messages) >= 3; });
  REQUIRE(!all.empty());
  CHECK(all.front() == "READY=1\nSTATUS=4 of 4 nodes\n");  // a line break would be another assignment
  for (std::size_t i = 1; i < all.size(); ++i) {
    CHECK(all[i] == "WATCHDOG=1\n");  // a status that did not change is not said again
  }
  notifier->end();
  CHECK(manager.received().back() == "STOPPING=1\n");
}

TEST_CASE("a loop that hangs sends no watchdog, and afterwards does not make up for it") {
  Manager manager;
  const auto loop = open_loop();
  constexpr std::chrono::milliseconds kAllowed{2};
  const auto notifier = open_notifier(*loop, {manager.name(), kAllowed}, [] { return ""; });
  notifier->begin();
  run_until(*loop, manager, [](const auto& messages) { return watchdogs_in(messages) >= 1; });
  std::vector<std::string> while_hanging;
  loop->call_at(loop->now(), Precision::ordinary, [&] {
    manager.received();
    for (const Instant end = loop->now() + 20 * kAllowed; loop->now() < end;) {  // as a step would that does not return
    }
    while_hanging = manager.received();
    asio::post(loop->context(), [&] { loop->stop(); });  // behind what the turn after the hang sends
  });
  loop->run();
  CHECK(while_hanging.empty());
  CHECK(watchdogs_in(manager.received()) <= 2);  // 40 periods went by
}

TEST_CASE("where nobody watches, only what changed is sent") {
  Manager manager;
  const auto loop = open_loop();
  const auto notifier = open_notifier(*loop, {manager.name(), {}}, [] { return "term 1"; });
  notifier->begin();
  CHECK(run_until(*loop, manager, [](const auto& messages) { return !messages.empty(); }) ==
        std::vector<std::string>{"READY=1\nSTATUS=term 1\n"});
}

TEST_CASE("what the manager says is taken out of the environment, and read to the letter") {
  const auto take = [](const char* socket, const char* silence, const std::string& pid) {
    setenv("NOTIFY_SOCKET", socket, 1);
    setenv("WATCHDOG_USEC", silence, 1);
    setenv("WATCHDOG_PID", pid.c_str(), 1);
    auto taken = take_service_manager();
    CHECK(std::getenv("NOTIFY_SOCKET") == nullptr);
    CHECK(std::getenv("WATCHDOG_USEC") == nullptr);
    CHECK(std::getenv("WATCHDOG_PID") == nullptr);
    return taken;
  };
  const std::string own = std::to_string(getpid());
  CHECK(!*take_service_manager());  // there is none
  const auto watched = take("/run/systemd/notify", "10000000", own);
  REQUIRE((watched && *watched));
  CHECK((*watched)->socket == "/run/systemd/notify");
  CHECK((*watched)->silence_max == std::chrono::seconds{10});
  const auto of_another = take("@name", "10000000", "1");  // WATCHDOG_PID names who is watched
  REQUIRE((of_another && *of_another));
  CHECK(!(*of_another)->silence_max);
  for (const auto& [socket, silence, pid, named] :
       {std::tuple{"relative", "1", own, "NOTIFY_SOCKET is 'relative'"}, std::tuple{"@", "1", own, "NOTIFY_SOCKET"},
        std::tuple{"/x", "ten", own, "WATCHDOG_USEC is 'ten'"}, std::tuple{"/x", "0", own, "expected 1..2^50"},
        std::tuple{"/x", "1", std::string("-1"), "WATCHDOG_PID is '-1'"}}) {
    const auto refused = take(socket, silence, pid);
    REQUIRE(!refused);
    CHECK(refused.error().message.find(named) != std::string::npos);
  }
  const auto too_long = take(("/" + std::string(200, 'x')).c_str(), "1", own);
  CHECK(!too_long);
}

TEST_CASE("a manager that is not there is named, and one that goes does not end the daemon") {
  const auto loop = open_loop();
  const auto missing = ServiceNotifier::open(loop->context(), {"@lightloom-nobody-listens", {}}, [] { return ""; });
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::unreachable);
  std::unique_ptr<ServiceNotifier> notifier;
  {
    Manager manager;
    notifier = open_notifier(*loop, {manager.name(), std::chrono::milliseconds{1}}, [] { return ""; });
    notifier->begin();
  }
  loop->call_at(loop->now() + std::chrono::milliseconds{5}, Precision::ordinary, [&] { loop->stop(); });
  loop->run();
  notifier->end();
}
