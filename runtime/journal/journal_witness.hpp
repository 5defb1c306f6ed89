// SPDX-License-Identifier: Apache-2.0
// JournalWitness: how far each stream of a journal had been answered as durable, kept beside the database in its lock file.
// SQLite drops a damaged write-ahead log as if it had never been written, recorded lengths included; the witness still knows.
// It is written after the commit and never synced: so it survives a killed process, costs no disk, and after a power cut it may
// know less than the journal, never more.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace loom {

struct WitnessedHead {
  std::uint64_t count = 0;
  std::array<unsigned char, 32> chain{};
};

class JournalWitness {
 public:
  /// Reads what there is. `file`: open for reading and writing, not owned. A place that fails its checksum is nobody's.
  explicit JournalWitness(int file);

  /// Nothing: this stream was never witnessed.
  std::optional<WitnessedHead> head_of(std::string_view stream) const;
  /// One write of 64 bytes, some microseconds. Errors: storage.
  Result<void> record(std::string_view stream, const WitnessedHead& head);

 private:
  using Name = std::array<unsigned char, 16>;  ///< a hash of the stream's name
  struct Place {
    std::uint64_t index = 0;
    WitnessedHead head;
  };
  static Name name_of(std::string_view stream);

  int file_;
  std::map<Name, Place> places_;
  std::uint64_t next_index_ = 0;
};

}  // namespace loom
