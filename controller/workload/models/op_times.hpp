// SPDX-License-Identifier: Apache-2.0
// Measured times of operators, by how many parts the samples are divided into: the files of TopoOpt's authors (measures/*.json,
// A100s), and what they say about one operator graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workload/models/op_graph.hpp"
#include "core/time.hpp"

namespace loom {

/// One part of an operator. In the file: "pc_str" is the number of dimensions and the degree of each, samples last.
struct Measure {
  std::string name;
  std::vector<std::uint32_t> degrees;
  Duration forward{};
  Duration backward{};
  Bytes memory{};
};

struct Measures {
  std::string source;
  std::uint32_t samples = 0;
  std::uint32_t nodes = 0;
  std::vector<Measure> entries;
};

/// Errors, each naming `source` and the measurement: malformed (not JSON, a field missing or of another type, a pc_str that is
/// not dimensions and degrees), out_of_range (times that are negative or beyond a day, no samples, kNodes), conflict (the same
/// measurement twice, different).
Result<Measures> read_measures(std::string_view json, std::string_view source);

/// The same from a file; blocks on the disk. Errors: not_found, out_of_range (kConfigFileBytes), and as above.
Result<Measures> load_measures(const std::string& path);

struct OpTime {
  Duration forward{};
  Duration backward{};
  bool operator==(const OpTime&) const = default;
};

/// What each operator of a graph takes for each way of dividing it that was measured.
struct OpTimes {
  std::vector<std::uint32_t> degrees;              ///< divisors of the nodes, ascending
  std::vector<std::optional<OpTime>> times;        ///< operators x degrees
  std::vector<std::vector<std::uint32_t>> lawful;  ///< by operator: degrees that have a time, ascending

  /// Precondition: the operator may be divided so.
  const OpTime& of(std::uint32_t op, std::uint32_t parts) const;
};

/// Errors: those of check(graph); invalid_argument (the measurements are for another number of samples), not_found (an operator
/// for which no division was measured).
Result<OpTimes> times_of(const OpGraph& graph, const Measures& measures);

}  // namespace loom
