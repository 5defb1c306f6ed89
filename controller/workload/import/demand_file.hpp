// SPDX-License-Identifier: Apache-2.0
// Demand files: bytes of one iteration from node to node, as somebody else measured or made them up. Three forms: an N x N
// matrix as text, an N x N matrix as NumPy's .npy, and rows of src,dst,bytes. Whatever a file holds, it is read or refused with
// its line, row and column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/demand.hpp"
#include "core/result.hpp"

namespace loom {

/// Nodes of a demand file: a matrix of 4096 x 4096 numbers is 128 MiB.
inline constexpr std::uint32_t kDemandNodes = 4096;

struct DemandMatrix {
  std::uint32_t nodes = 0;
  std::vector<Bytes> bytes;        ///< from row to column, row-major; the diagonal is 0
  std::vector<std::string> notes;  ///< what was done to the file's numbers: rounded, added up
};

/// Whether the name is that of a demand file: .csv, .tsv, .txt, .npy.
bool is_demand_file(std::string_view path);

/// Text: fields between commas, semicolons, tabs or blanks (the first of these in the first line), `#` begins a remark. A
/// header is known by its words, or by counting 0, 1, .. N-1 over N rows; a column of names before the matrix by its words, or
/// by an empty field in the header. Three columns are rows of src,dst,bytes if a header says so or if there are not three
/// lines; nodes count from 0. `nodes`: 0, or how many there are; rows may name fewer, a matrix may not. `source` names the file
/// in errors. Errors: invalid_argument (line, row and column: no number, negative, NaN, bytes from a node to itself, a matrix
/// that is not square, a node beyond `nodes`, nothing to move), out_of_range (kDemandNodes, limits::kCollectiveBytes).
Result<DemandMatrix> parse_demand_text(std::string_view text, const std::string& source, std::uint32_t nodes);

/// NumPy's format, versions 1 to 3; integers of 1 to 8 and floats of 4 and 8 bytes, either byte order, rows or columns first;
/// N x N, or rows of (src, dst, bytes). Errors: as parse_demand_text, and malformed (not that format, cut short).
Result<DemandMatrix> parse_demand_npy(std::string_view file, const std::string& source, std::uint32_t nodes);

/// By what the file holds. Errors: as above; not_found (no such file), out_of_range (limits::kTraceFileBytes).
Result<DemandMatrix> read_demand_file(const std::string& path, std::uint32_t nodes);

/// A job that moves this in one iteration, as one uneven all-to-all, once `compute` is done. Named after `path`.
JobSpec job_of_demand(DemandMatrix demand, const std::string& path, Duration compute);

}  // namespace loom
