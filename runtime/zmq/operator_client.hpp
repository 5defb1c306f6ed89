// OperatorClient: one question to a controller at a time, and its answer, for command lines. Blocks its caller, for at most
// the time-out; knows no loop.
#pragma once

#include <memory>
#include <string>

#include "core/message.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "runtime/zmq/keys.hpp"

namespace loom {

struct OperatorClientOptions {
  std::string endpoint;
  KeyPair keys;
  std::string controller_key;  ///< public, Z85
};

class OperatorClient {
 public:
  /// Connects in the background. Errors: unreachable (the endpoint is no address), malformed (a key).
  static Result<std::unique_ptr<OperatorClient>> connect(OperatorClientOptions options);
  ~OperatorClient();

  /// Sends, and waits for the reply to just this request. Errors: unreachable (nobody answered in time: no controller there,
  /// or it does not know our key), malformed.
  Result<OperatorReply> ask(OperatorRequest request, Duration timeout);

 private:
  struct State;
  explicit OperatorClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace loom
