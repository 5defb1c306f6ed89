// SPDX-License-Identifier: Apache-2.0
// libFuzzer: bytes of a TopoOpt task graph never crash the reader, and whatever reads is lawful: the graph passes its check,
// and written it reads again as tasks of the same kinds.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "controller/workload/import/topoopt_graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const loom::TopooptLimits limits{.bytes = 1U << 20, .nodes = 1'024, .tasks = 1U << 16};
  const auto read = loom::read_topoopt_graph({data, data + size}, "fuzz", limits);
  if (read) {
    LOOM_ASSERT(loom::check(read->graph).has_value());
    const auto written = loom::write_topoopt_graph(read->graph, read->network);
    LOOM_ASSERT(written.has_value());
    const auto again = loom::read_topoopt_graph(*written, "again");
    LOOM_ASSERT(again.has_value() && again->tasks_of_kind == read->tasks_of_kind);
  }
  return 0;
}
