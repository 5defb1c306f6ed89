// SPDX-License-Identifier: Apache-2.0
// The host's core: one queue of events, one machine, and what each effect means at the seams. Everything here runs on the
// loop's thread; whatever a seam answers late finds the core closed and does nothing.
#include "runtime/host.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/journal/journal_state.hpp"
#include "proto/codec.hpp"
#include "runtime/journal/fold.hpp"

namespace loom {
namespace {

// Tags of the two effects that fold.hpp leaves to the host.
constexpr std::uint64_t kSendTag = 64;
constexpr std::uint64_t kAppendTag = 68;

std::uint64_t digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.value();
}

/// The sink of one step, warm from the last one of this thread, whichever machine that was of: hundreds of agents of a process
/// need not each keep the room of their longest step. Steps of different machines may be nested.
class WarmSink {
 public:
  WarmSink() : sink_(idle().empty() ? std::make_unique<EffectSink>() : std::move(idle().back())) {
    if (!idle().empty()) {
      idle().pop_back();
    }
  }
  ~WarmSink() {
    sink_->clear();
    idle().push_back(std::move(sink_));
  }
  WarmSink(const WarmSink&) = delete;
  WarmSink& operator=(const WarmSink&) = delete;
  EffectSink& operator*() const { return *sink_; }
  EffectSink* operator->() const { return sink_.get(); }

 private:
  static std::vector<std::unique_ptr<EffectSink>>& idle() {
    static thread_local std::vector<std::unique_ptr<EffectSink>> sinks;
    return sinks;
  }
  std::unique_ptr<EffectSink> sink_;
};

}  // namespace

class Host::Core : public std::enable_shared_from_this<Host::Core> {
 public:
  Core(HostOptions options, HostSeams seams, StepFunction step)
      : options_(std::move(options)), seams_(std::move(seams)), step_(std::move(step)) {
    LOOM_ASSERT(seams_.time != nullptr);
    LOOM_ASSERT(seams_.messages != nullptr);
    LOOM_ASSERT(step_ != nullptr);
    LOOM_ASSERT(!seams_.record || seams_.digest != nullptr);
  }

  void listen();
  Result<void> start(std::uint64_t boot_id);
  void close();
  /// Steps the machine now, or after what it is busy with.
  void deliver(Event event, std::uint64_t encoding = 0, std::vector<std::string> bytes = {});
  const HostCounters& counters() const { return counters_; }

 private:
  struct Pending {
    Event event;
    std::uint64_t encoding = 0;
    std::vector<std::string> bytes;  ///< of a recorder
  };
  using Timers = std::unordered_map<TimerId, std::uint64_t>;  ///< timer -> its generation

  void receive(Peer from, std::string_view principal, Role role, std::string_view bytes);
  void answer_undecoded(Peer from, std::string_view bytes, const Error& error);
  void step(const Event& event, std::uint64_t encoding, const std::vector<std::string>& bytes);
  void step_pending();

  void perform(Send& effect);
  void perform(const SetTimer& effect);
  void perform(const CancelTimer& effect);
  void perform(Transact& effect);
  void perform(const Append& effect);
  void perform(MakePlan& effect);
  void perform(const RaiseAlarm& effect);
  void perform(const TellTraining& effect);
  void perform(const LearnPeers& effect);

  void fire(TimerId timer, std::uint64_t generation);
  void journal_answered(StorageSeam::RowKind kind, Result<void> result);
  void raise(const Alarm& alarm) const;
  struct Journal;
  Result<void> take_row(Journal& journal, std::uint64_t number, std::string_view row);
  void measure_tail(bool is_snapshot, std::size_t bytes);
  bool is_snapshot_due() const {
    return tail_rows_ > options_.tail.rows || tail_bytes_ > std::max(options_.tail.bytes, 2 * snapshot_bytes_);
  }
  void fold_bytes(std::uint64_t tag, const Peer& to, std::string_view bytes);

  HostOptions options_;
  HostSeams seams_;
  StepFunction step_;
  HostCounters counters_;
  std::deque<Pending> pending_;  ///< what arrived while the machine was busy
  Timers timers_;                ///< only those that are set
  std::vector<Timers::node_type> spare_timers_;
  std::uint64_t generation_ = 0;          ///< of the timer that was set last
  std::uint64_t durable_ = 0;             ///< appends of this incarnation, all durable
  std::optional<Error> journal_failure_;  ///< since then no row is written: the journal stays a prefix of what was asked for
  std::uint64_t tail_rows_ = 0;           ///< behind the last snapshot
  std::uint64_t tail_bytes_ = 0;
  std::uint64_t snapshot_bytes_ = 0;
  std::string buffer_;  ///< encodings, one after the other
  bool busy_ = false;
  bool closed_ = false;
};

// --- what comes in -------------------------------------------------------------------------------------------------------

void Host::Core::listen() {
  seams_.messages->on_receive(
      [core = shared_from_this()](Peer from, std::string_view principal, Role role, std::string_view envelope) {
        core->receive(from, principal, role, envelope);
      });
  seams_.messages->on_refuse([core = shared_from_this()](const MessageRefused& refused) { core->deliver(refused); });
}

void Host::Core::receive(Peer from, std::string_view principal, Role role, std::string_view bytes) {
  if (closed_) {
    return;
  }
  ++counters_.received;
  Result<Envelope> envelope = decode_envelope(bytes);
  if (!envelope) {
    ++counters_.malformed;
    answer_undecoded(from, bytes, envelope.error());
    deliver(MessageRefused{from, std::move(envelope).error(), RefusalKind::malformed, 1, std::string(principal)});
    return;
  }
  envelope->principal.assign(principal);
  envelope->role = role;
  std::vector<std::string> kept;
  if (seams_.record) {
    kept.emplace_back(bytes);
  }
  deliver(MessageArrived{from, std::move(*envelope)}, seams_.digest != nullptr ? digest_of(bytes) : 0, std::move(kept));
}

/// An operator that is told nothing would wait until its time is out. Not the machine's affair: it is no part of what a replay
/// must decide again.
void Host::Core::answer_undecoded(Peer from, std::string_view bytes, const Error& error) {
  const auto request = from.kind == Peer::Kind::operator_ ? peek_request(bytes) : std::nullopt;
  if (!request) {
    return;
  }
  OperatorReply reply;
  reply.request = *request;
  reply.outcome.error = error;
  Envelope envelope;
  envelope.role = Role::controller;
  envelope.body = std::move(reply);
  seams_.messages->send(from, encode(envelope));
}

void Host::Core::fire(TimerId timer, std::uint64_t generation) {
  if (closed_) {
    return;
  }
  const auto found = timers_.find(timer);
  if (found == timers_.end() || found->second != generation) {
    return;  // moved or cancelled since
  }
  spare_timers_.push_back(timers_.extract(found));
  deliver(TimerFired{timer});
}

/// Rows are answered in their order. Behind one that failed nothing is covered by a count, even if it is durable: an act that
/// waits for the failed row would be taken for recorded. A snapshot that failed takes nothing along: nobody waits for it.
void Host::Core::journal_answered(StorageSeam::RowKind kind, Result<void> result) {
  if (!result && kind == StorageSeam::RowKind::snapshot) {
    raise({AlarmCode::journal_damaged, std::nullopt, std::nullopt,
           "the journal grows, as its snapshot cannot be written: " + result.error().message, result.error().next_command});
    result = {};
  }
  if (!result) {
    journal_failure_ = std::move(result).error();
    deliver(AppendFailed{*journal_failure_});
  } else if (!journal_failure_) {
    ++durable_;
    deliver(Appended{durable_, is_snapshot_due()});
  }
}

void Host::Core::measure_tail(bool is_snapshot, std::size_t bytes) {
  if (is_snapshot) {
    tail_rows_ = 0;
    tail_bytes_ = 0;
    snapshot_bytes_ = bytes;
  } else {
    ++tail_rows_;
    tail_bytes_ += bytes;
  }
}

// --- the step ------------------------------------------------------------------------------------------------------------

void Host::Core::deliver(Event event, std::uint64_t encoding, std::vector<std::string> bytes) {
  if (closed_) {
    return;
  }
  if (busy_) {
    pending_.push_back({std::move(event), encoding, std::move(bytes)});
    return;
  }
  step(event, encoding, bytes);
  step_pending();
}

void Host::Core::step_pending() {
  while (!pending_.empty() && !closed_) {
    const Pending next = std::move(pending_.front());
    pending_.pop_front();
    step(next.event, next.encoding, next.bytes);
  }
}

void Host::Core::step(const Event& event, std::uint64_t encoding, const std::vector<std::string>& bytes) {
  busy_ = true;
  ++counters_.events;
  if (seams_.digest != nullptr) {
    seams_.digest->add(static_cast<std::uint64_t>(options_.self.kind) << 60 ^ options_.self.id);
    fold(*seams_.digest, event, encoding);
  }
  const Instant begun = seams_.time->now();
  const WarmSink sink;
  step_(begun, event, *sink);
  counters_.longest_step = std::max(counters_.longest_step, seams_.time->now() - begun);
  for (Effect& effect : sink->effects()) {
    if (closed_) {
      break;
    }
    ++counters_.effects;
    std::visit([this](auto& kind) { perform(kind); }, effect);
  }
  busy_ = false;
  if (seams_.record && !closed_) {
    seams_.record(begun, event, bytes, seams_.digest->value());
  }
}

void Host::Core::close() {
  closed_ = true;
  pending_.clear();
  timers_.clear();
  if (!busy_) {
    step_ = nullptr;  // a machine that ends its own host from inside a step keeps its closure until that step is over
  }
}

// --- what goes out -------------------------------------------------------------------------------------------------------

void Host::Core::fold_bytes(std::uint64_t tag, const Peer& to, std::string_view bytes) {
  if (seams_.digest != nullptr) {
    seams_.digest->add(tag);
    seams_.digest->add(static_cast<std::uint64_t>(to.kind) << 60 ^ to.id);
    seams_.digest->add(bytes);
  }
}

void Host::Core::perform(Send& effect) {
  LOOM_ASSERT(effect.to != options_.self);
  effect.envelope.principal = options_.principal;
  effect.envelope.role = options_.role;
  buffer_.clear();
  encode_to(effect.envelope, buffer_);
  ++counters_.sent;
  fold_bytes(kSendTag, effect.to, buffer_);
  seams_.messages->send(effect.to, buffer_);
}

void Host::Core::perform(const SetTimer& effect) {
  if (seams_.digest != nullptr) {
    fold(*seams_.digest, effect);
  }
  const std::uint64_t generation = ++generation_;
  if (const auto found = timers_.find(effect.timer); found != timers_.end()) {
    found->second = generation;
  } else if (!spare_timers_.empty()) {
    Timers::node_type node = std::move(spare_timers_.back());
    spare_timers_.pop_back();
    node.key() = effect.timer;
    node.mapped() = generation;
    timers_.insert(std::move(node));
  } else {
    timers_.emplace(effect.timer, generation);
  }
  if (effect.at == kNever) {
    return;
  }
  seams_.time->call_at(effect.at, effect.precision,
                       [core = shared_from_this(), timer = effect.timer, generation] { core->fire(timer, generation); });
}

void Host::Core::perform(const CancelTimer& effect) {
  if (seams_.digest != nullptr) {
    fold(*seams_.digest, effect);
  }
  if (const auto found = timers_.find(effect.timer); found != timers_.end()) {
    spare_timers_.push_back(timers_.extract(found));
  }
}

void Host::Core::perform(Transact& effect) {
  LOOM_ASSERT(seams_.registers != nullptr);
  ++counters_.transactions;
  if (seams_.digest != nullptr) {
    fold(*seams_.digest, effect);
  }
  seams_.registers->submit(effect.bus, effect.order,
                           [core = shared_from_this(), bus = effect.bus, transaction = effect.transaction](BusReply reply) {
                             core->deliver(BusReplied{bus, transaction, std::move(reply)});
                           });
}

void Host::Core::perform(const Append& effect) {
  std::string row = encode(effect.record);
  fold_bytes(kAppendTag, options_.self, row);
  if (seams_.storage == nullptr) {
    deliver(AppendFailed{{ErrorCode::unsupported, "this host was started without a journal"}});
    return;
  }
  if (journal_failure_) {
    deliver(AppendFailed{*journal_failure_});
    return;
  }
  const bool is_snapshot = std::holds_alternative<SnapshotRecord>(effect.record);
  const auto kind = is_snapshot ? StorageSeam::RowKind::snapshot : StorageSeam::RowKind::addition;
  measure_tail(is_snapshot, row.size());
  seams_.storage->append(std::move(row), kind, [core = shared_from_this(), kind](Result<void> result) {
    core->journal_answered(kind, std::move(result));
  });
}

void Host::Core::perform(MakePlan& effect) {
  LOOM_ASSERT(effect.request != nullptr);
  if (seams_.digest != nullptr) {
    fold(*seams_.digest, effect);
  }
  if (!seams_.plan) {
    PlanOutcome outcome;
    outcome.revision = effect.request->revision;
    outcome.result = fail(ErrorCode::unsupported, "this host was started without a planner");
    deliver(Planned{std::move(outcome)});
    return;
  }
  seams_.plan(std::move(effect.request),
              [core = shared_from_this()](PlanOutcome outcome) { core->deliver(Planned{std::move(outcome)}); });
}

void Host::Core::perform(const RaiseAlarm& effect) {
  if (seams_.digest != nullptr) {
    fold(*seams_.digest, effect);
  }
  raise(effect.alarm);
}

void Host::Core::perform(const TellTraining& effect) {
  if (seams_.digest != nullptr) {
    fold(*seams_.digest, effect);
  }
  if (seams_.training) {
    seams_.training(effect.word);
  }
}

void Host::Core::perform(const LearnPeers& effect) {
  if (seams_.digest != nullptr) {
    fold(*seams_.digest, effect);
  }
  if (seams_.peers) {
    seams_.peers(effect.peers);
  }
}

void Host::Core::raise(const Alarm& alarm) const {
  if (seams_.alarm) {
    seams_.alarm(alarm);
  }
}

// --- the beginning -------------------------------------------------------------------------------------------------------

/// What is read of a journal, while it is read: what it says, and the rows themselves only for a recorder.
struct Host::Core::Journal {
  SnapshotRecord state;
  std::vector<std::string> rows;
  Digest digest;
};

Result<void> Host::Core::start(std::uint64_t boot_id) {
  Journal journal;
  StorageSeam::Loaded loaded;
  if (seams_.storage != nullptr) {
    auto read =
        seams_.storage->load([&](std::uint64_t number, std::string_view row) { return take_row(journal, number, row); });
    if (!read) {
      return std::unexpected(std::move(read).error());
    }
    loaded = std::move(*read);
  }
  listen();
  if (!loaded.damage.empty()) {
    raise({AlarmCode::journal_damaged, std::nullopt, std::nullopt, std::move(loaded.damage), "loom alarm list"});
  }
  Started started{boot_id, seams_.time->clock(), {}, seams_.time->wall_offset()};
  if (loaded.rows > 0) {
    started.records.emplace_back(std::move(journal.state));
  }
  deliver(std::move(started), journal.digest.value(), std::move(journal.rows));
  return {};
}

/// Refuses what does not decode, and what does not follow from what was before: what comes after it may rest on what is lost,
/// so whoever stores it must not go on behind it.
Result<void> Host::Core::take_row(Journal& journal, std::uint64_t number, std::string_view row) {
  Result<Record> record = decode_record(row);
  if (!record) {
    return std::unexpected(std::move(record).error());
  }
  const bool is_snapshot = std::holds_alternative<SnapshotRecord>(*record);
  if (number > 1 && tail_rows_ == 0 && snapshot_bytes_ == 0 && !is_snapshot) {
    return fail(ErrorCode::malformed, "it is the first one and no snapshot, so what came before it is lost");
  }
  if (std::string misfit = misfit_of(journal.state, *record); !misfit.empty()) {
    return fail(ErrorCode::malformed, std::move(misfit));
  }
  measure_tail(is_snapshot, row.size());
  journal.digest.add(row);
  if (seams_.record) {
    journal.rows.emplace_back(row);
  }
  apply(journal.state, *std::move(record));
  return {};
}

// --- the host ------------------------------------------------------------------------------------------------------------

Host::Host(HostOptions options, HostSeams seams, StepFunction step)
    : core_(std::make_shared<Core>(std::move(options), std::move(seams), std::move(step))) {}

Host::~Host() { core_->close(); }

Result<void> Host::start(std::uint64_t boot_id) { return core_->start(boot_id); }
void Host::deliver(const Event& event) { core_->deliver(event); }
const HostCounters& Host::counters() const { return core_->counters(); }

std::size_t row_bytes(const Record& record) { return encoded_bytes(record); }

}  // namespace loom
