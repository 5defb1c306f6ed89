// SPDX-License-Identifier: Apache-2.0
// From `keys revoke` to the refusal of that key: a viewer asks without a pause while its key is granted and revoked again and
// again by what the command itself does to the keyring file. Timed from the beginning of the write (draft, fsync, rename) until
// the daemon has ended the viewer's connection; what it answers after the write is over is counted. Works on a lab that runs:
// `loom lab up` of a small soft scenario, then this with its state folder.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "proto/codec.hpp"
#include "runtime/state/state_folder.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/keys/keyring.hpp"
#include "runtime/zmq/operator_client.hpp"

namespace {

using namespace loom;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr auto kPatience = std::chrono::seconds{10};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "keys_revoke: %s\n", why.c_str());
  std::exit(2);
}

/// The viewer: asks for the status, one question at a time, and notes when it was answered last.
class Viewer {
 public:
  Viewer(const StateFolder& files, const KeyPair& keys) : socket_(context_, zmq::socket_type::dealer) {
    const auto address = files.read_address();
    const auto controller = load_public_key(files.controller_key() + ".pub");
    if (!address || !controller) {
      give_up("no lab runs in " + files.folder());
    }
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::immediate, true);
    socket_.set(zmq::sockopt::reconnect_ivl, 1);
    socket_.set(zmq::sockopt::curve_serverkey, *controller);
    socket_.set(zmq::sockopt::curve_publickey, keys.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, keys.secret_key);
    socket_.connect(*address);
  }
  /// True: answered. False: nothing came back within `patience`, or the connection is gone.
  bool ask(std::chrono::milliseconds patience) {
    Envelope envelope;
    OperatorRequest request;
    request.request = {++last_};
    request.ask = Query{Noun::status, {}};
    envelope.body = std::move(request);
    Batch batch;
    batch.add(encode(envelope));
    if (!can_send() || !socket_.send(zmq::buffer(batch.bytes()), zmq::send_flags::dontwait)) {
      return false;
    }
    const auto deadline = Clock::now() + patience;
    zmq::message_t frame;
    while (Clock::now() < deadline) {
      zmq_pollitem_t in{socket_.handle(), 0, ZMQ_POLLIN, 0};
      if (zmq_poll(&in, 1, 0) > 0) {
        return socket_.recv(frame, zmq::recv_flags::dontwait).has_value();
      }
      if (!can_send()) {
        return false;
      }
    }
    return false;
  }
  /// Within `patience`.
  bool can_send(std::chrono::milliseconds patience = {}) {
    zmq_pollitem_t out{socket_.handle(), 0, ZMQ_POLLOUT, 0};
    return zmq_poll(&out, 1, patience.count()) > 0;
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::uint64_t last_ = 0;
};

/// One round, from the beginning of the write.
struct Round {
  Milliseconds written{};   ///< the file stands and is synced
  Milliseconds refused{};   ///< the viewer's connection is gone
  std::size_t answers = 0;  ///< that came after `written`
};

Round revoke_once(const StateFolder& files, const KeyPair& keys) {
  if (const auto granted = grant(files.keyring(), {keys.public_key, Role::viewer, "bench-viewer", {}}); !granted) {
    give_up(granted.error().message);
  }
  const auto deadline = Clock::now() + kPatience;
  auto dialled = std::make_unique<Viewer>(files, keys);
  while (!dialled->can_send(std::chrono::milliseconds{500}) || !dialled->ask(std::chrono::milliseconds{500})) {
    if (Clock::now() > deadline) {
      give_up("the controller does not let the granted key in");
    }
    dialled = std::make_unique<Viewer>(files, keys);  // the library does not dial again where its key was refused
  }
  Viewer& viewer = *dialled;
  std::atomic<Clock::time_point> begun{};
  std::atomic<Clock::time_point> written{};
  std::jthread command([&] {
    begun = Clock::now();
    if (const auto revoked = revoke(files.keyring(), keys.public_key); !revoked) {
      give_up(revoked.error().message);
    }
    written = Clock::now();
  });
  Round round;
  while (viewer.can_send()) {
    const bool is_answered = viewer.ask(std::chrono::milliseconds{500});
    const Clock::time_point over = written;
    round.answers += is_answered && over != Clock::time_point{} && Clock::now() > over ? 1 : 0;
    if (over != Clock::time_point{} && Clock::now() > over + kPatience) {
      give_up("a revoked key is answered still");
    }
  }
  const auto gone = Clock::now();
  command.join();
  round.refused = gone - begun.load();
  round.written = written.load() - begun.load();
  return round;
}

}  // namespace

int main(int argc, char** argv) {
  const StateFolder files(argc > 1 ? argv[1] : "run/lab");
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 50;
  const KeyPair keys = make_keys();
  std::vector<double> refused;
  std::vector<double> written;
  std::size_t answers = 0;
  for (int i = 0; i < rounds; ++i) {
    const Round round = revoke_once(files, keys);
    refused.push_back(round.refused.count());
    written.push_back(round.written.count());
    answers += round.answers;
  }
  std::sort(refused.begin(), refused.end());
  std::sort(written.begin(), written.end());
  std::printf("rounds         %d, a viewer that asks without a pause\n", rounds);
  std::printf("write          p50 %.2f ms, max %.2f ms (draft, fsync, rename, fsync)\n", written[written.size() / 2],
              written.back());
  std::printf("refused after  p50 %.2f ms, max %.2f ms from the beginning of the write\n", refused[refused.size() / 2],
              refused.back());
  std::printf("answered       %zu times after the write was over\n", answers);
  return 0;
}
