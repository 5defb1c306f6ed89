// SPDX-License-Identifier: Apache-2.0
// What a tape keeps, and how far a damaged one is believed.
#include <unistd.h>

#include <algorithm>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "core/limits.hpp"
#include "proto/tape.hpp"
#include "runtime/journal/tape_file.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;

class TapePath {
 public:
  TapePath() : path_(fs::temp_directory_path() / ("loom-tape-" + std::to_string(getpid()))) { fs::remove(path_); }
  ~TapePath() {
    for (const TapeSegment& segment : tape_segments(path_)) {
      fs::remove(segment.path);
    }
  }
  const fs::path& path() const { return path_; }

  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& bytes) const { std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes; }

  /// The sound entries, and whether something behind them is not.
  std::vector<std::string> read(std::string& damage) const {
    auto reader = TapeReader::open(path_);
    REQUIRE(reader);
    std::vector<std::string> entries;
    while (auto entry = reader->next()) {
      entries.push_back(std::move(*entry));
    }
    damage = reader->damage();
    return entries;
  }

 private:
  fs::path path_;
};

const std::vector<std::string> kEntries{"first", std::string("\0\n\xff", 3), "a third one that is a little longer"};

const TapeHead kHead{"lightloomd", "first_light.yaml", 7, 0, 0};

void write_entries(const TapePath& tape) {
  auto writer = TapeWriter::open({.path = tape.path()}, kHead);
  REQUIRE(writer);
  for (const std::string& entry : kEntries) {
    writer->write(entry);
  }
  REQUIRE(writer->trouble().empty());
}

/// What such an incarnation leaves.
std::vector<std::string> incarnation() {
  std::vector<std::string> entries{encode(kHead)};
  entries.insert(entries.end(), kEntries.begin(), kEntries.end());
  return entries;
}

TapedEvent through_the_wire(const Event& event, const std::vector<std::string>& bytes) {
  auto entry = decode_tape_entry(encode_taped(instant_from_ns(7), event, bytes, 0x1234));
  REQUIRE(entry);
  auto taped = std::get<TapedEvent>(std::move(*entry));
  CHECK(taped.at == instant_from_ns(7));
  CHECK(taped.digest == 0x1234);
  CHECK(taped.bytes == bytes);
  CHECK(taped.event.index() == event.index());
  return taped;
}

}  // namespace

TEST_CASE("a_tape_gives_back_what_was_written_and_goes_on_behind_it") {
  const TapePath tape;
  write_entries(tape);
  write_entries(tape);
  std::string damage;
  const std::vector<std::string> once = incarnation();
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  CHECK(tape.read(damage) == twice);
  CHECK(damage.empty());
}

TEST_CASE("a_tape_cut_at_any_byte_keeps_the_entries_before_the_cut") {
  const TapePath tape;
  write_entries(tape);
  const std::string whole = tape.bytes();
  const std::size_t magic = whole.find('\n') + 1;
  std::vector<std::size_t> ends{magic};
  for (const std::string& entry : incarnation()) {
    ends.push_back(ends.back() + 8 + entry.size());
  }
  REQUIRE(ends.back() == whole.size());
  for (std::size_t size = magic; size < whole.size(); ++size) {
    tape.replace(whole.substr(0, size));
    std::string damage;
    const auto entries = tape.read(damage);
    const auto at_edge = std::find(ends.begin(), ends.end(), size);
    INFO("cut to " << size << " bytes: " << damage);
    CHECK(damage.empty() == (at_edge != ends.end()));
    const auto sound = std::upper_bound(ends.begin(), ends.end(), size) - ends.begin() - 1;
    const std::vector<std::string> all = incarnation();
    CHECK(entries == std::vector<std::string>(all.begin(), all.begin() + sound));
  }
  tape.replace(whole.substr(0, magic - 1));
  CHECK(TapeReader::open(tape.path()).error().code == ErrorCode::malformed);
}

TEST_CASE("a_tape_with_any_bit_flipped_is_believed_up_to_the_flip_and_not_beyond") {
  const TapePath tape;
  write_entries(tape);
  const std::string whole = tape.bytes();
  const std::size_t magic = whole.find('\n') + 1;
  for (std::size_t bit = 8 * magic; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    tape.replace(flipped);
    std::string damage;
    const auto entries = tape.read(damage);
    INFO("bit " << bit);
    CHECK_FALSE(damage.empty());
    const std::vector<std::string> all = incarnation();
    REQUIRE(entries.size() < all.size());
    CHECK(std::equal(entries.begin(), entries.end(), all.begin()));
  }
}

// --- segments ------------------------------------------------------------------------------------------------------------

namespace {

/// An incarnation of so many events, of some 30 bytes each; its timers are numbered on from `first`.
void record_incarnation(const TapePath& tape, TapeOptions options, std::uint64_t first, std::uint64_t events) {
  options.path = tape.path();
  auto writer = TapeWriter::open(options, kHead);
  REQUIRE(writer);
  for (std::uint64_t i = 0; i < events; ++i) {
    writer->record(instant_from_ns(7), TimerFired{{first + i}}, {}, 0x1234);
  }
}

struct Sequence {
  std::size_t incarnations = 0;
  std::vector<std::uint64_t> timers;
  std::uint64_t skipped = 0;
  std::string damage;
};

Sequence read_sequence(const TapePath& tape) {
  auto reader = TapeSequence::open(tape.path());
  REQUIRE(reader);
  Sequence sequence;
  while (true) {
    const auto entry = reader->next();
    REQUIRE(entry);
    if (!*entry) {
      break;
    }
    if (const auto* taped = std::get_if<TapedEvent>(&**entry)) {
      sequence.timers.push_back(std::get<TimerFired>(taped->event).timer.value);
    } else {
      ++sequence.incarnations;
    }
  }
  sequence.skipped = reader->skipped_events();
  sequence.damage = reader->damage();
  return sequence;
}

std::uint64_t bytes_of(const std::vector<TapeSegment>& segments) {
  std::uint64_t bytes = 0;
  for (const TapeSegment& segment : segments) {
    bytes += fs::file_size(segment.path);
  }
  return bytes;
}

std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

TEST_CASE("a_life_of_several_segments_is_read_as_one") {
  const TapePath tape;
  record_incarnation(tape, {.path = {}, .segment_bytes = 1'000}, 1, 500);
  const auto segments = tape_segments(tape.path());
  REQUIRE(segments.size() > 5);
  CHECK(segments.front().path == tape.path());
  CHECK(segments[1].path == tape.path().string() + ".1");
  for (const TapeSegment& segment : segments) {
    CHECK(fs::file_size(segment.path) < 1'100);
  }
  const Sequence sequence = read_sequence(tape);
  CHECK(sequence.incarnations == 1);
  CHECK(sequence.timers == numbers(1, 500));
  CHECK(sequence.skipped == 0);
  CHECK(sequence.damage.empty());
}

TEST_CASE("earlier_lives_make_room_for_a_new_one_and_a_life_without_its_beginning_is_passed_over") {
  const TapePath tape;
  const TapeOptions options{.path = {}, .limit_bytes = 20'000, .segment_bytes = 1'000};
  record_incarnation(tape, options, 1, 400);
  const std::uint64_t first = bytes_of(tape_segments(tape.path()));
  record_incarnation(tape, options, 1'000, 600);
  REQUIRE(first / 400 * 1'000 > options.limit_bytes);  // both together do not fit
  const Sequence sequence = read_sequence(tape);
  CHECK(sequence.incarnations == 1);
  CHECK(sequence.timers == numbers(1'000, 600));
  CHECK(sequence.skipped > 0);
  CHECK(sequence.skipped < 400);
  CHECK(bytes_of(tape_segments(tape.path())) < 20'000);
}

TEST_CASE("a_life_that_fills_what_it_was_given_stops_recording_and_replays_to_there") {
  const TapePath tape;
  auto writer = TapeWriter::open({tape.path(), 20'000, 1'000}, kHead);
  REQUIRE(writer);
  std::uint64_t recorded = 0;
  for (std::uint64_t i = 1; i <= 2'000; ++i) {
    writer->record(instant_from_ns(7), TimerFired{{i}}, {}, 0x1234);
    recorded = writer->trouble().empty() ? i : recorded;
  }
  CHECK_THAT(writer->trouble(), Catch::Contains("20000 bytes") && Catch::Contains("--record-limit"));
  CHECK(bytes_of(tape_segments(tape.path())) <= 20'000);
  CHECK(read_sequence(tape).timers == numbers(1, recorded));
  record_incarnation(tape, {.path = {}, .limit_bytes = 20'000, .segment_bytes = 1'000}, 5'000, 10);  // the next one makes room
  const Sequence sequence = read_sequence(tape);
  CHECK(sequence.timers == numbers(5'000, 10));
  CHECK(sequence.incarnations == 1);
}

TEST_CASE("a_lost_segment_ends_its_life_there_and_no_other") {
  const TapePath tape;
  record_incarnation(tape, {.path = {}, .segment_bytes = 1'000}, 1, 200);
  const auto segments = tape_segments(tape.path());
  record_incarnation(tape, {.path = {}, .segment_bytes = 1'000}, 1'000, 20);
  fs::remove(segments[2].path);
  const Sequence sequence = read_sequence(tape);
  CHECK(sequence.incarnations == 2);
  REQUIRE(sequence.timers.size() > 20);
  const std::uint64_t before = sequence.timers.size() - 20;
  CHECK(std::equal(sequence.timers.begin() + static_cast<std::ptrdiff_t>(before), sequence.timers.end(),
                   numbers(1'000, 20).begin()));
  CHECK(before < 200);
  CHECK(sequence.skipped > 0);
}

TEST_CASE("a_life_behind_a_torn_one_begins_in_a_file_of_its_own_and_is_read") {
  const TapePath tape;
  record_incarnation(tape, {}, 1, 10);
  const std::string whole = tape.bytes();
  tape.replace(whole.substr(0, whole.size() - 3));
  record_incarnation(tape, {}, 100, 10);
  const Sequence sequence = read_sequence(tape);
  CHECK(sequence.incarnations == 2);
  CHECK(sequence.timers.size() == 19);
  CHECK(sequence.timers.back() == 109);
  CHECK_THAT(sequence.damage, Catch::Contains("is cut short"));
}

TEST_CASE("an_event_that_is_too_large_for_a_tape_ends_the_recording_and_nothing_else") {
  const TapePath tape;
  auto writer = TapeWriter::open({.path = tape.path()}, kHead);
  REQUIRE(writer);
  writer->record(instant_from_ns(7), TimerFired{{1}}, {}, 1);
  const std::vector<std::string> rows(5, std::string(limits::kTapeEntryBytes / 4, 'x'));
  writer->record(instant_from_ns(8), Started{1, {}, {}}, rows, 2);
  CHECK_THAT(writer->trouble(), Catch::Contains("kTapeEntryBytes"));
  writer->record(instant_from_ns(9), TimerFired{{2}}, {}, 3);
  CHECK(read_sequence(tape).timers == numbers(1, 1));
}

TEST_CASE("a_file_that_is_no_tape_is_neither_read_nor_written") {
  const TapePath tape;
  CHECK(TapeReader::open(tape.path()).error().code == ErrorCode::not_found);
  tape.replace("kind: scenario\n");
  CHECK(TapeReader::open(tape.path()).error().code == ErrorCode::malformed);
  CHECK(TapeWriter::open({.path = tape.path()}, kHead).error().code == ErrorCode::malformed);
  CHECK(tape.bytes() == "kind: scenario\n");
}

TEST_CASE("every_event_that_a_controller_hears_survives_the_tape") {
  const auto started = through_the_wire(Started{5, {6}, {}, Duration{-7}}, {"row", ""});
  CHECK(std::get<Started>(started.event).boot_id == 5);
  CHECK(std::get<Started>(started.event).clock == ClockId{6});
  CHECK(std::get<Started>(started.event).wall_offset == Duration{-7});
  MessageArrived message;
  message.from = agent_peer(NodeId{3});
  message.envelope.principal = "agents-0";
  message.envelope.role = Role::viewer;
  const auto arrived = through_the_wire(message, {std::string("\0wire", 5)});
  CHECK(std::get<MessageArrived>(arrived.event).from == message.from);
  CHECK(std::get<MessageArrived>(arrived.event).envelope.principal == "agents-0");
  CHECK(std::get<MessageArrived>(arrived.event).envelope.role == Role::viewer);
  const auto refused = through_the_wire(MessageRefused{controller_peer(), {ErrorCode::conflict, "twice"}}, {});
  CHECK(std::get<MessageRefused>(refused.event).error == Error{ErrorCode::conflict, "twice"});
  CHECK(std::get<TimerFired>(through_the_wire(TimerFired{{9}}, {}).event).timer == TimerId{9});
  CHECK(std::get<Appended>(through_the_wire(Appended{11}, {}).event).count == 11);
  CHECK(std::get<Appended>(through_the_wire(Appended{11, true}, {}).event).snapshot_due);
  const auto failed = through_the_wire(AppendFailed{{ErrorCode::storage, "full"}}, {});
  CHECK(std::get<AppendFailed>(failed.event).error.message == "full");
  Planned planned;
  planned.outcome.revision = Revision{4};
  planned.outcome.elapsed = std::chrono::milliseconds{2};
  planned.outcome.is_stopped = true;
  const auto outcome = std::get<Planned>(through_the_wire(planned, {}).event).outcome;
  CHECK(outcome.is_stopped);
  CHECK(outcome.revision == Revision{4});
  CHECK(outcome.elapsed == std::chrono::milliseconds{2});
}

TEST_CASE("an_entry_of_another_wire_version_or_without_content_is_a_named_error") {
  CHECK(decode_tape_entry("\xff\xff").error().code == ErrorCode::malformed);
  CHECK(decode_tape_entry("").error().code == ErrorCode::malformed);
  // TapeHead{wire_version_number: 99}
  CHECK(decode_tape_entry("\x0a\x02\x08\x63").error().code == ErrorCode::wrong_version);
  CHECK(std::get<TapeHead>(*decode_tape_entry(encode(TapeHead{"x", "y.yaml", 3}))) == TapeHead{"x", "y.yaml", 3});
}

}  // namespace loom
