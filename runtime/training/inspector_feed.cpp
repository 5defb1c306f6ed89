// SPDX-License-Identifier: Apache-2.0
// Look, read what is new, wait.
#include "runtime/training/inspector_feed.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::chrono::milliseconds kNap{10};  ///< how soon the end is noticed

/// Names of the folder's regular files, ascending: every look reads them in the same order. No folder: none.
std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (std::filesystem::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem)) {
    std::error_code unknown;
    if (it->is_regular_file(unknown)) {
      names.push_back(it->path().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

InspectorFeed::InspectorFeed(InspectorFeedOptions options, InspectorSink sink, std::function<void(TrafficReported)> reported)
    : options_(std::move(options)), sink_(std::move(sink)), reported_(std::move(reported)), thread_([this] { serve(); }) {}

InspectorFeed::~InspectorFeed() {
  stop_ = true;
  thread_.join();
}

void InspectorFeed::serve() {
  auto next = std::chrono::steady_clock::now();
  while (!stop_) {
    if (std::chrono::steady_clock::now() < next) {
      std::this_thread::sleep_for(kNap);
      continue;
    }
    look();
    TrafficReported reported = sink_.take();
    reported.refused += std::exchange(complaints_, 0);
    reported.fault = complaint_.empty() ? std::move(reported.fault) : std::exchange(complaint_, {});
    reported_(std::move(reported));
    next = std::max(next + options_.interval, std::chrono::steady_clock::now());
  }
}

void InspectorFeed::complain(const std::string& fault) {
  ++complaints_;
  complaint_ = fault;
}

void InspectorFeed::look() {
  std::size_t room = limits::kInspectorReadBytes;
  for (auto& [path, file] : files_) {
    file.is_there = false;
  }
  for (const std::string& path : files_of(options_.folder)) {
    if (!files_.contains(path) && files_.size() >= limits::kInspectorFiles) {
      complain(format_text("{} has more than {} files; {} is not read", options_.folder, limits::kInspectorFiles, path));
      continue;
    }
    follow(path, room);
  }
  for (auto it = files_.begin(); it != files_.end();) {
    if (!it->second.is_there) {
      sink_.forget(it->second.id);
      it = files_.erase(it);
    } else {
      ++it;
    }
  }
  is_first_look_ = false;
}

void InspectorFeed::follow(const std::string& path, std::size_t& room) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) {
    return;  // it went between the listing and now
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const bool is_new = !files_.contains(path);
  File& file = files_[path];
  file.is_there = true;
  bool restarted = false;
  if (is_new || file.inode != status.st_ino || size < file.read) {
    restarted = !is_new;
    if (restarted) {
      sink_.forget(file.id);
    }
    file = {++files_seen_, status.st_ino, is_new && is_first_look_ && !options_.from_start ? size : 0, true};
  }
  if (size <= file.read || room == 0) {
    return;
  }
  std::string bytes(std::min<std::uint64_t>(size - file.read, room), '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(file.read));
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream && stream.gcount() == 0) {
    complain(path + " cannot be read");
    return;
  }
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  room -= bytes.size();
  sink_.read(file.id, bytes, restarted);
  file.read += bytes.size();
}

}  // namespace loom
