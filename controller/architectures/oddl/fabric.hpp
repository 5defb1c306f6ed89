// SPDX-License-Identifier: Apache-2.0
// The fabric of ODDL as we reconstruct it: its parameters, what is made of them, and its template for fabric files.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "core/config/fabric_template.hpp"
#include "core/fabric/fabric.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// What joins the nodes of an ODDL group to each other.
enum class OddlInside : std::uint8_t {
  combiner,  ///< all transmitters into one fibre, whose light the WSS send to this group's AWG or another's
  awgr,      ///< a cyclic router of nodes and one uplink: light inside needs no WSS, light to elsewhere takes the uplink
};
std::string_view to_string(OddlInside inside);

/// What stands before an ODDL receiver.
enum class OddlReceiver : std::uint8_t {
  ring,  ///< a micro-ring drop filter: one wavelength until its heater moves
  open,  ///< nothing: every order of its AWG output is heard, one at a time
};
std::string_view to_string(OddlReceiver receiver);

/// Which lasers an ODDL fabric has: the names of their drivers' models.
enum class OddlLaser : std::uint8_t { itla_laser, table_laser };
std::string_view to_string(OddlLaser laser);

/// Parameters of the ODDL reconstruction (docs/systems/oddl.md#two-time-scales). Everything beyond the paper's abstract is
/// inference.
struct OddlParameters {
  std::uint32_t nodes = 1024;
  std::uint32_t group_size = 32;
  std::int32_t channels = 48;
  std::int32_t channel_step_n = 16;     ///< 100 GHz
  std::int32_t channel_width_m = 8;     ///< 100 GHz
  std::int32_t first_channel_n = -272;  ///< 191.4 THz
  BitRate rate = gigabits(100);
  FrequencyOffset signal_width{75'000};
  OddlLaser laser = OddlLaser::itla_laser;
  Duration laser_retune_max = std::chrono::milliseconds{10};
  Duration laser_blank_max = std::chrono::microseconds{100};
  Duration laser_control_max =
      std::chrono::milliseconds{20};  ///< ITLA frames at 115200 baud: about 14 of 0.8 ms, and a busy host
  Duration wss_settle_max = std::chrono::milliseconds{100};
  Db wss_reload_dip{50};  ///< see WavelengthSelectiveSwitch
  Duration receiver_acquisition_max = std::chrono::microseconds{1};
  std::uint32_t planes = 1;  ///< k: transmitters and receivers a node, each plane with combiners, WSS pairs and AWGs of its own
  OddlInside inside = OddlInside::combiner;
  OddlReceiver receiver = OddlReceiver::ring;  ///< inside awgr: open, as each source comes on a wavelength of its own
  Db awg_isolation{3500};
  bool calibrated = true;    ///< rings are as the fabric says, by their maker; false: they are measured first
  bool locked = false;       ///< agents hold rings on their light; needs photodiodes
  bool photodiodes = false;  ///< behind each receiver, a bank of them a node

  /// Sets the laser and its usual times. Of a table laser: DS-DBR modules settle within a microsecond (docs/devices.md), and
  /// what an agent in software adds.
  void take(OddlLaser model);
};

/// Groups of nodes: transmitters -> combiner -> amplifier -> WSS -> fibre -> WSS -> amplifier -> cyclic AWG (-> ring filter)
/// -> receiver, once a plane. Inside awgr: transmitters -> cyclic AWG -> receivers, and an uplink and a downlink of it with the
/// amplifiers and WSS between. The devices of a group's WSS belong to the agent of the group's first node. Label:
/// reconstruction.
Fabric make_oddl(const OddlParameters& parameters);

extern const FabricTemplate kOddlTemplate;

}  // namespace loom
