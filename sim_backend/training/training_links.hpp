// SPDX-License-Identifier: Apache-2.0
// TrainingLink: how the training processes of one node and its agent hear of each other. What Inspector dumps is demand; who
// speaks through the node's socket paces its iterations, and without sockets a stand-in does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/training/training_clients.hpp"
#include "core/config/scenario/scenario.hpp"
#include "runtime/host.hpp"
#include "runtime/loop.hpp"
#include "runtime/training/inspector_feed.hpp"
#include "runtime/training/training_socket.hpp"
#include "sim_backend/training/training_process.hpp"

namespace loom {

struct TrainingFolders {
  std::string inspector;  ///< of dumps; "{node}" in it stands for the node's name; empty: nobody tells of traffic
  std::string sockets;    ///< empty: stand-ins pace
};

/// Lines of training processes and what became of them, of all nodes of a process.
struct TrainingCounters {
  TrainingClients::Counters lines;
  TrainingSocketCounters sockets;
};

class TrainingLink {
 public:
  TrainingLink(AsioLoop& loop, std::string inspector_folder);
  TrainingLink(const TrainingLink&) = delete;
  TrainingLink& operator=(const TrainingLink&) = delete;

  /// Errors: as TrainingSocket::open.
  Result<void> listen(const std::string& folder, const std::string& node);
  void stand_in(const TrainingHabits& habits, Random random);
  /// From now on `host` is told; it lives longer than the loop runs.
  void begin(Host& host);
  void tell(const TrainingWord& word);
  void add_to(TrainingCounters& sum) const;

 private:
  void deliver(const Event& event);

  AsioLoop& loop_;
  std::string inspector_folder_;
  Host* host_ = nullptr;
  std::optional<TrainingClients> clients_;
  std::unique_ptr<TrainingSocket> socket_;
  std::optional<TrainingProcess> process_;
  std::optional<InspectorFeed> feed_;
};

/// One a node of `nodes`. Errors: invalid_argument (many nodes, and no place for the node's name), as TrainingLink::listen.
Result<std::vector<std::unique_ptr<TrainingLink>>> open_training(const TrainingFolders& folders, AsioLoop& loop,
                                                                 const Scenario& scenario, const std::vector<NodeId>& nodes);

}  // namespace loom
