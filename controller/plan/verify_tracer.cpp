// Light through a fabric: linear powers, signals by open ways, leaks by closed ones.
#include <algorithm>
#include <cmath>

#include "controller/plan/verify_parts.hpp"

namespace loom::verifying {
namespace {

constexpr std::size_t kVisitsMax = 256;  ///< of one signal; a path that is longer runs in a circle

double linear(std::int32_t centi_db) { return centi_db == 0 ? 1.0 : std::pow(10.0, centi_db / 1000.0); }

/// The routes of this input that light of this slot touches at all.
template <class Visit>
void each_overlapping(const std::vector<WssRoute>& routes, PortNumber input, FrequencySlot slot, Visit visit) {
  const std::int32_t reach = slot.m + kWidestSlot;  // centres of slots that overlap are closer than this
  auto at = std::lower_bound(routes.begin(), routes.end(), slot.n - reach,
                             [](const WssRoute& route, std::int32_t n) { return route.slot.n < n; });
  for (; at != routes.end() && at->slot.n <= slot.n + reach; ++at) {
    if (at->input == input && overlaps(at->slot, slot)) {
      visit(*at);
    }
  }
}

}  // namespace

bool drops(const RingFilter& ring, std::optional<Frequency> resonance, Frequency light) {
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
      ocs(fabric.elements.size(), nullptr),
      resonances(fabric.elements.size()) {
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      devices[device.device.value] = &device;
      const auto& elements = fabric.device(device.device).elements;
      const Setpoint& first = device.timeline.front().setpoint;
      if (const auto* route = std::get_if<WssSetpoint>(&first)) {
        wss[elements[0].value] = route;
      } else if (const auto* connect = std::get_if<OcsSetpoint>(&first)) {
        ocs[elements[0].value] = connect;
      } else if (const auto* heater = std::get_if<HeaterSetpoint>(&first)) {
        for (const RingResonance& ring : heater->rings) {
          resonances[elements[ring.channel].value] = ring.resonance;
        }
      } else {
        Source source{elements[0], &device, {}};
        for (const TimedSetpoint& entry : device.timeline) {
          const auto& laser = std::get<LaserSetpoint>(entry.setpoint);
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

LightTracer::LightTracer(const Fabric& fabric, const Settings& settings, Faults& faults)
    : fabric_(fabric), settings_(settings), faults_(faults) {
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
  for (const Element& element : fabric.elements) {
    std::int32_t gain = -element.insertion_loss.centi;
    double leak = 0;
    if (const auto* amplifier = std::get_if<Amplifier>(&element.kind)) {
      gain += amplifier->gain.centi;
    } else if (const auto* switching = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
      leak = linear(gain - switching->isolation.centi);
      if (settings.wss[element.id.value] != nullptr) {
        leak_exits_[element.id.value] = leak_exits_of(element, *settings.wss[element.id.value]);
      }
    } else if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind); grating && element.inputs > 1) {
      leak = linear(gain - grating->isolation.centi);  // with one input nothing of the same colour is there to leak into
    }
    pass_factor_.push_back(linear(gain));
    leak_factor_.push_back(leak);
  }
  for (const Fibre& fibre : fabric.fibres) {
    fibre_factor_.push_back(linear(-fibre.loss.centi));
  }
}

/// Leaks are many and need no passband: their exits are looked up. By input and colour; -1 where no route is open.
std::vector<std::int32_t> LightTracer::leak_exits_of(const Element& element, const WssSetpoint& setpoint) const {
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

/// Kahn's order. Elements on an optical loop never get their turn; light that enters one is reported.
void LightTracer::order() {
  std::vector<std::uint32_t> open(fabric_.elements.size());
  for (const Fibre& fibre : fabric_.fibres) {
    ++open[fibre.to.element.value];
  }
  for (const Element& element : fabric_.elements) {
    if (open[element.id.value] == 0) {
      order_.push_back(element.id);
    }
  }
  for (std::size_t i = 0; i < order_.size(); ++i) {
    for (const auto& fibre : fabric_.fibre_out[order_[i].value]) {
      if (fibre && --open[fabric_.fibres[fibre->value].to.element.value] == 0) {
        order_.push_back(fabric_.fibres[fibre->value].to.element);
      }
    }
  }
  if (order_.size() < fabric_.elements.size()) {
    faults_.add(rules::kContinuity, [&] {
      return fabric_.name + ": " + std::to_string(fabric_.elements.size() - order_.size()) +
             " elements lie on an optical loop; light is only judged on fabrics without one";
    });
  }
}

std::uint16_t LightTracer::colour_of(FrequencySlot slot) const {
  return static_cast<std::uint16_t>(std::lower_bound(colours_.begin(), colours_.end(), slot) - colours_.begin());
}

FrequencyOffset LightTracer::width_of_signal(const Cell& cell) const {
  return std::get<Transmitter>(fabric_.elements[cell.source].kind).signal_width;
}

Field LightTracer::trace(const std::vector<Lit>& lights) {
  Field field;
  field.fibres.resize(fabric_.fibres.size());
  std::vector<const Lit*> lit(fabric_.elements.size(), nullptr);
  for (const Lit& light : lights) {
    lit[light.transmitter.value] = &light;
  }
  for (const ElementId id : order_) {
    const Element& element = fabric_.element(id);
    if (const Lit* light = lit[id.value];
        light != nullptr && !fabric_.fibre_out[id.value].empty() && fabric_.fibre_out[id.value][0]) {
      const FibreId fibre = *fabric_.fibre_out[id.value][0];
      field.fibres[fibre.value] = {static_cast<std::uint32_t>(field.cells.size()), 1};
      const double power = linear(light->power.centi) * fibre_factor_[fibre.value];
      field.cells.push_back({power, 0, id.value, colour_of(light->slot), 1});
    }
    if (element.inputs > 0 && element.outputs > 0) {
      enter(element, field);
      if (!incoming_.empty()) {
        pass(element, field);
      }
    }
  }
  return field;
}

/// Gathers what arrives at an element and where each colour passes.
void LightTracer::enter(const Element& element, const Field& field) {
  incoming_.clear();
  for (PortNumber input = 0; input < element.inputs; ++input) {
    const auto& fibre = fabric_.fibre_in[element.id.value][input];
    if (!fibre) {
      continue;
    }
    const Field::Range range = field.fibres[fibre->value];
    for (std::uint32_t i = range.begin; i < range.begin + range.count; ++i) {
      Incoming light{field.cells[i], input, -1, 1.0};
      light.output = exit_of(element, light);
      incoming_.push_back(light);
    }
  }
  if (std::holds_alternative<Coupler>(element.kind)) {
    check_coupler(element);
  }
  if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
    const auto dropped = std::count_if(incoming_.begin(), incoming_.end(),
                                       [](const Incoming& light) { return light.output == 1 && light.cell.signals > 0; });
    if (dropped > 1) {
      faults_.add(rules::kAliasing, [&] {
        return element.name + " drops " + std::to_string(dropped) + " wavelengths at once; its free spectral range is " +
               std::to_string(ring->free_spectral_range.mhz) + " MHz";
      });
    }
  }
}

void LightTracer::pass(const Element& element, Field& field) {
  const double pass = pass_factor_[element.id.value];
  const double leak = leak_factor_[element.id.value];
  const bool to_all = std::holds_alternative<Coupler>(element.kind) || std::holds_alternative<Tap>(element.kind);
  for (PortNumber output = 0; output < element.outputs; ++output) {
    const auto& fibre = fabric_.fibre_out[element.id.value][output];
    if (!fibre) {
      continue;
    }
    const double length = fibre_factor_[fibre->value];
    for (const Incoming& light : incoming_) {
      Cell& cell = sum_[light.cell.colour];
      if (to_all || light.output == output) {
        cell.source = cell.signals == 0 ? light.cell.source : cell.source;
        cell.signals = static_cast<std::uint16_t>(cell.signals + light.cell.signals);
        cell.signal_mw += light.cell.signal_mw * pass * light.factor * length;
        cell.leak_mw += light.cell.leak_mw * pass * light.factor * length;
      } else if (leak > 0) {
        cell.leak_mw += (light.cell.signal_mw + light.cell.leak_mw) * leak * length;
      }
    }
    Field::Range& range = field.fibres[fibre->value];
    range.begin = static_cast<std::uint32_t>(field.cells.size());
    for (std::size_t colour = 0; colour < sum_.size(); ++colour) {
      if (sum_[colour].signal_mw > 0 || sum_[colour].leak_mw > 0) {
        field.cells.push_back(sum_[colour]);
        field.cells.back().colour = static_cast<std::uint16_t>(colour);
        sum_[colour] = {};
      }
    }
    range.count = static_cast<std::uint32_t>(field.cells.size()) - range.begin;
    check_fibre(fabric_.fibres[fibre->value], field);
  }
}

int LightTracer::exit_of(const Element& element, Incoming& light) {
  const PortNumber input = light.input;
  const Cell& cell = light.cell;
  if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
    return exit_of_wss(element, *wss, light);
  }
  if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
    return exit_of_ring(element, *ring, cell);
  }
  if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
    const std::int32_t channel = grating->channels.channel_of(colours_[cell.colour]);
    if (cell.signals > 0 && channel < 0) {
      faults_.add(rules::kAliasing, [&] {
        return element.name + ": light at " + to_string(centre_of(colours_[cell.colour])) +
               " is none of its channels and would leave by another order";
      });
    }
    if (cell.signals > 0 && grating->passband < width_of_signal(cell)) {
      faults_.add(rules::kPassband, [&] {
        return element.name + " passes " + std::to_string(grating->passband.mhz) + " MHz of a signal of " +
               std::to_string(width_of_signal(cell).mhz) + " MHz";
      });
    }
    return channel < 0 ? -1 : (channel + input) % element.outputs;
  }
  if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
    const OcsSetpoint* ocs = settings_.ocs[element.id.value];
    if (ocs != nullptr) {
      for (const CrossConnect& connect : ocs->connects) {
        if (connect.input == input) {
          return connect.output;
        }
      }
    }
    return -1;
  }
  if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
    return input < panel->wiring.size() ? panel->wiring[input] : -1;
  }
  return 0;
}

int LightTracer::exit_of_wss(const Element& element, const WavelengthSelectiveSwitch& wss, Incoming& light) {
  const Cell& cell = light.cell;
  const WssSetpoint* setpoint = settings_.wss[element.id.value];
  if (setpoint == nullptr) {
    return -1;
  }
  const FrequencySlot slot = colours_[cell.colour];
  if (cell.signals == 0) {
    return leak_exits_[element.id.value][light.input * colours_.size() + cell.colour];
  }
  int output = -1;
  each_overlapping(setpoint->routes, light.input, slot, [&](const WssRoute& route) {
    const std::int64_t half = width_of_signal(cell).mhz / 2;
    const bool fits = centre_of(slot).mhz - half >= lower_edge_of(route.slot).mhz + wss.passband_edge.mhz &&
                      centre_of(slot).mhz + half <= upper_edge_of(route.slot).mhz - wss.passband_edge.mhz;
    if (fits) {
      output = route.output;
      light.factor = linear(-route.attenuation.centi);
    } else {
      faults_.add(rules::kPassband, [&] {
        return element.name + ": a signal of " + std::to_string(2 * half) + " MHz at " + to_string(centre_of(slot)) +
               " does not fit its slot at " + to_string(centre_of(route.slot)) + " of " +
               std::to_string(width_of(route.slot).mhz) + " MHz less its edges";
      });
    }
  });
  return output;
}

int LightTracer::exit_of_ring(const Element& element, const RingFilter& ring, const Cell& cell) {
  if (!drops(ring, settings_.resonances[element.id.value], centre_of(colours_[cell.colour]))) {
    return 0;
  }
  if (cell.signals > 0 && ring.fwhm < width_of_signal(cell)) {
    faults_.add(rules::kPassband, [&] {
      return element.name + " drops " + std::to_string(ring.fwhm.mhz) + " MHz of a signal of " +
             std::to_string(width_of_signal(cell).mhz) + " MHz";
    });
  }
  return 1;
}

void LightTracer::check_coupler(const Element& element) {
  std::vector<const Incoming*> by_colour(colours_.size(), nullptr);
  for (const Incoming& light : incoming_) {
    if (light.cell.signals == 0) {
      continue;
    }
    if (const Incoming* other = by_colour[light.cell.colour]) {
      faults_.add(rules::kOncePerCoupler, [&] {
        return element.name + ": inputs " + std::to_string(other->input) + " and " + std::to_string(light.input) +
               " both carry " + to_string(centre_of(colours_[light.cell.colour]));
      });
    }
    by_colour[light.cell.colour] = &light;
  }
}

void LightTracer::check_fibre(const Fibre& fibre, const Field& field) {
  const Field::Range range = field.fibres[fibre.id.value];
  const Cell* previous = nullptr;
  for (std::uint32_t i = range.begin; i < range.begin + range.count; ++i) {
    const Cell& cell = field.cells[i];
    if (cell.signals == 0) {
      continue;
    }
    const bool twice = cell.signals > 1;
    const bool touching =
        previous != nullptr && magnitude(centre_of(colours_[cell.colour]) - centre_of(colours_[previous->colour])).mhz <
                                   (width_of_signal(cell).mhz + width_of_signal(*previous).mhz) / 2;
    if (twice || touching) {
      faults_.add(rules::kOncePerSegment, [&] {
        return "fibre " + std::to_string(fibre.id.value) + " after " + fabric_.element(fibre.from.element).name + ": " +
               to_string(centre_of(colours_[cell.colour])) +
               (twice ? " of " + std::to_string(cell.signals) + " transmitters" : " overlaps its neighbour");
      });
    }
    previous = &cell;
  }
}

std::vector<std::int64_t> LightTracer::footprint(const Fabric& fabric, const Settings& settings, ElementId transmitter,
                                                 FrequencySlot slot) {
  std::vector<std::int64_t> marks;
  std::vector<PortRef> open{{transmitter, 0}};
  while (!open.empty() && marks.size() < kVisitsMax) {
    const PortRef at = open.back();
    open.pop_back();
    marks.push_back(static_cast<std::int64_t>(at.element.value) << 16 | at.port);
    const Element& element = fabric.element(at.element);
    const auto leave = [&](int output) {
      if (output >= 0 && output < element.outputs && fabric.fibre_out[at.element.value][static_cast<std::size_t>(output)]) {
        open.push_back(fabric.fibres[fabric.fibre_out[at.element.value][static_cast<std::size_t>(output)]->value].to);
      }
    };
    if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
      if (settings.wss[at.element.value] != nullptr) {
        each_overlapping(settings.wss[at.element.value]->routes, at.port, slot, [&](const WssRoute& route) {
          marks.push_back(route.attenuation.centi);
          leave(route.output);
        });
      }
    } else if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
      const std::int32_t channel = grating->channels.channel_of(slot);
      leave(channel < 0 ? -1 : (channel + at.port) % element.outputs);
    } else if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
      marks.push_back(settings.resonances[at.element.value].value_or(ring->cold_resonance).mhz);
      leave(drops(*ring, settings.resonances[at.element.value], centre_of(slot)) ? 1 : 0);
    } else if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
      for (std::size_t i = 0; settings.ocs[at.element.value] != nullptr && i < settings.ocs[at.element.value]->connects.size();
           ++i) {
        const CrossConnect connect = settings.ocs[at.element.value]->connects[i];
        leave(connect.input == at.port ? connect.output : -1);
      }
    } else if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
      leave(at.port < panel->wiring.size() ? panel->wiring[at.port] : -1);
    } else {
      for (int output = 0; output < element.outputs; ++output) {
        leave(output);
      }
    }
  }
  return marks;
}

}  // namespace loom::verifying
