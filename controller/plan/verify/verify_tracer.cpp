// SPDX-License-Identifier: Apache-2.0
// Light through a fabric: linear powers, signals by open ways, leaks by closed ones.
#include <algorithm>
#include <utility>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/text/format_text.hpp"

namespace loom::verifying {

Settings::Settings(const Fabric& fabric, const Plan& plan)
    : devices(fabric.devices.size(), nullptr),
      source_of(fabric.elements.size(), kNoSource),
      wss(fabric.elements.size(), nullptr),
      ocs(fabric.elements.size()),
      resonances(fabric.elements.size()) {
  for (const Element& element : fabric.elements) {
    gains.push_back(usual_gain(element.kind));
  }
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      read(fabric, device);
    }
  }
}

void Settings::replace(const Fabric& fabric, const NodePlan& slice) {
  for (const DevicePlan& device : slice.devices) {
    for (const ElementId element : fabric.device(device.device).elements) {
      resonances[element.value].reset();
    }
    read(fabric, device);
  }
}

void Settings::read(const Fabric& fabric, const DevicePlan& device) {
  devices[device.device.value] = &device;
  const auto& elements = fabric.device(device.device).elements;
  const Setpoint& first = device.timeline.front().setpoint;
  if (const auto* route = std::get_if<WavelengthSwitchSetpoint>(&first)) {
    wss[elements[0].value] = route;
  } else if (const auto* connect = std::get_if<CircuitSwitchSetpoint>(&first)) {
    auto& output_of = ocs[elements[0].value];
    output_of.assign(fabric.element(elements[0]).inputs, -1);
    for (const CrossConnect& each : connect->connects) {
      if (each.input < output_of.size() && each.output < fabric.element(elements[0]).outputs) {
        output_of[each.input] = each.output;  // others are refused (check_setpoints)
      }
    }
  } else if (const auto* heater = std::get_if<FilterSetpoint>(&first)) {
    for (const RingResonance& ring : heater->rings) {
      resonances[elements[ring.channel].value] = ring.resonance;
    }
  } else if (const auto* stage = std::get_if<GainSetpoint>(&first)) {
    gains[elements[0].value] = stage->gain;
  } else if (std::holds_alternative<TransmitterSetpoint>(first)) {
    if (source_of[elements[0].value] == kNoSource) {
      source_of[elements[0].value] = static_cast<std::uint32_t>(sources.size());
      sources.push_back({elements[0], nullptr, {}});
    }
    Source& source = sources[source_of[elements[0].value]];
    source.device = &device;
    source.emissions.clear();
    for (const TimedSetpoint& entry : device.timeline) {
      const auto& laser = std::get<TransmitterSetpoint>(entry.setpoint);
      if (laser.emit) {
        const Duration begin = entry.offset + entry.guard;
        source.emissions.push_back({laser, begin, entry.hold == kForever ? kForever : begin + entry.hold});
      }
    }
  }
}

void Settings::measure(const Fabric& fabric, const Intent& intent) {
  for (const DeviceCalibration& each : intent.calibrations) {
    for (const ChannelLight& power : calibration_of(intent, each.device) == &each ? each.lights : std::vector<ChannelLight>{}) {
      offsets[{fabric.device(each.device).elements[0], power.slot}] = power.offset;
    }
  }
  for (Source& source : sources) {
    for (Emission& emission : source.emissions) {
      emission.beside = std::max(offset(source.transmitter, emission.laser.slot), Db{0});
    }
  }
}

Db Settings::offset(ElementId transmitter, FrequencySlot slot) const {
  const auto found = offsets.find({transmitter, slot});
  return found == offsets.end() ? Db{0} : found->second;
}

LightTracer::LightTracer(const Fabric& fabric, const LightOrder& order, const Settings& settings, Faults& faults)
    : fabric_(fabric),
      order_(order),
      faults_(faults),
      passages_(fabric, order, settings, faults),
      strays_(fabric, order, passages_),
      follower_(fabric, order, passages_) {}

Field LightTracer::trace(const std::vector<Lit>& lights) {
  arrivals_.clear();
  strays_.clear();
  for (const Lit& light : lights) {
    follow(light);
  }
  Field field;
  field.signals = gather();
  for (const Fibre& fibre : fabric_.fibres) {
    check_fibre(fibre, field.signals.on(fibre.id));
  }
  for (const ElementId coupler : order_.couplers) {
    check_coupler(fabric_.element(coupler), field.signals);
  }
  for (std::size_t place = 0; place < order_.rings.size(); ++place) {
    if (order_.rings[place].is_ring) {
      check_ring(place, field.signals);
    }
  }
  if (!strays_.sum(field.leaks)) {
    faults_.add(rules::kOpticalLoop, [&] {
      return format_text("{}: stray light still grows after {} rounds; a circle of its fibres gains more than it loses",
                         fabric_.name, StrayLight::kRoundsMax);
    });
  }
  return field;
}

/// One transmitter's signal, fibre by fibre.
void LightTracer::follow(const Lit& light) {
  const auto arrive = [&](FibreId fibre, const Cell& cell, const Element& element, const Passage& way) {
    arrivals_.push_back({fibre, cell});
    if (way.leak > 0) {
      strays_.leak(element.id, cell, way);
    }
  };
  const auto meet = [&](FibreId fibre) {
    faults_.add(rules::kOpticalLoop, [&] {
      return format_text(
          "light of {} at {} meets itself on fibre {} after {}: nothing takes it out of its circle, or it came by two ways",
          fabric_.element(light.transmitter).name, to_string(centre_of(light.slot)), fibre.value,
          fabric_.element(fabric_.fibres[fibre.value].from.element).name);
    });
  };
  follower_.follow(light, arrive, meet);
}

/// The arrivals by fibre, ascending colour; signals of one colour on one fibre become one cell that says how many they are.
Layer LightTracer::gather() {
  Layer layer;
  layer.fibres.resize(fabric_.fibres.size());
  for (const Arrival& arrival : arrivals_) {
    ++layer.fibres[arrival.fibre.value].count;
  }
  std::uint32_t begin = 0;
  for (Layer::Range& range : layer.fibres) {
    range.begin = begin;
    begin += std::exchange(range.count, 0);
  }
  layer.cells.resize(begin);
  for (const Arrival& arrival : arrivals_) {
    Layer::Range& range = layer.fibres[arrival.fibre.value];
    layer.cells[range.begin + range.count++] = arrival.cell;
  }
  for (Layer::Range& range : layer.fibres) {
    const auto first = layer.cells.begin() + range.begin;
    std::sort(first, first + range.count,
              [](const Cell& a, const Cell& b) { return a.colour != b.colour ? a.colour < b.colour : a.source < b.source; });
    std::uint32_t kept = 0;
    for (std::uint32_t i = 1; i < range.count; ++i) {
      if (first[kept].colour == first[i].colour) {
        first[kept].mw += first[i].mw;
        ++first[kept].signals;
      } else {
        first[++kept] = first[i];
      }
    }
    range.count = range.count == 0 ? 0 : kept + 1;
  }
  return layer;
}

void LightTracer::check_ring(std::size_t place, const Layer& signals) {
  const ElementId id = order_.elements[place];
  const auto& bus = fabric_.fibre_in[id.value][0];
  if (!bus) {
    return;
  }
  const auto cells = signals.on(*bus);
  const auto dropped =
      std::count_if(cells.begin(), cells.end(), [&](const Cell& cell) { return passages_.acts(place, cell.colour); });
  if (dropped > 1) {
    const Element& element = fabric_.element(id);
    faults_.add(rules::kAliasing, [&] {
      return format_text("{} drops {} wavelengths at once; its free spectral range is {} MHz", element.name, dropped,
                         std::get<RingFilter>(element.kind).free_spectral_range.mhz);
    });
  }
}

void LightTracer::check_coupler(const Element& element, const Layer& signals) {
  std::map<std::uint16_t, PortNumber> input_of;
  for (PortNumber input = 0; input < element.inputs && element.inputs > 1; ++input) {
    const auto& fibre = fabric_.fibre_in[element.id.value][input];
    if (!fibre) {
      continue;
    }
    for (const Cell& cell : signals.on(*fibre)) {
      const PortNumber first = input_of.emplace(cell.colour, input).first->second;
      if (first != input) {
        faults_.add(rules::kOncePerCoupler, [&] {
          return format_text("{}: inputs {} and {} both carry {}", element.name, first, input,
                             to_string(centre_of(colours()[cell.colour])));
        });
      }
    }
  }
}

void LightTracer::check_fibre(const Fibre& fibre, std::span<const Cell> signals) {
  const Cell* previous = nullptr;
  for (const Cell& cell : signals) {
    const bool twice = cell.signals > 1;
    const bool touching = previous != nullptr && passages_.touch(cell, *previous);
    if (twice || touching) {
      faults_.add(rules::kOncePerSegment, [&] {
        return format_text("fibre {} after {}: {}{}", fibre.id.value, fabric_.element(fibre.from.element).name,
                           to_string(centre_of(colours()[cell.colour])),
                           twice ? format_text(" of {} transmitters", cell.signals) : " overlaps its neighbour");
      });
    }
    previous = &cell;
  }
}

}  // namespace loom::verifying
