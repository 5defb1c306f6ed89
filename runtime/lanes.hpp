// SPDX-License-Identifier: Apache-2.0
// Lanes: the real RegisterSeam. One thread a bus executes its transactions one after the other, so a slow or silent device
// delays nobody but its own bus. Buses without a lane go to a delegate, which is how a testbed mixes real and simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "runtime/post.hpp"
#include "runtime/seams.hpp"

namespace loom {

/// Executes one transaction, blocking for at most its deadline. Called by one thread only: drivers/bus makes these.
using BusExecute = std::function<BusReply(const Transaction& transaction)>;

struct BusLaneOptions {
  std::size_t queue_max = 256;  ///< transactions that wait; a submit beyond it is answered `nack` and counted
};

struct BusLaneCounters {
  std::uint64_t executed = 0;
  std::uint64_t overruns = 0;  ///< submits that found the queue full
  std::uint64_t late = 0;      ///< transactions that took longer than their deadline
  std::size_t waiting_max = 0;
  Duration longest{};  ///< one transaction on the bus
};

class BusLanes : public RegisterSeam {
 public:
  /// `simulated` serves every bus without a lane; null: such a transaction is answered `lost`. Both must outlive this.
  BusLanes(Post post, RegisterSeam* simulated, BusLaneOptions options = {});
  /// Waits for the transactions on the buses right now; those that wait in a queue are dropped unanswered.
  ~BusLanes() override;

  /// Precondition: this bus has no lane yet. Starts its thread.
  void add(BusId bus, BusExecute execute);
  void submit(BusId bus, const Transaction& transaction, Done done) override;
  /// Zero for a bus without a lane. Any thread.
  BusLaneCounters counters(BusId bus) const;

 private:
  class Lane;
  Post post_;
  RegisterSeam* simulated_;
  BusLaneOptions options_;
  std::map<BusId, std::unique_ptr<Lane>> lanes_;
};

}  // namespace loom
