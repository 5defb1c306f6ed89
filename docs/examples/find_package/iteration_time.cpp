// SPDX-License-Identifier: Apache-2.0
// What one iteration of VGG19 on 16 nodes of 100 Gb/s would take on every fabric that can be compared.
#include <cstdio>
#include <string>

#include "controller/arena/arena.hpp"
#include "controller/workload/load_graph.hpp"
#include "core/text/version.hpp"

int main() {
  loom::WorkloadSettings settings;
  settings.nodes = 16;
  const auto graph = loom::load_task_graph("vgg19", settings);
  if (!graph) {
    std::fprintf(stderr, "%s\n", graph.error().message.c_str());
    return 1;
  }
  std::printf("lightloom %s\n", std::string(loom::build_version()).c_str());
  for (const std::string_view fabric : loom::arena_names()) {
    auto entry = loom::make_entry(fabric, *graph, loom::gigabits(100), {});
    const auto time = entry ? loom::iteration_time(*entry) : std::unexpected(entry.error());
    // What a fabric cannot carry it says in a sentence; that is an answer, too.
    std::printf("%-24s %s\n", std::string(fabric).c_str(),
                time ? (std::to_string(std::chrono::duration<double, std::milli>(*time).count()) + " ms").c_str()
                     : time.error().message.c_str());
  }
  return 0;
}
