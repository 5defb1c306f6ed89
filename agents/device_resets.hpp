// DeviceResets: an operator's order to find a device anew: it is read back, then brought to its setpoint again; what
// light passes is not moved for it. Stands below timelines and commits, which take the device away from it, and above the
// audit. An order is obeyed once; repeated, it is answered again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agents/lanes.hpp"
#include "agents/voice.hpp"

namespace loom {

class DeviceResets {
 public:
  DeviceResets(const Voice& voice, DeviceLanes& lanes) : voice_(voice), lanes_(lanes), rows_(lanes.size()) {}

  void order(Turn turn, const ResetDevice& order);
  void advance(Turn turn);

 private:
  enum class Phase : std::uint8_t { idle, reading, setting };
  /// One lane's reset.
  struct Row {
    Phase phase = Phase::idle;
    std::uint64_t order = 0;  ///< obeyed last
    std::uint32_t writes_before = 0;
    Instant asked_at{};
    DeviceReset answer;
  };

  void finish(Turn turn, std::size_t lane, Outcome outcome);
  Outcome refusal(std::size_t lane) const;
  std::optional<Error> must_not_be_set(std::size_t lane) const;

  const Voice& voice_;
  DeviceLanes& lanes_;
  std::vector<Row> rows_;  ///< by lane
};

}  // namespace loom
