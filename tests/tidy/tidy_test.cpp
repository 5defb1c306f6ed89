// SPDX-License-Identifier: Apache-2.0
// The tree's own rules, judged by reading the tree: which room may include which, what step machines may not call, how long
// files and functions may be, that no file is an orphan, and that every number on the wire says its unit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kFileWall = 600;
constexpr std::size_t kFunctionWall = 70;

struct SourceFile {
  std::string path;
  std::vector<std::string> lines;
};

bool has_suffix(const std::string& text, std::string_view suffix) { return text.ends_with(suffix); }

/// Every source file of the rooms, by path relative to the tree's root (the tests' working directory).
std::vector<SourceFile> read_tree(const std::vector<std::string>& suffixes) {
  static const std::vector<std::string> kRooms{"core",    "proto",       "controller", "agents", "drivers",
                                               "runtime", "sim_backend", "cli",        "tests",  "bench"};
  std::vector<SourceFile> files;
  for (const std::string& room : kRooms) {
    if (!fs::exists(room)) {
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(room)) {
      const std::string path = entry.path().generic_string();
      const bool wanted = std::any_of(suffixes.begin(), suffixes.end(), [&](const auto& s) { return has_suffix(path, s); });
      if (!entry.is_regular_file() || !wanted) {
        continue;
      }
      SourceFile file{path, {}};
      std::ifstream stream(path);
      for (std::string line; std::getline(stream, line);) {
        file.lines.push_back(line);
      }
      files.push_back(std::move(file));
    }
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  REQUIRE(files.size() > 1);
  return files;
}

/// The room of a path: the longest prefix that is a room of its own in arrows().
std::string room_of(const std::string& path) {
  static const std::vector<std::string> kRooms{"core/config",
                                               "core",
                                               "proto",
                                               "controller/workload",
                                               "controller/predict",
                                               "controller/schedule",
                                               "controller/architectures",
                                               "controller/arena",
                                               "controller/plan",
                                               "controller/control",
                                               "agents",
                                               "drivers/bus",
                                               "drivers",
                                               "runtime/state",
                                               "runtime/zmq",
                                               "runtime",
                                               "sim_backend/devices",
                                               "sim_backend/emulate",
                                               "sim_backend",
                                               "cli",
                                               "tests",
                                               "bench"};
  for (const std::string& room : kRooms) {
    if (path.starts_with(room + "/")) {
      return room;
    }
  }
  return "";
}

/// Which rooms a room may include. Executables' main files, tests and benchmarks may include any.
const std::map<std::string, std::set<std::string>>& arrows() {
  static const std::map<std::string, std::set<std::string>> kArrows{
      {"core", {}},
      {"core/config", {"core"}},
      {"proto", {"core"}},
      {"controller/workload", {"core", "core/config"}},
      {"controller/predict", {"core", "controller/workload"}},
      {"controller/schedule", {"core", "controller/workload", "controller/predict"}},
      {"controller/architectures",
       {"core", "core/config", "controller/workload", "controller/predict", "controller/schedule", "drivers"}},
      {"controller/arena",
       {"core", "core/config", "controller/workload", "controller/predict", "controller/schedule", "controller/architectures"}},
      {"controller/plan", {"core", "controller/workload", "controller/predict", "controller/schedule"}},
      {"controller/control", {"core", "controller/plan"}},
      {"drivers", {"core"}},
      {"drivers/bus", {"core"}},
      {"agents", {"core", "drivers"}},
      {"runtime", {"core", "proto", "drivers/bus"}},
      {"runtime/zmq", {"core", "proto", "runtime"}},
      {"runtime/state", {"core", "core/config", "agents", "runtime", "runtime/zmq"}},
      {"sim_backend/devices", {"core", "drivers"}},
      {"sim_backend",
       {"core", "core/config", "drivers", "runtime", "controller/control", "controller/plan", "controller/workload",
        "controller/predict", "controller/schedule", "controller/architectures", "controller/arena", "agents",
        "sim_backend/devices"}},
  };
  return kArrows;
}

std::string without_comment(const std::string& line) {
  const auto comment = line.find("//");
  return comment == std::string::npos ? line : line.substr(0, comment);
}

std::string listing(const std::vector<std::string>& faults) {
  std::ostringstream text;
  for (const std::string& fault : faults) {
    text << "\n  " << fault;
  }
  return text.str();
}

bool is_program(const std::string& path) { return has_suffix(path, "main.cpp") || path.starts_with("sim_backend/emulate/"); }

}  // namespace

TEST_CASE("rooms include only what the arrows allow") {
  static const std::regex kInclude{R"re(^#include "([^"]+)")re"};
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({".hpp", ".cpp"})) {
    const std::string room = room_of(file.path);
    const auto allowed = arrows().find(room);
    if (allowed == arrows().end() || is_program(file.path)) {
      continue;
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_search(file.lines[i], match, kInclude)) {
        continue;
      }
      const std::string target = room_of(match[1]);
      if (!target.empty() && target != room && !allowed->second.contains(target)) {
        faults.push_back(file.path + ":" + std::to_string(i + 1) + ": " + room + " may not include " + target);
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("no architecture is named where every architecture is served") {
  static const std::regex kNamed{"oddl|topoopt|sip[-_]?(ml|ring|ocs)|mordia", std::regex::icase};
  static const std::vector<std::string> kServing{"core/", "agents/", "controller/plan/", "controller/control/"};
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({".hpp", ".cpp"})) {
    const bool serves = std::ranges::any_of(kServing, [&](const std::string& room) { return file.path.starts_with(room); });
    for (std::size_t i = 0; serves && i < file.lines.size(); ++i) {
      if (std::regex_search(without_comment(file.lines[i]), kNamed)) {
        faults.push_back(file.path + ":" + std::to_string(i + 1) + ": ask its record (controller/schedule/architecture.hpp)");
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("no model of device is named where every device is served") {
  static const std::regex kNamed{"itla|cmis|polatis|finisar|scpi|lcos|flexgrid|heater_bank|modbus", std::regex::icase};
  static const std::vector<std::string> kServing{"core/", "agents/", "controller/", "runtime/", "proto/", "cli/"};
  // A fabric may say what its lasers are, and an endpoint is opened by the name of its bus, which is no device's.
  static const std::vector<std::string> kMay{
      "controller/architectures/", "core/config/endpoints/bus_lines.", "core/config/endpoints/contact_endpoint.",
      "core/config/fabric_file.",  "core/fabric/device_model.",        "cli/discover/"};
  const auto lies_in = [](const std::string& path, const std::vector<std::string>& rooms) {
    return std::ranges::any_of(rooms, [&](const std::string& room) { return path.starts_with(room); });
  };
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({".hpp", ".cpp", ".proto"})) {
    const bool serves = lies_in(file.path, kServing) && !lies_in(file.path, kMay);
    for (std::size_t i = 0; serves && i < file.lines.size(); ++i) {
      if (std::regex_search(without_comment(file.lines[i]), kNamed)) {
        faults.push_back(file.path + ":" + std::to_string(i + 1) + ": ask for its role (core/fabric/fabric.hpp)");
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("what more than loom needs of cli is in another room") {
  static const std::regex kInclude{R"re(^#include "cli/)re"};
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({".hpp", ".cpp"})) {
    const bool may = file.path.starts_with("cli/") || file.path.starts_with("tests/");
    for (std::size_t i = 0; i < file.lines.size() && !may; ++i) {
      if (std::regex_search(file.lines[i], kInclude)) {
        faults.push_back(file.path + ":" + std::to_string(i + 1) + ": " + file.lines[i]);
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("a folder has no more files than a reader takes in at a glance") {
  constexpr std::size_t kFolderWall = 25;
  std::map<std::string, std::size_t> files;
  for (const SourceFile& file : read_tree({".hpp", ".cpp"})) {
    ++files[fs::path(file.path).parent_path().string()];
  }
  for (const auto& [folder, count] : files) {
    INFO(folder << ": " << count << " files, the wall is " << kFolderWall);
    CHECK(count <= kFolderWall);
  }
}

TEST_CASE("only the rooms that own a clock, a thread or chance ask for them") {
  static const std::regex kBanned{
      R"re(\b(std::chrono::\w+_clock::now|sleep_for|sleep_until|usleep|nanosleep|std::random_device|std::mt19937|std::rand|std::\w+_distribution|std::thread|std::jthread|clock_gettime|gettimeofday|std::this_thread)\b)re"};
  static const std::vector<std::string> kPure{"core",
                                              "proto",
                                              "controller/workload",
                                              "controller/predict",
                                              "controller/schedule",
                                              "controller/plan",
                                              "controller/control",
                                              "agents",
                                              "drivers",
                                              "sim_backend/devices"};
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({".hpp", ".cpp"})) {
    if (is_program(file.path) || std::find(kPure.begin(), kPure.end(), room_of(file.path)) == kPure.end()) {
      continue;
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      const std::string code = without_comment(file.lines[i]);
      if (std::regex_search(code, match, kBanned)) {
        faults.push_back(file.path + ":" + std::to_string(i + 1) + ": " + match[0].str());
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("nothing of ours throws, leaves a note to itself or drops a namespace into a header") {
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({".hpp", ".cpp", ".proto"})) {
    if (file.path.starts_with("tests/")) {
      continue;
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const bool is_code_only = std::regex_search(without_comment(file.lines[i]), std::regex{R"(\bthrow\b)"});
      const bool is_note = std::regex_search(file.lines[i], std::regex{R"(\b(TODO|FIXME|XXX)\b|\busing namespace std\b)"});
      if (is_code_only || is_note) {
        faults.push_back(file.path + ":" + std::to_string(i + 1) + ": " + file.lines[i]);
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("files and functions stay within their walls") {
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({".hpp", ".cpp", ".proto"})) {
    if (file.lines.size() > kFileWall) {
      faults.push_back(file.path + ": " + std::to_string(file.lines.size()) + " lines, the wall is " +
                       std::to_string(kFileWall));
    }
    if (file.path.starts_with("tests/")) {
      continue;  // a test case may tell a long story
    }
    std::size_t opened = 0;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const bool opens = !line.empty() && line.back() == '{' && line.front() != ' ' && line.front() != '}';
      static const std::regex kNotFunction{
          R"(^(namespace|struct|class|enum|union|extern|constexpr .*= ?\{|const .*= ?\{|static .*= ?\{|template <.*> (struct|class)))"};
      if (opens && !std::regex_search(line, kNotFunction) && line.find('(') != std::string::npos) {
        opened = i + 1;
      } else if (line == "}" && opened != 0) {
        if (i + 1 - opened > kFunctionWall) {
          faults.push_back(file.path + ":" + std::to_string(opened) + ": a function of " + std::to_string(i + 1 - opened) +
                           " lines, the wall is " + std::to_string(kFunctionWall));
        }
        opened = 0;
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("every file says first what it is") {
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({".hpp", ".cpp", ".proto"})) {
    const std::size_t first = !file.lines.empty() && file.lines.front().starts_with("// SPDX-License-Identifier") ? 1 : 0;
    if (file.lines.size() <= first || !file.lines[first].starts_with("//")) {
      faults.push_back(file.path);
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("no source file is an orphan") {
  std::string listed;
  for (const SourceFile& file : read_tree({"CMakeLists.txt", ".cmake"})) {
    for (const std::string& line : file.lines) {
      listed += line + "\n";
    }
  }
  std::set<std::string> included;
  static const std::regex kInclude{R"re(^#include "([^"]+)")re"};
  const auto files = read_tree({".hpp", ".cpp"});
  for (const SourceFile& file : files) {
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (std::regex_search(line, match, kInclude)) {
        included.insert(match[1]);
      }
    }
  }
  std::vector<std::string> faults;
  for (const SourceFile& file : files) {
    const bool is_header = has_suffix(file.path, ".hpp");
    const std::string name = fs::path(file.path).filename().string();
    const bool is_known =
        is_header ? included.contains(file.path) || included.contains(name) : listed.find(name) != std::string::npos;
    if (!is_known) {
      faults.push_back(file.path + (is_header ? ": included by nobody" : ": in no CMakeLists.txt"));
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("no two headers give one name to different types") {
  static const std::regex kType{R"re(^(?:struct|class|enum class) (\w+(?:::\w+)*) ?(?:final)? ?(?:\{|:(?!:)))re"};
  static const std::regex kNamespace{R"re(^namespace ([\w:]+) \{)re"};
  std::map<std::string, std::string> owner;  // linkers would take either, silently
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({".hpp"})) {
    std::string scope;
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (std::regex_search(line, match, kNamespace)) {
        scope = match[1];
      } else if (!file.path.starts_with("tests/") && std::regex_search(line, match, kType)) {
        const std::string name = scope + "::" + match[1].str();
        if (const auto [entry, is_new] = owner.try_emplace(name, file.path); !is_new) {
          faults.push_back(name + ": in " + entry->second + " and in " + file.path);
        }
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("no test has a semicolon in its name, at which CTest would cut it in two that match nothing") {
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({"_test.cpp"})) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const bool has_name = line.starts_with("TEST_CASE(\"") || (i > 0 && file.lines[i - 1] == "TEST_CASE(");
      const std::size_t begin = line.find('"');
      const std::size_t end = line.find('"', begin == std::string::npos ? begin : begin + 1);
      if (has_name && line.substr(0, end).find(';') != std::string::npos) {
        faults.push_back(file.path + ":" + std::to_string(i + 1));
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("every test that the threat model names exists") {
  std::string names;  // a name that takes two lines is two literals, joined
  for (const SourceFile& file : read_tree({"_test.cpp"})) {
    for (const std::string& line : file.lines) {
      names += line.substr(std::min(line.find_first_not_of(' '), line.size()));
    }
  }
  names = std::regex_replace(names, std::regex{R"re("")re"}, "");
  std::ifstream page("docs/threat_model.md");
  static const std::regex kName{R"re(`([^`]+)`)re"};
  std::size_t named = 0;
  std::vector<std::string> faults;
  for (std::string line; std::getline(page, line);) {
    const std::size_t bar = line.size() > 2 ? line.rfind('|', line.size() - 3) : std::string::npos;
    if (!line.starts_with("| ") || bar == std::string::npos) {
      continue;
    }
    const std::string tests = line.substr(bar);
    for (std::sregex_iterator each(tests.begin(), tests.end(), kName), end; each != end; ++each, ++named) {
      if (names.find("\"" + (*each)[1].str() + "\"") == std::string::npos) {
        faults.push_back((*each)[1].str());
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
  CHECK(named > 40);
}

TEST_CASE("every number on the wire says its unit") {
  static const std::regex kField{
      R"re(^\s*(?:optional |repeated )?(u?int32|u?int64|sint32|sint64|fixed64|double|float) (\w+) = \d+)re"};
  static const std::vector<std::string> kUnits{"_ns",
                                               "_us",
                                               "_ms",
                                               "_s",
                                               "_mhz",
                                               "_hz",
                                               "_centi_db",
                                               "_centi_dbm",
                                               "_bytes",
                                               "_bits_per_second",
                                               "_mv",
                                               "_millivolts",
                                               "_mm",
                                               "_n",
                                               "_m",
                                               "_id",
                                               "_ids",
                                               "_count",
                                               "_counts",
                                               "_index",
                                               "_number",
                                               "_numbers",
                                               "_port",
                                               "_version",
                                               "_code",
                                               "_bits",
                                               "_hash",
                                               "_ratio",
                                               "_total",
                                               "_digest",
                                               "_khz_per_square_volt",
                                               "_millivolts_max",
                                               "_millikelvin"};
  std::vector<std::string> faults;
  for (const SourceFile& file : read_tree({".proto"})) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_search(file.lines[i], match, kField)) {
        continue;
      }
      const std::string field = match[2];
      const std::string bare = "_" + field;
      const bool says = std::any_of(kUnits.begin(), kUnits.end(),
                                    [&](const std::string& unit) { return has_suffix(field, unit) || has_suffix(bare, unit); });
      if (!says) {
        faults.push_back(file.path + ":" + std::to_string(i + 1) + ": " + field +
                         " has no unit (known: _ns, _mhz, _centi_dbm, ...)");
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}
