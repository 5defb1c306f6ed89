// SPDX-License-Identifier: Apache-2.0
// What every kind of element does to a ray, and what of it gets through where it should not.
#include "sim_backend/light/light_graph.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/fabric/gain_stage.hpp"

namespace loom {
namespace {

/// Light leaves through `output` after `loss`; `clipped` adds to what earlier filters did.
void leave(std::vector<Exit>& exits, PortNumber output, const Ray& ray, Db loss, bool clipped) {
  exits.push_back({output, ray.power - loss, ray.clipped || clipped});
}

/// Does a filter of this full width around `centre` cut into the signal?
bool cuts(const Ray& ray, Frequency centre, FrequencyOffset full_width) {
  return magnitude(ray.frequency - centre).mhz + ray.half_width.mhz > full_width.mhz / 2;
}

/// 0: nothing is known to leak.
Db isolation_of(const Element& element) {
  if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
    return wss->isolation;
  }
  if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
    return grating->isolation;
  }
  if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
    return ring->isolation;
  }
  const auto* ocs = std::get_if<OpticalCircuitSwitch>(&element.kind);
  return ocs == nullptr ? Db{0} : ocs->isolation;
}

auto order_of(const WssRoute& route) { return std::tuple(route.input, lower_edge_of(route.slot).mhz); }

/// What a ring's drop loses beside its resonance: 3 dB at half its width.
Db lorentzian_loss(std::int64_t offset_mhz, FrequencyOffset fwhm) {
  const double off = 2 * static_cast<double>(offset_mhz) / static_cast<double>(fwhm.mhz);
  return {static_cast<std::int32_t>(std::lround(1000 * std::log10(1 + off * off)))};
}

}  // namespace

LightGraph::LightGraph(std::shared_ptr<const Fabric> fabric) : fabric_(std::move(fabric)) {
  const std::size_t count = fabric_->elements.size();
  first_output_.reserve(count);
  steerable_.resize(count);
  emission_.resize(count);
  resonance_.resize(count);
  switch_place_.assign(count, kNone);
  for (const Element& element : fabric_->elements) {
    first_output_.push_back(static_cast<std::uint32_t>(fibre_of_output_.size()));
    leaks_.push_back(isolation_of(element) > Db{0});
    fibre_of_output_.resize(fibre_of_output_.size() + element.outputs, kNone);
    const bool is_driven = fabric_->device_of_element[element.id.value].has_value();
    gain_.push_back(is_driven ? kGainOff : usual_gain(element.kind));
    if (is_driven && is_gain_stage(element)) {
      steerable_[element.id.value] = true;
    }
    if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
      steerable_[element.id.value] = true;
      resonance_[element.id.value] = ring->cold_resonance;
    } else if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind) ||
               std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
      steerable_[element.id.value] = true;
      switch_place_[element.id.value] = static_cast<std::uint32_t>(switches_.size());
      switches_.push_back({{}, {}, std::vector<std::uint32_t>(element.inputs, kNone), std::vector<bool>(element.inputs)});
    }
  }
  for (const Fibre& fibre : fabric_->fibres) {
    fibre_of_output_[first_output_[fibre.from.element.value] + fibre.from.port] = fibre.id.value;
    end_of_fibre_.push_back(fibre.to);
    excess_loss_.push_back(Db{0});
  }
}

void LightGraph::set_routes(ElementId wss, std::vector<WssRoute> routes, std::vector<WssRoute> moving) {
  LOOM_ASSERT(std::holds_alternative<WavelengthSelectiveSwitch>(fabric_->element(wss).kind));
  std::sort(routes.begin(), routes.end(), [](const WssRoute& a, const WssRoute& b) { return order_of(a) < order_of(b); });
  SwitchState& state = switches_[switch_place_[wss.value]];
  state.routes = std::move(routes);
  state.moving = std::move(moving);
}

void LightGraph::set_connects(ElementId ocs, std::span<const CrossConnect> connects, std::span<const CrossConnect> moving) {
  const Element& element = fabric_->element(ocs);
  LOOM_ASSERT(std::holds_alternative<OpticalCircuitSwitch>(element.kind));
  SwitchState& state = switches_[switch_place_[ocs.value]];
  state.output.assign(element.inputs, kNone);
  state.input_moving.assign(element.inputs, false);
  for (const CrossConnect& connect : connects) {
    if (connect.input < element.inputs && connect.output < element.outputs) {
      state.output[connect.input] = connect.output;
    }
  }
  for (const CrossConnect& connect : moving) {
    if (connect.input < element.inputs) {
      state.input_moving[connect.input] = true;
    }
  }
}

void LightGraph::pass(ElementId element_id, PortNumber input, const Ray& ray, Passage& passage) const {
  passage.exits.clear();
  passage.leaks.clear();
  passage.into_moving_port = false;
  const Element& element = fabric_->element(element_id);
  if (std::holds_alternative<Transmitter>(element.kind) || std::holds_alternative<Receiver>(element.kind) ||
      std::holds_alternative<PacketSwitch>(element.kind)) {
    return;  // light ends here
  }
  if (std::holds_alternative<ArrayedWaveguideGrating>(element.kind)) {
    pass_grating(element, input, ray, passage);
  } else if (std::holds_alternative<RingFilter>(element.kind)) {
    pass_ring(element, input, ray, passage);
  } else if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
    pass_wss(element, input, ray, passage);
  } else if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
    pass_ocs(element, input, ray, passage);
  } else if (is_gain_stage(element)) {
    leave(passage.exits, 0, ray, element.insertion_loss - gain_[element_id.value], false);
  } else if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
    if (input < panel->wiring.size() && panel->wiring[input] < element.outputs) {
      leave(passage.exits, panel->wiring[input], ray, element.insertion_loss, false);
    }
  } else {
    // Coupler and tap: every output.
    for (PortNumber output = 0; output < element.outputs; ++output) {
      leave(passage.exits, output, ray, element.insertion_loss, false);
    }
  }
}

void LightGraph::leak(ElementId element_id, const Ray& ray, Passage& passage) const {
  const Element& element = fabric_->element(element_id);
  if (std::holds_alternative<RingFilter>(element.kind) && (passage.exits.empty() || !passage.on_resonance)) {
    return;  // beside the resonance a ring has no other way to speak of
  }
  const PortNumber none = element.outputs;
  const PortNumber way = passage.exits.empty() ? none : passage.exits.front().output;
  const Db loss = element.insertion_loss + isolation_of(element);
  for (PortNumber output = 0; output < element.outputs; ++output) {
    if (output != way && fibre_at_output(element_id, output) != kNone) {
      leave(passage.leaks, output, ray, loss, false);
    }
  }
}

void LightGraph::pass_grating(const Element& element, PortNumber input, const Ray& ray, Passage& passage) const {
  const auto& grating = std::get<ArrayedWaveguideGrating>(element.kind);
  const std::int64_t spacing = std::int64_t{grating.channels.step_n} * kGridStep.mhz;
  if (spacing <= 0 || element.outputs == 0) {
    return;
  }
  // The nearest channel, rounding half up; negative below the first one.
  const std::int64_t offset = (ray.frequency - centre_of(grating.channels.first)).mhz + spacing / 2;
  if (offset < 0 || offset / spacing >= grating.channels.count) {
    return;
  }
  const auto channel = static_cast<std::int32_t>(offset / spacing);
  const Frequency centre = centre_of(grating.channels.slot(channel));
  if (magnitude(ray.frequency - centre).mhz > grating.passband.mhz / 2) {
    return;
  }
  const auto output = static_cast<PortNumber>((channel + input) % element.outputs);
  leave(passage.exits, output, ray, element.insertion_loss, cuts(ray, centre, grating.passband));
}

void LightGraph::pass_ring(const Element& element, PortNumber input, const Ray& ray, Passage& passage) const {
  const auto& ring = std::get<RingFilter>(element.kind);
  std::int64_t offset = (ray.frequency - resonance_[element.id.value]).mhz;
  if (const std::int64_t period = ring.free_spectral_range.mhz; period > 0) {
    offset = ((offset % period) + period + period / 2) % period - period / 2;
  }
  const bool coupled = magnitude(FrequencyOffset{offset}).mhz <= ring.fwhm.mhz / 2;
  passage.on_resonance = coupled;
  if (!coupled && input != 0) {
    return;  // added beside the resonance: it never gets onto the bus
  }
  const PortNumber output = coupled && input == 0 ? 1 : 0;
  if (output < element.outputs) {
    const Db slope = coupled && offset != 0 ? lorentzian_loss(offset, ring.fwhm) : Db{0};
    leave(passage.exits, output, ray, coupled ? element.insertion_loss + ring.drop_loss + slope : element.insertion_loss,
          coupled && cuts(ray, ray.frequency - FrequencyOffset{offset}, ring.fwhm));
  }
}

void LightGraph::pass_wss(const Element& element, PortNumber input, const Ray& ray, Passage& passage) const {
  const auto& wss = std::get<WavelengthSelectiveSwitch>(element.kind);
  const SwitchState& state = switches_[switch_place_[element.id.value]];
  for (const WssRoute& moving : state.moving) {
    if (moving.input == input && lower_edge_of(moving.slot) <= ray.frequency && ray.frequency < upper_edge_of(moving.slot)) {
      passage.into_moving_port = true;
      return;
    }
  }
  const auto after = std::upper_bound(state.routes.begin(), state.routes.end(), std::tuple(input, ray.frequency.mhz),
                                      [](const auto& key, const WssRoute& route) { return key < order_of(route); });
  if (after == state.routes.begin()) {
    return;
  }
  const WssRoute& route = *std::prev(after);
  if (route.input != input || upper_edge_of(route.slot) <= ray.frequency || route.output >= element.outputs) {
    return;
  }
  const FrequencyOffset passband{width_of(route.slot).mhz - 2 * wss.passband_edge.mhz};
  leave(passage.exits, route.output, ray, element.insertion_loss + route.attenuation,
        cuts(ray, centre_of(route.slot), passband));
}

void LightGraph::pass_ocs(const Element& element, PortNumber input, const Ray& ray, Passage& passage) const {
  const SwitchState& state = switches_[switch_place_[element.id.value]];
  if (state.input_moving[input]) {
    passage.into_moving_port = true;
  } else if (state.output[input] != kNone) {
    leave(passage.exits, static_cast<PortNumber>(state.output[input]), ray, element.insertion_loss, false);
  }
}

void LightGraph::set_excess_losses(std::span<const std::pair<FibreId, Db>> losses) {
  excess_loss_.assign(excess_loss_.size(), Db{0});
  for (const auto& [fibre, loss] : losses) {
    Db& excess = excess_loss_[fibre.value];
    excess = std::min(excess + loss, kCut);  // however many cuts: a power has limits
  }
}

}  // namespace loom
