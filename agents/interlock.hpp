// Interlock: the latch that overrides everything, fail-static included. Closed by an order or by the hard-wired contact,
// lifted only by a newer order while the contact is closed. It never relights: light returns with the next commit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/journal.hpp"
#include "core/message.hpp"
#include "core/result.hpp"

namespace loom {

class Interlock {
 public:
  enum class Change : std::uint8_t { none, latched, lifted, held };  ///< held: a lifting order while the contact is open

  /// As an earlier life left it.
  void restore(const LatchRecord& latch) { latch_ = latch; }
  /// Real-time safe.
  Change order(const SetLasers& order);
  /// Real-time safe.
  Change contact(bool open);

  bool latched() const { return latch_.lasers_off; }
  const LatchRecord& record() const { return latch_; }
  /// Why nothing may be lit now, naming the latch. Precondition: latched().
  Error refusal(NodeId node) const;

 private:
  LatchRecord latch_;
  bool contact_open_ = false;
};

}  // namespace loom
