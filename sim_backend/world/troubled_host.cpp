// SPDX-License-Identifier: Apache-2.0
// Three small decorators that share one queue and one clock.
#include "sim_backend/world/troubled_host.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace loom {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

}  // namespace

class TroubledHost::Clock final : public TimeSeam {
 public:
  explicit Clock(TroubledHost& host) : host_(host) {}

  Instant now() const override {
    const Duration run = host_.true_time_.now() - since_;
    return since_ + offset_ + run +
           Duration{run.count() / kMillion * drift_ppm_ + run.count() % kMillion * drift_ppm_ / kMillion};
  }
  ClockId clock() const override { return host_.true_time_.clock(); }
  Duration wall_offset() const override { return host_.true_time_.wall_offset(); }

  void call_at(Instant at, Precision precision, std::function<void()> task) override {
    const std::uint64_t number = ++last_;
    waiting_.emplace(number, Waiting{at, precision, std::move(task)});
    watch(number);
  }

  void set(Duration offset, std::int64_t drift_ppm) {
    since_ = host_.true_time_.now();
    offset_ = offset;
    drift_ppm_ = drift_ppm;
    for (const auto& [number, waiting] : waiting_) {
      watch(number);  // what was watched for by the old clock looks at the new one and waits on
    }
  }

 private:
  struct Waiting {
    Instant at{};
    Precision precision = Precision::ordinary;
    std::function<void()> task;
  };

  void watch(std::uint64_t number) {
    const Waiting& waiting = waiting_.at(number);
    // True time until then, as the clock runs now; with rounding it may be a moment early, and looks again.
    const std::int64_t left = std::max<std::int64_t>(0, (waiting.at - now()).count());
    const Duration wait{left / (kMillion + drift_ppm_) * kMillion +
                        left % (kMillion + drift_ppm_) * kMillion / (kMillion + drift_ppm_)};
    host_.true_time_.call_at(host_.true_time_.now() + wait, waiting.precision, [this, number] { look(number); });
  }

  void look(std::uint64_t number) {
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) {
      return;  // it was watched for twice
    }
    if (now() < found->second.at) {
      const Duration rest = found->second.at - now();
      host_.true_time_.call_at(host_.true_time_.now() + std::max(rest / 2, Duration{1}), found->second.precision,
                               [this, number] { look(number); });
      return;
    }
    std::function<void()> task = std::move(found->second.task);
    waiting_.erase(found);
    host_.report(std::move(task));
  }

  TroubledHost& host_;
  Instant since_{};  ///< true time at which offset and drift began
  Duration offset_{};
  std::int64_t drift_ppm_ = 0;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Waiting> waiting_;
};

class TroubledHost::Messages final : public MessageSeam {
 public:
  Messages(TroubledHost& host, MessageSeam& below) : host_(host), below_(below) {}

  void on_receive(Receive receive) override {
    below_.on_receive(
        [this, receive = std::move(receive)](Peer from, std::string_view principal, Role role, std::string_view bytes) {
          if (host_.is_well()) {
            receive(from, principal, role, bytes);
            return;
          }
          host_.report([receive, from, principal = std::string(principal), role, bytes = std::string(bytes)] {
            receive(from, principal, role, bytes);
          });
        });
  }
  void on_refuse(Refuse refuse) override { below_.on_refuse(std::move(refuse)); }
  void send(Peer to, std::string_view bytes) override { below_.send(to, bytes); }

 private:
  TroubledHost& host_;
  MessageSeam& below_;
};

class TroubledHost::Buses final : public RegisterSeam {
 public:
  Buses(TroubledHost& host, RegisterSeam& below) : host_(host), below_(below) {}

  void submit(BusId bus, const Transaction& transaction, Done done) override {
    below_.submit(bus, transaction, [this, done = std::move(done)](BusReply reply) {
      if (host_.is_well()) {
        done(std::move(reply));
        return;
      }
      host_.report([done, reply = std::move(reply)] { done(reply); });
    });
  }

 private:
  TroubledHost& host_;
  RegisterSeam& below_;
};

TroubledHost::TroubledHost(TimeSeam& time) : true_time_(time), clock_(std::make_unique<Clock>(*this)) {}
TroubledHost::~TroubledHost() = default;

void TroubledHost::set_clock(Duration offset, std::int64_t drift_ppm) { clock_->set(offset, drift_ppm); }

TimeSeam& TroubledHost::time() { return *clock_; }

MessageSeam& TroubledHost::over(MessageSeam& messages) {
  if (!messages_) {
    messages_ = std::make_unique<Messages>(*this, messages);
  }
  return *messages_;
}

RegisterSeam& TroubledHost::over(RegisterSeam& registers) {
  if (!buses_) {
    buses_ = std::make_unique<Buses>(*this, registers);
  }
  return *buses_;
}

bool TroubledHost::is_well() const { return delay_ == Duration{} && reported_last_ < true_time_.now(); }

void TroubledHost::report(std::function<void()> task) {
  if (is_well()) {
    task();
    return;
  }
  reported_last_ = std::max(reported_last_, true_time_.now() + delay_);
  true_time_.call_at(reported_last_, Precision::ordinary, std::move(task));
}

}  // namespace loom
