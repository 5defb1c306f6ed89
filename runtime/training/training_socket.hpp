// SPDX-License-Identifier: Apache-2.0
// TrainingSocket: the socket of this host's file system by which the training processes of a node reach its agent. It carries
// lines and knows nothing of what they mean. Everything runs on the loop's thread.
#pragma once

#include <asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace loom {

/// Called by the socket, never from inside a call of its own.
struct TrainingListener {
  std::function<void(std::uint64_t client)> joined;
  std::function<void(std::uint64_t client)> left;
  std::function<void(std::uint64_t client, std::string_view line)> heard;
};

struct TrainingSocketCounters {
  std::uint64_t clients = 0;  ///< that came
  std::uint64_t dropped = 0;  ///< for a line that is too long, for not reading what they are told, or as one too many
};

class TrainingSocket {
 public:
  /// Takes the place of a socket that nobody serves any more. Errors: invalid_argument (the path is longer than such an address
  /// may be), conflict (somebody serves it, or it is no socket), storage (it cannot be made).
  static Result<std::unique_ptr<TrainingSocket>> open(asio::io_context& context, const std::string& path,
                                                      TrainingListener listener);
  /// Nobody is told of clients that are still there; the path is removed.
  ~TrainingSocket();
  TrainingSocket(const TrainingSocket&) = delete;
  TrainingSocket& operator=(const TrainingSocket&) = delete;

  /// An unknown client: nothing. `line` without its end.
  void say(std::uint64_t client, const std::string& line);
  TrainingSocketCounters counters() const;

 private:
  class Core;
  explicit TrainingSocket(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;  ///< shared with what is under way, which does nothing once the socket is gone
};

}  // namespace loom
