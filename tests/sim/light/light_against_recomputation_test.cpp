// SPDX-License-Identifier: Apache-2.0
// The incremental model against a slow recomputation from nothing, written another way: light is spread over the fibres until
// nothing changes any more, for every transmitter, after every random change.
#include <catch2/catch.hpp>

#include <cmath>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "controller/architectures/sip_ocs/fabric.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "sim_backend/light/light_model.hpp"
#include "sim_backend/random.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using namespace loom::test;

namespace {

/// What every device was last told, by device.
using Settings = std::map<DeviceId, OpticalState>;
/// (fibre, transmitter, frequency, power, clipped)
using Spread = std::set<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int32_t, bool>>;

struct Beam {
  std::int64_t mhz;
  std::int64_t half;
  std::int32_t power;
  bool clipped;
};

bool inside(const Beam& beam, std::int64_t low, std::int64_t high) {
  return beam.mhz - beam.half >= low && beam.mhz + beam.half <= high;
}

/// The outputs of one element for a beam at one of its inputs.
std::vector<std::pair<std::uint32_t, Beam>> outputs_of(const Fabric& fabric, const Settings& settings, const Element& element,
                                                       std::uint32_t input, Beam beam) {
  std::vector<std::pair<std::uint32_t, Beam>> outputs;
  beam.power -= element.insertion_loss.centi;
  const auto setting = [&]() -> const OpticalState& { return settings.at(*fabric.device_of_element[element.id.value]); };
  if (std::holds_alternative<Coupler>(element.kind)) {
    for (std::uint32_t output = 0; output < element.outputs; ++output) {
      outputs.push_back({output, beam});
    }
  } else if (const auto* amplifier = std::get_if<Amplifier>(&element.kind)) {
    beam.power += amplifier->gain.centi;
    outputs.push_back({0, beam});
  } else if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
    for (std::int32_t channel = 0; channel < grating->channels.count; ++channel) {
      const std::int64_t centre = centre_of(grating->channels.slot(channel)).mhz;
      if (std::abs(beam.mhz - centre) <= grating->passband.mhz / 2) {
        beam.clipped = beam.clipped || !inside(beam, centre - grating->passband.mhz / 2, centre + grating->passband.mhz / 2);
        outputs.push_back({(static_cast<std::uint32_t>(channel) + input) % element.outputs, beam});
        break;
      }
    }
  } else if (const auto* ring_kind = std::get_if<RingFilter>(&element.kind)) {
    const std::int64_t centre = std::get<RingLight>(setting()).resonances[fabric.index_in_device[element.id.value]].mhz;
    if (std::abs(beam.mhz - centre) <= ring_kind->fwhm.mhz / 2) {
      beam.clipped = beam.clipped || !inside(beam, centre - ring_kind->fwhm.mhz / 2, centre + ring_kind->fwhm.mhz / 2);
      const double half_widths = static_cast<double>(beam.mhz - centre) / (static_cast<double>(ring_kind->fwhm.mhz) / 2);
      beam.power -=
          ring_kind->drop_loss.centi + static_cast<std::int32_t>(std::lround(1000 * std::log10(1 + half_widths * half_widths)));
      outputs.push_back({1 - input, beam});
    } else if (input == 0) {
      outputs.push_back({0, beam});
    }
  } else if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
    const auto holds = [&](const WssRoute& route) {
      return route.input == input && lower_edge_of(route.slot).mhz <= beam.mhz && beam.mhz < upper_edge_of(route.slot).mhz;
    };
    const auto& state = std::get<WssLight>(setting());
    const auto route = std::find_if(state.routes.begin(), state.routes.end(), holds);
    if (route != state.routes.end() && std::none_of(state.moving.begin(), state.moving.end(), holds)) {
      beam.power -= route->attenuation.centi;
      beam.clipped = beam.clipped || !inside(beam, lower_edge_of(route->slot).mhz + wss->passband_edge.mhz,
                                             upper_edge_of(route->slot).mhz - wss->passband_edge.mhz);
      outputs.push_back({route->output, beam});
    }
  } else if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
    const auto& state = std::get<OcsLight>(setting());
    const auto is_input = [&](const CrossConnect& connect) { return connect.input == input; };
    const auto connect = std::find_if(state.connects.begin(), state.connects.end(), is_input);
    if (connect != state.connects.end() && std::none_of(state.moving.begin(), state.moving.end(), is_input)) {
      outputs.push_back({connect->output, beam});
    }
  }
  return outputs;
}

void spread(const Fabric& fabric, const Settings& settings, ElementId transmitter, PortRef from, Beam beam, Spread& all) {
  for (const Fibre& fibre : fabric.fibres) {  // slow on purpose: no index
    if (fibre.from == from) {
      beam.power -= fibre.loss.centi;
      const auto been = all.lower_bound({fibre.id.value, transmitter.value, 0, -1'000'000, false});
      if (been != all.end() && std::get<0>(*been) == fibre.id.value && std::get<1>(*been) == transmitter.value) {
        return;  // round the ring
      }
      all.insert({fibre.id.value, transmitter.value, beam.mhz, beam.power, beam.clipped});
      for (const auto& [output, next] : outputs_of(fabric, settings, fabric.element(fibre.to.element), fibre.to.port, beam)) {
        spread(fabric, settings, transmitter, {fibre.to.element, static_cast<PortNumber>(output)}, next, all);
      }
    }
  }
}

/// What light that an element lets out at `open` (or nowhere) leaves at its other outputs.
std::vector<std::pair<std::uint32_t, Beam>> leaks_of(const Fabric& fabric, const Settings& settings, const Element& element,
                                                     std::uint32_t input, Beam beam) {
  std::int32_t isolation = 0;
  if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
    isolation = wss->isolation.centi;
  } else if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
    isolation = grating->isolation.centi;
  } else if (const auto* ring_kind = std::get_if<RingFilter>(&element.kind)) {
    const auto& rings = std::get<RingLight>(settings.at(*fabric.device_of_element[element.id.value]));
    const std::int64_t centre = rings.resonances[fabric.index_in_device[element.id.value]].mhz;
    isolation = std::abs(beam.mhz - centre) <= ring_kind->fwhm.mhz / 2 ? ring_kind->isolation.centi : 0;
  }
  std::vector<std::pair<std::uint32_t, Beam>> leaks;
  const auto open = outputs_of(fabric, settings, element, input, beam);
  beam.power -= element.insertion_loss.centi + isolation;
  for (std::uint32_t output = 0; output < element.outputs && isolation > 0; ++output) {
    if (std::none_of(open.begin(), open.end(), [&](const auto& way) { return way.first == output; })) {
      leaks.push_back({output, beam});
    }
  }
  return leaks;
}

/// Sum at each receiver of all that leaks there.
using LeakSums = std::map<std::uint32_t, Femtowatts>;

/// `crossed`: closed ways so far. A signal is followed as spread() does, so that the same lights leak.
void spread_leaks(const Fabric& fabric, const Settings& settings, PortRef from, Beam beam, int crossed,
                  std::set<std::uint32_t>& lit, LeakSums& sums) {
  for (const Fibre& fibre : fabric.fibres) {
    if (fibre.from != from) {
      continue;
    }
    beam.power -= fibre.loss.centi;
    if (beam.power < -6'000 || (crossed == 0 && !lit.insert(fibre.id.value).second)) {
      return;
    }
    const Element& element = fabric.element(fibre.to.element);
    if (crossed > 0 && std::holds_alternative<Receiver>(element.kind)) {
      sums[element.id.value] += femtowatts_of(Dbm{beam.power});
    }
    for (const auto& [output, next] : outputs_of(fabric, settings, element, fibre.to.port, beam)) {
      spread_leaks(fabric, settings, {element.id, static_cast<PortNumber>(output)}, next, crossed, lit, sums);
    }
    for (const auto& [output, next] : leaks_of(fabric, settings, element, fibre.to.port, beam)) {
      if (crossed < 2 && next.power >= -6'000) {
        spread_leaks(fabric, settings, {element.id, static_cast<PortNumber>(output)}, next, crossed + 1, lit, sums);
      }
    }
  }
}

LeakSums recompute_leaks(const Fabric& fabric, const Settings& settings) {
  LeakSums sums;
  for (const Element& element : fabric.elements) {
    const auto* kind = std::get_if<Transmitter>(&element.kind);
    const LaserLight light =
        kind == nullptr ? LaserLight{} : std::get<LaserLight>(settings.at(*fabric.device_of_element[element.id.value]));
    if (light.emitting) {
      std::set<std::uint32_t> lit;
      spread_leaks(fabric, settings, {element.id, 0},
                   {light.frequency.mhz, kind->signal_width.mhz / 2, light.power.centi, false}, 0, lit, sums);
    }
  }
  return sums;
}

LeakSums incremental_leaks(const LightModel& model) {
  LeakSums sums;
  for (const ElementId receiver : model.receivers()) {
    if (!model.leaks_at(receiver).empty()) {
      sums[receiver.value] = model.leaked(receiver);
    }
  }
  return sums;
}

Spread recompute(const Fabric& fabric, const Settings& settings) {
  Spread all;
  for (const Element& element : fabric.elements) {
    if (const auto* kind = std::get_if<Transmitter>(&element.kind)) {
      const auto& light = std::get<LaserLight>(settings.at(*fabric.device_of_element[element.id.value]));
      if (light.emitting) {
        spread(fabric, settings, element.id, {element.id, 0},
               {light.frequency.mhz, kind->signal_width.mhz / 2, light.power.centi, false}, all);
      }
    }
  }
  return all;
}

Spread incremental(const LightModel& model) {
  Spread all;
  for (const Fibre& fibre : model.fabric().fibres) {
    for (const Light& light : model.lights_on(fibre.id)) {
      all.insert({fibre.id.value, light.transmitter.value, light.frequency.mhz, light.power.centi, light.clipped});
    }
  }
  return all;
}

std::set<std::pair<std::uint32_t, std::uint32_t>> links_of(const Fabric& fabric, const Spread& all, const LeakSums& leaks) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> links;
  for (const Fibre& fibre : fabric.fibres) {
    const auto* receiver = std::get_if<Receiver>(&fabric.element(fibre.to.element).kind);
    const auto first = all.lower_bound({fibre.id.value, 0, 0, 0, false});
    const auto last = std::find_if(first, all.end(), [&](const auto& row) { return std::get<0>(row) != fibre.id.value; });
    if (receiver != nullptr && std::distance(first, last) == 1) {
      const auto& [id, transmitter, mhz, power, clipped] = *first;
      const auto leaked = leaks.find(fibre.to.element.value);
      const bool is_clear = leaked == leaks.end() || leaked->second <= femtowatts_of(Dbm{power - 1'990});
      if (!clipped && is_clear && power >= receiver->sensitivity.centi && power <= receiver->overload.centi) {
        links.insert({transmitter, fibre.to.element.value});
      }
    }
  }
  return links;
}

std::vector<WssRoute> random_routes(Random& random, const Element& wss, std::int32_t channels) {
  std::vector<WssRoute> open;
  for (std::int32_t channel = 0; channel < channels; ++channel) {
    for (std::uint16_t input = 0; input < wss.inputs; ++input) {
      const bool used = random.chance(900'000);
      const auto output = static_cast<std::uint16_t>(random.below(wss.outputs));
      if (used) {
        open.push_back({slot_of_channel(channel), input, output, Db{static_cast<std::int32_t>(random.below(3)) * 100}});
      }
    }
  }
  return open;
}

std::vector<CrossConnect> random_connects(Random& random, const Element& ocs) {
  std::vector<CrossConnect> connects;
  const std::uint32_t turn = random.below(ocs.outputs);
  for (std::uint16_t input = 0; input < ocs.inputs; ++input) {
    if (random.chance(800'000)) {
      connects.push_back({input, static_cast<std::uint16_t>((input + turn) % ocs.outputs)});
    }
  }
  return connects;
}

/// Some of `all`, one time in five.
template <class Row>
std::vector<Row> some_moving(Random& random, const std::vector<Row>& all) {
  std::vector<Row> moving;
  if (!all.empty() && random.chance(200'000)) {
    moving.push_back(all[random.below(static_cast<std::uint32_t>(all.size()))]);
  }
  return moving;
}

OpticalState random_state(Random& random, const Fabric& fabric, const Device& device) {
  constexpr std::int32_t kChannels = 6;
  const auto near_a_channel = [&](std::int32_t channels) {
    const Frequency centre =
        centre_of(slot_of_channel(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(channels)))));
    const std::int64_t offset = random.chance(100'000) ? static_cast<std::int64_t>(random.below(100'000)) - 50'000 : 0;
    return centre + FrequencyOffset{offset};
  };
  const Element& first = fabric.element(device.elements.front());
  if (device.role == DeviceRole::transmitter) {
    const ChannelPlan& channels = std::get<Transmitter>(first.kind).channels;
    const Frequency frequency = channels.count == 1 ? centre_of(channels.first) : near_a_channel(kChannels);
    const bool emitting = random.chance(800'000);
    const Dbm power{static_cast<std::int32_t>(random.below(6)) * -100};
    return emitting ? LaserLight{true, frequency, power} : LaserLight{};
  }
  if (device.role == DeviceRole::filter) {
    RingLight rings;
    for (const ElementId element : device.elements) {
      const auto& ring = std::get<RingFilter>(fabric.element(element).kind);
      const bool parked = device.elements.size() > 1 && random.chance(700'000);
      rings.resonances.push_back(parked ? ring.cold_resonance : near_a_channel(kChannels));
    }
    return rings;
  }
  if (device.role == DeviceRole::circuit_switch) {
    const std::vector<CrossConnect> connects = random_connects(random, first);
    return OcsLight{connects, some_moving(random, connects)};
  }
  const std::vector<WssRoute> open = random_routes(random, first, kChannels);
  return WssLight{open, some_moving(random, open)};
}

std::shared_ptr<const Fabric> fabric_of(std::string_view architecture) {
  if (architecture == "sip-ring") {
    SipRingParameters parameters;
    parameters.nodes = 4;
    parameters.rings = 1;
    parameters.wavelengths = 8;
    return std::make_shared<const Fabric>(make_sip_ring(parameters));
  }
  if (architecture == "sip-ocs") {
    SipOcsParameters parameters;
    parameters.nodes = 5;
    parameters.switches = 3;
    return std::make_shared<const Fabric>(make_sip_ocs(parameters));
  }
  return small_oddl(8, 4);
}

}  // namespace

TEST_CASE("incremental_light_equals_recomputation_after_every_random_change") {
  const std::string architecture = GENERATE("oddl", "sip-ring", "sip-ocs");
  const std::uint64_t seed = GENERATE(range(1, 13));
  CAPTURE(architecture, seed);
  const auto fabric = fabric_of(architecture);
  Random random(seed);
  LightModel model(fabric);
  Settings settings;
  for (const Device& device : fabric->devices) {
    settings[device.id] = random_state(random, *fabric, device);
    model.apply({instant_from_ns(0), device.id, 0, settings[device.id]});
  }
  std::size_t links_seen = 0;
  std::size_t leaks_seen = 0;
  for (int change = 1; change <= 400; ++change) {
    const Device& device = fabric->devices[random.below(static_cast<std::uint32_t>(fabric->devices.size()))];
    settings[device.id] = random_state(random, *fabric, device);
    model.apply({instant_from_ns(change), device.id, 0, settings[device.id]});
    const Spread expected = recompute(*fabric, settings);
    REQUIRE(incremental(model) == expected);
    const LeakSums leaks = recompute_leaks(*fabric, settings);
    REQUIRE(incremental_leaks(model) == leaks);
    leaks_seen += leaks.size();
    std::set<std::pair<std::uint32_t, std::uint32_t>> links;
    for (const Reach& reach : model.reached()) {
      links.insert({reach.transmitter.value, reach.receiver.value});
    }
    REQUIRE(links == links_of(*fabric, expected, leaks));
    links_seen += links.size();
  }
  CHECK(links_seen > 50);  // the random states are not all dark
  CHECK((leaks_seen > 50) == (architecture != "sip-ocs"));
}
