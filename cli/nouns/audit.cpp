// SPDX-License-Identifier: Apache-2.0
// Where the records come from, which of them are wanted.
#include "cli/nouns/audit.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <variant>

#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/journal.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/rows.hpp"
#include "controller/control/requests/audit_text.hpp"
#include "core/config/yaml/quantity.hpp"
#include "core/journal/journal_state.hpp"
#include "core/text/format_text.hpp"
#include "runtime/clock.hpp"

namespace loom::cli {
namespace {

/// What other hands wrote is printed so that no terminal obeys it.
constexpr Column<AuditRecord> kColumns[] = {
    {"record", kCell<&AuditRecord::number>},
    {"at", kCell<&AuditRecord::at>},
    {"who", [](const AuditRecord& row) { return printable(row.principal); }},
    {"role", kCell<&AuditRecord::role>},
    {"asked", [](const AuditRecord& row) { return printable(row.asked); }},
    {"answer",
     [](const AuditRecord& row) {
       return row.outcome.error ? "refused: " + printable(row.outcome.error->message) : std::string("ok");
     }},
    {"revision", [](const AuditRecord& row) { return row.revision.value == 0 ? "-" : std::to_string(row.revision.value); }}};

struct Source {
  std::vector<AuditRecord> records;
  std::string name;  ///< "controller", or the journal's file
};

Result<Source> read_from(const std::string& journal) {
  auto rows = read_journal(std::filesystem::path(journal));
  if (!rows) {
    return std::unexpected(rows.error());
  }
  SnapshotRecord state;
  for (JournalRow& row : *rows) {
    apply(state, std::move(row.record));
  }
  return Source{std::move(state.audit), journal};
}

Result<Source> find_records(const Globals& globals, const AuditCommand& order) {
  if (!order.journal.empty()) {
    return read_from(order.journal);
  }
  auto connection = Connection::open(globals);
  if (connection) {
    auto reply = connection->ask(Query{Noun::audit, {}});
    if (!reply) {
      return std::unexpected(reply.error());
    }
    return Source{std::get<std::vector<AuditRecord>>(std::move(reply->rows)), "controller"};
  }
  const StateFolder files(globals.state_dir);
  std::error_code ignored;
  const bool can_read = connection.error().code == ErrorCode::unreachable && globals.endpoint.empty() &&
                        std::filesystem::exists(files.controller_journal(), ignored);
  if (!can_read) {
    return std::unexpected(connection.error());
  }
  print_note("no controller answers; read from " + files.controller_journal());
  return read_from(files.controller_journal());
}

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::array kAgoWords{Unit{"s", kSecond}, Unit{"min", 60 * kSecond}, Unit{"m", 60 * kSecond},
                               Unit{"h", 3'600 * kSecond}, Unit{"d", 86'400 * kSecond}};
constexpr UnitTable kAgoUnits{"a time ago", "2h", kAgoWords};
constexpr Duration kAgoMost = std::chrono::hours{24 * 36'500};

/// "2h" and the like.
std::optional<Duration> parse_ago(const std::string& text) {
  const auto value = parse_quantity(text, kAgoUnits);
  return value && *value > 0 && Duration{*value} <= kAgoMost ? std::optional(Duration{*value}) : std::nullopt;
}

}  // namespace

Result<WallTime> parse_since(const std::string& text, WallTime now) {
  if (const auto ago = parse_ago(text)) {
    return now - *ago;
  }
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  std::array<char, 2> rest{};
  const std::string bare = text.ends_with('Z') ? text.substr(0, text.size() - 1) : text;
  const int read =
      std::sscanf(bare.c_str(), "%4d-%2u-%2uT%2u:%2u:%2u%1s", &year, &month, &day, &hour, &minute, &second, rest.data());
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  const bool is_whole =
      (read == 3 && bare.size() == 10) || (read == 5 && bare.size() == 16) || (read == 6 && bare.size() == 19);
  if (!is_whole || !date.ok() || hour > 23 || minute > 59 || second > 60) {
    return fail(ErrorCode::invalid_argument,
                format_text("'{}' is no time: write 90s, 10m, 2h or 7d (ago), or 2026-11-22T15:04:05Z (UTC)", text),
                "loom audit --since 2h");
  }
  return WallTime{std::chrono::sys_days{date}.time_since_epoch() + std::chrono::hours{hour} + std::chrono::minutes{minute} +
                  std::chrono::seconds{second}};
}

Result<std::vector<AuditRecord>> chosen(std::vector<AuditRecord> records, const AuditCommand& order, WallTime now) {
  WallTime since{};
  if (!order.since.empty()) {
    const auto parsed = parse_since(order.since, now);
    if (!parsed) {
      return std::unexpected(parsed.error());
    }
    since = *parsed;
  }
  std::erase_if(records, [&](const AuditRecord& record) {
    return record.at < since || (!order.principal.empty() && record.principal != order.principal) ||
           (order.refused && record.outcome.ok());
  });
  return records;
}

namespace {

int show_audit(const Globals& globals, const AuditCommand& order) {
  auto source = find_records(globals, order);
  if (!source) {
    return give_up(source.error());
  }
  auto records = chosen(std::move(source->records), order, utc_now());
  if (!records) {
    return give_up(records.error());
  }
  if (globals.json) {
    auto object = json_of(*records);
    object["source"] = source->name;
    print(object);
  } else {
    std::fputs(text_of(*records).c_str(), stdout);
  }
  return kDone;
}

}  // namespace

std::string text_of(const std::vector<AuditRecord>& rows) { return rows.empty() ? "" : table_of(kColumns, rows); }

void add_audit(CLI::App& app, CommandLine& line) {
  CLI::App* audit = app.add_subcommand("audit", "Who asked what, when, and what was answered");
  audit->require_subcommand(0, 1);
  auto& options = line.keep<AuditCommand>();
  const auto add = [&](CLI::App* verb) {
    verb->add_option("--since", options.since, "Ago: 90s, 10m, 2h, 7d; or a time of UTC: 2026-11-22T15:04:05Z");
    verb->add_option("--principal", options.principal, "Only what this one asked");
    verb->add_flag("--refused", options.refused, "Only what was refused");
    verb->add_option("--journal", options.journal, "Of this file: a controller's journal, or a backup of one");
    line.when(*verb, show_audit, options);
  };
  add(audit);
  add(audit->add_subcommand("list", "The same"));
}

}  // namespace loom::cli
