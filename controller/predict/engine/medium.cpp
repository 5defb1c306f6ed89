// SPDX-License-Identifier: Apache-2.0
// Flights over Transfers.
#include "controller/predict/engine/medium.hpp"

#include <algorithm>
#include <functional>

namespace loom {
namespace {

constexpr double kRounding = 1e-13;

}  // namespace

void Medium::reset(const Network& network, std::span<const FluidWay> ways) {
  network_ = &network;
  transfers_.reset(network, ways);
  flights_.clear();
  rests_.clear();
  segment_bytes_ = segment_bytes(network);
  free_flights_.clear();
  arriving_.clear();
  late_.clear();
  events_.clear();
  order_ = 0;
  is_held_ = false;
  waiting_.clear();
  carried_before_.clear();
}

void Medium::reserve(std::size_t transfers) {
  transfers_.reserve(transfers_.active() + transfers);
  flights_.reserve(flights_.size() + transfers);
  free_flights_.reserve(flights_.size() + transfers);
  events_.reserve(transfers);
}

std::uint32_t Medium::keep(const Flight& flight) {
  auto index = static_cast<std::uint32_t>(flights_.size());
  if (free_flights_.empty()) {
    flights_.push_back(flight);
  } else {
    index = free_flights_.back();
    free_flights_.pop_back();
    flights_[index] = flight;
  }
  if (segment_bytes_ > 0) {  // a fluid's is all on its way at once
    rests_.resize(flights_.size());
    rests_[index] = {};
  }
  return index;
}

bool Medium::launch(double now, std::uint32_t from, std::uint32_t to, std::uint64_t key, double on_wire, std::uint32_t flight) {
  if (!is_held_ && transfers_.start(now, from, to, key, on_wire, flight)) {
    return true;
  }
  if (is_held_ || network_->waits_for_path) {
    waiting_.push_back({from, to, key, on_wire, flight});
    return true;
  }
  return false;
}

bool Medium::go_on(double now, std::uint32_t flight) {
  Rest& rest = rests_[flight];
  const double bytes = std::min(rest.bytes, segment_bytes_);
  rest.bytes -= bytes;
  const std::uint64_t key = network_paths::segment_key(flights_[flight].lane, flights_[flight].round, rest.segment++);
  return launch(now, rest.from, rest.to, key, bytes, flight);
}

bool Medium::send(double now, std::uint32_t from, std::uint32_t to, double bytes, const Flight& flight) {
  if (segment_bytes_ > 0) {
    const std::uint32_t kept = keep(flight);
    rests_[kept] = {from, to, 0, network_->packets.on_wire(bytes)};
    return go_on(now, kept);
  }
  return launch(now, from, to, flight.lane, network_->packets.on_wire(bytes), keep(flight));
}

void Medium::send_over(double now, std::uint32_t way, double on_wire, const Flight& flight) {
  transfers_.start_over(now, way, on_wire, keep(flight));
}

void Medium::arrive_at(double time, std::uint32_t flight) {
  order_ = arriving_.empty() && late_.empty() ? 0 : order_ + 1;
  const Arrival arrival{time, order_, flight};
  if (arriving_.empty() || arriving_.back().time <= time) {
    arriving_.push_back(arrival);
  } else {
    late_.push_back(arrival);
    std::push_heap(late_.begin(), late_.end(), std::greater<>{});
  }
}

double Medium::next() const {
  double next = transfers_.next();
  if (!arriving_.empty()) {
    next = std::min(next, arriving_.front().time);
  }
  if (!late_.empty()) {
    next = std::min(next, late_.front().time);
  }
  return next;
}

std::span<const FlightEvent> Medium::advance(double now) {
  for (const FlightEvent event : events_) {  // whoever was told of it needs it no more
    if (event.has_arrived()) {
      free_flights_.push_back(event.flight());
    }
  }
  events_.clear();
  if (transfers_.next() <= now * (1 + kRounding)) {
    unsent_.clear();
    transfers_.advance(now, [this](std::uint32_t flight, double arrives) {
      if (segment_bytes_ > 0 && rests_[flight].bytes > 0) {
        unsent_.push_back(flight);
        return;
      }
      events_.push_back({flight});
      arrive_at(arrives + flights_[flight].after_ns, flight);
    });
    for (const std::uint32_t flight : unsent_) {
      go_on(now, flight);  // its pair is connected
    }
  }
  const double until = now * (1 + kRounding);
  const auto take = [&](const Arrival& arrival) { events_.push_back({arrival.flight | FlightEvent::kArrived}); };
  while (!arriving_.empty() && arriving_.front().time <= until) {
    take(arriving_.front());
    arriving_.pop_front();
  }
  while (!late_.empty() && late_.front().time <= until) {
    std::pop_heap(late_.begin(), late_.end(), std::greater<>{});
    take(late_.back());
    late_.pop_back();
  }
  return events_;
}

std::vector<Transfers::Left> Medium::residual(double now) const {
  std::vector<Transfers::Left> left = transfers_.remaining(now);
  for (const Waiting& each : waiting_) {
    left.push_back({each.from, each.to, each.key, each.flight, each.bytes});
  }
  return left;
}

void Medium::change(double now, const Network& network) {
  const std::vector<double> so_far = transfers_.carried(now);
  carried_before_.resize(std::max(carried_before_.size(), so_far.size()), 0);
  for (std::size_t i = 0; i < so_far.size(); ++i) {
    carried_before_[i] += so_far[i];
  }
  std::vector<Transfers::Left> left = transfers_.take_all(now, network);
  for (const Waiting& each : waiting_) {
    left.push_back({each.from, each.to, each.key, each.flight, each.bytes});
  }
  waiting_.clear();
  network_ = &network;
  for (const Transfers::Left& each : left) {
    launch(now, each.source, each.destination, each.key, each.bytes, each.token);
  }
}

std::vector<Medium::Underway> Medium::underway(double now) const {
  std::vector<Underway> found;
  LOOM_ASSERT(waiting_.empty());
  const std::vector<Transfers::Left> parts = transfers_.parts_left(now);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 || parts[i].token != parts[i - 1].token) {
      found.push_back({flights_[parts[i].token], {}, 0});
    }
    found.back().parts.push_back(parts[i]);
  }
  std::vector<Arrival> arrivals(arriving_.begin(), arriving_.end());
  arrivals.insert(arrivals.end(), late_.begin(), late_.end());
  std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) { return b > a; });
  for (const Arrival& each : arrivals) {
    found.push_back({flights_[each.flight], {}, each.time});
  }
  return found;
}

void Medium::resume(double now, const Underway& transfer) {
  const std::uint32_t flight = keep(transfer.flight);
  if (transfer.parts.empty()) {
    arrive_at(transfer.arrives, flight);
  } else {
    transfers_.resume(now, transfer.parts, flight);
  }
}

std::vector<double> Medium::carried(double now) const {
  std::vector<double> sum = transfers_.carried(now);
  sum.resize(std::max(sum.size(), carried_before_.size()), 0);
  for (std::size_t i = 0; i < carried_before_.size(); ++i) {
    sum[i] += carried_before_[i];
  }
  return sum;
}

}  // namespace loom
