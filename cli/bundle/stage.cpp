// SPDX-License-Identifier: Apache-2.0
// posix_spawn in a folder of its own.
#include "cli/bundle/stage.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFiles = "/files";
constexpr const char* kAnswer = "/answer";

Result<void> write_file(const std::string& path, const std::string& bytes) {
  std::error_code fault;
  fs::create_directories(fs::path(path).parent_path(), fault);
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.flush();
  return file ? Result<void>{}
              : fail(ErrorCode::storage, "cannot write " + path, "df -h " + fs::temp_directory_path().string());
}

/// Ours without what would lead the run to files beside the bundled ones, or colour its answer.
std::vector<std::string> environment() {
  std::vector<std::string> kept{"NO_COLOR=1"};
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry = *each;
    if (!entry.starts_with("LIGHTLOOM_") && !entry.starts_with("NO_COLOR=") && !entry.starts_with("CLICOLOR_FORCE=")) {
      kept.emplace_back(entry);
    }
  }
  return kept;
}

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

Result<int> run_in(const std::string& folder, const std::string& answer, const std::string& program,
                   const std::vector<std::string>& command) {
  std::vector<std::string> words{program};
  words.insert(words.end(), command.begin(), command.end());
  auto variables = environment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, answer.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t pid = 0;
  const int fault =
      posix_spawn(&pid, program.c_str(), &actions, nullptr, pointers_of(words).data(), pointers_of(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) {
    return fail(ErrorCode::unreachable, format_text("cannot run {}: {}", program, std::strerror(fault)));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<Stage> Stage::make(const BundleContents& inputs, const std::vector<std::string>& folders) {
  std::error_code fault;
  std::string root = fs::temp_directory_path(fault).string() + "/loom-bundle-XXXXXX";
  if (mkdtemp(root.data()) == nullptr) {
    return fail(ErrorCode::storage, format_text("cannot make {}: {}", root, std::strerror(errno)), "export TMPDIR=FOLDER");
  }
  Stage stage(root, inputs);
  fs::create_directories(root + kFiles, fault);
  for (const std::string& folder : folders) {
    fs::create_directories(root + kFiles + "/" + folder, fault);
  }
  for (const auto& [path, bytes] : inputs) {
    LOOM_TRY(write_file(root + kFiles + "/" + path, bytes));
  }
  return stage;
}

Stage::Stage(Stage&& other) noexcept : root_(std::exchange(other.root_, {})), inputs_(std::move(other.inputs_)) {}

Stage::~Stage() {
  if (!root_.empty()) {
    std::error_code fault;
    fs::remove_all(root_, fault);
  }
}

Result<StageRun> Stage::run(const std::string& program, const std::vector<std::string>& command,
                            const std::string& folder) const {
  const std::string files = root_ + kFiles;
  const auto code = run_in(files + "/" + folder, root_ + kAnswer, program, command);
  if (!code) {
    return std::unexpected(code.error());
  }
  StageRun done;
  done.exit_code = *code;
  auto answer = read_whole(root_ + kAnswer);
  if (!answer) {
    return std::unexpected(std::move(answer).error());
  }
  done.answer = *std::move(answer);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(files)) {
    const std::string path = entry.path().lexically_relative(files).string();
    if (entry.is_symlink() || (!entry.is_regular_file() && !entry.is_directory())) {
      return fail(ErrorCode::refused, format_text("{}: the command left a link or device; a bundle holds regular files", path));
    }
    if (entry.is_directory()) {
      continue;
    }
    auto bytes = read_whole(entry.path().string());
    if (!bytes) {
      return std::unexpected(std::move(bytes).error());
    }
    const auto input = inputs_.find(path);
    if (input != inputs_.end() && input->second != *bytes) {
      return fail(ErrorCode::refused, path + ": the command writes over one of its inputs; give its output another name");
    }
    if (input == inputs_.end()) {
      done.outputs.emplace(path, *std::move(bytes));
    }
  }
  return done;
}

std::string own_program() {
  std::error_code fault;
  return fs::read_symlink("/proc/self/exe", fault).string();
}

Result<std::string> read_whole(const std::string& path) {
  std::error_code fault;
  const auto size = fs::file_size(path, fault);
  if (!fault && size > kBundleMemberBytesMax) {
    return fail(ErrorCode::refused, format_text("{}: {} bytes; a file of a bundle has at most {} (kBundleMemberBytesMax)", path,
                                                size, kBundleMemberBytesMax));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file && !fault ? Result<std::string>(std::move(text).str()) : fail(ErrorCode::storage, "cannot read " + path);
}

}  // namespace loom::cli
