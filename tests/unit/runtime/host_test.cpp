// SPDX-License-Identifier: Apache-2.0
// What the host promises to a step machine, over seams that a test can hold in its hand.
#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "proto/codec.hpp"
#include "runtime/host.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

/// Virtual time by hand: tasks in the order of (instant, arrival).
class HandLoop : public TimeSeam {
 public:
  Instant now() const override { return now_; }
  ClockId clock() const override { return kVirtualClock; }
  Duration wall_offset() const override { return milliseconds{1'000}; }
  void call_at(Instant at, Precision, std::function<void()> task) override {
    tasks_.push_back({std::max(at, now_), std::move(task)});
  }
  bool run_one() {
    const auto next = std::min_element(tasks_.begin(), tasks_.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    if (next == tasks_.end()) {
      return false;
    }
    const Entry entry = std::move(*next);
    tasks_.erase(next);
    now_ = entry.at;
    entry.task();
    return true;
  }
  void run() {
    while (run_one()) {
    }
  }

 private:
  struct Entry {
    Instant at;
    std::function<void()> task;
  };
  Instant now_{milliseconds{5}};
  std::vector<Entry> tasks_;
};

class RecordingMessages : public MessageSeam {
 public:
  explicit RecordingMessages(std::vector<std::string>& order) : order_(order) {}
  void on_receive(Receive receive) override { receive_ = std::move(receive); }
  void on_refuse(Refuse refuse) override { refuse_ = std::move(refuse); }
  void send(Peer to, std::string_view bytes) override {
    order_.push_back("send " + std::to_string(to.id));
    last = std::string{bytes};
  }
  Receive receive_;
  Refuse refuse_;
  std::string last;

 private:
  std::vector<std::string>& order_;
};

class RecordingRegisters : public RegisterSeam {
 public:
  explicit RecordingRegisters(std::vector<std::string>& order) : order_(order) {}
  void submit(BusId bus, const Transaction&, Done done) override {
    order_.push_back("transact " + std::to_string(bus.value));
    waiting.push_back(std::move(done));
  }
  std::deque<Done> waiting;

 private:
  std::vector<std::string>& order_;
};

class RecordingStorage : public StorageSeam {
 public:
  explicit RecordingStorage(std::vector<std::string>& order) : order_(order) {}
  /// As a real one: what its reader refuses is damage, and so is what is said to lie behind `rows`.
  Result<Loaded> load(const TakeRow& take) override {
    Loaded loaded;
    for (const std::string& row : rows) {
      if (const auto taken = take(first + loaded.rows, row); !taken) {
        loaded.damage = "row " + std::to_string(first + loaded.rows) + " cannot be used: " + taken.error().message;
        return loaded;
      }
      ++loaded.rows;
    }
    loaded.damage = damage;
    return loaded;
  }
  void append(std::string, RowKind kind, std::function<void(Result<void>)> done) override {
    order_.push_back(kind == RowKind::snapshot ? "snapshot" : "append");
    waiting.push_back(std::move(done));
  }
  std::vector<std::string> rows;
  std::uint64_t first = 1;
  std::string damage;
  std::deque<std::function<void(Result<void>)>> waiting;

 private:
  std::vector<std::string>& order_;
};

using Script = std::function<void(Instant, const Event&, EffectSink&)>;

/// A machine that keeps every event it hears, and does what the test says.
struct Bench {
  explicit Bench(Script script_in = {}) : script(std::move(script_in)) {
    HostSeams seams;
    seams.time = &loop;
    seams.messages = &messages;
    seams.registers = &registers;
    seams.storage = &storage;
    seams.digest = &digest;
    seams.alarm = [this](const Alarm& alarm) {
      order.push_back("alarm");
      alarms.push_back(alarm);
      if (deliver_inside_alarm) {
        host->deliver(InterlockChanged{true});
      }
    };
    host = std::make_unique<Host>(HostOptions{agent_peer(NodeId{7}), Role::agent, "node7"}, std::move(seams),
                                  [this](Instant now, const Event& event, EffectSink& sink) {
                                    ++depth;
                                    deepest = std::max(deepest, depth);
                                    received.push_back(event);
                                    received_at.push_back(now);
                                    if (script) {
                                      script(now, event, sink);
                                    }
                                    --depth;
                                  });
  }
  void start() { REQUIRE(host->start(11).has_value()); }
  template <class E>
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::count_if(received.begin(), received.end(), [](const Event& event) { return std::holds_alternative<E>(event); }));
  }

  std::vector<std::string> order;
  HandLoop loop;
  RecordingMessages messages{order};
  RecordingRegisters registers{order};
  RecordingStorage storage{order};
  Digest digest;
  std::vector<Alarm> alarms;
  std::vector<Event> received;
  std::vector<Instant> received_at;
  Script script;
  bool deliver_inside_alarm = false;
  int depth = 0;
  int deepest = 0;
  std::unique_ptr<Host> host;
};

bool is_start(const Event& event) { return std::holds_alternative<Started>(event); }

Envelope heartbeat() {
  Envelope envelope;
  envelope.principal = "liar";
  envelope.role = Role::admin;
  envelope.node = NodeId{3};
  envelope.body = Heartbeat{};
  return envelope;
}

}  // namespace

TEST_CASE("delivers_started_first_with_clock_and_what_the_journal_says") {
  Bench bench;
  bench.storage.rows = {encode(Record{TermRecord{Term{4}}}), encode(Record{LatchRecord{true, 9}})};
  bench.start();
  REQUIRE(bench.received.size() == 1);
  const auto& started = std::get<Started>(bench.received.front());
  CHECK(started.boot_id == 11);
  CHECK(started.clock == kVirtualClock);
  REQUIRE(started.records.size() == 1);
  const auto& state = std::get<SnapshotRecord>(started.records[0]);
  CHECK(state.term == Term{4});
  CHECK(state.latch == LatchRecord{true, 9});
  CHECK(bench.alarms.empty());
}

TEST_CASE("an_empty_journal_says_nothing") {
  Bench bench;
  bench.start();
  CHECK(std::get<Started>(bench.received.front()).records.empty());
}

TEST_CASE("refuses_a_row_that_does_not_decode_so_that_its_storage_takes_it_for_damage") {
  Bench bench;
  bench.storage.rows = {encode(Record{TermRecord{Term{4}}}), std::string("\xff\xff no record"),
                        encode(Record{TermRecord{Term{5}}})};
  bench.start();
  const auto& started = std::get<Started>(bench.received.front());
  REQUIRE(started.records.size() == 1);
  CHECK(std::get<SnapshotRecord>(started.records[0]).term == Term{4});
  REQUIRE(bench.alarms.size() == 1);
  CHECK(bench.alarms[0].code == AlarmCode::journal_damaged);
  CHECK_THAT(bench.alarms[0].evidence, Catch::Contains("row 2 cannot be used") && Catch::Contains("no protobuf message"));
}

TEST_CASE("a_journal_that_lost_its_first_rows_is_damaged_unless_a_snapshot_stands_for_them") {
  SnapshotRecord snapshot;
  snapshot.term = Term{7};
  for (const bool has_snapshot : {true, false}) {
    Bench bench;
    bench.storage.first = 41;
    bench.storage.rows = {encode(has_snapshot ? Record{snapshot} : Record{TermRecord{Term{4}}}),
                          encode(Record{LatchRecord{true, 2}})};
    bench.start();
    CHECK(bench.alarms.empty() == has_snapshot);
    const auto& records = std::get<Started>(bench.received.front()).records;
    REQUIRE(records.empty() != has_snapshot);
    if (has_snapshot) {
      CHECK(std::get<SnapshotRecord>(records[0]).term == Term{7});
      CHECK(std::get<SnapshotRecord>(records[0]).latch == LatchRecord{true, 2});
    }
  }
}

TEST_CASE("passes_on_the_damage_that_the_storage_found") {
  Bench bench;
  bench.storage.damage = "row 17 is torn";
  bench.start();
  REQUIRE(bench.alarms.size() == 1);
  CHECK(bench.alarms[0].evidence == "row 17 is torn");
}

TEST_CASE("performs_effects_in_the_order_of_their_emission") {
  Bench bench{[](Instant, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      sink.emit(Append{TermRecord{Term{1}}});
      sink.emit(Send{controller_peer(), heartbeat()});
      sink.emit(Transact{BusId{5}, TransactionId{1}, {}});
      sink.emit(RaiseAlarm{});
      sink.emit(Send{agent_peer(NodeId{9}), heartbeat()});
    }
  }};
  bench.start();
  CHECK(bench.order == std::vector<std::string>{"append", "send 0", "transact 5", "alarm", "send 9"});
  CHECK(bench.host->counters().effects == 5);
  CHECK(bench.host->counters().sent == 2);
}

TEST_CASE("stamps_its_own_principal_on_what_it_sends") {
  Bench bench{[](Instant, const Event&, EffectSink& sink) { sink.emit(Send{controller_peer(), heartbeat()}); }};
  bench.start();
  const Result<Envelope> sent = decode_envelope(bench.messages.last);
  REQUIRE(sent.has_value());
  CHECK(sent->principal == "node7");
  CHECK(sent->role == Role::agent);
}

TEST_CASE("believes_the_transport_about_who_speaks") {
  Bench bench;
  bench.start();
  bench.messages.receive_(agent_peer(NodeId{3}), "node3", Role::agent, encode(heartbeat()));
  REQUIRE(bench.received.size() == 2);
  const auto& arrived = std::get<MessageArrived>(bench.received[1]);
  CHECK(arrived.from == agent_peer(NodeId{3}));
  CHECK(arrived.envelope.principal == "node3");
  CHECK(arrived.envelope.role == Role::agent);
}

TEST_CASE("counts_and_reports_a_message_that_does_not_decode") {
  Bench bench;
  bench.start();
  bench.messages.receive_(agent_peer(NodeId{3}), "node3", Role::agent, "\xff\xff\xff");
  REQUIRE(bench.count<MessageRefused>() == 1);
  CHECK(bench.count<MessageArrived>() == 0);
  CHECK(bench.host->counters().malformed == 1);
  CHECK_FALSE(std::get<MessageRefused>(bench.received[1]).error.message.empty());
}

TEST_CASE("tells_an_operator_why_its_request_does_not_decode") {
  Bench bench;
  bench.start();
  Envelope envelope;
  envelope.body = OperatorRequest{{77}, DeviceRequest{DeviceId{3}, TransmitterSetpoint{{1'000'000, 8}, Dbm{0}, true}, false}};
  bench.messages.receive_(Peer{Peer::Kind::operator_, 5}, "grace", Role::operator_, encode(envelope));
  CHECK(bench.count<MessageRefused>() == 1);
  CHECK(bench.count<MessageArrived>() == 0);
  const Result<Envelope> sent = decode_envelope(bench.messages.last);
  REQUIRE(sent.has_value());
  const auto& reply = std::get<OperatorReply>(sent->body);
  CHECK(reply.request == RequestId{77});
  REQUIRE(reply.outcome.error.has_value());
  CHECK(reply.outcome.error->message.find("slot_n = 1000000") != std::string::npos);
  bench.messages.last.clear();
  bench.messages.receive_(agent_peer(NodeId{3}), "node3", Role::agent, encode(envelope));  // agents ask nothing
  CHECK(bench.messages.last.empty());
}

TEST_CASE("fires_a_moved_timer_once_at_its_new_instant") {
  Bench bench{[](Instant now, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      sink.emit(SetTimer{TimerId{1}, now + milliseconds{10}});
      sink.emit(SetTimer{TimerId{1}, now + milliseconds{30}});
    }
  }};
  bench.start();
  bench.loop.run();
  REQUIRE(bench.count<TimerFired>() == 1);
  CHECK(bench.received_at.back() == Instant{milliseconds{35}});
  CHECK(bench.host->counters().events == 2);  // the stale call was no event
}

TEST_CASE("moves_a_timer_to_an_earlier_instant") {
  Bench bench{[](Instant now, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      sink.emit(SetTimer{TimerId{1}, now + milliseconds{30}});
      sink.emit(SetTimer{TimerId{1}, now + milliseconds{10}});
    }
  }};
  bench.start();
  bench.loop.run();
  REQUIRE(bench.count<TimerFired>() == 1);
  CHECK(bench.received_at.back() == Instant{milliseconds{15}});
}

TEST_CASE("never_fires_a_cancelled_timer") {
  Bench bench{[](Instant now, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      sink.emit(SetTimer{TimerId{1}, now + milliseconds{10}});
      sink.emit(SetTimer{TimerId{2}, now + milliseconds{10}});
      sink.emit(CancelTimer{TimerId{1}});
      sink.emit(CancelTimer{TimerId{3}});
    }
  }};
  bench.start();
  bench.loop.run();
  REQUIRE(bench.count<TimerFired>() == 1);
  CHECK(std::get<TimerFired>(bench.received[1]).timer == TimerId{2});
}

TEST_CASE("sets_a_timer_again_after_it_fired_or_was_cancelled") {
  int rounds = 0;
  Bench bench{[&rounds](Instant now, const Event&, EffectSink& sink) {
    if (++rounds <= 3) {
      sink.emit(SetTimer{TimerId{1}, now + milliseconds{1}});
      sink.emit(CancelTimer{TimerId{1}});
      sink.emit(SetTimer{TimerId{1}, now + milliseconds{2}});
    }
  }};
  bench.start();
  bench.loop.run();
  CHECK(bench.count<TimerFired>() == 3);
  CHECK(bench.received_at.back() == Instant{milliseconds{11}});
}

TEST_CASE("never_steps_the_machine_from_inside_the_machine") {
  Bench bench{[](Instant, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      sink.emit(RaiseAlarm{});
      sink.emit(Send{controller_peer(), heartbeat()});
    }
  }};
  bench.deliver_inside_alarm = true;
  bench.start();
  CHECK(bench.deepest == 1);
  CHECK(bench.count<InterlockChanged>() == 1);
  CHECK(bench.order == std::vector<std::string>{"alarm", "send 0"});  // the first event's effects before the second event
}

TEST_CASE("names_the_transaction_that_a_reply_belongs_to") {
  Bench bench{[](Instant, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      sink.emit(Transact{BusId{5}, TransactionId{41}, {}});
      sink.emit(Transact{BusId{6}, TransactionId{42}, {}});
    }
  }};
  bench.start();
  REQUIRE(bench.registers.waiting.size() == 2);
  bench.registers.waiting[1]({BusStatus::timeout, 0, {}, {}});
  bench.registers.waiting[0]({BusStatus::ok, 0, {17}, {}});
  REQUIRE(bench.count<BusReplied>() == 2);
  CHECK(std::get<BusReplied>(bench.received[1]).transaction == TransactionId{42});
  CHECK(std::get<BusReplied>(bench.received[1]).reply.status == BusStatus::timeout);
  CHECK(std::get<BusReplied>(bench.received[2]).bus == BusId{5});
  CHECK(std::get<BusReplied>(bench.received[2]).reply.words == std::vector<std::uint16_t>{17});
}

TEST_CASE("a_count_never_covers_a_row_that_failed_nor_what_came_behind_it") {
  Bench bench{[](Instant, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      sink.emit(Append{TermRecord{Term{1}}});
      sink.emit(Append{TermRecord{Term{2}}});
      sink.emit(Append{TermRecord{Term{3}}});
    } else if (std::holds_alternative<InterlockChanged>(event)) {
      sink.emit(Append{TermRecord{Term{4}}});
    }
  }};
  bench.start();
  CHECK(bench.count<Appended>() == 0);
  bench.storage.waiting[0]({});
  bench.storage.waiting[1](fail(ErrorCode::storage, "disk full"));
  bench.storage.waiting[2]({});
  REQUIRE(bench.received.size() == 3);
  CHECK(std::get<Appended>(bench.received[1]).count == 1);
  CHECK(std::get<AppendFailed>(bench.received[2]).error.message == "disk full");
  bench.host->deliver(InterlockChanged{});
  CHECK(bench.storage.waiting.size() == 3);  // nothing is written behind the hole
  CHECK(bench.count<AppendFailed>() == 2);
  CHECK(bench.count<Appended>() == 1);
}

TEST_CASE("every_append_behind_a_refused_one_is_answered_with_the_same_cause_and_command") {
  Bench bench{[](Instant, const Event& event, EffectSink& sink) {
    if (is_start(event) || std::holds_alternative<InterlockChanged>(event)) {
      sink.emit(Append{TermRecord{Term{1}}});
    }
  }};
  bench.start();
  const Error full{ErrorCode::storage, "journal x.db: row 1: database or disk is full", "df -h ."};
  bench.storage.waiting[0](std::unexpected(full));
  bench.host->deliver(InterlockChanged{});
  REQUIRE(bench.count<AppendFailed>() == 2);
  CHECK(std::get<AppendFailed>(bench.received.back()).error == full);
}

TEST_CASE("a_snapshot_is_due_when_the_tail_behind_the_last_one_is_long_and_longer_than_twice_that") {
  SnapshotRecord large;
  large.intent.jobs.emplace_back().spec.assumptions.resize(1'024, std::string(4'096, 'x'));
  IntentRecord row;
  row.intent = large.intent;  // 4 MiB
  std::vector<Record> records(1, large);
  records.resize(1 + 3, row);
  Bench bench{[&records](Instant, const Event& event, EffectSink& sink) {
    for (const Record& record : records) {
      if (is_start(event)) {
        sink.emit(Append{record});
      }
    }
  }};
  bench.start();
  REQUIRE(bench.storage.waiting.size() == 4);
  CHECK(bench.order == std::vector<std::string>{"snapshot", "append", "append", "append"});
  // What is due is judged when an answer comes, of all rows that are under way.
  bench.storage.waiting[0]({});
  CHECK(std::get<Appended>(bench.received.back()).snapshot_due);
  records.resize(1 + 2);
  Bench shorter{bench.script};
  shorter.start();
  shorter.storage.waiting[0]({});
  CHECK_FALSE(std::get<Appended>(shorter.received.back()).snapshot_due);  // 8 MiB behind a snapshot of 4
}

TEST_CASE("a_short_tail_wants_no_snapshot_and_a_long_one_of_small_rows_does") {
  std::size_t rows = 1;
  Bench bench{[&rows](Instant, const Event& event, EffectSink& sink) {
    for (std::size_t i = 0; i < rows && !std::holds_alternative<Appended>(event); ++i) {
      sink.emit(Append{TermRecord{Term{1}}});
    }
  }};
  bench.start();
  bench.storage.waiting[0]({});
  CHECK_FALSE(std::get<Appended>(bench.received.back()).snapshot_due);
  rows = 4'096;
  bench.host->deliver(InterlockChanged{});
  bench.storage.waiting[1]({});
  CHECK(std::get<Appended>(bench.received.back()).snapshot_due);
}

TEST_CASE("rows_that_were_read_count_for_the_next_snapshot") {
  Bench bench{[](Instant, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      sink.emit(Append{TermRecord{Term{1}}});
    }
  }};
  bench.storage.rows.assign(4'096, encode(Record{TermRecord{Term{4}}}));
  bench.start();
  bench.storage.waiting[0]({});
  CHECK(std::get<Appended>(bench.received.back()).snapshot_due);
}

TEST_CASE("a_snapshot_that_cannot_be_written_is_said_and_stops_nothing") {
  Bench bench{[](Instant, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      sink.emit(Append{TermRecord{Term{1}}});
      sink.emit(Append{SnapshotRecord{}});
      sink.emit(Append{TermRecord{Term{2}}});
    }
  }};
  bench.start();
  bench.storage.waiting[0]({});
  bench.storage.waiting[1](fail(ErrorCode::storage, "too large"));
  bench.storage.waiting[2]({});
  CHECK(bench.count<AppendFailed>() == 0);
  CHECK(std::get<Appended>(bench.received.back()).count == 3);
  REQUIRE(bench.alarms.size() == 1);
  CHECK_THAT(bench.alarms[0].evidence, Catch::Contains("snapshot cannot be written: too large"));
}

TEST_CASE("answers_a_plan_order_even_without_a_planner") {
  Bench bench{[](Instant, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      auto request = std::make_shared<PlanRequest>();
      request->revision = Revision{12};
      sink.emit(MakePlan{std::move(request)});
    }
  }};
  bench.start();
  REQUIRE(bench.count<Planned>() == 1);
  const auto& outcome = std::get<Planned>(bench.received[1]).outcome;
  CHECK(outcome.revision == Revision{12});
  REQUIRE_FALSE(outcome.result.has_value());
  CHECK(outcome.result.error().code == ErrorCode::unsupported);
}

TEST_CASE("stays_silent_after_its_host_is_gone") {
  Bench bench{[](Instant now, const Event& event, EffectSink& sink) {
    if (is_start(event)) {
      sink.emit(SetTimer{TimerId{1}, now + milliseconds{10}});
      sink.emit(Transact{BusId{5}, TransactionId{1}, {}});
      sink.emit(Append{TermRecord{Term{1}}});
    }
  }};
  bench.start();
  bench.host.reset();
  bench.loop.run();
  bench.registers.waiting[0]({});
  bench.storage.waiting[0]({});
  bench.messages.receive_(controller_peer(), "controller", Role::controller, encode(heartbeat()));
  bench.messages.refuse_(MessageRefused{controller_peer(), {}});
  CHECK(bench.received.size() == 1);
}

TEST_CASE("digest_agrees_for_the_same_run_and_differs_when_a_timer_or_a_reply_differs") {
  const auto run = [](milliseconds period, BusReply reply) {
    Bench bench{[=](Instant now, const Event& event, EffectSink& sink) {
      if (is_start(event)) {
        sink.emit(SetTimer{TimerId{1}, now + period});
        sink.emit(Send{controller_peer(), heartbeat()});
        sink.emit(Transact{BusId{5}, TransactionId{1}, {}});
      }
    }};
    bench.start();
    bench.loop.run();
    bench.registers.waiting[0](reply);
    return bench.digest.value();
  };
  const BusReply seven{BusStatus::ok, 0, {7}, {}};
  const BusReply eight{BusStatus::ok, 0, {8}, {}};
  CHECK(run(milliseconds{10}, seven) == run(milliseconds{10}, seven));
  CHECK(run(milliseconds{10}, seven) != run(milliseconds{11}, seven));
  CHECK(run(milliseconds{10}, seven) != run(milliseconds{10}, eight));
}

}  // namespace loom
