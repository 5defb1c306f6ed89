// LightModel: ground truth. Where the light of every transmitter is now, which receivers it reaches usably, and since when.
// Incremental: a laser's change re-traces that laser, a switch's change only the light that passes it. It shares no code with
// the planner or its verifier, and nothing that it judges ever reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/light.hpp"
#include "sim_backend/devices/optical_state.hpp"
#include "sim_backend/light/light_graph.hpp"

namespace loom {

/// One transmitter's light at one place.
struct Light {
  ElementId transmitter;
  Frequency frequency;
  FrequencyOffset half_width;
  Dbm power;
  bool clipped = false;
  bool operator==(const Light&) const = default;
};

/// Do the two spectra overlap?
constexpr bool overlap(const Light& a, const Light& b) {
  return magnitude(a.frequency - b.frequency).mhz < a.half_width.mhz + b.half_width.mhz;
}

/// One fibre on the way of a transmitter's light.
struct LightHop {
  FibreId fibre;
  Dbm power;  ///< at its far end
  bool clipped = false;
  bool operator==(const LightHop&) const = default;
};

/// A usable link as of now.
struct Reach {
  NodeId source;
  NodeId destination;
  ElementId transmitter;
  ElementId receiver;
  BitRate rate;
  auto operator<=>(const Reach& other) const { return receiver <=> other.receiver; }
  bool operator==(const Reach&) const = default;
};

class LightModel {
 public:
  /// Everything dark, rings cold, switches blocked. Precondition: the fabric is lawful and indexed.
  explicit LightModel(std::shared_ptr<const Fabric> fabric);

  /// What a device does from change.at on. Answers the transmitters whose light changed, in no particular but reproducible
  /// order; the span is good until the next call. Instants must not go back. A state of another kind than the device: a bug.
  std::span<const ElementId> apply(const OpticalChange& change);

  const Fabric& fabric() const { return graph_.fabric(); }
  const LightGraph& graph() const { return graph_; }
  std::span<const Light> lights_on(FibreId fibre) const { return on_fibre_[fibre.value]; }
  /// Depth first from the transmitter; empty: dark.
  std::span<const LightHop> path_of(ElementId transmitter) const { return traces_[trace_of_[transmitter.value]].hops; }
  /// The moving element that this light enters, if any.
  std::optional<ElementId> moving_port_on_path(ElementId transmitter) const {
    return traces_[trace_of_[transmitter.value]].moving;
  }
  /// The fibre on which this light meets itself, if any: it runs in a circle, or has come by two ways. What it adds to itself
  /// there is not followed on.
  std::optional<FibreId> meets_itself(ElementId transmitter) const {
    return traces_[trace_of_[transmitter.value]].meets_itself;
  }
  std::span<const ElementId> transmitters() const { return transmitters_; }

  /// The usable links now, ascending receiver: exactly one light at the receiver, its power within sensitivity..overload, its
  /// whole signal inside every passband on the way.
  std::vector<Reach> reached() const;
  /// Every window in which a link was usable, in the order of their ends, then the open ones (end = kNever) by receiver.
  /// A window begins when the receiver has acquired (acquisition_max after the light came); flight time is left out.
  LightTimeline timeline() const;

 private:
  struct Trace {
    std::vector<LightHop> hops;
    std::vector<ElementId> steered;  ///< steerable elements that this light enters
    std::optional<ElementId> moving;
    std::optional<FibreId> meets_itself;
    Frequency frequency;
    bool operator==(const Trace&) const = default;
  };
  struct Link {
    std::optional<Reach> reach;
    Instant since{};
  };
  /// Traces anew; true: something differs. Receivers whose light changed are marked.
  bool retrace(ElementId transmitter);
  void trace(ElementId transmitter, Trace& trace);
  void follow(Ray ray, FibreId first, Trace& trace);
  void emit(ElementId transmitter, const LaserLight& light);
  void retrace_through(ElementId element);
  void put(ElementId transmitter, const Trace& trace);
  void take(ElementId transmitter, const Trace& trace);
  void mark(FibreId fibre);
  void settle_links(Instant now);
  std::optional<Reach> reach_at(ElementId receiver) const;

  LightGraph graph_;
  std::vector<ElementId> transmitters_;
  std::vector<std::uint32_t> trace_of_;  ///< by element
  std::vector<Trace> traces_;
  std::vector<std::vector<Light>> on_fibre_;
  std::vector<std::vector<ElementId>> through_;  ///< by steerable element: whose light enters it
  std::vector<std::uint32_t> receiver_of_fibre_;
  std::vector<std::uint32_t> fibre_of_receiver_;  ///< by element
  std::vector<Link> links_;                       ///< by element (receivers only)
  LightTimeline closed_;

  // Memory of one call, kept to be re-used.
  Trace scratch_;
  Passage passage_;
  std::vector<LightHop> frontier_;
  std::vector<std::uint64_t> visited_;  ///< by fibre: the number of the trace that last ran through it
  std::uint64_t trace_number_ = 0;
  std::vector<ElementId> changed_;
  std::vector<ElementId> marked_receivers_;
};

/// What the light logs of one or more processes add up to; `changes` in any order.
LightTimeline timeline_of(std::shared_ptr<const Fabric> fabric, std::span<const OpticalChange> changes);

}  // namespace loom
