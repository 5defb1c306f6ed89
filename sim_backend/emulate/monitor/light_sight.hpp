// SPDX-License-Identifier: Apache-2.0
// LightLogs: the light of a fabric as the light logs of other processes tell it, so that one physics is behind an emulated
// monitor and the emulators and agents whose light it measures.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "sim_backend/devices/light_observer.hpp"
#include "sim_backend/devices/optical_state.hpp"
#include "sim_backend/light/light_model.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace loom {

class LightLogs {
 public:
  /// `paths`: light logs, or folders whose files named *.light are read, those among them that appear later.
  LightLogs(std::shared_ptr<const Fabric> fabric, std::vector<std::string> paths);

  /// What comes to an input port by all that was logged until now.
  std::vector<ArrivingLight> arriving(PortRef input);
  /// Lines that were none, or of a device that the fabric has not.
  std::uint64_t refused() const { return refused_; }

 private:
  struct Tail {
    std::uint64_t offset = 0;
    std::string partial;  ///< of the last line, which its writer has not ended
  };
  void read_on();
  void read_on(const std::string& path, Tail& tail, std::vector<OpticalChange>& changes);
  bool fits(const OpticalChange& change) const;

  std::shared_ptr<const Fabric> fabric_;
  std::vector<std::string> paths_;
  std::map<std::string, Tail> tails_;
  LightModel light_;
  Instant last_{};
  std::uint64_t refused_ = 0;
};

/// What an emulated device measures.
struct LightOptions {
  std::vector<std::string> logs;
  std::optional<double> dbm;  ///< the same at every input
  double terahertz = 193.1;
};
/// --light-logs, --dbm, --thz.
void add_light_options(CLI::App& app, LightOptions& options);
/// Empty: darkness.
LightSight sight_of(const LightOptions& options, const std::shared_ptr<const Fabric>& fabric);
/// For the footer of an emulator with these options.
extern const char* const kLightWords;

/// --light-logs: what a device measures that is emulated of a scenario.
CLI::Option* add_light_logs(CLI::App& app, std::vector<std::string>& paths);
LightSight sight_of_logs(std::shared_ptr<const Fabric> fabric, std::vector<std::string> paths);

}  // namespace loom
