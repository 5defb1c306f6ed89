// SPDX-License-Identifier: Apache-2.0
// The floor of the control plane: what raw ZeroMQ with CURVE needs to send B bytes to each of N peers and collect an
// acknowledgement from each, with nothing of ours in between. Peers live in a process of their own, each with a connection
// of its own, or share a few connections as hosted agents do (then one message a connection carries everybody's bytes).
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include <zmq.hpp>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int peers = 1024;
  int connections = 1024;
  int bytes_out = 256;
  int bytes_back = 8;
  int rounds = 50;
  std::string endpoint = "tcp://127.0.0.1:*";
};

struct KeyPair {
  char open[41];
  char secret[41];
};

/// Peers: every message is answered with as many acknowledgements as there are peers behind the connection.
int serve(const Options& options, const std::string& endpoint, const KeyPair& server, const KeyPair& own) {
  zmq::context_t context(1);
  context.set(zmq::ctxopt::max_sockets, options.connections + 16);
  std::vector<zmq::socket_t> sockets;
  std::vector<zmq::pollitem_t> items;
  for (int i = 0; i < options.connections; ++i) {
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::curve_serverkey, server.open);
    socket.set(zmq::sockopt::curve_publickey, own.open);
    socket.set(zmq::sockopt::curve_secretkey, own.secret);
    socket.set(zmq::sockopt::linger, 0);
    socket.connect(endpoint);
    socket.send(zmq::str_buffer("hello"), zmq::send_flags::none);
    sockets.push_back(std::move(socket));
  }
  for (auto& socket : sockets) {
    items.push_back({socket.handle(), 0, ZMQ_POLLIN, 0});
  }
  const int peers_each = options.peers / options.connections;
  const std::string ack(static_cast<std::size_t>(options.bytes_back * peers_each), 'a');
  while (true) {
    zmq::poll(items);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if ((items[i].revents & ZMQ_POLLIN) == 0) {
        continue;
      }
      zmq::message_t message;
      while (sockets[i].recv(message, zmq::recv_flags::dontwait)) {
        if (message.size() == 3) {
          return 0;
        }
        sockets[i].send(zmq::buffer(ack), zmq::send_flags::none);
      }
    }
  }
}

double milliseconds(Clock::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

double at(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * share)];
}

void measure(const Options& options, zmq::socket_t& router) {
  std::vector<std::string> ids;
  zmq::message_t id;
  zmq::message_t body;
  while (static_cast<int>(ids.size()) < options.connections) {
    (void)router.recv(id);
    (void)router.recv(body);
    ids.push_back(id.to_string());
  }
  const int peers_each = options.peers / options.connections;
  const std::string payload(static_cast<std::size_t>(options.bytes_out * peers_each), 'p');
  std::vector<double> acks;
  std::vector<double> last;
  for (int round = 0; round < options.rounds; ++round) {
    const auto begin = Clock::now();
    for (const std::string& peer : ids) {
      router.send(zmq::buffer(peer), zmq::send_flags::sndmore);
      router.send(zmq::buffer(payload), zmq::send_flags::none);
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      (void)router.recv(id);
      (void)router.recv(body);
      acks.push_back(milliseconds(Clock::now() - begin));
    }
    last.push_back(acks.back());
  }
  for (const std::string& peer : ids) {
    router.send(zmq::buffer(peer), zmq::send_flags::sndmore);
    router.send(zmq::str_buffer("end"), zmq::send_flags::none);
  }
  std::printf(
      "{\"peers\": %d, \"connections\": %d, \"bytes_out\": %d, \"bytes_back\": %d, \"ack_p50_ms\": %.3f, \"ack_p99_ms\": %.3f, "
      "\"all_p50_ms\": %.3f, \"all_p99_ms\": %.3f}\n",
      options.peers, options.connections, options.bytes_out, options.bytes_back, at(acks, 0.5), at(acks, 0.99), at(last, 0.5),
      at(last, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Raw ZeroMQ fan-out with CURVE: the floor that the control plane is measured against"};
  app.add_option("--peers", options.peers)->capture_default_str();
  app.add_option("--connections", options.connections, "fewer than peers: hosted, one message a connection")
      ->capture_default_str();
  app.add_option("--bytes-out", options.bytes_out)->capture_default_str();
  app.add_option("--bytes-back", options.bytes_back)->capture_default_str();
  app.add_option("--rounds", options.rounds)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  rlimit files{65'536, 65'536};
  (void)setrlimit(RLIMIT_NOFILE, &files);
  KeyPair server{};
  KeyPair peer{};
  zmq_curve_keypair(server.open, server.secret);
  zmq_curve_keypair(peer.open, peer.secret);
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) {
    return 1;
  }
  const pid_t child = fork();
  if (child == 0) {
    char endpoint[256] = {};
    (void)!read(pipe_ends[0], endpoint, sizeof endpoint - 1);
    return serve(options, endpoint, server, peer);
  }
  zmq::context_t context(1);
  zmq::socket_t router(context, zmq::socket_type::router);
  router.set(zmq::sockopt::curve_server, 1);
  router.set(zmq::sockopt::curve_secretkey, server.secret);
  router.set(zmq::sockopt::backlog, 2048);
  router.set(zmq::sockopt::linger, 1000);
  router.bind(options.endpoint);
  const std::string bound = router.get(zmq::sockopt::last_endpoint);
  (void)!write(pipe_ends[1], bound.c_str(), bound.size());
  measure(options, router);
  waitpid(child, nullptr, 0);
  return 0;
}
