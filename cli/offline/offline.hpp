// The commands that need no controller: pure functions on files and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace loom::cli {

struct PredictOrder {
  std::string workload;
  std::string fabric;  ///< one of the arena's
  std::uint32_t nodes = 0;
  std::string bandwidth = "100G";
  std::vector<std::string> settings;
  std::string calibration;  ///< file; settings go before it
  std::string trace_path;   ///< Perfetto/Chrome trace of the iteration
};

int predict(const Globals& globals, const PredictOrder& order);
int import(const Globals& globals, const std::string& path);
int check_configs(const Globals& globals, const std::vector<std::string>& paths);
int generate_keys(const Globals& globals, const std::string& scenario);

struct SimOrder {
  std::string scenario;
  std::optional<std::uint64_t> seed;
  std::string run_for;              ///< virtual time; empty: as the scenario says
  std::string trace_path;           ///< Perfetto/Chrome trace
  std::vector<std::string> faults;  ///< fault files, beside the scenario's own
};

int simulate(const Globals& globals, const SimOrder& order);

struct ReplayOrder {
  std::string tape;
  std::string scenario;  ///< empty: the one that the tape names
};

/// Differences are exit code 1.
int replay_session(const Globals& globals, const ReplayOrder& order);

}  // namespace loom::cli
