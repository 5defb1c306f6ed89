// SPDX-License-Identifier: Apache-2.0
// Lanes with a virtual clock of served bytes, and a heap of when each lane's first member leaves.
#include "controller/predict/engine/transfers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace loom {
namespace {

constexpr std::size_t kArity = 4;
constexpr double kRounding = 1e-13;                  ///< departures this close, of the clock, are one instant
constexpr std::uint64_t kFluid = ~std::uint64_t{0};  ///< ends of what goes over a FluidWay

}  // namespace

void Transfers::reset(const Network& network, std::span<const FluidWay> ways) {
  network_ = &network;
  has_links_ = false;
  lanes_.clear();
  shares_.clear();
  members_.clear();
  free_member_ = kNone;
  splits_.clear();
  free_splits_.clear();
  routes_.clear();
  std::fill(table_.begin(), table_.end(), 0);
  table_used_ = 0;
  pairs_.clear();
  heap_.clear();
  touched_.clear();
  active_ = 0;
  if (!ways.empty()) {
    add_links();
  }
  for (const FluidWay& way : ways) {
    rates_.add(way.links, way.weights);
    routes_.push_back({kFluid, kFluid, static_cast<std::uint32_t>(lanes_.size()), 1});
    lanes_.emplace_back();
  }
}

void Transfers::add_links() {
  has_links_ = true;
  rates_.reset(network_->links.size());
  for (std::uint32_t link = 0; link < network_->links.size(); ++link) {
    rates_.set_capacity(link, network_->links[link].bytes_per_ns);
  }
}

void Transfers::reserve(std::size_t transfers) {
  const std::size_t all = std::size_t{network_->end_points} * network_->end_points;
  if (pairs_.empty() && transfers >= 1024 && transfers * 2 >= all) {
    pairs_.assign(all, 0);
    for (std::uint32_t i = 0; i < routes_.size(); ++i) {
      if (routes_[i].key == 0) {
        pairs_[(routes_[i].ends >> 32) * network_->end_points + static_cast<std::uint32_t>(routes_[i].ends)] = i + 1;
      }
    }
  }
  routes_.reserve(transfers);
  lanes_.reserve(transfers);
  members_.reserve(transfers);
  touched_.reserve(transfers);
  heap_.reserve(transfers);
  if (!has_links_) {
    add_links();
  }
  rates_.reserve(transfers, 2 * transfers);
}

void Transfers::grow_table(std::size_t slots) {
  table_.assign(slots, 0);
  for (std::uint32_t i = 0; i < routes_.size(); ++i) {
    if (is_paired(routes_[i].key) || routes_[i].ends == kFluid) {
      continue;
    }
    std::size_t at = network_paths::mixed(routes_[i].ends ^ network_paths::mixed(routes_[i].key)) & (table_.size() - 1);
    while (table_[at] != 0) {
      at = (at + 1) & (table_.size() - 1);
    }
    table_[at] = i + 1;
  }
}

std::uint32_t Transfers::route_of(std::uint32_t source, std::uint32_t destination, std::uint64_t key) {
  if (is_paired(key)) {
    const std::size_t pair = std::size_t{source} * network_->end_points + destination;
    if (pairs_[pair] == 0) {
      pairs_[pair] = add_route(source, destination, key) + 1;
    }
    return pairs_[pair] - 1;
  }
  if (table_used_ * 2 >= table_.size()) {
    grow_table(std::max<std::size_t>(64, table_.size() * 2));
  }
  const std::uint64_t ends = std::uint64_t{source} << 32 | destination;
  std::size_t at = network_paths::mixed(ends ^ network_paths::mixed(key)) & (table_.size() - 1);
  for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
    const Route& route = routes_[table_[at] - 1];
    if (route.ends == ends && route.key == key) {
      return table_[at] - 1;
    }
  }
  const std::uint32_t made = add_route(source, destination, key);
  table_[at] = made + 1;
  ++table_used_;
  return made;
}

std::uint32_t Transfers::add_route(std::uint32_t source, std::uint32_t destination, std::uint64_t key) {
  if (!has_links_) {
    add_links();
  }
  Route route{std::uint64_t{source} << 32 | destination, key, static_cast<std::uint32_t>(lanes_.size()), 0};
  for_each_path(*network_, source, destination, key, [&](std::span<const std::uint32_t> path, double share) {
    rates_.add(path);
    Lane lane;
    lane.latency = path_latency_ns(*network_, path) + network_->step_latency_ns;
    lanes_.push_back(lane);
    ++route.lanes;
    if (share != 1 || route.lanes > 1) {
      shares_.resize(lanes_.size(), 1);
      shares_.back() = share;
    }
  });
  routes_.push_back(route);
  return static_cast<std::uint32_t>(routes_.size() - 1);
}

bool Transfers::start(double now, std::uint32_t source, std::uint32_t destination, std::uint64_t key, double bytes,
                      std::uint32_t token) {
  const Route route = routes_[route_of(source, destination, key)];
  if (route.lanes == 0) {
    return false;
  }
  ++active_;
  if (route.lanes == 1) {
    join(now, route.first_lane, bytes, token, kNone);
    return true;
  }
  const std::uint32_t split = new_split(route.lanes, 0);
  for (std::uint32_t i = 0; i < route.lanes; ++i) {
    join(now, route.first_lane + i, bytes * shares_[route.first_lane + i], token, split);
  }
  return true;
}

void Transfers::start_over(double now, std::uint32_t way, double bytes, std::uint32_t token) {
  ++active_;
  join(now, routes_[way].first_lane, bytes, token, kNone);
}

std::uint32_t Transfers::new_split(std::uint32_t parts, double arrives) {
  if (free_splits_.empty()) {
    splits_.push_back({parts, arrives});
    return static_cast<std::uint32_t>(splits_.size() - 1);
  }
  const std::uint32_t split = free_splits_.back();
  free_splits_.pop_back();
  splits_[split] = {parts, arrives};
  return split;
}

void Transfers::resume(double now, std::span<const Left> parts, std::uint32_t token) {
  const Left& any = parts.front();
  const Route route = routes_[route_of(any.source, any.destination, any.key)];
  ++active_;
  const std::uint32_t split = route.lanes == 1 ? kNone : new_split(static_cast<std::uint32_t>(parts.size()), any.arrives);
  for (const Left& part : parts) {
    LOOM_ASSERT(part.path < route.lanes);
    join(now, route.first_lane + part.path, part.bytes, token, split);
  }
}

void Transfers::bring_up(double now, Lane& lane) const {
  const double moved = lane.rate * (now - lane.since);
  lane.served += moved;
  lane.carried += moved * lane.members;
  lane.since = now;
}

void Transfers::join(double now, std::uint32_t index, double bytes, std::uint32_t token, std::uint32_t split) {
  Lane& lane = lanes_[index];
  bring_up(now, lane);
  if (lane.members == 0) {
    lane.served = 0;
  }
  std::uint32_t member = free_member_;
  if (member == kNone) {
    member = static_cast<std::uint32_t>(members_.size());
    members_.emplace_back();
  } else {
    free_member_ = members_[member].sibling;
  }
  members_[member] = {lane.served + bytes, token, kNone, kNone, split};
  lane.first = lane.first == kNone ? member : merged(lane.first, member);
  lane.target = members_[lane.first].target;
  ++lane.members;
  rates_.set_multiplicity(index, lane.members);
  touched_.push_back(index);
}

std::uint32_t Transfers::merged(std::uint32_t a, std::uint32_t b) {
  if (members_[b].target < members_[a].target) {
    std::swap(a, b);
  }
  members_[b].sibling = members_[a].child;
  members_[a].child = b;
  return a;
}

std::uint32_t Transfers::without_root(std::uint32_t root) {
  std::uint32_t pairs = kNone;  // two by two from the left, then all from the right
  for (std::uint32_t at = members_[root].child; at != kNone;) {
    const std::uint32_t second = members_[at].sibling;
    std::uint32_t pair = at;
    std::uint32_t next = kNone;
    members_[at].sibling = kNone;
    if (second != kNone) {
      next = members_[second].sibling;
      members_[second].sibling = kNone;
      pair = merged(at, second);
    }
    members_[pair].sibling = pairs;
    pairs = pair;
    at = next;
  }
  std::uint32_t made = kNone;
  while (pairs != kNone) {
    const std::uint32_t next = members_[pairs].sibling;
    members_[pairs].sibling = kNone;
    made = made == kNone ? pairs : merged(made, pairs);
    pairs = next;
  }
  return made;
}

void Transfers::leave(double now, std::uint32_t index, const OnDeparture& departs) {
  Lane& lane = lanes_[index];
  bring_up(now, lane);
  const double reached = lane.served + kRounding * std::max(lane.served, now * lane.rate);
  while (lane.first != kNone && lane.target <= reached) {
    const std::uint32_t member = lane.first;
    const Member taken = members_[member];
    lane.first = without_root(member);
    lane.target = lane.first == kNone ? 0 : members_[lane.first].target;
    members_[member].sibling = free_member_;
    free_member_ = member;
    --lane.members;
    double arrives = now + lane.latency;
    if (taken.split != kNone) {
      Split& split = splits_[taken.split];
      split.arrives = std::max(split.arrives, arrives);
      arrives = split.arrives;
      if (--split.left > 0) {
        continue;
      }
      free_splits_.push_back(taken.split);
    }
    --active_;
    departs(taken.token, arrives);
  }
  rates_.set_multiplicity(index, lane.members);
  touched_.push_back(index);
}

std::uint64_t Transfers::settle(double now) {
  const std::uint64_t before = rates_.looks();
  const std::size_t touched = touched_.size();
  if (has_links_ && rates_.is_dirty()) {
    for (const MaxMin::Class moved : rates_.resolve()) {
      Lane& lane = lanes_[moved];
      bring_up(now, lane);
      const double rate = std::exchange(lane.rate, rates_.rate(moved));
      if (!(lane.rate > 0 && lane.rate < rate && lane.members > 0 && lane.place != kNone)) {
        due(moved);
      }
    }
  }
  for (const std::uint32_t lane : touched_) {
    lanes_[lane].rate = lanes_[lane].members == 0 ? 0 : rates_.rate(lane);
    due(lane);
  }
  touched_.clear();
  while (!heap_.empty()) {  // the next one to leave stands where it should
    const double time = lanes_[heap_.front().lane].due();
    if (!(heap_.front().time < time)) {
      break;
    }
    heap_.front().time = time;
    sift_down(0);
  }
  return rates_.looks() - before + touched;
}

void Transfers::due(std::uint32_t index) {
  Lane& lane = lanes_[index];
  if (lane.members == 0 || !(lane.rate > 0)) {
    if (lane.members > 0 && lane.target <= lane.served) {  // nothing to send needs no rate
      lane.place == kNone ? heap_.push_back({lane.since, index}) : void(heap_[lane.place].time = lane.since);
      lane.place = lane.place == kNone ? static_cast<std::uint32_t>(heap_.size() - 1) : lane.place;
      sift_up(lane.place);
      return;
    }
    if (lane.place != kNone) {
      const std::size_t at = lane.place;
      lane.place = kNone;
      const Due last = heap_.back();
      heap_.pop_back();
      if (at < heap_.size()) {
        place(at, last);
        sift_up(at);
        sift_down(lanes_[last.lane].place);
      }
    }
    return;
  }
  const double time = lane.due();
  if (lane.place == kNone) {
    heap_.push_back({time, index});
    lane.place = static_cast<std::uint32_t>(heap_.size() - 1);
    sift_up(lane.place);
    return;
  }
  const double before = heap_[lane.place].time;
  heap_[lane.place].time = time;
  time < before ? sift_up(lane.place) : sift_down(lane.place);
}

void Transfers::place(std::size_t at, Due entry) {
  heap_[at] = entry;
  lanes_[entry.lane].place = static_cast<std::uint32_t>(at);
}

void Transfers::sift_up(std::size_t at) {
  const Due entry = heap_[at];
  while (at > 0 && heap_[(at - 1) / kArity].time > entry.time) {
    place(at, heap_[(at - 1) / kArity]);
    at = (at - 1) / kArity;
  }
  place(at, entry);
}

void Transfers::sift_down(std::size_t at) {
  const Due entry = heap_[at];
  for (;;) {
    std::size_t least = at * kArity + 1;
    if (least >= heap_.size()) {
      break;
    }
    const std::size_t end = std::min(least + kArity, heap_.size());
    for (std::size_t child = least + 1; child < end; ++child) {
      if (heap_[child].time < heap_[least].time) {
        least = child;
      }
    }
    if (heap_[least].time >= entry.time) {
      break;
    }
    place(at, heap_[least]);
    at = least;
  }
  place(at, entry);
}

/// What leaves, in batch_; false: that is so much that looking at every lane is cheaper.
bool Transfers::collect(double until) {
  constexpr std::size_t kMany = 4096;
  batch_.clear();
  stack_.assign(1, 0);
  while (!stack_.empty()) {
    const std::size_t at = stack_.back();
    stack_.pop_back();
    if (at >= heap_.size() || heap_[at].time > until) {
      continue;
    }
    if (lanes_[heap_[at].lane].due() <= until) {
      batch_.push_back(heap_[at].lane);
    }
    if (batch_.size() == kMany && kMany * kArity < heap_.size()) {
      return false;
    }
    for (std::size_t child = at * kArity + 1; child <= at * kArity + kArity; ++child) {
      stack_.push_back(static_cast<std::uint32_t>(child));
    }
  }
  std::sort(batch_.begin(), batch_.end());
  return true;
}

void Transfers::rebuild() {
  std::size_t kept = 0;
  for (const Due& entry : heap_) {
    if (lanes_[entry.lane].members > 0) {
      heap_[kept++] = entry;
    } else {
      lanes_[entry.lane].place = kNone;
    }
  }
  heap_.resize(kept);
  for (std::size_t i = 0; i < kept; ++i) {
    lanes_[heap_[i].lane].place = static_cast<std::uint32_t>(i);
  }
  for (std::size_t i = kept / kArity + 1; i-- > 0;) {
    if (i < kept) {
      sift_down(i);
    }
  }
}

void Transfers::advance(double now, const OnDeparture& departs) {
  const double until = now + kRounding * now;
  std::size_t leaving = 0;
  if (collect(until)) {
    leaving = batch_.size();
    for (const std::uint32_t lane : batch_) {
      leave(now, lane, departs);
    }
  } else {
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      if (lanes_[lane].place != kNone && lanes_[lane].due() <= until) {
        leave(now, lane, departs);
        ++leaving;
      }
    }
  }
  if (leaving > 1024 && leaving * 4 > heap_.size()) {
    rebuild();
  }
}

template <class Each>
void Transfers::each_member(std::uint32_t root, const Each& each) const {
  std::vector<std::uint32_t> open;
  if (root != kNone) {
    open.push_back(root);
  }
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    each(members_[at]);
    for (std::uint32_t child = members_[at].child; child != kNone; child = members_[child].sibling) {
      open.push_back(child);
    }
  }
}

std::vector<double> Transfers::carried(double now) const {
  std::vector<double> sum(network_->links.size(), 0);
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    Lane lane = lanes_[i];
    bring_up(now, lane);
    for (std::uint32_t h = 0; h < rates_.hop_count(i); ++h) {
      sum[rates_.hop(i, h)] += lane.carried * rates_.weight(i, h);
    }
  }
  return sum;
}

std::vector<Transfers::Left> Transfers::parts_left(double now) const {
  std::vector<Left> left;
  for (const Route& route : routes_) {
    const std::size_t first = left.size();
    for (std::uint32_t i = 0; i < route.lanes; ++i) {
      Lane lane = lanes_[route.first_lane + i];
      bring_up(now, lane);
      each_member(lane.first, [&](const Member& member) {
        left.push_back({static_cast<std::uint32_t>(route.ends >> 32), static_cast<std::uint32_t>(route.ends), route.key,
                        member.token, std::max(0.0, member.target - lane.served), i,
                        member.split == kNone ? 0 : splits_[member.split].arrives});
      });
    }
    std::stable_sort(left.begin() + static_cast<std::ptrdiff_t>(first), left.end(),
                     [](const Left& a, const Left& b) { return a.token < b.token; });
  }
  return left;
}

std::vector<Transfers::Left> Transfers::remaining(double now) const {
  std::vector<Left> left = parts_left(now);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (kept > 0 && left[kept - 1].token == left[i].token) {
      left[kept - 1].bytes += left[i].bytes;
    } else {
      left[kept++] = left[i];
    }
  }
  left.resize(kept);
  return left;
}

std::vector<Transfers::Left> Transfers::take_all(double now, const Network& network) {
  std::vector<Left> left = remaining(now);
  reset(network);
  return left;
}

}  // namespace loom
