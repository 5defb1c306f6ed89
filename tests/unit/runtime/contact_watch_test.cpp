// SPDX-License-Identifier: Apache-2.0
// A contact under watch by a real thread and a real loop: what is told, and that a reader that is stuck does not matter.
#include "runtime/contact_watch.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <vector>

#include "runtime/loop.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Runs the loop until the contact has changed so often, and answers what was told.
struct Watched {
  explicit Watched(ContactPort port, ContactTimings timings, std::size_t changes) {
    auto loop = AsioLoop::open();
    REQUIRE(loop);
    ContactWatch watch(timings, std::move(port), **loop, (*loop)->poster(), [&](const ContactChange& change) {
      reported.push_back(change);
      if (reported.size() == changes) {
        (*loop)->stop();
      }
    });
    (*loop)->call_at((*loop)->now() + seconds{60}, Precision::ordinary, [&] { (*loop)->stop(); });
    (*loop)->run();
  }
  std::vector<ContactChange> reported;
};

constexpr ContactTimings kTimings{milliseconds{1}, milliseconds{200}, milliseconds{5}};

}  // namespace

TEST_CASE("a_watch_tells_of_a_contact_that_is_closed_then_opened_then_closed") {
  std::atomic<int> readings{0};
  ContactPort port;
  port.read = [&readings](Duration) -> Result<bool> {
    const int reading = ++readings;
    return reading < 40 || reading > 45;
  };
  const Watched watched(std::move(port), kTimings, 3);
  REQUIRE(watched.reported.size() == 3);
  CHECK(watched.reported[0] == ContactChange{false, {}});
  CHECK(watched.reported[1] == ContactChange{true, {}});
  CHECK(watched.reported[2] == ContactChange{false, {}});
}

TEST_CASE("a_watch_tells_why_a_contact_counts_as_open_that_cannot_be_read") {
  ContactPort port;
  port.read = [](Duration) -> Result<bool> { return fail(ErrorCode::unreachable, "/dev/gpiochip0 line 17: No such device"); };
  const Watched watched(std::move(port), kTimings, 1);
  REQUIRE(watched.reported.size() == 1);
  CHECK(watched.reported[0].open);
  CHECK(watched.reported[0].problem.find("No such device") != std::string::npos);
}

TEST_CASE("a_reader_that_never_comes_back_from_its_bus_is_an_open_contact") {
  auto loop = AsioLoop::open();
  REQUIRE(loop);
  std::promise<void> release;
  std::atomic<int> readings{0};
  std::vector<ContactChange> reported;
  {
    ContactPort port;
    port.read = [&, stuck = release.get_future().share()](Duration) -> Result<bool> {
      if (++readings == 20) {
        stuck.wait();
      }
      return true;
    };
    ContactWatch watch(kTimings, std::move(port), **loop, (*loop)->poster(), [&](const ContactChange& change) {
      reported.push_back(change);
      if (change.open) {
        (*loop)->stop();
      }
    });
    (*loop)->call_at((*loop)->now() + seconds{60}, Precision::ordinary, [&] { (*loop)->stop(); });
    (*loop)->run();
    release.set_value();
  }
  REQUIRE(reported.size() == 2);
  CHECK_FALSE(reported[0].open);
  CHECK(reported[1].open);
  CHECK(reported[1].problem.find("does not answer") != std::string::npos);
}
