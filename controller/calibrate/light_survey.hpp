// SPDX-License-Identifier: Apache-2.0
// LightSurvey: something that is found out by looks: light and heat are asked for, what came to receivers is told, until
// nothing more is to be asked. Whoever runs one carries its steps to a controller: ProbeLight, then Noun::receivers. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "core/ids.hpp"
#include "core/messages/operator.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

/// A look that agents did not carry out is ordered again: a host that was busy for a moment spoils no survey of minutes.
inline constexpr int kLookAttempts = 3;

class LightSurvey {
 public:
  virtual ~LightSurvey() = default;

  virtual bool is_over() const = 0;
  /// What to ask for now. Precondition: not is_over().
  virtual ProbeLight ask() const = 0;
  /// Receivers that are looked at now, ascending.
  virtual std::vector<ElementId> receivers() const = 0;
  /// This look is judged by what the light should bring (Noun::ways), to be told by expect() before take().
  virtual bool wants_expected() const { return false; }
  virtual void expect(const std::map<ElementId, Dbm>& /*powers*/) {}
  /// What came to them; those without a reading since the ask was carried out: none.
  virtual void take(const std::map<ElementId, Dbm>& powers) = 0;
  /// The controller would not have it.
  virtual void refused(const Error& error) = 0;

  virtual std::size_t steps() const = 0;
  /// Parts of the whole, for whoever waits.
  virtual std::size_t done() const = 0;
  virtual std::size_t all() const = 0;
};

}  // namespace loom
