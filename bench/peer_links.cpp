// SPDX-License-Identifier: Apache-2.0
// From a word of one agent to the answer of another: the same PeerLinks, loop and codec as in lightloom-agent, between two
// processes of this host and within one, beside a floor of the same run: two processes that wake each other through an eventfd
// and epoll, and nothing else. One request at a time, a pause before each, as a stream's request comes to an idle agent.
// Usage: peer_links [REQUESTS] [PAUSE_US ...]; default 2000 requests, pauses of 0, 200 and 1000 us.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/format_text.hpp"
#include "proto/codec.hpp"
#include "runtime/loop.hpp"
#include "runtime/zmq/peer/peer_links.hpp"

namespace {

using namespace loom;
using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "peer_links: %s\n", why.c_str());
  std::exit(2);
}

struct Settings {
  int requests = 2'000;
  std::chrono::microseconds pause{};
};

struct Figures {
  double p50 = 0;
  double p99 = 0;
};

Figures figures_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

/// Ends with us, whatever becomes of us.
template <class Work>
pid_t start_process(Work work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    give_up("fork failed");
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    work();
    _exit(0);
  }
  return child;
}

// --- the floor -----------------------------------------------------------------------------------------------------------

int watched(int descriptor) {
  const int watch = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{EPOLLIN, {}};
  if (watch < 0 || epoll_ctl(watch, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    give_up("no epoll");
  }
  return watch;
}

void await(int watch, int descriptor) {
  epoll_event event{};
  while (epoll_wait(watch, &event, 1, -1) < 1) {
  }
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t ignored = read(descriptor, &count, sizeof count);
}

void wake(int descriptor) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(descriptor, &one, sizeof one);
}

/// A loop's way to pause: its timer, not a sleep, so that both sides lie in epoll as they do in an agent.
Figures floor_of(const Settings& settings) {
  const std::array<int, 2> ends{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  const pid_t child = start_process([&] {
    for (const int watch = watched(ends[1]);;) {
      await(watch, ends[1]);
      wake(ends[0]);
    }
  });
  const int watch = watched(ends[0]);
  const int pause = watched(ends[0]);
  std::vector<double> times;
  for (int i = 0; i < settings.requests; ++i) {
    if (settings.pause.count() > 0) {
      timespec span{0, settings.pause.count() * 1'000};
      epoll_event event{};
      epoll_pwait2(pause, &event, 1, &span, nullptr);
    }
    const auto begin = Clock::now();
    wake(ends[1]);
    await(watch, ends[0]);
    times.push_back(Microseconds{Clock::now() - begin}.count());
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (const int descriptor : {ends[0], ends[1], watch, pause}) {
    close(descriptor);
  }
  return figures_of(std::move(times));
}

// --- links ---------------------------------------------------------------------------------------------------------------

struct NoController final : MessageSeam {
  void on_receive(Receive) override {}
  void on_refuse(Refuse) override {}
  void send(Peer, std::string_view) override {}
};

std::string message_of(NodeId from, NodeId to, bool is_request, std::uint64_t number) {
  Envelope envelope;
  envelope.node = from;
  envelope.clock = ClockId{9};
  envelope.revision = Revision{4};
  const StreamId stream{JobId{1}, 1, is_request ? from : to, is_request ? to : from};
  envelope.body = is_request ? GrantPlaneMessage{StreamRequest{stream, 1, number, Bytes{1'000'000}, instant_from_ns(1)}}
                             : GrantPlaneMessage{StreamQueued{stream, 1, number, 1}};
  return encode(envelope);
}

/// What the processes of one measurement share: where each listens.
struct Board {
  std::array<std::array<char, 128>, 2> address{};
  std::array<std::atomic<bool>, 2> is_written{};
};

struct Lab {
  std::array<KeyPair, 2> keys;
  Keyring keyring;
  Board* board = nullptr;
  bool is_shared = false;  ///< links go through shared memory
};

/// One host process, as agents/main.cpp makes it: two nodes, which it hosts on one loop.
class Process {
 public:
  Process(const Lab& lab, std::uint32_t own) : own_(own) {
    auto loop = AsioLoop::open();
    if (!loop) {
      give_up(loop.error().message);
    }
    loop_ = std::move(*loop);
    PeerLinksOptions options;
    options.process = own;
    options.keys = lab.keys[own];
    options.keyring = lab.keyring;
    options.kernel = lab.is_shared ? std::optional(loop_->clock()) : std::nullopt;
    for (std::uint32_t i = 0; i < 2; ++i) {
      options.processes.push_back(
          {{{NodeId{2 * i}, NodeId{2 * i + 1}}}, lab.keys[i].public_key, [board = lab.board, i]() -> Result<std::string> {
             if (!board->is_written[i]) {
               return fail(ErrorCode::unreachable, "not there yet");
             }
             return std::string(board->address[i].data());
           }});
    }
    auto links = PeerLinks::open(loop_->context(), std::move(options));
    if (!links) {
      give_up(links.error().message);
    }
    links_ = std::move(*links);
    std::snprintf(lab.board->address[own].data(), lab.board->address[own].size(), "%s", links_->endpoint().c_str());
    lab.board->is_written[own] = true;
  }

  MessageSeam& seam(std::uint32_t node) { return links_->port(NodeId{node}, nobody_); }
  AsioLoop& loop() { return *loop_; }
  const PeerLinksCounters& counters() const { return links_->counters(); }

  /// Until the link to the other process goes that way.
  void await_link(PeerTransport transport) {
    std::function<void()> look = [&] {
      if (links_->links().front().transport == transport) {
        return loop_->stop();
      }
      loop_->call_at(loop_->now() + std::chrono::milliseconds{1}, Precision::ordinary, look);
    };
    look();
    loop_->run();
  }

  /// Answers each request that comes for `node`.
  void answer_at(std::uint32_t node) {
    MessageSeam& port = seam(node);
    port.on_receive([&port, node](Peer from, std::string_view, Role, std::string_view bytes) {
      const auto envelope = decode_envelope(bytes);
      if (!envelope) {
        give_up(envelope.error().message);
      }
      const auto& request = std::get<StreamRequest>(std::get<GrantPlaneMessage>(envelope->body).message);
      port.send(from, message_of(NodeId{node}, NodeId{static_cast<std::uint32_t>(from.id)}, false, request.number));
    });
  }

  /// Asks `to` again and again, one request at a time; a word that was lost is repeated after 20 ms, and not measured.
  Figures ask(std::uint32_t from, std::uint32_t to, const Settings& settings) {
    MessageSeam& port = seam(from);
    std::vector<double> times;
    std::uint64_t number = 0;
    Clock::time_point begin;
    const int warm = settings.requests / 10;
    std::function<void()> ask_next = [&] {
      ++number;
      begin = Clock::now();
      port.send(agent_peer(NodeId{to}), message_of(NodeId{from}, NodeId{to}, true, number));
      loop_->call_at(loop_->now() + std::chrono::milliseconds{20}, Precision::ordinary, [&, asked = number] {
        if (asked == number) {
          ask_next();
        }
      });
    };
    port.on_receive([&](Peer, std::string_view, Role, std::string_view bytes) {
      const auto envelope = decode_envelope(bytes);
      if (!envelope) {
        give_up(envelope.error().message);
      }
      if (std::get<StreamQueued>(std::get<GrantPlaneMessage>(envelope->body).message).number != number) {
        return;
      }
      times.push_back(Microseconds{Clock::now() - begin}.count());
      ++number;
      if (times.size() == static_cast<std::size_t>(settings.requests + warm)) {
        loop_->stop();
      } else if (settings.pause.count() > 0) {
        loop_->call_at(loop_->now() + settings.pause, Precision::ordinary, ask_next);
      } else {
        loop_->post(ask_next);
      }
    });
    loop_->post(ask_next);
    loop_->run();
    port.on_receive(nullptr);
    times.erase(times.begin(), times.begin() + warm);
    return figures_of(std::move(times));
  }

 private:
  std::uint32_t own_;
  NoController nobody_;
  std::unique_ptr<AsioLoop> loop_;
  std::unique_ptr<PeerLinks> links_;
};

Lab make_lab() {
  Lab lab;
  for (std::uint32_t i = 0; i < 2; ++i) {
    lab.keys[i] = make_keys();
    if (auto added = lab.keyring.add(
            {lab.keys[i].public_key, Role::agent, format_text("agents-{}", i), {{NodeId{2 * i}, NodeId{2 * i + 1}}}});
        !added) {
      give_up(added.error().message);
    }
  }
  void* shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    give_up("mmap failed");
  }
  lab.board = new (shared) Board;
  return lab;
}

/// In a process of its own, since ZeroMQ's threads do not survive a fork.
Figures in_child(const std::function<Figures()>& measure) {
  std::array<int, 2> result{};
  if (pipe(result.data()) != 0) {
    give_up("pipe failed");
  }
  const pid_t child = start_process([&] {
    const Figures figures = measure();
    if (write(result[1], &figures, sizeof figures) != sizeof figures) {
      _exit(2);
    }
  });
  close(result[1]);
  Figures figures;
  const bool is_read = read(result[0], &figures, sizeof figures) == sizeof figures;
  close(result[0]);
  waitpid(child, nullptr, 0);
  if (!is_read) {
    give_up("a measurement failed");
  }
  return figures;
}

Figures between_processes(const Settings& settings, bool is_shared) {
  Lab lab = make_lab();
  lab.is_shared = is_shared;
  const pid_t other = start_process([&] {
    Process process(lab, 1);
    process.answer_at(2);
    process.loop().run();
  });
  const Figures figures = in_child([&] {
    Process process(lab, 0);
    process.await_link(is_shared ? PeerTransport::shared_memory : PeerTransport::zeromq);
    return process.ask(0, 2, settings);
  });
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  munmap(lab.board, sizeof(Board));
  return figures;
}

Figures within_process(const Settings& settings) {
  const Lab lab = make_lab();
  const Figures figures = in_child([&] {
    Process process(lab, 0);
    process.answer_at(1);
    return process.ask(0, 1, settings);
  });
  munmap(lab.board, sizeof(Board));
  return figures;
}

void print(const char* what, const Figures& figures, const Figures& floor) {
  std::printf("  %-58s p50 %7.1f us  p99 %8.1f us  %5.1f x floor\n", what, figures.p50, figures.p99, figures.p50 / floor.p50);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  settings.requests = argc > 1 ? std::atoi(argv[1]) : settings.requests;
  std::vector<int> pauses;
  for (int i = 2; i < argc; ++i) {
    pauses.push_back(std::atoi(argv[i]));
  }
  for (const int pause : pauses.empty() ? std::vector<int>{0, 200, 1'000} : pauses) {
    settings.pause = std::chrono::microseconds{pause};
    std::printf("word and answer, %d requests, a pause of %d us before each\n", settings.requests, pause);
    const Figures floor = floor_of(settings);
    print("floor: two processes, eventfd and epoll", floor, floor);
    print("agents of one process", within_process(settings), floor);
    print("agents of two processes, ZeroMQ with CURVE", between_processes(settings, false), floor);
    print("agents of two processes, shared memory", between_processes(settings, true), floor);
  }
  return 0;
}
