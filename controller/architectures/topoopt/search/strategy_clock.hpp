// SPDX-License-Identifier: Apache-2.0
// The search's cost: how long one iteration of a strategy takes on a topology, in microseconds of computing. As in FlexFlow's
// simulator every GPU and every link serves in order of readiness; a transfer is through when the last link on its way has
// served it. Links lose no time, so what limits them is what the predictor says; who is served first is coarser. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/predict/engine/network.hpp"
#include "controller/workload/strategy.hpp"

namespace loom {

/// What transfers and all-reduces load on the links of a topology, laid out once.
class LinkLoads {
 public:
  /// `network`: of `topology`. Errors: unreachable (two nodes without a way).
  static Result<LinkLoads> make(const DirectTopology& topology, const Network& network);

  struct Load {
    std::uint32_t link = 0;
    double ns_per_byte = 0;
  };
  struct Way {
    std::uint32_t first = 0;  ///< in loads
    std::uint32_t last = 0;
    double latency_ns = 0;
  };
  const Way& pair(std::uint32_t source, std::uint32_t destination) const {
    return pairs_[std::size_t{source} * nodes_ + destination];
  }
  /// An all-reduce among first + k * stride, stride = nodes / parts; parts >= 2.
  const Way& group(const OpPlacement& at) const;
  std::uint32_t links() const { return links_; }
  const Load* loads() const { return loads_.data(); }

 private:
  Result<void> add_pairs(const Network& network);
  Result<void> add_group(const DirectTopology& topology, const Network& network, const OpPlacement& at);

  std::uint32_t nodes_ = 0;
  std::uint32_t links_ = 0;
  std::vector<Load> loads_;
  std::vector<Way> pairs_;
  std::vector<Way> groups_;
  std::vector<std::uint32_t> first_group_;  ///< by number of parts
};

class StrategyClock {
 public:
  static constexpr double kTooLong = std::numeric_limits<double>::infinity();

  /// `graph` and `times` must live as long, at the same place.
  StrategyClock(const OpGraph& graph, const OpTimes& times, const InServer& server);

  /// One iteration, ns; kTooLong as soon as it is known to be longer than `limit_ns`. Precondition: check(strategy).
  double iteration_ns(const Strategy& strategy, const LinkLoads& loads, double limit_ns = kTooLong);

 private:
  /// Something that is ready; equal times go by `order`.
  struct Ready {
    double time = 0;
    std::uint32_t order = 0;
    bool operator>(const Ready& other) const { return time != other.time ? time > other.time : order > other.order; }
  };
  struct Transfer {
    const LinkLoads::Way* way = nullptr;
    double bytes = 0;
    std::uint32_t task = 0;  ///< that waits for it
  };
  /// Transfers of one part, ready together and served one after the other: one entry of the queue.
  struct Batch {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  struct Edge {
    std::uint32_t producer = 0;
    std::uint32_t consumer = 0;
    double bytes_per_sample = 0;
  };

  void reset(const Strategy& strategy, const LinkLoads& loads);
  bool is_too_busy(const Strategy& strategy, double limit_ns);
  void count_waits(const Strategy& strategy);
  void arrive(std::uint32_t task, double time);
  void send(std::uint32_t task, double time, std::uint32_t from, std::uint32_t to, double bytes, const LinkLoads& loads);
  void push_batch(std::size_t first, double time);
  double serve_batch(const Batch& batch, double time, const LinkLoads& loads);
  void push(double time, std::uint32_t order);
  double compute(const Ready& ready, const Strategy& strategy, const LinkLoads& loads);
  void finish_forward(std::uint32_t op, std::uint32_t part, double time, const Strategy& strategy, const LinkLoads& loads);
  void finish_backward(std::uint32_t op, std::uint32_t part, double time, const Strategy& strategy, const LinkLoads& loads);
  double serve(const LinkLoads::Way& way, double bytes, double time, const LinkLoads& loads);
  double reduce_in_server(std::uint32_t op, double time, const Strategy& strategy);

  const OpGraph& graph_;
  const OpTimes& times_;
  std::uint32_t nodes_ = 0;
  std::uint32_t ops_ = 0;
  std::vector<std::vector<Edge>> inputs_;     ///< by consumer
  std::vector<std::vector<Edge>> consumers_;  ///< by producer
  std::vector<double> reduce_bytes_;
  std::vector<double> in_server_ns_;
  // Tasks: forward part p of op o is o * nodes + p; backward parts follow in the order of operators from the last to the first.
  std::vector<double> ready_;
  std::vector<std::uint32_t> waits_;
  std::vector<std::uint32_t> parts_left_;  ///< backward, by operator
  std::vector<double> gpu_free_;
  std::vector<double> in_server_free_;
  std::vector<double> link_free_;
  std::vector<Transfer> transfers_;
  std::vector<Batch> batches_;
  std::vector<Ready> queue_;
};

}  // namespace loom
