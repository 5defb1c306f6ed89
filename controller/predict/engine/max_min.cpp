// SPDX-License-Identifier: Apache-2.0
// Progressive filling by events: "this link is full at this level" and "from here on this link's flows rise".
#include "controller/predict/engine/max_min.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/result.hpp"

namespace loom {

void MaxMin::reset(std::size_t link_count) {
  classes_.clear();
  hops_.clear();
  weights_.clear();
  pending_.clear();
  dirty_links_.clear();
  moved_.clear();
  events_.clear();
  epoch_ = 0;
  attached_ = 0;
  links_.resize(link_count);
  for (Link& link : links_) {
    link.capacity = 0;
    link.level = kNoLevel;
    link.epoch = 0;
    link.is_done = link.is_dirty = false;
    link.shares.clear();
    link.members.clear();
  }
}

void MaxMin::set_capacity(std::uint32_t link, double capacity) {
  Link& at = links_[link];
  if (at.capacity == capacity) {
    return;
  }
  at.capacity = capacity;
  if (!at.is_dirty && !at.shares.empty()) {  // where nobody is, nothing moves
    at.is_dirty = true;
    dirty_links_.push_back(link);
  }
}

void MaxMin::reserve(std::size_t classes, std::size_t hops) {
  classes_.reserve(classes);
  hops_.reserve(hops);
}

MaxMin::Class MaxMin::add(std::span<const std::uint32_t> links, std::span<const float> weights) {
  LOOM_ASSERT(!links.empty() && (weights.empty() || weights.size() == links.size()));
  if (!weights.empty() || !weights_.empty()) {
    weights_.resize(hops_.size(), 1);
    weights_.insert(weights_.end(), weights.begin(), weights.end());
    weights_.resize(hops_.size() + links.size(), 1);
  }
  Route route;
  route.first_hop = static_cast<std::uint32_t>(hops_.size());
  route.hops = static_cast<std::uint32_t>(links.size()) & 0x7fffffffU;
  for (const std::uint32_t link : links) {
    LOOM_ASSERT(link < links_.size());
    hops_.push_back({link, 0});
  }
  classes_.push_back(route);
  return static_cast<Class>(classes_.size() - 1);
}

void MaxMin::set_multiplicity(Class of, std::uint32_t multiplicity) {
  Route& route = classes_[of];
  route.multiplicity = multiplicity;
  if (!route.is_pending) {
    route.is_pending = true;
    pending_.push_back(of);
  }
}

void MaxMin::attach(Class of) {
  const Route& route = classes_[of];
  ++attached_;
  for (std::uint32_t i = 0; i < route.hops; ++i) {
    Hop& hop = hops_[route.first_hop + i];
    Link& link = links_[hop.link];
    hop.position = static_cast<std::uint32_t>(link.shares.size());
    link.shares.push_back({route.rate, static_cast<float>(route.solved) * weight(of, i), route.mark});
    link.members.push_back({of, route.first_hop + i});
    link.is_stale = true;
  }
}

void MaxMin::detach(Class of) {
  const Route& route = classes_[of];
  --attached_;
  for (std::uint32_t i = 0; i < route.hops; ++i) {
    const Hop& hop = hops_[route.first_hop + i];
    Link& link = links_[hop.link];
    link.shares[hop.position] = link.shares.back();
    link.members[hop.position] = link.members.back();
    hops_[link.members[hop.position].hop].position = hop.position;
    link.shares.pop_back();
    link.members.pop_back();
  }
}

/// Those whose multiplicity is 0; `all`: every one has.
void MaxMin::detach_many(bool all) {
  attached_ = 0;
  for (Link& link : links_) {
    std::size_t kept = 0;
    for (std::size_t i = 0; !all && i < link.shares.size(); ++i) {
      if (classes_[link.members[i].of].multiplicity > 0) {
        link.shares[kept] = link.shares[i];
        link.members[kept] = link.members[i];
        hops_[link.members[kept].hop].position = static_cast<std::uint32_t>(kept);
        ++kept;
      }
    }
    link.shares.resize(kept);
    link.members.resize(kept);
  }
  if (all) {
    return;
  }
  for (const Route& route : classes_) {
    attached_ += route.solved > 0 && route.multiplicity > 0 ? 1 : 0;
  }
}

void MaxMin::push(Event event) {
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end(), std::greater<>{});
}

MaxMin::Filling MaxMin::filling(const Link& link, double level) {
  Filling sum;
  looks_ += link.shares.size();
  // A class within rounding of the level counts as open: its former bottleneck may be about to let it rise.
  const double below = level * (1 - 2 * kSame);
  for (const Share& share : link.shares) {
    const bool open = is_open(share, below);  // no branch: it would be a coin's toss
    sum.open += open ? share.solved : 0.0F;
    sum.fixed += share.rate * (open ? 0.0F : share.solved);
    sum.least = std::min(sum.least, (open & (share.mark < 2 * epoch_)) ? share.rate : kNoLevel);
  }
  return sum;
}

void MaxMin::await(std::uint32_t index) {
  const Link& link = links_[index];
  const double rises = link.level * (1 + kSame);
  push(link.has_risen || link.full <= rises ? Event{link.full, 0, index} : Event{rises, 1, index});
}

void MaxMin::touch(std::uint32_t index, double level) {
  Link& link = links_[index];
  if (link.epoch == epoch_) {
    return;
  }
  link.epoch = epoch_;
  const Filling now = filling(link, level);
  link.least = now.least;
  link.is_stale = false;
  link.is_done = now.open == 0;
  if (link.is_done) {
    link.level = kNoLevel;
    return;
  }
  link.has_risen = !(link.level < kNoLevel);
  link.full = std::max(level, (link.capacity - now.fixed) / now.open);
  await(index);
}

void MaxMin::touch_others(Class of, std::uint32_t link, double level) {
  const Route& route = classes_[of];
  for (std::uint32_t i = 0; i < route.hops; ++i) {
    const std::uint32_t other = hops_[route.first_hop + i].link;
    if (other != link) {
      touch(other, level);
    }
  }
}

void MaxMin::fill(std::uint32_t index, double level) {
  Link& link = links_[index];
  if (link.is_done) {
    return;
  }
  const double below = level * (1 - 2 * kSame);
  while (link.is_stale || link.least < below) {  // else the last look still holds
    const Filling now = filling(link, level);
    link.least = now.least;
    link.is_stale = false;
    if (now.open == 0) {
      link.is_done = true;
      link.level = kNoLevel;
      return;
    }
    const double full = (link.capacity - now.fixed) / now.open;
    if (full > level * (1 + kSame / 10)) {
      link.full = full;
      await(index);
      return;
    }
  }
  link.is_done = true;
  link.level = level;
  for (std::size_t i = 0; i < links_[index].shares.size(); ++i) {
    if (is_open(links_[index].shares[i], below)) {
      settle(links_[index].members[i].of, index, level);
    }
  }
}

void MaxMin::settle(Class of, std::uint32_t index, double level) {
  Route& route = classes_[of];
  route.mark = 2 * epoch_ + 1;
  route.bottleneck = index;
  looks_ += route.hops;
  const bool moves = std::abs(level - route.rate) > kSame * level;
  if (moves) {
    route.rate = level;
    moved_.push_back(of);
  }
  for (std::uint32_t i = 0; i < route.hops; ++i) {
    const Hop hop = hops_[route.first_hop + i];
    Link& link = links_[hop.link];
    Share& share = link.shares[hop.position];
    share.rate = route.rate;
    share.mark = route.mark;
    link.is_stale = true;
  }
  if (moves) {
    touch_others(of, index, level);
  }
}

void MaxMin::rise(std::uint32_t index) {
  Link& link = links_[index];
  const double level = link.level;
  link.has_risen = true;
  await(index);
  for (std::size_t i = 0; i < link.shares.size(); ++i) {
    if (link.shares[i].mark >= 2 * epoch_) {
      continue;
    }
    if (const Class of = link.members[i].of; classes_[of].bottleneck == index) {
      open(of);
      touch_others(of, index, level);
    }
  }
}

void MaxMin::open(Class of) {
  Route& route = classes_[of];
  route.mark = 2 * epoch_;
  for (std::uint32_t i = 0; i < route.hops && route.solved > 0; ++i) {
    const Hop hop = hops_[route.first_hop + i];
    Link& link = links_[hop.link];
    link.shares[hop.position] = {route.rate, static_cast<float>(route.solved) * weight(of, i), route.mark};
    link.is_stale = true;
  }
}

double MaxMin::begin() {
  double from = dirty_links_.empty() ? kNoLevel : 0;  // nothing below this level can move
  std::size_t kept = 0;
  std::size_t leaving = 0;
  for (const Class each : pending_) {
    Route& route = classes_[each];
    route.is_pending = false;
    if (route.multiplicity != route.solved) {
      from = std::min(from, route.multiplicity < route.solved ? route.rate : 0);
      leaving += route.multiplicity == 0 ? 1 : 0;
      pending_[kept++] = each;
    }
  }
  pending_.resize(kept);
  const bool at_once = leaving > 1024 && leaving * 2 > attached_;
  if (at_once) {
    detach_many(leaving == attached_);
  }
  if (constexpr std::size_t kMany = 4096; kept >= kMany) {  // exact room in the lists of links, where many come at once
    std::vector<std::uint32_t> comes(links_.size());
    for (const Class each : pending_) {
      const Route& route = classes_[each];
      for (std::uint32_t i = 0; route.solved == 0 && i < route.hops; ++i) {
        ++comes[hops_[route.first_hop + i].link];
      }
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (const std::size_t there = links_[i].shares.size(); comes[i] > there) {
        links_[i].shares.reserve(there + comes[i]);
        links_[i].members.reserve(there + comes[i]);
      }
    }
  }
  for (const Class each : pending_) {
    Route& route = classes_[each];
    const std::uint32_t before = route.solved;
    if (route.multiplicity == 0 && !at_once) {
      detach(each);
    }
    route.solved = route.multiplicity;
    if (before == 0 || route.solved == 0) {
      route.rate = 0;
    }
    if (before == 0) {
      route.mark = 2 * epoch_;
      attach(each);
    } else {
      open(each);
    }
  }
  return from;
}

std::span<const MaxMin::Class> MaxMin::resolve() {
  moved_.clear();
  events_.clear();
  ++epoch_;
  const double from = begin();
  for (const std::uint32_t link : dirty_links_) {
    links_[link].is_dirty = false;
    touch(link, from);
  }
  for (const Class each : pending_) {
    touch_others(each, kNoLink, from);
  }
  while (!events_.empty()) {
    std::pop_heap(events_.begin(), events_.end(), std::greater<>{});
    constexpr std::uint64_t kLooksAnEvent = 8;
    looks_ += kLooksAnEvent;
    const Event event = events_.back();
    events_.pop_back();
    event.order == 0 ? fill(event.link, event.level) : rise(event.link);
  }
  pending_.clear();
  dirty_links_.clear();
  return moved_;
}

}  // namespace loom
