// SPDX-License-Identifier: Apache-2.0
// Virtual time: order, equality, and tasks that make tasks.
#include "sim_backend/world/virtual_loop.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "sim_backend/random.hpp"

using namespace loom;

TEST_CASE("tasks_run_by_instant_and_equal_instants_by_arrival") {
  const std::uint64_t seed = GENERATE(range(1, 6));
  CAPTURE(seed);
  Random random(seed);
  VirtualLoop loop;
  std::vector<std::pair<std::int64_t, int>> expected;
  std::vector<std::pair<std::int64_t, int>> ran;
  for (int i = 0; i < 2'000; ++i) {
    const std::int64_t at = random.below(300);
    expected.push_back({at, i});
    loop.call_at(instant_from_ns(at), Precision::ordinary, [&ran, &loop, i] { ran.push_back({ns_of(loop.now()), i}); });
  }
  std::sort(expected.begin(), expected.end());
  while (loop.run_next()) {
  }
  CHECK(ran == expected);
  CHECK(loop.tasks_run() == 2'000);
}

TEST_CASE("a_task_for_the_past_runs_now_but_never_inside_the_call") {
  VirtualLoop loop;
  std::vector<int> order;
  loop.call_at(instant_from_ns(100), Precision::ordinary, [&] {
    loop.call_at(instant_from_ns(5), Precision::exact, [&] { order.push_back(2); });
    order.push_back(1);
  });
  loop.call_at(instant_from_ns(101), Precision::ordinary, [&] { order.push_back(3); });
  loop.run_until(instant_from_ns(100));
  CHECK(order == std::vector<int>{1, 2});
  CHECK(loop.now() == instant_from_ns(100));
  CHECK(loop.next_due() == instant_from_ns(101));
}

TEST_CASE("time_stands_at_the_end_that_was_asked_for") {
  VirtualLoop loop;
  bool ran = false;
  loop.call_at(instant_from_ns(10), Precision::ordinary, [&] { ran = true; });
  CHECK_FALSE(loop.run_next(instant_from_ns(9)));
  loop.run_until(instant_from_ns(9));
  CHECK_FALSE(ran);
  CHECK(loop.now() == instant_from_ns(9));
  loop.run_until(instant_from_ns(50));
  CHECK(ran);
  CHECK(loop.now() == instant_from_ns(50));
  CHECK(loop.next_due() == kNever);
}

TEST_CASE("the_generator_repeats_for_a_seed_and_stays_in_its_bounds") {
  Random random(7);
  Random same(7);
  Random other(8);
  bool differs = false;
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t word = random.next();
    CHECK(word == same.next());
    differs = differs || word != other.next();
    const Duration drawn = random.between(Duration{5}, Duration{7});
    CHECK(drawn == same.between(Duration{5}, Duration{7}));
    CHECK((drawn >= Duration{5} && drawn <= Duration{7}));
  }
  CHECK(differs);
  CHECK(random.between(std::chrono::seconds{3}, std::chrono::hours{3}) <= std::chrono::hours{3});
  CHECK_FALSE(random.chance(0));
  CHECK(random.chance(1'000'000));
}
