// SPDX-License-Identifier: Apache-2.0
// Authenticator: the ZAP handler (ZeroMQ RFC 27) of one context, on a thread of its own. It answers one question: is this CURVE
// key in the keyring? What the key may do is asked on the loop's thread, from the User-Id (the key in Z85) that every message
// then carries.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "core/result.hpp"

namespace loom {

inline constexpr const char* kZapDomain = "lightloom";

/// What an operator whose machine it is can do about a key that is not let in.
inline constexpr const char* kKeyRemedy =
    "if it is ours, `loom keys grant NAME --key KEY --role ROLE`; a key file of another lab: remove it, run `loom keys "
    "generate SCENARIO` and start its process again";

class Authenticator {
 public:
  /// Called on the handler's thread for every peer that is turned away.
  using Reject = std::function<void(const std::string& address, const std::string& public_key)>;

  /// Binds before it returns, so that no peer of `context` gets past it. Errors: internal.
  static Result<std::unique_ptr<Authenticator>> start(zmq::context_t& context, std::set<std::string> public_keys,
                                                      Reject reject);
  /// Precondition: the context was shut down, which is what ends the thread.
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  /// Any thread. Peers that are connected already stay; the transport asks the keyring about each of their messages.
  void replace_keys(std::set<std::string> public_keys);

 private:
  Authenticator(zmq::socket_t socket, std::set<std::string> public_keys, Reject reject);
  void serve();
  bool is_known(const std::string& public_key);

  zmq::socket_t socket_;
  std::mutex mutex_;
  std::set<std::string> public_keys_;
  Reject reject_;
  std::thread thread_;
};

}  // namespace loom
