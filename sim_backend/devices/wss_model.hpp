// SPDX-License-Identifier: Apache-2.0
// WssModel: the register side of the flexgrid dialect, with the routes that follow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/wss/flexgrid_dialect.hpp"
#include "sim_backend/devices/registry.hpp"
#include "sim_backend/devices/wss/wss_optics.hpp"

namespace loom {

/// A WSS of the flexgrid dialect as published, less obliging: a pattern leaves blocked what it does not name, switching needs
/// one that was prepared since the grid was defined, and nothing tells when light has settled. A new grid blocks everything;
/// while a hologram reloads, moved channels pass nothing and the others dip.
class WssModel final : public SimulatedWss {
 public:
  WssModel(const Device& device, const Element& element, const SimDeviceOptions& options);

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;

 private:
  std::string answer(Instant now, Instant at, std::string_view text);
  std::string define_channels(Instant now, Instant at, std::string_view grid);
  std::string set_ports(Instant now, Instant at, std::string_view settings);
  std::string prepare_pattern(Instant now, std::string_view settings);
  std::string show_pattern(Instant now, Instant at);
  void take_ports(Instant now, Instant at, std::vector<flexgrid::PortSetting> ports);
  std::string complaint_about(const std::vector<flexgrid::ChannelSetting>& settings) const;
  bool is_lawful(const std::vector<flexgrid::Channel>& grid) const;
  std::vector<WssRoute> routes() const override;

  std::string serial_;
  flexgrid::Dialect dialect_;
  PortNumber ports_limit_ = 1;
  std::vector<flexgrid::Channel> grid_;
  std::vector<flexgrid::PortSetting> ports_;
  std::optional<std::vector<flexgrid::PortSetting>> prepared_;  ///< by channel; shown by RSW
};

extern const SimulatedModel kSimulatedWss;

}  // namespace loom
