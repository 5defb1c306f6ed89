// SPDX-License-Identifier: Apache-2.0
// DeviceUnits: the devices of one agent, each with its driver, its claim, and at most one transaction outstanding. It is the
// only place that calls stage(), fire(), poll() and step(), and the gate that no light passes while it is barred. It decides
// nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "agents/commit/deadline.hpp"
#include "agents/devices/claims.hpp"
#include "agents/devices/driver_figures.hpp"
#include "agents/devices/edge_lines.hpp"
#include "core/fabric/fabric.hpp"
#include "core/step.hpp"
#include "drivers/driver.hpp"

namespace loom {

/// How the setpoint that was aimed at last is coming along.
enum class Progress : std::uint8_t { none, under_way, proven, failed };

/// What an event of a device led to.
enum class DeviceNews : std::uint8_t {
  foreign,      ///< nobody here waits for it
  goes_on,      ///< its driver is still busy: nothing has changed for anybody else
  came_to_rest  ///< or may have, or has gone dark: whoever waits for it looks
};

/// What a device plays since it was applied, so that an equal plan leaves it alone.
struct Programme {
  std::shared_ptr<const NodePlan> plan;
  const DevicePlan* device = nullptr;  ///< in `plan`; null: none
};

struct DeviceUnit {
  const Device* device = nullptr;
  bool steers = false;  ///< light of other agents can pass it (Fabric::steers_others): it moves in everybody's dark
  std::unique_ptr<Driver> driver;
  Claim claim;
  std::optional<Setpoint> commanded;  ///< fired last; empty: nothing since start
  Progress progress = Progress::none;
  Programme programme;
  bool polling = false;
  bool preparing = false;       ///< its device is being made to hold a setpoint ready
  bool holds_prepared = false;  ///< it may hold one that was not shown
  std::optional<TransactionId> outstanding;
  Instant wake = kNever;
  Instant fired_at{};
  Instant polled_at{};
  Instant proven_at{};
  bool is_dark = false;           ///< what was commanded last has its light off, proven, while it is under way
  bool fresh = false;             ///< came to rest since the last forget_fresh()
  bool known_failed = false;      ///< its alarm was raised
  std::uint32_t writes = 0;       ///< transactions since start that were not plain register reads
  std::vector<RingLock> locks{};  ///< of a bank, ascending channel: what is added to `commanded` where that has a ring locked
  std::vector<RingLock> aside{};  ///< likewise, those of `locks` that stand elsewhere for a look; empty: none
  std::unique_ptr<Observation> resting{};  ///< of a bank, before its lock looked at it
  std::size_t figures = 0;                 ///< of its model: index in DeviceUnits::figures()

  bool is_laser() const { return device->role == DeviceRole::transmitter; }
  bool is_proven(const Setpoint& setpoint) const { return progress == Progress::proven && commanded == setpoint; }
  bool is_under_way_to(const Setpoint& setpoint) const { return progress == Progress::under_way && commanded == setpoint; }
};

class DeviceUnits {
 public:
  /// `drivers`: in the order of fabric.devices_of_agent[node].
  DeviceUnits(std::shared_ptr<const Fabric> fabric, NodeId node, std::vector<std::unique_ptr<Driver>> drivers,
              std::vector<EdgeLine> edges = {});

  std::size_t size() const { return units_.size(); }
  const Fabric& fabric() const { return *fabric_; }
  const DeviceUnit& operator[](std::size_t index) const { return units_[index]; }
  std::optional<std::size_t> index_of(DeviceId device) const;

  [[nodiscard]] bool take(std::size_t index, Activity activity);
  void release(std::size_t index, Activity activity) { units_[index].claim.release(activity); }
  void keep_programme(std::size_t index, Programme programme) { units_[index].programme = std::move(programme); }
  /// Somebody else made the device what it shall be: from now on that is what it was told last.
  void keep_as_found(std::size_t index, const Setpoint& setpoint, Programme programme);
  void forget_fresh(std::size_t index) { units_[index].fresh = false; }

  /// While barred every setpoint is darkened before it is staged, whoever asks.
  void bar_light(bool barred) { light_barred_ = barred; }

  /// What blank means here: the last setpoint darkened; of a laser that is dark already, or was told nothing yet, the frequency
  /// where it is seen to stand; else the first lawful one.
  Setpoint dark(std::size_t index) const;
  /// Stages, fires and hands out the first transaction. Precondition: `activity` owns the lane, the driver's check() was ok;
  /// what light passes is aimed by a commit alone, or is read to be as the setpoint says. Real-time safe for lasers as far as
  /// this side goes: a Transaction's bytes are the driver's.
  void command(StepContext context, std::size_t index, Activity activity, const Setpoint& setpoint);
  /// Moves rings of a bank from where its setpoint puts them, while light passes: those of `aside` for a look, all others of
  /// `locks` to where they are held. Precondition: Activity::lock owns the lane; the bank is at rest as commanded; both ascend
  /// and stay within what heaters can do; `aside` has no channel that `locks` has not.
  void trim(StepContext context, std::size_t index, std::vector<RingLock> locks, std::vector<RingLock> aside);
  /// What its driver last saw, and what its rings were moved by. Of a bank that its lock looks at: as it was before that, since
  /// a reading may be of another trim than the one that is on its way. Whoever takes it from there sees where it stands, and
  /// what is commanded then puts its rings where they are held.
  Observation observe(std::size_t index) const;
  /// The lines whose edges fire what devices hold ready. An edge that was asked for is taken back when its device is commanded,
  /// or what it holds ready is overwritten.
  EdgeLines& edges() const { return *edges_; }
  /// Makes the device hold the setpoint ready (Driver::prepare); null: what it was made to hold is overwritten. Moves nothing.
  /// Precondition: can_prepare(), the driver's check() was ok.
  void prepare(StepContext context, std::size_t index, const Setpoint* next);
  /// Reads the device when nothing else is under way there.
  void poll(StepContext context, std::size_t index);
  DeviceNews replied(StepContext context, const BusReplied& event);
  /// The timer of a device's wake; foreign: it is another's.
  DeviceNews woke(StepContext context, TimerId timer);
  /// Steps every driver whose wake has come.
  void advance(StepContext context);

  /// DeviceUnits whose driver gave up since the last call. Empty, and without allocation, in good times.
  std::vector<std::size_t> take_new_failures();
  /// One a model that there is a device of here.
  const std::vector<DriverFigures>& figures() const { return figures_; }

 private:
  DeviceNews pump(StepContext context, std::size_t index, const BusReply* reply);
  DeviceNews judge(StepContext context, std::size_t index);

  std::shared_ptr<const Fabric> fabric_;
  std::vector<DeviceUnit> units_;
  std::vector<std::size_t> new_failures_;
  std::uint64_t transactions_ = 0;  ///< that were handed out
  Instant first_wake_ = kNever;     ///< no driver is to be woken before
  std::vector<DriverFigures> figures_;
  std::unique_ptr<EdgeLines> edges_;
  bool light_barred_ = false;
};

void release_all(DeviceUnits& units, Activity activity);
/// Transactions since start that were not plain register reads (a frame counts: only its driver knows what it does).
std::uint64_t writes_of(const DeviceUnits& units);

}  // namespace loom
