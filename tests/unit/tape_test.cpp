// What a tape keeps, and how far a damaged one is believed.
#include <unistd.h>

#include <algorithm>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "proto/tape.hpp"
#include "runtime/tape_file.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;

class TapePath {
 public:
  TapePath() : path_(fs::temp_directory_path() / ("loom-tape-" + std::to_string(getpid()))) { fs::remove(path_); }
  ~TapePath() { fs::remove(path_); }
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

void write_entries(const TapePath& tape) {
  auto writer = TapeWriter::open(tape.path());
  REQUIRE(writer);
  for (const std::string& entry : kEntries) {
    writer->write(entry);
  }
  REQUIRE_FALSE(writer->failed());
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
  std::vector<std::string> twice = kEntries;
  twice.insert(twice.end(), kEntries.begin(), kEntries.end());
  CHECK(tape.read(damage) == twice);
  CHECK(damage.empty());
}

TEST_CASE("a_tape_cut_at_any_byte_keeps_the_entries_before_the_cut") {
  const TapePath tape;
  write_entries(tape);
  const std::string whole = tape.bytes();
  const std::size_t magic = whole.find('\n') + 1;
  std::vector<std::size_t> ends{magic};
  for (const std::string& entry : kEntries) {
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
    CHECK(entries == std::vector<std::string>(kEntries.begin(), kEntries.begin() + sound));
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
    REQUIRE(entries.size() < kEntries.size());
    CHECK(std::equal(entries.begin(), entries.end(), kEntries.begin()));
  }
}

TEST_CASE("a_file_that_is_no_tape_is_neither_read_nor_written") {
  const TapePath tape;
  CHECK(TapeReader::open(tape.path()).error().code == ErrorCode::not_found);
  tape.replace("kind: scenario\n");
  CHECK(TapeReader::open(tape.path()).error().code == ErrorCode::malformed);
  CHECK(TapeWriter::open(tape.path()).error().code == ErrorCode::malformed);
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
  const auto failed = through_the_wire(AppendFailed{{ErrorCode::storage, "full"}}, {});
  CHECK(std::get<AppendFailed>(failed.event).error.message == "full");
  Planned planned;
  planned.outcome.revision = Revision{4};
  planned.outcome.elapsed = std::chrono::milliseconds{2};
  const auto outcome = std::get<Planned>(through_the_wire(planned, {}).event).outcome;
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
