// The table of schedulers, and the nearest name for a mistyped one.
#include "controller/schedule/registry.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "controller/schedule/oddl.hpp"
#include "controller/schedule/sip_ocs.hpp"
#include "controller/schedule/sip_ring.hpp"
#include "controller/schedule/topoopt_schedule.hpp"
#include "controller/workload/settings.hpp"

namespace loom {
namespace {

struct Entry {
  std::string_view name;
  Scheduler* scheduler;
};

constexpr std::array<Entry, 4> kSchedulers{{{"oddl", &schedule_oddl},
                                            {"sip-ocs", &schedule_sip_ocs},
                                            {"sip-ring", &schedule_sip_ring},
                                            {"topoopt", &schedule_topoopt}}};

}  // namespace

Result<Scheduler*> find_scheduler(std::string_view name) {
  for (const Entry& entry : kSchedulers) {
    if (entry.name == name) {
      return entry.scheduler;
    }
  }
  return fail(ErrorCode::not_found, "scheduler \"" + std::string(name.substr(0, 64)) +
                                        "\" does not exist; nearest: " + std::string(nearest(name, scheduler_names())));
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
