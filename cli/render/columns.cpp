// SPDX-License-Identifier: Apache-2.0
// Lists of numbers, short.
#include "cli/render/columns.hpp"

#include "core/text/format_text.hpp"

namespace loom::cli {

std::string ranges_of(const std::vector<NodeId>& nodes) {
  std::string text;
  for (std::size_t begin = 0; begin < nodes.size();) {
    std::size_t end = begin;
    while (end + 1 < nodes.size() && nodes[end + 1].value == nodes[end].value + 1) {
      ++end;
    }
    text += format_text("{}{}{}", text.empty() ? "" : ",", nodes[begin].value,
                        end > begin ? format_text("-{}", nodes[end].value) : "");
    begin = end + 1;
    if (text.size() > 40 && begin < nodes.size()) {
      return format_text("{},... ({})", text, nodes.size());
    }
  }
  return text;
}

std::string list_of(const std::vector<JobId>& jobs) {
  std::string text;
  for (const JobId job : jobs) {
    text += (text.empty() ? "" : ",") + std::to_string(job.value);
  }
  return text.empty() ? "-" : text;
}

}  // namespace loom::cli
