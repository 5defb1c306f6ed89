// SPDX-License-Identifier: Apache-2.0
// LowerMemory: by which ways the light of the plan that was lowered last goes. The next one on it is lowered where its circuits
// differ.
#pragma once

#include <cstdint>
#include <memory>

#include "controller/plan/lower/lower.hpp"

namespace loom {

class Laid;

/// Of one thread.
class LowerMemory {
 public:
  LowerMemory();
  LowerMemory(LowerMemory&&) noexcept;
  LowerMemory& operator=(LowerMemory&&) noexcept;
  ~LowerMemory();

  /// What loom::lower() gives, whatever is remembered. `request.fabric`: the same every time, until forget().
  Result<Lowered> lower(const LowerRequest& request);
  void forget();
  /// Plans that were lowered where they differ.
  std::uint64_t told() const { return told_; }

 private:
  std::unique_ptr<Laid> laid_;
  std::uint64_t told_ = 0;
};

}  // namespace loom
