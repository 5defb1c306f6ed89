// SPDX-License-Identifier: Apache-2.0
// One incarnation after the other, each with a fresh controller and a fresh host.
#include "sim_backend/experiments/tape_replay.hpp"

#include <array>
#include <map>
#include <memory>
#include <utility>

#include "controller/architectures/registry.hpp"
#include "controller/control/controller.hpp"
#include "controller/plan/pipeline.hpp"
#include "core/digest.hpp"
#include "core/text/format_text.hpp"
#include "runtime/host.hpp"
#include "runtime/journal/fold.hpp"
#include "runtime/journal/tape_file.hpp"

namespace loom {
namespace {

/// The time of the tape. Timers fire when the tape says so.
class TapeTime final : public TimeSeam {
 public:
  Instant now() const override { return now_; }
  ClockId clock() const override { return clock_; }
  Duration wall_offset() const override { return wall_offset_; }
  void call_at(Instant, Precision, std::function<void()>) override {}

  void set(Instant now) { now_ = now; }
  void set(const Started& started) {
    clock_ = started.clock;
    wall_offset_ = started.wall_offset;
  }

 private:
  Instant now_{};
  ClockId clock_;
  Duration wall_offset_{};
};

class TapeMessages final : public MessageSeam {
 public:
  void on_receive(Receive receive) override { receive_ = std::move(receive); }
  void on_refuse(Refuse refuse) override { refuse_ = std::move(refuse); }
  void send(Peer, std::string_view) override {}

  void arrive(const MessageArrived& message, std::string_view bytes) {
    receive_(message.from, message.envelope.principal, message.envelope.role, bytes);
  }
  void refuse(const MessageRefused& refused) { refuse_(refused); }

 private:
  Receive receive_;
  Refuse refuse_;
};

/// The journal as the incarnation found it; whether rows became durable is for the tape to say.
class TapeStorage final : public StorageSeam {
 public:
  Result<Loaded> load(const TakeRow& take) override {
    Loaded loaded;
    for (const std::string& row : rows_) {
      LOOM_TRY(take(loaded.rows + 1, row));
      ++loaded.rows;
    }
    rows_.clear();
    return loaded;
  }
  void append(std::string, RowKind, std::function<void(Result<void>)>) override {}

  void set(std::vector<std::string> rows) { rows_ = std::move(rows); }

 private:
  std::vector<std::string> rows_;
};

std::string_view kind_of_effect(const Effect& effect) {
  static constexpr std::array<std::string_view, std::variant_size_v<Effect>> kNames{
      "send", "set timer", "cancel timer", "transact", "append", "make plan", "alarm"};
  return kNames[effect.index()];
}

std::string_view kind_of_event(const Event& event) {
  static constexpr std::array<std::string_view, std::variant_size_v<Event>> kNames{
      "start",           "message", "refused message", "timer",   "bus reply", "journal answer",
      "journal failure", "plan",    "interlock",       "traffic", "keys"};
  return kNames[event.index()];
}

using OnAppend = std::function<void(Instant, const Record&)>;

class Incarnation {
 public:
  Incarnation(const Scenario& scenario, TapeVerdict& verdict, const OnAppend& on_append)
      : verdict_(verdict),
        on_append_(on_append),
        controller_({scenario.fabric, scenario.algorithm, scenario.controller, scenario.drift, scenario.adapt, row_bytes}) {
    HostSeams seams;
    seams.time = &time_;
    seams.messages = &messages_;
    seams.storage = &storage_;
    seams.digest = &digest_;
    seams.plan = [this](std::shared_ptr<const PlanRequest> request, const std::function<void(PlanOutcome)>&) {
      ++verdict_.plans;
      plans_.insert_or_assign(request->revision, std::move(request));
    };
    host_ = std::make_unique<Host>(HostOptions{controller_peer(), Role::controller, "controller"}, std::move(seams),
                                   [this](Instant now, const Event& event, EffectSink& sink) { step(now, event, sink); });
  }

  /// False: the digest is not the tape's any more.
  Result<bool> play(TapedEvent& taped) {
    time_.set(taped.at);
    answers_.clear();
    if (const auto* started = std::get_if<Started>(&taped.event)) {
      time_.set(*started);
      storage_.set(std::move(taped.bytes));
      LOOM_TRY(host_->start(started->boot_id));
    } else if (const auto* message = std::get_if<MessageArrived>(&taped.event)) {
      messages_.arrive(*message, taped.bytes.front());
    } else if (const auto* refused = std::get_if<MessageRefused>(&taped.event)) {
      messages_.refuse(*refused);
    } else if (auto* planned = std::get_if<Planned>(&taped.event)) {
      LOOM_TRY(plan(planned->outcome));
      host_->deliver(taped.event);
    } else {
      host_->deliver(taped.event);
    }
    return digest_.value() == taped.digest;
  }

  const std::vector<std::string>& answers() const { return answers_; }
  std::uint64_t digest() const { return digest_.value(); }

 private:
  void step(Instant now, const Event& event, EffectSink& sink) {
    controller_.step(now, event, sink);
    verdict_.answers += sink.effects().size();
    for (const Effect& effect : sink.effects()) {
      answers_.emplace_back(kind_of_effect(effect));
      const auto* append = std::get_if<Append>(&effect);
      if (append != nullptr && on_append_) {
        on_append_(now, append->record);
      }
      const auto* commit = append == nullptr ? nullptr : std::get_if<CommitRecord>(&append->record);
      verdict_.commits += commit != nullptr && commit->decision == CommitDecision::confirmed ? 1 : 0;
    }
  }

  Result<void> plan(PlanOutcome& outcome) {
    const auto order = plans_.find(outcome.revision);
    if (order == plans_.end()) {
      return fail(ErrorCode::conflict,
                  format_text("the tape has a plan for revision {} that this replay never asked for", outcome.revision.value));
    }
    outcome.result = outcome.is_stopped ? stopped_by_deadline(*order->second).result
                                        : make_plan(all_architectures(), *order->second, memory_);
    plans_.erase(order);
    return {};
  }

  TapeVerdict& verdict_;
  PlanMemory memory_;
  const OnAppend& on_append_;
  TapeTime time_;
  TapeMessages messages_;
  TapeStorage storage_;
  Digest digest_;
  Controller controller_;
  std::map<Revision, std::shared_ptr<const PlanRequest>> plans_;  ///< asked for and not yet answered
  std::vector<std::string> answers_;                              ///< to the event that was played last
  std::unique_ptr<Host> host_;
};

/// What a whole tape says of itself, beside its entries.
struct TapeCondition {
  std::string damage;
  std::uint64_t skipped = 0;  ///< events of incarnations whose beginning is gone
};

/// Calls `visit` for every entry in turn until it says false.
template <class Visit>
Result<TapeCondition> read_tape(const std::filesystem::path& path, Visit visit) {
  auto reader = TapeSequence::open(path);
  if (!reader) {
    return std::unexpected(reader.error());
  }
  while (true) {
    auto entry = reader->next();
    if (!entry) {
      return std::unexpected(entry.error());
    }
    if (!*entry) {
      break;
    }
    Result<bool> more = visit(**entry);
    if (!more) {
      return fail(more.error().code, format_text("{}: {}", path.string(), more.error().message));
    }
    if (!*more) {
      return TapeCondition{};
    }
  }
  return TapeCondition{reader->damage(), reader->skipped_events()};
}

Result<void> check_setup(const TapeHead& head, const Scenario& scenario) {
  if (head.setup_digest == setup_digest(*scenario.fabric, scenario.algorithm)) {
    return {};
  }
  return fail(
      ErrorCode::conflict,
      format_text("the session ran {} ({}) on another fabric or algorithm than {}, which has fabric {} and algorithm {}",
                  head.scenario, head.software, scenario.name, scenario.fabric->name, scenario.algorithm));
}

}  // namespace

Result<TapeHead> head_of_tape(const std::filesystem::path& path) {
  std::optional<TapeHead> head;
  const auto condition = read_tape(path, [&](TapeEntry& entry) -> Result<bool> {
    if (auto* found = std::get_if<TapeHead>(&entry)) {
      head = std::move(*found);
    }
    return true;
  });
  if (!condition) {
    return std::unexpected(condition.error());
  }
  if (!head) {
    return fail(ErrorCode::malformed, format_text("{} has no session on it{}", path.string(),
                                                  condition->damage.empty() ? "" : ": " + condition->damage));
  }
  return *std::move(head);
}

Result<TapeVerdict> replay_tape(const std::filesystem::path& path, const Scenario& scenario, const OnAppend& on_append) {
  TapeVerdict verdict;
  std::unique_ptr<Incarnation> incarnation;
  Instant last{};
  const auto play = [&](TapeEntry& entry) -> Result<bool> {
    if (const auto* head = std::get_if<TapeHead>(&entry)) {
      LOOM_TRY(check_setup(*head, scenario));
      incarnation = std::make_unique<Incarnation>(scenario, verdict, on_append);
      ++verdict.incarnations;
      return true;
    }
    auto& taped = std::get<TapedEvent>(entry);
    if (!incarnation) {
      return fail(ErrorCode::malformed, "an event before the beginning of an incarnation");
    }
    ++verdict.events;
    verdict.covered += std::holds_alternative<Started>(taped.event) ? Duration{} : taped.at - last;
    last = taped.at;
    const std::string kind(kind_of_event(taped.event));
    const auto agrees = incarnation->play(taped);
    if (!agrees) {
      return std::unexpected(agrees.error());
    }
    if (!*agrees) {
      verdict.divergence = Divergence{verdict.events, verdict.incarnations, taped.at, kind, incarnation->answers()};
      return false;
    }
    verdict.digest = incarnation->digest();
    return true;
  };
  auto condition = read_tape(path, play);
  if (!condition) {
    return std::unexpected(std::move(condition).error());
  }
  verdict.damage = std::move(condition->damage);
  verdict.skipped = condition->skipped;
  return verdict;
}

}  // namespace loom
