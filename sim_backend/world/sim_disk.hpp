// SPDX-License-Identifier: Apache-2.0
// SimDisk: the STORAGE seam of the simulation. Rows live in memory, become durable after a seeded latency (group commit), and
// what was not durable is gone after a crash, a snapshot and the rows that it drops included. It may also tear its tail, and
// then says so, as a CRC would. As a real journal it takes no rows behind damage until it is restored.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/seams.hpp"
#include "sim_backend/random.hpp"

namespace loom {

struct DiskOptions {
  Duration latency_min = std::chrono::microseconds{100};
  Duration latency_max = std::chrono::milliseconds{2};
};

/// What is durable: what a copy of the disk has.
struct DiskImage {
  std::uint64_t base = 0;  ///< rows that snapshots have dropped
  std::vector<std::string> rows;
};

class SimDisk final : public StorageSeam {
 public:
  SimDisk(TimeSeam& time, DiskOptions options, std::uint64_t seed);

  Result<Loaded> load(const TakeRow& take) override;
  void append(std::string row, RowKind kind, std::function<void(Result<void>)> done) override;

  /// The power fails: rows that were not durable are gone, and their `done` is never called.
  void crash();
  /// Somebody lost the disk: it is empty from now on.
  void wipe() { replace({}); }
  /// The last durable row is torn: load() takes what was before it, and names the damage.
  void tear_last_row();
  /// From now on every append fails with `storage` (full); an empty sentence mends it.
  void fail_appends(std::string sentence) { append_fault_ = std::move(sentence); }
  /// The next load() moves what is damaged aside, as --restore-journal does.
  void restore_at_next_load() { restores_ = true; }
  std::uint64_t durable_rows() const { return durable_.base + durable_.rows.size(); }
  const DiskImage& image() const { return durable_; }
  /// Somebody puts a copy in its place while its machine is down.
  void replace(DiskImage image);
  /// Another disk with the rows that are durable here: somebody copied the journal.
  std::unique_ptr<SimDisk> copy(std::uint64_t seed) const;

 private:
  struct Waiting {
    std::string row;
    RowKind kind = RowKind::addition;
    std::function<void(Result<void>)> done;
  };
  void answer_later(const std::function<void(Result<void>)>& done, const std::string& sentence);
  void begin_flush();
  void finish_flush(std::uint64_t life);

  TimeSeam& time_;
  DiskOptions options_;
  Random random_;
  DiskImage durable_;
  std::vector<Waiting> waiting_;  ///< in the order of their arrival
  std::size_t flushing_ = 0;      ///< of them, the first ones become durable with the flush under way
  std::uint64_t life_ = 0;        ///< counts crashes, so that a flush of an earlier incarnation does nothing
  std::string tear_;              ///< the damage behind the durable rows
  std::string damage_;            ///< as load() found it: no row is taken
  bool restores_ = false;
  std::string append_fault_;
};

}  // namespace loom
