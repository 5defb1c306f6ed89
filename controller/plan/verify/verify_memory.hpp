// SPDX-License-Identifier: Apache-2.0
// VerifyMemory: what verify has seen of the plan that it accepted last. A plan that differs little from that one is judged
// where it differs; what is wrong with a plan, only the judgement of all of it says.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/plan/verify/light_order.hpp"
#include "controller/plan/verify/verify.hpp"

namespace loom {

namespace verifying {
class Remembered;
}

/// Of one thread.
class VerifyMemory {
 public:
  VerifyMemory();
  VerifyMemory(VerifyMemory&&) noexcept;
  VerifyMemory& operator=(VerifyMemory&&) noexcept;
  ~VerifyMemory();

  /// The verdict of loom::examine(), whatever is remembered. `fabric`, `order`: the same every time, until forget().
  Verdict examine(const Fabric& fabric, const LightOrder& order, const Plan& plan, const Plan* base, const Intent& intent,
                  const std::vector<ObservedLight>& occupied);
  void forget();
  /// Plans that were judged where they differ.
  std::uint64_t told() const { return told_; }

 private:
  std::unique_ptr<verifying::Remembered> remembered_;
  std::uint64_t told_ = 0;
};

}  // namespace loom
