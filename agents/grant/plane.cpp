// SPDX-License-Identifier: Apache-2.0
// Machines, executor and peers joined; every loop here has a bound.
#include "agents/grant/plane.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Machines ask to be stepped again at once for what does not fit into one step.
constexpr int kStepsInARow = 256;
constexpr std::size_t kTimesKept = 65'536;
/// An arbiter that was silent is asked again after this.
constexpr Duration kOfferAgain = std::chrono::seconds{1};
/// A receiver that waits for so long for a sender to say that it is dark says so aloud.
constexpr Duration kOverdueReported = std::chrono::seconds{1};

bool is_for_arbiter(const GrantMessage& message) {
  return !std::holds_alternative<StreamQueued>(message) && !std::holds_alternative<StreamGrant>(message);
}

std::uint32_t lasers_of(const GrantMap& map) {
  std::vector<DeviceId> lasers;
  for (const AllowedWavelength& wavelength : map.wavelengths) {
    if (std::find(lasers.begin(), lasers.end(), wavelength.laser) == lasers.end()) {
      lasers.push_back(wavelength.laser);
    }
  }
  return static_cast<std::uint32_t>(lasers.size());
}

/// Requests and answers come from those who may ask us, grants from those to whom we may send.
bool is_expected(const GrantMap& map, NodeId from, const GrantMessage& message) {
  if (is_for_arbiter(message)) {
    return std::binary_search(map.sources.begin(), map.sources.end(), from);
  }
  return std::any_of(map.wavelengths.begin(), map.wavelengths.end(),
                     [&](const AllowedWavelength& wavelength) { return wavelength.destination == from; });
}

/// Epochs of both machines are the revision that laid the light: one above it would make all later words of its sender old.
bool is_of_this_light(const GrantMap& map, const GrantMessage& message) {
  const std::uint64_t routed_by = map.routed_by.value;
  return std::visit(
      [routed_by]<class Word>(const Word& grant_message) {
        if constexpr (requires { grant_message.key; }) {
          return grant_message.key.epoch <= routed_by;
        } else if constexpr (requires { grant_message.arbiter_epoch; }) {
          return grant_message.arbiter_epoch <= routed_by;
        } else {
          return grant_message.sender_epoch <= routed_by;
        }
      },
      message);
}

Alarm implausible_alarm(const GrantMap& map, NodeId from) {
  return {AlarmCode::malformed_message,
          {},
          {},
          format_text("messages of node {} about an epoch above {}, the revision that routed this light, are dropped",
                      from.value, map.routed_by.value),
          format_text("loom node show {}", from.value)};
}

Alarm stranger_alarm(const GrantMap& map, NodeId from, NodeId own) {
  return {
      AlarmCode::malformed_message,
      {},
      {},
      format_text(
          "messages of node {} about light are dropped: the plan of revision {} routes no wavelength between it and node {}",
          from.value, map.routed_by.value, own.value),
      format_text("loom node show {}", from.value)};
}

/// Of our own receiver; whether the peer is alive is not ours to say.
Alarm silent_alarm(NodeId peer, std::string evidence) {
  return {AlarmCode::receiver_withheld, {}, {}, std::move(evidence), format_text("loom node show {}", peer.value)};
}

/// Indices of `sends`, the nearest receiver first: where everybody begins an exchange, each receiver is asked by another sender
/// first.
std::vector<std::size_t> nearest_first(const std::vector<OfferedStream>& sends, std::uint32_t nodes) {
  std::vector<std::size_t> order(sends.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return (sends[i].destination.value + nodes - sends[i].source.value) % nodes; });
  return order;
}

}  // namespace

SenderOptions sender_options(const GrantMap& map, NodeId node, std::uint32_t nodes) {
  SenderOptions options;
  options.node = node;
  options.epoch = map.routed_by.value;
  options.nodes = nodes;
  options.transmitters = std::max(1U, lasers_of(map));
  options.streams_max = static_cast<std::uint32_t>(std::max<std::size_t>(1, map.sends.size()));
  options.timings = map.timings;
  options.repeat = 4 * map.timings.control;
  options.keepalive = 100 * map.timings.control;
  options.give_up = 2'000 * map.timings.control;
  options.patience = 5 * map.timings.control;
  options.stagger = 5 * map.timings.control / 2;
  options.starvation = 4 * map.quantum;
  return options;
}

ArbiterOptions arbiter_options(const GrantMap& map, NodeId node, std::uint32_t nodes, LeaseEnd lease_end) {
  ArbiterOptions options;
  options.node = node;
  options.epoch = map.routed_by.value;
  options.nodes = nodes;
  options.is_first_incarnation = true;  // the commit that laid this light has proven all of it dark
  options.timings = map.timings;
  options.quantum = map.quantum;
  options.slack = 5 * map.timings.control;
  options.repeat = 4 * map.timings.control;
  options.age_grain = map.timings.control;
  options.starvation = 4 * map.quantum;
  options.lease_end = lease_end;
  options.ahead = lease_end == LeaseEnd::by_itself ? 2 : 1;
  return options;
}

Result<void> check_grant_map(const GrantMap& map, NodeId node, std::uint32_t nodes) {
  const auto named = format_text("grants of node {}: ", node.value);
  const Duration window = overhead_of(map.timings) + map.quantum + 5 * map.timings.control;
  const Duration around = tuning_of(map.timings) + guard_of(map.timings);
  if (map.timings.control < std::chrono::microseconds{1} || std::max(window, around) > Duration{limits::kGrantWindowNs} ||
      bytes_in(map.quantum, map.timings.rate).count <= 0) {
    return fail(ErrorCode::out_of_range, format_text("{}a window of {} ns, the limit is {} ns (and 1 us of control latency)",
                                                     named, std::max(window, around).count(), limits::kGrantWindowNs));
  }
  if (map.routed_by == Revision{} || lasers_of(map) > limits::kTransmittersPerNode) {
    return fail(ErrorCode::invalid_argument,
                format_text("{}{} lasers, routed by revision {}; allowed {} and a revision above 0", named, lasers_of(map),
                            map.routed_by.value, limits::kTransmittersPerNode));
  }
  for (const OfferedStream& stream : map.sends) {
    if (stream.source != node || stream.destination == node || stream.destination.value >= nodes) {
      return fail(ErrorCode::invalid_argument, format_text("{}a stream from node {} to node {} of {}", named,
                                                           stream.source.value, stream.destination.value, nodes));
    }
  }
  if (std::any_of(map.sources.begin(), map.sources.end(), [&](NodeId source) { return source.value >= nodes; })) {
    return fail(ErrorCode::invalid_argument, format_text("{}a source beyond the fabric's {} nodes", named, nodes));
  }
  return {};
}

GrantPlane::GrantPlane(const EnvelopeSender& envelopes, GrantExecutor& executor, std::uint32_t nodes)
    : envelopes_(envelopes), executor_(executor), nodes_(nodes) {}

// --- incarnations --------------------------------------------------------------------------------------------------------

void GrantPlane::reset() {
  sender_.reset();
  sender_wake_ = arbiter_wake_ = kNever;
  wake_.forget();
  edge_.forget();
  ended_.clear();
  unwritten_.clear();
  again_.clear();
  lit_.clear();
  executor_.clear();
}

void GrantPlane::begin(StepContext context, std::shared_ptr<const NodePlan> plan) {
  end();
  plan_ = std::move(plan);
  const GrantMap& map = *plan_->grants;
  if (auto loaded = executor_.load(*plan_); !loaded) {
    envelopes_.warn(
        context,
        {AlarmCode::device_failed, {}, {}, loaded.error().message, format_text("loom node show {}", envelopes_.node.value)});
  }
  reported_ = {};
  asked_.assign(nodes_, Asked{});
  sender_.emplace(sender_options(map, envelopes_.node, nodes_));
  arbiter_.emplace(arbiter_options(map, envelopes_.node, nodes_, executor_.lease_end()));
  step_arbiter(context, GrantTick{});
  step_sender(context, GrantTick{});
  number_ = 0;
  nearest_ = nearest_first(map.sends, nodes_);
  offer_all(context);
}

void GrantPlane::offer_all(StepContext context) {
  const auto is_due = [this](const OfferedStream& stream) { return stream.collective == number_; };
  left_.clear();
  for (const OfferedStream& stream : map()->sends) {
    left_.push_back(stream.bytes);
  }
  sent_ = 0;
  offered_ = static_cast<std::size_t>(std::ranges::count_if(map()->sends, is_due));
  for (const std::size_t i : nearest_) {
    if (is_due(map()->sends[i])) {
      offer(context, map()->sends[i]);
    }
  }
  if (offered_ == 0) {
    finish_all(context);
  }
}

/// Whoever repeats it tells its peers, others the controller.
void GrantPlane::finish_all(StepContext context) {
  if (plan_->iterations) {
    is_pass_over_ = true;
    return;
  }
  if (std::ranges::any_of(map()->sends, [this](const OfferedStream& stream) { return stream.collective > number_; })) {
    ++number_;
    pass_at_.set(context, context.now);  // in a step of its own: the machines are in the middle of one
    return;
  }
  done_at_.set(context, later(context.now, plan_->compute_after));
  say_done(context);
}

void GrantPlane::say_done(StepContext context) {
  if (done_at_.passed(context.now)) {
    done_at_.forget();
    repeats_left_ = kDoneRepeats;
    send_done(context);
  }
}

void GrantPlane::begin_pass(StepContext context, Instant at, std::uint64_t number) {
  is_pass_over_ = false;
  number_ = number;
  pass_at_.set(context, at);
}

bool GrantPlane::take_pass_end() { return std::exchange(is_pass_over_, false); }

void GrantPlane::end() {
  plan_.reset();
  arbiter_.reset();
  repeats_left_ = 0;
  is_pass_over_ = false;
  pass_at_.forget();
  done_at_.forget();
  reported_overdue_.reset();
  overdue_since_ = kNever;
  reset();
}

void GrantPlane::halt() {
  if (!is_on()) {
    return;
  }
  const Instant arbiter_wake = arbiter_wake_;
  reset();
  arbiter_wake_ = arbiter_wake;
}

bool GrantPlane::works(DeviceId laser) const {
  return is_on() && std::any_of(map()->wavelengths.begin(), map()->wavelengths.end(),
                                [&](const AllowedWavelength& wavelength) { return wavelength.laser == laser; });
}

// --- words ---------------------------------------------------------------------------------------------------------------

void GrantPlane::receive(StepContext context, NodeId from, const Envelope& envelope, const GrantPlaneMessage& grant_message) {
  if (!is_on() || envelope.revision != map()->routed_by) {
    ++counters_.other_revision;
    return;
  }
  if (envelope.clock != envelopes_.clock) {
    ++counters_.other_clock;
    return;
  }
  if (!is_expected(*map(), from, grant_message.message)) {
    if (++counters_.strangers == 1) {
      envelopes_.warn(context, stranger_alarm(*map(), from, envelopes_.node));
    }
    return;
  }
  if (!is_of_this_light(*map(), grant_message.message)) {
    if (++counters_.implausible == 1) {
      envelopes_.warn(context, implausible_alarm(*map(), from));
    }
    return;
  }
  if (is_for_arbiter(grant_message.message)) {
    const std::uint64_t before = arbiter_->counters().unlawful;
    step_arbiter(context, GrantReceived{from, grant_message.message});
    return report_unlawful(context, from, grant_message.message, before);
  }
  const auto* grant = std::get_if<StreamGrant>(&grant_message.message);
  if (!sender_) {
    return grant != nullptr ? answer_dark(context, from, *grant) : void();
  }
  note_received(context, grant_message.message);
  step_sender(context, GrantReceived{from, grant_message.message});
  if (grant != nullptr) {
    report_forgery(context, from, *grant);
  }
}

/// Only once it is true: whoever hears it lets the next one in.
void GrantPlane::answer_dark(StepContext context, NodeId from, const StreamGrant& grant) {
  if (!executor_.is_dark() || grant.stream.source != envelopes_.node) {
    return;
  }
  ++counters_.answered_dark;
  const Instant dark_at = context.now + map()->timings.flight;
  send(context, {from, GrantChannel::supervisory,
                 StreamRefusal{grant.stream, grant.sender_epoch, grant.key, RefusalReason::unknown, dark_at, dark_at}});
}

void GrantPlane::report_forgery(StepContext context, NodeId from, const StreamGrant& grant) {
  for (const GrantKind kind : {GrantKind::misdirected, GrantKind::unlawful, GrantKind::other_incarnation}) {
    const auto place = static_cast<std::size_t>(kind);
    const std::uint64_t known = std::exchange(reported_[place], sender_->counters().grants[place]);
    if (reported_[place] == known) {
      continue;
    }
    ++counters_.forged;
    if (known == 0) {  // the first of its kind since this light was laid; the counter has the rest
      envelopes_.warn(context, {AlarmCode::malformed_message,
                                {},
                                {},
                                format_text("grant {}.{} of node {} for {} bytes is refused: {}", grant.key.epoch,
                                            grant.key.sequence, from.value, grant.bytes.count, to_string(kind)),
                                format_text("loom node show {}", from.value)});
    }
  }
}

/// Requests beyond a limit or for another receiver, promises beyond their window: the first aloud, the counter has the rest.
void GrantPlane::report_unlawful(StepContext context, NodeId from, const GrantMessage& message, std::uint64_t before) {
  if (arbiter_->counters().unlawful == before) {
    return;
  }
  ++counters_.forged;
  if (before > 0) {
    return;
  }
  std::string what = format_text("a promise of node {} beyond the window that it was granted is ignored", from.value);
  if (const auto* request = std::get_if<StreamRequest>(&message)) {
    what = format_text(
        "a request of node {} for {} bytes from node {} to node {} is refused: this is the receiver of node {}, for 1 to {} "
        "bytes of the node that asks",
        from.value, request->remaining.count, request->stream.source.value, request->stream.destination.value,
        envelopes_.node.value, limits::kStreamBytes);
  }
  envelopes_.warn(context,
                  {AlarmCode::malformed_message, {}, {}, std::move(what), format_text("loom node show {}", from.value)});
}

void GrantPlane::send(StepContext context, const SendGrant& order) {
  envelopes_.send_to_peer(context, order.to, map()->routed_by, GrantPlaneMessage{order.message});
}

// --- machines ------------------------------------------------------------------------------------------------------------

void GrantPlane::step_sender(StepContext context, const GrantEvent& event) {
  GrantSink sink;
  sender_wake_ = sender_->step(context.now, event, sink);
  carry_out(context, sink);
}

void GrantPlane::step_arbiter(StepContext context, const GrantEvent& event) {
  GrantSink sink;
  arbiter_wake_ = arbiter_->step(context.now, event, sink);
  carry_out(context, sink);
}

void GrantPlane::carry_out(StepContext context, const GrantSink& sink) {
  for (const GrantEffect& effect : sink.effects()) {
    if (const auto* order = std::get_if<SendGrant>(&effect)) {
      note_sent(context, *order);
      send(context, *order);
    } else if (const auto* row = std::get_if<WriteRow>(&effect)) {
      write(context, row->row);
    } else if (const auto* pre_tune_request = std::get_if<PreTuneRequest>(&effect)) {
      executor_.pre_tune(context, *pre_tune_request);
    } else {
      finish(context, std::get<StreamOver>(effect));
    }
  }
}

/// A row that is not taken is over at once and was never lit; the sender hears of it in its next step.
void GrantPlane::write(StepContext context, const GrantRow& row) {
  const auto written = executor_.write(row);
  const Asked& asked = asked_[row.stream.destination.value];
  lit_.push_back({row.stream, asked.at, asked.received, context.now, {}, {}, {}});
  if (!written) {
    unwritten_.push_back({row, context.now, context.now});
  }
}

void GrantPlane::finish(StepContext context, const StreamOver& over) {
  const auto& sends = map()->sends;
  const auto found = std::find_if(sends.begin(), sends.end(), [&](const OfferedStream& each) {
    return each.collective == over.stream.collective && each.destination == over.stream.destination;
  });
  LOOM_ASSERT(found != sends.end());
  if (over.end == StreamEnd::sent) {
    if (++sent_ == offered_) {
      finish_all(context);
    }
    return;
  }
  ++counters_.unreachable;
  OfferedStream rest = *found;
  rest.bytes = left_[static_cast<std::size_t>(found - sends.begin())];
  again_.push_back({rest, later(context.now, kOfferAgain)});
  if (counters_.unreachable == 1) {
    envelopes_.warn(context,
                    silent_alarm(over.stream.destination,
                                 format_text("node {} has not answered the requests of node {} for light; they are repeated",
                                             over.stream.destination.value, envelopes_.node.value)));
  }
}

void GrantPlane::offer(StepContext context, const OfferedStream& stream) {
  step_sender(context, StreamOffered{{map()->job, stream.collective, envelopes_.node, stream.destination}, stream.bytes});
}

void GrantPlane::offer_again(StepContext context) {
  for (std::size_t i = 0; i < again_.size();) {
    if (again_[i].at > context.now) {
      ++i;
      continue;
    }
    const OfferedStream stream = again_[i].stream;
    again_.erase(again_.begin() + static_cast<std::ptrdiff_t>(i));
    offer(context, stream);
  }
}

bool GrantPlane::advance_once(StepContext context) {
  bool stepped = false;
  const Instant edge = executor_.step(context, ended_);
  if (edge != edge_.at() && edge > context.now) {
    edge_.set(context, edge);
  }
  ended_.insert(ended_.end(), unwritten_.begin(), unwritten_.end());
  unwritten_.clear();
  for (const RowEnded& row : std::exchange(ended_, {})) {
    stepped = true;
    if (sender_) {
      note_ended(row);
      step_sender(context, row);
    }
  }
  executor_.take_tuned(tuned_);
  for (const TunedAhead& tuned : tuned_) {
    if (sender_) {
      stepped = true;
      step_sender(context, tuned);
    }
  }
  if (sender_ && sender_wake_ <= context.now) {
    stepped = true;
    step_sender(context, GrantTick{});
  }
  if (arbiter_ && arbiter_wake_ <= context.now) {
    stepped = true;
    step_arbiter(context, GrantTick{});
  }
  return stepped;
}

void GrantPlane::advance(StepContext context) {
  if (!is_on()) {
    return;
  }
  if (sender_) {
    offer_again(context);
    if (pass_at_.passed(context.now)) {
      pass_at_.forget();
      offer_all(context);
    }
  }
  for (int i = 0; i < kStepsInARow && advance_once(context); ++i) {
  }
  say_done(context);
  report_overdue(context);
  Instant next = std::min(sender_ ? sender_wake_ : kNever, arbiter_wake_);
  for (const Again& each : again_) {
    next = std::min(next, each.at);
  }
  if (next != wake_.at() || wake_.passed(context.now)) {
    wake_.set(context, next);
  }
}

/// A receiver that is closed because a laser may still be lit is closed for a reason that somebody must hear.
void GrantPlane::report_overdue(StepContext context) {
  const auto overdue = arbiter_->overdue();
  if (!overdue) {
    reported_overdue_.reset();
    overdue_since_ = kNever;
    return;
  }
  overdue_since_ = std::min(overdue_since_, context.now);
  if (reported_overdue_ == overdue || context.now < later(overdue_since_, kOverdueReported)) {
    return;
  }
  reported_overdue_ = overdue;
  envelopes_.warn(
      context,
      silent_alarm(
          *overdue,
          format_text("node {} was granted the receiver of node {} and has not said that it is dark again: nobody else "
                      "is granted it until then",
                      overdue->value, envelopes_.node.value)));
}

// --- what became of it ---------------------------------------------------------------------------------------------------

void GrantPlane::note_sent(StepContext context, const SendGrant& order) {
  const auto* request = std::get_if<StreamRequest>(&order.message);
  if (request == nullptr) {
    return;
  }
  Asked& asked = asked_[order.to.value];
  if (asked.number != request->number) {
    asked = {request->number, context.now, kNever};
  }
}

void GrantPlane::note_received(StepContext context, const GrantMessage& message) {
  const auto* queued = std::get_if<StreamQueued>(&message);
  const auto* grant = std::get_if<StreamGrant>(&message);
  if (queued == nullptr && grant == nullptr) {
    return;
  }
  const StreamId& stream = queued != nullptr ? queued->stream : grant->stream;
  const std::uint64_t number = queued != nullptr ? queued->number : grant->number;
  if (stream.destination.value >= asked_.size()) {
    return;
  }
  Asked& asked = asked_[stream.destination.value];
  if (asked.number == number) {
    asked.received = std::min(asked.received, context.now);
  }
}

void GrantPlane::note_ended(const RowEnded& ended) {
  const auto place =
      std::find_if(lit_.begin(), lit_.end(), [&](const GrantTimes& each) { return each.stream == ended.row.stream; });
  if (place == lit_.end()) {
    return;
  }
  const Duration lit = ended.dark_from - ended.lit_from - map()->timings.lock;
  place->lit_from = ended.lit_from;
  place->dark_from = ended.dark_from;
  for (std::size_t i = 0; i < left_.size(); ++i) {
    const OfferedStream& stream = map()->sends[i];
    if (stream.collective == ended.row.stream.collective && stream.destination == ended.row.stream.destination) {
      place->sent = Bytes{std::min({ended.row.bytes.count, bytes_in(lit, map()->timings.rate).count, left_[i].count})};
      left_[i].count -= place->sent.count;
    }
  }
  if (times_.size() < kTimesKept) {
    times_.push_back(*place);
  } else {
    ++counters_.times_lost;
  }
  lit_.erase(place);
}

std::vector<GrantTimes> GrantPlane::take_times() { return std::exchange(times_, {}); }

void GrantPlane::send_done(StepContext context) const { envelopes_.send(context, plan_->revision, CycleDone{1, 0}); }

void GrantPlane::repeat_done(StepContext context) {
  if (repeats_left_ > 0) {
    --repeats_left_;
    send_done(context);
  }
}

}  // namespace loom
