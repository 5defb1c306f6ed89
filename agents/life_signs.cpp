// SPDX-License-Identifier: Apache-2.0
// One heartbeat, from what the others know.
#include "agents/life_signs.hpp"

namespace loom {

Heartbeat LifeSigns::now() const {
  return {commit_.applied(),      commit_.confirmed(),  interlock_.bars_light_beside_node(),
          interlock_.own_latch(), host_.peers_digest(), interlock_.latched_as_node()};
}

void LifeSigns::send_heartbeat(StepContext context) {
  sent_ = now();
  envelopes_.send(context, commit_.applied(), sent_);
}

}  // namespace loom
