// SPDX-License-Identifier: Apache-2.0
// Units refuse unlawful arithmetic at compile time; the grid is ITU-T G.694.1's.
#include <catch2/catch.hpp>

#include "core/fabric/grid.hpp"
#include "core/ids.hpp"
#include "core/units.hpp"

namespace loom {
namespace {

template <class A, class B>
concept Adds = requires(A a, B b) { a + b; };
template <class A, class B>
concept Subtracts = requires(A a, B b) { a - b; };
template <class A, class B>
concept Compares = requires(A a, B b) { a < b; };

static_assert(Adds<Dbm, Db> && Adds<Db, Db> && Adds<Milliwatt, Milliwatt>);
static_assert(!Adds<Dbm, Dbm>, "absolute powers add as Milliwatt only");
static_assert(!Adds<Db, Dbm>, "a ratio plus a power reads like a mistake");
static_assert(!Adds<Milliwatt, Dbm> && !Adds<Dbm, Milliwatt> && !Adds<Milliwatt, Db>);
static_assert(std::is_same_v<decltype(Dbm{} + Db{}), Dbm> && std::is_same_v<decltype(Dbm{} - Dbm{}), Db>);
static_assert(Adds<Frequency, FrequencyOffset> && Subtracts<Frequency, Frequency>);
static_assert(!Adds<Frequency, Frequency>, "two places on the axis have no sum");
static_assert(std::is_same_v<decltype(Frequency{} - Frequency{}), FrequencyOffset>);
static_assert(!Adds<Frequency, Dbm> && !Adds<Bytes, BitRate> && !Adds<FrequencyOffset, Db>);
static_assert(!Compares<Db, Dbm> && !Compares<Frequency, FrequencyOffset> && !Compares<NodeId, DeviceId>);
static_assert(!std::is_convertible_v<int, Dbm> && !std::is_convertible_v<int, NodeId>);

TEST_CASE("powers_add_as_milliwatts") {
  const Milliwatt sum = to_milliwatt(Dbm{0}) + to_milliwatt(Dbm{0});
  CHECK(sum.value == Approx(2.0));
  CHECK(to_dbm(sum) == Dbm{301});
  CHECK(to_dbm(to_milliwatt(Dbm{-1723})) == Dbm{-1723});
  CHECK(to_dbm(Milliwatt{0}) < kNoLight);
}

TEST_CASE("a_link_budget_is_dbm_plus_db") {
  CHECK(Dbm{0} - Db{1600} + Db{1800} == Dbm{200});
  CHECK(Dbm{-1000} - Dbm{-1300} == Db{300});
  CHECK(-Db{300} + Db{100} == Db{-200});
}

TEST_CASE("slots_lie_where_g694_1_puts_them") {
  // G.694.1 (10/2020) 7: centre 193.1 THz + n x 6.25 GHz, width m x 12.5 GHz.
  CHECK(centre_of({0, 4}) == Frequency{193'100'000});
  CHECK(centre_of({1, 1}) == Frequency{193'106'250});
  CHECK(centre_of({-272, 8}) == Frequency{191'400'000});
  CHECK(centre_of({480, 8}) == Frequency{196'100'000});
  CHECK(width_of({0, 8}) == FrequencyOffset{100'000});
  CHECK(lower_edge_of({0, 8}) == Frequency{193'050'000});
  CHECK(upper_edge_of({0, 8}) == Frequency{193'150'000});
}

TEST_CASE("neighbouring_slots_touch_and_do_not_overlap") {
  CHECK_FALSE(overlaps({0, 8}, {16, 8}));
  CHECK(overlaps({0, 8}, {15, 8}));
  CHECK(overlaps({0, 1}, {0, 8}));
  CHECK_FALSE(overlaps({-16, 8}, {16, 8}));
}

TEST_CASE("a_channel_plan_numbers_only_its_own_slots") {
  const ChannelPlan plan{{-272, 8}, 16, 48};
  for (std::int32_t channel = 0; channel < plan.count; ++channel) {
    CHECK(plan.channel_of(plan.slot(channel)) == channel);
  }
  CHECK(centre_of(plan.slot(47)) == Frequency{196'100'000});
  CHECK(plan.channel_of({-273, 8}) == -1);
  CHECK(plan.channel_of({-288, 8}) == -1);
  CHECK(plan.channel_of(plan.slot(48)) == -1);
  CHECK(ChannelPlan{{0, 8}, 0, 1}.channel_of({0, 8}) == -1);
}

TEST_CASE("frequencies_and_powers_print_as_the_field_prints_them") {
  CHECK(to_string(Frequency{193'100'000}) == "193.10000 THz");
  CHECK(to_string(Frequency{191'356'250}) == "191.35625 THz");
  CHECK(to_string(Frequency{193'000'010}) == "193.00001 THz");
  CHECK(to_string(Dbm{-1250}) == "-12.50 dBm");
  CHECK(to_string(Dbm{-5}) == "-0.05 dBm");
  CHECK(to_string(Dbm{-4000}) == "no light");
  CHECK(to_string(Dbm{-9000}) == "no light");
  CHECK(to_string(Dbm{-3999}) == "-39.99 dBm");
}

}  // namespace
}  // namespace loom
