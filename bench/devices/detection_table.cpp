// SPDX-License-Identifier: Apache-2.0
// Every fault of the catalogue, on a device of every model that can have it, in a fabric that is lit: when the controller first
// raises an alarm, when one that names the device, and when it says of a circuit that it is not lit. Nothing is ordered
// meanwhile, or
// (--ordered) another job takes the place of the first. Virtual time: the table is a function of fabric and seeds.
// detection_table [--ordered] [--json] [FABRIC [SEEDS]].
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "controller/architectures/registry.hpp"
#include "core/config/fabric_file.hpp"
#include "sim_backend/experiments/detection.hpp"

namespace {

using namespace loom;

/// Of those that came; of none: nothing.
struct Times {
  std::vector<Duration> all;

  void add(std::optional<Duration> time) {
    if (time) {
      all.push_back(*time);
    }
  }
  std::string text(std::size_t runs) {
    if (all.empty()) {
      return "-";
    }
    std::ranges::sort(all);
    std::string said = std::to_string(all[all.size() / 2] / std::chrono::milliseconds{1}) + " / " +
                       std::to_string(all.back() / std::chrono::milliseconds{1});
    return all.size() == runs ? said : said + " (" + std::to_string(all.size()) + " of " + std::to_string(runs) + ")";
  }
  nlohmann::ordered_json json() const {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Duration time : all) {
      list.push_back(time / std::chrono::milliseconds{1});
    }
    return list;
  }
};

struct Row {
  Times alarm;
  Times named;
  Times unlit;
  std::string words;
  bool harms = false;
  std::uint64_t lit_at_end = 0;  ///< runs
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool is_json = std::erase(words, "--json") > 0;
  const DetectionOrder order = std::erase(words, "--ordered") > 0 ? DetectionOrder::another_job : DetectionOrder::none;
  const std::string path = words.empty() ? "configs/fabrics/dialects_4.yaml" : words[0];
  const std::uint64_t seeds = words.size() < 2 ? 5 : std::strtoull(words[1].c_str(), nullptr, 10);
  auto loaded = load_fabric(path, all_fabric_kinds());
  if (!loaded || seeds == 0) {
    std::fprintf(stderr, "%s cannot be used; detection_table [--ordered] [--json] [FABRIC [SEEDS]]\n", path.c_str());
    return 2;
  }
  const Scenario scenario = detection_scenario(std::make_shared<const Fabric>(std::move(*loaded.value)), "oddl", order);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!is_json) {
    std::printf("%s, seeds 1 to %llu, %s; ms of virtual time, median / greatest; -: not within %lld s\n", path.c_str(),
                static_cast<unsigned long long>(seeds),
                order == DetectionOrder::none ? "nothing ordered" : "from the order of another job on",
                static_cast<long long>(kDetectionPatience / std::chrono::seconds{1}));
    std::printf("%-20s %-16s %-8s %-8s %18s %18s %18s  %s\n", "fault", "model", "harms", "at end", "alarm", "names it",
                "not lit", "the alarm");
  }
  for (const DetectionCase& one : detection_cases(*scenario.fabric)) {
    Row row;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto found = detect(scenario, one, seed, order);
      if (!found) {
        std::fprintf(stderr, "%s: %s\n", one.fault.c_str(), found.error().message.c_str());
        return 1;
      }
      row.alarm.add(found->alarm_after);
      row.named.add(found->named_after);
      row.unlit.add(found->unlit_after);
      row.words = row.words.empty() ? found->alarm : row.words;
      row.harms = row.harms || found->harms;
      row.lit_at_end += found->is_lit_at_end ? 1 : 0;
    }
    if (is_json) {
      rows.push_back({{"fault", one.fault},
                      {"model", one.model},
                      {"at", one.what},
                      {"harms", row.harms},
                      {"lit_at_end", row.lit_at_end},
                      {"alarm_ms", row.alarm.json()},
                      {"named_ms", row.named.json()},
                      {"not_lit_ms", row.unlit.json()},
                      {"alarm", row.words}});
    } else {
      const char* end = row.lit_at_end == seeds ? "lit" : row.lit_at_end == 0 ? "not lit" : "either";
      std::printf("%-20s %-16s %-8s %-8s %18s %18s %18s  %.110s\n", one.fault.c_str(), one.model.c_str(),
                  row.harms ? "yes" : "no", end, row.alarm.text(seeds).c_str(), row.named.text(seeds).c_str(),
                  row.unlit.text(seeds).c_str(), row.words.c_str());
    }
  }
  if (is_json) {
    std::printf("%s\n", rows.dump(1).c_str());
  }
  return 0;
}
