// SPDX-License-Identifier: Apache-2.0
// OperatorScript: the operator of a run, as a step machine. It submits and cancels a scenario's jobs at their times, and does
// what else the scenario says, through the same messages that `loom` sends, and remembers what it was answered. Not answered,
// it does what a careful person does: looks whether the job is there before it asks again. It knows nothing else of the
// controller, and of the jobs' light only what launch watchers tell it (end_job).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/step.hpp"
#include "sim_backend/traffic_source.hpp"

namespace loom {

/// A submission together with the job that its workload makes.
struct ScriptedJob {
  JobSubmission submission;
  JobSpec spec;
  std::vector<PlayedTraffic> traffic{};  ///< what it really moves
};

class OperatorScript {
 public:
  enum class State : std::uint8_t { waiting, submitting, looking, running, cancelling, ended, refused };
  struct Entry {
    ScriptedJob scripted;
    State state = State::waiting;
    RequestId request{};  ///< the question under way
    JobId job{};          ///< of a submission that changes another: the other
    Instant asked_at{};
    std::optional<Instant> submitted_at{};  ///< acknowledged
    Instant ends_at = kNever;
    std::optional<Instant> ended_at{};  ///< when it was cancelled
    bool counts_iterations = false;     ///< it is ended once its light has carried them
    std::string reason{};               ///< of a refusal
  };
  struct Action {
    ScenarioAction what;
    RequestId request{};
    Instant asked_at = kNever;  ///< the first time
    Instant again_at = kNever;
    std::optional<Instant> answered_at{};
    std::string refusal{};
    std::optional<std::vector<ScheduledCircuit>> circuits{};  ///< of a schedule to pin: what was found lit
  };

  /// `jobs` and `actions`: ascending `at`; `after` names an entry of it. `patience`: how long a question may stay without an
  /// answer before its asker looks (a submission) or asks again (everything else); kForever: it waits.
  explicit OperatorScript(std::vector<ScriptedJob> jobs, Duration patience = std::chrono::seconds{3},
                          std::vector<ScenarioAction> actions = {});

  void step(Instant now, const Event& event, EffectSink& sink);

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<Action>& actions() const { return actions_; }
  /// Nothing is left to ask, or to end at a known time; jobs may still end with their iterations.
  bool has_asked_all() const;
  /// Nor is any job counted.
  bool is_done() const;
  /// Stops submitting and ordering; what runs keeps running.
  void stop() { stopped_ = true; }
  /// Its launcher is done: the job is cancelled with the next step from `at` on.
  void end_job(std::size_t entry, Instant at) { entries_[entry].ends_at = std::min(entries_[entry].ends_at, at); }
  /// Its light will carry no more iterations as things are; nobody waits for its end.
  void await_no_end(std::size_t entry) { entries_[entry].counts_iterations = false; }

 private:
  void on_reply(Instant now, const OperatorReply& reply);
  void on_job_reply(Entry& entry, const OperatorReply& reply, Instant now);
  void on_jobs(Entry& entry, const OperatorReply& reply, Instant now);
  void begin_running(Entry& entry, JobId job, Instant now) const;
  void ask_for(Entry& entry, Instant now, EffectSink& sink);
  Instant due_of(const Entry& entry) const;
  void act(Instant now, EffectSink& sink);
  void ask(Entry& entry, Instant now, OperatorAsk question, EffectSink& sink);
  // What else is ordered.
  const Entry* job_of(const Action& action) const;
  Instant due_of(const Action& action) const;
  void order(Action& action, Instant now, EffectSink& sink);
  OperatorAsk order_of(const Action& action) const;
  void follow_cancel(Action& action, Instant now);
  static void send(RequestId request, OperatorAsk question, EffectSink& sink);

  std::vector<Entry> entries_;
  std::vector<Action> actions_;
  Duration patience_;
  std::map<std::string, std::size_t> by_name_;
  std::uint64_t last_request_ = 0;
  bool stopped_ = false;
};

}  // namespace loom
