// SPDX-License-Identifier: Apache-2.0
// loom backup: consistent copies of a state folder's journals, whether or not their daemons run. One copy a journal, each
// proven before it gets its name.
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "core/journal/journal_state.hpp"
#include "core/text/format_text.hpp"
#include "proto/codec.hpp"
#include "runtime/journal/journal_copy.hpp"
#include "runtime/state/state_folder.hpp"

namespace loom::cli {
namespace {

struct BackupOptions {
  std::string file;    ///< of the controller's journal; agents' get its name with ".agents-N" behind
  bool force = false;  ///< although there is something
};

namespace fs = std::filesystem;

struct Backup {
  std::string journal;  ///< "controller", "agents-0"
  std::string from;
  std::string to;
  Revision revision{};  ///< confirmed, as the copy says
  JournalCopy copy{};
};

std::vector<Backup> backups_of(const StateFolder& files, const std::string& file) {
  std::vector<Backup> backups{{"controller", files.controller_journal(), file}};
  for (std::uint32_t process = 0; fs::exists(files.agents_journal(process)); ++process) {
    const std::string name = format_text("agents-{}", process);
    backups.push_back({name, files.agents_journal(process), format_text("{}.{}", file, name)});
  }
  return backups;
}

/// Decodes every row as a restart would: a copy that no controller can read is none.
Result<void> make(Backup& backup) {
  SnapshotRecord state;
  auto copy = copy_journal(backup.from, backup.to, [&](std::string_view, std::uint64_t, std::string_view row) -> Result<void> {
    auto record = decode_record(row);
    if (!record) {
      return std::unexpected(std::move(record).error());
    }
    apply(state, *std::move(record));
    return {};
  });
  if (!copy) {
    return std::unexpected(std::move(copy).error());
  }
  backup.copy = std::move(*copy);
  backup.revision = state.confirmed == nullptr ? Revision{} : state.confirmed->revision;
  return {};
}

nlohmann::ordered_json json_of(const std::vector<Backup>& backups) {
  auto object = answer();
  object["revision"] = backups.front().revision.value;
  auto& list = object["journals"] = nlohmann::ordered_json::array();
  for (const Backup& backup : backups) {
    list.push_back({{"journal", backup.journal},
                    {"file", backup.to},
                    {"rows", backup.copy.rows()},
                    {"streams", backup.copy.streams.size()},
                    {"bytes", backup.copy.bytes}});
  }
  return object;
}

void print_table(const std::vector<Backup>& backups) {
  std::printf("%-12s %8s %8s %12s  %s\n", "JOURNAL", "ROWS", "REVISION", "BYTES", "COPY");
  for (const Backup& backup : backups) {
    const std::string revision = backup.journal == "controller" ? std::to_string(backup.revision.value) : "-";
    std::printf("%-12s %8llu %8s %12llu  %s\n", backup.journal.c_str(), static_cast<unsigned long long>(backup.copy.rows()),
                revision.c_str(), static_cast<unsigned long long>(backup.copy.bytes), backup.to.c_str());
  }
}

int back_up(const Globals& globals, const BackupOptions& order) {
  std::vector<Backup> backups = backups_of(StateFolder(globals.state_dir), order.file);
  for (const Backup& backup : backups) {
    std::error_code not_there;
    if (fs::equivalent(backup.from, backup.to, not_there)) {
      return give_up({ErrorCode::refused,
                      backup.to + " is the journal itself: a copy in its place would part it from its daemon",
                      "loom backup ANOTHER_FILE"});
    }
    if (!order.force && fs::exists(backup.to)) {
      return give_up({ErrorCode::conflict, backup.to + " is there already"}, format_text("loom backup {} --force", order.file));
    }
  }
  for (Backup& backup : backups) {
    if (const auto made = make(backup); !made) {
      return give_up(made.error(),
                     made.error().code == ErrorCode::not_found ? "loom --state FOLDER backup " + order.file : std::string{});
    }
  }
  if (globals.json) {
    print(json_of(backups));
  } else {
    print_table(backups);
  }
  return kDone;
}

}  // namespace

void add_backup(CLI::App& app, CommandLine& line) {
  CLI::App* backup = app.add_subcommand("backup", "Copy the state folder's journals, proven, while the daemons run or not");
  auto& options = line.keep<BackupOptions>();
  backup->add_option("FILE", options.file, "Of the controller's journal; those of agents become FILE.agents-N")->required();
  backup->add_flag("--force", options.force, "Replace what is there");
  backup->footer(
      "To go back to it: stop lightloomd, put FILE in place of STATE/controller.db, remove controller.db-wal,\n"
      "controller.db-shm and controller.db.lock beside it, start lightloomd. Agents: the same with agents-N.db.");
  line.when(*backup, back_up, options);
}

}  // namespace loom::cli
