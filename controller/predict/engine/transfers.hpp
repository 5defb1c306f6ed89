// SPDX-License-Identifier: Apache-2.0
// Bytes on their way over a network: each transfer is a fluid that gets its max-min fair rate at every instant, and leaves when
// its last byte has. Equal routes share one record. Time is handed in and only moves forward; nanoseconds as doubles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "controller/predict/engine/max_min.hpp"
#include "controller/predict/engine/network.hpp"

namespace loom {

/// Of a transfer whose last byte has just left its source (over every path): when that byte arrives.
using OnDeparture = std::function<void(std::uint32_t token, double arrives)>;

/// Links that one fluid takes at once, each in its own measure: all transfers of a collective's rounds as one.
struct FluidWay {
  std::vector<std::uint32_t> links;  ///< each once
  std::vector<float> weights;        ///< beside `links`: transfers over it, by the bytes of the largest
};

class Transfers {
 public:
  /// `network` must live as long. Keeps buffers of earlier use. `ways`: what start_over() counts from 0.
  void reset(const Network& network, std::span<const FluidWay> ways = {});

  /// Room for so many transfers at once.
  void reserve(std::size_t transfers);
  /// `bytes` >= 0, on the wire (PacketTerms), from now on; takes rate with the next settle(). `token` comes back with the
  /// departure. Returns false, and takes nothing, when the pair is not connected.
  bool start(double now, std::uint32_t source, std::uint32_t destination, std::uint64_t key, double bytes, std::uint32_t token);
  /// As start(), over way `way`; the departure's arrival has no latency in it.
  void start_over(double now, std::uint32_t way, double bytes, std::uint32_t token);
  /// Fair rates for what started and left at this instant. Must follow start() and advance() before next(). Returns what it
  /// cost: lanes looked at, a link each.
  std::uint64_t settle(double now);
  /// When the next transfer leaves; infinity when none will.
  double next() const { return heap_.empty() ? kNever : heap_.front().time; }
  /// Takes out what leaves at `now` (within rounding), in order of their routes' first use. `departs` starts nothing.
  void advance(double now, const OnDeparture& departs);

  std::size_t active() const { return active_; }
  /// Bytes carried by each link so far, up to `now`.
  std::vector<double> carried(double now) const;

  struct Left {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint64_t key = 0;
    std::uint32_t token = 0;
    double bytes = 0;
    std::uint32_t path = 0;  ///< parts_left() only
    double arrives = 0;      ///< parts_left() only: when what left over the transfer's other paths arrives
  };
  /// Takes out everything that is still on its way, in order of routes, a transfer over several paths as one sum; then
  /// `network` is the network (same end points).
  std::vector<Left> take_all(double now, const Network& network);
  /// As take_all(), but nothing moves: bytes not yet left, by pair.
  std::vector<Left> remaining(double now) const;
  /// As remaining(), but path by path; the parts of a transfer stand side by side.
  std::vector<Left> parts_left(double now) const;
  /// A transfer of another Transfers on the same network goes on, from its parts_left().
  void resume(double now, std::span<const Left> parts, std::uint32_t token);

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// One class of MaxMin, beside its record there.
  struct Lane {
    double served = 0;  ///< bytes of every member since the lane was last empty, at `since`
    double target = 0;  ///< of the member that leaves first
    double since = 0;
    double rate = 0;
    double carried = 0;  ///< bytes of all members, at `since`
    double latency = 0;
    std::uint32_t first = kNone;  ///< member that leaves first: root of a pairing heap
    std::uint32_t members = 0;
    std::uint32_t place = kNone;  ///< in heap_

    /// Of its first member.
    double due() const { return rate > 0 ? since + std::max(0.0, target - served) / rate : since; }
  };
  struct Member {
    double target = 0;  ///< `served` at which it has left
    std::uint32_t token = 0;
    std::uint32_t child = kNone;
    std::uint32_t sibling = kNone;
    std::uint32_t split = kNone;
  };
  struct Route {
    std::uint64_t ends = 0;  ///< source << 32 | destination
    std::uint64_t key = 0;
    std::uint32_t first_lane = 0;
    std::uint32_t lanes = 0;
  };
  /// A transfer over several paths.
  struct Split {
    std::uint32_t left = 0;
    double arrives = 0;
  };
  struct Due {
    double time = 0;  ///< not after Lane::due(): a lane that has become slower keeps its place until it comes to the top
    std::uint32_t lane = 0;
  };

  std::uint32_t route_of(std::uint32_t source, std::uint32_t destination, std::uint64_t key);
  void add_links();
  std::uint32_t add_route(std::uint32_t source, std::uint32_t destination, std::uint64_t key);
  bool is_paired(std::uint64_t key) const { return key == 0 && !pairs_.empty(); }
  void grow_table(std::size_t slots);
  std::uint32_t new_split(std::uint32_t parts, double arrives);
  void join(double now, std::uint32_t lane, double bytes, std::uint32_t token, std::uint32_t split);
  std::uint32_t merged(std::uint32_t a, std::uint32_t b);
  std::uint32_t without_root(std::uint32_t root);
  void bring_up(double now, Lane& lane) const;
  void leave(double now, std::uint32_t index, const OnDeparture& departs);
  void due(std::uint32_t lane);
  void place(std::size_t at, Due entry);
  void sift_up(std::size_t at);
  void sift_down(std::size_t at);
  bool collect(double until);
  void rebuild();
  template <class Each>
  void each_member(std::uint32_t root, const Each& each) const;

  const Network* network_ = nullptr;
  MaxMin rates_;
  bool has_links_ = false;  ///< rates_ is laid out for this network, which waits for the first transfer
  std::vector<Lane> lanes_;
  std::vector<double> shares_;  ///< by lane: of a transfer over several paths; what it does not reach has all of it
  std::vector<Member> members_;
  std::uint32_t free_member_ = kNone;
  std::vector<Split> splits_;
  std::vector<std::uint32_t> free_splits_;
  std::vector<Route> routes_;
  std::vector<std::uint32_t> table_;  ///< open addressing, route + 1
  std::size_t table_used_ = 0;
  std::vector<std::uint32_t>
      pairs_;  ///< by source x end points + destination: route + 1 of key 0; empty unless all talk to all
  std::vector<Due> heap_;
  std::vector<std::uint32_t> touched_;  ///< lanes that want a new due time
  std::vector<std::uint32_t> batch_;
  std::vector<std::uint32_t> stack_;
  std::size_t active_ = 0;
};

}  // namespace loom
