// SPDX-License-Identifier: Apache-2.0
// OperatorClient: what the command-line tool asks a controller with; one request, one reply, blocking with a time-out. For
// programs without a loop.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/message.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "runtime/zmq/keys/keys.hpp"

namespace loom {

struct OperatorClientOptions {
  std::string endpoint{"tcp://127.0.0.1:7601"};
  std::string controller_key;  ///< public, Z85
  KeyPair keys;
  Duration connect_timeout = std::chrono::seconds{2};
  std::function<bool()> is_interrupted{};  ///< asked every 100 ms while it waits; true: timed_out at once. Empty: never
};

class OperatorClient {
 public:
  /// Blocks until the controller has accepted the key, at most connect_timeout. Errors: malformed (a key), unreachable (nobody
  /// there, or it does not know this key, or it has another key itself: CURVE does not say which).
  static Result<OperatorClient> connect(OperatorClientOptions options);
  OperatorClient(OperatorClient&&) noexcept;
  OperatorClient& operator=(OperatorClient&&) noexcept;
  ~OperatorClient();

  /// Numbers the request itself. Replies to earlier requests that come late are thrown away. Errors: timed_out (the order may
  /// have been carried out), invalid_argument (it holds a value that does not decode: it was not sent), unreachable (the
  /// connection is gone), malformed or wrong_version (the answer does not decode).
  Result<OperatorReply> ask(OperatorRequest request, Duration timeout);

 private:
  class Core;
  explicit OperatorClient(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace loom
