// SPDX-License-Identifier: Apache-2.0
// ConnectBook: what a circuit switch was seen to connect, told apart: what is ours, and what others made on it (ADR 60). A
// value with the arithmetic of what has to go and what has to come; it asks and orders nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "drivers/ocs/port_rectangle.hpp"

namespace loom {

/// What becomes of a connection between our ports that nobody of us made.
enum class ForeignConnects : std::uint8_t { report, remove };

class ConnectBook {
 public:
  using Connects = std::vector<CrossConnect>;

  /// Ours is what was claimed, and with ForeignConnects::remove whatever is between ports of ours.
  void claim(const Connects& connects);
  /// What of the claims is neither there nor wanted is claimed no more: if it comes again somebody else made it. Only by a
  /// map that shows what was written: a switch that was ill and lists nothing has it all again when it is well.
  void drop_claims(const SeenConnects& seen, const Connects& wanted);
  void see(const SeenConnects& seen, ForeignConnects foreign);
  /// As if they had been seen to be gone.
  void take_away(const Connects& connects);

  const Connects& ours() const { return ours_; }      ///< ascending
  const Connects& others() const { return others_; }  ///< ascending
  bool holds(CrossConnect connect) const;             ///< among ours
  /// Ours that are not wanted; wanted that are not there.
  Connects excess(const Connects& wanted) const;
  Connects lacking(const Connects& wanted) const;
  bool is(const Connects& wanted) const { return excess(wanted).empty() && lacking(wanted).empty(); }
  /// Somebody else's, in the way of what is wanted.
  std::optional<std::string> obstacle(const Connects& wanted) const;
  /// "output 7" or "nothing"
  std::string reading_of(std::uint16_t input) const;
  /// "input 3 reads nothing, wanted output 7". Precondition: !is(wanted).
  std::string difference(const Connects& wanted) const;

 private:
  Connects ours_;
  Connects others_;
  Connects claims_;  ///< ascending
};

}  // namespace loom
