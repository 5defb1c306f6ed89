// SPDX-License-Identifier: Apache-2.0
// libFuzzer: dumps of NCCL's Inspector, in two pieces cut anywhere, never crash the reader; what it reads is within the limits,
// the cut does not matter, and the folder makes a lawful report of it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agents/traffic/inspector_reader.hpp"
#include "agents/traffic/traffic_folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = size == 0 ? 0 : data[0] % size;
  loom::InspectorReader whole;
  whole.read(1, bytes, false);
  const loom::TrafficReported reported = whole.take();
  loom::InspectorReader pieces;
  pieces.read(1, bytes.substr(0, cut), false);
  pieces.read(1, bytes.substr(cut), false);
  LOOM_ASSERT(pieces.take() == reported);
  for (const loom::TrafficRecord& record : reported.records) {
    LOOM_ASSERT(record.rank < record.ranks && record.bytes.count >= 0 && record.bytes.count <= loom::limits::kCollectiveBytes);
  }
  loom::TrafficFolder folder;
  folder.receive(loom::Instant{std::chrono::seconds{1}}, reported);
  const loom::TrafficReport report = folder.report(loom::Instant{std::chrono::seconds{1}});
  for (const loom::CommunicatorTraffic& each : report.communicators) {
    LOOM_ASSERT(each.rank < each.ranks && each.length > loom::Duration{} && !each.period.empty());
  }
  return 0;
}
