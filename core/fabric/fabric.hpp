// SPDX-License-Identifier: Apache-2.0
// Fabric: nodes, optical elements, fibres, and the devices that agents drive, in one vocabulary for every architecture.
// A value: built once by core/config (or a template), then shared as shared_ptr<const Fabric>. It holds what is installed,
// never what is set: settings are Setpoints, light is computed from them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/device_profile.hpp"
#include "core/fabric/grid.hpp"
#include "core/fabric/port_table.hpp"
#include "core/ids.hpp"
#include "core/messages/one_of.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// Port numbering of every element: inputs 0..inputs-1 and outputs 0..outputs-1 are counted separately.
using PortNumber = std::uint16_t;

/// Where a laser's light is while it moves to another frequency.
enum class Tunes : std::uint8_t {
  dark,     ///< it tunes and locks with its output off
  blanked,  ///< it tunes and locks only when its output is on, behind a shutter of its own until it has: dark for others
  lit       ///< it tunes and locks only when its output is on: others must not see its light
};

struct Transmitter {  ///< 0 inputs, 1 output
  BitRate rate;
  FrequencyOffset signal_width{75'000};  ///< occupied spectrum at -20 dB
  Dbm launch_power{0};
  bool tunable = true;
  ChannelPlan channels;   ///< the frequencies that it may be set to
  Duration retune_max{};  ///< its own time to lock, worst case
  Duration blank_max{};   ///< command to dark, worst case
  Duration enable_max =
      std::chrono::milliseconds{10};  ///< output on to full power, worst case (CMIS 5.4 table 10-8, fast mode)
  Tunes tunes = Tunes::dark;
  Duration control_max{};  ///< what its bus adds to a change: commands, read-back, a busy host
};

struct Receiver {  ///< 1 input, 0 outputs
  Dbm sensitivity{-1800};
  Dbm overload{200};
  Duration acquisition_max{};  ///< light to link (CDR, DSP, FEC)
};

struct Coupler {};  ///< every input reaches every output with insertion_loss (which includes the split)

struct WavelengthSelectiveSwitch {
  /// Every (input, frequency slot) may be sent to at most one output; blocked otherwise.
  Db isolation{3500};
  FrequencyOffset passband_edge{6'250};  ///< lost at each side of a slot
  Duration settle_max{};
  /// Extra loss of the channels that stay, while the hologram reloads for others (settle_max at most). LCoS data sheets give
  /// none: the default is our assumption.
  Db reload_dip{50};
};

/// Cyclic arrayed-waveguide grating: input i, channel c leaves at output (c + i) mod outputs.
struct ArrayedWaveguideGrating {
  ChannelPlan channels;
  FrequencyOffset passband{80'000};  ///< full width at -3 dB
  Db isolation{3500};
};

struct Amplifier {  ///< 1 in, 1 out
  Db gain{0};       ///< that plans give it unless light has to be levelled
  Dbm input_min{-3500};
  Dbm input_max{1000};           ///< total power of all channels
  std::optional<Db> gain_min{};  ///< that its device can set; none: gain
  std::optional<Db> gain_max{};  ///< likewise
  Duration settle_max{};         ///< of its gain, worst case
};

/// Micro-ring add/drop filter: input 0 is the bus, input 1 (if it has one) adds; output 0 is through, output 1 drops. Within
/// fwhm of a resonance the bus goes to the drop and what is added goes through, so one ring may end one circuit and begin the
/// next at the same wavelength; elsewhere the bus goes through and what is added goes nowhere.
struct RingFilter {
  FrequencyOffset fwhm{50'000};
  FrequencyOffset free_spectral_range{0};  ///< 0: one resonance only in the band
  Frequency cold_resonance;                ///< with the heater off; heat moves it down in frequency
  double mhz_per_milliwatt = 37'000;       ///< tuning efficiency (Dahlem 2011: 27 uW/GHz a ring), by heater power
  double heater_ohm = 1'000;               ///< P = V^2 / R
  double heater_volt_max = 10;
  Db drop_loss{0};         ///< of light that drops or is added, beside the element's insertion loss
  Db isolation{0};         ///< how far below light on resonance its rest lies that takes the other way; 0: no rest
  bool calibrated = true;  ///< by its maker: these figures are its own; false: its kind's, and it must be measured first
  bool locked = false;     ///< held on the light that it drops, by what a monitor of its node sees of that
};

struct OpticalCircuitSwitch {  ///< one input to at most one output, any frequency
  Duration settle_max{};
  Db isolation{0};  ///< how far below an input's light its rest lies at every other output; 0: no rest
};

struct PatchPanel {
  std::vector<PortNumber> wiring;  ///< output of each input
};

struct Attenuator {   ///< 1 in, 1 out
  Db loss_max{3000};  ///< that its device can set
  Db loss{0};         ///< that plans give it unless light has to be levelled, beside its insertion loss
  Duration settle_max{};
};

struct Tap {};  ///< output 0 passes, output 1 monitors

/// Electrical packet switch: light ends at its inputs, and what leaves its outputs is light of its own ports, which no plan
/// sets and no circuit is made of. Each of its ports goes straight to one transmitter or receiver of a node.
struct PacketSwitch {
  BitRate port_rate;
  Duration latency{};  ///< input to output, unloaded
};

using ElementKind = OneOf<Transmitter, Receiver, Coupler, WavelengthSelectiveSwitch, ArrayedWaveguideGrating, Amplifier,
                          RingFilter, OpticalCircuitSwitch, PatchPanel, Attenuator, Tap, PacketSwitch>;

struct Element {
  ElementId id;
  std::string name;
  PortNumber inputs = 0;
  PortNumber outputs = 0;
  Db insertion_loss{0};
  ElementKind kind;
};

struct PortRef {
  ElementId element;
  PortNumber port = 0;
  auto operator<=>(const PortRef&) const = default;
};

/// Simplex: light runs from an output port to an input port.
struct Fibre {
  FibreId id;
  PortRef from;
  PortRef to;
  std::int64_t length_mm = 0;  ///< light takes 5 ns/m
  Db loss{0};
  std::optional<Dbm> power_limit{};  ///< of all light in it together; none: the fabric's
};

struct Node {
  NodeId id;
  std::string name;
  std::uint32_t group = 0;
  std::vector<ElementId> transmitters;
  std::vector<ElementId> receivers;
};

/// What a device does to light. Plans, observations and proofs know roles; models (a protocol, a data sheet) are the drivers'.
enum class DeviceRole : std::uint8_t {
  transmitter,
  filter,
  wavelength_switch,
  circuit_switch,
  monitor,
  gain_stage  ///< amplifies or attenuates all light alike, by what it is set to: EDFA, VOA
};
inline constexpr std::array kDeviceRoles{DeviceRole::transmitter,    DeviceRole::filter,  DeviceRole::wavelength_switch,
                                         DeviceRole::circuit_switch, DeviceRole::monitor, DeviceRole::gain_stage};

/// Something with a driver: one laser, one bank of ring heaters, one WSS.
struct Device {
  DeviceId id;
  std::string name;
  DeviceRole role = DeviceRole::transmitter;
  NodeId agent;  ///< the node whose agent drives it
  BusId bus;
  std::uint16_t bus_address = 0;  ///< Modbus unit, I2C address, ...
  /// Laser: 1 transmitter; bank: ring filter of channel k at index k; WSS: 1; monitor: receiver of channel k at index k.
  std::vector<ElementId> elements;
  std::string model{};                   ///< of its driver; empty: the usual one of its role
  std::vector<DeviceSetting> profile{};  ///< what differs from its model's usual; in the order of the model's keys
  std::string serial{};                  ///< that it must say; empty: whoever answers is taken for it
};

/// As JSON and sentences have it: "transmitter", "wavelength_switch".
std::string_view to_string(DeviceRole role);

/// Can a device of this role drive an element of that kind?
bool drives(DeviceRole device, const ElementKind& element);

/// What a gain stage may be set to, dB: 0 or above of an amplifier, 0 or below of an attenuator.
struct GainRange {
  Db least{0};
  Db most{0};
};
/// {0, 0} of what neither amplifies nor attenuates.
GainRange gain_range(const ElementKind& element);
/// By the fabric, beside the insertion loss: an amplifier's gain, an attenuator's loss below 0, 0 of anything else.
Db usual_gain(const ElementKind& element);

/// Where a lane finds its bus. `endpoint`: "sim", "modbus-tcp://host:port", "serial:///dev/ttyUSB0?baud=9600".
struct Bus {
  BusId id;
  std::string name;
  NodeId agent;
  std::string endpoint = "sim";
};

/// A contact that is closed while it is safe to emit light (a cover, a door, a key switch). Open, or not readable: the lasers
/// of its nodes are latched off by the process that hosts them, whatever the controller says.
struct InterlockContact {
  std::string name;
  std::string endpoint;  ///< gpio:///dev/gpiochip0/17, modbus-tcp://host:port/UNIT/INPUT, file:///path
  NodeId first;          ///< of its nodes
  NodeId last;           ///< included
};

/// Circuits are simplex; Ethernet wants to hear from the other end (link state, acknowledgements).
enum class ReturnPath : std::uint8_t {
  electrical,  ///< over a network beside the circuits
  optical,     ///< every circuit has one back, of the same job in the same timeslot
};

/// What an installation promises of times between its nodes. Guards of grants rest on the errors; on the trip no safety rests:
/// it says what grants and passes wait for each other, and predictions.
struct InstallationTimes {
  Duration agent_trip = std::chrono::milliseconds{1};    ///< a word's, from agent to agent, as expected
  Duration clock_error = std::chrono::microseconds{10};  ///< of any two agents' clocks, at most; of one host: 0
  Duration flight_error = std::chrono::microseconds{5};  ///< of any two flights of light: a kilometre of fibre
  bool operator==(const InstallationTimes&) const = default;
};

struct Fabric {
  std::string name;
  std::string architecture;              ///< the name of its scheduler; any other: one must be named
  std::vector<std::string> assumptions;  ///< printed wherever a number rests on them
  ReturnPath return_path = ReturnPath::electrical;
  InstallationTimes times;
  std::vector<Node> nodes;        ///< index = id
  std::vector<Element> elements;  ///< index = id
  std::vector<Fibre> fibres;      ///< index = id
  std::vector<Device> devices;    ///< index = id
  std::vector<Bus> buses;         ///< index = id
  std::vector<InterlockContact> interlocks;
  std::string hazard_level;          ///< IEC 60825-2, of every accessible fibre; empty: nobody has said
  std::optional<Dbm> power_limit{};  ///< of all light in any one fibre; from the hazard level, or given

  // Derived by build_index(); empty until then.
  PortTable fibre_out;                                     ///< [element][output port]
  PortTable fibre_in;                                      ///< [element][input port]
  std::vector<std::optional<DeviceId>> device_of_element;  ///< [element]
  std::vector<std::uint16_t> index_in_device;              ///< [element]: its place in Device::elements
  std::vector<std::optional<NodeId>> node_of_element;      ///< [element]: owner of a transmitter or receiver
  std::vector<std::vector<DeviceId>> devices_of_agent;     ///< [node]
  /// [device]: light of a laser that another agent drives can come to one of its elements, however switches and rings stand.
  /// Such a device moves only when everybody has proven that light dark; who else is lit decides, not what kind it is of.
  std::vector<bool> steers_others;

  const Element& element(ElementId id) const { return elements[id.value]; }
  const Device& device(DeviceId id) const { return devices[id.value]; }
};

/// Fills the derived fields. Precondition: ids are dense and references valid (check_fabric says so).
void build_index(Fabric& fabric);
/// The last of them, from the others.
std::vector<bool> find_steering(const Fabric& fabric);

/// Every broken reference or unlawful value, one sentence each; empty means lawful.
std::vector<std::string> check_fabric(const Fabric& fabric);

}  // namespace loom
