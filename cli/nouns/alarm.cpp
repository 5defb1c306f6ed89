// SPDX-License-Identifier: Apache-2.0
// loom alarm list|ack.
#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/naming.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/read.hpp"
#include "cli/nouns/request.hpp"
#include "cli/nouns/rows.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

std::string state_of(const StandingAlarm& row) {
  return row.cleared ? "cleared" : row.acknowledged_by.empty() ? "OPEN" : "acknowledged";
}

std::string nodes_of(const StandingAlarm& row) {
  return row.node_count > 1 ? format_text("{} nodes", row.node_count) : value_text(row.alarm.node);
}

constexpr Column<StandingAlarm> kColumns[] = {{"id", kCell<&StandingAlarm::id>},
                                              {"alarm", [](const StandingAlarm& row) { return value_text(row.alarm.code); }},
                                              {"state", state_of},
                                              {"node", nodes_of},
                                              {"device", [](const StandingAlarm& row) { return value_text(row.alarm.device); }},
                                              {"count", kCell<&StandingAlarm::count>},
                                              {"first seen", kCell<&StandingAlarm::first_seen_wall>},
                                              {"last seen", kCell<&StandingAlarm::last_seen_wall>},
                                              {"evidence", [](const StandingAlarm& row) { return row.alarm.evidence; }},
                                              {"next", [](const StandingAlarm& row) { return row.alarm.next_command; }}};

int acknowledge_alarm(const Globals& globals, const std::string& word) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto alarm = find_id(*connection, Noun::alarms, word);
  if (!alarm) {
    return give_up(alarm.error());
  }
  const auto reply = connection->ask(AcknowledgeAlarm{AlarmId{*alarm}});
  if (!reply) {
    return give_up(reply.error());
  }
  print_done(globals, {{"alarm", *alarm}});
  print_note(format_text("alarm {} is acknowledged; it goes when its cause is gone", *alarm));
  return kDone;
}

}  // namespace

std::string text_of(const std::vector<StandingAlarm>& rows) { return rows.empty() ? "" : table_of(kColumns, rows); }

void add_alarm(CLI::App& app, CommandLine& line) {
  CLI::App* alarm = app.add_subcommand("alarm", "What went wrong, and what to type next");
  alarm->require_subcommand(1);
  line.when(*alarm->add_subcommand("list", "All alarms that stand, oldest first"),
            [](const Globals& globals) { return show(globals, Noun::alarms); });
  CLI::App* acknowledge = alarm->add_subcommand("ack", "Somebody looks after it; it goes when its cause is gone");
  auto& word = line.keep<std::string>();
  add_named(*acknowledge, "ALARM", word, "The alarm's number, or its word where only one stands");
  line.when(*acknowledge, acknowledge_alarm, word);
}

}  // namespace loom::cli
