// SPDX-License-Identifier: Apache-2.0
// LightModel: ground truth. Where the light of every transmitter is now, which receivers it reaches usably, and since when.
// Incremental: a laser's change re-traces that laser, a switch's change only the light that passes it. It shares no code with
// the planner or its verifier, and nothing that it judges ever reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/fabric/light.hpp"
#include "sim_backend/devices/light_observer.hpp"
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
  std::uint32_t from = LightGraph::kNone;  ///< the hop before it on the same path; none: it leaves the transmitter
  bool operator==(const LightHop&) const = default;
};

/// Power in 1e-15 W: whole numbers, so that a sum of many that come and go is exact.
using Femtowatts = std::int64_t;
Femtowatts femtowatts_of(Dbm power);

/// What one transmitter's light leaves at a receiver that it was not let through to.
struct Leak {
  ElementId transmitter;
  Femtowatts power = 0;
  bool operator==(const Leak&) const = default;
};

/// Summed crosstalk that a receiver still bears, over its signal: at -20 dB a PAM4 receiver of 100G is lost
/// (docs/systems/oddl.md#two-time-scales).
inline constexpr Db kCrosstalkBorne{-2000};
/// Powers here are rounded to 0.01 dB at each of at most a few dozen elements; a plan at its limit is not to be blamed for
/// that.
inline constexpr Db kCrosstalkRounding{10};

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
  /// From `now` on the far ends of these pairs of fibres are exchanged, in this order, and of no others; and these fibres lose
  /// so much more than the fabric says, and no others do: of one that is named twice both count, and kCut or more means that
  /// what enters it does not leave it. Answers as apply.
  std::span<const ElementId> set_fibres(Instant now, std::span<const std::pair<FibreId, FibreId>> exchanged,
                                        std::span<const std::pair<FibreId, Db>> losses = {});

  const Fabric& fabric() const { return graph_.fabric(); }
  const LightGraph& graph() const { return graph_; }
  std::span<const Light> lights_on(FibreId fibre) const { return on_fibre_[fibre.value]; }
  /// Depth first from the transmitter; empty: dark.
  std::span<const LightHop> path_of(ElementId transmitter) const { return traces_[trace_of_[transmitter.value]].hops; }
  /// The fibres by which this light enters ports that move.
  std::span<const FibreId> moving_ports_on_path(ElementId transmitter) const {
    return traces_[trace_of_[transmitter.value]].moving;
  }
  /// The fibre on which this light meets itself, if any: it runs in a circle, or has come by two ways. What it adds to itself
  /// there is not followed on.
  std::optional<FibreId> meets_itself(ElementId transmitter) const {
    return traces_[trace_of_[transmitter.value]].meets_itself;
  }
  std::span<const ElementId> transmitters() const { return transmitters_; }
  std::span<const ElementId> receivers() const { return receivers_; }
  /// Receivers at which light or leaks changed by the last apply.
  std::span<const ElementId> receivers_changed() const { return settled_receivers_; }
  /// What reaches a receiver through closed ports: of a switch, a grating, a ring on resonance. In no particular order.
  std::span<const Leak> leaks_at(ElementId receiver) const { return leaks_at_[receiver.value]; }
  Femtowatts leaked(ElementId receiver) const;  ///< their sum
  /// The fibre that ends at a receiver; nothing if none does.
  std::optional<FibreId> fibre_into(ElementId receiver) const;
  /// Lights at a receiver (one: its signal).
  std::span<const Light> lights_at(ElementId receiver) const;

  /// The usable links now, ascending receiver: exactly one light at the receiver, its power within sensitivity..overload, its
  /// whole signal inside every passband on the way, and the sum of what leaks there not above kCrosstalkBorne.
  std::vector<Reach> reached() const;
  /// Every window in which a link was usable, in the order of their ends, then the open ones (end = kNever) by receiver.
  /// A window begins when the receiver has acquired (acquisition_max after the light came); flight time is left out.
  LightTimeline timeline() const;

 private:
  /// Where light, or what leaks of it, enters an element that can be steered.
  struct Entry {
    ElementId element;
    PortNumber input = 0;
    bool operator==(const Entry&) const = default;
  };
  struct Passing {
    ElementId transmitter;
    PortNumber input = 0;
    bool operator==(const Passing&) const = default;
  };
  struct LeakEnd {
    ElementId receiver;
    Femtowatts power = 0;
    bool operator==(const LeakEnd&) const = default;
  };
  struct LeakHop {
    FibreId fibre;
    Dbm power;
    std::uint32_t crossed = 0;  ///< closed ways so far
  };
  /// What a steerable element does with one transmitter's light.
  struct Outcome {
    std::int32_t output = -1;
    Db loss{0};
    bool clipped = false;
    bool moving = false;
    bool operator==(const Outcome&) const = default;
  };
  struct Trace {
    std::vector<LightHop> hops;
    std::vector<Entry> entries;
    std::vector<LeakEnd> leaks;
    std::vector<FibreId> moving;  ///< into ports that move
    std::optional<FibreId> meets_itself;
    Frequency frequency;
    bool operator==(const Trace&) const = default;
  };
  struct Link {
    std::optional<Reach> reach;
    Instant since{};
  };
  /// Traces anew. Receivers whose light or leaks changed are marked, and the transmitter is noted as changed if its light,
  /// not only what leaks of it, is elsewhere.
  void retrace(ElementId transmitter);
  void trace(ElementId transmitter, Trace& trace);
  void follow(Ray ray, FibreId first, Trace& trace);
  void follow_leaks(Ray ray, Trace& trace);
  void begin_leaks(ElementId element, const Ray& ray, std::uint32_t crossed);
  void emit(ElementId transmitter, const LaserLight& light);
  /// `set` sets the element; light with which it then does something else is traced again.
  template <class Set>
  void steer(ElementId element, Set set);
  Outcome outcome_of(ElementId element, const Passing& passing);
  void put(ElementId transmitter, const Trace& trace);
  void take(ElementId transmitter, const Trace& trace);
  void mark(FibreId fibre);
  void mark(ElementId receiver);
  void settle_links(Instant now);
  std::optional<Reach> reach_at(ElementId receiver) const;

  LightGraph graph_;
  std::vector<ElementId> transmitters_;
  std::vector<std::uint32_t> trace_of_;  ///< by element
  std::vector<Trace> traces_;
  std::vector<std::vector<Light>> on_fibre_;
  std::vector<std::vector<Passing>> through_;  ///< by steerable element: whose light enters it
  std::vector<std::vector<Leak>> leaks_at_;    ///< by element (receivers only)
  std::vector<ElementId> receivers_;
  std::vector<bool> is_receiver_;                 ///< by element
  std::vector<std::uint32_t> fibre_of_receiver_;  ///< by element
  std::vector<Link> links_;                       ///< by element (receivers only)
  LightTimeline closed_;

  // Memory of one call, kept to be re-used.
  Trace scratch_;
  Passage passage_;
  std::vector<LightHop> frontier_;
  std::vector<std::uint64_t> visited_;  ///< by fibre: the number of the trace that last ran through it
  std::uint64_t trace_number_ = 0;
  std::vector<LeakHop> leaking_;
  std::vector<Outcome> outcomes_;
  std::vector<ElementId> to_retrace_;
  std::vector<ElementId> changed_;
  std::vector<ElementId> marked_receivers_;
  std::vector<bool> is_marked_;  ///< by element
  std::vector<ElementId> settled_receivers_;
};

/// What comes to a receiver, leaks included, strongest first: what a monitor there can measure.
std::vector<ArrivingLight> arriving_at(const LightModel& light, PortRef input);

/// What the light logs of one or more processes add up to; `changes` in any order.
LightTimeline timeline_of(std::shared_ptr<const Fabric> fabric, std::span<const OpticalChange> changes);

}  // namespace loom
