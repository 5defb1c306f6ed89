// SPDX-License-Identifier: Apache-2.0
// WaveShaperModel: the web server of a simulated WaveShaper, with the routes that follow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/text/http_text.hpp"
#include "drivers/wss/waveshaper_json.hpp"
#include "drivers/wss/waveshaper_profile.hpp"
#include "sim_backend/devices/registry.hpp"
#include "sim_backend/devices/wss/wss_optics.hpp"

namespace loom {

/// A WaveShaper as its clients know it, less obliging: what a profile does not name is blocked, a wrong profile changes
/// nothing, every load reloads the hologram though it may be the one that is there, and nothing tells when light has settled.
/// Its light where a profile's edges are no slot's: the narrowest slot around. Powers up blocked [K].
class WaveShaperModel final : public SimulatedWss {
 public:
  WaveShaperModel(const Device& device, const Element& element, const SimDeviceOptions& options);

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;

 private:
  struct Answer {
    int status = kHttpOk;
    std::string body;
  };
  Answer answer(Instant now, Instant at, const HttpRequest& request);
  std::string load(Instant now, Instant at, std::string_view order);
  void show(Instant now, Instant at, std::vector<waveshaper::Point> points);
  std::vector<WssRoute> routes() const override { return routes_; }

  waveshaper::Info info_;
  PortMap map_ = PortMap::by_output;
  std::vector<waveshaper::Point> points_;
  std::vector<waveshaper::Pass> passes_;  ///< of points_
  std::vector<WssRoute> routes_;          ///< likewise
};

extern const SimulatedModel kSimulatedWaveShaper;

}  // namespace loom
