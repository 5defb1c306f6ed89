// SPDX-License-Identifier: Apache-2.0
// A slot for one text, and the thread that empties it.
#include "runtime/append_lane.hpp"

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/text/format_text.hpp"
#include "runtime/log.hpp"

namespace loom {

class AppendLane::Core {
 public:
  explicit Core(std::string path)
      : path_(std::move(path)),
        file_(path_, std::ios::binary | std::ios::app),
        thread_([this](const std::stop_token& stop) { work(stop); }) {}
  ~Core() {
    thread_.request_stop();
    thread_.join();
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  bool take(std::string& text, std::function<void()>& written, bool waits) {
    {
      std::unique_lock lock(mutex_);
      if (waits) {
        changed_.wait(lock, [this] { return !order_ && !is_writing_; });
      }
      if (order_ || is_writing_) {
        return false;
      }
      order_ = Order{std::exchange(text, {}), std::move(written)};
    }
    changed_.notify_all();
    return true;
  }

 private:
  struct Order {
    std::string text;
    std::function<void()> written;
  };

  /// Stopped only between two orders, and not before one that was taken.
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return order_.has_value(); })) {
      const Order order = *std::exchange(order_, std::nullopt);
      is_writing_ = true;
      lock.unlock();
      write(order);
      lock.lock();
      is_writing_ = false;
      changed_.notify_all();
    }
  }

  void write(const Order& order) {
    if (!order.text.empty()) {
      file_.write(order.text.data(), static_cast<std::streamsize>(order.text.size()));
      file_.flush();
    }
    if (!file_ && !std::exchange(is_lost_, true)) {
      log_warning(format_text("{} cannot be written: what it would have said is lost", path_));
    }
    if (file_ && order.written) {
      order.written();
    }
  }

  std::string path_;
  std::ofstream file_;  ///< the thread's, once it runs
  bool is_lost_ = false;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Order> order_;
  bool is_writing_ = false;
  std::jthread thread_;  ///< last: it uses all of the above
};

AppendLane::AppendLane(std::string path) : core_(std::make_unique<Core>(std::move(path))) {}
AppendLane::~AppendLane() = default;

bool AppendLane::try_append(std::string& text, std::function<void()> written) { return core_->take(text, written, false); }

void AppendLane::append(std::string& text, std::function<void()> written) { core_->take(text, written, true); }

}  // namespace loom
