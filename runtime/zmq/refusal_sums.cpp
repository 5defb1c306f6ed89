// Sums, and the timer behind the last of them.
#include "runtime/zmq/refusal_sums.hpp"

#include <asio/post.hpp>
#include <chrono>
#include <mutex>

#include "core/intake_limits.hpp"

namespace loom {
namespace {

constexpr Duration kInterval{limits::kRefusalToldNs};

}  // namespace

void RefusalSums::note(MessageRefused refused, Instant now) {
  now_ = now;
  const auto [at, is_first] = rows_.try_emplace({refused.principal, refused.kind});
  Row& row = at->second;
  refused.count += row.waiting ? row.waiting->count : 0;
  if (is_first || now - row.told >= kInterval) {
    row.told = now;
    row.waiting.reset();
    tell_(refused);
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
    if (const auto told = std::exchange(row.waiting, std::nullopt)) {
      row.told = now_;
      tell_(*told);
    }
  }
}

void RefusalSums::close() {
  alive_.reset();
  timer_.cancel();
}

Authenticator::Reject summed_rejects(asio::io_context& io, RejectSum tell) {
  struct Sum {
    std::mutex mutex;
    std::uint64_t count = 0;
    std::string address;
    std::string public_key;
  };
  return [&io, tell = std::move(tell), sum = std::make_shared<Sum>()](const std::string& address, const std::string& key) {
    {
      const std::scoped_lock lock(sum->mutex);
      sum->address = address;
      sum->public_key = key;
      if (++sum->count > 1) {
        return;  // the task under way takes it along
      }
    }
    asio::post(io, [tell, sum] {
      std::unique_lock lock(sum->mutex);
      const std::uint64_t count = std::exchange(sum->count, 0);
      const std::string from = sum->address;
      const std::string of = sum->public_key;
      lock.unlock();
      tell(count, from, of);
    });
  };
}

}  // namespace loom
