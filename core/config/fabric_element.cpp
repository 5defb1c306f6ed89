// SPDX-License-Identifier: Apache-2.0
// The keys of each kind of element, with their units and ranges.
#include "core/config/fabric_element.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/config/fabric_explicit.hpp"
#include "core/config/template_keys.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using std::chrono::seconds;

constexpr Range<Duration> kDeviceTime{Duration{0}, seconds{60}};
constexpr Range<Duration> kTuningTime{Duration{0}, std::chrono::hours{1}};  // CMIS coherent modules advertise minutes
constexpr Range<Dbm> kPower{Dbm{-6'000}, Dbm{4'000}};
constexpr Range<Db> kRatio{Db{0}, Db{10'000}};
constexpr Range<FrequencyOffset> kWidth{{1}, {4'800'000}};
constexpr Range<Frequency> kOptical{{180'000'000}, {210'000'000}};
constexpr std::int64_t kPorts = 16'384;  ///< as many as the circuit switch of a template has at most

struct Ports {
  PortNumber inputs = 0;
  PortNumber outputs = 0;
};

ChannelPlan read_plan(YamlMap& map) {
  return read_channels(map, ChannelPlan{{-272, 8}, 16, 48}, "first_channel", "channel_spacing", "channel_width", "channels");
}

Transmitter read_transmitter(YamlMap& map) {
  Transmitter transmitter;
  transmitter.rate = map.bit_rate("rate", {{1'000'000}, gigabits(10'000)}, Rule::required);
  transmitter.signal_width = map.offset("signal_width", kWidth, transmitter.signal_width);
  transmitter.launch_power = map.power("launch_power", kPower, transmitter.launch_power);
  transmitter.tunable = map.flag("tunable", transmitter.tunable);
  transmitter.channels = read_plan(map);
  transmitter.control_max = map.duration("control_max", kDeviceTime, transmitter.control_max);
  transmitter.retune_max = map.duration("retune_max", kTuningTime, transmitter.retune_max);
  transmitter.blank_max = map.duration("blank_max", kDeviceTime, transmitter.blank_max);
  transmitter.enable_max = map.duration("enable_max", kTuningTime, transmitter.enable_max);
  static const std::vector<std::string> kTunes{"dark", "blanked", "lit"};  // in the order of Tunes
  transmitter.tunes = static_cast<Tunes>(map.word("tunes", kTunes, std::size_t{0}).value_or(0));
  check_signal_width(map, transmitter.signal_width, transmitter.channels);
  return transmitter;
}

Receiver read_receiver(YamlMap& map) {
  Receiver receiver;
  receiver.sensitivity = map.power("sensitivity", kPower, receiver.sensitivity);
  receiver.overload = map.power("overload", kPower, receiver.overload);
  receiver.acquisition_max = map.duration("acquisition_max", kDeviceTime, receiver.acquisition_max);
  if (receiver.overload <= receiver.sensitivity) {
    map.error("overload", format_text("overload: found {}; expected more than the sensitivity of {}",
                                      print_quantity(receiver.overload.centi, kPowerUnits),
                                      print_quantity(receiver.sensitivity.centi, kPowerUnits)));
  }
  return receiver;
}

WavelengthSelectiveSwitch read_wss(YamlMap& map) {
  WavelengthSelectiveSwitch wss;
  wss.isolation = map.ratio("isolation", kRatio, wss.isolation);
  wss.passband_edge = map.offset("passband_edge", {{0}, {100'000}}, wss.passband_edge);
  wss.settle_max = map.duration("settle_max", kDeviceTime, wss.settle_max);
  wss.reload_dip = map.ratio("reload_dip", kRatio, wss.reload_dip);
  return wss;
}

ArrayedWaveguideGrating read_grating(YamlMap& map) {
  ArrayedWaveguideGrating grating;
  grating.channels = read_plan(map);
  grating.passband = map.offset("passband", kWidth, grating.passband);
  grating.isolation = map.ratio("isolation", kRatio, grating.isolation);
  return grating;
}

constexpr Range<Db> kGain{Db{0}, Db{5'000}};

Amplifier read_amplifier(YamlMap& map) {
  Amplifier amplifier;
  amplifier.gain = map.ratio("gain", kGain, Rule::required);
  amplifier.gain_min = map.ratio("gain_min", kGain, {amplifier.gain, "gain"});
  amplifier.gain_max = map.ratio("gain_max", kGain, {amplifier.gain, "gain"});
  amplifier.settle_max = map.duration("settle_max", kDeviceTime, amplifier.settle_max);
  if (amplifier.gain < *amplifier.gain_min || amplifier.gain > *amplifier.gain_max) {
    map.error("gain", format_text("gain: found {}; expected one from gain_min = {} to gain_max = {}",
                                  print_quantity(amplifier.gain.centi, kRatioUnits),
                                  print_quantity(amplifier.gain_min->centi, kRatioUnits),
                                  print_quantity(amplifier.gain_max->centi, kRatioUnits)));
  }
  amplifier.input_min = map.power("input_min", kPower, amplifier.input_min);
  amplifier.input_max = map.power("input_max", kPower, amplifier.input_max);
  if (amplifier.input_max <= amplifier.input_min) {
    map.error("input_max", format_text("input_max: found {}; expected more than input_min = {}",
                                       print_quantity(amplifier.input_max.centi, kPowerUnits),
                                       print_quantity(amplifier.input_min.centi, kPowerUnits)));
  }
  return amplifier;
}

Attenuator read_attenuator(YamlMap& map) {
  Attenuator attenuator;
  attenuator.loss_max = map.ratio("loss_max", kRatio, attenuator.loss_max);
  attenuator.loss = map.ratio("loss", kRatio, attenuator.loss);
  attenuator.settle_max = map.duration("settle_max", kDeviceTime, attenuator.settle_max);
  if (attenuator.loss > attenuator.loss_max) {
    map.error("loss",
              format_text("loss: found {}; expected at most loss_max = {}", print_quantity(attenuator.loss.centi, kRatioUnits),
                          print_quantity(attenuator.loss_max.centi, kRatioUnits)));
  }
  return attenuator;
}

RingFilter read_ring(YamlMap& map) {
  RingFilter ring;
  ring.fwhm = map.offset("fwhm", kWidth, ring.fwhm);
  ring.free_spectral_range = map.offset("free_spectral_range", {{0}, {20'000'000}}, ring.free_spectral_range);
  ring.cold_resonance = map.frequency("cold_resonance", kOptical, Rule::required);
  ring.mhz_per_milliwatt = static_cast<double>(
      map.quantity("tuning_efficiency", kTuningUnits, {1, 10'000'000}, static_cast<std::int64_t>(ring.mhz_per_milliwatt)));
  ring.heater_ohm = static_cast<double>(map.quantity("heater_resistance", kResistanceUnits, {1'000, 1'000'000'000},
                                                     static_cast<std::int64_t>(ring.heater_ohm * 1000))) /
                    1000;
  ring.heater_volt_max = static_cast<double>(map.quantity("heater_voltage_max", kVoltageUnits, {1, 100'000},
                                                          static_cast<std::int64_t>(ring.heater_volt_max * 1000))) /
                         1000;
  ring.drop_loss = map.ratio("drop_loss", kRatio, ring.drop_loss);
  ring.isolation = map.ratio("isolation", kRatio, ring.isolation);
  ring.calibrated = map.flag("calibrated", ring.calibrated);
  ring.locked = map.flag("locked", ring.locked);
  return ring;
}

PacketSwitch read_packet_switch(YamlMap& map) {
  return {map.bit_rate("port_rate", {{1'000'000}, gigabits(10'000)}, Rule::required),
          map.duration("latency", kDeviceTime, Duration{})};
}

PatchPanel read_panel(YamlMap& map, Ports ports) {
  PatchPanel panel;
  std::vector<bool> taken(ports.outputs);
  const auto items = map.list("wiring", static_cast<std::size_t>(kPorts), Rule::required);
  for (const YamlNode& item : items) {
    const auto output = parse_integer(item);
    if (!output || *output < 0 || *output >= ports.outputs || taken[static_cast<std::size_t>(*output)]) {
      map.error_at(item, "wiring: " + (output ? format_text("found output {}; expected each of 0..{} at most once", item.text,
                                                            ports.outputs - 1)
                                              : output.error().message));
      continue;
    }
    taken[static_cast<std::size_t>(*output)] = true;
    panel.wiring.push_back(static_cast<PortNumber>(*output));
  }
  if (items.size() != ports.inputs) {
    map.error("wiring",
              format_text("wiring: found {} outputs; expected one for each of the {} inputs", items.size(), ports.inputs));
  }
  return panel;
}

/// One row a kind, in the order of ElementKind's alternatives.
struct KindRow {
  std::string word;
  std::optional<Ports> ports;  ///< of kinds that have no choice
  ElementKind (*read)(YamlMap& map, Ports ports);
};

const std::array<KindRow, std::variant_size_v<ElementKind>>& kinds() {
  static const std::array<KindRow, std::variant_size_v<ElementKind>> rows{{
      {"transmitter", Ports{0, 1}, [](YamlMap& map, Ports) -> ElementKind { return read_transmitter(map); }},
      {"receiver", Ports{1, 0}, [](YamlMap& map, Ports) -> ElementKind { return read_receiver(map); }},
      {"coupler", std::nullopt, [](YamlMap&, Ports) -> ElementKind { return Coupler{}; }},
      {"wavelength_selective_switch", std::nullopt, [](YamlMap& map, Ports) -> ElementKind { return read_wss(map); }},
      {"arrayed_waveguide_grating", std::nullopt, [](YamlMap& map, Ports) -> ElementKind { return read_grating(map); }},
      {"amplifier", Ports{1, 1}, [](YamlMap& map, Ports) -> ElementKind { return read_amplifier(map); }},
      {"ring_filter", Ports{1, 2}, [](YamlMap& map, Ports) -> ElementKind { return read_ring(map); }},
      {"optical_circuit_switch", std::nullopt,
       [](YamlMap& map, Ports) -> ElementKind {
         const Duration settle_max = map.duration("settle_max", kDeviceTime, Duration{});
         return OpticalCircuitSwitch{settle_max, map.ratio("isolation", {Db{0}, Db{10'000}}, Db{0})};
       }},
      {"patch_panel", std::nullopt, [](YamlMap& map, Ports ports) -> ElementKind { return read_panel(map, ports); }},
      {"attenuator", Ports{1, 1}, [](YamlMap& map, Ports) -> ElementKind { return read_attenuator(map); }},
      {"tap", Ports{1, 2}, [](YamlMap&, Ports) -> ElementKind { return Tap{}; }},
      {"packet_switch", std::nullopt, [](YamlMap& map, Ports) -> ElementKind { return read_packet_switch(map); }},
  }};
  return rows;
}

}  // namespace

std::string_view element_word(const ElementKind& kind) { return kinds()[kind.index()].word; }

Element read_fabric_element(YamlMap& map) {
  Element element;
  element.name = map.name("name", Rule::required);
  std::vector<std::string> words;
  for (const KindRow& row : kinds()) {
    words.push_back(row.word);
  }
  const auto kind = map.word("kind", words, Rule::required);
  if (!kind) {
    return element;
  }
  const KindRow& row = kinds()[*kind];
  Ports ports = row.ports.value_or(Ports{});
  if (!row.ports) {
    ports.inputs = static_cast<PortNumber>(map.integer("inputs", {1, kPorts}, Rule::required));
    ports.outputs = static_cast<PortNumber>(map.integer("outputs", {1, kPorts}, Rule::required));
  }
  if (row.word == "ring_filter") {
    ports.inputs = static_cast<PortNumber>(map.integer("inputs", {1, 2}, 1));  // the second one adds
  }
  element.inputs = ports.inputs;
  element.outputs = ports.outputs;
  element.insertion_loss = map.ratio("insertion_loss", kRatio, Db{0});
  element.kind = row.read(map, ports);
  map.finish();
  return element;
}

}  // namespace loom
