// SPDX-License-Identifier: Apache-2.0
// The fast plane's steps on one sender and one arbiter: none of them allocates once the machines are made.
#include <cstdlib>
#include <new>

#include "agents/grant/table.hpp"
#include "tests/unit/agents/grant_bench.hpp"

namespace {

std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) {
    std::abort();
  }
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace loom;
using namespace loom::testing;

namespace {

/// Sender and arbiter face to face: every word arrives at once, every row is carried out in time.
struct Pair {
  StreamSender sender;
  ReceiverArbiter arbiter;
  GrantTable table;
  Instant now = kStart;
  std::uint64_t sent = 0;

  // NOLINTNEXTLINE(misc-no-recursion): as deep as one stream's words
  void receive(const GrantSink& sink) {
    for (const GrantEffect& effect : sink.effects()) {
      GrantSink answer;
      if (const auto* order = std::get_if<SendGrant>(&effect)) {
        if (order->to == kReceiver) {
          arbiter.step(now, GrantReceived{kSource, order->message}, answer);
        } else {
          sender.step(now, GrantReceived{kReceiver, order->message}, answer);
        }
      } else if (const auto* write = std::get_if<WriteRow>(&effect)) {
        REQUIRE(table.write(write->row).has_value());
      } else if (const auto* over = std::get_if<StreamOver>(&effect)) {
        sent += over->end == StreamEnd::sent ? 1 : 0;
      }
      receive(answer);
    }
  }
  void offer(std::uint64_t collective) {
    GrantSink sink;
    sender.step(now, StreamOffered{stream_to_receiver(kSource, collective), Bytes{10'000}}, sink);
    receive(sink);
  }
  void pass(Duration time) {
    now += time;
    GrantSink ticks;
    arbiter.step(now, GrantTick{}, ticks);
    sender.step(now, GrantTick{}, ticks);
    receive(ticks);
    const TableStep context = table.step(now);
    for (std::size_t i = 0; i < context.ended_count; ++i) {
      GrantSink sink;
      sender.step(now, context.ended[i], sink);
      receive(sink);
    }
  }
};

}  // namespace

TEST_CASE("no_step_of_the_fast_plane_allocates") {
  Pair pair{sender_rig().machine, arbiter_rig().machine, GrantTable(1, GrantTimings{}.tune)};
  const std::size_t before = allocations;
  for (std::uint64_t collective = 1; collective <= 200; ++collective) {
    pair.offer(collective);
    for (int i = 0; i < 400; ++i) {
      pair.pass(Duration{10});
    }
  }
  const std::size_t after = allocations;
  CHECK(before > 0);  // it counts
  CHECK(pair.sent == 200);
  CHECK(after == before);
}
