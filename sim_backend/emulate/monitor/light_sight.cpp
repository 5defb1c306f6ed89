// SPDX-License-Identifier: Apache-2.0
// Files that grow are read from where they ended; what they add is applied in the order of its happening.
#include "sim_backend/emulate/monitor/light_sight.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "sim_backend/judge/light_log.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLineMost = 1u << 20;  ///< longer ones are no lines of a light log

}  // namespace

const char* const kLightWords =
    "\nIts light: --light-logs with --scenario, whose fabric says what of it comes to the device's inputs (logs of agents,\n"
    "lightloom-emulate ... --light-log, a lab's folder); or --dbm, the same at every input; else darkness.\n";

void add_light_options(CLI::App& app, LightOptions& options) {
  auto* logs = add_light_logs(app, options.logs);
  app.add_option("--dbm", options.dbm, "power at every input")->check(CLI::Range(-100.0, 30.0))->excludes(logs);
  app.add_option("--thz", options.terahertz, "frequency of that light")
      ->check(CLI::Range(100.0, 1'000.0))
      ->capture_default_str();
}

LightSight sight_of(const LightOptions& options, const std::shared_ptr<const Fabric>& fabric) {
  if (!options.logs.empty()) {
    return sight_of_logs(fabric, options.logs);
  }
  if (!options.dbm) {
    return {};
  }
  const ArrivingLight light{Frequency{static_cast<std::int64_t>(options.terahertz * 1e6 + 0.5)},
                            Dbm{static_cast<std::int32_t>(*options.dbm * 100 + (*options.dbm < 0 ? -0.5 : 0.5))}};
  return [light](PortRef) { return std::vector<ArrivingLight>{light}; };
}

LightLogs::LightLogs(std::shared_ptr<const Fabric> fabric, std::vector<std::string> paths)
    : fabric_(std::move(fabric)), paths_(std::move(paths)), light_(fabric_) {}

std::vector<ArrivingLight> LightLogs::arriving(PortRef input) {
  read_on();
  return arriving_at(light_, input);
}

CLI::Option* add_light_logs(CLI::App& app, std::vector<std::string>& paths) {
  return app.add_option("--light-logs", paths, "light logs, or folders of *.light; with --scenario")
      ->needs(app.get_option("--scenario"));
}

LightSight sight_of_logs(std::shared_ptr<const Fabric> fabric, std::vector<std::string> paths) {
  const auto logs = std::make_shared<LightLogs>(std::move(fabric), std::move(paths));
  return [logs](PortRef input) { return logs->arriving(input); };
}

/// A state in the order of the roles, and as wide as the device.
bool LightLogs::fits(const OpticalChange& change) const {
  if (change.device.value >= fabric_->devices.size()) {
    return false;
  }
  const Device& device = fabric_->device(change.device);
  if (change.state.index() != static_cast<std::size_t>(device.role)) {
    return false;
  }
  const auto* rings = std::get_if<RingLight>(&change.state);
  if (rings != nullptr) {
    return rings->resonances.size() == device.elements.size();
  }
  const Element& element = fabric_->element(device.elements.front());
  const auto has = [&](const auto& way) { return way.input < element.inputs && way.output < element.outputs; };
  const auto* wss = std::get_if<WssLight>(&change.state);
  const auto* ocs = std::get_if<OcsLight>(&change.state);
  return (wss == nullptr || (std::ranges::all_of(wss->routes, has) && std::ranges::all_of(wss->moving, has))) &&
         (ocs == nullptr || (std::ranges::all_of(ocs->connects, has) && std::ranges::all_of(ocs->moving, has)));
}

void LightLogs::read_on(const std::string& path, Tail& tail, std::vector<OpticalChange>& changes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    return;  // its writer has not begun
  }
  const auto size = static_cast<std::uint64_t>(file.tellg());
  if (size < tail.offset) {
    tail = {};  // begun anew: what its devices were is said again
  }
  std::string added(static_cast<std::size_t>(size - tail.offset), '\0');
  file.seekg(static_cast<std::streamoff>(tail.offset));
  file.read(added.data(), static_cast<std::streamsize>(added.size()));
  added.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  tail.offset += added.size();
  const std::string text = std::exchange(tail.partial, {}) + added;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    auto change = read_line(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (change && fits(*change)) {
      changes.push_back(*std::move(change));
    } else {
      ++refused_;
    }
  }
  tail.partial = text.size() - begin <= kLineMost ? text.substr(begin) : std::string{};
}

void LightLogs::read_on() {
  for (const std::string& path : paths_) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      tails_.try_emplace(path);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.path().extension() == ".light") {
        tails_.try_emplace(entry.path().string());
      }
    }
  }
  std::vector<OpticalChange> changes;
  for (auto& [path, tail] : tails_) {
    read_on(path, tail, changes);
  }
  std::ranges::stable_sort(changes, {}, &OpticalChange::at);
  for (OpticalChange& change : changes) {
    last_ = change.at = std::max(change.at, last_);  // a log that is written late does not turn time back
    light_.apply(change);
  }
}

}  // namespace loom
