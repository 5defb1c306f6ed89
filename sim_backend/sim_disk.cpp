// One flush at a time; rows that arrive while it runs wait for the next one, as with a real group commit.
#include "sim_backend/sim_disk.hpp"

#include <utility>

namespace loom {

SimDisk::SimDisk(TimeSeam& time, DiskOptions options, std::uint64_t seed)
    : time_(time), options_(options), random_(Random::of_part(seed, 0x6469736b)) {}

Result<StorageSeam::Contents> SimDisk::load() {
  Contents contents;
  contents.rows.assign(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(durable_));
  contents.damage = damage_;
  return contents;
}

void SimDisk::append(std::string row, std::function<void(Result<void>)> done) {
  if (!append_fault_.empty()) {
    Error error{ErrorCode::storage, append_fault_};
    time_.call_at(time_.now(), Precision::ordinary,
                  [done = std::move(done), error = std::move(error)] { done(std::unexpected(error)); });
    return;
  }
  rows_.push_back(std::move(row));
  waiting_.push_back({rows_.size(), std::move(done)});
  if (!flushing_) {
    begin_flush();
  }
}

void SimDisk::begin_flush() {
  flushing_ = true;
  flushing_to_ = rows_.size();
  const Duration latency = random_.between(options_.latency_min, options_.latency_max);
  time_.call_at(time_.now() + latency, Precision::ordinary, [this, life = life_] { finish_flush(life); });
}

void SimDisk::finish_flush(std::uint64_t life) {
  if (life != life_) {
    return;
  }
  flushing_ = false;
  durable_ = flushing_to_;
  std::vector<Waiting> still_waiting;
  std::vector<Waiting> finished;
  for (Waiting& waiting : waiting_) {
    (waiting.row <= durable_ ? finished : still_waiting).push_back(std::move(waiting));
  }
  waiting_ = std::move(still_waiting);
  if (!waiting_.empty()) {
    begin_flush();
  }
  for (Waiting& waiting : finished) {
    waiting.done({});
  }
}

void SimDisk::crash() {
  ++life_;
  flushing_ = false;
  rows_.resize(durable_);
  waiting_.clear();
}

std::unique_ptr<SimDisk> SimDisk::copy(std::uint64_t seed) const {
  auto made = std::make_unique<SimDisk>(time_, options_, seed);
  made->rows_.assign(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(durable_));
  made->durable_ = durable_;
  return made;
}

void SimDisk::wipe() {
  crash();
  rows_.clear();
  durable_ = 0;
}

void SimDisk::tear_last_row() {
  if (durable_ == 0) {
    return;
  }
  --durable_;
  rows_.resize(durable_);
  damage_ = "row " + std::to_string(durable_ + 1) + " is torn: its check sum does not match; the rows before it are kept";
}

}  // namespace loom
