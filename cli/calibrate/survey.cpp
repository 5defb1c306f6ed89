// SPDX-License-Identifier: Apache-2.0
// Ask, follow the revision, read what came; a refusal is the survey's own affair.
#include "cli/calibrate/survey.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = std::chrono::milliseconds{10};
/// A monitor that says nothing for so long after a commit is given up for this look: longer than an agent's round of audits.
constexpr auto kReadingWait = std::chrono::seconds{6};

/// What came to its receivers since the last commit; a monitor that stays silent is left out.
Result<ReceivedLights> look(Connection& connection, const LightSurvey& survey) {
  const std::vector<ElementId> receivers = survey.receivers();
  for (const auto deadline = Clock::now() + kReadingWait;;) {
    const auto rows = rows_of<ReceiverReport>(connection, Noun::receivers);
    if (!rows) {
      return std::unexpected(rows.error());
    }
    ReceivedLights lights = lights_at(*rows, receivers);
    const bool is_late = Clock::now() > deadline;
    bool is_whole = lights.size() == receivers.size();
    if (survey.wants_ways() && (is_whole || is_late)) {
      const auto ways = rows_of<WayReport>(connection, Noun::ways);
      if (!ways) {
        return std::unexpected(ways.error());
      }
      is_whole = add_ways(*ways, lights);
    }
    if (is_whole || is_late) {
      return lights;
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

/// What the controller has against a look is the survey's business.
bool is_about_the_look(ErrorCode code) {
  return code == ErrorCode::conflict || code == ErrorCode::infeasible || code == ErrorCode::refused ||
         code == ErrorCode::out_of_range;
}

/// False: the controller would not plan it, and the survey knows. Ordered again where agents did not carry it out.
Result<bool> light(Connection& connection, const Globals& globals, LightSurvey& survey) {
  for (int attempt = 1;; ++attempt) {
    const auto reply = connection.ask(survey.ask());
    if (!reply && is_about_the_look(reply.error().code)) {
      survey.refused(reply.error());
      return false;
    }
    if (!reply) {
      return std::unexpected(reply.error());
    }
    const auto done = await_revision(connection, reply->revision, globals.timeout);
    if (done) {
      return true;
    }
    if (attempt == kLookAttempts || done.error().code != ErrorCode::refused) {
      return std::unexpected(done.error());
    }
  }
}

Result<void> step(Connection& connection, const Globals& globals, LightSurvey& survey) {
  const auto is_lit = light(connection, globals, survey);
  if (!is_lit || !*is_lit) {
    return is_lit ? Result<void>() : std::unexpected(is_lit.error());
  }
  const auto lights = look(connection, survey);
  if (!lights) {
    return std::unexpected(lights.error());
  }
  survey.take(*lights);
  return {};
}

}  // namespace

Result<void> await_revision(Connection& connection, Revision revision, Duration timeout) {
  for (const auto deadline = Clock::now() + timeout; revision.value != 0;) {
    const auto history = connection.ask(Query{Noun::history, revision.value});
    if (!history) {
      return std::unexpected(history.error());
    }
    for (const CommitReport& row : std::get<std::vector<CommitReport>>(history->rows)) {
      if (row.outcome != CommitOutcome::committed) {
        return fail(ErrorCode::refused,
                    format_text("revision {} was {}: {}", revision.value, to_string(row.outcome), row.reason),
                    "loom schedule history");
      }
      return {};
    }
    if (Clock::now() >= deadline) {
      return fail(ErrorCode::timed_out, format_text("revision {} is not confirmed after {}", revision.value, text_of(timeout)),
                  "loom status");
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return {};
}

Result<void> run_survey(Connection& connection, const Globals& globals, std::string_view parts, LightSurvey& survey) {
  Progress progress;
  while (!survey.is_over()) {
    if (auto done = step(connection, globals, survey); !done) {
      (void)connection.ask(ProbeLight{});
      return done;
    }
    progress.show(parts, survey.done(), survey.all());
  }
  const auto dark = connection.ask(ProbeLight{});
  return dark ? await_revision(connection, dark->revision, globals.timeout) : std::unexpected(dark.error());
}

}  // namespace loom::cli
