// One copy a journal, each proven before it gets its name.
#include "cli/nouns/backup.hpp"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/render/rows.hpp"
#include "cli/render/term.hpp"
#include "core/journal_state.hpp"
#include "proto/codec.hpp"
#include "runtime/journal_copy.hpp"
#include "runtime/state/state_folder.hpp"

namespace loom::cli {
namespace {

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
    const std::string name = "agents-" + std::to_string(process);
    backups.push_back({name, files.agents_journal(process), file + "." + name});
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

void print(const std::vector<Backup>& backups) {
  std::printf("%-12s %8s %8s %12s  %s\n", "JOURNAL", "ROWS", "REVISION", "BYTES", "COPY");
  for (const Backup& backup : backups) {
    const std::string revision = backup.journal == "controller" ? std::to_string(backup.revision.value) : "-";
    std::printf("%-12s %8llu %8s %12llu  %s\n", backup.journal.c_str(), static_cast<unsigned long long>(backup.copy.rows()),
                revision.c_str(), static_cast<unsigned long long>(backup.copy.bytes), backup.to.c_str());
  }
}

}  // namespace

int back_up(const Globals& globals, const BackupOrder& order) {
  std::vector<Backup> backups = backups_of(StateFolder(globals.state_dir), order.file);
  for (const Backup& backup : backups) {
    std::error_code not_there;
    if (fs::equivalent(backup.from, backup.to, not_there)) {
      return give_up({ErrorCode::refused,
                      backup.to + " is the journal itself: a copy in its place would part it from its daemon",
                      "loom backup ANOTHER_FILE"});
    }
    if (!order.force && fs::exists(backup.to)) {
      return give_up({ErrorCode::conflict, backup.to + " is there already"}, "loom backup " + order.file + " --force");
    }
  }
  for (Backup& backup : backups) {
    if (const auto made = make(backup); !made) {
      return give_up(made.error(),
                     made.error().code == ErrorCode::not_found ? "loom --state FOLDER backup " + order.file : std::string{});
    }
  }
  if (globals.json) {
    std::printf("%s\n", json_of(backups).dump(2).c_str());
  } else {
    print(backups);
  }
  return kDone;
}

}  // namespace loom::cli
