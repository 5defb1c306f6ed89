// SPDX-License-Identifier: Apache-2.0
// Rules about jobs whose nodes repeat their light without the controller. Lasers of one job take turns at one receiver, so all
// of them must count their timeslots from one instant: one leader, which waits for everybody, and light that is laid as a
// whole.
#include <algorithm>
#include <map>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom::verifying {
namespace {

class IterationRules {
 public:
  IterationRules(const Fabric& fabric, const Plan& plan, const Settings& settings, Faults& faults)
      : fabric_(fabric), plan_(plan), settings_(settings), faults_(faults) {}

  void run() {
    for (const NodePlan& slice : plan_.nodes) {
      if (slice.iterations) {
        members_[slice.iterations->job].push_back(&slice);
        check_slice(slice);
      }
    }
    for (const auto& [job, slices] : members_) {
      check_job(job, slices);
    }
    for (const Circuit& circuit : plan_.circuits) {
      check_circuit(circuit);
    }
  }

 private:
  void refuse(const std::string& evidence) {
    faults_.add(rules::kIterations, [&] { return evidence; });
  }
  const std::string& name(NodeId node) const { return fabric_.nodes[node.value].name; }

  void check_slice(const NodePlan& slice) {
    const IterationPlan& plan = *slice.iterations;
    if (plan.routed_by > plan_.revision || plan.routed_by == Revision{} || plan.lead <= Duration{} ||
        plan.lead > Duration{limits::kPassLeadNs} || plan.compute < Duration{}) {
      refuse(
          format_text("{}: its light is of revision {}, with {} ns of lead and {} ns of compute; allowed a revision above 0 "
                      "and up to this one, 1 to {} ns and no negative time",
                      name(slice.node), plan.routed_by.value, plan.lead.count(), plan.compute.count(), limits::kPassLeadNs));
    }
    if (plan.phases == 0 || (plan.phases > 1 && !slice.grants)) {
      refuse(format_text("{}: {} passes an iteration; timeslots have one, grants at least one", name(slice.node), plan.phases));
    }
    if (!slice.grants && (slice.cycle <= Duration{} || slice.cycles == 0)) {
      refuse(format_text("{}: {} cycles of {} ns are to be repeated, which have no end", name(slice.node), slice.cycles,
                         slice.cycle.count()));
    }
    if (slice.grants && (slice.grants->job != plan.job || slice.grants->routed_by != plan.routed_by)) {
      refuse(format_text("{}: it repeats job {} of revision {} and is under grants for job {} of revision {}", name(slice.node),
                         plan.job.value, plan.routed_by.value, slice.grants->job.value, slice.grants->routed_by.value));
    }
    for (const DevicePlan& device : slice.devices) {
      const bool plays = device.timeline.size() != 1 || device.timeline.front().hold != kForever;
      if (plays && !device.left_alone && device.touched != (plan.routed_by == plan_.revision)) {
        refuse(format_text("{}{} although the light of job {}{}", fabric_.device(device.device).name,
                           device.touched ? " goes dark" : " stays lit", plan.job.value,
                           device.touched ? " stays as it was laid" : " is laid anew"));
      }
    }
  }

  static const char* pace_word(const IterationPlan& plan) {
    return plan.paced_by == PacedBy::training ? "training processes" : "its model";
  }

  /// `slices`: ascending node.
  void check_job(JobId job, const std::vector<const NodePlan*>& slices) {
    const IterationPlan& first = *slices.front()->iterations;
    const NodePlan* leader = nullptr;
    for (const NodePlan* slice : slices) {
      const IterationPlan& plan = *slice->iterations;
      leader = slice->node == plan.leader ? slice : leader;
      if (plan.leader != first.leader || plan.routed_by != first.routed_by || plan.phases != first.phases) {
        refuse(
            format_text("{}: job {} is led by node {} in the light of revision {} through {} passes, at {} by node {} in that "
                        "of revision {} through {}",
                        name(slice->node), job.value, plan.leader.value, plan.routed_by.value, plan.phases,
                        name(slices.front()->node), first.leader.value, first.routed_by.value, first.phases));
      }
      if (plan.paced_by != first.paced_by) {
        refuse(format_text("{}: job {} is paced by {}, at {} by {}", name(slice->node), job.value, pace_word(plan),
                           name(slices.front()->node), pace_word(first)));
      }
      if (!slice->grants && (slice->cycle != slices.front()->cycle || slice->cycles != slices.front()->cycles)) {
        refuse(format_text("{}: it repeats {} cycles of {} ns, {} of the same job {} of {} ns", name(slice->node),
                           slice->cycles, slice->cycle.count(), name(slices.front()->node), slices.front()->cycles,
                           slices.front()->cycle.count()));
      }
      if (slice->node != plan.leader && !plan.members.empty()) {
        refuse(format_text("{}: it names {} members of job {} and does not lead it", name(slice->node), plan.members.size(),
                           job.value));
      }
    }
    const auto is_member = [](NodeId node, const NodePlan* slice) { return node == slice->node; };
    if (leader == nullptr || !std::ranges::equal(leader->iterations->members, slices, is_member)) {
      refuse(format_text("job {}: its leader node {} waits for {} nodes, {} repeat its light", job.value, first.leader.value,
                         leader == nullptr ? 0 : leader->iterations->members.size(), slices.size()));
    }
  }

  /// Whoever lights a job that is repeated repeats it.
  void check_circuit(const Circuit& circuit) {
    const auto device = fabric_.device_of_element[circuit.transmitter.value];
    const DevicePlan* plan = device && device->value < settings_.devices.size() ? settings_.devices[device->value] : nullptr;
    const auto& own = plan_.nodes[circuit.source.value].iterations;
    if (plan != nullptr && !plan->left_alone && members_.contains(circuit.job) && (!own || own->job != circuit.job)) {
      refuse(format_text("{}: it lights job {}, whose other nodes repeat it without {}", name(circuit.source),
                         circuit.job.value, name(circuit.source)));
    }
  }

  const Fabric& fabric_;
  const Plan& plan_;
  const Settings& settings_;
  Faults& faults_;
  std::map<JobId, std::vector<const NodePlan*>> members_;
};

}  // namespace

void check_iterations(const Fabric& fabric, const Plan& plan, const Settings& settings, Faults& faults) {
  IterationRules(fabric, plan, settings, faults).run();
}

}  // namespace loom::verifying
