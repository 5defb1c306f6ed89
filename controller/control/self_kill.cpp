// SPDX-License-Identifier: Apache-2.0
// Counting kill points, and a sentence for the one that was reached.
#include "controller/control/self_kill.hpp"

#include <array>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr auto kBodyNames =
    std::to_array<std::string_view>({"Hello",       "Prepared",        "Armed",         "Darkened",        "Settled",
                                     "Applied",     "CycleDone",       "Heartbeat",     "Observation",     "TrafficReport",
                                     "AlarmReport", "Welcome",         "Unwelcome",     "Prepare",         "Arm",
                                     "Go",          "Proceed",         "Confirm",       "Abandon",         "SetLasers",
                                     "Beat",        "OperatorRequest", "OperatorReply", "ResetDevice",     "DeviceReset",
                                     "GrantWord",   "PassReady",       "PassBegin",     "IterationReport", "PeerAddresses",
                                     "Pulse"});
static_assert(kBodyNames.size() == std::variant_size_v<Body>);
constexpr auto kEventNames = std::to_array<std::string_view>(
    {"Started", "MessageArrived", "MessageRefused", "TimerFired", "BusReplied", "Appended", "AppendFailed", "Planned",
     "Interlock", "Traffic", "KeysChanged", "Training", "ClockJudged", "PeersListen", "PulseDue"});
static_assert(kEventNames.size() == std::variant_size_v<Event>);
constexpr auto kEffectNames = std::to_array<std::string_view>(
    {"Send", "SetTimer", "CancelTimer", "Transact", "Append", "MakePlan", "RaiseAlarm", "TellTraining", "LearnPeers"});
static_assert(kEffectNames.size() == std::variant_size_v<Effect>);
constexpr auto kRecordNames = std::to_array<std::string_view>({"term", "intent", "commit", "latch", "snapshot", "audit"});
static_assert(kRecordNames.size() == std::variant_size_v<Record>);
constexpr std::array<std::string_view, 4> kDecisionNames{"going", "confirmed", "returned", "planned"};

std::string name_of(const Event& event) {
  const auto* message = std::get_if<MessageArrived>(&event);
  return std::string(message != nullptr ? kBodyNames[message->envelope.body.index()] : kEventNames[event.index()]);
}

std::string name_of(const Effect& effect) {
  std::string name(kEffectNames[effect.index()]);
  if (const auto* send = std::get_if<Send>(&effect)) {
    return format_text("{} {}", name, kBodyNames[send->envelope.body.index()]);
  }
  const auto* append = std::get_if<Append>(&effect);
  if (append == nullptr) {
    return name;
  }
  const auto* commit = std::get_if<CommitRecord>(&append->record);
  const std::string_view what =
      commit != nullptr ? kDecisionNames[static_cast<std::size_t>(commit->decision)] : kRecordNames[append->record.index()];
  return format_text("{} {}", name, what);
}

bool orders_a_job(const Event& event) {
  const auto* message = std::get_if<MessageArrived>(&event);
  const auto* request = message == nullptr ? nullptr : std::get_if<OperatorRequest>(&message->envelope.body);
  return request != nullptr &&
         (std::holds_alternative<SubmitJob>(request->ask) || std::holds_alternative<CancelJob>(request->ask));
}

/// "in the step that received Armed, after Append going, before Send Go".
std::string place_of(const Event& event, const std::vector<Effect>& effects, std::size_t kept) {
  std::string place = "in the step that received " + name_of(event);
  place += kept == 0 ? "" : ", after " + name_of(effects[kept - 1]);
  return place + (kept == effects.size() ? ", at its end" : ", before " + name_of(effects[kept]));
}

}  // namespace

ControllerStep cut_at_kill_point(ControllerStep step, std::uint64_t point, std::function<void(std::string place)> die) {
  return [step = std::move(step), point, die = std::move(die), passed = std::uint64_t{0}, is_counting = false,
          is_dying = false](Instant now, const Event& event, EffectSink& sink) mutable {
    if (is_dying) {
      return;
    }
    step(now, event, sink);
    is_counting = is_counting || orders_a_job(event);
    if (!is_counting) {
      return;
    }
    std::vector<Effect>& effects = sink.effects();
    const std::uint64_t first = passed;
    passed += effects.size() + 1;
    if (point >= passed) {
      return;
    }
    const std::size_t kept = point - first;
    is_dying = true;
    die(place_of(event, effects, kept));
    effects.erase(effects.begin() + static_cast<std::ptrdiff_t>(kept), effects.end());
  };
}

}  // namespace loom
