// OperatorScript: the operator of a simulated run, as a step machine. It submits and cancels a scenario's jobs at their times
// through the same messages that `loom` sends, and remembers what it was answered. Not answered, it does what a careful person
// does: looks whether the job is there before it asks again. It knows nothing else of the controller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/config/scenario.hpp"
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
    RequestId request;  ///< the question under way
    JobId job;
    Instant asked_at{};
    Instant submitted_at{};
    Instant ends_at = kNever;
    std::string reason;  ///< of a refusal
  };

  /// `jobs`: ascending `at`; `after` names an entry of it. `patience`: how long a question may stay without an answer before
  /// its asker looks (a submission) or asks again (everything else); kForever: it waits.
  explicit OperatorScript(std::vector<ScriptedJob> jobs, Duration patience = std::chrono::seconds{3});

  void step(Instant now, const Event& event, EffectSink& sink);

  const std::vector<Entry>& entries() const { return entries_; }
  /// Nothing is left to ask or to end at a known time.
  bool is_done() const;
  /// Stops submitting; what runs keeps running.
  void stop() { stopped_ = true; }

 private:
  void on_reply(Instant now, const OperatorReply& reply);
  void on_jobs(Entry& entry, const OperatorReply& reply, Instant now);
  void begin_running(Entry& entry, JobId job, Instant now) const;
  void ask_for(Entry& entry, Instant now, EffectSink& sink);
  Instant due_of(const Entry& entry) const;
  void act(Instant now, EffectSink& sink);
  void ask(Entry& entry, Instant now, OperatorAsk question, EffectSink& sink);

  std::vector<Entry> entries_;
  Duration patience_;
  std::map<std::string, std::size_t> by_name_;
  std::uint64_t last_request_ = 0;
  bool stopped_ = false;
};

}  // namespace loom
