// SPDX-License-Identifier: Apache-2.0
// Light state: what was last measured of a circuit. It is as well as the worst element of its way by that element's latest
// reading and its age; what was ordered is never taken for what is. Pure: readings, their ages and the present instant come
// in, words go out; it never decides what is done about a circuit that is dark.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/plan/light/light_path.hpp"
#include "controller/plan/reconcile/reconcile.hpp"
#include "core/messages/report.hpp"
#include "core/observation.hpp"

namespace loom {

/// What a node's agent said of itself last.
enum class AgentLight : std::uint8_t {
  present,
  away,
  latched,    ///< its lasers are off and stay so
  darkening,  ///< they were ordered off, and it has not said that they are
};

/// What a receiver measured of the light that comes to it.
struct ReceivedPower {
  Dbm power;  ///< of all of it together
  Instant read_at{};
  std::span<const LightReading> peaks{};  ///< by frequency; empty: it measures power only, or it is dark there
};

/// Everything that is known of the fabric's light at `now`. Spans are by device, node or element; nothing is copied.
struct LightReadings {
  Instant now{};
  std::span<const std::optional<Observation>> devices;  ///< nothing: never read
  std::span<const Instant> proven_at;  ///< a commit that touched the device was confirmed then: all of it had been read back
  std::span<const AgentLight> agents;  ///< by node; empty: all present
  std::span<const DeviceId> ordered;   ///< ascending: a commit under way moves them
  std::span<const JobId> played;       ///< ascending: their timeslots were played through, or their streams sent
  std::span<const std::optional<ReceivedPower>> received{};  ///< by element; empty: no receiver of the fabric measures
  ReconcileLimits limits{};
};

/// Why light is as it is; the worst element's.
enum class LightCause : std::uint8_t {
  healthy,
  between_timeslots,  ///< dark when it was read, as it shall be in between
  weak,
  beside_its_frequency,
  unlocked,
  says_it_is_broken,  ///< it emits, and its status says that it is broken
  ring_beside,
  attenuated,
  gain_off,  ///< an amplifier or attenuator has another gain than planned
  received_low,
  received_high,
  never_read,
  read_too_long_ago,
  driver_gave_up,
  not_measured_since,  ///< its monitor has not read it since its light was set
  agent_away,
  darkening,    ///< lasers off was ordered
  moving,       ///< as it was ordered to, and its light was proven dark or left alone
  not_settled,  ///< though nobody ordered it to move
  not_emitting,
  other_frequency,
  measured_beside,     ///< a monitor sees it beside its frequency, whatever its laser says
  measured_elsewhere,  ///< a monitor sees it outside its slot, likewise
  latched,             ///< its agent keeps its lasers dark
  played,              ///< its timeslots are over
  ring_away,
  uncalibrated,  ///< nobody has measured where its ring stands
  ring_in_the_way,
  no_light_in,   ///< a switch on its way measures none where it should enter
  no_light_out,  ///< likewise where it should leave
  not_connected,
  no_path,  ///< the plan itself does not carry it
};

struct MeasuredLight {
  LightState state = LightState::unknown;
  LightCause cause = LightCause::never_read;
  Duration age{-1};                    ///< of the oldest reading on its way; -1 ns: some element was never read
  std::optional<ElementId> element{};  ///< the worst
  Proof proof = Proof::assumed;        ///< a monitor that sees its light arrive, else the weakest word of its devices
  bool operator==(const MeasuredLight&) const = default;
};

/// What one receiver's reading says of one circuit's light. Nothing: it may be others'.
struct SeenLight {
  std::optional<Dbm> power;
  std::optional<Frequency> frequency;
};
SeenLight seen_light(const Sighting& sighting, const Receiver& receiver, const ReceivedPower& received, FrequencySlot slot);

/// Of the `index`-th circuit of the plan. Costs a comparison an element of its way, no text.
MeasuredLight measure_light(const LightPaths& paths, std::size_t index, const LightReadings& readings);

/// The same by the devices of its way alone, whatever monitors say.
MeasuredLight measure_devices(const LightPaths& paths, std::size_t index, const LightReadings& readings);

/// Light whose frequency a monitor has measured since it was set.
struct MeasuredFrequency {
  Frequency frequency;
  Instant read_at{};
  ElementId receiver;  ///< of the monitor
};
/// Of the `index`-th circuit; nothing: nobody measures it, or what is measured may be others' light.
std::optional<MeasuredFrequency> measured_frequency(const LightPaths& paths, std::size_t index, const LightReadings& readings);
/// The first circuit at a monitor's receiver whose light does not arrive there; nothing: it all does, or it cannot be told.
std::optional<std::size_t> missing_at(const LightPaths& paths, ElementId receiver, const LightReadings& readings);

/// Does a switch that measures its ports see none of the `index`-th circuit's light, though every device on its way reads as
/// planned? Then nothing but a fibre can have lost it.
std::optional<MeasuredLight> missing_in(const LightPaths& paths, std::size_t index, ElementId element,
                                        const LightReadings& readings);

/// One sentence that names the element, what was read, how old that is and the limit that it broke.
std::string describe_light(const LightPaths& paths, std::size_t index, const MeasuredLight& light,
                           const LightReadings& readings);

/// OCP's word for it: CONNECTED, PENDING_CONNECTION (dark, and nothing is wrong), FAILED; UNKNOWN where OCP has none.
std::string_view oper_state(const MeasuredLight& light);

/// The worse of two; of equal states the first.
const MeasuredLight& worse(const MeasuredLight& a, const MeasuredLight& b);

}  // namespace loom
