// SPDX-License-Identifier: Apache-2.0
// The controller's reports of its revisions, as a trace.
#include "cli/trace.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/output_file.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "core/text/commit_trace.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

struct TraceCommand {
  std::uint64_t revision = 0;  ///< 0: all that the controller remembers
  std::string output;
};

/// How much of the revisions' time their stages do not account for.
std::string account_of(const std::vector<CommitReport>& revisions) {
  Duration total{};
  Duration between{};
  for (const CommitReport& row : revisions) {
    total += row.total;
    between += between_stages(row);
  }
  return format_text("{} {} in {}, of which {} lie between stages", revisions.size(),
                     revisions.size() == 1 ? "revision" : "revisions", text_of(total), text_of(between));
}

int trace(const Globals& globals, const TraceCommand& order) {
  if (const auto lawful = check_printed(order.output, "--output", globals.json); !lawful) {
    return give_up(lawful.error(), "loom trace --output -");
  }
  auto connection = Connection::open(globals);
  const Query query{Noun::history, order.revision == 0 ? std::nullopt : std::optional(order.revision)};
  const auto reply = connection ? connection->ask(query) : Result<OperatorReply>(std::unexpected(connection.error()));
  if (!reply) {
    return give_up(reply.error(), "loom schedule history");
  }
  const auto& revisions = std::get<std::vector<CommitReport>>(reply->rows);
  if (revisions.empty()) {
    return order.revision == 0
               ? give_up({ErrorCode::not_found, "the controller remembers no revision yet"}, "loom job submit --help")
               : give_up({ErrorCode::not_found, format_text("the controller remembers no revision {}", order.revision)},
                         "loom schedule history");
  }
  TraceEvents events;
  name_commits(1, events);
  for (const CommitReport& row : revisions) {
    add_commit(row, 1, events);
  }
  if (order.output == kStandardOutput) {
    std::fputs(events.text().c_str(), stdout);
    return kDone;
  }
  const std::string path = !order.output.empty() ? order.output
                           : order.revision == 0 ? std::string("revisions.trace.json")
                                                 : format_text("revision-{}.trace.json", order.revision);
  if (const auto written = write_text(path, events.text(), "--output"); !written) {
    return give_up(written.error());
  }
  if (globals.json) {
    auto object = answer();
    object["file"] = path;
    object["revisions"] = revisions.size();
    print(object);
  }
  print_note(format_text("traced to {}: {}; open it at ui.perfetto.dev", path, account_of(revisions)));
  return kDone;
}

}  // namespace

Result<void> hand_out_trace(const std::string& path, const std::string& text) {
  if (path == kStandardOutput) {
    std::fputs(text.c_str(), stdout);
  } else if (!path.empty()) {
    LOOM_TRY(write_text(path, text, "--trace"));
    print_note(format_text("traced to {}; open it at ui.perfetto.dev", path));
  }
  return {};
}

void add_trace(CLI::App& app, CommandLine& line) {
  CLI::App* verb =
      app.add_subcommand("trace", "Where revisions spent their time: plan, stages, answers, darkness; for Perfetto");
  auto& order = line.keep<TraceCommand>();
  verb->add_option("REVISION", order.revision, "Its number; all that the controller remembers if none is given")
      ->check(number_check<std::uint64_t>("revision", 1));
  verb->add_option("--output", order.output,
                   "File of JSON (Trace Event Format), or - for stdout; default revision-N.trace.json");
  line.when(*verb, trace, order);
}

}  // namespace loom::cli
