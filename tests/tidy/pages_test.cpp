// SPDX-License-Identifier: Apache-2.0
// What the tree says of itself must be in the tree: pages, headings and files that are named exist, nothing is named that only
// somebody's desk has, every page is in an index, and prose is as wide as prose.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
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

constexpr std::size_t kProseColumns = 124;  ///< prose wraps at 118; a name that cannot be cut may stand out

struct TextFile {
  std::string path;
  std::vector<std::string> lines;
};

/// Every text of the tree, builds and what runs leave behind excepted.
const std::vector<TextFile>& texts() {
  static const std::vector<TextFile> kTexts = [] {
    static const std::set<std::string> kNot{"build", "run"};
    static const std::set<std::string> kKinds{".cpp", ".hpp",   ".md",  ".yaml", ".json", ".proto",
                                              ".py",  ".cmake", ".txt", ".fbs",  ""};
    std::vector<TextFile> files;
    for (auto each = fs::recursive_directory_iterator("."); each != fs::recursive_directory_iterator(); ++each) {
      const std::string path = each->path().lexically_normal().generic_string();
      const std::string name = each->path().filename().string();
      if (each->is_directory() && (name.front() == '.' || kNot.contains(path) || name == "__pycache__")) {
        each.disable_recursion_pending();
      } else if (each->is_regular_file() && name.front() != '.' && kKinds.contains(each->path().extension().string())) {
        TextFile file{path, {}};
        std::ifstream stream(path);
        for (std::string line; std::getline(stream, line);) {
          file.lines.push_back(line);
        }
        files.push_back(std::move(file));
      }
    }
    std::sort(files.begin(), files.end(), [](const TextFile& a, const TextFile& b) { return a.path < b.path; });
    return files;
  }();
  return kTexts;
}

bool is_page(const TextFile& file) { return file.path.ends_with(".md"); }

/// A heading's anchor as GitHub makes it: lower case, blanks become hyphens, punctuation goes.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ' || c == '-') {
      anchor += '-';
    } else if (std::isalnum(byte) != 0 || c == '_' || byte >= 0x80) {
      anchor += static_cast<char>(std::tolower(byte));
    }
  }
  return anchor;
}

/// Headings of every page, as anchors.
const std::map<std::string, std::set<std::string>>& anchors() {
  static const std::map<std::string, std::set<std::string>> kAnchors = [] {
    std::map<std::string, std::set<std::string>> pages;
    for (const TextFile& file : texts()) {
      if (!is_page(file)) {
        continue;
      }
      std::set<std::string>& here = pages[file.path];
      for (const std::string& line : file.lines) {
        const std::size_t text = line.starts_with("#") ? line.find_first_not_of('#') : std::string::npos;
        if (text != std::string::npos && line[text] == ' ') {
          here.insert(anchor_of(line.substr(text + 1)));
        }
      }
    }
    return pages;
  }();
  return kAnchors;
}

std::string at(const TextFile& file, std::size_t line) { return file.path + ":" + std::to_string(line + 1) + ": "; }

std::string listing(const std::vector<std::string>& faults) {
  std::ostringstream text;
  for (const std::string& fault : faults) {
    text << "\n  " << fault;
  }
  return text.str();
}

}  // namespace

TEST_CASE("no file names one that the tree does not have") {
  // Names of notes that lay beside the tree while it was written, put together so that this file does not name them either.
  const std::regex outside{std::string{R"re(\b(SYSTEMS|TARGETS|DEVICES|TRAFFIC|OPERATIONS|DESIGN|STYLE)\.m)re"} + "d\\b|/wor" +
                           "k/"};
  static const std::string kBeside = std::string{".."} + "/shared";
  std::vector<std::string> faults;
  for (const TextFile& file : texts()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const std::size_t beside = line.find(kBeside);
      // Public data is no part of the tree: where it lies is said by LIGHTLOOM_DATA, and this is where it is looked for
      // without.
      const bool is_data = beside != std::string::npos && line.compare(beside + kBeside.size(), 5, "/data") == 0;
      std::smatch match;
      if (std::regex_search(line, match, outside)) {
        faults.push_back(at(file, i) + "names " + match[0].str() + ", which is not here; cite a page of docs/");
      } else if (beside != std::string::npos && !is_data) {
        faults.push_back(at(file, i) + "names a folder beside the tree; only data may lie there");
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("pages and headings that comments, messages and configurations cite exist") {
  static const std::regex kCited{R"re(\bdocs/([a-z_0-9/]+\.md)((?:#[a-z0-9-]+(?:, #[a-z0-9-]+)*)?))re"};
  static const std::regex kAnchor{R"re(#([a-z0-9-]+))re"};
  std::size_t cited = 0;
  std::vector<std::string> faults;
  for (const TextFile& file : texts()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      for (std::sregex_iterator each(file.lines[i].begin(), file.lines[i].end(), kCited), end; each != end; ++each, ++cited) {
        const std::string page = "docs/" + (*each)[1].str();
        const auto found = anchors().find(page);
        if (found == anchors().end()) {
          faults.push_back(at(file, i) + "no page " + page);
          continue;
        }
        const std::string headings = (*each)[2];
        for (std::sregex_iterator one(headings.begin(), headings.end(), kAnchor); one != end; ++one) {
          if (!found->second.contains((*one)[1])) {
            faults.push_back(at(file, i) + page + " has no heading #" + (*one)[1].str());
          }
        }
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
  CHECK(cited > 50);
}

TEST_CASE("links between pages lead somewhere") {
  static const std::regex kLink{R"re(\]\(([^)#: ]*)(#[^)]*)?\))re"};
  std::size_t links = 0;
  std::vector<std::string> faults;
  for (const TextFile& file : texts()) {
    for (std::size_t i = 0; is_page(file) && i < file.lines.size(); ++i) {
      for (std::sregex_iterator each(file.lines[i].begin(), file.lines[i].end(), kLink), end; each != end; ++each, ++links) {
        const fs::path folder = fs::path(file.path).parent_path();
        const std::string to =
            (*each)[1].length() == 0 ? file.path : (folder / (*each)[1].str()).lexically_normal().generic_string();
        const std::string heading = (*each)[2];
        if (!fs::exists(to)) {
          faults.push_back(at(file, i) + "no " + to);
        } else if (!heading.empty() && !anchors().at(to).contains(heading.substr(1))) {
          faults.push_back(at(file, i) + to + " has no heading " + heading);
        }
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
  CHECK(links > 50);
}

TEST_CASE("every page is in an index") {
  std::set<std::string> linked;
  for (const char* name : {"docs/README.md", "docs/adr/README.md"}) {
    const fs::path folder = fs::path(name).parent_path();
    static const std::regex kLink{R"re(\]\(([^)#: ]+)\))re"};
    std::ifstream page(name);
    for (std::string line; std::getline(page, line);) {
      for (std::sregex_iterator each(line.begin(), line.end(), kLink), end; each != end; ++each) {
        linked.insert((folder / (*each)[1].str()).lexically_normal().generic_string());
      }
    }
  }
  std::vector<std::string> faults;
  for (const TextFile& file : texts()) {
    if (file.path.starts_with("docs/") && is_page(file) && file.path != "docs/README.md" && !linked.contains(file.path)) {
      faults.push_back(file.path + ": neither docs/README.md nor docs/adr/README.md leads there");
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("prose is as wide as prose") {
  std::vector<std::string> faults;
  for (const TextFile& file : texts()) {
    const bool is_read = is_page(file) && !file.path.starts_with("tests/");  // there they are a program's input
    bool is_fenced = false;
    for (std::size_t i = 0; is_read && i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const std::size_t first = line.find_first_not_of(' ');
      const bool is_fence = first != std::string::npos && line.compare(first, 3, "```") == 0;
      is_fenced = is_fenced != is_fence;
      const bool is_prose = first != std::string::npos && !is_fence && !is_fenced && line[first] != '|';
      if (is_prose && line.size() > kProseColumns) {
        faults.push_back(at(file, i) + std::to_string(line.size()) + " columns; prose has at most " +
                         std::to_string(kProseColumns));
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("abbreviations of the pages are in the glossary, and a word has one row there") {
  static const std::regex kAbbreviation{R"re(\b(?!SIG[A-Z])[A-Z][A-Za-z]?[A-Z]+\b)re"};
  static const std::regex kCode{R"re(`[^`]*`|\]\([^)]*\))re"};
  static const std::set<std::string> kCommon{
      "ASCII",     "CI",     "CLI",     "CPU",    "CSV",  "FILE",   "GB",     "GPU",  "HTTP",    "ID",    "IP",
      "JSON",      "LED",    "MB",      "ML",     "NULL", "OFF",    "PC",     "PCI",  "RFC",     "RPC",   "SVG",
      "CONNECTED", "FAILED", "UNKNOWN", "NORMAL", "KEY",  "FOLDER", "NUMBER", "RULE", "INSTANT", "EMITS", "TCP",
      "TB",        "USB",    "UTF",     "YAML",   "XML",  "API",    "OK",     "OS",   "IO"};
  std::ifstream page("docs/glossary.md");
  std::set<std::string> known;
  std::set<std::string> rows;
  std::vector<std::string> faults;
  for (std::string line; std::getline(page, line);) {
    for (std::sregex_iterator each(line.begin(), line.end(), kAbbreviation), end; each != end; ++each) {
      known.insert((*each)[0]);
    }
    const std::string word = line.substr(0, line.find(" |", 1));
    if (line.starts_with("| ") && word != "| word" && !rows.insert(word).second) {
      faults.push_back("docs/glossary.md: two rows for" + word.substr(1));
    }
  }
  for (const TextFile& file : texts()) {
    bool is_fenced = false;
    for (std::size_t i = 0;
         i < file.lines.size() && is_page(file) && file.path.starts_with("docs/") && !file.path.starts_with("docs/adr/") &&
         !file.path.starts_with("docs/reference/");  // made from help texts, whose placeholders look like abbreviations
         ++i) {
      is_fenced = is_fenced != file.lines[i].starts_with("```");
      const std::string prose = is_fenced ? "" : std::regex_replace(file.lines[i], kCode, "");
      for (std::sregex_iterator each(prose.begin(), prose.end(), kAbbreviation), end; each != end; ++each) {
        if (!known.contains((*each)[0]) && !kCommon.contains((*each)[0])) {
          faults.push_back(at(file, i) + (*each)[0].str() + " is not in docs/glossary.md");
        }
      }
    }
  }
  INFO(listing(faults));
  CHECK(faults.empty());
}

TEST_CASE("every folder has its sentence in the page of rooms") {
  std::string page;
  std::ifstream stream("docs/architecture.md");
  for (std::string line; std::getline(stream, line);) {
    page += line + "\n";
  }
  std::set<std::string> faults;
  for (const TextFile& file : texts()) {
    const fs::path folder = fs::path(file.path).parent_path();
    const std::string name = folder.generic_string();
    const std::string family = (folder.parent_path() / "*").generic_string();  // folders of one kind have one sentence
    if (!name.empty() && !name.starts_with("docs") && page.find("`" + name + "/`") == std::string::npos &&
        page.find("`" + family + "/`") == std::string::npos) {
      faults.insert(name + "/: docs/architecture.md says nothing of it");
    }
  }
  INFO(listing({faults.begin(), faults.end()}));
  CHECK(faults.empty());
}
