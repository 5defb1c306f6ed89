// SPDX-License-Identifier: Apache-2.0
// JournalChain: what a journal's file looks like and how its rows are proven: a CRC a row, a hash over its predecessor's, and a
// recorded head a stream. A snapshot begins a new segment: the rows before it are gone, and the head records where the segment
// begins and with which hash, so the chain goes on and a lost or a swapped snapshot is noticed like any other row. It only
// reads; JournalFile writes, and a copy of a journal is proven by the same walk.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "runtime/seams.hpp"

struct sqlite3;

namespace loom {

using JournalHash = std::array<unsigned char, 32>;

/// Version 1 had no segments: its heads lack base and base_chain.
inline constexpr int kJournalSchema = 2;

struct JournalHead {
  std::uint64_t base = 0;  ///< rows dropped by snapshots: the first row that is there has the number base + 1
  JournalHash base_chain{};
  std::uint64_t count = 0;  ///< number of the last row
  JournalHash chain{};
};

std::uint32_t journal_crc(std::string_view bytes);
JournalHash next_journal_chain(const JournalHash& previous, std::string_view stream, std::uint64_t number,
                               std::string_view bytes);

/// Walks one stream and hands every row to `take`. `head` ends at the last row that is sound. The answer names the first
/// damage, empty: none. Errors: storage (SQLite cannot read the heads). `where` begins the error's message.
Result<std::string> walk_journal(sqlite3* database, std::string_view where, std::string_view stream, JournalHead& head,
                                 const StorageSeam::TakeRow& take);

/// Every stream that has a head, ascending. Errors: storage.
Result<std::vector<std::string>> journal_streams(sqlite3* database, std::string_view where);

/// PRAGMA user_version; -1: not readable.
int journal_schema_of(sqlite3* database);

/// "<where>: <what>: <SQLite's words> (<errno's words, if there was one>)"
std::unexpected<Error> journal_error(sqlite3* database, std::string_view where, std::string_view what);

template <class Array>
std::string_view view_of(const Array& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace loom
