// SPDX-License-Identifier: Apache-2.0
// loom status: the controller in a dozen lines.
#include "cli/command_line.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/read.hpp"
#include "cli/nouns/rows.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

/// "3900 over_quota, 2 foreign"; empty: nothing was refused.
std::string refusals_word(const RefusalCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      text += format_text("{}{} {}", text.empty() ? "" : ", ", counts[i], to_string(static_cast<RefusalKind>(i)));
    }
  }
  return text;
}

/// Of agents that it does not hear a controller does not know whether they are dark still.
std::string lasers_word(const StatusReport& status) {
  if (!status.lasers_off) {
    return "on";
  }
  const std::uint32_t unheard = status.suspect + status.dead;
  return "OFF, latched (loom lasers rearm)" +
         (unheard == 0 ? std::string{}
                       : format_text("; {} not heard, NOT KNOWN TO BE DARK (loom lasers status)",
                                     unheard == 1 ? "1 agent is" : number(unheard) + " agents are"));
}

}  // namespace

std::string text_of(const StatusReport& status) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += format_text("{}{}{}\n", name, std::string(12 - name.size(), ' '), value);
  };
  line("fabric", format_text("{}, {} nodes", status.fabric, status.nodes));
  line("revision", format_text("{} (term {})", status.revision.value, status.term.value));
  if (status.stage != CommitState::idle) {
    line("under way", format_text("revision {}, {} {}/{}", status.under_way.value, to_string(status.stage), status.stage_done,
                                  status.stage_total));
  }
  line("agents", format_text("{} live, {} suspect, {} dead", status.live, status.suspect, status.dead));
  line("jobs", format_text("{}, {} circuits", status.jobs, status.circuits));
  line("isolation", isolation_word(status.certificate));
  line("lasers", lasers_word(status));
  const DriftCounts& drift = status.drift;
  line("drift", format_text("{} missing, {} foreign, {} detuned, {} dim, {} stale", drift.missing, drift.foreign, drift.detuned,
                            drift.dim, drift.stale));
  line("alarms", number(status.alarms) + (status.alarms > 0 ? " (loom alarm list)" : ""));
  if (status.awaiting_confirm.value != 0) {
    line("tentative", format_text("revision {} returns in {} (loom schedule confirm)", status.awaiting_confirm.value,
                                  text_of(status.confirm_left)));
  }
  if (const std::string refused = refusals_word(status.refusals); !refused.empty()) {
    line("refused", refused + " (since the controller's start)");
  }
  return text;
}

void add_status(CLI::App& app, CommandLine& line) {
  line.when(*app.add_subcommand("status", "Term, revision, agents, jobs, drift"),
            [](const Globals& globals) { return show(globals, Noun::status); });
}

}  // namespace loom::cli
