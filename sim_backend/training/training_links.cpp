// SPDX-License-Identifier: Apache-2.0
// Sockets, dumps and stand-ins of the nodes of one process.
#include "sim_backend/training/training_links.hpp"

#include <utility>

#include "agents/traffic/inspector_reader.hpp"
#include "core/text/format_text.hpp"
#include "runtime/log.hpp"

namespace loom {
namespace {

constexpr std::string_view kNodeMark = "{node}";

/// Where the training processes of this node dump. Errors: invalid_argument (many nodes, and no place for the node's name).
Result<std::string> inspector_folder(const std::string& pattern, const Node& node, std::size_t nodes) {
  const std::size_t mark = pattern.find(kNodeMark);
  if (!pattern.empty() && mark == std::string::npos && nodes > 1) {
    return fail(ErrorCode::invalid_argument, format_text("--inspector-dir {}: this process hosts {} nodes, so the name of the "
                                                         "node must be in it; nearest: --inspector-dir {}/{{node}}",
                                                         pattern, nodes, pattern));
  }
  std::string folder = pattern;
  return mark == std::string::npos ? folder : folder.replace(mark, kNodeMark.size(), node.name);
}

}  // namespace

TrainingLink::TrainingLink(AsioLoop& loop, std::string inspector_folder)
    : loop_(loop), inspector_folder_(std::move(inspector_folder)) {}

Result<void> TrainingLink::listen(const std::string& folder, const std::string& node) {
  clients_.emplace(
      node, TrainingClients::Outlets{[this](TrainingReady ready) { deliver(ready); },
                                     [this](std::uint64_t client, const std::string& line) { socket_->say(client, line); }});
  auto socket = TrainingSocket::open(
      loop_.context(), format_text("{}/{}.sock", folder, node),
      {[this](std::uint64_t client) { clients_->joined(client); }, [this](std::uint64_t client) { clients_->left(client); },
       [this](std::uint64_t client, std::string_view line) { clients_->heard(client, line); }});
  if (!socket) {
    return std::unexpected(std::move(socket).error());
  }
  socket_ = *std::move(socket);
  return {};
}

void TrainingLink::stand_in(const TrainingHabits& habits, Random random) {
  process_.emplace(loop_, habits, random, [this](TrainingReady ready) { deliver(ready); });
}

void TrainingLink::begin(Host& host) {
  host_ = &host;
  if (inspector_folder_.empty()) {
    return;
  }
  auto reader = std::make_shared<InspectorReader>();
  InspectorSink sink{
      [reader](std::uint64_t file, std::string_view bytes, bool restarted) { reader->read(file, bytes, restarted); },
      [reader](std::uint64_t file) { reader->forget(file); }, [reader] { return reader->take(); }};
  feed_.emplace(InspectorFeedOptions{inspector_folder_}, std::move(sink),
                [this, post = loop_.poster()](TrafficReported reported) {
                  post([this, reported = std::move(reported)] {
                    if (reported.refused > 0) {
                      log_warning(format_text("traffic: {} lines refused, the last: {}", reported.refused, reported.fault));
                    }
                    deliver(TrafficReceived{reported});
                  });
                });
}

void TrainingLink::tell(const TrainingWord& word) {
  if (clients_) {
    clients_->tell(word, loop_.wall_offset());
  } else if (process_) {
    process_->hear(word);
  }
}

void TrainingLink::add_to(TrainingCounters& sum) const {
  if (clients_) {
    sum.lines.lines += clients_->counters().lines;
    sum.lines.refused += clients_->counters().refused;
    sum.lines.old += clients_->counters().old;
    sum.sockets.clients += socket_->counters().clients;
    sum.sockets.dropped += socket_->counters().dropped;
  }
}

void TrainingLink::deliver(const Event& event) {
  if (host_ != nullptr) {
    host_->deliver(event);
  }
}

Result<std::vector<std::unique_ptr<TrainingLink>>> open_training(const TrainingFolders& folders, AsioLoop& loop,
                                                                 const Scenario& scenario, const std::vector<NodeId>& nodes) {
  std::vector<std::unique_ptr<TrainingLink>> links;
  for (const NodeId id : nodes) {
    const Node& node = scenario.fabric->nodes[id.value];
    auto dumps = inspector_folder(folders.inspector, node, nodes.size());
    if (!dumps) {
      return std::unexpected(std::move(dumps).error());
    }
    links.push_back(std::make_unique<TrainingLink>(loop, *std::move(dumps)));
    if (folders.sockets.empty()) {
      links.back()->stand_in(scenario.training, Random::of_part(scenario.seed, id.value));
    } else {
      LOOM_TRY(links.back()->listen(folders.sockets, node.name));
    }
  }
  return links;
}

}  // namespace loom
