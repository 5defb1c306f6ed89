// SPDX-License-Identifier: Apache-2.0
// From Inspector's lines to what repeats.
#include <catch2/catch.hpp>

#include <string>

#include "agents/traffic/inspector_reader.hpp"
#include "agents/traffic/period.hpp"
#include "agents/traffic/traffic_folder.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Line {
  std::string id = "0x9e8f1a";
  int rank = 1;
  int ranks = 4;
  int nodes = 4;
  std::string name = "AllReduce";
  std::uint64_t sequence = 7;
  std::int64_t bytes = 1'000'000;
  std::uint64_t at_us = 1'711'000'000'000'000;
  std::string version = "v4.0";

  std::string text() const {
    return R"({"header":{"id":")" + id + R"(","comm_name":"unknown","rank":)" + std::to_string(rank) + R"(,"n_ranks":)" +
           std::to_string(ranks) + R"(,"nnodes":)" + std::to_string(nodes) +
           R"(},"metadata":{"inspector_output_format_version":")" + version +
           R"(","git_rev":"a","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":)" + std::to_string(at_us) +
           R"(,"hostname":"n1","pid":42},"coll_perf":{"coll":")" + name + R"(","coll_sn":)" + std::to_string(sequence) +
           R"(,"coll_msg_size_bytes":)" + std::to_string(bytes) +
           R"(,"coll_exec_time_us":61,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":1.5,"coll_busbw_gbs":2.5}})";
  }
};

TrafficReported reported_of(std::string_view bytes) {
  InspectorReader reader;
  reader.read(1, bytes, false);
  return reader.take();
}

/// One rank of a communicator doing the same again and again.
struct Player {
  TrafficFolder& folder;
  std::uint64_t communicator = 1;
  std::uint64_t sequence = 0;
  std::vector<std::int64_t> iteration{};
  std::uint64_t unreported = 0;  ///< collectives of each iteration that are too small to be told

  void play(Instant now) {
    TrafficReported reported;
    for (const std::int64_t bytes : iteration) {
      reported.records.push_back({communicator, 0, 4, ++sequence, CollectiveKind::all_reduce, {bytes}, now.time_since_epoch()});
    }
    sequence += unreported;
    folder.receive(now, reported);
  }
  /// So many iterations, the first at `from`, 100 ms each.
  void play_on(Instant from, int iterations) {
    for (int i = 0; i < iterations; ++i) {
      play(from + i * milliseconds{100});
    }
  }
};

constexpr Instant after(Duration time) { return Instant{seconds{100} + time}; }

}  // namespace

TEST_CASE("an Inspector line becomes a record of its communicator", "[traffic]") {
  const auto read = read_inspector_line(Line{}.text());
  REQUIRE(read.has_value());
  REQUIRE(read->record.has_value());
  CHECK(read->record->communicator == 0x9e8f1a);
  CHECK(read->record->rank == 1);
  CHECK(read->record->ranks == 4);
  CHECK(read->record->sequence == 7);
  CHECK(read->record->kind == CollectiveKind::all_reduce);
  CHECK(read->record->bytes.count == 1'000'000);
  CHECK(read->record->at == std::chrono::microseconds{1'711'000'000'000'000});
}

TEST_CASE("a collective whose dump tells one rank's share counts all shares", "[traffic]") {
  for (const std::string name : {"AllGather", "ReduceScatter", "AlltoAll"}) {
    Line line;
    line.name = name;
    CHECK(read_inspector_line(line.text())->record->bytes.count == 4'000'000);
  }
  Line broadcast;
  broadcast.name = "Broadcast";
  CHECK(read_inspector_line(broadcast.text())->record->bytes.count == 1'000'000);
}

TEST_CASE("a collective inside one node is nobody's light to carry", "[traffic]") {
  Line line;
  line.nodes = 1;
  const auto read = read_inspector_line(line.text());
  REQUIRE(read.has_value());
  CHECK_FALSE(read->record.has_value());
  CHECK_FALSE(read->is_transfer);
}

TEST_CASE("what cannot be read is refused by name", "[traffic]") {
  const auto refusal = [](const std::string& text) { return read_inspector_line(text).error(); };
  CHECK(refusal("{\"header\":").code == ErrorCode::malformed);
  CHECK(refusal("17").code == ErrorCode::malformed);
  CHECK(refusal("{}").message.find("metadata.inspector_output_format_version") != std::string::npos);
  Line later;
  later.version = "v5.1";
  CHECK(refusal(later.text()).code == ErrorCode::wrong_version);
  CHECK(refusal(later.text()).message.find("'v5.1'") != std::string::npos);
  Line beyond;
  beyond.rank = 4;
  CHECK(refusal(beyond.text()).code == ErrorCode::out_of_range);
  CHECK(refusal(beyond.text()).message.find("header.rank = 4: 0 to 3") != std::string::npos);
  Line unknown;
  unknown.name = "AllShuffle";
  CHECK(refusal(unknown.text()).code == ErrorCode::unsupported);
  Line huge;
  huge.bytes = INT64_MAX;
  CHECK(refusal(huge.text()).code == ErrorCode::out_of_range);
  Line negative;
  negative.bytes = -1;
  CHECK(refusal(negative.text()).code == ErrorCode::out_of_range);
}

TEST_CASE("lines that come in pieces are read once they are whole", "[traffic]") {
  const std::string text = Line{}.text() + "\n";
  for (std::size_t cut = 0; cut <= text.size(); cut += 7) {
    InspectorReader reader;
    reader.read(1, std::string_view(text).substr(0, cut), false);
    reader.read(2, "{\"other\":", false);  // another file's half line is its own
    reader.read(1, std::string_view(text).substr(cut), false);
    const TrafficReported reported = reader.take();
    CHECK(reported.records.size() == 1);
    CHECK(reported.refused == 0);
  }
}

TEST_CASE("a file that begins anew drops the half line of the old one", "[traffic]") {
  InspectorReader reader;
  reader.read(1, Line{}.text().substr(0, 40), false);
  reader.read(1, Line{}.text() + "\n", true);
  const TrafficReported reported = reader.take();
  CHECK(reported.records.size() == 1);
  CHECK(reported.refused == 0);
}

TEST_CASE("garbage between lines costs only itself", "[traffic]") {
  Line second;
  second.sequence = 8;
  const TrafficReported reported = reported_of(Line{}.text() + "\n\x01\xff{{{\n\n" + second.text() + "\n");
  CHECK(reported.records.size() == 2);
  CHECK(reported.refused == 1);
  CHECK(reported.fault.find("no JSON object") != std::string::npos);
}

TEST_CASE("a line without an end is bounded, named and skipped", "[traffic]") {
  InspectorReader reader;
  const std::string part(100'000, 'x');
  for (int i = 0; i < 50; ++i) {
    reader.read(1, part, false);
  }
  reader.read(1, "\n" + Line{}.text() + "\n", false);
  const TrafficReported reported = reader.take();
  CHECK(reported.records.size() == 1);
  CHECK(reported.refused == 1);
  CHECK(reported.fault.find(std::to_string(limits::kInspectorLineBytes)) != std::string::npos);
}

TEST_CASE("the period is the shortest that explains most", "[traffic]") {
  const auto found = [](std::vector<std::uint64_t> words) { return period_of(words); };
  CHECK(found({1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1}) == Period{3, 11});
  CHECK(found({9, 1, 2, 1, 2}) == Period{2, 4});
  CHECK(found({5, 5, 5, 5}) == Period{1, 4});
  CHECK_FALSE(found({1, 2, 3, 4, 5, 6}).has_value());
  CHECK_FALSE(found({1, 2, 3, 1, 2}).has_value());
  CHECK_FALSE(found({}).has_value());
}

TEST_CASE("an iteration is believed after two whole periods, once a silent one would have been forgotten", "[traffic]") {
  TrafficFolder folder;
  CHECK_FALSE(folder.is_fed());
  Player player{folder};
  player.iteration = {400, 100, 100};
  player.play(after({}));
  CHECK_FALSE(folder.report(after({})).trouble.empty());
  player.play_on(after(milliseconds{100}), 2);
  CHECK(folder.report(after(milliseconds{200})).trouble.find("is new") != std::string::npos);
  player.play_on(after(milliseconds{300}), 3);
  const TrafficReport report = folder.report(after(milliseconds{500}));
  CHECK(report.trouble.empty());
  REQUIRE(report.communicators.size() == 1);
  CHECK(report.communicators[0].period ==
        std::vector<RepeatedCollective>{{CollectiveKind::all_reduce, {100}, 2}, {CollectiveKind::all_reduce, {400}, 1}});
  CHECK(report.communicators[0].length == milliseconds{100});
}

TEST_CASE("collectives that Inspector leaves out for their size do not hide the period", "[traffic]") {
  TrafficFolder folder;
  Player player{folder};
  player.iteration = {400, 100};
  player.unreported = 3;
  player.play_on(after({}), 6);
  CHECK(folder.report(after(milliseconds{500})).communicators.size() == 1);
  CHECK(folder.report(after(milliseconds{500})).trouble.empty());
}

TEST_CASE("a lost record is a gap: two whole periods must follow it", "[traffic]") {
  TrafficFolder folder;
  Player player{folder};
  player.iteration = {400, 100, 300};
  player.play_on(after({}), 6);
  CHECK(folder.report(after(milliseconds{500})).trouble.empty());
  player.iteration = {300};
  player.sequence += 2;  // two of the three were lost
  player.play(after(milliseconds{600}));
  CHECK(folder.report(after(milliseconds{600})).trouble.find("no two whole periods") != std::string::npos);
  player.iteration = {400, 100, 300};
  player.play(after(milliseconds{700}));
  CHECK_FALSE(folder.report(after(milliseconds{700})).trouble.empty());
  player.play_on(after(milliseconds{800}), 2);
  CHECK(folder.report(after(milliseconds{900})).trouble.empty());
}

TEST_CASE("a record that is told twice counts once", "[traffic]") {
  TrafficFolder folder;
  Player player{folder};
  player.iteration = {400, 100};
  player.play_on(after({}), 6);
  player.sequence -= 1;
  player.iteration = {100};
  player.play(after(milliseconds{500}));
  CHECK(folder.counters().repeated == 1);
  CHECK(folder.report(after(milliseconds{500})).trouble.empty());
}

TEST_CASE("a communicator that falls silent is first in doubt, then forgotten", "[traffic]") {
  TrafficFolder folder;
  Player player{folder};
  player.iteration = {400};
  player.play_on(after({}), 6);
  const Instant last = after(milliseconds{500});
  CHECK(folder.report(last + milliseconds{350}).trouble.empty());
  CHECK(folder.report(last + milliseconds{450}).trouble.find("silent") != std::string::npos);
  const TrafficReport gone = folder.report(last + milliseconds{550});
  CHECK(gone.trouble.empty());
  CHECK(gone.communicators.empty());
}

TEST_CASE("traffic that changes is never the old and the new one together", "[traffic]") {
  TrafficFolder folder;
  Player old{folder};
  old.iteration = {400};
  old.play_on(after({}), 6);
  Player fresh{folder, 2};
  fresh.iteration = {200};
  for (auto at = milliseconds{600}; at < milliseconds{1'600}; at += milliseconds{10}) {
    if (at % milliseconds{100} == milliseconds{0}) {
      fresh.play(after(at));
    }
    const TrafficReport report = folder.report(after(at));
    CHECK((!report.trouble.empty() || report.communicators.size() == 1));
  }
  CHECK(folder.report(after(milliseconds{1'600})).communicators.front().communicator == 2);
}

TEST_CASE("transfers between two ranks make nothing else believed", "[traffic]") {
  TrafficFolder folder;
  Player player{folder};
  player.iteration = {400};
  player.play_on(after({}), 6);
  folder.receive(after(milliseconds{500}), TrafficReported{{}, 1, 0, {}});
  CHECK(folder.report(after(milliseconds{500})).trouble.find("between two ranks") != std::string::npos);
}

TEST_CASE("more communicators than are followed is said, and memory stays bounded", "[traffic]") {
  TrafficFolder folder;
  for (std::uint64_t id = 0; id < 10 * limits::kCommunicatorsPerNode; ++id) {
    folder.receive(after({}), TrafficReported{{{id, 0, 4, 1, CollectiveKind::all_reduce, {1}, {}}}, 0, 0, {}});
  }
  CHECK(folder.counters().crowded_out == 9 * limits::kCommunicatorsPerNode);
  CHECK_FALSE(folder.report(after({})).trouble.empty());
}

}  // namespace loom
