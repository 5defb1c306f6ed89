// SPDX-License-Identifier: Apache-2.0
// ModuleDriver: what drivers of pluggable modules share beside reading back: a module that is dark is tuned while its agent
// prepares. It knows no page.
#pragma once

#include "drivers/read_back_driver.hpp"

namespace loom {

/// As ReadBackDriver; a `Setting` says whether it emits, and a setpoint is one of them.
template <class Profile, class State, class Setting>
class ModuleDriver : public ReadBackDriver<Profile, State, Setting> {
 public:
  bool can_prepare() const final { return true; }
  /// Its light stays off: a module that emits, that was told to, or whose last order failed is left alone.
  void prepare() final {
    LOOM_ASSERT(!this->staged_.empty());
    const bool is_unlit = this->target_.empty() || !this->target_.front().emit;
    if (is_unlit && this->operation_.activity(true) != DriverActivity::failed) {
      this->operation_.ask_prepare(true);
    }
  }

 protected:
  using ReadBackDriver<Profile, State, Setting>::ReadBackDriver;

  /// At the beginning of a preparation: where it shall be lit, in the dark.
  void aim_ahead() {
    this->target_.assign(this->staged_.begin(), this->staged_.end());
    this->target_.front().emit = false;
  }
};

}  // namespace loom
