// SPDX-License-Identifier: Apache-2.0
// List scheduling: a heap of what is ready, GPUs and links that serve it first come, first served.
#include "controller/architectures/topoopt/search/strategy_clock.hpp"

#include <algorithm>
#include <functional>

namespace loom {
namespace {

/// Calls `each(part of b, samples in common)` for the parts of one division into `theirs` that part `a` of `ours` overlaps.
template <class Each>
void overlaps(std::uint32_t samples, std::uint32_t ours, std::uint32_t a, std::uint32_t theirs, const Each& each) {
  const std::uint32_t first = a * theirs / ours;
  const std::uint32_t last = ((a + 1) * theirs - 1) / ours;
  for (std::uint32_t b = first; b <= last; ++b) {
    each(b, shared_samples(samples, ours, a, theirs, b));
  }
}

std::uint32_t overlap_count(std::uint32_t ours, std::uint32_t a, std::uint32_t theirs) {
  return ((a + 1) * theirs - 1) / ours - a * theirs / ours + 1;
}

}  // namespace

StrategyClock::StrategyClock(const OpGraph& graph, const OpTimes& times, const InServer& server)
    : graph_(graph), times_(times), nodes_(graph.nodes), ops_(static_cast<std::uint32_t>(graph.operators.size())) {
  inputs_.resize(ops_);
  consumers_.resize(ops_);
  for (std::uint32_t op = 0; op < ops_; ++op) {
    for (const std::uint32_t input : graph.operators[op].inputs) {
      const Edge edge{input, op, static_cast<double>(moved_bytes(graph, input, op))};
      inputs_[op].push_back(edge);
      consumers_[input].push_back(edge);
    }
    const Bytes bytes = parameter_bytes(graph.operators[op]);
    reduce_bytes_.push_back(static_cast<double>(bytes.count));
    in_server_ns_.push_back(static_cast<double>(in_server_reduce(bytes, server).count()));
  }
}

void StrategyClock::push(double time, std::uint32_t order) {
  queue_.push_back({time, order});
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>{});
}

void StrategyClock::count_waits(const Strategy& strategy) {
  for (std::uint32_t op = 0; op < ops_; ++op) {
    const std::uint32_t parts = strategy[op].parts;
    const std::uint32_t backward = (2 * ops_ - 1 - op) * nodes_;
    parts_left_[op] = parts;
    for (std::uint32_t part = 0; part < parts; ++part) {
      std::uint32_t before = 0;
      for (const Edge& edge : inputs_[op]) {
        before += overlap_count(parts, part, strategy[edge.producer].parts);
      }
      waits_[op * nodes_ + part] = before;
      std::uint32_t after = 1;  // its own forward part
      for (const Edge& edge : consumers_[op]) {
        after += overlap_count(parts, part, strategy[edge.consumer].parts);
      }
      waits_[backward + part] = after;
      if (before == 0) {
        push(0, op * nodes_ + part);
      }
    }
  }
}

void StrategyClock::reset(const Strategy& strategy, const LinkLoads& loads) {
  ready_.assign(std::size_t{2} * ops_ * nodes_, 0);
  waits_.resize(ready_.size());
  parts_left_.resize(ops_);
  gpu_free_.assign(nodes_, 0);
  in_server_free_.assign(nodes_, 0);
  link_free_.assign(loads.links(), 0);
  transfers_.clear();
  batches_.clear();
  queue_.clear();
  count_waits(strategy);
}

bool StrategyClock::is_too_busy(const Strategy& strategy, double limit_ns) {
  gpu_free_.assign(nodes_, 0);
  for (std::uint32_t op = 0; op < ops_; ++op) {
    const OpTime& time = times_.of(op, strategy[op].parts);
    const auto busy = static_cast<double>((time.forward + time.backward).count());
    const std::uint32_t stride = nodes_ / strategy[op].parts;
    for (std::uint32_t node = strategy[op].first; node < nodes_; node += stride) {
      gpu_free_[node] += busy;
    }
  }
  return *std::max_element(gpu_free_.begin(), gpu_free_.end()) > limit_ns;
}

void StrategyClock::arrive(std::uint32_t task, double time) {
  ready_[task] = std::max(ready_[task], time);
  if (--waits_[task] == 0) {
    push(ready_[task], task);
  }
}

void StrategyClock::send(std::uint32_t task, double time, std::uint32_t from, std::uint32_t to, double bytes,
                         const LinkLoads& loads) {
  if (from == to) {
    arrive(task, time);
    return;
  }
  transfers_.push_back({&loads.pair(from, to), bytes, task});
}

/// Queues what send() has put down since `first`.
void StrategyClock::push_batch(std::size_t first, double time) {
  if (first < transfers_.size()) {
    push(time, 2 * ops_ * (nodes_ + 1) + static_cast<std::uint32_t>(batches_.size()));
    batches_.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(transfers_.size())});
  }
}

double StrategyClock::serve_batch(const Batch& batch, double time, const LinkLoads& loads) {
  double last = time;
  for (std::uint32_t i = batch.first; i < batch.last; ++i) {
    const Transfer transfer = transfers_[i];
    const double finish = serve(*transfer.way, transfer.bytes, time, loads);
    arrive(transfer.task, finish);
    last = std::max(last, finish);
  }
  return last;
}

double StrategyClock::serve(const LinkLoads::Way& way, double bytes, double time, const LinkLoads& loads) {
  double last = time;
  for (const LinkLoads::Load* load = loads.loads() + way.first; load != loads.loads() + way.last; ++load) {
    double& free = link_free_[load->link];
    free = std::max(free, time) + bytes * load->ns_per_byte;
    last = std::max(last, free);
  }
  return last + way.latency_ns;
}

void StrategyClock::finish_forward(std::uint32_t op, std::uint32_t part, double time, const Strategy& strategy,
                                   const LinkLoads& loads) {
  const OpPlacement& at = strategy[op];
  const std::uint32_t from = at.first + part * (nodes_ / at.parts);
  const std::size_t first = transfers_.size();
  for (const Edge& edge : consumers_[op]) {
    const OpPlacement& to = strategy[edge.consumer];
    overlaps(graph_.samples, at.parts, part, to.parts, [&](std::uint32_t b, std::uint32_t samples) {
      send(edge.consumer * nodes_ + b, time, from, to.first + b * (nodes_ / to.parts), edge.bytes_per_sample * samples, loads);
    });
  }
  push_batch(first, time);
  arrive((2 * ops_ - 1 - op) * nodes_ + part, time);
}

void StrategyClock::finish_backward(std::uint32_t op, std::uint32_t part, double time, const Strategy& strategy,
                                    const LinkLoads& loads) {
  const OpPlacement& at = strategy[op];
  const std::uint32_t from = at.first + part * (nodes_ / at.parts);
  const std::size_t first = transfers_.size();
  for (const Edge& edge : inputs_[op]) {
    const OpPlacement& to = strategy[edge.producer];
    overlaps(graph_.samples, at.parts, part, to.parts, [&](std::uint32_t a, std::uint32_t samples) {
      send((2 * ops_ - 1 - edge.producer) * nodes_ + a, time, from, to.first + a * (nodes_ / to.parts),
           edge.bytes_per_sample * samples, loads);
    });
  }
  push_batch(first, time);
  // Parts of one operator run on GPUs of their own and end in any order; who is last starts the all-reduce.
  double& latest = ready_[op * nodes_];  // of the forward part, not needed any more
  latest = std::max(latest, time);
  if (--parts_left_[op] == 0 && at.parts > 1 && reduce_bytes_[op] > 0) {
    push(latest, 2 * ops_ * nodes_ + op);
  }
}

double StrategyClock::reduce_in_server(std::uint32_t op, double time, const Strategy& strategy) {
  double last = time;
  const std::uint32_t stride = nodes_ / strategy[op].parts;
  for (std::uint32_t node = strategy[op].first; node < nodes_; node += stride) {
    in_server_free_[node] = std::max(in_server_free_[node], time) + in_server_ns_[op];
    last = std::max(last, in_server_free_[node]);
  }
  return last;
}

double StrategyClock::compute(const Ready& ready, const Strategy& strategy, const LinkLoads& loads) {
  const bool is_forward = ready.order < ops_ * nodes_;
  const std::uint32_t row = ready.order / nodes_;
  const std::uint32_t op = is_forward ? row : 2 * ops_ - 1 - row;
  const std::uint32_t part = ready.order % nodes_;
  const OpPlacement& at = strategy[op];
  const OpTime& time = times_.of(op, at.parts);
  double& free = gpu_free_[at.first + part * (nodes_ / at.parts)];
  free = std::max(free, ready.time) + static_cast<double>((is_forward ? time.forward : time.backward).count());
  const double end = free;
  is_forward ? finish_forward(op, part, end, strategy, loads) : finish_backward(op, part, end, strategy, loads);
  return end;
}

double StrategyClock::iteration_ns(const Strategy& strategy, const LinkLoads& loads, double limit_ns) {
  if (is_too_busy(strategy, limit_ns)) {
    return kTooLong;
  }
  reset(strategy, loads);
  double end = 0;
  while (!queue_.empty()) {
    const Ready ready = queue_.front();
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>{});
    queue_.pop_back();
    const std::uint32_t tasks = 2 * ops_ * nodes_;
    double finish = 0;
    if (ready.order < tasks) {
      finish = compute(ready, strategy, loads);
    } else if (ready.order < tasks + ops_) {
      const std::uint32_t op = ready.order - tasks;
      finish = reduce_in_server(op, ready.time, strategy);
      push(finish, ready.order + ops_);
    } else if (ready.order < tasks + 2 * ops_) {
      const std::uint32_t op = ready.order - tasks - ops_;
      finish = serve(loads.group(strategy[op]), reduce_bytes_[op], ready.time, loads);
    } else {
      finish = serve_batch(batches_[ready.order - tasks - 2 * ops_], ready.time, loads);
    }
    end = std::max(end, finish);
    if (end > limit_ns) {
      return kTooLong;
    }
  }
  return end;
}

}  // namespace loom
