// SPDX-License-Identifier: Apache-2.0
// The importers on public traces, where the data folder is present (LIGHTLOOM_DATA); skipped where not.
#include <catch2/catch.hpp>
#include <filesystem>
#include <numeric>

#include "controller/workload/import/import.hpp"
#include "tests/skip.hpp"

namespace loom {
namespace {

std::string data_file(const std::string& name) {
  const auto file = testing::public_data("traces/pytorch-et/" + name);
  return file ? file->string() : std::string{};
}

std::uint32_t count_of(const TraceSummary& summary, CollectiveKind kind) {
  return std::accumulate(
      summary.collectives.begin(), summary.collectives.end(), 0U,
      [&](std::uint32_t sum, const TraceCollective& row) { return sum + (row.kind == kind ? row.count : 0); });
}

TEST_CASE("reads_the_8_rank_dlrm_trace_of_the_old_schema") {
  const std::string file = data_file("dlrm_8rank_et.tar.gz");
  if (file.empty()) {
    return;
  }
  const auto summary = import_trace(file);
  REQUIRE(summary);
  CHECK(summary->format == "pytorch-et 1.0.1");
  CHECK(summary->ranks == 8);
  CHECK(summary->ranks_present == 8);
  CHECK(summary->nodes >= 8 * 1600);
  CHECK(count_of(*summary, CollectiveKind::all_to_all) == 5);
  CHECK(count_of(*summary, CollectiveKind::all_reduce) == 3);
  CHECK(summary->unsized == 0);
  REQUIRE(summary->job.node_count == 8);
  REQUIRE(summary->job.collectives.size() == 8);
  const Collective& uneven = summary->job.collectives[3];
  REQUIRE(uneven.splits.size() == 64);  // [96, 224, 288, 1664, 592, 96, 192, 240] ints from every rank
  CHECK(uneven.splits[3].count == 1664 * 4);
  CHECK(uneven.splits[8 + 1].count == 224 * 4);
  CHECK(uneven.bytes.count == 3392 * 4);
  CHECK(summary->job.collectives[0].splits.empty());
  CHECK(summary->job.collectives[4].bytes.count == 394'241 * 4);
  CHECK(summary->warnings.size() == 1);  // the absent durations, and nothing else
}

TEST_CASE("reads_the_resnet_trace_of_the_new_schema") {
  const std::string file = data_file("resnet_2gpu_et.json.gz");
  if (file.empty()) {
    return;
  }
  const auto summary = import_trace(file);
  REQUIRE(summary);
  CHECK(summary->format == "pytorch-et 1.1.0-chakra.0.0.4");
  CHECK(summary->ranks == 2);
  CHECK(summary->ranks_present == 1);
  CHECK(summary->nodes == 14'392);
  CHECK(count_of(*summary, CollectiveKind::all_reduce) == 15);
  CHECK(count_of(*summary, CollectiveKind::broadcast) == 6);
  CHECK(summary->iterations == 3);
  CHECK(summary->unsized == 0);
  std::int64_t gradients = 0;
  for (const Collective& collective : summary->job.collectives) {
    gradients += collective.kind == CollectiveKind::all_reduce ? collective.bytes.count : 0;
  }
  CHECK(gradients == 4 * 25'557'032);  // ResNet-50's parameters, once an iteration
}

}  // namespace
}  // namespace loom
