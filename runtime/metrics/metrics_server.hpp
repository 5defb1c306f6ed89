// SPDX-License-Identifier: Apache-2.0
// MetricsServer: GET /metrics on a loopback address. It talks HTTP on a thread of its own, so that no reader, however slow,
// delays a step; only the copying of the counters happens on the loop's thread, between two of its tasks.
#pragma once

#include <memory>
#include <string>

#include "core/result.hpp"
#include "runtime/metrics/metrics.hpp"
#include "runtime/post.hpp"

namespace loom {

class MetricsServer {
 public:
  /// `address`: "127.0.0.1:9101", "[::1]:9101", "localhost:9101"; port 0 is any free one. `metrics` and the loop behind
  /// `to_loop` outlive this. Errors: invalid_argument (no such address), refused (not loopback), unreachable (the port is
  /// taken).
  static Result<std::unique_ptr<MetricsServer>> open(const std::string& address, const Metrics& metrics, Post to_loop);
  /// The loop's thread. Answers under way are dropped.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// "http://127.0.0.1:9101/metrics", with the real port.
  const std::string& url() const { return url_; }

 private:
  class Core;
  MetricsServer(std::shared_ptr<Core> core, std::string url);
  std::shared_ptr<Core> core_;  ///< shared with answers under way
  std::string url_;
};

/// The server that an option asks for, its address in the log; null if `address` is empty. Errors: as MetricsServer::open.
Result<std::unique_ptr<MetricsServer>> serve_if_wanted(const std::string& address, const Metrics& metrics, Post to_loop,
                                                       const std::string& program);

/// One line in a file, whole or not there at all: where a server is. It goes with this, and one that an earlier process left
/// goes at once. Only for whoever holds the journal beside it.
class PublishedUrl {
 public:
  /// `server` null: nowhere. A file that cannot be written is a line in the log: metrics are served all the same.
  PublishedUrl(const MetricsServer* server, std::string file);
  ~PublishedUrl();
  PublishedUrl(const PublishedUrl&) = delete;
  PublishedUrl& operator=(const PublishedUrl&) = delete;

 private:
  std::string file_;
};

}  // namespace loom
