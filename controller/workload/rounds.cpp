// SPDX-License-Identifier: Apache-2.0
// Rounds of every algorithm. Rings: Patarasuk and Yuan 2009. Halving and doubling, and the folding of the ranks beyond a power
// of two: Thakur, Rabenseifner and Gropp 2005. Hierarchical: Cho et al. 2019 (BlueConnect). Double
// tree: Sanders, Speck and Traeff 2009, as in NCCL 2.4.
#include "controller/workload/rounds.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "controller/workload/import/flows.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Pieces of a tree's pipeline: at 1024 ranks (depth 10) filling and draining it costs 20 rounds on top of 256.
constexpr std::int64_t kTreePieceBytes = 65'536;
constexpr std::int64_t kTreePiecesMax = 256;

bool carries(CollectiveAlgorithm algorithm, CollectiveKind kind) {
  const bool scattered = kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
                         kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::barrier;
  const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  switch (algorithm) {
    case CollectiveAlgorithm::automatic:
    case CollectiveAlgorithm::direct:
      return true;
    case CollectiveAlgorithm::ring:
    case CollectiveAlgorithm::bidirectional_ring:
      return scattered || rooted;
    case CollectiveAlgorithm::tree:
      return rooted || kind == CollectiveKind::all_reduce || kind == CollectiveKind::barrier;
    case CollectiveAlgorithm::double_tree:
      return kind == CollectiveKind::all_reduce || kind == CollectiveKind::barrier;
    case CollectiveAlgorithm::halving_doubling:
    case CollectiveAlgorithm::hierarchical:
      return scattered;
    case CollectiveAlgorithm::pairwise:
      return kind == CollectiveKind::all_to_all;
  }
  return false;
}

/// One ring of several: rank i sends to (i + step) mod n.
struct Lane {
  std::uint32_t step = 1;
  std::uint32_t index = 0;
  double bytes = 0;  ///< its share of the buffer
};

std::vector<Lane> lanes_of(const CollectiveChoice& choice, bool both_ways, std::uint32_t size, double bytes) {
  std::vector<std::uint32_t> steps;
  for (const std::uint32_t stride : choice.strides.empty() ? std::vector<std::uint32_t>{1} : choice.strides) {
    steps.push_back(stride % size);
    if (both_ways) {
      steps.push_back(size - stride % size);
    }
  }
  std::vector<Lane> lanes;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    lanes.push_back({steps[i], i, bytes / static_cast<double>(steps.size())});
  }
  return lanes;
}

RoundRun shift(std::uint32_t step, std::uint32_t repeats, double bytes, std::uint32_t lane = 0) {
  return {RoundPattern::shift, step, repeats, bytes, lane, {}};
}

RoundRun spelled(std::vector<RoundTransfer> pairs, std::uint32_t repeats = 1, std::uint32_t lane = 0) {
  return {RoundPattern::pairs, 0, repeats, 0, lane, std::move(pairs)};
}

/// A transfer that happens once a piece, the first of them in round `first`.
struct PipedEdge {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint32_t first = 0;
};

/// Cuts a pipeline of `pieces` into runs within which the same edges are busy. Errors: out_of_range (kPairsPerCollective).
Result<void> add_pipeline(CollectiveRounds& rounds, const std::vector<PipedEdge>& edges, std::uint32_t pieces, double bytes,
                          std::uint32_t lane) {
  std::vector<std::uint32_t> turns;
  for (const PipedEdge& edge : edges) {
    turns.push_back(edge.first);
    turns.push_back(edge.first + pieces);
  }
  std::sort(turns.begin(), turns.end());
  turns.erase(std::unique(turns.begin(), turns.end()), turns.end());
  std::size_t spelled_out = 0;
  for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
    std::vector<RoundTransfer> pairs;
    for (const PipedEdge& edge : edges) {
      if (edge.first <= turns[i] && turns[i] < edge.first + pieces) {
        pairs.push_back({edge.source, edge.destination, bytes / pieces});
      }
    }
    spelled_out += pairs.size();
    if (spelled_out > limits::kPairsPerCollective) {
      return fail(ErrorCode::out_of_range,
                  format_text("a pipeline of {} ranks spells out more than {} transfers (kPairsPerCollective); choose tree",
                              rounds.size, limits::kPairsPerCollective));
    }
    rounds.runs.push_back(spelled(std::move(pairs), turns[i + 1] - turns[i], lane));
  }
  return {};
}

/// Broadcast: a chain from rank 0 along the ring, its last link left out. Reduce: the same links turned round.
Result<void> add_chain(CollectiveRounds& rounds, CollectiveKind kind, const Lane& lane) {
  const std::uint32_t size = rounds.size;
  std::vector<PipedEdge> edges;
  for (std::uint32_t i = 0; i + 1 < size; ++i) {
    const auto near = static_cast<std::uint32_t>(std::uint64_t{i} * lane.step % size);
    const std::uint32_t far = (near + lane.step) % size;
    edges.push_back(kind == CollectiveKind::broadcast ? PipedEdge{near, far, i} : PipedEdge{far, near, size - 2 - i});
  }
  const Collective share{.kind = kind, .bytes = Bytes{static_cast<std::int64_t>(lane.bytes)}};
  return add_pipeline(rounds, edges, plan_of(share, size).pieces, lane.bytes, lane.index);
}

Result<void> add_rings(CollectiveRounds& rounds, CollectiveKind kind, const std::vector<Lane>& lanes) {
  const std::uint32_t size = rounds.size;
  for (const Lane& lane : lanes) {
    switch (kind) {
      case CollectiveKind::broadcast:
      case CollectiveKind::reduce:
        LOOM_TRY(add_chain(rounds, kind, lane));
        break;
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce_scatter:
        rounds.runs.push_back(shift(lane.step, size - 1, lane.bytes / size, lane.index));
        break;
      default:
        rounds.runs.push_back(shift(lane.step, 2 * (size - 1), lane.bytes / size, lane.index));
    }
  }
  return {};
}

struct TreeNode {
  std::uint32_t parent = 0;  ///< the root's is itself
  std::uint32_t depth = 0;
};

/// Rank 0 is the root, 2i+1 and 2i+2 the children of i.
std::vector<TreeNode> heap_tree(std::uint32_t size) {
  std::vector<TreeNode> tree(size);
  for (std::uint32_t rank = 1; rank < size; ++rank) {
    tree[rank] = {(rank - 1) / 2, static_cast<std::uint32_t>(std::bit_width(rank + 1)) - 1};
  }
  return tree;
}

/// Ranks first .. last-1 (first even) in order: the root is odd, so are all inner ranks.
void add_in_order(std::vector<TreeNode>& tree, std::uint32_t first, std::uint32_t last, std::optional<std::uint32_t> parent) {
  if (first == last) {
    return;
  }
  const std::uint32_t root = last - first == 1 ? first : first + ((last - first) / 2 | 1);
  tree[root] = parent ? TreeNode{*parent, tree[*parent].depth + 1} : TreeNode{root, 0};
  add_in_order(tree, first, root, root);
  add_in_order(tree, root + 1, last, root);
}

/// Pieces go up and, as soon as the root has one, down again.
Result<void> add_tree(CollectiveRounds& rounds, CollectiveKind kind, double bytes, const std::vector<TreeNode>& tree,
                      std::uint32_t lane) {
  std::uint32_t depth = 0;
  for (const TreeNode& node : tree) {
    depth = std::max(depth, node.depth);
  }
  const bool up = kind != CollectiveKind::broadcast;
  const bool down = kind != CollectiveKind::reduce;
  std::vector<PipedEdge> edges;
  for (std::uint32_t child = 0; up && child < rounds.size; ++child) {
    if (tree[child].parent != child) {
      edges.push_back({child, tree[child].parent, depth - tree[child].depth});
    }
  }
  for (std::uint32_t child = 0; down && child < rounds.size; ++child) {
    if (tree[child].parent != child) {
      edges.push_back({tree[child].parent, child, (up ? depth : 0) + tree[child].depth - 1});
    }
  }
  const auto pieces = std::clamp<std::int64_t>(static_cast<std::int64_t>(bytes) / kTreePieceBytes, 1, kTreePiecesMax);
  return add_pipeline(rounds, edges, static_cast<std::uint32_t>(pieces), bytes, lane);
}

/// The second tree is the first one seen from the other end, or, of an odd number of ranks, one rank on: its inner ranks are
/// even.
Result<void> add_double_tree(CollectiveRounds& rounds, CollectiveKind kind, double bytes) {
  const std::uint32_t size = rounds.size;
  std::vector<TreeNode> first(size);
  add_in_order(first, 0, size, std::nullopt);
  std::vector<TreeNode> second(size);
  const auto other = [&](std::uint32_t rank) { return size % 2 == 0 ? size - 1 - rank : (rank + 1) % size; };
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    second[other(rank)] = {other(first[rank].parent), first[rank].depth};
  }
  LOOM_TRY(add_tree(rounds, kind, bytes / 2, first, 0));
  return add_tree(rounds, kind, bytes / 2, second, 1);
}

/// Halving and doubling among the first 2^k ranks; rank 2^k + i folds into rank i before, and gets its result from it after.
class Halving {
 public:
  Halving(CollectiveRounds& rounds, CollectiveKind kind, double bytes)
      : rounds_{rounds},
        kind_{kind},
        core_{std::bit_floor(rounds.size)},
        extra_{rounds.size - core_},
        bytes_{bytes},
        chunk_{bytes / rounds.size} {}

  void add() {
    const bool whole = kind_ == CollectiveKind::all_reduce;
    const bool halves = kind_ != CollectiveKind::all_gather;
    const bool doubles = kind_ != CollectiveKind::reduce_scatter;
    fold(true, whole ? bytes_ : halves ? bytes_ - chunk_ : chunk_);
    for (std::uint32_t distance = core_ / 2; halves && distance > 0; distance /= 2) {
      exchange(distance, true);
    }
    for (std::uint32_t distance = 1; doubles && distance < core_; distance *= 2) {
      exchange(distance, false);
    }
    fold(false, whole ? bytes_ : doubles ? bytes_ - chunk_ : chunk_);
  }

 private:
  void fold(bool in, double bytes) {
    if (extra_ == 0) {
      return;
    }
    std::vector<RoundTransfer> pairs;
    for (std::uint32_t i = 0; i < extra_; ++i) {
      pairs.push_back(in ? RoundTransfer{core_ + i, i, bytes} : RoundTransfer{i, core_ + i, bytes});
    }
    rounds_.runs.push_back(spelled(std::move(pairs)));
  }

  /// Halving: rank i sends its partner the part of the partner's `distance` neighbours; doubling: that of its own.
  void exchange(std::uint32_t distance, bool halving) {
    if (extra_ == 0) {
      rounds_.runs.push_back({RoundPattern::exchange, distance, 1, chunk_ * distance, 0, {}});
      return;
    }
    std::vector<RoundTransfer> pairs;
    for (std::uint32_t i = 0; i < core_; ++i) {
      const std::uint32_t partner = i ^ distance;
      pairs.push_back({i, partner, bytes_of(halving ? partner : i, distance)});
    }
    rounds_.runs.push_back(spelled(std::move(pairs)));
  }

  /// Bytes that belong to the aligned block of `distance` ranks around `rank`; a rank with an extra one speaks for both.
  double bytes_of(std::uint32_t rank, std::uint32_t distance) const {
    if (kind_ == CollectiveKind::all_reduce) {
      return bytes_ * distance / core_;
    }
    const std::uint32_t first = rank / distance * distance;
    const std::uint32_t with_extra = std::min(std::max(extra_, first), first + distance) - first;
    return chunk_ * (distance + with_extra);
  }

  CollectiveRounds& rounds_;
  CollectiveKind kind_;
  std::uint32_t core_;
  std::uint32_t extra_;
  double bytes_;
  double chunk_;
};

/// Reduce-scatter inside each `local` neighbours, rings of the i-th of every neighbourhood, all-gather inside.
void add_hierarchical(CollectiveRounds& rounds, CollectiveKind kind, std::uint32_t local, double bytes) {
  const std::uint32_t across = rounds.size / local;
  const bool scatters = kind != CollectiveKind::all_gather;
  const bool gathers = kind != CollectiveKind::reduce_scatter;
  const auto inside = [&] {
    std::vector<RoundTransfer> pairs;
    for (std::uint32_t i = 0; i < rounds.size; ++i) {
      pairs.push_back({i, i / local * local + (i + 1) % local, bytes / local});
    }
    rounds.runs.push_back(spelled(std::move(pairs), local - 1));
  };
  if (scatters && local > 1) {
    inside();
  }
  if (across > 1) {
    rounds.runs.push_back(shift(local, (scatters && gathers ? 2 : 1) * (across - 1), bytes / rounds.size));
  }
  if (gathers && local > 1) {
    inside();
  }
}

void add_direct(CollectiveRounds& rounds, CollectiveKind kind, double bytes) {
  std::vector<RoundTransfer> pairs;
  switch (kind) {
    case CollectiveKind::point_to_point:
      rounds.runs.push_back(spelled({{0, 1, bytes}}));
      return;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      for (std::uint32_t i = 1; i < rounds.size; ++i) {
        pairs.push_back(kind == CollectiveKind::broadcast ? RoundTransfer{0, i, bytes} : RoundTransfer{i, 0, bytes});
      }
      rounds.runs.push_back(spelled(std::move(pairs)));
      return;
    default:
      rounds.runs.push_back(
          {RoundPattern::all_pairs, 0, kind == CollectiveKind::all_reduce ? 2U : 1U, bytes / rounds.size, 0, {}});
  }
}

/// In round k (from 1) rank i sends to rank i + k.
void add_pairwise(CollectiveRounds& rounds, double bytes) {
  for (std::uint32_t step = 1; step < rounds.size; ++step) {
    rounds.runs.push_back(shift(step, 1, bytes / rounds.size));
  }
}

/// As direct or pairwise, with each pair's own bytes; transfers of no bytes are left out, rounds of none are not.
void add_uneven(CollectiveRounds& rounds, bool pairwise, std::span<const Bytes> splits) {
  const std::uint32_t size = rounds.size;
  std::vector<RoundTransfer> pairs;
  for (std::uint32_t step = 1; step < size; ++step) {
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t j = (i + step) % size;
      if (const std::int64_t bytes = splits[std::size_t{i} * size + j].count; bytes > 0) {
        pairs.push_back({i, j, static_cast<double>(bytes)});
      }
    }
    if (pairwise || step + 1 == size) {
      rounds.runs.push_back(spelled(std::move(pairs)));
      pairs.clear();
    }
  }
}

Result<void> check_amounts(CollectiveKind kind, std::uint32_t size, Bytes bytes, std::span<const Bytes> splits) {
  const std::string what{to_string(kind)};
  if (size > limits::kNodes) {
    return fail(ErrorCode::out_of_range, format_text("{} among {} ranks; at most {} (kNodes)", what, size, limits::kNodes));
  }
  if (bytes.count < 0 || bytes.count > limits::kCollectiveBytes) {
    return fail(ErrorCode::out_of_range, format_text("{} of {} bytes; it needs 0 .. {} (kCollectiveBytes)", what, bytes.count,
                                                     limits::kCollectiveBytes));
  }
  if (splits.empty()) {
    return {};
  }
  if (kind != CollectiveKind::all_to_all || splits.size() != std::size_t{size} * size) {
    return fail(ErrorCode::invalid_argument, format_text("{}: {} splits among {} ranks", what, splits.size(), size));
  }
  const auto unlawful = std::find_if(splits.begin(), splits.end(),
                                     [](Bytes split) { return split.count < 0 || split.count > limits::kCollectiveBytes; });
  if (unlawful != splits.end()) {
    return fail(ErrorCode::out_of_range, format_text("{}: a split of {} bytes; it needs 0 .. {} (kCollectiveBytes)", what,
                                                     unlawful->count, limits::kCollectiveBytes));
  }
  return {};
}

}  // namespace

CollectiveAlgorithm algorithm_of(CollectiveKind kind, const CollectiveChoice& choice) {
  if (choice.algorithm != CollectiveAlgorithm::automatic) {
    return choice.algorithm;
  }
  switch (kind) {
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return CollectiveAlgorithm::tree;
    case CollectiveKind::all_to_all:
    case CollectiveKind::point_to_point:
      return CollectiveAlgorithm::direct;
    default:
      return CollectiveAlgorithm::ring;
  }
}

Result<void> check_choice(CollectiveKind kind, const CollectiveChoice& choice, std::uint32_t size) {
  const CollectiveAlgorithm algorithm = algorithm_of(kind, choice);
  const std::string what = format_text("{} by {}", to_string(kind), to_string(algorithm));
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, format_text("{}: {}", what, why));
  };
  if (size == 0 || (kind == CollectiveKind::point_to_point && size != 2)) {
    return refuse(format_text("among {} ranks", size));
  }
  if (!carries(algorithm, kind)) {
    return refuse("this algorithm does not carry it");
  }
  if (algorithm == CollectiveAlgorithm::ring || algorithm == CollectiveAlgorithm::bidirectional_ring) {
    for (const std::uint32_t stride : choice.strides) {
      if (stride == 0 || std::gcd(stride, size) != 1) {
        return refuse(format_text("stride {} is not prime to {} ranks", stride, size));
      }
    }
  }
  if (algorithm == CollectiveAlgorithm::hierarchical && (choice.local_size == 0 || size % choice.local_size != 0)) {
    return refuse(format_text("local size {} does not divide {} ranks", choice.local_size, size));
  }
  return {};
}

Result<CollectiveRounds> rounds_of(CollectiveKind kind, const CollectiveChoice& choice, std::uint32_t size, Bytes bytes,
                                   std::span<const Bytes> splits) {
  LOOM_TRY(check_choice(kind, choice, size));
  LOOM_TRY(check_amounts(kind, size, bytes, splits));
  const CollectiveAlgorithm algorithm = algorithm_of(kind, choice);
  const bool barrier = kind == CollectiveKind::barrier;
  const auto amount = barrier ? 0.0 : static_cast<double>(bytes.count);
  const CollectiveKind moved = barrier && algorithm != CollectiveAlgorithm::direct ? CollectiveKind::all_reduce : kind;
  CollectiveRounds rounds{size, {}};
  if (size == 1) {
    return rounds;
  }
  if (!splits.empty()) {
    add_uneven(rounds, algorithm == CollectiveAlgorithm::pairwise, splits);
    return rounds;
  }
  switch (algorithm) {
    case CollectiveAlgorithm::ring:
    case CollectiveAlgorithm::bidirectional_ring:
      LOOM_TRY(add_rings(rounds, moved, lanes_of(choice, algorithm == CollectiveAlgorithm::bidirectional_ring, size, amount)));
      break;
    case CollectiveAlgorithm::tree:
      LOOM_TRY(add_tree(rounds, moved, amount, heap_tree(size), 0));
      break;
    case CollectiveAlgorithm::double_tree:
      LOOM_TRY(add_double_tree(rounds, moved, amount));
      break;
    case CollectiveAlgorithm::halving_doubling:
      Halving{rounds, moved, amount}.add();
      break;
    case CollectiveAlgorithm::hierarchical:
      add_hierarchical(rounds, moved, choice.local_size, amount);
      break;
    case CollectiveAlgorithm::pairwise:
      add_pairwise(rounds, amount);
      break;
    default:
      add_direct(rounds, moved, amount);
  }
  return rounds;
}

}  // namespace loom
