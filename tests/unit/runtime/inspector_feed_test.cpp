// SPDX-License-Identifier: Apache-2.0
// Files that grow, are cut, replaced, late or gone: what a feed hands on of them.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "runtime/training/inspector_feed.hpp"

namespace fs = std::filesystem;
using namespace loom;

namespace {

/// A folder, a feed that looks at it, and all that it has read, by file.
class Watched {
 public:
  explicit Watched(bool makes_folder = true)
      : folder_(fs::temp_directory_path() / ("loom-feed-" + std::to_string(getpid()) + "-" + std::to_string(++made_))) {
    if (makes_folder) {
      make_folder();
    }
  }
  ~Watched() {
    feed_.reset();
    fs::remove_all(folder_);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void make_folder() const { fs::create_directories(folder_); }
  void start() {
    InspectorSink sink{[this](std::uint64_t file, std::string_view bytes, bool restarted) { read(file, bytes, restarted); },
                       [this](std::uint64_t file) { forget(file); }, [] { return TrafficReported{}; }};
    feed_ = std::make_unique<InspectorFeed>(InspectorFeedOptions{folder_.string(), std::chrono::milliseconds{1}},
                                            std::move(sink), [this](const TrafficReported& reported) { look(reported); });
    await_look();
  }
  void write(const std::string& name, const std::string& text, std::ios::openmode mode = std::ios::app) const {
    std::ofstream(folder_ / name, mode | std::ios::binary) << text;
  }
  fs::path path(const std::string& name) const { return folder_ / name; }

  /// A look that began after this call is over.
  void await_look() {
    std::unique_lock lock(mutex_);
    const std::uint64_t wanted = looks_ + 2;
    REQUIRE(looked_.wait_for(lock, std::chrono::seconds{60}, [&] { return looks_ >= wanted; }));
  }
  std::map<std::uint64_t, std::string> texts() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }
  std::uint64_t forgotten() {
    const std::lock_guard lock(mutex_);
    return forgotten_;
  }
  TrafficReported reported() {
    const std::lock_guard lock(mutex_);
    return reported_;
  }

 private:
  void read(std::uint64_t file, std::string_view bytes, bool restarted) {
    const std::lock_guard lock(mutex_);
    texts_[file] = restarted ? std::string(bytes) : texts_[file] + std::string(bytes);
  }
  void forget(std::uint64_t file) {
    const std::lock_guard lock(mutex_);
    forgotten_ += 1;
    texts_.erase(file);
  }
  void look(const TrafficReported& reported) {
    const std::lock_guard lock(mutex_);
    ++looks_;
    reported_.refused += reported.refused;
    reported_.fault = reported.fault.empty() ? reported_.fault : reported.fault;
    looked_.notify_all();
  }

  static inline int made_ = 0;
  fs::path folder_;
  std::mutex mutex_;
  std::condition_variable looked_;
  std::uint64_t looks_ = 0;
  std::uint64_t forgotten_ = 0;
  std::map<std::uint64_t, std::string> texts_;
  TrafficReported reported_;
  std::unique_ptr<InspectorFeed> feed_;
};

}  // namespace

TEST_CASE("what a file grows by is read once, in order, and what was there before is old") {
  Watched watched;
  watched.write("old.log", "before\n");
  watched.start();
  watched.write("old.log", "after\n");
  watched.write("new.log", "first");
  watched.await_look();
  watched.write("new.log", " second\n");
  watched.await_look();
  const auto texts = watched.texts();
  REQUIRE(texts.size() == 2);
  CHECK(texts.begin()->second == "after\n");
  CHECK(texts.rbegin()->second == "first second\n");
}

TEST_CASE("a folder that comes late is watched from then on") {
  Watched watched(false);
  watched.start();
  watched.make_folder();
  watched.write("late.log", "here\n");
  watched.await_look();
  REQUIRE(watched.texts().size() == 1);
  CHECK(watched.texts().begin()->second == "here\n");
}

TEST_CASE("a file that is cut or replaced begins anew") {
  Watched watched;
  watched.start();
  watched.write("a.log", "a long first line that is cut\n");
  watched.await_look();
  watched.write("a.log", "short\n", std::ios::trunc);
  watched.await_look();
  REQUIRE(watched.texts().size() == 1);
  CHECK(watched.texts().begin()->second == "short\n");
  watched.write("b.log", "another file of more bytes than the first\n");
  fs::rename(watched.path("b.log"), watched.path("a.log"));
  watched.await_look();
  REQUIRE(watched.texts().size() == 1);
  CHECK(watched.texts().begin()->second == "another file of more bytes than the first\n");
}

TEST_CASE("a file that is gone is forgotten") {
  Watched watched;
  watched.start();
  watched.write("a.log", "half a li");
  watched.await_look();
  fs::remove(watched.path("a.log"));
  watched.await_look();
  CHECK(watched.forgotten() == 1);
  CHECK(watched.texts().empty());
}

TEST_CASE("more files than are read are named and cost nothing else") {
  Watched watched;
  watched.start();
  for (int i = 0; i < 300; ++i) {
    watched.write("f" + std::to_string(1'000 + i), "x");
  }
  watched.await_look();
  CHECK(watched.texts().size() == 256);
  CHECK(watched.reported().refused > 0);
  CHECK(watched.reported().fault.find("more than 256 files") != std::string::npos);
}
