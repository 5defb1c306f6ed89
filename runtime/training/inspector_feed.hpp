// SPDX-License-Identifier: Apache-2.0
// InspectorFeed: watches the folder into which the training processes of a node dump what NCCL's Inspector tells, and hands on
// what their files have grown by. It reads on a thread of its own, so that a slow disk delays no agent; it knows nothing of
// what the bytes mean. Files that appear late, are cut, replaced or taken away are followed; what is there when it starts is
// old and is not read.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "core/time.hpp"
#include "core/traffic.hpp"

namespace loom {

/// What the bytes mean: one reader a feed, called by the feed's thread only.
struct InspectorSink {
  std::function<void(std::uint64_t file, std::string_view bytes, bool restarted)> read;
  std::function<void(std::uint64_t file)> forget;
  std::function<TrafficReported()> take;
};

struct InspectorFeedOptions {
  std::string folder;  ///< need not be there yet
  Duration interval = std::chrono::milliseconds{100};
  bool from_start = false;  ///< read also what is there at the start
};

class InspectorFeed {
 public:
  /// `reported`: called by the feed's thread after every look, also when there was nothing; its own to hand on.
  InspectorFeed(InspectorFeedOptions options, InspectorSink sink, std::function<void(TrafficReported)> reported);
  /// Waits for the look under way.
  ~InspectorFeed();
  InspectorFeed(const InspectorFeed&) = delete;
  InspectorFeed& operator=(const InspectorFeed&) = delete;

 private:
  struct File {
    std::uint64_t id = 0;     ///< ours
    std::uint64_t inode = 0;  ///< another one under the same name is another file
    std::uint64_t read = 0;   ///< bytes
    bool is_there = true;
  };

  void serve();
  void look();
  void follow(const std::string& path, std::size_t& room);
  void complain(const std::string& fault);

  InspectorFeedOptions options_;
  InspectorSink sink_;
  std::function<void(TrafficReported)> reported_;
  std::map<std::string, File> files_;
  std::uint64_t files_seen_ = 0;
  std::uint64_t complaints_ = 0;
  std::string complaint_;
  bool is_first_look_ = true;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace loom
