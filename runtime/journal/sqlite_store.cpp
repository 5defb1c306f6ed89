// SPDX-License-Identifier: Apache-2.0
// The writer thread and the seams in front of it.
#include "runtime/journal/sqlite_store.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kWaitingMax = 4096;

}  // namespace

class SqliteStore::Stream : public StorageSeam {
 public:
  Stream(Writer& writer, std::string name) : writer_(writer), name_(std::move(name)) {}
  Result<Loaded> load(const TakeRow& take) override;
  void append(std::string row, RowKind kind, std::function<void(Result<void>)> done) override;

  const std::string& name() const { return name_; }
  /// An addition was refused, so nothing behind it is taken until load(): what is durable is a prefix of what was appended.
  /// Both threads only ever raise it: read and written back it could lose what the other one raised in between.
  std::atomic<bool> failed = false;

 private:
  Writer& writer_;
  std::string name_;
};

class SqliteStore::Writer {
 public:
  struct Order {
    Stream* stream = nullptr;
    std::string bytes;
    StorageSeam::RowKind kind = StorageSeam::RowKind::addition;
    std::function<void(Result<void>)> done;
  };

  Writer(JournalFile file, Post post)
      : file_(std::move(file)), post_(std::move(post)), thread_([this](std::stop_token stop) { work(stop); }) {}

  Result<StorageSeam::Loaded> load(std::string_view stream, const StorageSeam::TakeRow& take) {
    const std::lock_guard lock(file_mutex_);
    auto loaded = file_.load(stream, take);
    measure();
    return loaded;
  }

  void push(Order order) {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() < kWaitingMax) {
        waiting_.push_back(std::move(order));
        arrived_.notify_one();
        return;
      }
    }
    if (order.kind == StorageSeam::RowKind::addition) {
      order.stream->failed = true;
    }
    answer(std::move(order.done),
           fail(ErrorCode::busy, format_text("the journal does not keep up: {} rows wait", kWaitingMax)));
  }

  JournalSize size() const { return {rows_, bytes_}; }

  StorageSeam& stream(std::string_view name) {
    auto found = streams_.find(name);
    if (found == streams_.end()) {
      found = streams_.emplace(std::string{name}, std::make_unique<Stream>(*this, std::string{name})).first;
    }
    return *found->second;
  }

 private:
  void work(const std::stop_token& stop) {
    while (true) {
      std::vector<Order> group;
      {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, stop, [this] { return !waiting_.empty(); });
        group.swap(waiting_);
      }
      if (group.empty()) {
        return;  // asked to stop, and nothing is left to write
      }
      commit(std::move(group));
    }
  }

  void commit(std::vector<Order> group) {
    std::vector<JournalFile::Row> rows;
    bool hindered = false;
    for (const Order& order : group) {
      rows.push_back({order.stream->name(), order.bytes, order.kind});
      hindered = hindered || order.stream->failed;
    }
    const std::lock_guard lock(file_mutex_);
    if (hindered || !file_.append(rows)) {
      commit_one_by_one(group, rows);
      return;
    }
    measure();
    for (Order& order : group) {
      answer(std::move(order.done), {});
    }
  }

  /// Under file_mutex_, which whoever asks for the size must not wait for: it is held while the disk works.
  void measure() {
    const JournalSize size = file_.size();
    rows_ = size.rows;
    bytes_ = size.bytes;
  }

  /// One stream's trouble is not another's, nor a snapshot's a row's: after a failed group every row stands for itself.
  void commit_one_by_one(std::vector<Order>& group, const std::vector<JournalFile::Row>& rows) {
    for (std::size_t index = 0; index < group.size(); ++index) {
      Stream& stream = *group[index].stream;
      Result<void> result =
          stream.failed
              ? Result<void>{fail(ErrorCode::storage, format_text("an earlier row of '{}' was refused", stream.name()))}
              : file_.append({&rows[index], 1});
      if (!result && group[index].kind == StorageSeam::RowKind::addition) {
        stream.failed = true;
      }
      measure();
      answer(std::move(group[index].done), std::move(result));
    }
  }

  void answer(std::function<void(Result<void>)> done, Result<void> result) {
    post_([done = std::move(done), result = std::move(result)] { done(result); });
  }

  JournalFile file_;
  std::mutex file_mutex_;
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> bytes_{0};
  Post post_;
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::vector<Order> waiting_;
  std::map<std::string, std::unique_ptr<Stream>, std::less<>> streams_;
  std::jthread thread_;  ///< last: it uses all of the above
};

Result<StorageSeam::Loaded> SqliteStore::Stream::load(const TakeRow& take) {
  failed = false;
  return writer_.load(name_, take);
}

void SqliteStore::Stream::append(std::string row, RowKind kind, std::function<void(Result<void>)> done) {
  writer_.push({this, std::move(row), kind, std::move(done)});
}

SqliteStore::SqliteStore(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}
SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(JournalOptions options, Post post) {
  Result<JournalFile> file = JournalFile::open(std::move(options));
  if (!file) {
    return std::unexpected(std::move(file).error());
  }
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::make_unique<Writer>(std::move(*file), std::move(post))));
}

JournalSize SqliteStore::size() const { return writer_->size(); }

StorageSeam& SqliteStore::stream(std::string_view name) { return writer_->stream(name); }

}  // namespace loom
