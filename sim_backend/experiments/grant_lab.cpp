// SPDX-License-Identifier: Apache-2.0
// The lab's event queue, traffic and gauges.
#include "sim_backend/experiments/grant_lab.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <vector>

#include "agents/grant/table.hpp"
#include "core/digest.hpp"
#include "core/text/format_text.hpp"
#include "sim_backend/random.hpp"

namespace loom {

namespace {

constexpr Instant kBegin{std::chrono::milliseconds{100}};  // no instant near a clock's zero
constexpr Duration kPatience = std::chrono::seconds{100};

enum class Part : std::uint8_t { table, sender, arbiter, traffic };

/// A message, or the wake of a part of a node. Ties go in the order of their making.
struct Happening {
  Instant at{};
  std::uint64_t number = 0;
  std::uint32_t node = 0;
  Part part = Part::table;
  std::uint32_t message = 0;  ///< slot + 1; 0: a wake
};

struct Later {
  bool operator()(const Happening& a, const Happening& b) const { return a.at != b.at ? a.at > b.at : a.number > b.number; }
};

struct OfferRecord {
  StreamId stream;
  Instant offered{};
  Instant asked = kNever;
  Instant granted = kNever;
};

struct ReceiverGauge {
  std::uint32_t lit = 0;
  Instant first = kNever;
  Instant last{};
  std::int64_t bytes = 0;
};

struct LabNode {
  StreamSender sender;
  ReceiverArbiter arbiter;
  GrantTable table;
  Random arrivals;
  std::vector<OfferRecord> offers;
  Instant wakes[3] = {kNever, kNever, kNever};
};

Duration percentile(std::vector<Duration>& values, int per_cent) {
  if (values.empty()) {
    return {};
  }
  const auto rank = static_cast<std::ptrdiff_t>((values.size() - 1) * static_cast<std::size_t>(per_cent) / 100);
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

bool is_for_arbiter(const GrantMessage& message) {
  return !std::holds_alternative<StreamQueued>(message) && !std::holds_alternative<StreamGrant>(message);
}

class GrantLab {
 public:
  explicit GrantLab(const GrantLabOptions& options) : options_(options), network_(Random::of_part(options.seed, 0)) {
    nodes_.reserve(options.nodes);
    receivers_.resize(options.nodes);
    for (std::uint32_t i = 0; i < options.nodes; ++i) {
      SenderOptions sender = options.sender;
      sender.node = NodeId{i};
      sender.nodes = options.nodes;
      ArbiterOptions arbiter = options.arbiter;
      arbiter.node = NodeId{i};
      arbiter.is_first_incarnation = true;
      arbiter.nodes = options.nodes;
      nodes_.push_back({StreamSender(sender),
                        ReceiverArbiter(arbiter),
                        GrantTable(sender.transmitters, sender.timings.tune),
                        Random::of_part(options.seed, 1 + i),
                        {}});
      if (options.traffic == GrantTraffic::listed) {
        const auto spread = static_cast<std::uint32_t>(options.apart.count());
        push(kBegin + Duration{spread == 0 ? 0 : nodes_[i].arrivals.below(spread)}, i, Part::traffic, 0);
      } else {
        nodes_[i].offers.reserve(options.streams_per_node);
        push(kBegin + gap(i), i, Part::traffic, 0);
      }
    }
  }

  Result<GrantLabResult> run();

 private:
  void push(Instant at, std::uint32_t node, Part part, std::uint32_t message) {
    happenings_.push({at, ++happening_number_, node, part, message});
  }
  void wake(std::uint32_t node, Part part, Instant at) {
    Instant& known = nodes_[node].wakes[static_cast<std::size_t>(part)];
    if (at != kNever && at != known) {
      push(std::max(at, now_), node, part, 0);
    }
    known = at;
  }
  Duration gap(std::uint32_t node);
  void happen(const Happening& happening);
  void offer(std::uint32_t node);
  void offer_listed(std::uint32_t node);
  OfferRecord& record_of(const StreamId& stream);
  void step_sender(std::uint32_t node, const GrantEvent& event);
  void step_arbiter(std::uint32_t node, const GrantEvent& event);
  void step_table(std::uint32_t node);
  void carry_out(std::uint32_t node, const GrantSink& sink);
  void send(std::uint32_t node, const SendGrant& order);
  void note(const SendGrant& order);
  void light(const LaserCommand& order);
  void dark(const RowEnded& ended);
  GrantLabResult gauge();

  GrantLabOptions options_;
  Random network_;
  Instant now_ = kBegin;
  Instant last_offer_ = kBegin;
  std::vector<LabNode> nodes_;
  std::vector<ReceiverGauge> receivers_;
  std::priority_queue<Happening, std::vector<Happening>, Later> happenings_;
  std::uint64_t happening_number_ = 0;
  std::vector<SendGrant> messages_;
  std::vector<std::uint32_t> senders_of_messages_;
  std::vector<std::uint32_t> free_messages_;
  std::vector<Duration> waits_;
  std::vector<Duration> latencies_;
  std::vector<Duration> finishes_;
  std::int64_t carried_ = 0;  ///< bytes, until the last offer
  GrantLabResult result_;
  Digest digest_;
};

/// Uniform in 0 .. twice the mean, so that the load is exact in the mean and no logarithm decides a digest.
Duration GrantLab::gap(std::uint32_t node) {
  const Duration flow = time_of(options_.stream_bytes, options_.sender.timings.rate);
  const Duration mean = flow * 100 / static_cast<std::int64_t>(options_.load_percent);
  return nodes_[node].arrivals.between(Duration::zero(), 2 * mean);
}

void GrantLab::offer(std::uint32_t node) {
  LabNode& self = nodes_[node];
  const auto index = static_cast<std::uint64_t>(self.offers.size());
  std::uint32_t to = (node + 1) % options_.nodes;
  if (options_.traffic == GrantTraffic::uniform) {
    to = (node + 1 + self.arrivals.below(options_.nodes - 1)) % options_.nodes;
  }
  self.offers.push_back({{JobId{1}, index, NodeId{node}, NodeId{to}}, now_, kNever, kNever});
  last_offer_ = now_;
  if (self.offers.size() < options_.streams_per_node) {
    push(now_ + gap(node), node, Part::traffic, 0);
  }
  step_sender(node, StreamOffered{self.offers.back().stream, options_.stream_bytes});
}

/// The nearest first, as the plane offers them. All are of one collective, but for a pair's second stream and later ones.
void GrantLab::offer_listed(std::uint32_t node) {
  std::vector<LabStream> own;
  std::ranges::copy_if(options_.streams, std::back_inserter(own),
                       [&](const LabStream& stream) { return stream.source == NodeId{node}; });
  std::ranges::stable_sort(
      own, {}, [&](const LabStream& stream) { return (stream.destination.value + options_.nodes - node) % options_.nodes; });
  auto& offers = nodes_[node].offers;
  for (const LabStream& stream : own) {
    const auto before =
        std::ranges::count(offers, stream.destination, [](const OfferRecord& each) { return each.stream.destination; });
    offers.push_back({{JobId{1}, static_cast<std::uint64_t>(before), stream.source, stream.destination}, now_, kNever, kNever});
    step_sender(node, StreamOffered{offers.back().stream, stream.bytes});
  }
}

OfferRecord& GrantLab::record_of(const StreamId& stream) {
  auto& offers = nodes_[stream.source.value].offers;
  if (options_.traffic != GrantTraffic::listed) {
    return offers[stream.collective];
  }
  return *std::ranges::find(offers, stream, &OfferRecord::stream);
}

void GrantLab::step_sender(std::uint32_t node, const GrantEvent& event) {
  GrantSink sink;
  const Instant at = nodes_[node].sender.step(now_, event, sink);
  carry_out(node, sink);
  wake(node, Part::sender, at);
}

void GrantLab::step_arbiter(std::uint32_t node, const GrantEvent& event) {
  GrantSink sink;
  const Instant at = nodes_[node].arbiter.step(now_, event, sink);
  carry_out(node, sink);
  wake(node, Part::arbiter, at);
}

void GrantLab::step_table(std::uint32_t node) {
  const TableStep context = nodes_[node].table.step(now_);
  for (std::size_t i = 0; i < context.order_count; ++i) {
    if (context.orders[i].act == LaserAct::light) {
      light(context.orders[i]);
    }
  }
  for (std::size_t i = 0; i < context.ended_count; ++i) {
    dark(context.ended[i]);
    step_sender(node, context.ended[i]);
  }
  wake(node, Part::table, context.wake);
}

void GrantLab::light(const LaserCommand& order) {
  ReceiverGauge& receiver = receivers_[order.destination.value];
  result_.collisions += receiver.lit > 0 ? 1 : 0;  // equal flights: lit at once here is lit at once there
  ++receiver.lit;
  receiver.first = std::min(receiver.first, now_);
}

void GrantLab::dark(const RowEnded& ended) {
  ReceiverGauge& receiver = receivers_[ended.row.stream.destination.value];
  if (ended.lit_from == ended.dark_from) {
    return;  // it never was
  }
  --receiver.lit;
  receiver.last = now_;
  receiver.bytes += ended.row.bytes.count;
  const bool all_arrive = last_offer_ == now_ || nodes_[0].offers.size() < options_.streams_per_node;
  carried_ += all_arrive ? ended.row.bytes.count : 0;
}

void GrantLab::carry_out(std::uint32_t node, const GrantSink& sink) {
  for (const GrantEffect& effect : sink.effects()) {
    if (const auto* order = std::get_if<SendGrant>(&effect)) {
      send(node, *order);
    } else if (const auto* write = std::get_if<WriteRow>(&effect)) {
      const auto written = nodes_[node].table.write(write->row);
      LOOM_ASSERT(written.has_value());
      step_table(node);
    } else if (const auto* over = std::get_if<StreamOver>(&effect)) {
      const bool is_sent = over->end == StreamEnd::sent;
      ++(is_sent ? result_.streams : result_.unreachable);
      if (is_sent) {
        const Duration flight = options_.sender.timings.flight;
        finishes_.push_back(now_ + flight - record_of(over->stream).offered);
        result_.makespan = std::max(result_.makespan, now_ + flight - kBegin);
      }
    }
  }
}

void GrantLab::note(const SendGrant& order) {
  ++result_.messages;
  if (const auto* request = std::get_if<StreamRequest>(&order.message)) {
    Instant& asked = record_of(request->stream).asked;
    asked = std::min(asked, now_);
  } else if (const auto* accept = std::get_if<StreamAccept>(&order.message)) {
    OfferRecord& record = record_of(accept->stream);
    if (record.granted == kNever) {
      record.granted = now_;
      waits_.push_back(now_ - record.offered);
      latencies_.push_back(now_ - record.asked);
    }
  }
}

void GrantLab::send(std::uint32_t node, const SendGrant& order) {
  note(order);
  const bool is_lost = network_.chance(options_.loss_per_million);
  const Duration late = network_.between(Duration::zero(), options_.jitter);
  if (is_lost) {
    return;
  }
  const GrantTimings& timings = options_.sender.timings;
  const bool in_band = order.channel == GrantChannel::in_band;
  const Instant at = now_ + (in_band ? timings.flight : timings.control + late);
  std::uint32_t slot = static_cast<std::uint32_t>(messages_.size());
  if (free_messages_.empty()) {
    messages_.push_back(order);
    senders_of_messages_.push_back(node);
  } else {
    slot = free_messages_.back();
    free_messages_.pop_back();
    messages_[slot] = order;
    senders_of_messages_[slot] = node;
  }
  push(at, order.to.value, is_for_arbiter(order.message) ? Part::arbiter : Part::sender, slot + 1);
}

void GrantLab::happen(const Happening& happening) {
  now_ = happening.at;
  if (happening.message != 0) {
    const std::uint32_t slot = happening.message - 1;
    const GrantReceived received{NodeId{senders_of_messages_[slot]}, messages_[slot].message};
    free_messages_.push_back(slot);
    digest_.add(static_cast<std::uint64_t>(ns_of(now_)));
    digest_.add(received.from.value * 8 + received.message.index());
    digest_.add(happening.node);
    return happening.part == Part::arbiter ? step_arbiter(happening.node, received) : step_sender(happening.node, received);
  }
  if (happening.part == Part::traffic) {
    return options_.traffic == GrantTraffic::listed ? offer_listed(happening.node) : offer(happening.node);
  }
  Instant& known = nodes_[happening.node].wakes[static_cast<std::size_t>(happening.part)];
  if (known > now_) {
    return;  // moved or done since
  }
  known = kNever;
  switch (happening.part) {
    case Part::table:
      return step_table(happening.node);
    case Part::sender:
      return step_sender(happening.node, GrantTick{});
    default:
      return step_arbiter(happening.node, GrantTick{});
  }
}

GrantLabResult GrantLab::gauge() {
  const double rate = static_cast<double>(options_.sender.timings.rate.bits_per_second) / 8;
  double sum = 0;
  std::uint32_t used = 0;
  for (const ReceiverGauge& each : receivers_) {
    if (each.bytes > 0) {
      sum += static_cast<double>(each.bytes) / (rate * seconds_of(each.last - each.first));
      ++used;
    }
  }
  result_.efficiency = used > 0 ? sum / used : 0;
  if (options_.traffic != GrantTraffic::listed) {
    const double offered_for = seconds_of(nodes_[0].offers.back().offered - kBegin);
    result_.utilisation = static_cast<double>(carried_) / (rate * offered_for * options_.nodes);
  }
  for (const LabNode& each : nodes_) {
    result_.grants += each.arbiter.counters().grants;
    result_.repeats += each.arbiter.counters().repeats + each.sender.counters().repeats;
    result_.refusals += each.sender.counters().refusals;
  }
  result_.wait_p50 = percentile(waits_, 50);
  result_.wait_p99 = percentile(waits_, 99);
  result_.latency_p50 = percentile(latencies_, 50);
  result_.latency_p99 = percentile(latencies_, 99);
  result_.finish_p99 = percentile(finishes_, 99);
  result_.digest = digest_.value();
  return result_;
}

Result<GrantLabResult> GrantLab::run() {
  const std::uint64_t all = options_.traffic == GrantTraffic::listed
                                ? options_.streams.size()
                                : std::uint64_t{options_.nodes} * options_.streams_per_node;
  while (result_.streams + result_.unreachable < all) {
    if (happenings_.empty() || happenings_.top().at - kBegin > kPatience) {
      return fail(ErrorCode::timed_out, format_text("grant lab: {} of {} streams are not over after 100 s of virtual time",
                                                    all - result_.streams - result_.unreachable, all));
    }
    const Happening next = happenings_.top();
    happenings_.pop();
    happen(next);
  }
  return gauge();
}

Result<void> check_listed(const GrantLabOptions& options) {
  for (const LabStream& stream : options.streams) {
    if (stream.source == stream.destination || stream.source.value >= options.nodes ||
        stream.destination.value >= options.nodes) {
      return fail(ErrorCode::invalid_argument, format_text("grant lab: a stream from node {} to node {} of {}",
                                                           stream.source.value, stream.destination.value, options.nodes));
    }
    if (stream.bytes.count <= 0 || stream.bytes.count > limits::kStreamBytes) {
      return fail(ErrorCode::out_of_range,
                  format_text("grant lab: a stream of {} bytes; lawful are 1..{}", stream.bytes.count, limits::kStreamBytes));
    }
  }
  return {};
}

}  // namespace

GrantLabOptions lab_options(const GrantTimings& timings) {
  GrantLabOptions options;
  SenderOptions& sender = options.sender;
  ArbiterOptions& arbiter = options.arbiter;
  sender.timings = arbiter.timings = timings;
  sender.repeat = std::max(sender.repeat, 3 * timings.control);
  sender.stagger = std::max(sender.stagger, 5 * timings.control / 2);
  sender.keepalive = std::max(sender.keepalive, 10 * timings.control);
  sender.give_up = std::max(sender.give_up, 100 * timings.control);
  sender.patience = std::max({sender.patience, 2 * timings.control, 2 * timings.tune});
  sender.starvation = std::max(sender.starvation, 20 * timings.control);
  arbiter.slack = sender.patience;
  arbiter.starvation = sender.starvation;
  arbiter.repeat = std::max(arbiter.repeat, 3 * timings.control);
  arbiter.age_grain = std::max(arbiter.age_grain, timings.control);
  options.jitter = timings.control / 5;
  return options;
}

Result<GrantLabResult> run_grant_lab(const GrantLabOptions& options) {
  LOOM_TRY(check_listed(options));
  if (options.nodes < 2 || options.nodes > limits::kNodes || options.load_percent == 0 || options.streams_per_node == 0 ||
      options.stream_bytes.count <= 0 || options.stream_bytes.count > limits::kStreamBytes) {
    return fail(
        ErrorCode::out_of_range,
        format_text(
            "grant lab: {} nodes, {} bytes a stream at load {} %: 2..{} nodes, 1..{} bytes and a load above 0 are lawful",
            options.nodes, options.stream_bytes.count, options.load_percent, limits::kNodes, limits::kStreamBytes));
  }
  return GrantLab(options).run();
}

double grant_efficiency(const GrantTimings& timings, Bytes bytes, Duration overlap) {
  const double light = seconds_of(time_of(bytes, timings.rate));
  const double control = seconds_of(std::max(Duration::zero(), timings.control - overlap));
  return light / (light + seconds_of(timings.tune) + seconds_of(timings.lock) + control);
}

}  // namespace loom
