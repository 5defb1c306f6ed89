// SPDX-License-Identifier: Apache-2.0
// PhotodiodeBankDriver: photodiodes behind the analogue inputs of a Modbus device, one register a channel. A register is a
// count of a converter that measures the photocurrent; power is current over responsivity. It only reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/monitor/monitor_driver.hpp"
#include "drivers/registry.hpp"

namespace loom {

/// How a count becomes a power.
struct PhotodiodeScale {
  std::int64_t full_scale = 4'095;  ///< the highest count: whatever is brighter reads the same
  std::int64_t zero = 0;            ///< count in the dark
  double milliwatt_per_count = 0;   ///< full-scale current / full-scale count / responsivity

  /// Nothing: dark.
  std::optional<Dbm> power_of(std::int64_t count) const;
  /// The count that a power makes, as far as the converter goes.
  std::int64_t count_of(double milliwatt) const;
};

struct PhotodiodeProfile : DeviceProfile {
  PhotodiodeProfile() { exchange = std::chrono::milliseconds{35}; }  // 8 registers at 9600 8N1 with its gaps
  std::size_t channels = 0;
  std::uint16_t base = 0;
  bool is_input = true;
  PhotodiodeScale scale;
};

enum class PhotodiodeState : std::uint8_t { rest, decide, reading_counts };

class PhotodiodeBankDriver final : public MonitorDriver<PhotodiodeProfile, PhotodiodeState> {
 public:
  explicit PhotodiodeBankDriver(PhotodiodeProfile profile);
  Duration lead(const Setpoint& setpoint) const override;

 private:
  void begin() override { is_read_ = false; }
  PhotodiodeState resolve(PhotodiodeState state, Instant now) override;
  void conclude() override { finish(); }
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant, const BusReply&) override {}

  bool is_read_ = false;
};

PhotodiodeProfile photodiode_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kPhotodiodeBank;

}  // namespace loom
