// SPDX-License-Identifier: Apache-2.0
// Who is named in a sentence is found by its words.
#include "sim_backend/world/fault_notices.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// As a whole word: `laser-1` is not in `laser-12`.
bool has_word(const std::string& sentence, const std::string& word) {
  for (std::size_t at = sentence.find(word); at != std::string::npos; at = sentence.find(word, at + 1)) {
    const auto is_part = [&](std::size_t place) {
      return place < sentence.size() &&
             (std::isalnum(static_cast<unsigned char>(sentence[place])) != 0 || sentence[place] == '-');
    };
    if (!is_part(at + word.size()) && (at == 0 || !is_part(at - 1))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string kind_of_fault(const std::string& fault) {
  const std::size_t colon = fault.rfind(": ");
  return colon == std::string::npos ? fault : fault.substr(colon + 2);
}

void FaultNotices::add_node(Row& row, NodeId node) const {
  row.nodes.insert(node);
  row.names.push_back(format_text("node {}", node.value));
}

void FaultNotices::begin(Instant now, std::string fault, const std::vector<ElementId>& elements) {
  Row row{std::move(fault), now};
  for (const ElementId element : elements) {
    row.names.push_back(fabric_.element(element).name);
    if (const auto device = fabric_.device_of_element[element.value]; device && row.devices.insert(*device).second) {
      row.names.push_back(fabric_.device(*device).name);
      add_node(row, fabric_.device(*device).agent);
    } else if (const auto node = fabric_.node_of_element[element.value]; node && !device) {
      add_node(row, *node);
    }
  }
  all_reported_ = false;
  rows_.push_back(std::move(row));
}

void FaultNotices::begin(Instant now, std::string fault, NodeId node) {
  Row row{std::move(fault), now};
  add_node(row, node);
  all_reported_ = false;
  rows_.push_back(std::move(row));
}

bool FaultNotices::is_named(const Row& row, const std::string& sentence) {
  return std::any_of(row.names.begin(), row.names.end(), [&](const std::string& name) { return has_word(sentence, name); });
}

void FaultNotices::receive(Instant now, const Alarm& alarm) {
  for (Row& row : rows_) {
    const bool is_about = (alarm.node && row.nodes.contains(*alarm.node)) ||
                          (alarm.device && row.devices.contains(*alarm.device)) || is_named(row, alarm.evidence);
    row.reported = is_about ? std::min(row.reported, now) : row.reported;
  }
}

void FaultNotices::look(Instant now, const Jobs& jobs) {
  if (all_reported_) {
    return;
  }
  all_reported_ = std::none_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.reported == kNever; });
  for (const auto& [job, record] : jobs.records()) {
    Seen& seen = jobs_[job];
    if (seen.state == record.state && seen.reason == record.reason) {
      continue;
    }
    seen = {record.state, record.reason};
    for (Row& row : rows_) {
      row.reported = is_named(row, record.reason) ? std::min(row.reported, now) : row.reported;
    }
  }
}

std::vector<ExcusingFault> FaultNotices::excusing(const std::vector<ExcusedViolation>& excused) const {
  std::vector<ExcusingFault> faults;
  for (const Row& row : rows_) {
    faults.push_back({row.fault, 0, row.reported == kNever ? kForever : row.reported - row.began});
  }
  for (const ExcusedViolation& each : excused) {
    std::size_t latest = rows_.size();  // the same fault may have come twice
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const bool is_it = rows_[i].fault == each.fault && rows_[i].began <= each.violation.at;
      latest = is_it && (latest == rows_.size() || rows_[latest].began <= rows_[i].began) ? i : latest;
    }
    if (latest < rows_.size()) {
      ++faults[latest].excused;
    }
  }
  std::erase_if(faults, [](const ExcusingFault& fault) { return fault.excused == 0; });
  return faults;
}

}  // namespace loom
