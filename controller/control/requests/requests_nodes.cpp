// SPDX-License-Identifier: Apache-2.0
// Requests about lasers and nodes.
#include <algorithm>
#include <utility>

#include "controller/control/requests/operator_requests.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// No light is sent by it or to it to be measured, and none of its heaters is given a voltage for that.
void end_measuring(const Fabric& fabric, NodeId node, Intent& intent) {
  const auto is_its = [&](ElementId element) {
    const auto device = fabric.device_of_element[element.value];
    return fabric.node_of_element[element.value] == node || (device && fabric.device(*device).agent == node);
  };
  std::erase_if(intent.probes, [&](const Probe& probe) { return is_its(probe.transmitter) || is_its(probe.receiver); });
  std::erase_if(intent.drives, [&](const RingDrive& drive) { return is_its(drive.ring); });
}

/// Lasers off, to everybody who is there.
void darken_all(const Fabric& fabric, const AgentSessions& sessions, std::uint64_t order, EffectSink& sink) {
  for (const Node& node : fabric.nodes) {
    if (sessions.is_present(node.id)) {
      sessions.send(node.id, SetLasers{false, order}, sink);
    }
  }
}

std::string number(std::uint64_t value) { return std::to_string(value); }

bool is_on(const Job& job, NodeId node) { return std::find(job.nodes.begin(), job.nodes.end(), node) != job.nodes.end(); }

std::vector<bool> taken_nodes(const Fabric& fabric, const Intent& intent) {
  std::vector<bool> taken(fabric.nodes.size());
  for (const NodeId node : intent.drained) {
    taken[node.value] = true;
  }
  for (const Job& job : intent.jobs) {
    for (const NodeId node : job.nodes) {
      taken[node.value] = true;
    }
  }
  return taken;
}

/// The first way to drain: each of its jobs gets one free node instead, of the same group if there is one.
Result<Intent> swap_node(const Fabric& fabric, Intent intent, NodeId drained, const std::vector<bool>& unsound) {
  std::vector<bool> taken = taken_nodes(fabric, intent);
  for (std::size_t node = 0; node < taken.size(); ++node) {
    taken[node] = taken[node] || unsound[node];
  }
  const std::uint32_t group = fabric.nodes[drained.value].group;
  for (Job& job : intent.jobs) {
    if (!is_on(job, drained)) {
      continue;
    }
    const Node* chosen = nullptr;
    for (const Node& node : fabric.nodes) {
      if (!taken[node.id.value] && (chosen == nullptr || (chosen->group != group && node.group == group))) {
        chosen = &node;
      }
    }
    if (chosen == nullptr) {
      const auto idle = static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), false));
      return fail(ErrorCode::infeasible,
                  format_text("job {} ({}) needs 1 free node instead of node {}, {} of {} are free", job.id.value,
                              job.spec.name, drained.value, idle, fabric.nodes.size()),
                  format_text("loom node drain {} --force  (keeps the job there, gives the node no new ones)", drained.value));
    }
    taken[chosen->id.value] = true;
    std::replace(job.nodes.begin(), job.nodes.end(), drained, chosen->id);
  }
  return intent;
}

/// The second way: the job is placed anew as a whole.
Intent place_anew(Intent intent, NodeId drained) {
  for (Job& job : intent.jobs) {
    if (is_on(job, drained)) {
      job.nodes.clear();
    }
  }
  return intent;
}

}  // namespace

void OperatorRequests::handle(const Requester& requester, const LasersRequest& request, EffectSink& sink) {
  desired_.set_lasers(request.on);
  const std::uint64_t order = desired_.take_laser_request(facts_.header.term, true);
  sessions_.keep_laser_order(order);
  OperatorReply answered;
  answered.revision = numbers_.next();
  if (request.on) {
    sessions_.await_rearm(facts_.now + facts_.timings.stage_deadline / 2, OwnLatches::lift);
    for (const Device& device : facts_.fabric->devices) {  // what drifted in the dark: nobody judged it there
      reconciler_.judge(device.id, sink);
    }
  } else {
    sessions_.await_rearm(Instant{});
    darken_all(*facts_.fabric, sessions_, order, sink);  // darkness does not wait for the disk; only light does
  }
  const std::string dark =
      request.on ? "" : "lasers are commanded dark, and agents keep them so; that cannot be recorded here: ";
  changes_.answer_when_durable({requester, std::move(answered), false, dark}, sink);
  if (!request.on) {
    commits_.fail_with("lasers off was ordered", sink);
    reconciler_.follow_commits(sink);
  }
  commits_.want_plan(request.on ? "lasers rearmed" : "lasers off", sink, requester.principal);
}

void OperatorRequests::handle(const Requester& requester, const NodeRequest& request, EffectSink& sink) {
  const NodeId node = request.node;
  if (node.value >= sessions_.size()) {
    return refuse(requester,
                  {ErrorCode::not_found,
                   format_text("node {} does not exist; nodes are 0..{}", node.value, sessions_.size() - 1), "loom node list"},
                  sink);
  }
  switch (request.order) {
    case NodeAction::drain:
    case NodeAction::maintain:
      return drain(requester, request, sink);
    case NodeAction::release:
      return release(requester, request, sink);
    case NodeAction::undrain:
      return undrain(requester, request, sink);
  }
}

void OperatorRequests::undrain(const Requester& requester, const NodeRequest& request, EffectSink& sink) {
  const NodeId node = request.node;
  const std::string name = number(node.value);
  if (desired_.in_maintenance(node)) {
    return refuse(requester,
                  {ErrorCode::conflict, format_text("node {} is in maintenance, which keeps it drained", name),
                   format_text("loom node maintenance {} off", name)},
                  sink);
  }
  TentativePlan plan = change_for(requester, {[node](const Intent& intent) -> Result<Intent> {
                                    Intent open = intent;
                                    set_member(open.drained, node, false);
                                    return open;
                                  }},
                                  format_text("node {} undrained", name), request.dry_run);
  changes_.begin(std::move(plan), sink);
}

void OperatorRequests::drain(const Requester& requester, const NodeRequest& request, EffectSink& sink) {
  const NodeId node = request.node;
  const std::string name = number(node.value);
  const bool maintains = request.order == NodeAction::maintain;
  const bool has_jobs = std::any_of(desired_.intent().jobs.begin(), desired_.intent().jobs.end(),
                                    [&](const Job& job) { return is_on(job, node); });
  const bool has_light = std::ranges::any_of(facts_.fabric->devices_of_agent[node.value],
                                             [this](DeviceId device) { return unusable_.may_be_lit(device); });
  if (!sessions_.is_present(node) && (has_jobs || (maintains && has_light)) && !(maintains && request.force)) {
    return refuse(
        requester,
        {ErrorCode::refused,
         format_text("node {} does not answer, so its lasers cannot be darkened from here; see that they are dark, then", name),
         format_text("loom node maintenance {} on --force", name)},
        sink);
  }
  const auto mark = [node, maintains, fabric = facts_.fabric](Intent intent) {
    set_member(intent.drained, node, true);
    if (maintains) {
      set_member(intent.maintenance, node, true);
      end_measuring(*fabric, node, intent);
    }
    return intent;
  };
  TentativePlan plan = change_for(
      requester, {}, format_text("node {}{}", name, maintains ? " goes into maintenance" : " drained"), request.dry_run);
  std::vector<bool> unsound;
  for (const Node& each : facts_.fabric->nodes) {
    unsound.push_back(!is_sound(unusable_, *facts_.fabric, each.id));
  }
  plan.candidates.push_back([mark, node, unsound, fabric = facts_.fabric](const Intent& intent) {
    return swap_node(*fabric, mark(intent), node, unsound);
  });
  if (has_jobs) {
    plan.candidates.push_back([mark, node](const Intent& intent) -> Result<Intent> { return place_anew(mark(intent), node); });
  }
  if (request.force && !maintains) {
    plan.candidates.push_back([mark](const Intent& intent) -> Result<Intent> { return mark(intent); });
  }
  if (maintains && request.force && !request.dry_run && !sessions_.is_present(node)) {
    sessions_.vouch_dark(node);  // see above: whoever says so has seen that they are dark
  }
  if (maintains && !request.dry_run) {
    sessions_.keep_laser_order(desired_.take_laser_request(facts_.header.term), node);
  }
  changes_.begin(std::move(plan), sink);
}

/// The node's devices may be anything now: the next commit sets them again.
void OperatorRequests::release(const Requester& requester, const NodeRequest& request, EffectSink& sink) {
  const NodeId node = request.node;
  if (!desired_.in_maintenance(node)) {
    return refuse(requester,
                  {ErrorCode::conflict, format_text("node {} is not in maintenance", node.value),
                   format_text("loom node show {}", node.value)},
                  sink);
  }
  if (request.dry_run) {
    TentativePlan plan = change_for(requester, {[node](const Intent& intent) -> Result<Intent> {
                                      Intent open = intent;
                                      set_member(open.maintenance, node, false);
                                      return open;
                                    }},
                                    "end of maintenance", true);
    return changes_.begin(std::move(plan), sink);
  }
  desired_.end_maintenance(node);
  sessions_.keep_laser_order(desired_.take_laser_request(facts_.header.term), node);
  sessions_.await_rearm(facts_.now + facts_.timings.stage_deadline / 2);
  OperatorReply answered;
  if (confirmed_.exists() && sessions_.is_present(node)) {
    const std::vector<const Observation*> unknown(facts_.fabric->devices.size(), nullptr);
    const auto& own = facts_.fabric->devices_of_agent[node.value];
    commits_.repair_with_next_plan(repair_scope(*facts_.fabric, confirmed_.plan(), own, unknown, {node}));
    answered.revision = numbers_.next();
  }
  const bool needs_revision = answered.revision.value != 0;
  changes_.answer_when_durable({requester, std::move(answered)}, sink);
  if (needs_revision) {
    commits_.want_plan(format_text("node {} comes back from maintenance", node.value), sink, requester.principal);
  }
}

}  // namespace loom
