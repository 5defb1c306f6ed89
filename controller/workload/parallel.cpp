// SPDX-License-Identifier: Apache-2.0
// One iteration, stage by stage, slot by slot. Tensor parallelism: Shoeybi et al. 2019. Traffic: docs/workloads.md#anchors.
#include "controller/workload/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace loom {
namespace {

/// Backward takes twice the forward pass: two products of the same size a layer.
constexpr double kForwardShare = 1.0 / 3.0;
/// Streams on which a node keeps task order; 0 is without order.
constexpr std::uint8_t kGradientStream = 1;
constexpr std::uint8_t kParameterStream = 2;

/// First and last task of a slot: what the stages' hand-overs hang on.
struct Ends {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Groups of ranks: those of a node first, then `across` nodes that `family` lists.
struct Group {
  std::uint32_t family = 0;
  Degree of;
  std::uint32_t size() const { return of.inside * of.across; }
};

/// The families of one stage.
struct StageFamilies {
  std::uint32_t workers = 0;
  std::uint32_t inside = 0;  ///< the workers that stand for what a node's GPUs hand each other
  Group tensor;
  Group context;
  Group data;                ///< ranks that hold the same parameters: of context and of data
  Group expert;              ///< all-to-all of experts
  Group expert_data;         ///< ranks that hold the same experts
  std::uint32_t onward = 0;  ///< pairs: this stage to the next
  std::uint32_t back = 0;    ///< pairs: the next stage to this one
};

class Iteration {
 public:
  Iteration(const Model& model, const Parallelism& parallelism, const Degrees& degrees)
      : model_{model},
        of_{parallelism},
        degrees_{degrees},
        bytes_{bytes_of(model)},
        build_{model.name, parallelism.nodes},
        cuts_{stages_of(model, parallelism.pipeline * parallelism.chunks)},
        total_macs_{static_cast<double>(multiply_accumulates_of(model))} {
    auto& node_of_worker = build_.graph().node_of_worker;
    node_of_worker.resize(of_.gpus > 1 ? std::size_t{2} * of_.nodes : of_.nodes);
    for (std::uint32_t worker = 0; worker < node_of_worker.size(); ++worker) {
      node_of_worker[worker] = worker % of_.nodes;
    }
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
    forward_.assign(cuts_.size() - 1, std::vector<Ends>(static_cast<std::size_t>(of_.micro_batches())));
    backward_ = forward_;
    for (std::uint32_t stage = 0; stage < of_.pipeline; ++stage) {
      families_.push_back(families_of(stage));
      add_stage(stage);
    }
    for (std::uint32_t chunk = 0; chunk + 2 < cuts_.size(); ++chunk) {
      hand_over(chunk);
    }
    reduce_tied();
    return std::move(build_).build();
  }

 private:
  /// The node of the ranks that share these places, each counted over nodes.
  std::uint32_t node(std::uint32_t t, std::uint32_t c, std::uint32_t d, std::uint32_t p) const {
    return t + degrees_.tensor.across * (c + degrees_.context.across * (d + degrees_.data.across * p));
  }

  template <class Node>
  std::uint32_t family(std::uint32_t outer, std::uint32_t inner, const Node& node_of) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t i = 0; i < outer; ++i) {
      for (std::uint32_t j = 0; j < inner; ++j) {
        members.push_back(node_of(i, j));
      }
    }
    return build_.family(members, inner);
  }

  StageFamilies families_of(std::uint32_t p) {
    const std::uint32_t tensor = degrees_.tensor.across;
    const std::uint32_t context = degrees_.context.across;
    const std::uint32_t data = degrees_.data.across;
    const std::uint32_t experts = degrees_.experts.across;
    const std::uint32_t replicas = degrees_.replicas.across;
    const auto any = [&](auto i) { return node(i % tensor, i / tensor % context, i / tensor / context, p); };
    StageFamilies made;
    made.workers = family(tensor * context * data, 1, [&](auto i, auto) { return any(i); });
    made.inside = of_.gpus > 1 ? family(tensor * context * data, 1, [&](auto i, auto) { return of_.nodes + any(i); }) : 0;
    made.tensor = {family(context * data, tensor, [&](auto i, auto t) { return node(t, i % context, i / context, p); }),
                   degrees_.tensor};
    made.context = {family(tensor * data, context, [&](auto i, auto c) { return node(i % tensor, c, i / tensor, p); }),
                    degrees_.context};
    made.data = {family(tensor, context * data, [&](auto t, auto i) { return node(t, i % context, i / context, p); }),
                 {degrees_.context.inside * degrees_.data.inside, context * data}};
    made.expert = {
        family(tensor * context * replicas, experts,
               [&](auto i, auto e) { return node(i % tensor, i / tensor % context, e + experts * (i / tensor / context), p); }),
        degrees_.experts};
    made.expert_data = {
        family(tensor * experts, context * replicas,
               [&](auto i, auto j) { return node(i % tensor, j % context, i / tensor + experts * (j / context), p); }),
        {degrees_.context.inside * degrees_.replicas.inside, context * replicas}};
    if (p + 1 < of_.pipeline || of_.chunks > 1) {
      const std::uint32_t next = (p + 1) % of_.pipeline;
      made.onward = pairs(p, next);
      made.back = pairs(next, p);
    }
    return made;
  }

  std::uint32_t pairs(std::uint32_t from, std::uint32_t to) {
    const std::uint32_t tensor = degrees_.tensor.across;
    const std::uint32_t context = degrees_.context.across;
    return family(tensor * context * degrees_.data.across, 2, [&](auto i, auto end) {
      return node(i % tensor, i / tensor % context, i / tensor / context, end == 0 ? from : to);
    });
  }

  /// What the GPUs of a node send each other before the nodes begin: of `bytes` a rank's part goes to each other rank, twice in
  /// an all-reduce.
  Duration inside_time(const Group& group, CollectiveKind kind, Bytes bytes) const {
    const double share = kind == CollectiveKind::all_to_all ? static_cast<double>(group.of.inside - 1) / group.size()
                                                            : static_cast<double>(group.of.inside - 1) / group.of.inside;
    const double times = kind == CollectiveKind::all_reduce ? 2 : 1;
    return Duration{std::llround(times * share * static_cast<double>(bytes.count) * 8e9 /
                                 static_cast<double>(of_.node_rate.bits_per_second))};
  }

  /// What a node sends for its GPUs where each of them has `bytes`: those of one group have reduced or gathered theirs, those
  /// of different groups have different ones.
  Bytes of_node(Bytes bytes, const Degree& degree, CollectiveKind kind) const {
    return Bytes{bytes.count * (kind == CollectiveKind::all_to_all ? of_.gpus : of_.gpus / degree.inside)};
  }

  /// One collective of a group of ranks: inside the nodes, then across. Only what there is: with no second rank nothing, unless
  /// `alone` asks for the empty collective of one node.
  std::optional<Ends> collective(std::string_view name, std::uint32_t inside, const Group& group, CollectiveKind kind,
                                 Bytes bytes, std::uint32_t choice, std::uint8_t stream, bool alone = false) {
    std::optional<Ends> ends;
    if (group.of.inside > 1) {
      const std::uint32_t task = build_.compute(std::string{name} + " in node", inside, inside_time(group, kind, bytes));
      ends = {task, task};
    }
    if (group.of.across > 1 || (alone && !ends)) {
      const std::uint32_t task = build_.communicate(name, group.family, kind, of_node(bytes, group.of, kind), choice, stream);
      if (ends) {
        build_.edge(ends->last, task);
      }
      ends = {ends ? ends->first : task, task};
    }
    return ends;
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
  std::uint32_t follow(std::uint32_t task) { return follow(Ends{task, task}).last; }

  Ends follow(const Ends& ends) {
    if (chained_) {
      build_.edge(last_, ends.first);
    } else if (previous_slot_) {
      build_.edge(*previous_slot_, ends.first);
    }
    if (!chained_) {
      first_ = ends.first;
    }
    chained_ = true;
    last_ = ends.last;
    return ends;
  }

  /// The same where there is something to add.
  void follow(const std::optional<Ends>& ends) {
    if (ends) {
      follow(*ends);
    }
  }

  /// Of one rank: its part of the sequence.
  Bytes activation(const Block& block, std::int64_t bytes_each) const {
    return Bytes{(of_.micro_batch * block.boundary + of_.context - 1) / of_.context * bytes_each};
  }

  void reduce_tensor(const Block& block, const StageFamilies& stage) {
    follow(collective(block.name + ".tensor", stage.inside, stage.tensor, CollectiveKind::all_reduce,
                      activation(block, bytes_.activations), automatic_, 0));
  }

  void exchange_experts(const Block& block, const StageFamilies& stage, bool dispatch) {
    if (block.experts > 0 && of_.expert > 1) {
      const Bytes routed{activation(block, dispatch ? bytes_.dispatched : bytes_.activations).count * block.routed};
      follow(
          collective(block.name + ".experts", stage.inside, stage.expert, CollectiveKind::all_to_all, routed, all_to_all_, 0));
    }
  }

  std::optional<Ends> exchange_context(const Block& block, const StageFamilies& stage, CollectiveKind kind) {
    const std::uint32_t most = block.context_splits == 0 ? of_.tensor : block.context_splits;
    const Bytes whole{of_.micro_batch * block.context / std::min(of_.tensor, most) * bytes_.activations};
    return collective(block.name + ".context", stage.inside, stage.context, kind, whole, automatic_, 0);
  }

  /// Attention of a rank that has only its part of the keys and values. Backward gathers them anew and scatters their
  /// gradients.
  std::uint32_t attend(const Block& block, bool forward, const StageFamilies& stage, Duration duration) {
    const std::string name = block.name + (forward ? ".forward" : ".backward");
    if (of_.exchange == ContextExchange::gather) {
      follow(exchange_context(block, stage, CollectiveKind::all_gather));
      const std::uint32_t task = follow(build_.compute(name, stage.workers, duration));
      if (!forward) {
        follow(exchange_context(block, stage, CollectiveKind::reduce_scatter));
      }
      return task;
    }
    // Round the ring: both begin with what came before, and what comes after waits for both.
    const std::uint32_t begin = follow(build_.compute(name, stage.workers, Duration{0}));
    const auto blocks = exchange_context(block, stage, CollectiveKind::all_gather);
    const auto gradients = forward ? std::nullopt : exchange_context(block, stage, CollectiveKind::reduce_scatter);
    const std::uint32_t task = follow(build_.compute(name, stage.workers, duration));
    const std::uint32_t end = follow(build_.compute(name, stage.workers, Duration{0}));
    for (const auto& ends : {blocks, gradients}) {
      if (ends) {
        build_.edge(begin, ends->first);
        build_.edge(ends->last, end);
      }
    }
    return task;
  }

  /// A block's compute in as many parts as tensor parallelism reduces after, the experts' exchange around the last of forward
  /// and the first of backward. Returns the first and last compute task.
  Ends add_block(std::size_t index, bool forward, const StageFamilies& stage) {
    const Block& block = model_.blocks[index];
    const bool attends = of_.context > 1 && block.context > 0;
    const bool split = attends || (of_.tensor > 1 && block.tensor_reduces > 0) || (block.experts > 0 && of_.expert > 1);
    const std::uint32_t parts = split ? std::max(1U, block.tensor_reduces) : 1;
    const Duration whole = forward ? forward_time(index) : backward_time(index);
    Ends ends;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const bool routed = part == (forward ? parts - 1 : 0);
      if (routed) {
        exchange_experts(block, stage, true);
      }
      const Duration duration = whole * (part + 1) / parts - whole * part / parts;
      const bool attention = attends && part == (forward ? 0 : parts - 1);
      const std::uint32_t task =
          attention ? attend(block, forward, stage, duration)
                    : follow(build_.compute(block.name + (forward ? ".forward" : ".backward"), stage.workers, duration));
      ends = {part == 0 ? task : ends.first, task};
      if (routed) {
        exchange_experts(block, stage, false);
      }
      if (split && block.tensor_reduces > 0) {
        reduce_tensor(block, stage);
      }
    }
    return ends;
  }

  /// What one rank holds; norms and biases are counted as if tensor parallelism split them too.
  std::int64_t held(std::size_t index, std::uint32_t stage) const {
    std::int64_t held = model_.blocks[index].parameters;
    if (stage > 0 && stage + 1 == of_.pipeline && index + 1 == model_.blocks.size()) {
      held += model_.tied_parameters;
    }
    return (held + of_.tensor - 1) / of_.tensor;
  }

  std::int64_t expert_gradient_bytes(std::size_t index) const {
    return model_.blocks[index].expert_parameters / of_.expert / of_.tensor * bytes_.gradients;
  }

  CollectiveKind reduction() const { return of_.zero == 0 ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter; }

  /// A bucket of gradients, ready when `after` is done; without overlap it is on the way of everything after.
  void reduce(std::string_view name, const StageFamilies& stage, const Group& group, std::int64_t bytes, std::uint32_t after) {
    if (bytes == 0) {
      return;
    }
    const auto ends =
        collective(name, stage.inside, group, reduction(), Bytes{bytes}, gradients_, kGradientStream, of_.nodes == 1);
    if (ends) {
      build_.edge(after, ends->first);
      reductions_.push_back({ends->last, group, bytes});
    }
  }

  void add_forward(std::uint32_t stage, std::uint32_t chunk) {
    for (std::size_t block = cuts_[chunk]; block < cuts_[chunk + 1]; ++block) {
      const std::uint32_t gathered = gather_parameters(block, stage);
      const Ends ends = add_block(block, true, families_[stage]);
      settle_parameters(gathered, ends);
    }
  }

  void add_backward(std::uint32_t stage, std::uint32_t chunk, bool final) {
    const bool reduces = final || of_.zero == 3;
    const StageFamilies& at = families_[stage];
    std::int64_t pending = 0;
    for (std::size_t block = cuts_[chunk + 1]; block-- > cuts_[chunk];) {
      const std::uint32_t gathered = gather_parameters(block, stage);
      const Ends ends = add_block(block, false, at);
      settle_parameters(gathered, ends);
      if (!reduces) {
        continue;
      }
      pending += held(block, stage) * bytes_.gradients;
      if (model_.blocks[block].experts > 0) {
        reduce("experts' gradients", at, at.expert_data, expert_gradient_bytes(block), last_);
      }
      const bool full = of_.overlapped && pending >= of_.bucket_bytes;
      if (full || block == cuts_[chunk]) {
        reduce("gradients", at, at.data, pending, last_);
        pending = 0;
      }
    }
  }

  static constexpr std::uint32_t kNoTask = ~0U;

  /// ZeRO 3: a block's parameters are gathered before it is computed, while the block before it is (or, without overlap,
  /// after).
  std::uint32_t gather_parameters(std::size_t block, std::uint32_t stage) {
    const std::int64_t bytes = held(block, stage) * bytes_.parameters;
    if (of_.zero != 3 || bytes == 0) {
      return kNoTask;
    }
    const StageFamilies& at = families_[stage];
    const auto ends =
        collective("parameters", at.inside, at.data, CollectiveKind::all_gather, Bytes{bytes}, gradients_, kParameterStream);
    const auto begin = of_.overlapped ? block_before_ : last_compute_;
    if (ends && begin) {
      build_.edge(*begin, ends->first);
    }
    return ends ? ends->last : kNoTask;
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
    for (const Slot& slot : slots_of(of_, stage)) {
      const std::uint32_t chunk = slot.chunk * of_.pipeline + stage;
      chained_ = false;
      if (slot.forward) {
        add_forward(stage, chunk);
      } else {
        add_backward(stage, chunk, slot.micro + 1 == of_.micro_batches());
      }
      previous_slot_ = last_;
      (slot.forward ? forward_ : backward_)[chunk][static_cast<std::size_t>(slot.micro)] = {first_, last_};
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
      const Bytes bytes{reduction.bytes / bytes_.gradients * bytes_.parameters};
      const auto ends = collective("parameters", families_[stage].inside, reduction.group, CollectiveKind::all_gather, bytes,
                                   gradients_, kParameterStream, of_.nodes == 1);
      build_.edge(update, ends->first);
    }
  }

  /// From one chunk of blocks to the next, whose stage is the next one too.
  void hand_over(std::uint32_t chunk) {
    const Block& block = model_.blocks[cuts_[chunk + 1] - 1];
    Block cut = block;
    cut.boundary = block.handed > 0 ? block.handed : block.boundary;
    const Bytes bytes = activation(cut, bytes_.activations);
    const std::uint32_t stage = chunk % of_.pipeline;
    const StageFamilies& from = families_[stage];
    const StageFamilies& to = families_[(stage + 1) % of_.pipeline];
    for (std::size_t micro = 0; micro < forward_[chunk].size(); ++micro) {
      const auto send = [&](std::string_view name, std::uint32_t family, std::uint32_t receiver, std::uint32_t after,
                            std::uint32_t before) {
        // tensor ranks of a node have the same activations: each sends its share, and the receivers gather
        const Bytes sent = of_node(bytes, degrees_.tensor, CollectiveKind::point_to_point);
        std::uint32_t task = build_.communicate(name, family, CollectiveKind::point_to_point, sent, automatic_, 0);
        build_.edge(after, task);
        if (degrees_.tensor.inside > 1) {
          const std::uint32_t gather = build_.compute(std::string{name} + " in node", receiver,
                                                      inside_time(from.tensor, CollectiveKind::all_gather, bytes));
          build_.edge(task, gather);
          task = gather;
        }
        build_.edge(task, before);
      };
      send("activations", from.onward, to.inside, forward_[chunk][micro].last, forward_[chunk + 1][micro].first);
      send("activations' gradients", from.back, from.inside, backward_[chunk + 1][micro].last, backward_[chunk][micro].first);
    }
  }

  /// The embedding that the first and last stage share.
  void reduce_tied() {
    if (of_.pipeline < 2 || model_.tied_parameters == 0) {
      return;
    }
    const Bytes bytes{(model_.tied_parameters + of_.tensor - 1) / of_.tensor * bytes_.gradients};
    const std::uint32_t task = build_.communicate("tied embedding", pairs(0, of_.pipeline - 1), CollectiveKind::all_reduce,
                                                  Bytes{bytes.count * of_.gpus}, automatic_, 0);
    build_.edge(final_.front(), task);
    build_.edge(final_.back(), task);
  }

  struct Reduction {
    std::uint32_t task = 0;
    Group group;
    std::int64_t bytes = 0;
  };

  const Model& model_;
  const Parallelism& of_;
  const Degrees degrees_;
  const ElementBytes bytes_;
  TaskGraphBuilder build_;
  std::vector<std::size_t> cuts_;
  double total_macs_;
  std::vector<double> before_;  ///< MAC before each block
  std::uint32_t automatic_ = 0;
  std::uint32_t gradients_ = 0;
  std::uint32_t all_to_all_ = 0;
  std::vector<StageFamilies> families_;
  std::vector<std::vector<Ends>> forward_;  ///< by chunk of blocks and micro-batch
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

Result<TaskGraph> iteration_of(const Model& model, const Parallelism& parallelism) {
  LOOM_TRY(check(parallelism, model));
  const auto degrees = degrees_of(parallelism);
  return degrees ? Iteration{model, parallelism, *degrees}.build() : Result<TaskGraph>(std::unexpected(degrees.error()));
}

}  // namespace loom
