// SPDX-License-Identifier: Apache-2.0
// Live demand through real processes: files as NCCL's Inspector writes them, in a folder a node, move a job's light.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/sim/labs/lab.hpp"

namespace fs = std::filesystem;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Eight training processes that all-reduce in two groups of four, ten times a second, and dump what they did.
class Trainers {
 public:
  explicit Trainers(fs::path folder) : folder_(std::move(folder)), thread_([this] { train(); }) {}
  ~Trainers() {
    stop_ = true;
    thread_.join();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Trainers(const Trainers&) = delete;
  Trainers& operator=(const Trainers&) = delete;

 private:
  void train() {
    auto next = std::chrono::steady_clock::now();
    for (std::uint64_t iteration = 1; !stop_; ++iteration) {
      for (int node = 0; node < 8; ++node) {
        dump(node, iteration);
      }
      next += milliseconds{100};
      std::this_thread::sleep_until(next);
    }
  }

  /// Now and then a line comes in two pieces, and now and then there is something else between.
  void dump(int node, std::uint64_t iteration) const {
    const fs::path folder = folder_ / ("node-" + std::to_string(node));
    fs::create_directories(folder);
    std::ofstream file(folder / "host-pid4711.log", std::ios::app);
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
    const std::string line =
        R"({"header":{"id":"0xfeed)" + std::to_string(node / 4) + R"(","comm_name":"unknown","rank":)" +
        std::to_string(node % 4) + R"(,"n_ranks":4,"nnodes":4},"metadata":)" +
        R"({"inspector_output_format_version":"v4.0","git_rev":"x","dump_timestamp_us":)" + std::to_string(now.count()) +
        R"(,"hostname":"host","pid":4711},"coll_perf":{"coll":"AllReduce",)" + R"("coll_sn":)" + std::to_string(iteration) +
        R"(,"coll_msg_size_bytes":574668960,"coll_exec_time_us":50000,"coll_timing_source":"kernel_gpu",)" +
        R"("coll_algobw_gbs":11.4,"coll_busbw_gbs":17.2}})" + "\n";
    if (iteration % 20 == 7) {
      file << "nccl is here\n";
    }
    file << line.substr(0, line.size() / 2) << std::flush;
    if (iteration % 10 == 3) {
      std::this_thread::sleep_for(milliseconds{1});
    }
    file << line.substr(line.size() / 2) << std::flush;
  }

  fs::path folder_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// Circuits by their ends.
std::map<std::pair<int, int>, int> circuits_of(const Lab& lab) {
  std::map<std::pair<int, int>, int> circuits;
  const nlohmann::json answer = lab.ask("circuit list");
  for (const auto& row : answer["circuits"]) {
    circuits[{row["source"].get<int>(), row["destination"].get<int>()}] = row["circuit"].get<int>();
  }
  return circuits;
}

}  // namespace

TEST_CASE("files as Inspector writes them move a job's light to where its traffic is") {
  const Lab lab;
  const fs::path dumps = lab.state().string() + ".inspector";
  const std::string scenario = lab.write_scenario("mode: soft\nadaptation: {hold_times: 3}\n");
  REQUIRE(lab.run("lab up " + scenario + " --inspector-dir " + dumps.string() + "/{node}").code == 0);
  const auto submitted = lab.ask("job submit vgg19 --nodes 8 --adapt");
  const std::string job = std::to_string(submitted["job"].get<int>());
  REQUIRE(lab.run("wait " + std::to_string(submitted["revision"].get<int>())).code == 0);
  const auto before = circuits_of(lab);
  REQUIRE(before.size() == 8);
  nlohmann::json row;
  {
    const Trainers trainers(dumps);
    for (const auto end = std::chrono::steady_clock::now() + seconds{90}; std::chrono::steady_clock::now() < end;) {
      row = lab.ask("job show " + job)["jobs"][0];
      const bool followed = row["made_for"] == "measured" && row["state"] == "lit";
      if (followed && row["decision"].get<std::string>().find("followed") == 0) {
        break;
      }
      std::this_thread::sleep_for(milliseconds{300});
    }
  }
  INFO(row.dump(1));
  REQUIRE(row["made_for"] == "measured");
  CHECK(row["declared"].get<std::string>().find("all_reduce of 8 ranks") == 0);
  CHECK(row["measured"].get<std::string>().find("all_reduce of 4 ranks (2 groups)") == 0);
  const auto after = circuits_of(lab);
  CHECK(after.size() == 8);
  CHECK(after.contains({3, 0}));
  CHECK(after.contains({7, 4}));
  for (const auto& [ends, circuit] : after) {
    if (before.contains(ends)) {
      CHECK(before.at(ends) == circuit);  // an equal number is untouched light
    }
  }
}
