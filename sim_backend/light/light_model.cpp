// Tracing, and the book of what is where. A trace that comes out as before touches no book.
#include "sim_backend/light/light_model.hpp"

#include <algorithm>
#include <utility>

namespace loom {
namespace {

/// Weaker light than this is not followed on: 20 dB under "no light".
constexpr Dbm kLostLight{-6000};

constexpr ElementId kNoElement{LightGraph::kNone};

void remove_one(std::vector<ElementId>& list, ElementId element) {
  const auto found = std::find(list.begin(), list.end(), element);
  LOOM_ASSERT(found != list.end());
  *found = list.back();
  list.pop_back();
}

}  // namespace

LightModel::LightModel(std::shared_ptr<const Fabric> fabric) : graph_(std::move(fabric)) {
  const Fabric& built = graph_.fabric();
  trace_of_.assign(built.elements.size(), LightGraph::kNone);
  fibre_of_receiver_.assign(built.elements.size(), LightGraph::kNone);
  through_.resize(built.elements.size());
  links_.resize(built.elements.size());
  on_fibre_.resize(built.fibres.size());
  visited_.resize(built.fibres.size());
  receiver_of_fibre_.assign(built.fibres.size(), LightGraph::kNone);
  for (const Element& element : built.elements) {
    if (std::holds_alternative<Transmitter>(element.kind)) {
      trace_of_[element.id.value] = static_cast<std::uint32_t>(traces_.size());
      traces_.emplace_back();
      transmitters_.push_back(element.id);
    }
  }
  for (const Fibre& fibre : built.fibres) {
    if (std::holds_alternative<Receiver>(built.element(fibre.to.element).kind)) {
      receiver_of_fibre_[fibre.id.value] = fibre.to.element.value;
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
        graph_.set_ring(elements[i], rings->resonances[i]);
        retrace_through(elements[i]);
      }
    }
  } else if (const auto* wss = std::get_if<WssLight>(&change.state)) {
    graph_.set_routes(elements.front(), wss->routes, wss->moving);
    retrace_through(elements.front());
  } else if (const auto* ocs = std::get_if<OcsLight>(&change.state)) {
    graph_.set_connects(elements.front(), ocs->connects, ocs->moving);
    retrace_through(elements.front());
  }
  settle_links(change.at);
  return changed_;
}

void LightModel::emit(ElementId transmitter, const LaserLight& light) {
  const bool emitting = light.emitting && light.power > kNoLight;
  const LaserEmission emission = emitting ? LaserEmission{true, light.frequency, light.power} : LaserEmission{};
  if (graph_.emission(transmitter) == emission) {
    return;
  }
  graph_.set_emission(transmitter, emission);
  if (retrace(transmitter)) {
    changed_.push_back(transmitter);
  }
}

void LightModel::retrace_through(ElementId element) {
  const std::vector<ElementId> passing = through_[element.value];  // retracing edits the list
  for (const ElementId transmitter : passing) {
    if (retrace(transmitter)) {
      changed_.push_back(transmitter);
    }
  }
}

bool LightModel::retrace(ElementId transmitter) {
  trace(transmitter, scratch_);
  Trace& current = traces_[trace_of_[transmitter.value]];
  if (scratch_ == current) {
    return false;
  }
  take(transmitter, current);
  std::swap(current, scratch_);
  put(transmitter, current);
  return true;
}

void LightModel::trace(ElementId transmitter, Trace& trace) {
  trace.hops.clear();
  trace.steered.clear();
  trace.moving.reset();
  trace.meets_itself.reset();
  const LaserEmission& emission = graph_.emission(transmitter);
  trace.frequency = emission.emitting ? emission.frequency : Frequency{};
  const std::uint32_t fibre = graph_.fibre_at_output(transmitter, 0);
  if (!emission.emitting || fibre == LightGraph::kNone) {
    return;
  }
  const auto& kind = std::get<Transmitter>(fabric().element(transmitter).kind);
  follow({emission.frequency, {kind.signal_width.mhz / 2}, emission.power, false}, FibreId{fibre}, trace);
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
    const Fibre& fibre = fabric().fibres[hop.fibre.value];
    hop.power = hop.power - fibre.loss;
    if (hop.power < kLostLight) {
      continue;
    }
    trace.hops.push_back(hop);
    ray.power = hop.power;
    ray.clipped = hop.clipped;
    graph_.pass(fibre.to.element, fibre.to.port, ray, passage_);
    if (graph_.is_steerable(fibre.to.element) &&
        std::find(trace.steered.begin(), trace.steered.end(), fibre.to.element) == trace.steered.end()) {
      trace.steered.push_back(fibre.to.element);
    }
    if (passage_.into_moving_port) {
      trace.moving = fibre.to.element;
    }
    for (const Exit& exit : passage_.exits) {
      const std::uint32_t next = graph_.fibre_at_output(fibre.to.element, exit.output);
      if (next != LightGraph::kNone) {
        frontier_.push_back({FibreId{next}, exit.power, exit.clipped});
      }
    }
  }
}

void LightModel::put(ElementId transmitter, const Trace& trace) {
  if (trace.hops.empty()) {
    return;
  }
  const FrequencyOffset half_width{std::get<Transmitter>(fabric().element(transmitter).kind).signal_width.mhz / 2};
  for (const LightHop& hop : trace.hops) {
    on_fibre_[hop.fibre.value].push_back({transmitter, trace.frequency, half_width, hop.power, hop.clipped});
    mark(hop.fibre);
  }
  for (const ElementId element : trace.steered) {
    through_[element.value].push_back(transmitter);
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
  for (const ElementId element : trace.steered) {
    remove_one(through_[element.value], transmitter);
  }
}

void LightModel::mark(FibreId fibre) {
  const ElementId receiver{receiver_of_fibre_[fibre.value]};
  if (receiver != kNoElement &&
      std::find(marked_receivers_.begin(), marked_receivers_.end(), receiver) == marked_receivers_.end()) {
    marked_receivers_.push_back(receiver);
  }
}

std::optional<Reach> LightModel::reach_at(ElementId receiver) const {
  const std::vector<Light>& lights = on_fibre_[fibre_of_receiver_[receiver.value]];
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
  const BitRate rate = std::get<Transmitter>(fabric().element(light.transmitter).kind).rate;
  return Reach{*source, *destination, light.transmitter, receiver, rate};
}

void LightModel::settle_links(Instant now) {
  for (const ElementId receiver : marked_receivers_) {
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
  marked_receivers_.clear();
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

}  // namespace loom
