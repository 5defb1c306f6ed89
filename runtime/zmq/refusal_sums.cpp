// SPDX-License-Identifier: Apache-2.0
// Sums, and the timer behind the last of them.
#include "runtime/zmq/refusal_sums.hpp"

#include <asio/post.hpp>
#include <chrono>
#include <mutex>

#include "core/messages/intake_limits.hpp"

namespace loom {
namespace {

constexpr Duration kInterval{limits::kRefusalReportedNs};

}  // namespace

void RefusalSums::note(MessageRefused refused, Instant now) {
  now_ = now;
  const auto [at, is_first] = rows_.try_emplace({refused.principal, refused.kind});
  Row& row = at->second;
  refused.count += row.waiting ? row.waiting->count : 0;
  if (is_first || now - row.reported >= kInterval) {
    row.reported = now;
    row.waiting.reset();
    report_(refused);
    return;
  }
  row.waiting = std::move(refused);
  await_flush();
}

void RefusalSums::await_flush() {
  if (std::exchange(is_waiting_, true)) {
    return;
  }
  timer_.expires_after(kInterval);
  timer_.async_wait([this, alive = std::weak_ptr<int>(alive_)](asio::error_code error) {
    if (!error && !alive.expired()) {
      flush();
    }
  });
}

void RefusalSums::flush() {
  is_waiting_ = false;
  for (auto& [key, row] : rows_) {
    if (const auto reported = std::exchange(row.waiting, std::nullopt)) {
      row.reported = now_;
      report_(*reported);
    }
  }
}

void RefusalSums::close() {
  alive_.reset();
  timer_.cancel();
}

Authenticator::Reject summed_rejects(asio::io_context& io, RejectSum report) {
  struct Sum {
    std::mutex mutex;
    std::uint64_t count = 0;
    std::string address;
    std::string public_key;
  };
  return [&io, report = std::move(report), sum = std::make_shared<Sum>()](const std::string& address, const std::string& key) {
    {
      const std::scoped_lock lock(sum->mutex);
      sum->address = address;
      sum->public_key = key;
      if (++sum->count > 1) {
        return;  // the task under way takes it along
      }
    }
    asio::post(io, [report, sum] {
      std::unique_lock lock(sum->mutex);
      const std::uint64_t count = std::exchange(sum->count, 0);
      const std::string from = sum->address;
      const std::string of = sum->public_key;
      lock.unlock();
      report(count, from, of);
    });
  };
}

}  // namespace loom
