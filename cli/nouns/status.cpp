// loom status: the controller in a dozen lines.
#include "cli/command_line.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/read.hpp"
#include "cli/nouns/rows.hpp"

namespace loom::cli {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

/// "3900 over_quota, 2 foreign"; empty: nothing was refused.
std::string refusals_word(const RefusalCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      text += (text.empty() ? "" : ", ") + number(counts[i]) + " " + std::string(to_string(static_cast<RefusalKind>(i)));
    }
  }
  return text;
}

}  // namespace

std::string text_of(const StatusReport& status) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += std::string(name) + std::string(12 - name.size(), ' ') + value + "\n";
  };
  line("fabric", status.fabric + ", " + number(status.nodes) + " nodes");
  line("revision", number(status.revision.value) + " (term " + number(status.term.value) + ")");
  if (status.stage != CommitState::idle) {
    line("under way", "revision " + number(status.under_way.value) + ", " + std::string(to_string(status.stage)) + " " +
                          number(status.stage_done) + "/" + number(status.stage_total));
  }
  line("agents", number(status.live) + " live, " + number(status.suspect) + " suspect, " + number(status.dead) + " dead");
  line("jobs", number(status.jobs) + ", " + number(status.circuits) + " circuits");
  line("isolation", isolation_word(status.certificate));
  line("lasers", status.lasers_off ? "OFF, latched (loom lasers rearm)" : "on");
  const DriftCounts& drift = status.drift;
  line("drift", number(drift.missing) + " missing, " + number(drift.foreign) + " foreign, " + number(drift.detuned) +
                    " detuned, " + number(drift.dim) + " dim, " + number(drift.stale) + " stale");
  line("alarms", number(status.alarms) + (status.alarms > 0 ? " (loom alarm list)" : ""));
  if (status.awaiting_confirm.value != 0) {
    line("tentative", "revision " + number(status.awaiting_confirm.value) + " returns in " + text_of(status.confirm_left) +
                          " (loom schedule confirm)");
  }
  if (const std::string refused = refusals_word(status.refusals); !refused.empty()) {
    line("refused", refused + " (since the controller's start)");
  }
  return text;
}

void add_status(CLI::App& app, CommandLine& line) {
  line.when(*app.add_subcommand("status", "Term, revision, agents, jobs, drift"),
            [](const Globals& globals) { return show(globals, Noun::status, {}); });
}

}  // namespace loom::cli
