// SPDX-License-Identifier: Apache-2.0
// Transfers of collectives on a network: what is sent, when it has left, when it arrives. Adds latency to the fluid of
// Transfers, and remembers what each transfer was for.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "controller/predict/engine/transfers.hpp"

namespace loom {

/// One transfer of one round, ranks within its group.
struct Flight {
  std::uint32_t run = 0;  ///< whose; the medium does not look at it
  std::uint32_t lane = 0;
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint32_t round = 0;
  float after_ns = 0;  ///< latency beside that of its path
};

struct FlightEvent {
  static constexpr std::uint32_t kArrived = 0x8000'0000;
  std::uint32_t number = 0;  ///< of the flight, with kArrived

  bool has_arrived() const { return (number & kArrived) != 0; }  ///< else: its last byte has left
  std::uint32_t flight() const { return number & ~kArrived; }
};

class Medium {
 public:
  void reset(const Network& network, std::span<const FluidWay> ways = {});
  const Network& network() const { return *network_; }
  /// Room for so many transfers more.
  void reserve(std::size_t transfers);

  /// From node to node at `now`; nothing to send (0 bytes) still takes the latency. False: the pair is not connected (with
  /// `waits_for_path`: it waits for change()).
  bool send(double now, std::uint32_t from, std::uint32_t to, double bytes, const Flight& flight);
  /// Over way `way` of reset(): `on_wire` bytes of its largest transfers. Arrives Flight::after_ns after it has left.
  void send_over(double now, std::uint32_t way, double on_wire, const Flight& flight);
  std::uint64_t settle(double now) { return transfers_.settle(now); }
  double next() const;
  /// Everything that leaves or arrives at `now`, departures first. Valid until the next call.
  std::span<const FlightEvent> advance(double now);
  /// Of an event that is valid.
  Flight flight(FlightEvent event) const { return flights_[event.flight()]; }
  bool is_idle() const { return transfers_.active() == 0 && arriving_.empty() && late_.empty() && waiting_.empty(); }

  /// What has not left yet by node pair, waiting transfers too.
  std::vector<Transfers::Left> residual(double now) const;
  /// Everything that is on its way goes on over `network` (same end points), with what is left of it.
  void change(double now, const Network& network);

  /// While held, nothing new is admitted: it waits for change().
  void hold(bool is_held) { is_held_ = is_held; }

  /// A transfer that goes on in another medium on the same network.
  struct Underway {
    Flight flight;
    std::vector<Transfers::Left> parts;  ///< empty: it has left
    double arrives = 0;                  ///< if it has left
  };
  std::vector<Underway> underway(double now) const;
  void resume(double now, const Underway& transfer);
  std::vector<double> carried(double now) const;

 private:
  struct Arrival {
    double time = 0;
    std::uint32_t order = 0;
    std::uint32_t flight = 0;
    bool operator>(const Arrival& other) const { return time != other.time ? time > other.time : order > other.order; }
  };
  struct Waiting {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t key = 0;
    double bytes = 0;
    std::uint32_t flight = 0;
  };

  /// Of a network whose flows take a way anew: what is left of a flight behind the segment that is on its way.
  struct Rest {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t segment = 0;
    double bytes = 0;
  };

  std::uint32_t keep(const Flight& flight);
  bool go_on(double now, std::uint32_t flight);
  bool launch(double now, std::uint32_t from, std::uint32_t to, std::uint64_t key, double on_wire, std::uint32_t flight);
  void arrive_at(double time, std::uint32_t flight);

  const Network* network_ = nullptr;
  Transfers transfers_;
  std::vector<Flight> flights_;
  std::vector<Rest> rests_;  ///< beside flights_, where there are segments
  double segment_bytes_ = 0;
  std::vector<std::uint32_t> free_flights_;
  std::deque<Arrival> arriving_;  ///< ascending: latencies are mostly alike
  std::vector<Arrival> late_;     ///< heap of those out of order
  std::uint32_t order_ = 0;       ///< begins anew whenever nobody is on the way
  bool is_held_ = false;
  std::vector<Waiting> waiting_;
  std::vector<FlightEvent> events_;
  std::vector<std::uint32_t> unsent_;  ///< scratch: flights that go on with their next segment
  std::vector<double> carried_before_;
};

}  // namespace loom
