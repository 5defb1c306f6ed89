// SPDX-License-Identifier: Apache-2.0
// Tracing, and the book of what is where. A trace that comes out as before touches no book.
#include "sim_backend/light/light_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace loom {
namespace {

/// Weaker light than this is not followed on: 20 dB under "no light".
constexpr Dbm kLostLight{-6000};
/// Light that has leaked twice is 60 dB and more below a signal; a third time it is below anything that counts.
constexpr std::uint32_t kLeaksFollowed = 2;
/// Of one transmitter. Only a circle of fibres that gains more than it loses has so many.
constexpr std::uint32_t kLeakHopsMax = 65'536;

template <class Row>
void remove_one(std::vector<Row>& list, const Row& row) {
  const auto found = std::find(list.begin(), list.end(), row);
  LOOM_ASSERT(found != list.end());
  *found = list.back();
  list.pop_back();
}

}  // namespace

Femtowatts femtowatts_of(Dbm power) { return std::llround(1e12 * std::pow(10.0, power.centi / 1000.0)); }

LightModel::LightModel(std::shared_ptr<const Fabric> fabric) : graph_(std::move(fabric)) {
  const Fabric& built = graph_.fabric();
  trace_of_.assign(built.elements.size(), LightGraph::kNone);
  fibre_of_receiver_.assign(built.elements.size(), LightGraph::kNone);
  through_.resize(built.elements.size());
  leaks_at_.resize(built.elements.size());
  is_receiver_.resize(built.elements.size());
  is_marked_.resize(built.elements.size());
  links_.resize(built.elements.size());
  on_fibre_.resize(built.fibres.size());
  visited_.resize(built.fibres.size());
  for (const Element& element : built.elements) {
    if (std::holds_alternative<Transmitter>(element.kind)) {
      trace_of_[element.id.value] = static_cast<std::uint32_t>(traces_.size());
      traces_.emplace_back();
      transmitters_.push_back(element.id);
    } else if (std::holds_alternative<Receiver>(element.kind)) {
      is_receiver_[element.id.value] = true;
      receivers_.push_back(element.id);
    }
  }
  for (const Fibre& fibre : built.fibres) {
    if (is_receiver_[fibre.to.element.value]) {
      fibre_of_receiver_[fibre.to.element.value] = fibre.id.value;
    }
  }
}

std::span<const ElementId> LightModel::apply(const OpticalChange& change) {
  changed_.clear();
  const std::vector<ElementId>& elements = fabric().device(change.device).elements;
  if (const auto* laser = std::get_if<LaserLight>(&change.state)) {
    emit(elements.front(), *laser);
  } else if (const auto* rings = std::get_if<RingLight>(&change.state)) {
    LOOM_ASSERT(rings->resonances.size() == elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (graph_.resonance(elements[i]) != rings->resonances[i]) {
        steer(elements[i], [&] { graph_.set_ring(elements[i], rings->resonances[i]); });
      }
    }
  } else if (const auto* wss = std::get_if<WssLight>(&change.state)) {
    steer(elements.front(), [&] { graph_.set_routes(elements.front(), wss->routes, wss->moving); });
  } else if (const auto* ocs = std::get_if<OcsLight>(&change.state)) {
    steer(elements.front(), [&] { graph_.set_connects(elements.front(), ocs->connects, ocs->moving); });
  } else if (const auto* stage = std::get_if<GainLight>(&change.state)) {
    steer(elements.front(), [&] { graph_.set_gain(elements.front(), stage->gain); });
  }
  settle_links(change.at);
  return changed_;
}

std::span<const ElementId> LightModel::set_fibres(Instant now, std::span<const std::pair<FibreId, FibreId>> exchanged,
                                                  std::span<const std::pair<FibreId, Db>> losses) {
  graph_.set_excess_losses(losses);
  changed_.clear();
  std::vector<PortRef> ends;
  for (const Fibre& fibre : fabric().fibres) {
    ends.push_back(fibre.to);
  }
  for (const auto& [a, b] : exchanged) {
    std::swap(ends[a.value], ends[b.value]);
  }
  std::vector<FibreId> moved;
  for (const Fibre& fibre : fabric().fibres) {
    if (graph_.end_of(fibre.id) != ends[fibre.id.value]) {
      moved.push_back(fibre.id);
      mark(fibre.id);
      graph_.plug(fibre.id, ends[fibre.id.value]);
      mark(fibre.id);
    }
  }
  for (const Fibre& fibre : fabric().fibres) {
    if (const ElementId end = graph_.end_of(fibre.id).element; is_receiver_[end.value]) {
      fibre_of_receiver_[end.value] = fibre.id.value;
    }
  }
  for (const ElementId transmitter : transmitters_) {
    retrace(transmitter);
  }
  for (const FibreId fibre : moved) {
    for (const Light& light : lights_on(fibre)) {  // on the same fibres as before, which end elsewhere
      if (std::find(changed_.begin(), changed_.end(), light.transmitter) == changed_.end()) {
        changed_.push_back(light.transmitter);
      }
    }
  }
  settle_links(now);
  return changed_;
}

void LightModel::emit(ElementId transmitter, const LaserLight& light) {
  const bool emitting = light.emitting && light.power > kNoLight;
  const LaserEmission emission = emitting ? LaserEmission{true, light.frequency, light.power} : LaserEmission{};
  if (graph_.emission(transmitter) == emission) {
    return;
  }
  graph_.set_emission(transmitter, emission);
  retrace(transmitter);
}

LightModel::Outcome LightModel::outcome_of(ElementId element, const Passing& passing) {
  const auto& kind = std::get<Transmitter>(fabric().element(passing.transmitter).kind);
  const Ray ray{graph_.emission(passing.transmitter).frequency, {kind.signal_width.mhz / 2}, Dbm{0}, false};
  graph_.pass(element, passing.input, ray, passage_);
  Outcome outcome;
  outcome.moving = passage_.into_moving_port;
  if (!passage_.exits.empty()) {
    const Exit& exit = passage_.exits.front();  // what can be steered sends a ray one way
    outcome.output = exit.output;
    outcome.loss = ray.power - exit.power;
    outcome.clipped = exit.clipped;
  }
  return outcome;
}

template <class Set>
void LightModel::steer(ElementId element, Set set) {
  outcomes_.clear();
  for (const Passing& passing : through_[element.value]) {
    outcomes_.push_back(outcome_of(element, passing));
  }
  set();
  to_retrace_.clear();
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const Passing& passing = through_[element.value][i];
    if (outcome_of(element, passing) != outcomes_[i]) {
      to_retrace_.push_back(passing.transmitter);
    }
  }
  for (const ElementId transmitter : to_retrace_) {
    retrace(transmitter);
  }
}

void LightModel::retrace(ElementId transmitter) {
  trace(transmitter, scratch_);
  Trace& current = traces_[trace_of_[transmitter.value]];
  if (scratch_ == current) {
    return;
  }
  const bool moved = scratch_.hops != current.hops || scratch_.moving != current.moving ||
                     scratch_.meets_itself != current.meets_itself || scratch_.frequency != current.frequency;
  take(transmitter, current);
  std::swap(current, scratch_);
  put(transmitter, current);
  if (moved) {
    changed_.push_back(transmitter);
  }
}

void LightModel::trace(ElementId transmitter, Trace& trace) {
  trace.hops.clear();
  trace.entries.clear();
  trace.leaks.clear();
  trace.moving.clear();
  trace.meets_itself.reset();
  const LaserEmission& emission = graph_.emission(transmitter);
  trace.frequency = emission.emitting ? emission.frequency : Frequency{};
  const std::uint32_t fibre = graph_.fibre_at_output(transmitter, 0);
  if (!emission.emitting || fibre == LightGraph::kNone) {
    return;
  }
  const auto& kind = std::get<Transmitter>(fabric().element(transmitter).kind);
  const Ray ray{emission.frequency, {kind.signal_width.mhz / 2}, emission.power, false};
  leaking_.clear();
  follow(ray, FibreId{fibre}, trace);
  follow_leaks(ray, trace);
}

void LightModel::follow(Ray ray, FibreId first, Trace& trace) {
  ++trace_number_;
  frontier_.clear();
  frontier_.push_back({first, ray.power, false});
  while (!frontier_.empty()) {
    LightHop hop = frontier_.back();
    frontier_.pop_back();
    if (visited_[hop.fibre.value] == trace_number_) {
      trace.meets_itself = hop.fibre;  // round a ring that drops it nowhere
      continue;
    }
    visited_[hop.fibre.value] = trace_number_;
    hop.power = hop.power - graph_.loss_of(hop.fibre);
    if (hop.power < kLostLight) {
      continue;
    }
    const auto here = static_cast<std::uint32_t>(trace.hops.size());
    trace.hops.push_back(hop);
    const PortRef to = graph_.end_of(hop.fibre);
    ray.power = hop.power;
    ray.clipped = hop.clipped;
    graph_.pass(to.element, to.port, ray, passage_);
    if (graph_.is_steerable(to.element)) {
      trace.entries.push_back({to.element, to.port});
    }
    if (passage_.into_moving_port) {
      trace.moving.push_back(hop.fibre);
    }
    for (const Exit& exit : passage_.exits) {
      const std::uint32_t next = graph_.fibre_at_output(to.element, exit.output);
      if (next != LightGraph::kNone) {
        frontier_.push_back({FibreId{next}, exit.power, exit.clipped, here});
      }
    }
    begin_leaks(to.element, ray, 0);
  }
}

/// After pass() of the same ray.
void LightModel::begin_leaks(ElementId element, const Ray& ray, std::uint32_t crossed) {
  if (!graph_.leaks(element)) {
    return;
  }
  graph_.leak(element, ray, passage_);
  for (const Exit& leak : passage_.leaks) {
    if (leak.power >= kLostLight) {
      leaking_.push_back({FibreId{graph_.fibre_at_output(element, leak.output)}, leak.power, crossed + 1});
    }
  }
}

/// Leaks that come to a receiver by several ways add up there.
void LightModel::follow_leaks(Ray ray, Trace& trace) {
  for (std::uint32_t hops = 0; !leaking_.empty() && hops < kLeakHopsMax; ++hops) {
    const LeakHop hop = leaking_.back();
    leaking_.pop_back();
    ray.power = hop.power - graph_.loss_of(hop.fibre);
    if (ray.power < kLostLight) {
      continue;
    }
    const PortRef to = graph_.end_of(hop.fibre);
    if (is_receiver_[to.element.value]) {
      trace.leaks.push_back({to.element, femtowatts_of(ray.power)});
      continue;
    }
    graph_.pass(to.element, to.port, ray, passage_);
    if (graph_.is_steerable(to.element)) {
      trace.entries.push_back({to.element, to.port});
    }
    for (const Exit& exit : passage_.exits) {
      const std::uint32_t next = graph_.fibre_at_output(to.element, exit.output);
      if (next != LightGraph::kNone) {
        leaking_.push_back({FibreId{next}, exit.power, hop.crossed});
      }
    }
    if (hop.crossed < kLeaksFollowed) {
      begin_leaks(to.element, ray, hop.crossed);
    }
  }
}

void LightModel::put(ElementId transmitter, const Trace& trace) {
  const FrequencyOffset half_width{std::get<Transmitter>(fabric().element(transmitter).kind).signal_width.mhz / 2};
  for (const LightHop& hop : trace.hops) {
    on_fibre_[hop.fibre.value].push_back({transmitter, trace.frequency, half_width, hop.power, hop.clipped});
    mark(hop.fibre);
  }
  for (const Entry& entry : trace.entries) {
    through_[entry.element.value].push_back({transmitter, entry.input});
  }
  for (const LeakEnd& leak : trace.leaks) {
    leaks_at_[leak.receiver.value].push_back({transmitter, leak.power});
    mark(leak.receiver);
  }
}

void LightModel::take(ElementId transmitter, const Trace& trace) {
  for (const LightHop& hop : trace.hops) {
    std::vector<Light>& lights = on_fibre_[hop.fibre.value];
    const auto found =
        std::find_if(lights.begin(), lights.end(), [&](const Light& light) { return light.transmitter == transmitter; });
    LOOM_ASSERT(found != lights.end());
    *found = lights.back();
    lights.pop_back();
    mark(hop.fibre);
  }
  for (const Entry& entry : trace.entries) {
    remove_one(through_[entry.element.value], Passing{transmitter, entry.input});
  }
  for (const LeakEnd& leak : trace.leaks) {
    remove_one(leaks_at_[leak.receiver.value], Leak{transmitter, leak.power});
    mark(leak.receiver);
  }
}

void LightModel::mark(FibreId fibre) {
  if (const ElementId end = graph_.end_of(fibre).element; is_receiver_[end.value]) {
    mark(end);
  }
}

void LightModel::mark(ElementId receiver) {
  if (!is_marked_[receiver.value]) {
    is_marked_[receiver.value] = true;
    marked_receivers_.push_back(receiver);
  }
}

Femtowatts LightModel::leaked(ElementId receiver) const {
  Femtowatts sum = 0;
  for (const Leak& leak : leaks_at_[receiver.value]) {
    sum += leak.power;
  }
  return sum;
}

std::optional<FibreId> LightModel::fibre_into(ElementId receiver) const {
  const std::uint32_t fibre = fibre_of_receiver_[receiver.value];
  return fibre == LightGraph::kNone ? std::nullopt : std::optional{FibreId{fibre}};
}

std::span<const Light> LightModel::lights_at(ElementId receiver) const {
  const auto fibre = fibre_into(receiver);
  return fibre ? std::span<const Light>{on_fibre_[fibre->value]} : std::span<const Light>{};
}

std::optional<Reach> LightModel::reach_at(ElementId receiver) const {
  const std::span<const Light> lights = lights_at(receiver);
  if (lights.size() != 1) {
    return std::nullopt;
  }
  const Light& light = lights.front();
  const auto& kind = std::get<Receiver>(fabric().element(receiver).kind);
  const std::optional<NodeId> source = fabric().node_of_element[light.transmitter.value];
  const std::optional<NodeId> destination = fabric().node_of_element[receiver.value];
  if (light.clipped || light.power < kind.sensitivity || light.power > kind.overload || !source || !destination) {
    return std::nullopt;
  }
  if (!leaks_at_[receiver.value].empty() &&
      leaked(receiver) > femtowatts_of(light.power + kCrosstalkBorne + kCrosstalkRounding)) {
    return std::nullopt;
  }
  const BitRate rate = std::get<Transmitter>(fabric().element(light.transmitter).kind).rate;
  return Reach{*source, *destination, light.transmitter, receiver, rate};
}

void LightModel::settle_links(Instant now) {
  settled_receivers_.swap(marked_receivers_);
  marked_receivers_.clear();
  for (const ElementId receiver : settled_receivers_) {
    is_marked_[receiver.value] = false;
    Link& link = links_[receiver.value];
    std::optional<Reach> reach = reach_at(receiver);
    if (reach == link.reach) {
      continue;
    }
    if (link.reach && link.since < now) {
      closed_.push_back({link.reach->source, link.reach->destination, link.since, now, link.reach->rate,
                         link.reach->transmitter, link.reach->receiver});
    }
    link.reach = reach;
    link.since = now + std::get<Receiver>(fabric().element(receiver).kind).acquisition_max;
  }
}

std::vector<Reach> LightModel::reached() const {
  std::vector<Reach> reaches;
  for (const Link& link : links_) {
    if (link.reach) {
      reaches.push_back(*link.reach);
    }
  }
  return reaches;
}

LightTimeline LightModel::timeline() const {
  LightTimeline windows = closed_;
  for (const Link& link : links_) {
    if (link.reach) {
      windows.push_back({link.reach->source, link.reach->destination, link.since, kNever, link.reach->rate,
                         link.reach->transmitter, link.reach->receiver});
    }
  }
  return windows;
}

LightTimeline timeline_of(std::shared_ptr<const Fabric> fabric, std::span<const OpticalChange> changes) {
  std::vector<std::pair<Instant, std::size_t>> order;  // equal instants keep the order of their logs
  order.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    order.emplace_back(changes[i].at, i);
  }
  std::sort(order.begin(), order.end());
  LightModel model(std::move(fabric));
  for (const auto& [at, index] : order) {
    model.apply(changes[index]);
  }
  return model.timeline();
}

std::vector<ArrivingLight> arriving_at(const LightModel& light, PortRef input) {
  std::vector<ArrivingLight> arriving;
  const Fabric& fabric = light.fabric();
  std::optional<FibreId> fibre = fabric.fibre_in[input.element.value][input.port];
  if (fibre && light.graph().end_of(*fibre) != input) {  // it is plugged elsewhere: whatever is plugged here counts
    const auto here =
        std::ranges::find_if(fabric.fibres, [&](const Fibre& each) { return light.graph().end_of(each.id) == input; });
    fibre = here == fabric.fibres.end() ? std::nullopt : std::optional(here->id);
  }
  for (const Light& each : fibre ? light.lights_on(*fibre) : std::span<const Light>{}) {
    arriving.push_back({each.frequency, each.power});
  }
  const bool is_receiver = std::holds_alternative<Receiver>(fabric.element(input.element).kind);
  for (const Leak& leak : is_receiver ? light.leaks_at(input.element) : std::span<const Leak>{}) {
    if (leak.power > 0) {
      const double milliwatt = static_cast<double>(leak.power) * 1e-12;
      arriving.push_back({light.graph().emission(leak.transmitter).frequency, to_dbm(Milliwatt{milliwatt})});
    }
  }
  std::ranges::sort(arriving, [](const ArrivingLight& a, const ArrivingLight& b) {
    return a.power != b.power ? a.power > b.power : a.frequency < b.frequency;
  });
  return arriving;
}

}  // namespace loom
