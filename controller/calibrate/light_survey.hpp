// SPDX-License-Identifier: Apache-2.0
// LightSurvey: something that is found out by looks: light and heat are asked for, what came to receivers is told, until
// nothing more is to be asked. Whoever runs one carries its steps to a controller: ProbeLight, then Noun::receivers
// and Noun::ways. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/ids.hpp"
#include "core/messages/operator.hpp"
#include "core/messages/report.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

/// A look that agents did not carry out is ordered again: a host that was busy for a moment spoils no survey of minutes.
inline constexpr int kLookAttempts = 3;

/// Light that came to a receiver.
struct ReceivedLight {
  Dbm power{kNoLight};                   ///< that its monitor told
  std::optional<Dbm> expected{};         ///< that the plan should bring (WayReport::expected); asked for by wants_ways
  std::optional<Frequency> frequency{};  ///< that a wavemeter on its way told (WayReport::measured), likewise
};
using ReceivedLights = std::map<ElementId, ReceivedLight>;

/// Of these receivers (ascending), those that were read since the last commit.
ReceivedLights lights_at(const std::vector<ReceiverReport>& rows, const std::vector<ElementId>& receivers);
/// Adds what ways tell of them; false: a wavemeter that will has not read yet.
bool add_ways(const std::vector<WayReport>& rows, ReceivedLights& lights);

class LightSurvey {
 public:
  virtual ~LightSurvey() = default;

  virtual bool is_over() const = 0;
  /// What to ask for now. Precondition: not is_over().
  virtual ProbeLight ask() const = 0;
  /// Receivers that are looked at now, ascending.
  virtual std::vector<ElementId> receivers() const = 0;
  /// This look is judged by what the light should bring, and where it stands: Noun::ways tells.
  virtual bool wants_ways() const { return false; }
  /// What came to them; those without a reading since the ask was carried out: none.
  virtual void take(const ReceivedLights& lights) = 0;
  /// The controller would not have it.
  virtual void refused(const Error& error) = 0;

  virtual std::size_t steps() const = 0;
  /// Parts of the whole, for whoever waits.
  virtual std::size_t done() const = 0;
  virtual std::size_t all() const = 0;
};

}  // namespace loom
