// SPDX-License-Identifier: Apache-2.0
// Collectives in step: symmetric collectives over the very same links, each begun by all its ranks at one instant. Every rank
// then does the same at all times, so that one port is played for all: the transfers on it share its rate evenly. Exact as long
// as nobody else comes onto the links; then the owner takes the members' positions and plays them rank by rank.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "controller/predict/collectives/round_plan.hpp"
#include "controller/predict/engine/network.hpp"

namespace loom {

/// Where a collective in step is: the same for every rank and lane.
struct StepPosition {
  std::uint32_t round = 0;
  bool is_sending = true;  ///< else the round's last bytes are in flight
  double bytes_left = 0;   ///< sending: of each transfer, on the wire
  double arrives = 0;      ///< in flight
};

class Lockstep {
 public:
  /// A port of `bytes_per_ns` in each direction. `packets` must live as long.
  void begin(double now, double bytes_per_ns, const PacketTerms& packets);

  /// `plan` (symmetric, must live as long) begins at `now`; in each round a rank has `flows_a_lane` x its transfers of a lane
  /// on a port: the number of lanes where they share the port, 1 where each lane has its own.
  void add(double now, std::uint32_t run, const RoundPlan& plan, double latency_ns, std::uint32_t flows_a_lane);

  /// When the next round leaves or begins; infinity when nobody is left.
  double next() const;
  static constexpr std::uint32_t kNobody = 0xffffffff;
  struct Drained {
    std::uint32_t run = kNobody;
    double arrives = 0;
  };
  /// Goes on up to `until` (included), or until a member's very last bytes have left: it is no member any more, and is returned
  /// with the time at which they arrive.
  Drained advance(double until);
  /// Bytes up to `now` <= next(). Must follow advance(now) before position().
  void bring_up(double now);

  std::size_t size() const { return members_.size(); }
  std::uint32_t run(std::size_t member) const { return members_[member].run; }
  StepPosition position(std::size_t member) const;

 private:
  struct Member {
    const RoundPlan* plan = nullptr;
    double due = 0;  ///< sending: served_ at which it has left; else the time at which the next round begins
    double latency = 0;
    double flows = 0;  ///< on a port, in this round
    double on_wire = 0;
    std::uint32_t run = 0;
    std::uint32_t flows_a_lane = 1;
    std::uint32_t at = 0;    ///< in the lanes' runs
    std::uint32_t left = 0;  ///< rounds of this run, the present one too
    std::uint32_t round = 0;
    bool is_sending = false;
  };

  void enter(Member& member) const;
  void launch(Member& member);
  Drained leave(std::size_t index, double now);
  /// The member whose event comes next; size() when there is none.
  std::size_t first() const;
  double time_of(const Member& member) const {
    return member.is_sending ? since_ + (member.due > served_ ? (member.due - served_) * flows_ / rate_ : 0) : member.due;
  }

  std::vector<Member> members_;
  const PacketTerms* packets_ = nullptr;
  double rate_ = 0;
  double flows_ = 0;   ///< being sent, on a port
  double served_ = 0;  ///< bytes of each flow that has been sending since nobody sent
  double since_ = 0;
};

}  // namespace loom
