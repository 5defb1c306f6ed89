// SimDisk: the STORAGE seam of the simulation. Rows live in memory, become durable after a seeded latency (group commit), and
// what was not durable is gone after a crash. It may also tear or flip its tail, and then says so, as a CRC would.
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

class SimDisk final : public StorageSeam {
 public:
  SimDisk(TimeSeam& time, DiskOptions options, std::uint64_t seed);

  Result<Contents> load() override;
  void append(std::string row, std::function<void(Result<void>)> done) override;

  /// The power fails: rows that were not durable are gone, and their `done` is never called.
  void crash();
  /// Somebody lost the disk: it is empty from now on.
  void wipe();
  /// The last durable row is torn: load() returns what was before it, and names the damage.
  void tear_last_row();
  /// From now on every append fails with `storage` (full); an empty sentence mends it.
  void fail_appends(std::string sentence) { append_fault_ = std::move(sentence); }
  std::size_t durable_rows() const { return durable_; }
  /// Another disk with the rows that are durable here: somebody copied the journal.
  std::unique_ptr<SimDisk> copy(std::uint64_t seed) const;

 private:
  struct Waiting {
    std::size_t row = 0;
    std::function<void(Result<void>)> done;
  };
  void begin_flush();
  void finish_flush(std::uint64_t life);

  TimeSeam& time_;
  DiskOptions options_;
  Random random_;
  std::vector<std::string> rows_;
  std::size_t durable_ = 0;
  std::size_t flushing_to_ = 0;  ///< rows that the flush under way makes durable
  bool flushing_ = false;
  std::uint64_t life_ = 0;  ///< counts crashes, so that a flush of an earlier life does nothing
  std::vector<Waiting> waiting_;
  std::string damage_;
  std::string append_fault_;
};

}  // namespace loom
