// SPDX-License-Identifier: Apache-2.0
// Soak: the simulation under faults, seed after seed, and the kill points of a change. What is found is printed with the
// command that finds it again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace loom::cli {

struct SoakCommand {
  std::uint64_t first = 1;
  std::uint64_t seeds = 100;
  std::uint64_t step = 1;           ///< every step-th seed, so that several processes share a range
  std::uint64_t twice_every = 10;   ///< of so many seeds one is run twice, and the digests are compared
  std::vector<std::string> faults;  ///< classes that may be on; empty: all
  std::string fabric;               ///< a family; empty: all
  bool fault_files = false;         ///< plain jobs under random fault files instead
  std::string shrink;               ///< folder; not empty: what fails is made small and written there
  std::string configs;              ///< folder; empty: as config_folder() says
};

struct KillCommand {
  std::uint64_t seed = 1;
  std::uint64_t every = 1;  ///< every n-th point
  std::string fabric;       ///< a family; empty: all
  std::string configs;      ///< folder; empty: as config_folder() says
};

/// kFailed if a seed found something.
int soak(const Globals& globals, const SoakCommand& order);
/// kFailed if a kill did.
int try_kills(const Globals& globals, const KillCommand& order);

}  // namespace loom::cli
