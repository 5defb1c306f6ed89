// SPDX-License-Identifier: Apache-2.0
// The offload seam of the fast plane. A GrantExecutor holds a node's GrantMap, takes rows and carries out their triggers: tune,
// light, dark. An FPGA or a NIC beside the laser is one more implementation; SoftwareExecutor does it through the laser's
// driver, on the agent's loop. It never lights outside a row and never decides who sends.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "agents/devices/device_units.hpp"
#include "agents/grant/arbiter.hpp"
#include "agents/grant/table.hpp"

namespace loom {

class GrantExecutor {
 public:
  virtual ~GrantExecutor() = default;
  /// Which wavelength leads where, and with which power. Whatever was loaded before is forgotten; everything is dark.
  /// `plan.grants` is set. Errors: invalid_argument (a laser that is not here, or a wavelength that its set lacks).
  virtual Result<void> load(const NodePlan& plan) = 0;
  /// Errors: conflict, out_of_range (see GrantTable), refused (the laser is another's now).
  virtual Result<void> write(const GrantRow& row) = 0;
  /// Brings a transmitter that has no row to a receiver's wavelength, dark. A wish: it may be too late, or never come true.
  virtual void pre_tune(StepContext context, const PreTuneRequest& request) = 0;
  /// Puts the wishes that have come true since the last call into `tuned`, whose storage it keeps for the next ones.
  virtual void take_tuned(std::vector<TunedAhead>& tuned) = 0;
  /// Carries out the triggers that have come and appends the rows that are over, each once it is proven dark. Returns when to
  /// step next. Real-time safe as far as lasers go.
  virtual Instant step(StepContext context, std::vector<RowEnded>& ended) = 0;
  /// Forgets every row and lets go of the lasers, which somebody else darkens.
  virtual void clear() = 0;
  /// Everything that it may light is proven dark.
  virtual bool is_dark() const = 0;
  /// by_itself: the triggers come although the agent has died.
  virtual LeaseEnd lease_end() const = 0;
};

/// Through the driver of each laser: its commands take what a bus takes, a row that is tuned late lights late, and a row ends
/// when its darkness is proven. It dies with its agent.
class SoftwareExecutor final : public GrantExecutor {
 public:
  explicit SoftwareExecutor(DeviceUnits& units) : units_(units) {}

  Result<void> load(const NodePlan& plan) override;
  Result<void> write(const GrantRow& row) override;
  void pre_tune(StepContext context, const PreTuneRequest& request) override;
  void take_tuned(std::vector<TunedAhead>& tuned) override {
    tuned.clear();
    std::swap(tuned, tuned_);
  }
  Instant step(StepContext context, std::vector<RowEnded>& ended) override;
  void clear() override;
  bool is_dark() const override;
  LeaseEnd lease_end() const override { return LeaseEnd::by_message; }

  std::size_t transmitters() const { return lasers_.size(); }
  /// Rows that never lit because the laser had not settled.
  std::uint32_t underflows() const { return underflows_; }

 private:
  struct Colour {
    NodeId destination;
    TransmitterSetpoint light;
  };
  struct Laser {
    std::size_t unit = 0;
    std::vector<Colour> colours;                  ///< ascending destination
    const TransmitterSetpoint* wanted = nullptr;  ///< of the row that the table has lit; null: dark
    std::optional<Instant> lit_from = {};         ///< proven, of that row
    std::vector<RowEnded> awaiting_proof = {};    ///< over, and not yet proven dark
    std::optional<NodeId> ahead = {};             ///< wished for, and not yet proven
  };
  const TransmitterSetpoint* colour_of(const Laser& laser, NodeId destination) const;
  void handle(StepContext context, const LaserCommand& order);
  void follow(StepContext context, Laser& laser, std::vector<RowEnded>& ended);
  bool is_dark(const Laser& laser) const;
  bool owns(const Laser& laser) const { return units_[laser.unit].claim.owner() == Activity::timeline; }

  DeviceUnits& units_;
  std::optional<GrantTable> table_;
  std::vector<Laser> lasers_;  ///< by transmitter
  std::vector<TunedAhead> tuned_;
  std::uint32_t underflows_ = 0;
};

}  // namespace loom
