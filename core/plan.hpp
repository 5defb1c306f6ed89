// SPDX-License-Identifier: Apache-2.0
// Plan: a schedule lowered to timed device setpoints, and its per-agent slices. A NodePlan is absolute (everything that the
// node's devices shall be), so that applying it twice is applying it once; `touched` says which devices go dark for it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/circuit.hpp"
#include "core/fabric/grid.hpp"
#include "core/grant.hpp"
#include "core/ids.hpp"
#include "core/messages/iteration.hpp"
#include "core/messages/one_of.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

struct Fabric;
struct Device;

struct TransmitterSetpoint {
  FrequencySlot slot;
  Dbm power{0};
  bool emit = false;
  bool operator==(const TransmitterSetpoint&) const = default;
};

/// Resonance wanted of each ring of a bank, by channel; rings not named are parked (heater off).
struct RingResonance {
  std::uint16_t channel = 0;
  Frequency resonance;
  std::optional<std::int32_t> drive{};  ///< mV that its calibration gives; none: as the fabric's figures of its kind have it
  bool locked = false;                  ///< its agent moves it to where most of its light drops, and keeps it there
  bool operator==(const RingResonance&) const = default;
};

struct FilterSetpoint {
  std::vector<RingResonance> rings;  ///< ascending channel
  bool operator==(const FilterSetpoint&) const = default;
};

/// One open media channel of a WSS; every slot that is not named is blocked.
struct WssRoute {
  FrequencySlot slot;
  std::uint16_t input = 0;
  std::uint16_t output = 0;
  Db attenuation{0};
  bool operator==(const WssRoute&) const = default;
};

struct WavelengthSwitchSetpoint {
  std::vector<WssRoute> routes;  ///< ascending (slot.n, input)
  bool operator==(const WavelengthSwitchSetpoint&) const = default;
};

/// One input to one output; an input that is not named is open.
struct CrossConnect {
  std::uint16_t input = 0;
  std::uint16_t output = 0;
  bool operator==(const CrossConnect&) const = default;
};

struct CircuitSwitchSetpoint {
  std::vector<CrossConnect> connects;  ///< ascending input
  bool operator==(const CircuitSwitchSetpoint&) const = default;
};

/// Of a gain stage that is off: its pump, or its shutter.
inline constexpr Db kGainOff{-10'000};

/// By how much an amplifier amplifies (0 or above) or an attenuator attenuates (0 or below) all light that passes it.
struct GainSetpoint {
  Db gain{0};  ///< beside the element's insertion loss; kGainOff: it passes nothing
  bool operator==(const GainSetpoint&) const = default;
};

/// A monitor only looks: there is nothing to set, and no plan touches it.
struct MonitorSetpoint {
  bool operator==(const MonitorSetpoint&) const = default;
};

using Setpoint =
    OneOf<TransmitterSetpoint, FilterSetpoint, WavelengthSwitchSetpoint, CircuitSwitchSetpoint, MonitorSetpoint, GainSetpoint>;

/// The same setpoint with every emission off: what "blank" means for it. Setpoints without light return themselves.
Setpoint darkened(const Setpoint& setpoint);
bool emits(const Setpoint& setpoint);
/// Of a device that nobody ever told anything: dark, cold, blocked, off.
Setpoint idle_setpoint(const Fabric& fabric, const Device& device);

/// From relight + offset: `guard` in which the device moves in the dark, then `hold` in which it may emit.
struct TimedSetpoint {
  Duration offset{};
  Duration guard{};
  Duration hold = kForever;
  Setpoint setpoint;
  bool operator==(const TimedSetpoint&) const = default;
};

struct DevicePlan {
  DeviceId device;
  bool touched = false;                 ///< its light goes out at T and returns at relight; or it may move while that is dark
  std::vector<TimedSetpoint> timeline;  ///< ascending offset; one entry with hold = kForever is static
  bool left_alone = false;              ///< it follows no order at present: its agent asks nothing of it for this revision
  /// Of a touched device that light passes: what it may hold when this plan finds it. Light that meets what differs between
  /// any of these and the timeline is dark for it; whatever else it is found to be, it does not move. Of a laser that is left
  /// alone and planned dark: light with which it may go on.
  std::vector<Setpoint> may_hold{};
  bool operator==(const DevicePlan&) const = default;
};

/// Which circuits end or begin here, for reports and for explain; every circuit carries its job.
struct CircuitEnd {
  CircuitId circuit;
  JobId job;
  bool transmits = false;
  bool operator==(const CircuitEnd&) const = default;
};

struct NodePlan {
  /// Of the plan that it was made for. A later one in which nothing of it changes, and that asks nothing of its agent, has it
  /// as it is.
  Revision revision;
  Revision base;  ///< the revision that `touched` was computed against
  NodeId node;
  Duration cycle{};                 ///< length of one pass over the timeslots; 0 = static
  std::uint32_t cycles = 1;         ///< 0 = until the next revision
  Duration compute_after{};         ///< of the model: from the end of the last cycle until the word that all were played
  std::vector<DevicePlan> devices;  ///< ascending device; every device of the agent
  std::vector<CircuitEnd> ends;
  /// Set: the timelines of the lasers that it names are wavelength sets. Their timeslots come in any order, each only under a
  /// grant.
  std::optional<GrantMap> grants{};
  /// Set: what is played is played once an iteration, and the nodes of the job agree on each beginning.
  std::optional<IterationPlan> iterations{};
  bool operator==(const NodePlan&) const = default;
};

/// The slices of all nodes, ascending node. Plans share those in which nothing changes: they are constant, and whoever edits
/// one has a copy of its own first.
class NodePlans {
  using Slices = std::vector<std::shared_ptr<NodePlan>>;

 public:
  using value_type = NodePlan;
  class const_iterator {
   public:
    using value_type = NodePlan;
    using difference_type = std::ptrdiff_t;
    using reference = const NodePlan&;
    using pointer = const NodePlan*;
    using iterator_category = std::random_access_iterator_tag;

    const_iterator() = default;
    explicit const_iterator(Slices::const_iterator at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    reference operator[](difference_type n) const { return *at_[n]; }
    const_iterator& operator++() { return *this += 1; }
    const_iterator& operator--() { return *this -= 1; }
    const_iterator operator++(int) { return const_iterator(at_++); }
    const_iterator operator--(int) { return const_iterator(at_--); }
    const_iterator& operator+=(difference_type n) { return at_ += n, *this; }
    const_iterator& operator-=(difference_type n) { return at_ -= n, *this; }
    friend const_iterator operator+(const_iterator it, difference_type n) { return it += n; }
    friend const_iterator operator+(difference_type n, const_iterator it) { return it += n; }
    friend const_iterator operator-(const_iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const_iterator a, const_iterator b) { return a.at_ - b.at_; }
    bool operator==(const const_iterator&) const = default;
    auto operator<=>(const const_iterator&) const = default;

   private:
    Slices::const_iterator at_;
  };

  NodePlans() = default;
  NodePlans(std::vector<NodePlan> slices) {
    for (NodePlan& slice : slices) {
      push_back(std::move(slice));
    }
  }

  const_iterator begin() const { return const_iterator(slices_.begin()); }
  const_iterator end() const { return const_iterator(slices_.end()); }
  std::size_t size() const { return slices_.size(); }
  bool empty() const { return slices_.empty(); }
  const NodePlan& operator[](std::size_t i) const { return *slices_[i]; }
  const NodePlan& front() const { return *slices_.front(); }
  const NodePlan& back() const { return *slices_.back(); }

  /// For writing; no other plan sees it.
  NodePlan& edit(std::size_t i);
  std::vector<std::reference_wrapper<NodePlan>> edit_all();
  void push_back(NodePlan slice) { slices_.push_back(std::make_shared<NodePlan>(std::move(slice))); }
  /// Slice i of another plan, as it is.
  void share(const NodePlans& other, std::size_t i) { slices_.push_back(other.slices_[i]); }
  bool shares(const NodePlans& other, std::size_t i) const { return slices_[i] == other.slices_[i]; }
  void reserve(std::size_t count) { slices_.reserve(count); }
  void resize(std::size_t count);
  void pop_back() { slices_.pop_back(); }
  bool operator==(const NodePlans& other) const;

 private:
  Slices slices_;
};

/// Whether an agent that plays `before` (null: nothing) goes on in the same way under `after`: cycle, passes, grants and
/// iterations are the same. What its devices hold is another question.
bool is_paced_alike(const NodePlan* before, const NodePlan& after);

/// The job whose light goes on at this node by the word of other nodes (grants, iterations), if there is one. Such light is
/// laid as a whole: who laid it is what all of these words name.
std::optional<JobId> whole_job_of(const NodePlan& node);

/// A plan's light at its worst, computed from the fabric's losses, gains and isolations; never a reading.
struct LightMargins {
  std::uint32_t circuits = 0;  ///< that were measured; 0: nothing is lit, and the rest means nothing
  Db link_margin{};            ///< least distance of a received power to its receiver's sensitivity or overload
  ElementId weakest;           ///< that receiver
  Db crosstalk{};              ///< highest sum of other light at a receiver, over its signal
  Db crosstalk_margin{};       ///< from there to the limit
  ElementId noisiest;          ///< that receiver
  std::uint32_t dipped = 0;    ///< untouched circuits through a WSS that reloads its hologram for this revision
  Db dip{};                    ///< deepest dip of one of them, the switches on its way summed
  Duration dip_time{};         ///< a dip lasts so long at most
  Db dip_margin{};             ///< least margin, link or crosstalk, of a dipped circuit while it dips
  bool operator==(const LightMargins&) const = default;
};

/// What may be said of who shares light with whom, and how much room that light has (the isolation certificate).
struct IsolationCertificate {
  bool wavelength_isolated = true;  ///< no shared wavelength x segment between jobs
  bool physically_isolated = true;  ///< no shared fibre or amplifier either
  std::vector<ElementId> shared_amplifiers;
  LightMargins light{};  ///< by verify; without circuits until it has judged
  bool operator==(const IsolationCertificate&) const = default;
};

struct Plan {
  Revision revision;
  Revision base;
  NodePlans nodes;                       ///< ascending node; every node of the fabric
  std::vector<Circuit> circuits;         ///< of every timeslot, ascending id
  std::vector<NodeId> changed;           ///< nodes whose agent must take part in this commit, ascending
  std::vector<DeviceId> moved_steering;  ///< devices that move in this revision and steer light of other agents, ascending
  std::vector<CircuitId> touched;        ///< circuits that go dark for it (old or new), ascending
  IsolationCertificate certificate;
};

/// Nothing is asked of its devices: none is touched.
bool is_at_rest(const NodePlan& slice);
/// Appends slice i of `before` at rest: as it is, or, if that revision asked something of its devices, without that.
void add_at_rest(const NodePlans& before, std::size_t i, Plan& plan);
/// The node's agent takes part in the commit of this plan, and receives its slice.
void take_part(NodeId node, Plan& plan);

/// WSS and circuit switches that a commit of this plan moves: a figure for people.
std::uint32_t switches_moved_by(const Plan& plan);

}  // namespace loom
