// SPDX-License-Identifier: Apache-2.0
// WssChannels: what is known of the channels of a flexgrid WSS (its grid, the commanded port of each, how wide its slices are),
// and what that means for channels that are wanted. It says nothing to the device; its driver does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/plan.hpp"
#include "drivers/wss/flexgrid_dialect.hpp"

namespace loom {

/// A channel and where it leaves.
struct WssChannel {
  flexgrid::Channel channel;
  flexgrid::PortSetting setting;
  bool operator==(const WssChannel&) const = default;
};

class WssChannels {
 public:
  enum class NewGrid : std::uint8_t {
    no,
    yes,
    forbidden  ///< it is needed, nobody could expect it (core/fabric/channel_grid.hpp), and there are channels that stay
  };
  enum class Ports : std::uint8_t { unreadable, of_another_grid, read };

  /// `comb`: defined with every grid.
  WssChannels(const flexgrid::Dialect& dialect, std::vector<FrequencySlot> comb);

  // What the device says.
  /// Answer to `DCC?`. True: the grid is another one than before; nothing: it is no answer.
  std::optional<bool> read_grid(std::string_view data);
  /// Answer to `RRA?`.
  Ports read_ports(std::string_view data);
  void set_slices(std::int32_t slices);
  /// What was commanded is taken for true.
  void take_ports(std::vector<flexgrid::PortSetting> ports);
  void forget_grid() { has_grid_ = has_ports_ = false; }
  void forget_ports() { has_ports_ = false; }

  // What is known.
  bool has_grid() const { return has_grid_; }
  bool has_ports() const { return has_ports_; }
  bool knows_slices() const { return knows_slices_; }  ///< how wide they are, by the device's own word
  const flexgrid::Dialect& dialect() const { return dialect_; }
  const std::vector<flexgrid::PortSetting>& ports() const { return ports_; }
  /// What it lets through.
  std::vector<WssChannel> held() const;
  /// The same, ascending; channels that no slot describes (odd widths that somebody else defined) are left out.
  std::vector<WssRoute> routes() const;
  /// Is it where it is wanted? True where ports are not known.
  bool keeps(const WssChannel& wanted) const;

  // What is wanted.
  NewGrid new_grid(const std::vector<WssChannel>& wanted) const;
  /// With the last slice of the device as a blocked channel: so a grid tells how wide its slices are.
  std::vector<flexgrid::Channel> grid_for(const std::vector<WssChannel>& wanted) const;
  /// By channel of the grid that is there.
  std::vector<flexgrid::PortSetting> pattern_for(const std::vector<WssChannel>& wanted) const;

 private:
  std::optional<std::size_t> place_of(const flexgrid::Channel& channel) const;

  flexgrid::Dialect dialect_;
  std::vector<FrequencySlot> comb_;
  std::vector<flexgrid::Channel> grid_;
  std::vector<flexgrid::PortSetting> ports_;  ///< commanded, by channel of grid_
  bool has_grid_ = false;
  bool has_ports_ = false;
  bool knows_slices_ = false;
};

}  // namespace loom
