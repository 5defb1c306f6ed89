// SPDX-License-Identifier: Apache-2.0
// One flush at a time; rows that arrive while it runs wait for the next one, as with a real group commit.
#include "sim_backend/world/sim_disk.hpp"

#include <iterator>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {

SimDisk::SimDisk(TimeSeam& time, DiskOptions options, std::uint64_t seed)
    : time_(time), options_(options), random_(Random::of_part(seed, 0x6469736b)) {}

Result<StorageSeam::Loaded> SimDisk::load(const TakeRow& take) {
  Loaded loaded;
  damage_ = tear_;
  for (const std::string& row : durable_.rows) {
    const std::uint64_t number = durable_.base + loaded.rows + 1;
    if (const auto taken = take(number, row); !taken) {
      damage_ = format_text("row {} cannot be used: {}", number, taken.error().message);
      break;
    }
    ++loaded.rows;
  }
  loaded.damage = damage_;
  if (!damage_.empty() && restores_) {
    durable_.rows.resize(loaded.rows);
    durable_.base = loaded.rows == 0 ? 0 : durable_.base;
    loaded.damage += "; the rest was moved aside";
    tear_.clear();
    damage_.clear();
  } else if (!damage_.empty()) {
    loaded.damage += "; it takes no new rows until it is restored: start once with --restore-journal";
  }
  restores_ = false;
  return loaded;
}

void SimDisk::answer_later(const std::function<void(Result<void>)>& done, const std::string& sentence) {
  time_.call_at(time_.now(), Precision::ordinary, [done, sentence] { done(fail(ErrorCode::storage, sentence)); });
}

void SimDisk::append(std::string row, RowKind kind, std::function<void(Result<void>)> done) {
  if (!append_fault_.empty() || !damage_.empty()) {
    return answer_later(done, append_fault_.empty() ? damage_ : append_fault_);
  }
  waiting_.push_back({std::move(row), kind, std::move(done)});
  if (flushing_ == 0) {
    begin_flush();
  }
}

void SimDisk::begin_flush() {
  flushing_ = waiting_.size();
  const Duration latency = random_.between(options_.latency_min, options_.latency_max);
  time_.call_at(time_.now() + latency, Precision::ordinary, [this, life = life_] { finish_flush(life); });
}

void SimDisk::finish_flush(std::uint64_t life) {
  if (life != life_) {
    return;
  }
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(flushing_);
  std::vector<Waiting> finished(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  flushing_ = 0;
  for (Waiting& waiting : finished) {
    if (waiting.kind == RowKind::snapshot) {
      durable_.base += durable_.rows.size();
      durable_.rows.clear();
    }
    durable_.rows.push_back(std::move(waiting.row));
  }
  if (!waiting_.empty()) {
    begin_flush();
  }
  for (Waiting& waiting : finished) {
    waiting.done({});
  }
}

void SimDisk::crash() {
  ++life_;
  flushing_ = 0;
  waiting_.clear();
}

void SimDisk::replace(DiskImage image) {
  crash();
  durable_ = std::move(image);
  tear_.clear();
  damage_.clear();
}

std::unique_ptr<SimDisk> SimDisk::copy(std::uint64_t seed) const {
  auto made = std::make_unique<SimDisk>(time_, options_, seed);
  made->durable_ = durable_;
  return made;
}

void SimDisk::tear_last_row() {
  if (durable_.rows.empty()) {
    return;
  }
  durable_.rows.pop_back();
  tear_ = format_text("row {} is torn: its check sum does not match; the rows before it are kept", durable_rows() + 1);
}

}  // namespace loom
