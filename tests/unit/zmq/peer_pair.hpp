// SPDX-License-Identifier: Apache-2.0
// Two processes of two nodes each, as their links see it: on one loop, over real sockets, with keys that know each other.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/zmq/peer/peer_links.hpp"
#include "tests/run_until.hpp"
#include "tests/unit/zmq/zmq_rig.hpp"

namespace loom::test {

/// Both ways that a link between two processes can go.
inline std::array<std::optional<ClockId>, 2> either_transport() {
  const bool is_shared = GENERATE(false, true);
  return is_shared ? std::array{std::optional(ClockId{7}), std::optional(ClockId{7})} : std::array<std::optional<ClockId>, 2>{};
}

/// What a controller's transport would be; nothing is ever said to it here.
struct Nobody final : MessageSeam {
  void on_receive(Receive receive) override { receives = receive != nullptr; }
  void on_refuse(Refuse) override {}
  void send(Peer, std::string_view) override { ++sent; }
  bool receives = false;
  int sent = 0;
};

inline std::string grant_request(NodeId from, NodeId to, std::uint64_t number) {
  Envelope envelope;
  envelope.node = from;
  envelope.clock = ClockId{9};
  envelope.revision = Revision{4};
  envelope.body = GrantPlaneMessage{StreamRequest{{JobId{1}, 1, from, to}, 1, number, Bytes{1000}, instant_from_ns(1)}};
  return encode(envelope);
}

/// Two processes of two nodes each on one loop.
class PeerPair {
 public:
  /// `kernel`: of each process's host; two that have the same one may share memory.
  explicit PeerPair(std::array<std::optional<ClockId>, 2> kernel_of = {}, std::string endpoint = "tcp://127.0.0.1:*")
      : kernel(kernel_of), listens_at(std::move(endpoint)) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      keys[i] = make_keys();
      REQUIRE(
          keyring.add({keys[i].public_key, Role::agent, "agents-" + std::to_string(i), {{NodeId{2 * i}, NodeId{2 * i + 1}}}}));
    }
    open(0);
    open(1);
  }
  void open(std::uint32_t process) {
    PeerLinksOptions options;
    options.process = process;
    for (std::uint32_t i = 0; i < 2; ++i) {
      options.processes.push_back(
          {{{NodeId{2 * i}, NodeId{2 * i + 1}}}, keys[i].public_key, [this, i]() -> Result<std::string> {
             if (address[i].empty()) {
               return fail(ErrorCode::unreachable, "not there yet");
             }
             return address[i];
           }});
    }
    options.keys = keys[process];
    options.keyring = keyring;
    options.kernel = kernel[process];
    options.endpoint = listens_at;
    options.reported = [this](const std::string& sentence) { reported.push_back(sentence); };
    auto opened = PeerLinks::open(io, std::move(options));
    REQUIRE(opened);
    links[process] = std::move(*opened);
    address[process] = links[process]->endpoint();
    for (std::uint32_t node = 2 * process; node < 2 * process + 2; ++node) {
      seams[node] = &links[process]->port(NodeId{node}, nobody);
      seams[node]->on_receive([this, node](Peer from, std::string_view principal, Role role, std::string_view bytes) {
        auto envelope = decode_envelope(bytes);
        REQUIRE(envelope);
        received[node].push_back({from, std::string{principal}, role, std::move(*envelope)});
      });
      seams[node]->on_refuse([this](const MessageRefused& one) { refused.push_back(one); });
    }
  }
  template <class Condition>
  bool run_until(Condition is_done, std::chrono::milliseconds patience = std::chrono::seconds{20}) {
    return test::run_until(io, is_done, patience);
  }
  /// Repeats the word, as whoever needs it does, until it is heard.
  bool deliver_until_received(NodeId from, NodeId to, std::uint64_t number) {
    return run_until([&] {
      seams[from.value]->send(agent_peer(to), grant_request(from, to, number));
      io.restart();
      io.run_for(std::chrono::milliseconds{10});
      return std::any_of(received[to.value].begin(), received[to.value].end(), [&](const Received& one) {
        const auto& word = std::get<StreamRequest>(std::get<GrantPlaneMessage>(one.envelope.body).message);
        return one.from == agent_peer(from) && one.role == Role::agent && word.number == number;
      });
    });
  }

  PeerTransport transport(std::uint32_t process) const { return links[process]->links().front().transport; }
  bool is_shared() const {
    return transport(0) == PeerTransport::shared_memory && transport(1) == PeerTransport::shared_memory;
  }
  /// Where it is to be shared.
  void await_agreement() {
    if (kernel[0] && kernel[0] == kernel[1]) {
      REQUIRE(run_until([this] { return is_shared(); }));
    }
  }

  asio::io_context io;
  std::array<std::optional<ClockId>, 2> kernel;
  std::string listens_at;
  std::vector<std::string> reported;
  Keyring keyring;
  std::array<KeyPair, 2> keys;
  std::array<std::string, 2> address;
  Nobody nobody;
  std::array<std::unique_ptr<PeerLinks>, 2> links;
  std::array<MessageSeam*, 4> seams{};
  std::array<std::vector<Received>, 4> received;
  std::vector<MessageRefused> refused;
};

}  // namespace loom::test
