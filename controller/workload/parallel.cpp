// One iteration, stage by stage, slot by slot. Tensor parallelism: Shoeybi et al. 2019. Traffic: docs/workloads.md#anchors.
#include "controller/workload/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Backward takes twice the forward pass: two products of the same size a layer.
constexpr double kForwardShare = 1.0 / 3.0;
/// Streams on which a node keeps task order; 0 is without order.
constexpr std::uint8_t kGradientStream = 1;
constexpr std::uint8_t kParameterStream = 2;

struct Slot {
  bool forward = true;
  std::int64_t micro = 0;
  bool operator==(const Slot&) const = default;
};

/// In which order a stage works off its micro-batches.
std::vector<Slot> slots_of(const Parallelism& of, std::uint32_t stage) {
  const std::int64_t count = of.micro_batches();
  const std::int64_t ahead =
      of.schedule == PipelineSchedule::gpipe ? count : std::min<std::int64_t>(count, of.pipeline - 1 - stage);
  std::vector<Slot> slots;
  for (std::int64_t i = 0; i < ahead; ++i) {
    slots.push_back({true, i});
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (ahead + i < count) {
      slots.push_back({true, ahead + i});
    }
    slots.push_back({false, i});
  }
  return slots;
}

/// First and last task of a slot: what the stages' hand-overs hang on.
struct Ends {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// The families of one stage.
struct StageFamilies {
  std::uint32_t workers = 0;
  std::uint32_t tensor = 0;
  std::uint32_t data = 0;
  std::uint32_t expert = 0;       ///< all-to-all of experts
  std::uint32_t expert_data = 0;  ///< ranks that hold the same experts
  std::uint32_t onward = 0;       ///< pairs: this stage to the next
  std::uint32_t back = 0;         ///< pairs: the next stage to this one
};

class Iteration {
 public:
  Iteration(const Model& model, const Parallelism& parallelism)
      : model_{model},
        of_{parallelism},
        build_{model.name, parallelism.nodes},
        cuts_{stages_of(model, parallelism.pipeline)},
        total_macs_{static_cast<double>(multiply_accumulates_of(model))} {
    build_.graph().node_of_worker.resize(of_.nodes);
    std::iota(build_.graph().node_of_worker.begin(), build_.graph().node_of_worker.end(), 0U);
    build_.graph().parameters = parameters_of(model);
    automatic_ = build_.choice({});
    gradients_ = build_.choice(of_.gradients);
    all_to_all_ = build_.choice(of_.all_to_all);
    double before = 0;
    for (const Block& block : model.blocks) {
      before_.push_back(before);
      before += static_cast<double>(block.multiply_accumulates);
    }
    before_.push_back(before);
  }

  Result<TaskGraph> build() && {
    for (std::uint32_t stage = 0; stage < of_.pipeline; ++stage) {
      families_.push_back(families_of(stage));
      forward_.emplace_back(of_.micro_batches());
      backward_.emplace_back(of_.micro_batches());
      add_stage(stage);
    }
    for (std::uint32_t stage = 0; stage + 1 < of_.pipeline; ++stage) {
      hand_over(stage);
    }
    reduce_tied();
    return std::move(build_).build();
  }

 private:
  std::uint32_t rank(std::uint32_t t, std::uint32_t d, std::uint32_t p) const { return t + of_.tensor * (d + of_.data() * p); }

  template <class Rank>
  std::uint32_t family(std::uint32_t outer, std::uint32_t inner, const Rank& rank_of) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t i = 0; i < outer; ++i) {
      for (std::uint32_t j = 0; j < inner; ++j) {
        members.push_back(rank_of(i, j));
      }
    }
    return build_.family(members, inner);
  }

  StageFamilies families_of(std::uint32_t p) {
    const std::uint32_t data = of_.data();
    const std::uint32_t apart = data / of_.expert;
    StageFamilies made;
    made.workers = family(of_.tensor * data, 1, [&](auto i, auto) { return rank(i % of_.tensor, i / of_.tensor, p); });
    made.tensor = family(data, of_.tensor, [&](auto d, auto t) { return rank(t, d, p); });
    made.data = family(of_.tensor, data, [&](auto t, auto d) { return rank(t, d, p); });
    made.expert = family(of_.tensor * apart, of_.expert,
                         [&](auto i, auto e) { return rank(i % of_.tensor, e + of_.expert * (i / of_.tensor), p); });
    made.expert_data = family(of_.tensor * of_.expert, apart,
                              [&](auto i, auto f) { return rank(i % of_.tensor, i / of_.tensor + of_.expert * f, p); });
    if (p + 1 < of_.pipeline) {
      made.onward = pairs(p, p + 1);
      made.back = pairs(p + 1, p);
    }
    return made;
  }

  std::uint32_t pairs(std::uint32_t from, std::uint32_t to) {
    return family(of_.tensor * of_.data(), 2,
                  [&](auto i, auto end) { return rank(i % of_.tensor, i / of_.tensor, end == 0 ? from : to); });
  }

  /// Where the clock of a worker that did the whole model by itself stands; a block lasts from one place to the next, so that
  /// rounding adds up to the micro-batch's compute.
  std::int64_t place(double share) const {
    const double all = static_cast<double>(of_.compute.count()) * of_.pipeline / static_cast<double>(of_.micro_batches());
    return std::llround(share * all);
  }
  Duration forward_time(std::size_t block) const {
    return Duration{place(kForwardShare * before_[block + 1] / total_macs_) -
                    place(kForwardShare * before_[block] / total_macs_)};
  }
  std::int64_t backward_place(std::size_t block) const {
    return place(kForwardShare + (1 - kForwardShare) * (total_macs_ - before_[block]) / total_macs_);
  }
  Duration backward_time(std::size_t block) const {
    return Duration{backward_place(block) -
                    (block + 1 == model_.blocks.size() ? place(kForwardShare) : backward_place(block + 1))};
  }

  /// Adds a task behind the chain that the slot is.
  std::uint32_t follow(std::uint32_t task) {
    if (chained_) {
      build_.edge(last_, task);
    } else if (previous_slot_) {
      build_.edge(*previous_slot_, task);
    }
    if (!chained_) {
      first_ = task;
    }
    chained_ = true;
    last_ = task;
    return task;
  }

  Bytes activation(const Block& block) const { return Bytes{of_.micro_batch * block.boundary * model_.bytes_per_element}; }

  void reduce_tensor(const Block& block, const StageFamilies& stage) {
    if (of_.tensor > 1) {
      follow(build_.communicate(block.name + ".tensor", stage.tensor, CollectiveKind::all_reduce, activation(block), automatic_,
                                0));
    }
  }

  void exchange_experts(const Block& block, const StageFamilies& stage) {
    if (block.experts > 0 && of_.expert > 1) {
      const Bytes routed{activation(block).count * block.routed};
      follow(build_.communicate(block.name + ".experts", stage.expert, CollectiveKind::all_to_all, routed, all_to_all_, 0));
    }
  }

  /// A block's compute in as many parts as tensor parallelism reduces after, the experts' exchange around the last of forward
  /// and the first of backward. Returns the first and last compute task.
  Ends add_block(std::size_t index, bool forward, const StageFamilies& stage) {
    const Block& block = model_.blocks[index];
    const bool split = (of_.tensor > 1 && block.tensor_reduces > 0) || (block.experts > 0 && of_.expert > 1);
    const std::uint32_t parts = split ? std::max(1U, block.tensor_reduces) : 1;
    const Duration whole = forward ? forward_time(index) : backward_time(index);
    Ends ends;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const bool routed = part == (forward ? parts - 1 : 0);
      if (routed) {
        exchange_experts(block, stage);
      }
      const Duration duration = whole * (part + 1) / parts - whole * part / parts;
      const std::uint32_t task =
          follow(build_.compute(block.name + (forward ? ".forward" : ".backward"), stage.workers, duration));
      ends = {part == 0 ? task : ends.first, task};
      if (routed) {
        exchange_experts(block, stage);
      }
      if (split && block.tensor_reduces > 0) {
        reduce_tensor(block, stage);
      }
    }
    return ends;
  }

  /// What one rank holds; norms and biases are counted as if tensor parallelism split them too.
  std::int64_t gradient_bytes(std::size_t index, std::uint32_t stage) const {
    std::int64_t held = model_.blocks[index].parameters;
    if (stage > 0 && stage + 1 == of_.pipeline && index + 1 == model_.blocks.size()) {
      held += model_.tied_parameters;
    }
    return (held + of_.tensor - 1) / of_.tensor * model_.bytes_per_element;
  }

  std::int64_t expert_gradient_bytes(std::size_t index) const {
    return model_.blocks[index].expert_parameters / of_.expert / of_.tensor * model_.bytes_per_element;
  }

  CollectiveKind reduction() const { return of_.zero == 0 ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter; }

  /// A bucket of gradients, ready when `after` is done; without overlap it is on the way of everything after.
  void reduce(std::string_view name, std::uint32_t family, std::uint32_t size, std::int64_t bytes, std::uint32_t after) {
    if (bytes == 0 || (size < 2 && of_.nodes > 1)) {
      return;
    }
    const std::uint32_t task = build_.communicate(name, family, reduction(), Bytes{bytes}, gradients_, kGradientStream);
    build_.edge(after, task);
    reductions_.push_back({task, family, bytes});
  }

  void add_forward(std::uint32_t stage) {
    for (std::size_t block = cuts_[stage]; block < cuts_[stage + 1]; ++block) {
      const std::uint32_t gathered = gather_parameters(block, stage);
      const Ends ends = add_block(block, true, families_[stage]);
      settle_parameters(gathered, ends);
    }
  }

  void add_backward(std::uint32_t stage, bool final) {
    const bool reduces = final || of_.zero == 3;
    const StageFamilies& at = families_[stage];
    std::int64_t pending = 0;
    for (std::size_t block = cuts_[stage + 1]; block-- > cuts_[stage];) {
      const std::uint32_t gathered = gather_parameters(block, stage);
      const Ends ends = add_block(block, false, at);
      settle_parameters(gathered, ends);
      if (!reduces) {
        continue;
      }
      pending += gradient_bytes(block, stage);
      if (model_.blocks[block].experts > 0) {
        reduce("experts' gradients", at.expert_data, of_.data() / of_.expert, expert_gradient_bytes(block), last_);
      }
      const bool full = of_.overlapped && pending >= of_.bucket_bytes;
      if (full || block == cuts_[stage]) {
        reduce("gradients", at.data, of_.data(), pending, last_);
        pending = 0;
      }
    }
  }

  static constexpr std::uint32_t kNoTask = ~0U;

  /// ZeRO 3: a block's parameters are gathered before it is computed, while the block before it is (or, without overlap,
  /// after).
  std::uint32_t gather_parameters(std::size_t block, std::uint32_t stage) {
    const std::int64_t bytes = gradient_bytes(block, stage);
    if (of_.zero != 3 || of_.data() < 2 || bytes == 0) {
      return kNoTask;
    }
    const std::uint32_t task = build_.communicate("parameters", families_[stage].data, CollectiveKind::all_gather, Bytes{bytes},
                                                  gradients_, kParameterStream);
    const auto begin = of_.overlapped ? block_before_ : (last_compute_);
    if (begin) {
      build_.edge(*begin, task);
    }
    return task;
  }

  void settle_parameters(std::uint32_t gathered, const Ends& ends) {
    block_before_ = last_compute_;
    last_compute_ = ends.last;
    if (gathered != kNoTask) {
      build_.edge(gathered, ends.first);
    }
  }

  void add_stage(std::uint32_t stage) {
    previous_slot_.reset();
    block_before_.reset();
    last_compute_.reset();
    reductions_.clear();
    const auto slots = slots_of(of_, stage);
    for (const Slot& slot : slots) {
      chained_ = false;
      if (slot.forward) {
        add_forward(stage);
      } else {
        add_backward(stage, slot == slots.back());
      }
      previous_slot_ = last_;
      (slot.forward ? forward_ : backward_)[stage][static_cast<std::size_t>(slot.micro)] = {first_, last_};
    }
    final_.push_back(last_);
    if (of_.zero == 1 || of_.zero == 2) {
      gather_updated(stage);
    }
  }

  /// ZeRO 1 and 2: every rank updates its share once all gradients are in, and the shares are gathered.
  void gather_updated(std::uint32_t stage) {
    const std::uint32_t update = build_.compute("update", families_[stage].workers, Duration{0});
    build_.edge(last_, update);
    for (const Reduction& reduction : reductions_) {
      build_.edge(reduction.task, update);
    }
    for (const Reduction& reduction : reductions_) {
      const std::uint32_t gather = build_.communicate("parameters", reduction.family, CollectiveKind::all_gather,
                                                      Bytes{reduction.bytes}, gradients_, kParameterStream);
      build_.edge(update, gather);
    }
  }

  void hand_over(std::uint32_t stage) {
    const Bytes bytes = activation(model_.blocks[cuts_[stage + 1] - 1]);
    const StageFamilies& at = families_[stage];
    for (std::size_t micro = 0; micro < forward_[stage].size(); ++micro) {
      const auto send = [&](std::string_view name, std::uint32_t family, std::uint32_t after, std::uint32_t before) {
        const std::uint32_t task = build_.communicate(name, family, CollectiveKind::point_to_point, bytes, automatic_, 0);
        build_.edge(after, task);
        build_.edge(task, before);
      };
      send("activations", at.onward, forward_[stage][micro].last, forward_[stage + 1][micro].first);
      send("activations' gradients", at.back, backward_[stage + 1][micro].last, backward_[stage][micro].first);
    }
  }

  /// The embedding that the first and last stage share.
  void reduce_tied() {
    if (of_.pipeline < 2 || model_.tied_parameters == 0) {
      return;
    }
    const Bytes bytes{(model_.tied_parameters + of_.tensor - 1) / of_.tensor * model_.bytes_per_element};
    const std::uint32_t task =
        build_.communicate("tied embedding", pairs(0, of_.pipeline - 1), CollectiveKind::all_reduce, bytes, automatic_, 0);
    build_.edge(final_.front(), task);
    build_.edge(final_.back(), task);
  }

  struct Reduction {
    std::uint32_t task = 0;
    std::uint32_t family = 0;
    std::int64_t bytes = 0;
  };

  const Model& model_;
  const Parallelism& of_;
  TaskGraphBuilder build_;
  std::vector<std::size_t> cuts_;
  double total_macs_;
  std::vector<double> before_;  ///< MAC before each block
  std::uint32_t automatic_ = 0;
  std::uint32_t gradients_ = 0;
  std::uint32_t all_to_all_ = 0;
  std::vector<StageFamilies> families_;
  std::vector<std::vector<Ends>> forward_;  ///< by stage and micro-batch
  std::vector<std::vector<Ends>> backward_;
  std::vector<std::uint32_t> final_;  ///< by stage: its last task of compute or of its slots' chain
  std::vector<Reduction> reductions_;
  std::optional<std::uint32_t> previous_slot_;
  std::optional<std::uint32_t> block_before_;  ///< compute of the block before the last
  std::optional<std::uint32_t> last_compute_;
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
  bool chained_ = false;
};

}  // namespace

std::vector<std::size_t> stages_of(const Model& model, std::uint32_t pipeline) {
  const auto total = static_cast<double>(multiply_accumulates_of(model));
  std::vector<std::size_t> cuts{0};
  double before = 0;
  for (std::size_t block = 0; block < model.blocks.size(); ++block) {
    const auto work = static_cast<double>(model.blocks[block].multiply_accumulates);
    const auto stage = static_cast<std::size_t>(std::max(0.0, (before + work / 2) / total * pipeline));
    const std::size_t left = model.blocks.size() - block;
    // a stage begins where its share does, and never so late that those after it would be empty
    while (cuts.size() < pipeline && block > cuts.back() && (stage >= cuts.size() || left <= pipeline - cuts.size())) {
      cuts.push_back(block);
    }
    before += work;
  }
  cuts.push_back(model.blocks.size());
  return cuts;
}

Result<void> check(const Parallelism& of, const Model& model) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, format_text("{}: {}", model.name, why));
  };
  const auto number = [](auto value) { return std::to_string(value); };
  if (of.tensor == 0 || of.pipeline == 0 || of.expert == 0 || of.zero > 3 || of.micro_batch < 1 || of.batch < 1) {
    return refuse("tp, pp, ep, batch and micro_batch need at least 1, zero at most 3");
  }
  if (of.nodes == 0 || of.nodes % (std::uint64_t{of.tensor} * of.pipeline) != 0) {
    return refuse(format_text("{} nodes do not fall into replicas of tp x pp = {} x {}", number(of.nodes), number(of.tensor),
                              number(of.pipeline)));
  }
  if (of.data() % of.expert != 0) {
    return refuse(format_text("ep = {} does not divide the {} data-parallel ranks", number(of.expert), number(of.data())));
  }
  const auto has = [&](auto what) { return std::any_of(model.blocks.begin(), model.blocks.end(), what); };
  if (of.tensor > 1 && !has([](const Block& block) { return block.tensor_reduces > 0; })) {
    return refuse("it has no tensor-parallel form here; tp must be 1");
  }
  if (of.expert > 1 && !has([&](const Block& block) { return block.experts > 0; })) {
    return refuse("it has no experts; ep must be 1");
  }
  if (has([&](const Block& block) { return block.experts % of.expert != 0; })) {
    return refuse(format_text("ep = {} does not divide its experts", number(of.expert)));
  }
  if (of.pipeline > model.blocks.size()) {
    return refuse(format_text("pp = {} stages for {} blocks", number(of.pipeline), number(model.blocks.size())));
  }
  if (of.batch % of.micro_batch != 0) {
    return refuse(format_text("micro_batch = {} does not divide batch = {}", number(of.micro_batch), number(of.batch)));
  }
  const auto tasks = static_cast<double>(model.blocks.size()) * static_cast<double>(of.micro_batches()) * 12;
  if (tasks > static_cast<double>(limits::kTasksPerGraph)) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} micro-batches of {} blocks are more tasks than {} (kTasksPerGraph)", model.name,
                            number(of.micro_batches()), number(model.blocks.size()), number(limits::kTasksPerGraph)));
  }
  return {};
}

Result<TaskGraph> iteration_of(const Model& model, const Parallelism& parallelism) {
  LOOM_TRY(check(parallelism, model));
  return Iteration{model, parallelism}.build();
}

}  // namespace loom
