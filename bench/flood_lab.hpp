// SPDX-License-Identifier: Apache-2.0
// FloodLab: a real controller behind real ZeroMQ and CURVE, agents that only greet and send heartbeats, an operator who asks
// for the status again and again, and a viewer who floods. Threads stand for processes; each has a context and a loop of its
// own. For bench/viewer_flood and for a test of it.
#pragma once

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/control/controller.hpp"
#include "proto/codec.hpp"
#include "runtime/clock.hpp"
#include "runtime/host.hpp"
#include "runtime/loop.hpp"
#include "runtime/zmq/agent_transport.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/controller_transport.hpp"
#include "runtime/zmq/operator_client.hpp"

namespace loom::flood {

using Clock = std::chrono::steady_clock;

struct Options {
  std::uint32_t nodes = 512;
  std::uint32_t processes = 2;
  ControllerTimings timings{};
  std::uint64_t queries = 20'000;       ///< of the viewer, each in a frame of its own
  std::uint64_t frame_queries = 4'000;  ///< of the viewer, in one frame
  Noun noun = Noun::devices;
};

/// Milliseconds.
struct Quantiles {
  double p50 = 0;
  double p99 = 0;
  double max = 0;
  std::size_t count = 0;
};

inline Quantiles quantiles_of(std::vector<Duration> values) {
  if (values.empty()) {
    return {};
  }
  std::sort(values.begin(), values.end());
  const auto at = [&](std::size_t hundredths) { return milliseconds_of(values[(values.size() - 1) * hundredths / 100]); };
  return {at(50), at(99), milliseconds_of(values.back()), values.size()};
}

/// What the controller and the operator saw for a while.
struct Figures {
  Quantiles heartbeats;  ///< between two of one node, as the controller sees them
  Quantiles operators;   ///< from question to answer
  std::uint64_t operator_failures = 0;
  std::uint64_t viewer_handled = 0;  ///< queries of the viewer that reached the step machine
};

/// Rows that are durable at once.
class MemoryStorage final : public StorageSeam {
 public:
  explicit MemoryStorage(AsioLoop& loop) : loop_(loop) {}
  Result<Loaded> load(const TakeRow&) override { return Loaded{}; }
  void append(std::string, RowKind, std::function<void(Result<void>)> done) override {
    loop_.post([done = std::move(done)] { done({}); });
  }

 private:
  AsioLoop& loop_;
};

/// The controller on a thread of its own.
class ControllerThread {
 public:
  ControllerThread(const Options& options, KeyPair keys, Keyring keyring) : options_(options) {
    const auto listening = std::make_shared<std::promise<std::string>>();
    auto endpoint = listening->get_future();
    thread_ = std::thread([this, keys = std::move(keys), keyring = std::move(keyring), listening]() mutable {
      run(std::move(keys), std::move(keyring), *listening);
    });
    endpoint_ = endpoint.get();
  }
  ~ControllerThread() {
    loop_->stop();
    thread_.join();
  }
  ControllerThread(const ControllerThread&) = delete;
  ControllerThread& operator=(const ControllerThread&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  /// What was seen since the last call.
  Figures take() {
    return on_loop<Figures>([this] {
      Figures figures;
      figures.heartbeats = quantiles_of(std::exchange(intervals_, {}));
      figures.viewer_handled = std::exchange(viewer_handled_, 0);
      return figures;
    });
  }
  std::uint32_t present() {
    return on_loop<std::uint32_t>([this] { return controller_->present_agents(); });
  }
  std::uint64_t lost() {
    return on_loop<std::uint64_t>([this] { return lost_; });
  }
  ControllerTransportCounters counters() {
    return on_loop<ControllerTransportCounters>([this] { return transport_->counters(); });
  }

 private:
  template <class Value, class Ask>
  Value on_loop(Ask ask) {
    const auto answer = std::make_shared<std::promise<Value>>();
    auto value = answer->get_future();
    loop_->post([answer, ask] { answer->set_value(ask()); });
    return value.get();
  }

  void run(KeyPair keys, Keyring keyring, std::promise<std::string>& listening) {
    loop_ = std::move(*AsioLoop::open());
    ControllerTransportOptions transport;
    transport.endpoints = {"tcp://127.0.0.1:*"};
    transport.keys = std::move(keys);
    transport.keyring = std::move(keyring);
    transport.now = [this] { return loop_->now(); };
    transport_ = std::move(*ControllerTransport::bind(loop_->context(), std::move(transport)));
    OddlParameters parameters;
    parameters.nodes = options_.nodes;
    parameters.group_size = std::min(options_.nodes, parameters.group_size);
    controller_ = std::make_unique<Controller>(ControllerOptions{
        std::make_shared<const Fabric>(make_oddl(parameters)), "oddl", options_.timings, {}, {}, encoded_bytes});
    received_.assign(options_.nodes, Instant{});
    MemoryStorage storage(*loop_);
    HostSeams seams;
    seams.time = loop_.get();
    seams.messages = transport_.get();
    seams.storage = &storage;
    seams.alarm = [this](const Alarm& alarm) { lost_ += alarm.code == AlarmCode::agent_dead ? 1 : 0; };
    Host host({controller_peer(), Role::controller, "controller"}, std::move(seams),
              [this](Instant now, const Event& event, EffectSink& sink) {
                measure(now, event);
                controller_->step(now, event, sink);
              });
    (void)host.start(1);
    listening.set_value(transport_->endpoints().front());
    loop_->run();
    transport_.reset();
  }

  void measure(Instant now, const Event& event) {
    const auto* message = std::get_if<MessageArrived>(&event);
    if (message == nullptr) {
      return;
    }
    if (std::holds_alternative<Heartbeat>(message->envelope.body)) {
      Instant& received = received_[message->envelope.node.value];
      if (received != Instant{}) {
        intervals_.push_back(now - received);
      }
      received = now;
    }
    viewer_handled_ += message->envelope.role == Role::viewer ? 1 : 0;
  }

  Options options_;
  std::unique_ptr<AsioLoop> loop_;
  std::unique_ptr<ControllerTransport> transport_;
  std::unique_ptr<Controller> controller_;
  std::vector<Instant> received_;
  std::vector<Duration> intervals_;
  std::uint64_t viewer_handled_ = 0;
  std::uint64_t lost_ = 0;
  std::string endpoint_;
  std::thread thread_;
};

/// Agents of some nodes: a hello each, again until all are welcomed, then heartbeats for ever.
class AgentsThread {
 public:
  struct Place {
    std::string endpoint;
    std::string controller_key;
    KeyPair keys;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    Duration interval{};
  };
  explicit AgentsThread(Place place) : place_(std::move(place)), timer_(io_) {
    thread_ = std::thread([this] { run(); });
  }
  ~AgentsThread() {
    io_.stop();
    thread_.join();
  }
  AgentsThread(const AgentsThread&) = delete;
  AgentsThread& operator=(const AgentsThread&) = delete;

 private:
  void run() {
    auto transport = std::move(
        *AgentTransport::connect(io_, {place_.endpoint, place_.controller_key, place_.keys, Connections::shared, {}}));
    welcomed_.assign(place_.end - place_.first, false);
    for (std::uint32_t node = place_.first; node < place_.end; ++node) {
      ports_.push_back(*transport->port({node}));
      ports_.back()->on_receive([this, node](Peer, std::string_view, Role, std::string_view bytes) {
        const auto envelope = decode_envelope(bytes);
        if (envelope && std::holds_alternative<Welcome>(envelope->body)) {
          welcomed_[node - place_.first] = true;
        }
      });
    }
    next_ = Clock::now();
    tick();
    io_.run();
  }
  void tick() {
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
      Envelope envelope;
      envelope.node = {place_.first + i};
      envelope.clock = clock_;
      envelope.body = welcomed_[i] ? Body(Heartbeat{}) : Body(Hello{"flood", 1 + i, {}, {}, false, {}});
      ports_[i]->send(controller_peer(), encode(envelope));
    }
    next_ += std::chrono::duration_cast<Clock::duration>(place_.interval);
    timer_.expires_at(next_);
    timer_.async_wait([this](asio::error_code error) {
      if (!error) {
        tick();
      }
    });
  }

  Place place_;
  ClockId clock_ = *boot_clock();  ///< the controller's too: one kernel
  asio::io_context io_{1};
  asio::steady_timer timer_;
  std::vector<MessageSeam*> ports_;
  std::vector<bool> welcomed_;
  Clock::time_point next_{};
  std::thread thread_;
};

/// One who asks as fast as a socket takes it, and reads what comes back.
class Viewer {
 public:
  Viewer(const std::string& endpoint, const std::string& controller_key, const KeyPair& keys)
      : socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::curve_serverkey, controller_key);
    socket_.set(zmq::sockopt::curve_publickey, keys.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, keys.secret_key);
    socket_.connect(endpoint);
  }
  void ask(std::uint64_t queries, Noun noun) {
    for (std::uint64_t i = 0; i < queries; ++i) {
      Batch batch;
      batch.add(query(noun));
      socket_.send(zmq::buffer(batch.bytes()), zmq::send_flags::none);
      read();
    }
  }
  void ask_at_once(std::uint64_t queries, Noun noun) {
    Batch batch;
    for (std::uint64_t i = 0; i < queries; ++i) {
      batch.add(query(noun));
    }
    socket_.send(zmq::buffer(batch.bytes()), zmq::send_flags::none);
  }
  void read() {
    for (zmq::message_t frame; socket_.recv(frame, zmq::recv_flags::dontwait);) {
      const auto envelopes = split_batch({frame.data<char>(), frame.size()});
      for (std::size_t i = 0; envelopes && i < envelopes->size(); ++i) {
        const auto envelope = decode_envelope((*envelopes)[i]);
        const auto* reply = envelope ? std::get_if<OperatorReply>(&envelope->body) : nullptr;
        answered += reply != nullptr && reply->outcome.ok() ? 1 : 0;
        busy += reply != nullptr && !reply->outcome.ok() ? 1 : 0;
      }
    }
  }
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  std::uint64_t busy = 0;

 private:
  std::string query(Noun noun) {
    Envelope envelope;
    envelope.role = Role::viewer;
    envelope.body = OperatorRequest{RequestId{++asked}, Query{noun, {}}};
    return encode(envelope);
  }
  zmq::context_t context_;
  zmq::socket_t socket_;
};

/// All of them together.
class Lab {
 public:
  explicit Lab(const Options& options) : options_(options) {
    const std::uint32_t each = (options.nodes + options.processes - 1) / options.processes;
    Keyring keyring;
    std::vector<KeyPair> agents;
    for (std::uint32_t i = 0; i < options.processes; ++i) {
      agents.push_back(make_keys());
      const std::uint32_t end = std::min(options.nodes, (i + 1) * each);
      (void)keyring.add(
          {agents.back().public_key, Role::agent, "agents-" + std::to_string(i), {{NodeId{i * each}, NodeId{end - 1}}}});
    }
    (void)keyring.add({operator_.public_key, Role::operator_, "grace", {}});
    (void)keyring.add({viewer_.public_key, Role::viewer, "eve", {}});
    controller = std::make_unique<ControllerThread>(options, controller_, keyring);
    for (std::uint32_t i = 0; i < options.processes; ++i) {
      agents_.push_back(std::make_unique<AgentsThread>(
          AgentsThread::Place{controller->endpoint(), controller_.public_key, agents[i], i * each,
                              std::min(options.nodes, (i + 1) * each), options.timings.beat_interval}));
    }
    viewer = std::make_unique<Viewer>(controller->endpoint(), controller_.public_key, viewer_);
  }

  /// False: not within 20 s.
  bool wait_for_agents() {
    for (const auto end = Clock::now() + std::chrono::seconds{20}; Clock::now() < end;) {
      if (controller->present() == options_.nodes) {
        return true;
      }
      std::this_thread::yield();
    }
    return false;
  }

  /// An operator asks for the status every 20 ms while `work` goes on.
  template <class Work>
  Figures watch(Work work) {
    controller->take();
    std::atomic<bool> is_over = false;
    std::vector<Duration> latencies;
    std::uint64_t failures = 0;
    std::thread asking([&] {
      auto client =
          OperatorClient::connect({controller->endpoint(), controller_.public_key, operator_, std::chrono::seconds{10}});
      auto next = Clock::now();
      while (client && !is_over) {
        OperatorRequest request;
        request.ask = Query{Noun::status, {}};
        const auto begin = Clock::now();
        const auto reply = client->ask(std::move(request), std::chrono::seconds{20});
        latencies.push_back(Clock::now() - begin);
        failures += reply && reply->outcome.ok() ? 0 : 1;
        next = std::max(next + std::chrono::milliseconds{20}, Clock::now());
        std::this_thread::sleep_until(next);
      }
      failures += client ? 0 : 1;
    });
    work();
    is_over = true;
    asking.join();
    Figures figures = controller->take();
    figures.operators = quantiles_of(std::move(latencies));
    figures.operator_failures = failures;
    return figures;
  }

  std::unique_ptr<ControllerThread> controller;
  std::unique_ptr<Viewer> viewer;

 private:
  Options options_;
  KeyPair controller_ = make_keys();
  KeyPair operator_ = make_keys();
  KeyPair viewer_ = make_keys();
  std::vector<std::unique_ptr<AgentsThread>> agents_;
};

}  // namespace loom::flood
