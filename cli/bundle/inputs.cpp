// SPDX-License-Identifier: Apache-2.0
// Arguments that are paths, looked up on disk.
#include "cli/bundle/inputs.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "cli/bundle/stage.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> kCommands{"arena",   "config",    "fabric", "import",  "plan",
                                                    "predict", "reproduce", "sim",    "workload"};
constexpr std::array<std::string_view, 11> kWritten{"--plot",   "--csv", "--links", "--forwarding", "--wiring",   "--trace",
                                                    "--output", "-o",    "--save",  "--gantt",      "--occupancy"};
constexpr std::size_t kReferringBytesMax = std::size_t{4} << 20U;  ///< of a file that may name others

/// The part of an argument that may be a path, and what names it.
struct Spot {
  std::string before;  ///< "--plot=", "key=", or nothing
  std::string path;
  std::string named_by;
  bool is_written = false;
};

Spot spot_of(const std::vector<std::string>& command, std::size_t at) {
  const std::string& word = command[at];
  const std::string previous = at == 0 ? "" : command[at - 1];
  const std::size_t equals = word.find('=');
  Spot spot;
  spot.before = equals == std::string::npos ? "" : word.substr(0, equals + 1);
  spot.path = word.substr(spot.before.size());
  const std::string own = spot.before.starts_with('-') ? spot.before.substr(0, equals) : "";
  spot.named_by = !own.empty() ? own : previous.starts_with('-') ? previous : "argument";
  spot.is_written = std::ranges::find(kWritten, spot.named_by) != kWritten.end();
  return spot;
}

fs::path whole(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

bool is_file(const fs::path& path) {
  std::error_code fault;
  return fs::is_regular_file(path, fault);
}

/// Files that the text of a YAML or JSON file names, beside it or from where the command runs.
std::vector<fs::path> named_in(const fs::path& file, const std::string& text) {
  const std::string kind = file.extension().string();
  if ((kind != ".yaml" && kind != ".yml" && kind != ".json") || text.size() > kReferringBytesMax) {
    return {};
  }
  std::vector<fs::path> found;
  constexpr std::string_view kBetween = " \t\r\n\"'{}[],:#=";
  std::size_t begin = 0;
  while ((begin = text.find_first_not_of(kBetween, begin)) != std::string::npos) {
    const std::size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end;
    if (word.size() > kBundlePathBytesMax || word.find_first_of("./") == std::string::npos) {
      continue;
    }
    for (const fs::path& path : {whole(file.parent_path() / word), whole(word)}) {
      if (is_file(path)) {
        found.push_back(path);
        break;
      }
    }
  }
  return found;
}

fs::path common(const fs::path& a, const fs::path& b) {
  fs::path shared;
  for (auto [x, y] = std::pair(a.begin(), b.begin()); x != a.end() && y != b.end() && *x == *y; ++x, ++y) {
    shared /= *x;
  }
  return shared;
}

class Gathering {
 public:
  /// `path` and what it names, each once.
  Result<void> add(const fs::path& path, const std::string& named_by) {
    if (texts_.contains(path)) {
      return {};
    }
    auto text = read_whole(path.string());
    if (!text) {
      return std::unexpected(std::move(text).error());
    }
    if (texts_.size() >= kBundleMembersMax) {
      return fail(ErrorCode::refused,
                  format_text("{}: more than {} inputs (kBundleMembersMax)", path.string(), kBundleMembersMax));
    }
    const auto further = named_in(path, *text);
    texts_.emplace(path, *std::move(text));
    named_.emplace(path, named_by);
    for (const fs::path& other : further) {
      LOOM_TRY(add(other, "the text of " + path.filename().string()));
    }
    return {};
  }

  fs::path root(fs::path root) const {
    for (const auto& [path, text] : texts_) {
      root = common(root, path.parent_path());
    }
    return root;
  }

  void hand_over(const fs::path& root, BundledCommand& into) {
    for (auto& [path, text] : texts_) {
      const std::string below = path.lexically_relative(root).string();
      into.inputs.push_back({below, "input", named_[path], text.size(), sha256_of(text)});
      into.contents.emplace(below, std::move(text));
    }
  }

 private:
  std::map<fs::path, std::string> texts_;
  std::map<fs::path, std::string> named_;
};

std::string below(const fs::path& path, const fs::path& root) {
  const std::string text = path.lexically_relative(root).string();
  return text == "." ? "" : text;
}

/// Reads what is named; `outputs` gets the folders that are written to.
Result<void> gather(const std::vector<std::string>& command, Gathering& inputs, std::vector<fs::path>& outputs) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    const Spot spot = spot_of(command, i);
    if (spot.path.empty() || spot.path.size() > kBundlePathBytesMax) {
      continue;
    }
    const fs::path path = whole(spot.path);
    std::error_code fault;
    if (spot.is_written) {
      outputs.push_back(path.parent_path());
    } else if (is_file(path)) {
      LOOM_TRY(inputs.add(path, spot.named_by));
    } else if (spot.path.find('/') != std::string::npos && fs::is_directory(path, fault)) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{} is a folder; a bundle takes files: name the one that is read, or --include it", spot.path));
    }
  }
  return {};
}

}  // namespace

Result<void> check_bundled_command(const std::vector<std::string>& command, const std::string& folder) {
  if (command.empty() || std::ranges::find(kCommands, command.front()) == kCommands.end()) {
    std::string names;
    for (const std::string_view name : kCommands) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return fail(ErrorCode::refused, format_text("'{}' is no command that a bundle runs; those are: {}",
                                                command.empty() ? "" : command.front().substr(0, 40), names));
  }
  for (std::size_t i = 1; i < command.size(); ++i) {
    const fs::path path = spot_of(command, i).path;
    const std::string place = (fs::path(folder) / path).lexically_normal().string();
    if (path.is_absolute() || place == ".." || place.starts_with("../")) {
      return fail(ErrorCode::refused, format_text("argument {} ('{}') leads out of the bundle", i, command[i].substr(0, 80)));
    }
  }
  return {};
}

Result<BundledCommand> bundled(const std::vector<std::string>& command, const std::vector<std::string>& included) {
  Gathering inputs;
  std::vector<fs::path> outputs;
  LOOM_TRY(gather(command, inputs, outputs));
  for (const std::string& path : included) {
    if (!is_file(path)) {
      return fail(ErrorCode::not_found, format_text("--include {}: no such file", path));
    }
    LOOM_TRY(inputs.add(whole(path), "--include"));
  }
  const fs::path here = fs::current_path();
  fs::path root = inputs.root(here);
  for (const fs::path& folder : outputs) {
    root = common(root, folder);
  }
  BundledCommand made;
  made.folder = below(here, root);
  made.folders.push_back(made.folder);
  for (const fs::path& folder : outputs) {
    made.folders.push_back(below(folder, root));
  }
  std::ranges::sort(made.folders);
  made.folders.erase(std::unique(made.folders.begin(), made.folders.end()), made.folders.end());
  inputs.hand_over(root, made);
  made.command = command;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const Spot spot = spot_of(command, i);
    if (spot.path.starts_with('/')) {
      made.command[i] = spot.before + whole(spot.path).lexically_relative(here).string();
    }
    if (spot.named_by == "--seed") {
      made.seed = spot.path;
    }
  }
  if (std::ranges::find(command, "--json") == command.end()) {
    made.command.emplace_back("--json");
  }
  LOOM_TRY(check_bundled_command(made.command, made.folder));
  return made;
}

}  // namespace loom::cli
