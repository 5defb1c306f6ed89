// SPDX-License-Identifier: Apache-2.0
// loom sim replay: a live session again, from its tape.
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/offline/replay.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/text/format_text.hpp"
#include "sim_backend/experiments/tape_replay.hpp"

namespace loom::cli {
namespace {

std::string hex(std::uint64_t number) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

/// "send x3, set timer"
std::string answers_of(const Divergence& divergence) {
  std::string text;
  for (std::size_t i = 0; i < divergence.answers.size();) {
    std::size_t same = i;
    while (same < divergence.answers.size() && divergence.answers[same] == divergence.answers[i]) {
      ++same;
    }
    text += (text.empty() ? "" : ", ") + divergence.answers[i];
    text += same - i > 1 ? format_text(" x{}", same - i) : "";
    i = same;
  }
  return text.empty() ? "nothing" : text;
}

nlohmann::ordered_json json_of(const TapeVerdict& verdict) {
  auto object = answer();
  object["agrees"] = !verdict.divergence.has_value();
  object["lives"] = verdict.incarnations;
  object["events"] = verdict.events;
  object["answers"] = verdict.answers;
  object["plans"] = verdict.plans;
  object["commits"] = verdict.commits;
  object["covered_s"] = seconds_of(verdict.covered);
  object["digest"] = hex(verdict.digest);
  object["skipped"] = verdict.skipped;
  object["damage"] = verdict.damage;
  if (const auto& divergence = verdict.divergence) {
    object["divergence"] = {{"event", divergence->event},
                            {"life", divergence->incarnation},
                            {"kind", divergence->kind},
                            {"answered", answers_of(*divergence)}};
  }
  return object;
}

void print(const TapeVerdict& verdict, double wall_s) {
  std::printf("digest       %s\n", hex(verdict.digest).c_str());
  std::printf("incarnations %u\n", verdict.incarnations);
  std::printf("events       %llu received, %llu answers\n", static_cast<unsigned long long>(verdict.events),
              static_cast<unsigned long long>(verdict.answers));
  std::printf("decisions    %llu plans made again, %llu revisions confirmed\n", static_cast<unsigned long long>(verdict.plans),
              static_cast<unsigned long long>(verdict.commits));
  std::printf("time         %.3f s live, %.3f s replayed\n", seconds_of(verdict.covered), wall_s);
}

}  // namespace

int replay_recording(const Globals& globals, const ReplayCommand& order) {
  std::string path = order.scenario;
  if (path.empty()) {
    const auto head = head_of_tape(order.tape);
    if (!head) {
      return give_up(head.error(), "loom lab up SCENARIO --record makes a tape");
    }
    path = head->scenario;
  }
  const auto scenario = load_scenario(path, all_fabric_kinds());
  if (!scenario) {
    for (const ConfigError& error : scenario.errors) {
      print_note(to_string(error));
    }
    print_note(format_text("  loom sim replay {} --scenario FILE names another place of the scenario", order.tape));
    return kFailed;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto verdict = replay_tape(order.tape, *scenario.value);
  if (!verdict) {
    return give_up(verdict.error(), format_text("loom sim replay {} --scenario FILE", order.tape));
  }
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (globals.json) {
    cli::print(json_of(*verdict));
  } else {
    print(*verdict, wall_s);
  }
  if (!verdict->damage.empty()) {
    print_note("the tape is damaged: " + verdict->damage);
  }
  if (verdict->skipped > 0) {
    print_note(format_text("{} events were passed over: the beginning of their incarnation is gone", verdict->skipped));
  }
  if (const auto& divergence = verdict->divergence) {
    complain(ErrorCode::conflict,
             format_text("event {} ({}, incarnation {}) was answered otherwise than live: here with {}", divergence->event,
                         divergence->kind, divergence->incarnation, answers_of(*divergence)),
             "loom sim replay with the build that recorded the tape");
    return kFailed;
  }
  if (!globals.json) {
    std::printf("agrees       %s\n",
                verdict->damage.empty() ? "every answer is the live session's" : "as far as the tape is sound");
  }
  return verdict->damage.empty() ? kDone : kPartial;
}

}  // namespace loom::cli
