// SPDX-License-Identifier: Apache-2.0
// Every shipped scenario that runs with real processes, run with them: as its author expects, and accounted for as in virtual
// time.
#include "tests/sim/labs/lab.hpp"
#include "tests/sim/labs/shipped_scenarios.hpp"

#include <regex>
#include <sstream>

using namespace loom;
using namespace loom::test;
namespace fs = std::filesystem;

namespace {

/// Long by their own duration, or large.
const std::set<std::string> kSlowInLabs{"all_elements", "first_light",  "mixed_1024",  "oddl_awgr_64",
                                        "oddl_open_64", "sip_ocs_1024", "sip_ocs_16",  "sip_ring_1024",
                                        "sip_ring_16",  "topoopt_16",   "topoopt_432", "topoopt_panels_16"};

/// The scenario's text for a folder of its own, its emulators at ports that are free and at files below `modules`.
std::string text_elsewhere(const fs::path& path, const fs::path& modules) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::string rest =
      std::regex_replace(text.str(), std::regex("fabric: \\.\\./"), "fabric: " + fs::absolute("configs/").string());
  std::string moved;
  static const std::regex kPort("127\\.0\\.0\\.1:([0-9]+)");
  const int first = free_ports(16);
  int used = 0;
  for (std::smatch match; std::regex_search(rest, match, kPort); rest = match.suffix()) {
    moved += match.prefix().str() + "127.0.0.1:" + std::to_string(first + used++);
  }
  return std::regex_replace(moved + rest, std::regex("optoe:///tmp/lightloom"), "optoe://" + modules.string());
}

/// Modules are files that FUSE shows.
bool can_be_had(const std::string& text) {
  return text.find("optoe://") == std::string::npos || access("/dev/fuse", R_OK | W_OK) == 0;
}

}  // namespace

TEST_CASE("each shipped scenario goes as expected with real processes") {
  for (const ShippedScenario& shipped : shipped_in({Mode::soft, Mode::mixed, Mode::hard}, kSlowInLabs)) {
    CAPTURE(shipped.name);
    const Lab lab;
    const fs::path path = lab.state().string() + ".yaml";
    const fs::path modules = lab.state().string() + ".modules";
    const std::string text = text_elsewhere(shipped.path, modules);
    if (!can_be_had(text)) {
      WARN(shipped.name << " is not run: there is no /dev/fuse for its modules");
      continue;
    }
    std::ofstream(path) << text;
    const Finished finished = lab.run("--json lab run " + path.string());
    fs::remove_all(modules);
    INFO(finished.output << finished.words);
    CHECK(finished.code == 0);
    const auto object = nlohmann::json::parse(finished.output, nullptr, false);
    REQUIRE(object.is_object());
    CHECK(object["as_expected"] == true);
    REQUIRE(object.contains("violations"));
    CHECK(object["violations"].empty());
    for (const auto& job : object["jobs"]) {
      CHECK(job["lit_ms"].get<double>() > 0);
      CHECK(job["iterations"].get<int>() > 0);
    }
  }
}
