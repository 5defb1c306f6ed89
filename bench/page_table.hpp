// SPDX-License-Identifier: Apache-2.0
// A table of figures within a page, between two marks that name the benchmark that makes it.
#pragma once

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace loom {

/// Writes the table between `<!-- NAME -->` and `<!-- end of NAME -->`, each on a line of its own. False, and says so: the page
/// has no such place.
inline bool write_page_table(const std::string& path, const std::string& name, const std::string& table) {
  const std::string begin_mark = "<!-- " + name + " -->\n";
  const std::string end_mark = "<!-- end of " + name + " -->\n";
  std::ifstream in(path);
  std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::size_t begin = page.find(begin_mark);
  const std::size_t end = page.find(end_mark);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    std::fprintf(stderr, "%s: has no place for the table, between %s and %s\n", path.c_str(), begin_mark.c_str(),
                 end_mark.c_str());
    return false;
  }
  page.replace(begin + begin_mark.size(), end - begin - begin_mark.size(), table);
  std::ofstream(path) << page;
  return true;
}

}  // namespace loom
