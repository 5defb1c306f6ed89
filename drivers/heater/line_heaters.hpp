// SPDX-License-Identifier: Apache-2.0
// LineHeatersDriver: a bank of micro-ring heaters on electronics that are spoken to in lines of text and that measure what they
// give (Qontrol, Nicslab). It reads before it writes, writes the channels that differ, and is settled when a whole pass of
// measurements, begun after the last write, bears the setpoint out; a heater that has voltage and no current is open, and is
// named. It knows no dialect: that is a table of two functions (LineHeaterDialect). Its proof is *device*: a converter has
// measured the voltage; what the light does nobody has seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/observation.hpp"
#include "drivers/heater/heater_law.hpp"
#include "drivers/heater/measured_heaters.hpp"
#include "drivers/read_back_driver.hpp"
#include "drivers/registry.hpp"

namespace loom {

enum class LineHeaterState : std::uint8_t {
  rest,
  decide,
  introduce,  ///< who it is; also whether answers are in step with questions
  count,      ///< how many channels it has
  limit,      ///< bounds a channel in the device itself
  reading_current,
  reading_volts,
  write,
  soak  ///< rings become warm, converters follow
};

/// What is said on a line. `channel` as the device counts.
struct LineQuestion {
  LineHeaterState state = LineHeaterState::rest;
  std::size_t channel = 0;
  std::int32_t millivolts = 0;  ///< of limit and write
};

/// What the electronics complain of, asked or not.
struct LineComplaint {
  enum class Kind : std::uint8_t {
    wire,       ///< it did not understand: say it again
    restarted,  ///< it lost its power: nothing that was read before holds
    refused,    ///< of what it was told; again would be the same
    broken,     ///< an output
  };
  Kind kind = Kind::wire;
  std::string_view meaning;
  unsigned code = 0;
  std::size_t channel = 0;
  bool operator==(const LineComplaint&) const = default;
};

/// What a reply tells. A question without any of what it asked for was not answered.
struct LineAnswer {
  bool is_done = false;  ///< "OK"
  std::optional<double> volts{};
  std::optional<double> amperes{};
  std::optional<std::size_t> channels{};
  std::string type{};  ///< the maker's word for it; empty: it does not say
  std::string serial{};
  std::vector<LineComplaint> complaints{};
};

struct LineHeaterDialect {
  std::string_view name;
  std::string_view terminator;  ///< of a line, either way
  bool answers_writes = true;   ///< else they are silent
  bool reads_both = false;      ///< one answer tells volts and amperes: currents are not asked for
  bool introduces_itself = false;
  bool bounds_channels = false;   ///< in the device: whatever is set by mistake, a heater gets no more than its ring bears
  std::size_t first_channel = 0;  ///< the number of its first
  std::string (*say)(const LineQuestion& question);
  LineAnswer (*read)(const LineQuestion& question, std::string_view reply);
};

struct LineHeaterProfile : DeviceProfile {
  const LineHeaterDialect* dialect = nullptr;
  std::vector<RingFilter> rings;  ///< by channel
  HeaterSource source;
  std::string type;                       ///< that it must be; empty: whatever it is
  std::size_t first_ring = 0;             ///< the device's channel of ring 0, counted from 0
  std::int32_t accuracy_millivolts = 10;  ///< a voltage measured within it of another may be the same
};

class LineHeatersDriver final : public ReadBackDriver<LineHeaterProfile, LineHeaterState, HeaterVoltage> {
 public:
  explicit LineHeatersDriver(LineHeaterProfile profile);

  /// As check_heaters().
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;

 private:
  std::vector<HeaterVoltage> held_by(const Setpoint& setpoint) const override;
  void begin() override;
  LineHeaterState resolve(LineHeaterState state, Instant now) override;
  void conclude() override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;
  Instant ready_at() const override;
  void forget() override;

  LineHeaterState decide(Instant now);
  std::optional<LineHeaterState> next_introduction() const;
  LineHeaterState read_next();
  LineHeaterState next_change(Instant now);
  LineQuestion asked() const;
  Answer absorb_introduction(const LineAnswer& answer);
  Answer absorb_count(const LineAnswer& answer);
  Answer absorb_reading(Instant now, const LineAnswer& answer);
  void mark_written(Instant now, std::optional<std::int32_t> commanded);
  void note(const std::vector<LineComplaint>& complaints);
  std::optional<HeaterVoltage> lost() const;

  MeasuredHeaters heaters_;
  std::size_t channel_ = 0;       ///< of the state, among the rings
  bool introduced_ = false;       ///< who it is, since it was last out of reach; answers are in step
  bool counted_ = false;          ///< it has channels for all rings
  std::uint32_t connection_ = 0;  ///< on which that was so
  bool proves_ = false;           ///< this pass measures currents too
  unsigned rounds_ = 0;           ///< of writing, of this fire, bounded
  unsigned introductions_ = 0;    ///< of this operation, bounded: it is out of step for good
  std::string complaint_;         ///< of an output of ours, in this operation
  Complaint last_failure_;        ///< of an exchange
  std::string others_complaint_;  ///< of another one
  Instant soaked_at_{};
};

/// What both models take from the fabric.
LineHeaterProfile line_heater_profile(const Fabric& fabric, const Device& device, const LineHeaterDialect& dialect);

}  // namespace loom
