// The table of schedulers, and the nearest name for a mistyped one.
#include "controller/schedule/registry.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "controller/schedule/oddl.hpp"

namespace loom {
namespace {

struct Entry {
  std::string_view name;
  Scheduler* scheduler;
};

constexpr std::array<Entry, 1> kSchedulers{{{"oddl", &schedule_oddl}}};

/// Levenshtein distance; both words are short.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

Result<Scheduler*> find_scheduler(std::string_view name) {
  const Entry* nearest = &kSchedulers.front();
  for (const Entry& entry : kSchedulers) {
    if (entry.name == name) {
      return entry.scheduler;
    }
    if (edit_distance(entry.name, name) < edit_distance(nearest->name, name)) {
      nearest = &entry;
    }
  }
  return fail(ErrorCode::not_found,
              "scheduler \"" + std::string(name.substr(0, 64)) + "\" does not exist; nearest: " + std::string(nearest->name));
}

std::vector<std::string_view> scheduler_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kSchedulers) {
    names.push_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace loom
