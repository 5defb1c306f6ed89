// SPDX-License-Identifier: Apache-2.0
// Rows of a journal into spans of time.
#include "sim_backend/judge/plan_history.hpp"

#include <algorithm>
#include <tuple>

namespace loom {
namespace {

/// Training processes compute for as long as they like; so long without light is worth a word all the same.
constexpr Duration kTrainingMost = std::chrono::minutes{1};

const DevicePlan* plan_of(const NodePlan& node, DeviceId device) {
  const auto found = std::ranges::lower_bound(node.devices, device, {}, &DevicePlan::device);
  return found == node.devices.end() || found->device != device ? nullptr : &*found;
}

class PlanReader {
 public:
  PlanReader(const Fabric& fabric, const Plan& plan) : fabric_(fabric), plan_(plan) {}

  std::map<JobId, PlannedLight> lights() const {
    std::map<JobId, PlannedLight> lights;
    for (const Circuit& circuit : plan_.circuits) {
      const auto [place, is_first] = lights.try_emplace(circuit.job);
      PlannedLight& light = place->second;
      if (is_first) {
        read_kind(circuit, light);
      }
      light.links.push_back({circuit.transmitter, circuit.receiver, circuit.source, circuit.destination});
    }
    for (auto& [job, light] : lights) {
      const auto order = [](const PlannedLink& link) { return std::tuple(link.receiver, link.transmitter); };
      std::ranges::sort(light.links, {}, order);
      const auto rest = std::ranges::unique(light.links, {}, order);  // one in several timeslots is one link
      light.links.erase(rest.begin(), rest.end());
    }
    return lights;
  }

  std::vector<ElementId> touched() const {
    std::vector<ElementId> touched;
    for (const Circuit& circuit : plan_.circuits) {
      const DevicePlan* device = device_of(circuit);
      if (device != nullptr && device->touched) {
        touched.push_back(circuit.transmitter);
      }
    }
    std::ranges::sort(touched);
    const auto rest = std::ranges::unique(touched);
    touched.erase(rest.begin(), rest.end());
    return touched;
  }

 private:
  const NodePlan* node_of(const Circuit& circuit) const {
    const auto found = std::ranges::lower_bound(plan_.nodes, circuit.source, {}, &NodePlan::node);
    return found == plan_.nodes.end() || found->node != circuit.source ? nullptr : &*found;
  }

  const DevicePlan* device_of(const Circuit& circuit) const {
    const NodePlan* node = node_of(circuit);
    const auto device = fabric_.device_of_element[circuit.transmitter.value];
    return node == nullptr || !device ? nullptr : plan_of(*node, *device);
  }

  /// The jobs of a plan are each of one kind, so the first circuit tells.
  void read_kind(const Circuit& circuit, PlannedLight& light) const {
    const NodePlan* node = node_of(circuit);
    const DevicePlan* device = device_of(circuit);
    if (node == nullptr || device == nullptr) {
      return;
    }
    const auto emits_light = [](const TimedSetpoint& entry) { return emits(entry.setpoint); };
    light.repeats = node->iterations && node->iterations->job == circuit.job;
    light.compute = !light.repeats                                    ? Duration{}
                    : node->iterations->paced_by == PacedBy::training ? kTrainingMost
                                                                      : node->iterations->compute;
    const bool is_granted = node->grants && node->grants->job == circuit.job;
    if (is_granted) {
      light.kind = LightKind::granted;
    } else if (std::ranges::none_of(device->timeline, emits_light)) {
      light.kind = LightKind::dark;
    } else if (device->timeline.size() != 1 || device->timeline.front().hold != kForever) {
      light.kind = LightKind::timeslots;
      light.cycle = node->cycle;
      light.cycles = node->cycles;
    }
  }

  const Fabric& fabric_;
  const Plan& plan_;
};

}  // namespace

void PlanHistory::learn(Instant now, const Record& record) {
  if (const auto* snapshot = std::get_if<SnapshotRecord>(&record)) {
    for (const Record& each : unread_records(*snapshot, read_)) {
      learn(now, each);
    }
    return;
  }
  read_.note(record);
  if (const auto* commit = std::get_if<CommitRecord>(&record)) {
    if (const CommitRecord going = read_.with_plan(*commit); going.decision == CommitDecision::going && going.plan) {
      begin(now, going);
    } else if (commit->decision == CommitDecision::confirmed || commit->decision == CommitDecision::returned) {
      end(now, commit->revision, commit->decision == CommitDecision::confirmed);
    }
  } else if (const auto* row = std::get_if<IntentRecord>(&record)) {
    for (const Job& job : row->intent.jobs) {
      std::vector<Placement>& known = placements_[job.id];
      const bool is_news = known.empty() || known.back().nodes != job.nodes || known.back().measured != job.measured;
      if (!job.nodes.empty() && is_news) {
        known.push_back({now, job.nodes, job.measured});
      }
    }
    const bool is_open = !lasers_off_.empty() && lasers_off_.back().to == kNever;
    if (row->intent.lasers_off && !is_open) {
      lasers_off_.push_back({now, kNever});
    } else if (!row->intent.lasers_off && is_open) {
      lasers_off_.back().to = now;
    }
  }
}

void PlanHistory::begin(Instant now, const CommitRecord& record) {
  // A controller that was killed says nothing of the end of what it began.
  if (!revisions_.empty() && revisions_.back().ended == kNever) {
    revisions_.back().ended = now;
  }
  const PlanReader reader(*fabric_, *record.plan);
  PlannedRevision revision{record.revision, now, kNever, false, {}, reader.touched()};
  for (auto& [job, light] : reader.lights()) {
    std::shared_ptr<const PlannedLight> shared;
    if (!revisions_.empty()) {
      const auto before = revisions_.back().jobs.find(job);
      if (before != revisions_.back().jobs.end() && *before->second == light) {
        shared = before->second;
      }
    }
    revision.jobs.emplace(job, shared ? shared : std::make_shared<const PlannedLight>(light));
  }
  revisions_.push_back(std::move(revision));
}

void PlanHistory::end(Instant now, Revision revision, bool confirmed) {
  const auto found = std::find_if(revisions_.rbegin(), revisions_.rend(),
                                  [&](const PlannedRevision& each) { return each.revision == revision; });
  if (found != revisions_.rend() && !found->confirmed) {
    found->ended = now;
    found->confirmed = confirmed;
  }
}

const PlanHistory::Placement* PlanHistory::placement(JobId job, Instant at) const {
  const auto found = placements_.find(job);
  if (found == placements_.end() || found->second.empty()) {
    return nullptr;
  }
  const auto after = std::ranges::upper_bound(found->second, at, {}, &Placement::from);
  return after == found->second.begin() ? &*after : &*(after - 1);
}

}  // namespace loom
