// SPDX-License-Identifier: Apache-2.0
// Requests in flight over a controller that does not run: N clients submit a job each, the controller is stopped (SIGSTOP) so
// long that every one of them repeats its request, goes on, and answers. Every request is to become one job, however often it
// came. Works on a lab that runs: `loom lab up` of a small soft scenario, then this with its state folder.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/state/state_folder.hpp"
#include "runtime/zmq/operator_client.hpp"

namespace {

using namespace loom;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds{60};

OperatorClientOptions options_of(const StateFolder& files) {
  OperatorClientOptions options;
  const auto address = files.read_address();
  const auto keys = load_keys(files.operator_key());
  const auto controller = load_public_key(files.controller_key() + ".pub");
  if (!address || !keys || !controller) {
    std::fprintf(stderr, "no lab runs in %s\n", files.folder().c_str());
    std::exit(2);
  }
  options.endpoint = *address;
  options.keys = *keys;
  options.controller_key = *controller;
  options.connect_timeout = std::chrono::seconds{20};
  return options;
}

JobSpec tiny_job(std::size_t number) {
  JobSpec spec;
  spec.name = "storm-" + std::to_string(number);
  spec.workload = "storm";
  spec.node_count = 2;
  spec.collectives.push_back({CollectiveKind::all_reduce, {}, Bytes{1'000'000}});
  spec.compute = std::chrono::milliseconds{10};
  return spec;
}

/// Names of the storm's jobs and how many jobs bear them.
std::pair<std::size_t, std::size_t> jobs_of(OperatorClient& client) {
  std::set<std::string> names;
  std::size_t jobs = 0;
  for (std::uint32_t offset = 0;;) {
    OperatorRequest request;
    request.ask = Query{.noun = Noun::jobs, .id = {}, .offset = offset};
    const auto reply = client.ask(request, kPatience);
    const auto* rows = reply ? std::get_if<std::vector<JobReport>>(&reply->rows) : nullptr;
    if (rows == nullptr || rows->empty()) {
      return {names.size(), jobs};
    }
    for (const JobReport& row : *rows) {
      if (row.name.starts_with("storm-")) {
        names.insert(row.name);
        ++jobs;
      }
    }
    offset += static_cast<std::uint32_t>(rows->size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const StateFolder files(argc > 1 ? argv[1] : "run/lab");
  const std::size_t clients = argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 300;
  const auto stall = std::chrono::seconds{argc > 3 ? std::atoi(argv[3]) : 7};
  const OperatorClientOptions options = options_of(files);
  int pid = 0;
  std::ifstream(files.folder() + "/lightloomd.pid") >> pid;
  if (pid <= 1) {
    std::fprintf(stderr, "%s names no running lightloomd\n", files.folder().c_str());
    return 2;
  }
  std::atomic<std::size_t> answered{0};
  std::atomic<std::size_t> failed{0};
  std::latch connected(static_cast<std::ptrdiff_t>(clients) + 1);
  std::latch stalled(1);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      auto client = OperatorClient::connect(options);
      connected.count_down();
      stalled.wait();
      OperatorRequest request;
      request.ask = SubmitJob{tiny_job(i), false};
      const auto reply = client ? client->ask(request, kPatience) : Result<OperatorReply>(std::unexpected(client.error()));
      ++(reply && reply->outcome.ok() ? answered : failed);
    });
  }
  connected.arrive_and_wait();
  if (kill(pid, SIGSTOP) != 0) {
    std::perror("SIGSTOP");
    return 1;
  }
  stalled.count_down();
  std::this_thread::sleep_for(stall);
  const auto begin = Clock::now();
  kill(pid, SIGCONT);
  threads.clear();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  auto client = OperatorClient::connect(options);
  const auto [names, jobs] = client ? jobs_of(*client) : std::pair<std::size_t, std::size_t>{};
  std::printf("requests   %zu, each repeated every 2 s over a stall of %lld s\n", clients,
              static_cast<long long>(stall.count()));
  std::printf("answered   %zu, %zu refused or unanswered, the last %.3f s after the stall: %.0f a second\n", answered.load(),
              failed.load(), seconds, static_cast<double>(clients) / seconds);
  std::printf("jobs       %zu made of %zu requests: %zu doubled\n", jobs, names, jobs - names);
  return jobs == names ? 0 : 1;
}
