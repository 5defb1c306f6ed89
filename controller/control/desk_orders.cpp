// Orders about jobs, lasers and nodes.
#include <algorithm>

#include "controller/control/controller.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

void set_member(std::vector<NodeId>& sorted, NodeId node, bool is_member) {
  const auto place = std::lower_bound(sorted.begin(), sorted.end(), node);
  const bool is_there = place != sorted.end() && *place == node;
  if (is_member && !is_there) {
    sorted.insert(place, node);
  } else if (!is_member && is_there) {
    sorted.erase(place);
  }
}

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
Result<Intent> swap_node(const Fabric& fabric, Intent intent, NodeId drained) {
  std::vector<bool> taken = taken_nodes(fabric, intent);
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
                  "job " + number(job.id.value) + " (" + job.spec.name + ") needs 1 free node instead of node " +
                      number(drained.value) + ", " + number(idle) + " of " + number(fabric.nodes.size()) + " are free",
                  "loom node drain " + number(drained.value) + " --force  (keeps the job there, gives the node no new ones)");
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

bool Controller::in_maintenance(NodeId node) const {
  return std::binary_search(intent_.maintenance.begin(), intent_.maintenance.end(), node);
}

/// Shall this node's lasers be latched off? A node in maintenance once its light has gone by a commit.
bool Controller::wants_dark(NodeId node) const {
  const bool is_lit = confirmed_ != nullptr && !confirmed_->plan.nodes[node.value].ends.empty();
  return intent_.lasers_off || (in_maintenance(node) && !is_lit);
}

/// Orders about lasers are repeated until the agent says that it has followed, but never into a commit of its own.
bool Controller::leads_latch(NodeId node, bool is_latched) const {
  const bool is_busy = commit_ != nullptr && !commit_waits_ && commit_->takes_part(node) && !intent_.lasers_off;
  return laser_order_ > 0 && is_latched != wants_dark(node) && !is_busy;
}

/// At once, so that a commit need not wait for the next heartbeats.
void Controller::say_latches(EffectSink& sink) {
  for (const Node& node : options_.fabric->nodes) {
    const AgentSession& session = sessions_[node.id.value];
    if (session.is_present() && leads_latch(node.id, session.lasers_latched_off)) {
      say(node.id, SetLasers{!wants_dark(node.id), laser_order_}, sink);
    }
  }
}

/// Present, and not still latched by an order that has just been lifted. A latch of another reason is the agent's to explain.
bool Controller::is_ready(NodeId node, Instant now) const {
  const AgentSession& session = sessions_[node.value];
  return session.is_present() && (now >= rearm_until_ || !session.lasers_latched_off || wants_dark(node));
}

void Controller::obey(const Asker& asker, const SubmitJob& order, Instant now, EffectSink& sink) {
  const std::size_t nodes = options_.fabric->nodes.size();
  if (order.spec.node_count == 0 || order.spec.node_count > nodes) {
    return refuse(asker,
                  {ErrorCode::infeasible,
                   "job " + order.spec.name + " asks for " + number(order.spec.node_count) + " nodes; fabric " +
                       options_.fabric->name + " has 1.." + number(nodes),
                   "loom job submit " + order.spec.workload + " --nodes " + number(nodes)},
                  sink);
  }
  if (intent_.jobs.size() >= limits::kJobs) {
    return refuse(asker,
                  {ErrorCode::out_of_range,
                   number(intent_.jobs.size()) + " jobs are running, the limit is " + number(limits::kJobs), "loom job list"},
                  sink);
  }
  Job job;
  job.id = next_job_;
  job.spec = order.spec;
  if (order.dry_run) {
    Trial trial{asker,
                {[job](const Intent& intent) -> Result<Intent> {
                  Intent with = intent;
                  with.jobs.push_back(job);
                  return with;
                }},
                "job submitted",
                true};
    return try_out(std::move(trial), sink);
  }
  next_job_.value += 1;
  JobEntry& entry = jobs_[job.id];
  entry.job = job.id;
  entry.name = job.spec.name;
  entry.workload = job.spec.workload;
  OperatorReply answered;
  answered.job = job.id;
  answered.revision = next_revision_;
  const std::string reason = "job " + number(job.id.value) + " (" + job.spec.name + ") submitted";
  intent_.jobs.push_back(std::move(job));
  answer_when_durable(asker, std::move(answered), sink);
  want_plan(reason, now, sink);
}

void Controller::obey(const Asker& asker, const CancelJob& order, Instant now, EffectSink& sink) {
  const auto is_it = [&](const Job& job) { return job.id == order.job; };
  if (std::none_of(intent_.jobs.begin(), intent_.jobs.end(), is_it)) {
    const auto known = jobs_.find(order.job);
    return refuse(
        asker,
        {ErrorCode::not_found,
         "job " + number(order.job.value) + (known == jobs_.end() ? " was never submitted" : " is " + known->second.state),
         "loom job list"},
        sink);
  }
  if (order.dry_run) {
    Trial trial{asker,
                {[is_it](const Intent& intent) -> Result<Intent> {
                  Intent without = intent;
                  std::erase_if(without.jobs, is_it);
                  return without;
                }},
                "job cancelled",
                true};
    return try_out(std::move(trial), sink);
  }
  std::erase_if(intent_.jobs, is_it);
  std::erase_if(intent_.pinned, [&](const JobSchedule& schedule) { return schedule.job == order.job; });
  jobs_[order.job].state = "ended";
  OperatorReply answered;
  answered.job = order.job;
  answered.revision = next_revision_;
  answer_when_durable(asker, std::move(answered), sink);
  want_plan("job " + number(order.job.value) + " cancelled", now, sink);
}

void Controller::obey(const Asker& asker, const ChangeJob& order, Instant, EffectSink& sink) {
  const auto is_it = [id = order.job](const Job& job) { return job.id == id; };
  const auto known = std::find_if(intent_.jobs.begin(), intent_.jobs.end(), is_it);
  if (known == intent_.jobs.end()) {
    return refuse(asker, {ErrorCode::not_found, "job " + number(order.job.value) + " does not run", "loom job list"}, sink);
  }
  if (order.spec.node_count != known->nodes.size()) {
    return refuse(
        asker,
        {ErrorCode::infeasible,
         "job " + number(order.job.value) + " runs on " + number(known->nodes.size()) + " nodes, the change is for " +
             number(order.spec.node_count) + "; a job keeps its nodes; nearest: " + number(known->nodes.size()) + " nodes",
         "loom job cancel " + number(order.job.value) + "  (then submit it anew)"},
        sink);
  }
  Trial trial{asker,
              {[is_it, spec = order.spec](const Intent& intent) -> Result<Intent> {
                Intent with = intent;
                const auto job = std::find_if(with.jobs.begin(), with.jobs.end(), is_it);
                if (job == with.jobs.end()) {
                  return fail(ErrorCode::not_found, "the job has ended", "loom job list");
                }
                JobSpec& now = job->spec;
                now.workload = spec.workload;
                now.collectives = spec.collectives;
                now.compute = spec.compute;
                now.assumptions = spec.assumptions;
                job->measured.clear();
                job->stage = 0;
                return with;
              }},
              "job " + number(order.job.value) + " (" + known->spec.name + ") changed",
              order.dry_run};
  trial.job = order.job;
  try_out(std::move(trial), sink);
}

void Controller::obey(const Asker& asker, const ResizeJob& order, Instant, EffectSink& sink) {
  const auto it = std::find_if(intent_.jobs.begin(), intent_.jobs.end(), [&](const Job& job) { return job.id == order.job; });
  if (it == intent_.jobs.end()) {
    return refuse(asker, {ErrorCode::not_found, "job " + number(order.job.value) + " is not running", "loom job list"}, sink);
  }
  const std::size_t nodes = options_.fabric->nodes.size();
  const std::string command = "loom job resize " + number(order.job.value) + " --nodes ";
  if (order.nodes == 0 || order.nodes > nodes) {
    return refuse(asker,
                  {ErrorCode::infeasible,
                   "job " + number(order.job.value) + " asks for " + number(order.nodes) + " nodes; fabric " +
                       options_.fabric->name + " has 1.." + number(nodes),
                   command + number(nodes)},
                  sink);
  }
  if (!it->spec.placement.empty()) {
    return refuse(asker,
                  {ErrorCode::conflict,
                   "job " + number(order.job.value) + " names its " + number(it->spec.placement.size()) +
                       " nodes itself; only a job that the controller places can be resized",
                   "loom job cancel " + number(order.job.value)},
                  sink);
  }
  Trial trial{asker,
              {[order](const Intent& intent) -> Result<Intent> {
                Intent resized = intent;
                for (Job& job : resized.jobs) {
                  if (job.id == order.job) {
                    job.spec.node_count = order.nodes;
                    job.measured.clear();
                    job.stage = 0;
                  }
                }
                std::erase_if(resized.pinned, [&](const JobSchedule& schedule) { return schedule.job == order.job; });
                return resized;
              }},
              "job " + number(order.job.value) + " resized to " + number(order.nodes) + " nodes",
              order.dry_run};
  trial.job = order.job;
  try_out(std::move(trial), sink);
}

/// Above what an earlier life ordered and did not make durable.
void Controller::take_laser_order() { laser_order_ = std::max(laser_order_ + 1, term_.value << 20); }

void Controller::obey(const Asker& asker, const OrderLasers& order, Instant now, EffectSink& sink) {
  intent_.lasers_off = !order.on;
  take_laser_order();
  OperatorReply answered;
  answered.revision = next_revision_;
  rearm_until_ = order.on ? now + options_.timings.stage_deadline / 2 : Instant{};
  if (!order.on) {
    // Darkness does not wait for the disk; only light does.
    for (const Node& node : options_.fabric->nodes) {
      if (sessions_[node.id.value].is_present()) {
        say(node.id, SetLasers{false, laser_order_}, sink);
      }
    }
  }
  answer_when_durable(asker, std::move(answered), sink);
  if (!order.on && commit_ != nullptr) {
    commit_->fail_with("lasers off was ordered");
    after_commit_moved(now, sink);
  }
  want_plan(order.on ? "lasers rearmed" : "lasers off", now, sink);
}

void Controller::obey(const Asker& asker, const OrderNode& order, Instant now, EffectSink& sink) {
  const NodeId node = order.node;
  if (node.value >= sessions_.size()) {
    return refuse(
        asker,
        {ErrorCode::not_found, "node " + number(node.value) + " does not exist; nodes are 0.." + number(sessions_.size() - 1),
         "loom node list"},
        sink);
  }
  const std::string name = number(node.value);
  switch (order.order) {
    case NodeOrder::drain:
    case NodeOrder::maintain:
      return drain(asker, order, sink);
    case NodeOrder::release:
      return release(asker, order, now, sink);
    case NodeOrder::undrain:
      break;
  }
  if (in_maintenance(node)) {
    return refuse(asker,
                  {ErrorCode::conflict, "node " + name + " is in maintenance, which keeps it drained",
                   "loom node maintenance " + name + " off"},
                  sink);
  }
  Trial trial{asker,
              {[node](const Intent& intent) -> Result<Intent> {
                Intent open = intent;
                set_member(open.drained, node, false);
                return open;
              }},
              "node " + name + " undrained",
              order.dry_run};
  try_out(std::move(trial), sink);
}

void Controller::drain(const Asker& asker, const OrderNode& order, EffectSink& sink) {
  const NodeId node = order.node;
  const std::string name = number(node.value);
  const bool maintains = order.order == NodeOrder::maintain;
  const bool has_jobs = std::any_of(intent_.jobs.begin(), intent_.jobs.end(), [&](const Job& job) { return is_on(job, node); });
  if (!sessions_[node.value].is_present() && has_jobs && !(maintains && order.force)) {
    return refuse(
        asker,
        {ErrorCode::refused,
         "node " + name + " cannot be heard, so its lasers cannot be darkened from here; see that they are dark, then",
         "loom node maintenance " + name + " on --force"},
        sink);
  }
  const auto mark = [node, maintains](Intent intent) {
    set_member(intent.drained, node, true);
    if (maintains) {
      set_member(intent.maintenance, node, true);
    }
    return intent;
  };
  Trial trial{asker, {}, "node " + name + (maintains ? " goes into maintenance" : " drained"), order.dry_run};
  trial.ways.push_back(
      [mark, node, fabric = options_.fabric](const Intent& intent) { return swap_node(*fabric, mark(intent), node); });
  if (has_jobs) {
    trial.ways.push_back([mark, node](const Intent& intent) -> Result<Intent> { return place_anew(mark(intent), node); });
  }
  if (order.force && !maintains) {
    trial.ways.push_back([mark](const Intent& intent) -> Result<Intent> { return mark(intent); });
  }
  if (maintains && !order.dry_run) {
    take_laser_order();
  }
  try_out(std::move(trial), sink);
}

/// The node's devices may be anything now: the next commit sets them again.
void Controller::release(const Asker& asker, const OrderNode& order, Instant now, EffectSink& sink) {
  const NodeId node = order.node;
  if (!in_maintenance(node)) {
    return refuse(
        asker,
        {ErrorCode::conflict, "node " + number(node.value) + " is not in maintenance", "loom node show " + number(node.value)},
        sink);
  }
  if (order.dry_run) {
    Trial trial{asker,
                {[node](const Intent& intent) -> Result<Intent> {
                  Intent open = intent;
                  set_member(open.maintenance, node, false);
                  return open;
                }},
                "end of maintenance",
                true};
    return try_out(std::move(trial), sink);
  }
  set_member(intent_.maintenance, node, false);
  take_laser_order();
  rearm_until_ = now + options_.timings.stage_deadline / 2;
  OperatorReply answered;
  if (confirmed_ != nullptr && sessions_[node.value].is_present()) {
    const std::vector<const Observation*> unknown(observations_.size(), nullptr);
    const auto& own = options_.fabric->devices_of_agent[node.value];
    RepairScope scope = repair_scope(*options_.fabric, confirmed_->plan, own, unknown, {node});
    repair_ = Doubt{std::move(scope.nodes), std::move(scope.devices), std::move(scope.steering)};
    answered.revision = next_revision_;
  }
  const bool needs_revision = answered.revision.value != 0;
  answer_when_durable(asker, std::move(answered), sink);
  if (needs_revision) {
    want_plan("node " + number(node.value) + " comes back from maintenance", now, sink);
  }
}

}  // namespace loom
