// SPDX-License-Identifier: Apache-2.0
// Light through a fabric: linear powers, signals by open ways, leaks by closed ones.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/text/format_text.hpp"

namespace loom::verifying {
namespace {

/// Leaks lose 20 dB and more at each closed port: a few rounds settle them. Whatever has not settled by then gains.
constexpr int kRoundsMax = 64;
constexpr double kSettled = 1e-6;  ///< relative change of all leaks in a round

double linear(std::int32_t centi_db) { return centi_db == 0 ? 1.0 : std::pow(10.0, centi_db / 1000.0); }

}  // namespace

bool resonates(const RingFilter& ring, std::optional<Frequency> resonance, Frequency light) {
  std::int64_t distance = std::llabs(light.mhz - resonance.value_or(ring.cold_resonance).mhz);
  if (const std::int64_t range = ring.free_spectral_range.mhz; range > 0) {
    distance %= range;
    distance = std::min(distance, range - distance);
  }
  return distance <= ring.fwhm.mhz / 2;
}

Settings::Settings(const Fabric& fabric, const Plan& plan)
    : devices(fabric.devices.size(), nullptr),
      wss(fabric.elements.size(), nullptr),
      ocs(fabric.elements.size()),
      resonances(fabric.elements.size()) {
  for (const Element& element : fabric.elements) {
    gains.push_back(usual_gain(element.kind));
  }
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
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
        Source source{elements[0], &device, {}};
        for (const TimedSetpoint& entry : device.timeline) {
          const auto& laser = std::get<TransmitterSetpoint>(entry.setpoint);
          if (laser.emit) {
            const Duration begin = entry.offset + entry.guard;
            source.emissions.push_back({laser, begin, entry.hold == kForever ? kForever : begin + entry.hold});
          }
        }
        sources.push_back(std::move(source));
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

LightTracer::LightTracer(const Fabric& fabric, const Settings& settings, Faults& faults)
    : fabric_(fabric), settings_(settings), faults_(faults), seen_(fabric.fibres.size(), 0) {
  for (const Source& source : settings.sources) {
    for (const Emission& emission : source.emissions) {
      colours_.push_back(emission.laser.slot);
    }
  }
  std::sort(colours_.begin(), colours_.end());
  colours_.erase(std::unique(colours_.begin(), colours_.end()), colours_.end());
  sum_.resize(colours_.size());
  leak_exits_.resize(fabric.elements.size());
  order();
  measure();
}

/// Of one input, with filters behind it, nothing that leaks is ever heard: no light of the same colour is there. A receiver
/// right behind it receives all colours.
bool LightTracer::leak_is_received(const Element& grating) const {
  if (grating.inputs > 1) {
    return true;
  }
  const auto& outputs = fabric_.fibre_out[grating.id.value];
  return std::any_of(outputs.begin(), outputs.end(), [&](const std::optional<FibreId>& fibre) {
    return fibre && std::holds_alternative<Receiver>(fabric_.element(fabric_.fibres[fibre->value].to.element).kind);
  });
}

/// Linear factors of everything.
void LightTracer::measure() {
  for (const Element& element : fabric_.elements) {
    const std::int32_t gain = (settings_.gains[element.id.value] - element.insertion_loss).centi;
    double leak = 0;
    double drop = 1;
    if (const auto* switching = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
      leak = linear(gain - switching->isolation.centi);
      if (settings_.wss[element.id.value] != nullptr) {
        leak_exits_[element.id.value] = leak_exits_of(element, *settings_.wss[element.id.value]);
      }
    } else if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind);
               grating && leak_is_received(element)) {
      leak = linear(gain - grating->isolation.centi);
    } else if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
      leak = ring->isolation > Db{0} ? linear(gain - ring->isolation.centi) : 0;
      drop = linear(gain - ring->drop_loss.centi);
    }
    pass_factor_.push_back(linear(gain));
    drop_factor_.push_back(drop);
    leak_factor_.push_back(leak);
  }
  for (const Fibre& fibre : fabric_.fibres) {
    fibre_factor_.push_back(linear(-fibre.loss.centi));
  }
}

/// Leaks are many and need no passband: their exits are looked up. By input and colour; -1 where no route is open.
std::vector<std::int32_t> LightTracer::leak_exits_of(const Element& element, const WavelengthSwitchSetpoint& setpoint) const {
  std::vector<std::int32_t> exits(element.inputs * colours_.size(), -1);
  for (const WssRoute& route : setpoint.routes) {
    const FrequencySlot lowest{route.slot.n - route.slot.m - kWidestSlot, 0};
    for (auto at = std::lower_bound(colours_.begin(), colours_.end(), lowest);
         at != colours_.end() && at->n <= route.slot.n + route.slot.m + kWidestSlot; ++at) {
      if (overlaps(*at, route.slot)) {
        exits[route.input * colours_.size() + static_cast<std::size_t>(at - colours_.begin())] = route.output;
      }
    }
  }
  return exits;
}

/// Kahn's order. Where only loops are left, the lowest of their elements goes first, as if nothing came round to it yet.
void LightTracer::order() {
  std::vector<std::uint32_t> open(fabric_.elements.size());
  std::vector<bool> placed(fabric_.elements.size());
  for (const Fibre& fibre : fabric_.fibres) {
    ++open[fibre.to.element.value];
  }
  const auto place = [&](ElementId id) {
    placed[id.value] = true;
    order_.push_back(id);
  };
  for (const Element& element : fabric_.elements) {
    if (open[element.id.value] == 0) {
      place(element.id);
    }
  }
  std::size_t next = 0;
  for (std::size_t i = 0; order_.size() < fabric_.elements.size() || i < order_.size(); ++i) {
    if (i == order_.size()) {
      has_loops_ = true;
      while (placed[next]) {
        ++next;
      }
      place(ElementId{static_cast<std::uint32_t>(next)});
    }
    for (const auto& fibre : fabric_.fibre_out[order_[i].value]) {
      if (!fibre) {
        continue;
      }
      const ElementId to = fabric_.fibres[fibre->value].to.element;
      if (--open[to.value] == 0 && !placed[to.value]) {
        place(to);
      }
    }
  }
  // Nothing leaks through a transmitter or a receiver, and those are most of a fabric.
  std::erase_if(order_, [&](ElementId id) { return fabric_.element(id).inputs == 0 || fabric_.element(id).outputs == 0; });
}

std::uint16_t LightTracer::colour_of(FrequencySlot slot) const {
  return static_cast<std::uint16_t>(std::lower_bound(colours_.begin(), colours_.end(), slot) - colours_.begin());
}

FrequencyOffset LightTracer::width_of_signal(const Cell& cell) const {
  return std::get<Transmitter>(fabric_.elements[cell.source].kind).signal_width;
}

Field LightTracer::trace(const std::vector<Lit>& lights) {
  arrivals_.clear();
  for (const Lit& light : lights) {
    follow(light);
  }
  Field field;
  field.signals = gather();
  for (const Fibre& fibre : fabric_.fibres) {
    check_fibre(fibre, field.signals.on(fibre.id));
  }
  for (const Element& element : fabric_.elements) {
    if (std::holds_alternative<Coupler>(element.kind)) {
      check_coupler(element, field.signals);
    } else if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
      check_ring(element, *ring, field.signals);
    }
  }
  leak(field);
  return field;
}

/// One transmitter's signal, fibre by fibre. It may come to each fibre once: light that meets itself has run in a circle (and
/// would for ever, growing if the circle gains), or has come by two ways.
void LightTracer::follow(const Lit& light) {
  const auto& out = fabric_.fibre_out[light.transmitter.value];
  if (!out[0]) {
    return;
  }
  ++signal_number_;
  const double power = linear(light.power.centi) * fibre_factor_[out[0]->value];
  open_.assign(1, {*out[0], {power, light.transmitter.value, colour_of(light.slot), 1}});
  while (!open_.empty()) {
    const Arrival at = open_.back();
    open_.pop_back();
    const Fibre& fibre = fabric_.fibres[at.fibre.value];
    if (seen_[at.fibre.value] == signal_number_) {
      faults_.add(rules::kOpticalLoop, [&] {
        return format_text(
            "light of {} at {} meets itself on fibre {} after {}: nothing takes it out of its circle, or it came by two ways",
            fabric_.element(light.transmitter).name, to_string(centre_of(light.slot)), fibre.id.value,
            fabric_.element(fibre.from.element).name);
      });
      continue;
    }
    seen_[at.fibre.value] = signal_number_;
    arrivals_.push_back(at);
    const Element& element = fabric_.element(fibre.to.element);
    const Passage way = passage_of(element, fibre.to.port, at.cell);
    const auto outputs = fabric_.fibre_out[element.id.value];
    const auto leave = [&](const std::optional<FibreId>& next) {
      if (next) {
        Cell cell = at.cell;
        cell.mw *= way.factor * fibre_factor_[next->value];
        open_.push_back({*next, cell});
      }
    };
    if (way.output == kEveryOutput) {
      std::ranges::for_each(outputs, leave);
    } else if (way.output >= 0 && static_cast<std::size_t>(way.output) < outputs.size()) {
      leave(outputs[static_cast<std::size_t>(way.output)]);
    }
  }
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

/// What of each element's signals goes where it should not: the same in every round.
void LightTracer::find_leaking(const Layer& signals) {
  leaking_.clear();
  leaking_begins_.clear();
  for (const ElementId id : order_) {
    leaking_begins_.push_back(static_cast<std::uint32_t>(leaking_.size()));
    const Element& element = fabric_.element(id);
    for (PortNumber input = 0; leak_factor_[id.value] > 0 && input < element.inputs; ++input) {
      const auto& fibre = fabric_.fibre_in[id.value][input];
      for (const Cell& cell : fibre ? signals.on(*fibre) : std::span<const Cell>{}) {
        if (const Passage way = passage_of(element, input, cell); way.leak > 0) {
          leaking_.push_back({cell, {way.output, 0, way.leak}});  // what passes is a signal
        }
      }
    }
  }
  leaking_begins_.push_back(static_cast<std::uint32_t>(leaking_.size()));
}

void LightTracer::leak(Field& field) {
  field.leaks.fibres.resize(fabric_.fibres.size());
  find_leaking(field.signals);
  double before = 0;
  for (int round = 0; round < (has_loops_ ? kRoundsMax : 1); ++round) {
    const std::size_t begin = field.leaks.cells.size();  // cells of the round before feed this one until they are replaced
    for (std::size_t i = 0; i < order_.size(); ++i) {
      leak_through(fabric_.element(order_[i]),
                   {leaking_.data() + leaking_begins_[i], leaking_begins_[i + 1] - leaking_begins_[i]}, field);
    }
    double now = 0;
    for (std::size_t i = begin; i < field.leaks.cells.size(); ++i) {
      now += field.leaks.cells[i].mw;
    }
    if (!has_loops_ || std::abs(now - before) <= kSettled * now) {
      return;
    }
    before = now;
  }
  faults_.add(rules::kOpticalLoop, [&] {
    return format_text("{}: stray light still grows after {} rounds; a circle of its fibres gains more than it loses",
                       fabric_.name, kRoundsMax);
  });
}

/// Leaks pass on as signals do; signals leak (`leaking`).
void LightTracer::leak_through(const Element& element, std::span<const Passing> leaking, Field& field) {
  passing_.assign(leaking.begin(), leaking.end());
  for (PortNumber input = 0; input < element.inputs; ++input) {
    const auto& fibre = fabric_.fibre_in[element.id.value][input];
    if (!fibre) {
      continue;
    }
    for (const Cell& cell : field.leaks.on(*fibre)) {
      passing_.push_back({cell, passage_of(element, input, cell)});
    }
  }
  std::uint16_t lowest = std::numeric_limits<std::uint16_t>::max();
  std::uint16_t highest = 0;
  for (const Passing& light : passing_) {
    lowest = std::min(lowest, light.cell.colour);
    highest = std::max(highest, light.cell.colour);
  }
  for (PortNumber output = 0; output < element.outputs; ++output) {
    const auto& fibre = fabric_.fibre_out[element.id.value][output];
    if (!fibre) {
      continue;
    }
    const double length = fibre_factor_[fibre->value];
    for (const Passing& light : passing_) {
      const bool passes = light.way.output == kEveryOutput || light.way.output == output;
      sum_[light.cell.colour] += light.cell.mw * (passes ? light.way.factor : light.way.leak) * length;
    }
    Layer::Range& range = field.leaks.fibres[fibre->value];
    range.begin = static_cast<std::uint32_t>(field.leaks.cells.size());
    for (std::size_t colour = lowest; colour <= highest; ++colour) {
      if (sum_[colour] > 0) {
        field.leaks.cells.push_back({sum_[colour], 0, static_cast<std::uint16_t>(colour), 0});
        sum_[colour] = 0;
      }
    }
    range.count = static_cast<std::uint32_t>(field.leaks.cells.size()) - range.begin;
  }
}

LightTracer::Passage LightTracer::passage_of(const Element& element, PortNumber input, const Cell& cell) {
  if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
    return passage_of_wss(element, *wss, input, cell);
  }
  if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
    return passage_of_ring(element, *ring, input, cell);
  }
  if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
    return passage_of_grating(element, *grating, input, cell);
  }
  Passage way{-1, pass_factor_[element.id.value], 0};
  if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
    const std::vector<std::int32_t>& output_of = settings_.ocs[element.id.value];
    way.output = output_of.empty() ? -1 : output_of[input];
  } else if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
    way.output = input < panel->wiring.size() ? panel->wiring[input] : -1;
  } else if (!std::holds_alternative<PacketSwitch>(element.kind)) {
    way.output = kEveryOutput;  // coupler and tap; amplifier and attenuator have one
  }
  return way;
}

LightTracer::Passage LightTracer::passage_of_grating(const Element& element, const ArrayedWaveguideGrating& grating,
                                                     PortNumber input, const Cell& cell) {
  const std::int32_t channel = grating.channels.channel_of(colours_[cell.colour]);
  if (cell.signals > 0 && channel < 0) {
    faults_.add(rules::kAliasing, [&] {
      return format_text("{}: light at {} is none of its channels and would leave by another order", element.name,
                         to_string(centre_of(colours_[cell.colour])));
    });
  }
  if (cell.signals > 0 && grating.passband < width_of_signal(cell)) {
    faults_.add(rules::kPassband, [&] {
      return format_text("{} passes {} MHz of a signal of {} MHz", element.name, grating.passband.mhz,
                         width_of_signal(cell).mhz);
    });
  }
  return {channel < 0 ? -1 : (channel + input) % element.outputs, pass_factor_[element.id.value],
          leak_factor_[element.id.value]};
}

LightTracer::Passage LightTracer::passage_of_wss(const Element& element, const WavelengthSelectiveSwitch& wss, PortNumber input,
                                                 const Cell& cell) {
  Passage way{-1, pass_factor_[element.id.value], leak_factor_[element.id.value]};
  const WavelengthSwitchSetpoint* setpoint = settings_.wss[element.id.value];
  if (setpoint == nullptr) {
    return way;
  }
  const FrequencySlot slot = colours_[cell.colour];
  if (cell.signals == 0) {
    way.output = leak_exits_[element.id.value][input * colours_.size() + cell.colour];
    return way;
  }
  each_overlapping(setpoint->routes, input, slot, [&](const WssRoute& route) {
    const std::int64_t half = width_of_signal(cell).mhz / 2;
    const bool fits = centre_of(slot).mhz - half >= lower_edge_of(route.slot).mhz + wss.passband_edge.mhz &&
                      centre_of(slot).mhz + half <= upper_edge_of(route.slot).mhz - wss.passband_edge.mhz;
    if (fits) {
      way.output = route.output;
      way.factor = pass_factor_[element.id.value] * linear(-route.attenuation.centi);
    } else {
      faults_.add(rules::kPassband, [&] {
        return format_text("{}: a signal of {} MHz at {} does not fit its slot at {} of {} MHz less its edges", element.name,
                           2 * half, to_string(centre_of(slot)), to_string(centre_of(route.slot)), width_of(route.slot).mhz);
      });
    }
  });
  return way;
}

LightTracer::Passage LightTracer::passage_of_ring(const Element& element, const RingFilter& ring, PortNumber input,
                                                  const Cell& cell) {
  const Frequency light = centre_of(colours_[cell.colour]);
  const auto resonance = settings_.resonances[element.id.value];
  if (!resonates(ring, resonance, light)) {
    return {input == 0 ? 0 : -1, pass_factor_[element.id.value], 0};
  }
  if (cell.signals > 0 && ring.fwhm < width_of_signal(cell)) {
    faults_.add(rules::kPassband, [&] {
      return format_text("{}{}{} MHz of a signal of {} MHz", element.name, input == 0 ? " drops " : " adds ", ring.fwhm.mhz,
                         width_of_signal(cell).mhz);
    });
  }
  if (const auto distance = magnitude(light - resonance.value_or(ring.cold_resonance));
      cell.signals > 0 && distance.mhz > ring.fwhm.mhz / 2) {
    faults_.add(rules::kAliasing, [&] {
      return format_text(
          "{}: light at {} meets another order of it, {} MHz beside the resonance that is set; its free spectral range is {} "
          "MHz",
          element.name, to_string(light), distance.mhz, ring.free_spectral_range.mhz);
    });
  }
  return {input == 0 ? 1 : 0, drop_factor_[element.id.value], leak_factor_[element.id.value]};
}

void LightTracer::check_ring(const Element& element, const RingFilter& ring, const Layer& signals) {
  const auto& bus = fabric_.fibre_in[element.id.value][0];
  if (!bus) {
    return;
  }
  const auto cells = signals.on(*bus);
  const auto dropped = std::count_if(cells.begin(), cells.end(), [&](const Cell& cell) {
    return resonates(ring, settings_.resonances[element.id.value], centre_of(colours_[cell.colour]));
  });
  if (dropped > 1) {
    faults_.add(rules::kAliasing, [&] {
      return format_text("{} drops {} wavelengths at once; its free spectral range is {} MHz", element.name, dropped,
                         ring.free_spectral_range.mhz);
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
                             to_string(centre_of(colours_[cell.colour])));
        });
      }
    }
  }
}

void LightTracer::check_fibre(const Fibre& fibre, std::span<const Cell> signals) {
  const Cell* previous = nullptr;
  for (const Cell& cell : signals) {
    const bool twice = cell.signals > 1;
    const bool touching =
        previous != nullptr && magnitude(centre_of(colours_[cell.colour]) - centre_of(colours_[previous->colour])).mhz <
                                   (width_of_signal(cell).mhz + width_of_signal(*previous).mhz) / 2;
    if (twice || touching) {
      faults_.add(rules::kOncePerSegment, [&] {
        return format_text("fibre {} after {}: {}{}", fibre.id.value, fabric_.element(fibre.from.element).name,
                           to_string(centre_of(colours_[cell.colour])),
                           twice ? format_text(" of {} transmitters", cell.signals) : " overlaps its neighbour");
      });
    }
    previous = &cell;
  }
}

}  // namespace loom::verifying
