// SPDX-License-Identifier: Apache-2.0
// Time, compute and dependences. Collectives: predictor_collectives.cpp.
#include "controller/predict/engine/predictor.hpp"

#include <algorithm>
#include <functional>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr double kRounding = 1e-13;
constexpr std::uint32_t kNoPart = 0xffffffff;
constexpr std::size_t kFirstSpacing = 32;  ///< instants and parts between checkpoints; doubled when there are too many

}  // namespace

void Predictor::reset() {
  now_ = 0;
  work_ = 0;
  looks_ = 0;
  next_checkpoint_ = spacing_ = kFirstSpacing;
  const std::size_t parts = index_->first_part.back();
  parts_.assign(parts, {});
  cause_.assign(parts, kNoPart);
  is_ready_.assign(parts, false);
  slot_waits_ = index_->waits;
  slot_left_ = index_->parts_of_slot;
  task_waits_ = index_->task_waits;
  task_left_.resize(graph_->tasks.size());
  for (std::size_t task = 0; task < graph_->tasks.size(); ++task) {
    task_left_[task] = index_->first_part[task + 1] - index_->first_part[task];
  }
  next_in_queue_.assign(index_->first_in_queue.begin(), index_->first_in_queue.end() - 1);
  workers_.resize(graph_->node_of_worker.size());
  for (Worker& worker : workers_) {
    worker.is_busy = worker.is_poked = false;
    worker.queue.clear();
  }
  for (Run& run : runs_) {
    run.mode = Mode::waiting;
    run.started = 0;
    run.was_computed = run.began_together = false;
    run.slot = 0xffffffff;
    run.starts.clear();
    run.fresh.clear();
  }
  free_played_.clear();
  for (std::uint32_t i = 0; i < played_.size(); ++i) {
    free_played_.push_back(i);
  }
  for (Bundle& bundle : bundles_) {
    bundle.is_used = false;
  }
  bundles_used_ = 0;
  timed_.clear();
  poked_.clear();
  touched_.clear();
  owner_.assign(network_->links.size(), 0);
  users_.assign(network_->links.size(), 0);
  parts_left_ = parts;
  node_times_.assign(graph_->nodes, {});
  node_states_.assign(graph_->nodes, {});
  counts_ = {};
  replayed_bytes_.clear();
  end_ = 0;
  last_part_ = kNoPart;
}

void Predictor::account(double now, std::uint32_t node) {
  NodeState& state = node_states_[node];
  NodeTimes& times = node_times_[node];
  const double span = now - state.since;
  state.since = now;
  if (state.computing > 0) {
    times.compute += span;
    times.overlap += state.communicating > 0 ? span : 0;
  } else {
    (state.communicating > 0 ? times.exposed : times.idle) += span;
  }
}

void Predictor::ready(double now, std::uint32_t task, std::uint32_t slot) {
  const FamilySlots& slots = index_->slots(*graph_, task);
  const Task& of = graph_->tasks[task];
  for (std::uint32_t i = slots.first_member[slot]; i < slots.first_member[slot + 1]; ++i) {
    const std::uint32_t member = slots.members_of[i];
    const std::uint32_t part = index_->first_part[task] + member;
    if (of.kind == TaskKind::communicate) {
      offer(now, part);
      continue;
    }
    const std::uint32_t id = graph_->members[graph_->families[of.family].first + member];
    Worker& worker = workers_[id];
    worker.queue.push_back({now, part});
    std::push_heap(worker.queue.begin(), worker.queue.end(), std::greater<>{});
    if (!worker.is_busy && !worker.is_poked) {
      worker.is_poked = true;
      poked_.push_back(id);
    }
  }
}

void Predictor::offer(double now, std::uint32_t part) {
  is_ready_[part] = true;
  const std::uint32_t queue = index_->queue_of_part[part];
  if (queue == kNoSlot || index_->queued_parts[next_in_queue_[queue]] == part) {
    start_communication(now, part);
  }
}

void Predictor::start_worker(double now, std::uint32_t id) {
  Worker& worker = workers_[id];
  worker.is_poked = false;
  if (worker.is_busy || worker.queue.empty()) {
    return;
  }
  std::pop_heap(worker.queue.begin(), worker.queue.end(), std::greater<>{});
  const Queued next = worker.queue.back();
  worker.queue.pop_back();
  worker.is_busy = true;
  const std::uint32_t node = graph_->node_of_worker[id];
  account(now, node);
  ++node_states_[node].computing;
  parts_[next.part].start = now;
  const std::uint32_t task = index_->task_of_part[next.part];
  timed_.push_back({now + static_cast<double>(durations_[task].count()), task, next.part, 0, false});
  std::push_heap(timed_.begin(), timed_.end(), std::greater<>{});
}

void Predictor::pass_on(double now, std::uint32_t part) {
  const std::uint32_t task = index_->task_of_part[part];
  const FamilySlots& slots = index_->slots(*graph_, task);
  const std::uint32_t slot = slots.slot_of_member[part - index_->first_part[task]];
  const auto wake = [&](std::uint32_t after, std::uint32_t its_slot) {
    const FamilySlots& to = index_->slots(*graph_, after);
    for (std::uint32_t i = to.first_member[its_slot]; i < to.first_member[its_slot + 1]; ++i) {
      cause_[index_->first_part[after] + to.members_of[i]] = part;
    }
    ready(now, after, its_slot);
  };
  if (index_->awaited_whole[task] != 0) {
    if (--task_left_[task] > 0) {
      return;
    }
    for (const std::uint32_t after : graph_->successors_of(task)) {
      if (--task_waits_[after] == 0) {
        for (std::uint32_t i = 0; i < index_->slots(*graph_, after).node_of_slot.size(); ++i) {
          if (slot_waits_[index_->first_slot[after] + i] == 0) {
            wake(after, i);
          }
        }
      }
    }
    return;
  }
  if (--slot_left_[index_->first_slot[task] + slot] > 0) {
    return;
  }
  const std::uint32_t node = slots.node_of_slot[slot];
  for (const std::uint32_t after : graph_->successors_of(task)) {
    const std::uint32_t its_slot = slot_of(index_->slots(*graph_, after), node);
    if (its_slot != kNoSlot && --slot_waits_[index_->first_slot[after] + its_slot] == 0 && task_waits_[after] == 0) {
      wake(after, its_slot);
    }
  }
}

void Predictor::finish_part(double now, std::uint32_t part) {
  parts_[part].finish = now;
  --parts_left_;
  ++work_;
  if (now >= end_) {
    end_ = now;
    last_part_ = part;
  }
  const std::uint32_t task = index_->task_of_part[part];
  const Task& of = graph_->tasks[task];
  const std::uint32_t node = node_of_part_[part];
  account(now, node);
  if (of.kind == TaskKind::compute) {
    const std::uint32_t member = graph_->members[graph_->families[of.family].first + part - index_->first_part[task]];
    --node_states_[node].computing;
    Worker& worker = workers_[member];
    worker.is_busy = false;
    if (!worker.queue.empty()) {
      cause_[worker.queue.front().part] = part;
      if (!worker.is_poked) {
        worker.is_poked = true;
        poked_.push_back(member);
      }
    }
    pass_on(now, part);
    return;
  }
  --node_states_[node].communicating;
  pass_on(now, part);
  const std::uint32_t queue = index_->queue_of_part[part];
  if (queue == kNoSlot || ++next_in_queue_[queue] == index_->first_in_queue[queue + 1]) {
    return;
  }
  const std::uint32_t next = index_->queued_parts[next_in_queue_[queue]];
  if (is_ready_[next]) {
    cause_[next] = part;
    start_communication(now, next);
  }
}

void Predictor::start_communication(double now, std::uint32_t part) {
  const std::uint32_t task = index_->task_of_part[part];
  const std::uint32_t node = node_of(part);
  account(now, node);
  ++node_states_[node].communicating;
  parts_[part].start = now;
  const std::uint32_t run = run_of(part);
  const std::uint32_t size = graph_->families[graph_->tasks[task].family].size;
  Run& of = runs_[run];
  if (of.fresh.empty()) {
    touched_.push_back(run);
  }
  of.fresh.push_back((part - index_->first_part[task]) % size);
  of.last_part = part;
  ++of.started;
}

Result<void> Predictor::change(double now, Reconfiguration& changing) {
  LOOM_TRY(changing.step(now, medium_.residual(now)));
  medium_.hold(changing.phase() == LightPhase::drain);
  if (&changing.network() != &medium_.network() || changing.phase() == LightPhase::live) {
    medium_.change(now, changing.network());
  }
  return {};
}

Result<double> Predictor::play(Reconfiguration* changing) {
  constexpr double kNoTime = std::numeric_limits<double>::infinity();
  constexpr std::uint32_t kIdleChangesMax = 1u << 16;  // light comes and goes, and nothing moves
  std::uint32_t idle_changes = 0;
  double& now = now_;
  while (parts_left_ > 0) {
    if (++work_ >= next_checkpoint_ && options_.checkpoints > 0 && is_fixed_) {
      keep_checkpoint();
    }
    const double until = now * (1 + kRounding);
    while (!timed_.empty() && timed_.front().time <= until) {
      std::pop_heap(timed_.begin(), timed_.end(), std::greater<>{});
      const Timed event = timed_.back();
      timed_.pop_back();
      if (event.is_run) {
        end_run(now, event.index, event.stamp);
      } else if (event.stamp == 0) {
        finish_part(now, event.index);
      } else {
        end_rank(now, event.index, event.stamp);
      }
    }
    LOOM_TRY(deliver(now));
    if (options_.looks_max > 0 && looks_ > options_.looks_max) {
      return fail(ErrorCode::timed_out, format_text("more than {} looks at transfers (looks_max), {} ms into the iteration",
                                                    options_.looks_max, std::to_string(now / 1e6)));
    }
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      LOOM_TRY(decide(now, touched_[i]));
    }
    touched_.clear();
    std::sort(poked_.begin(), poked_.end());
    for (std::size_t i = 0; i < poked_.size(); ++i) {
      start_worker(now, poked_[i]);
    }
    poked_.clear();
    looks_ += medium_.settle(now);
    double next = medium_.next();
    next = timed_.empty() ? next : std::min(next, timed_.front().time);
    next = bundles_used_ == 0 ? next : step_bundles(next);
    // A transfer that ends with the light has ended: what happens at the same instant goes first.
    if (changing != nullptr && changing->next() * (1 + kRounding) < next && parts_left_ > 0) {
      idle_changes = next == kNoTime ? idle_changes + 1 : 0;
      if (idle_changes > kIdleChangesMax) {
        return stuck(now);
      }
      now = std::max(now, changing->next());
      LOOM_TRY(change(now, *changing));
      medium_.settle(now);
      continue;
    }
    if (next == kNoTime && parts_left_ > 0) {
      return stuck(now);
    }
    now = parts_left_ > 0 ? std::max(now, next) : now;
  }
  return end_;
}

void Predictor::begin_tasks() {
  for (std::uint32_t task = 0; task < graph_->tasks.size(); ++task) {
    const std::uint32_t first = index_->first_slot[task];
    for (std::uint32_t slot = 0; first + slot < index_->first_slot[task + 1]; ++slot) {
      if (index_->task_waits[task] == 0 && index_->waits[first + slot] == 0) {
        ready(0, task, slot);
      }
    }
  }
}

void Predictor::keep_checkpoint() {
  next_checkpoint_ = work_ + spacing_;
  if (checkpoints_.size() >= options_.checkpoints) {  // every second one goes, and this one
    spacing_ *= 2;
    const std::size_t kept = checkpoints_.size() / 2;
    for (std::size_t i = 0; i < checkpoints_.size(); ++i) {
      if (i % 2 == 1) {
        std::swap(checkpoints_[i / 2], checkpoints_[i]);
        checkpoints_[i / 2].spacing_ = spacing_;
      }
    }
    spare_.insert(spare_.end(), std::move_iterator{checkpoints_.begin() + static_cast<std::ptrdiff_t>(kept)},
                  std::move_iterator{checkpoints_.end()});
    checkpoints_.resize(kept);
    return;
  }
  checkpoints_.push_back(take_spare());
  checkpoints_.back() = *this;
}

PlayState Predictor::take_spare() {
  if (spare_.empty()) {
    return {};
  }
  PlayState last = std::move(spare_.back());
  spare_.pop_back();
  return last;
}

bool Predictor::go_back() {
  const auto has_begun = [&](const PlayState& at, std::uint32_t task) {
    const auto first = at.parts_.begin() + index_->first_part[task];
    const auto last = at.parts_.begin() + index_->first_part[task + 1];
    return std::any_of(first, last, [](const PartTime& part) { return part.start >= 0; });
  };
  while (!checkpoints_.empty() && std::any_of(changed_.begin(), changed_.end(),
                                              [&](std::uint32_t task) { return has_begun(checkpoints_.back(), task); })) {
    spare_.push_back(std::move(checkpoints_.back()));
    checkpoints_.pop_back();
  }
  changed_.clear();
  if (checkpoints_.empty()) {
    return false;
  }
  static_cast<PlayState&>(*this) = checkpoints_.back();
  return true;
}

Result<double> Predictor::run(Reconfiguration* changing) {
  is_fixed_ = changing == nullptr;
  resumed_at_ = 0;
  if (!is_fixed_ || options_.checkpoints == 0) {
    checkpoints_.clear();
  }
  if (changing != nullptr && changing->network().end_points != network_->end_points) {
    return fail(ErrorCode::invalid_argument,
                format_text("the changing network has {} end points, the network of this prediction {}",
                            changing->network().end_points, network_->end_points));
  }
  if (!is_fixed_ && options_.rounds == RoundOrder::fluid) {
    return fail(ErrorCode::invalid_argument, "collectives cannot be fluids on a network that changes");
  }
  if (go_back()) {
    resumed_at_ = now_;
  } else {
    reset();
    medium_.reset(changing == nullptr ? *network_ : changing->network(), ways_);
    begin_tasks();
  }
  const auto end = play(changing);
  if (!end) {
    return end;
  }
  if (changing != nullptr) {
    changing->end(*end);
  }
  for (std::uint32_t node = 0; node < graph_->nodes; ++node) {
    account(*end, node);
    node_times_[node].dark = changing == nullptr ? 0 : changing->dark_ns()[node];
  }
  return end;
}

std::vector<std::uint32_t> Predictor::critical_path() const {
  std::vector<std::uint32_t> path;
  for (std::uint32_t part = last_part_; part != kNoPart && path.size() <= parts_.size();) {
    path.push_back(part);
    const bool communicates = graph_->tasks[index_->task_of_part[part]].kind == TaskKind::communicate;
    const std::uint32_t last = communicates ? runs_[run_of(part)].last_part : part;
    part = cause_[last];
  }
  return path;
}

}  // namespace loom
