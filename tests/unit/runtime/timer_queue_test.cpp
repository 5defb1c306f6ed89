// SPDX-License-Identifier: Apache-2.0
// Whatever is pushed comes out by instant and then by number, as from a list that is sorted each time.
#include "runtime/timer_queue.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <utility>
#include <vector>

namespace loom::test {
namespace {

using Key = std::pair<Instant, std::uint64_t>;

TEST_CASE("a timer queue gives what a sorted list gives, however far off its instants are") {
  const std::int64_t span = GENERATE(std::int64_t{1}, 1'000, 50'000'000, 3'000'000'000, 4'000'000'000'000'000'000);
  std::mt19937_64 random(static_cast<std::uint64_t>(span));
  TimerQueue queue;
  std::vector<Key> list;
  std::int64_t base = 0;
  std::uint64_t number = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 5 < 3 || list.empty()) {
      const Instant at{Duration{base + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(span))}};
      std::uint64_t ran = 0;
      queue.push({at, number, [&ran] { ++ran; }});
      list.emplace_back(at, number++);
      continue;
    }
    const auto least = std::ranges::min_element(list);
    CHECK(queue.front().at == least->first);
    const TimerQueue::Entry entry = queue.pop();
    REQUIRE(Key{entry.at, entry.number} == *least);
    base = std::max(base, std::min(ns_of(entry.at), std::int64_t{4'000'000'000'000'000'000}));  // time passes
    list.erase(least);
    REQUIRE(queue.empty() == list.empty());
  }
}

TEST_CASE("a timer queue takes the earliest and the latest instants that there are") {
  TimerQueue queue;
  queue.push({kNever, 0, {}});
  queue.push({Instant::min(), 1, {}});
  queue.push({Instant{}, 2, {}});
  CHECK(queue.pop().number == 1);
  CHECK(queue.pop().number == 2);
  CHECK(queue.pop().number == 0);
  CHECK(queue.empty());
}

}  // namespace
}  // namespace loom::test
