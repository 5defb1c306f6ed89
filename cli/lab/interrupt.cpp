// SPDX-License-Identifier: Apache-2.0
// signalfd and a thread.
#include "cli/lab/interrupt.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "cli/options.hpp"
#include "cli/render/term.hpp"

namespace loom::cli {
namespace {

/// Loops look every 100 ms at the latest; whoever has not by then plans or plays something.
constexpr int kLookPatienceMs = 1'000;

bool is_ignored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  for (const int signal : {SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) {
      sigaddset(&set, signal);
    }
  }
  return set;
}

}  // namespace

Interrupt::Interrupt(std::function<void(bool)> end_all)
    : end_all_(std::move(end_all)), end_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  signals_ = Descriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  LOOM_ASSERT(signals_.is_open() && end_.is_open());
  thread_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  const std::uint64_t one = 1;
  (void)!write(end_.get(), &one, sizeof one);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupt::watch() {
  std::array<pollfd, 2> items{pollfd{signals_.get(), POLLIN, 0}, pollfd{end_.get(), POLLIN, 0}};
  for (;;) {
    const int count = poll(items.data(), items.size(), raised_ && !is_taken_over_ ? kLookPatienceMs : -1);
    if (count == 0 && !is_taken_over_) {
      end_all_(false);
      _Exit(kInterrupted);
    }
    signalfd_siginfo signal{};
    if (count > 0 && read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
      if (raised_.exchange(true)) {
        end_all_(true);
        _Exit(kInterrupted);
      }
      print_note("  interrupted: ending what was started; once more ends it at once");
    } else if (count > 0 && (items[1].revents & POLLIN) != 0) {
      return;
    }
  }
}

}  // namespace loom::cli
