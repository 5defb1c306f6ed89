// SPDX-License-Identifier: Apache-2.0
// Rounds against a checker of its own, which moves symbols: who holds which part of the buffer after each round, and whose
// contributions are in it.
#include <rapidcheck.h>

#include <bit>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "controller/workload/rounds.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

using Round = std::vector<RoundTransfer>;
using Algorithm = CollectiveAlgorithm;
using Kind = CollectiveKind;

std::map<std::uint32_t, std::vector<Round>> lanes_of(const CollectiveRounds& rounds) {
  std::map<std::uint32_t, std::vector<Round>> lanes;
  for (const RoundRun& run : rounds.runs) {
    for (std::uint32_t repeat = 0; repeat < run.repeats; ++repeat) {
      Round round;
      for_each_transfer(run, rounds.size,
                        [&](std::uint32_t i, std::uint32_t j, double bytes) { round.push_back({i, j, bytes}); });
      lanes[run.lane].push_back(std::move(round));
    }
  }
  return lanes;
}

struct Traffic {
  std::vector<double> sent;
  std::vector<double> received;
};

Traffic traffic_of(const CollectiveRounds& rounds) {
  Traffic traffic{std::vector<double>(rounds.size, 0), std::vector<double>(rounds.size, 0)};
  for (const auto& [lane, all] : lanes_of(rounds)) {
    for (const Round& round : all) {
      for (const RoundTransfer& pair : round) {
        traffic.sent[pair.source] += pair.bytes;
        traffic.received[pair.destination] += pair.bytes;
      }
    }
  }
  return traffic;
}

/// Everybody begins with its own of n equal chunks. True when every transfer is just as long as what the sender holds and the
/// receiver lacks, and everybody ends with all: nothing is missing and nothing is sent twice.
bool gathers_all(const std::vector<Round>& rounds, std::uint32_t size, double bytes) {
  std::vector<std::set<std::uint32_t>> held(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    held[i] = {i};
  }
  for (const Round& round : rounds) {
    const auto before = held;
    for (const RoundTransfer& pair : round) {
      std::size_t useful = 0;
      for (const std::uint32_t chunk : before[pair.source]) {
        useful += held[pair.destination].insert(chunk).second ? 1 : 0;
      }
      if (std::abs(pair.bytes - bytes / size * static_cast<double>(useful)) > 1e-6 * bytes) {
        return false;
      }
    }
  }
  return std::all_of(held.begin(), held.end(), [&](const auto& chunks) { return chunks.size() == size; });
}

/// A reduce-scatter is an all-gather run backwards: each chunk's tree of copies is its tree of sums.
std::vector<Round> backwards(std::vector<Round> rounds) {
  std::reverse(rounds.begin(), rounds.end());
  for (Round& round : rounds) {
    for (RoundTransfer& pair : round) {
      std::swap(pair.source, pair.destination);
    }
  }
  return rounds;
}

bool is_complete(Kind kind, const std::vector<Round>& rounds, std::uint32_t size, double bytes) {
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
  switch (kind) {
    case Kind::all_gather:
      return gathers_all(rounds, size, bytes);
    case Kind::reduce_scatter:
      return gathers_all(backwards(rounds), size, bytes);
    default:
      return rounds.size() % 2 == 0 && gathers_all(backwards({rounds.begin(), middle}), size, bytes) &&
             gathers_all({middle, rounds.end()}, size, bytes);
  }
}

/// Whose contribution each rank has heard of, directly or not.
std::vector<std::set<std::uint32_t>> arrived(const std::vector<Round>& rounds, std::uint32_t size) {
  std::vector<std::set<std::uint32_t>> of(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    of[i] = {i};
  }
  for (const Round& round : rounds) {
    const auto before = of;
    for (const RoundTransfer& pair : round) {
      of[pair.destination].insert(before[pair.source].begin(), before[pair.source].end());
    }
  }
  return of;
}

/// A pipeline: the k-th transfer from i to j carries piece k. Going up (to the root) it carries a sum, which must hold nothing
/// that the receiver has; going down it replaces. Returns whose contributions each rank holds of each piece at the end.
using Pieces = std::vector<std::vector<std::multiset<std::uint32_t>>>;
Pieces piped(const std::vector<Round>& rounds, std::uint32_t size, std::size_t pieces,
             const std::function<bool(const RoundTransfer&)>& goes_up) {
  Pieces held(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    held[i].assign(pieces, {i});
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> turn;
  for (const Round& round : rounds) {
    const Pieces before = held;
    for (const RoundTransfer& pair : round) {
      const std::size_t piece = turn[{pair.source, pair.destination}]++;
      REQUIRE(piece < pieces);
      const auto& moved = before[pair.source][piece];
      auto& target = held[pair.destination][piece];
      if (goes_up(pair)) {
        target.insert(moved.begin(), moved.end());
      } else {
        target = moved;
      }
    }
  }
  for (const auto& [edge, turns] : turn) {
    CHECK(turns == pieces);
  }
  return held;
}

std::multiset<std::uint32_t> everybody(std::uint32_t size) {
  std::multiset<std::uint32_t> all;
  for (std::uint32_t i = 0; i < size; ++i) {
    all.insert(i);
  }
  return all;
}

TEST_CASE("every_scattering_algorithm_completes_and_sends_nothing_twice") {
  const double bytes = 720'720;
  for (std::uint32_t size = 2; size <= 17; ++size) {
    for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::ring, Algorithm::bidirectional_ring, Algorithm::direct,
                                      Algorithm::halving_doubling, Algorithm::hierarchical}) {
      for (const Kind kind : {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter}) {
        for (std::uint32_t local = 1; local <= size; ++local) {
          if (size % local != 0 || (local > 1 && algorithm != Algorithm::hierarchical)) {
            continue;
          }
          CAPTURE(size, to_string(algorithm), to_string(kind), local);
          const auto rounds = rounds_of(kind, {algorithm, {}, local}, size, Bytes{720'720});
          REQUIRE(rounds);
          const auto lanes = lanes_of(*rounds);
          const bool folds_whole =
              algorithm == Algorithm::halving_doubling && kind == Kind::all_reduce && !std::has_single_bit(size);
          for (const auto& [lane, all] : lanes) {
            if (!folds_whole) {
              CHECK(is_complete(kind, all, size, bytes / static_cast<double>(lanes.size())));
            }
            for (const auto& whom : arrived(all, size)) {
              CHECK(whom.size() == size);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("every_rank_sends_and_receives_what_theory_says") {
  const double bytes = 720'720;
  for (std::uint32_t size = 2; size <= 17; ++size) {
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::bidirectional_ring, Algorithm::direct,
                                      Algorithm::hierarchical, Algorithm::halving_doubling}) {
      for (const Kind kind : {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter}) {
        if (algorithm == Algorithm::halving_doubling && !std::has_single_bit(size)) {
          continue;
        }
        // hierarchical: each level leaves out its own share, which together is 1/n of the buffer again
        const std::uint32_t local = algorithm == Algorithm::hierarchical && size % 2 == 0 ? 2 : 1;
        const auto rounds = rounds_of(kind, {algorithm, {}, local}, size, Bytes{720'720});
        REQUIRE(rounds);
        const double passes = kind == Kind::all_reduce ? 2 : 1;
        const double expected = passes * (size - 1) / size * bytes;
        CAPTURE(size, to_string(algorithm), to_string(kind));
        const Traffic traffic = traffic_of(*rounds);
        for (std::uint32_t i = 0; i < size; ++i) {
          CHECK(traffic.sent[i] == Approx(expected));
          CHECK(traffic.received[i] == Approx(expected));
        }
      }
    }
  }
}

TEST_CASE("halving_and_doubling_folds_the_ranks_beyond_a_power_of_two") {
  for (std::uint32_t size = 3; size <= 17; ++size) {
    const std::uint32_t core = std::bit_floor(size);
    const auto rounds = rounds_of(Kind::all_reduce, {Algorithm::halving_doubling, {}, 1}, size, Bytes{1 << 20});
    REQUIRE(rounds);
    const Traffic traffic = traffic_of(*rounds);
    const double whole = 1 << 20;
    for (std::uint32_t i = 0; i < size; ++i) {
      CAPTURE(size, i);
      const double inner = i < core ? 2.0 * (core - 1) / core * whole : 0;
      const double folded = i >= core || i + core < size ? whole : 0;
      CHECK(traffic.sent[i] == Approx(inner + folded));
      CHECK(traffic.received[i] == Approx(inner + folded));
    }
    const auto steps = static_cast<std::size_t>(2 * std::countr_zero(core) + (size == core ? 0 : 2));
    CHECK(lanes_of(*rounds).at(0).size() == steps);
  }
}

TEST_CASE("several_rings_share_the_buffer_and_each_completes_its_share") {
  const auto rounds = rounds_of(Kind::all_reduce, {Algorithm::ring, {1, 5, 7}, 1}, 12, Bytes{3600});
  REQUIRE(rounds);
  CHECK(rounds->runs.size() == 3);
  const auto lanes = lanes_of(*rounds);
  REQUIRE(lanes.size() == 3);
  for (const auto& [lane, all] : lanes) {
    CHECK(all.size() == 22);
    CHECK(is_complete(Kind::all_reduce, all, 12, 1200));
  }
  CHECK(lanes.at(1)[0][3].destination == 8);
  const auto both = rounds_of(Kind::all_reduce, {Algorithm::bidirectional_ring, {1, 5}, 1}, 12, Bytes{4800});
  REQUIRE(both);
  const auto ways = lanes_of(*both);
  REQUIRE(ways.size() == 4);
  CHECK(ways.at(0)[0][0].destination == 1);
  CHECK(ways.at(1)[0][0].destination == 11);
  CHECK(ways.at(3)[0][0].destination == 7);
}

TEST_CASE("trees_sum_every_contribution_once_and_pass_the_sum_to_all") {
  for (std::uint32_t size = 2; size <= 17; ++size) {
    for (const std::int64_t bytes : {1'000, 200'000, 720'720}) {
      const auto pieces = static_cast<std::size_t>(std::max<std::int64_t>(1, bytes / 65'536));
      CAPTURE(size, bytes);
      for (const Kind kind : {Kind::all_reduce, Kind::reduce, Kind::broadcast}) {
        const auto rounds = rounds_of(kind, {Algorithm::tree, {}, 1}, size, Bytes{bytes});
        REQUIRE(rounds);
        const auto held = piped(lanes_of(*rounds).at(0), size, pieces,
                                [](const RoundTransfer& pair) { return pair.source > pair.destination; });
        for (std::size_t piece = 0; piece < pieces; ++piece) {
          for (std::uint32_t i = 0; i < size; ++i) {
            if (kind == Kind::broadcast) {
              CHECK(held[i][piece] == std::multiset<std::uint32_t>{0});
            } else if (i == 0 || kind == Kind::all_reduce) {
              CHECK(held[i][piece] == everybody(size));
            }
          }
        }
        const Traffic traffic = traffic_of(*rounds);
        const double passes = kind == Kind::all_reduce ? 2 : 1;
        CHECK(std::accumulate(traffic.sent.begin(), traffic.sent.end(), 0.0) ==
              Approx(passes * (size - 1) * static_cast<double>(bytes)));
      }
    }
  }
}

TEST_CASE("two_trees_sum_half_of_the_bytes_each_and_nobody_is_inner_in_both") {
  for (std::uint32_t size = 2; size <= 33; ++size) {
    constexpr std::int64_t kBytes = 720'720;
    constexpr std::size_t kPieces = kBytes / 2 / 65'536;
    const auto rounds = rounds_of(Kind::all_reduce, {Algorithm::double_tree, {}, 1}, size, Bytes{kBytes});
    REQUIRE(rounds);
    CAPTURE(size);
    const auto lanes = lanes_of(*rounds);
    REQUIRE(lanes.size() == 2);
    std::set<std::uint32_t> inner;
    for (const auto& [lane, of] : lanes) {
      std::set<std::pair<std::uint32_t, std::uint32_t>> up;  // what is sent before its way back is
      for (const Round& round : of) {
        for (const RoundTransfer& pair : round) {
          if (!up.contains({pair.destination, pair.source})) {
            up.insert({pair.source, pair.destination});
          }
        }
      }
      CHECK(up.size() == size - 1);
      std::set<std::uint32_t> own;
      for (const auto& [child, parent] : up) {
        own.insert(parent);
      }
      for (const std::uint32_t rank : own) {
        CHECK(inner.insert(rank).second);
      }
      const auto held =
          piped(of, size, kPieces, [&](const RoundTransfer& pair) { return up.contains({pair.source, pair.destination}); });
      for (const auto& rank : held) {
        for (const auto& piece : rank) {
          CHECK(piece == everybody(size));
        }
      }
    }
    const Traffic traffic = traffic_of(*rounds);
    CHECK(*std::max_element(traffic.sent.begin(), traffic.sent.end()) <= 2.0 * kBytes * (1 + 1e-9));
    CHECK(std::accumulate(traffic.sent.begin(), traffic.sent.end(), 0.0) == Approx(2.0 * (size - 1) * kBytes));
  }
  CHECK_FALSE(rounds_of(Kind::broadcast, {Algorithm::double_tree, {}, 1}, 8, Bytes{1000}));
}

TEST_CASE("chains_bring_the_root_s_buffer_to_all_and_everybody_s_to_the_root") {
  for (std::uint32_t size = 2; size <= 17; ++size) {
    for (const std::int64_t bytes : {1'000, 720'720}) {
      const auto pieces = static_cast<std::size_t>(std::max<std::int64_t>(1, bytes / 65'536));
      const auto broadcast = rounds_of(Kind::broadcast, {Algorithm::ring, {size - 1}, 1}, size, Bytes{bytes});
      const auto reduce = rounds_of(Kind::reduce, {Algorithm::ring, {size - 1}, 1}, size, Bytes{bytes});
      REQUIRE(broadcast);
      REQUIRE(reduce);
      const auto spread = piped(lanes_of(*broadcast).at(0), size, pieces, [](const RoundTransfer&) { return false; });
      const auto summed = piped(lanes_of(*reduce).at(0), size, pieces, [](const RoundTransfer&) { return true; });
      CAPTURE(size, bytes);
      for (std::size_t piece = 0; piece < pieces; ++piece) {
        CHECK(summed[0][piece] == everybody(size));
        for (std::uint32_t i = 0; i < size; ++i) {
          CHECK(spread[i][piece] == std::multiset<std::uint32_t>{0});
        }
      }
      CHECK(lanes_of(*broadcast).at(0).size() == size - 2 + pieces);
    }
  }
}

TEST_CASE("direct_broadcast_and_reduce_take_one_round") {
  const auto broadcast = rounds_of(Kind::broadcast, {Algorithm::direct, {}, 1}, 5, Bytes{100});
  const auto reduce = rounds_of(Kind::reduce, {Algorithm::direct, {}, 1}, 5, Bytes{100});
  REQUIRE(broadcast);
  REQUIRE(reduce);
  CHECK(traffic_of(*broadcast).sent == std::vector<double>{400, 0, 0, 0, 0});
  CHECK(traffic_of(*reduce).received == std::vector<double>{400, 0, 0, 0, 0});
}

TEST_CASE("an_all_to_all_gives_every_pair_its_part") {
  for (std::uint32_t size = 2; size <= 17; ++size) {
    std::vector<Bytes> splits;
    for (std::uint32_t i = 0; i < size * size; ++i) {
      splits.push_back(Bytes{(i * 37) % 11 * 10});
    }
    for (const Algorithm algorithm : {Algorithm::direct, Algorithm::pairwise}) {
      for (const bool uneven : {false, true}) {
        const auto rounds = rounds_of(Kind::all_to_all, {algorithm, {}, 1}, size, Bytes{1700},
                                      uneven ? std::span<const Bytes>{splits} : std::span<const Bytes>{});
        REQUIRE(rounds);
        std::map<std::pair<std::uint32_t, std::uint32_t>, double> moved;
        const auto all = lanes_of(*rounds).at(0);
        CHECK(all.size() == (algorithm == Algorithm::direct ? 1 : size - 1));
        for (const Round& round : all) {
          std::set<std::uint32_t> receivers;
          for (const RoundTransfer& pair : round) {
            moved[{pair.source, pair.destination}] += pair.bytes;
            CHECK((algorithm == Algorithm::direct || receivers.insert(pair.destination).second));
          }
        }
        CAPTURE(size, to_string(algorithm), uneven);
        for (std::uint32_t i = 0; i < size; ++i) {
          CHECK(moved.count({i, i}) == 0);
          for (std::uint32_t j = 0; j < size; ++j) {
            if (i != j) {
              const double expected = uneven ? static_cast<double>(splits[i * size + j].count) : 1700.0 / size;
              CHECK(moved[{i, j}] == Approx(expected));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a_barrier_moves_no_byte_and_everybody_hears_of_everybody") {
  for (std::uint32_t size = 2; size <= 17; ++size) {
    for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::ring, Algorithm::bidirectional_ring, Algorithm::tree,
                                      Algorithm::halving_doubling, Algorithm::direct, Algorithm::hierarchical}) {
      const auto rounds = rounds_of(Kind::barrier, {algorithm, {}, size % 3 == 0 ? 3U : 1U}, size, Bytes{999});
      REQUIRE(rounds);
      CAPTURE(size, to_string(algorithm));
      for (const auto& [lane, all] : lanes_of(*rounds)) {
        for (const auto& whom : arrived(all, size)) {
          CHECK(whom.size() == size);
        }
      }
      for (const double sent : traffic_of(*rounds).sent) {
        CHECK(sent == 0);
      }
    }
  }
}

TEST_CASE("a_thousand_ranks_ring_is_one_run") {
  const auto rounds = rounds_of(Kind::all_reduce, {}, 1024, Bytes{574'668'960});
  REQUIRE(rounds);
  REQUIRE(rounds->runs.size() == 1);
  CHECK(rounds->runs[0].pattern == RoundPattern::shift);
  CHECK(rounds->runs[0].repeats == 2046);
  CHECK(rounds->runs[0].bytes == Approx(561'200.156));
  const auto lone = rounds_of(Kind::all_reduce, {}, 1, Bytes{1000});
  REQUIRE(lone);
  CHECK(lone->runs.empty());
}

TEST_CASE("unlawful_collectives_are_refused_by_name") {
  const auto refused = [](Kind kind, const CollectiveChoice& choice, std::uint32_t size, ErrorCode code, std::string_view why,
                          std::vector<Bytes> splits = {}, Bytes bytes = Bytes{10}) {
    const auto rounds = rounds_of(kind, choice, size, bytes, splits);
    REQUIRE_FALSE(rounds);
    CAPTURE(rounds.error().message);
    CHECK(rounds.error().code == code);
    CHECK(rounds.error().message.find(why) != std::string::npos);
  };
  const auto invalid = ErrorCode::invalid_argument;
  refused(Kind::all_to_all, {Algorithm::tree, {}, 1}, 4, invalid, "all_to_all by tree");
  refused(Kind::all_reduce, {Algorithm::pairwise, {}, 1}, 4, invalid, "all_reduce by pairwise");
  refused(Kind::all_reduce, {Algorithm::ring, {1, 3}, 1}, 12, invalid, "stride 3 is not prime to 12");
  refused(Kind::all_reduce, {Algorithm::ring, {0}, 1}, 12, invalid, "stride 0");
  refused(Kind::all_reduce, {Algorithm::hierarchical, {}, 5}, 12, invalid, "local size 5 does not divide 12");
  refused(Kind::all_reduce, {Algorithm::hierarchical, {}, 0}, 12, invalid, "local size 0");
  refused(Kind::point_to_point, {}, 3, invalid, "among 3 ranks");
  refused(Kind::all_reduce, {}, 0, invalid, "among 0 ranks");
  refused(Kind::all_to_all, {}, 3, invalid, "4 splits among 3 ranks", std::vector<Bytes>(4));
  refused(Kind::all_reduce, {}, 2, invalid, "4 splits", std::vector<Bytes>(4));
  refused(Kind::all_to_all, {}, 2, ErrorCode::out_of_range, "-1 bytes", {{}, Bytes{-1}, {}, {}});
  refused(Kind::all_reduce, {}, 2, ErrorCode::out_of_range, "kCollectiveBytes", {}, Bytes{-1});
  refused(Kind::all_reduce, {}, 65'537, ErrorCode::out_of_range, "kNodes");
  refused(Kind::broadcast, {Algorithm::ring, {}, 1}, 60'000, ErrorCode::out_of_range, "kPairsPerCollective", {},
          Bytes{1LL << 32});
}

TEST_CASE("any_lawful_choice_completes_whatever_the_size") {
  CHECK(rc::check("scattering collectives complete and send nothing twice", [] {
    const auto size = *rc::gen::inRange<std::uint32_t>(2, 80);
    const auto algorithm = *rc::gen::element(Algorithm::ring, Algorithm::bidirectional_ring, Algorithm::direct,
                                             Algorithm::halving_doubling, Algorithm::hierarchical);
    const auto kind = *rc::gen::element(Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter);
    const auto bytes = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
    CollectiveChoice choice{algorithm, {}, std::gcd(*rc::gen::inRange<std::uint32_t>(1, 80), size)};
    for (const std::uint32_t stride : *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(1U, 200U))) {
      if (std::gcd(stride, size) == 1) {
        choice.strides.push_back(stride);
      }
    }
    const auto rounds = rounds_of(kind, choice, size, Bytes{bytes});
    RC_ASSERT(rounds.has_value());
    const auto lanes = lanes_of(*rounds);
    if (algorithm == Algorithm::halving_doubling && kind == Kind::all_reduce && !std::has_single_bit(size)) {
      for (const auto& whom : arrived(lanes.at(0), size)) {
        RC_ASSERT(whom.size() == size);
      }
      return;
    }
    for (const auto& [lane, all] : lanes) {
      RC_ASSERT(is_complete(kind, all, size, static_cast<double>(bytes) / static_cast<double>(lanes.size())));
    }
  }));
}

}  // namespace
}  // namespace loom
