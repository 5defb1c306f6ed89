// SPDX-License-Identifier: Apache-2.0
// GrantTable: the rows that the transmitters of one node carry out by themselves, and the executor in software. A NIC or an
// FPGA takes the same rows: this is the offload seam. It never lights outside a row and never decides who sends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "agents/grant/effects.hpp"
#include "core/digest.hpp"
#include "core/grant.hpp"

namespace loom {

/// A row that is lit and the one that follows it.
inline constexpr std::size_t kRowsPerTransmitter = 2;

struct TransmitterRows {
  std::array<GrantRow, kRowsPerTransmitter> rows{};  ///< in the order of their triggers
  std::uint32_t count = 0;
};

enum class LaserAct : std::uint8_t { tune, light, dark };

struct LaserCommand {
  std::uint32_t transmitter = 0;
  LaserAct act = LaserAct::dark;
  NodeId destination;  ///< whose receiver's wavelength
};

/// What one step of the executor did, of fixed size. Every transmitter does at most one thing a step, and ends one row.
struct TableStep {
  std::array<LaserCommand, limits::kTransmittersPerNode> orders{};
  std::size_t order_count = 0;
  std::array<RowEnded, limits::kTransmittersPerNode> ended{};
  std::size_t ended_count = 0;
  Instant wake = kNever;  ///< when to step next; not later than now: at once
};

class GrantTable {
 public:
  /// Precondition: 1 <= transmitters <= limits::kTransmittersPerNode.
  GrantTable(std::uint32_t transmitters, Duration tune);

  /// Conflict: the transmitter has no room, or the row would overlap the one before it. Real-time safe unless it fails.
  Result<void> write(const GrantRow& row);
  /// Carries out the triggers that have come. Late is late: a row that is tuned late lights late and is dark at its
  /// instant all the same; one whose end has passed never lights. Real-time safe.
  TableStep step(Instant now);
  /// This transmitter is on the wavelength of this destination already: its next row there need not tune.
  void note_tuned(std::uint32_t transmitter, NodeId destination) { units_[transmitter].tuned_to = destination; }
  /// Everything dark and forgotten, at once.
  void clear();

  bool is_lit(std::uint32_t transmitter) const { return units_[transmitter].phase == Phase::lit; }
  const TransmitterRows& rows(std::uint32_t transmitter) const { return units_[transmitter].queue; }
  std::uint32_t transmitters() const { return static_cast<std::uint32_t>(units_.size()); }
  void fold(Digest& digest) const;

 private:
  enum class Phase : std::uint8_t { idle, tuning, lit };
  struct DeviceUnit {
    TransmitterRows queue;
    Phase phase = Phase::idle;
    Instant since{};                 ///< when the phase began
    std::optional<NodeId> tuned_to;  ///< whose wavelength it is on, or on its way to
    bool was_tuned = false;          ///< before this row: no time to tune
  };
  Instant next_trigger(const DeviceUnit& unit) const;
  void advance(Instant now, std::uint32_t transmitter, TableStep& context);
  void end_row(Instant now, DeviceUnit& unit, TableStep& context);

  std::vector<DeviceUnit> units_;
  Duration tune_;
};

/// Into a digest, field by field.
void fold_row(Digest& digest, const GrantRow& row);

}  // namespace loom
