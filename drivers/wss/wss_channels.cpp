// SPDX-License-Identifier: Apache-2.0
// Grids, ports and slices.
#include "drivers/wss/wss_channels.hpp"

#include <algorithm>
#include <utility>

#include "core/fabric/channel_grid.hpp"
#include "core/limits.hpp"

namespace loom {

using flexgrid::Channel;
using flexgrid::PortSetting;

WssChannels::WssChannels(const flexgrid::Dialect& dialect, std::vector<FrequencySlot> comb)
    : dialect_(dialect), comb_(std::move(comb)) {}

std::optional<bool> WssChannels::read_grid(std::string_view data) {
  const auto counted = flexgrid::read_grid({}, data);  // as if its slices were the narrow ones
  if (!counted) {
    return std::nullopt;
  }
  const auto last = std::ranges::max_element(*counted, {}, &Channel::last);
  const std::int32_t most = last == counted->end() ? 0 : last->last;
  if (most > flexgrid::kCoarseSlices) {
    set_slices(flexgrid::kSlices);
  } else if (most == flexgrid::kCoarseSlices && !knows_slices_) {
    dialect_.slices = flexgrid::kCoarseSlices;  // as we define them; before a grid is defined the device is asked
  }
  auto grid = flexgrid::read_grid(dialect_, data);
  const bool is_other = *grid != grid_;
  has_ports_ = has_ports_ && !is_other;
  grid_ = std::move(*grid);
  has_grid_ = true;
  return is_other;
}

WssChannels::Ports WssChannels::read_ports(std::string_view data) {
  const auto settings = flexgrid::read_ports(data);
  if (!settings) {
    return Ports::unreadable;
  }
  if (settings->size() != grid_.size()) {
    forget_grid();
    return Ports::of_another_grid;
  }
  std::vector<PortSetting> ports(grid_.size());
  for (std::size_t i = 0; i < settings->size(); ++i) {
    if ((*settings)[i].channel != static_cast<std::int32_t>(i) + 1) {
      return Ports::unreadable;
    }
    ports[i] = (*settings)[i].setting;
  }
  take_ports(std::move(ports));
  return Ports::read;
}

void WssChannels::set_slices(std::int32_t slices) {
  dialect_.slices = slices;
  knows_slices_ = true;
}

void WssChannels::take_ports(std::vector<PortSetting> ports) {
  ports_ = std::move(ports);
  has_ports_ = true;
}

std::vector<WssChannel> WssChannels::held() const {
  std::vector<WssChannel> channels;
  for (std::size_t i = 0; i < grid_.size() && i < ports_.size(); ++i) {
    if (ports_[i] != PortSetting{}) {
      channels.push_back({grid_[i], ports_[i]});
    }
  }
  return channels;
}

std::vector<WssRoute> WssChannels::routes() const {
  std::vector<WssRoute> routes;
  for (std::size_t i = 0; i < grid_.size() && i < ports_.size(); ++i) {
    if (const auto route = route_of(dialect_, grid_[i], ports_[i])) {
      routes.push_back(*route);
    }
  }
  std::sort(routes.begin(), routes.end(),
            [](const WssRoute& a, const WssRoute& b) { return std::pair(a.slot.n, a.input) < std::pair(b.slot.n, b.input); });
  return routes;
}

bool WssChannels::keeps(const WssChannel& wanted) const {
  const auto place = place_of(wanted.channel);
  return place && (!has_ports_ || ports_[*place] == wanted.setting);
}

WssChannels::NewGrid WssChannels::new_grid(const std::vector<WssChannel>& wanted) const {
  const std::vector<Channel> grid = grid_for(wanted);
  if (grid == grid_) {
    return NewGrid::no;
  }
  const std::vector<WssChannel> now = held();
  const bool some_stay =
      std::ranges::any_of(now, [&](const WssChannel& each) { return std::ranges::find(wanted, each) != wanted.end(); });
  if (!some_stay || grid_for(now) != grid) {
    return NewGrid::yes;
  }
  const bool has_all =
      std::ranges::all_of(wanted, [this](const WssChannel& each) { return place_of(each.channel).has_value(); });
  return has_all ? NewGrid::no : NewGrid::forbidden;
}

std::vector<Channel> WssChannels::grid_for(const std::vector<WssChannel>& wanted) const {
  std::vector<WssRoute> routes;
  for (const WssChannel& each : wanted) {
    if (const auto slot = slot_of(dialect_, each.channel)) {
      routes.push_back({*slot, 0, 0, {}});
    }
  }
  std::vector<Channel> grid;
  for (const FrequencySlot slot : channel_grid(comb_, routes)) {
    const Channel channel = channel_of(dialect_, slot);
    if (fits_slices(dialect_, channel) && grid.size() + 1 < limits::kWssRoutes) {
      grid.push_back(channel);
    }
  }
  const Channel last{flexgrid::kSlices - flexgrid::kSlices / dialect_.slices + 1, flexgrid::kSlices};
  if (grid.empty() || !overlap(grid.back(), last)) {
    grid.push_back(last);
  }
  return grid;
}

std::vector<PortSetting> WssChannels::pattern_for(const std::vector<WssChannel>& wanted) const {
  std::vector<PortSetting> ports(grid_.size());
  for (const WssChannel& each : wanted) {
    if (const auto place = place_of(each.channel)) {
      ports[*place] = each.setting;
    }
  }
  return ports;
}

std::optional<std::size_t> WssChannels::place_of(const Channel& channel) const {
  const auto found = std::find(grid_.begin(), grid_.end(), channel);  // a grid that somebody else defined need not ascend
  return found == grid_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - grid_.begin()));
}

}  // namespace loom
