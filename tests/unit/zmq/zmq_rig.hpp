// SPDX-License-Identifier: Apache-2.0
// A controller's transport and whatever connects to it, on one io_context, over real sockets and with a clock of the test's
// own.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/codec.hpp"
#include "runtime/zmq/agent_transport.hpp"
#include "runtime/zmq/controller_transport.hpp"
#include "tests/skip.hpp"

namespace loom::test {

/// A private directory that goes away with its test.
struct PrivateFolder {
  std::filesystem::path path;
  PrivateFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "loom.XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~PrivateFolder() { std::filesystem::remove_all(path); }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
};

/// False: the kernel has no loopback of IPv6, and the test is skipped.
inline bool has_ipv6() {
  asio::io_context io;
  asio::error_code error;
  asio::ip::tcp::acceptor acceptor(io);
  acceptor.open(asio::ip::tcp::v6(), error);
  if (!error) {
    acceptor.bind({asio::ip::address_v6::loopback(), 0}, error);
  }
  if (error) {
    testing::skip("this kernel has no IPv6: " + error.message());
  }
  return !error;
}

struct Received {
  Peer from;
  std::string principal;
  Role role = Role::viewer;
  Envelope envelope;
};

inline std::string heartbeat(NodeId node, std::uint64_t number) {
  Envelope envelope;
  envelope.node = node;
  envelope.body = Heartbeat{{number}, {}, false};
  return encode(envelope);
}

inline std::uint64_t number_of(const Envelope& envelope) { return std::get<Heartbeat>(envelope.body).applied.value; }

class Rig {
 public:
  asio::io_context io;
  Instant now = instant_from_ns(1'000'000'000);
  KeyPair controller_keys = make_keys();
  Keyring keyring;
  std::unique_ptr<ControllerTransport> controller;
  std::vector<Received> received;
  std::vector<MessageRefused> refused;

  KeyPair known(Role role, std::string principal, std::vector<NodeRange> nodes = {}) {
    KeyPair keys = make_keys();
    REQUIRE(keyring.add({keys.public_key, role, std::move(principal), std::move(nodes)}).has_value());
    return keys;
  }

  void listen(const std::string& endpoint = "tcp://127.0.0.1:*", std::size_t frame_bytes_max = limits::kBatchBytes) {
    ControllerTransportOptions options;
    options.endpoints = {endpoint};
    options.keys = controller_keys;
    options.keyring = keyring;
    options.now = [this] { return now; };
    options.frame_bytes_max = frame_bytes_max;
    auto bound = ControllerTransport::bind(io, std::move(options));
    INFO((bound ? "" : bound.error().message));
    REQUIRE(bound.has_value());
    controller = std::move(*bound);
    controller->on_receive([this](Peer from, std::string_view principal, Role role, std::string_view bytes) {
      auto envelope = decode_envelope(bytes);
      REQUIRE(envelope.has_value());
      received.push_back({from, std::string{principal}, role, std::move(*envelope)});
    });
    controller->on_refuse([this](const MessageRefused& one) { refused.push_back(one); });
  }

  std::string endpoint() const { return controller->endpoints().front(); }

  std::unique_ptr<AgentTransport> agents(const KeyPair& keys, Connections connections = Connections::shared) {
    auto connected = AgentTransport::connect(io, {endpoint(), controller_keys.public_key, keys, connections});
    REQUIRE(connected.has_value());
    return std::move(*connected);
  }

  /// Runs the loop until `is_done`; false after 20 s.
  template <class Condition>
  bool run_until(Condition is_done) {
    return run_for(std::chrono::seconds{20}, is_done);
  }
  template <class Condition>
  bool run_for(std::chrono::milliseconds patience, Condition is_done) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    io.restart();
    while (!is_done()) {
      if (std::chrono::steady_clock::now() >= deadline) {
        return false;
      }
      io.run_one_until(std::min(deadline, std::chrono::steady_clock::now() + std::chrono::milliseconds{5}));
      io.restart();
    }
    return true;
  }

  /// Speaks as `node`, again and again as agents do, until the controller has heard that node or has told of a refusal.
  bool speak_until(MessageSeam& port, NodeId node, std::uint64_t number) {
    const auto received_before = static_cast<std::ptrdiff_t>(received.size());
    const std::size_t refused_before = refused.size();
    const auto is_received = [&] {
      return std::any_of(received.begin() + received_before, received.end(),
                         [&](const Received& one) { return one.envelope.node == node && number_of(one.envelope) == number; });
    };
    auto last = std::chrono::steady_clock::time_point{};
    const bool is_answered = run_until([&] {
      if (std::chrono::steady_clock::now() - last > std::chrono::milliseconds{20}) {
        last = std::chrono::steady_clock::now();
        port.send(controller_peer(), heartbeat(node, number));
      }
      return is_received() || refused.size() > refused_before;
    });
    return is_answered && is_received();
  }
};

}  // namespace loom::test
