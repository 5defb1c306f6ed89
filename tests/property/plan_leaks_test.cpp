// SPDX-License-Identifier: Apache-2.0
// Stray light as verify sums it, beside the plainest sum that there is: every fibre and colour, from what came by every other
// fibre in the round before, until nothing changes. And a planner that remembers its fabric plans as one that does not.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "controller/plan/verify/verify_parts.hpp"
#include "tests/property/plan_worlds.hpp"

namespace {

using namespace loom;
using namespace loom::testing;
using verifying::Cell;
using verifying::Emission;
using verifying::Faults;
using verifying::Field;
using verifying::Layer;
using verifying::LightTracer;
using verifying::Lit;
using verifying::Source;

double factor_of(Db gain) { return std::pow(10.0, gain.centi / 1000.0); }

/// What goes from an input to an output of an element, of light of one colour: as a signal passes, and what leaks beside it.
struct Transfer {
  double passes = 0;
  double leaks = 0;
};

class PlainLeaks {
 public:
  PlainLeaks(const Fabric& fabric, const verifying::Settings& settings, const std::vector<FrequencySlot>& colours)
      : fabric_(fabric), settings_(settings), colours_(colours) {}

  /// mW at the end of each fibre, of all colours.
  std::vector<double> of(const Layer& signals) const {
    std::vector<double> total(fabric_.fibres.size());
    for (std::size_t colour = 0; colour < colours_.size(); ++colour) {
      std::vector<double> now(fabric_.fibres.size());
      for (int round = 0; round < 200; ++round) {
        std::vector<double> next(fabric_.fibres.size());
        for (const Fibre& fibre : fabric_.fibres) {
          next[fibre.id.value] = come_to(fibre, colour, signals, now);
        }
        now = next;
      }
      std::transform(total.begin(), total.end(), now.begin(), total.begin(), std::plus<>());
    }
    return total;
  }

 private:
  double come_to(const Fibre& fibre, std::size_t colour, const Layer& signals, const std::vector<double>& before) const {
    const Element& from = fabric_.element(fibre.from.element);
    double sum = 0;
    for (PortNumber input = 0; input < from.inputs; ++input) {
      const auto& in = fabric_.fibre_in[from.id.value][input];
      if (!in) {
        continue;
      }
      const Transfer transfer = transfer_of(from, input, fibre.from.port, colours_[colour]);
      sum += before[in->value] * (transfer.passes + transfer.leaks);
      for (const Cell& cell : signals.on(*in)) {
        sum += cell.colour == colour ? cell.mw * transfer.leaks : 0;
      }
    }
    return sum * factor_of(-fibre.loss);
  }

  Transfer transfer_of(const Element& element, PortNumber input, PortNumber output, FrequencySlot slot) const {
    const Db gain = settings_.gains[element.id.value] - element.insertion_loss;
    if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
      const auto* set = settings_.wss[element.id.value];
      const bool is_open = set != nullptr && std::ranges::any_of(set->routes, [&](const WssRoute& route) {
                             return route.input == input && route.output == output && overlaps(route.slot, slot);
                           });
      return is_open ? Transfer{factor_of(gain), 0} : Transfer{0, factor_of(gain - wss->isolation)};
    }
    if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
      const Frequency resonance = settings_.resonances[element.id.value].value_or(ring->cold_resonance);
      const double range = static_cast<double>(ring->free_spectral_range.mhz);
      double distance = std::abs(static_cast<double>((centre_of(slot) - resonance).mhz));
      distance = range > 0 ? std::abs(std::remainder(distance, range)) : distance;
      if (2 * distance > static_cast<double>(ring->fwhm.mhz)) {
        return input == 0 && output == 0 ? Transfer{factor_of(gain), 0} : Transfer{};
      }
      const double rest = ring->isolation > Db{0} ? factor_of(gain - ring->isolation) : 0;
      return input != output ? Transfer{factor_of(gain - ring->drop_loss), 0} : Transfer{0, rest};
    }
    if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
      const std::int32_t channel = grating->channels.channel_of(slot);
      if (channel >= 0 && (channel + input) % element.outputs == output) {
        return {factor_of(gain), 0};
      }
      return {0, hears_leaks(element) ? factor_of(gain - grating->isolation) : 0};
    }
    if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
      const auto& output_of = settings_.ocs[element.id.value];
      return {!output_of.empty() && output_of[input] == output ? factor_of(gain) : 0, 0};
    }
    const auto* panel = std::get_if<PatchPanel>(&element.kind);
    const bool is_wired = panel == nullptr || (input < panel->wiring.size() && panel->wiring[input] == output);
    return {is_wired ? factor_of(gain) : 0, 0};
  }

  /// A grating of one input with filters behind it leaks where nobody hears it.
  bool hears_leaks(const Element& grating) const {
    return grating.inputs > 1 || std::ranges::any_of(fabric_.fibre_out[grating.id.value], [&](const auto& fibre) {
             return fibre && std::holds_alternative<Receiver>(fabric_.element(fabric_.fibres[fibre->value].to.element).kind);
           });
  }

  const Fabric& fabric_;
  const verifying::Settings& settings_;
  const std::vector<FrequencySlot>& colours_;
};

/// Everything that ever shines at once; returns the strongest stray light.
double check_leaks(const Fabric& fabric, const Plan& plan) {
  const LightOrder order(fabric);
  const verifying::Settings settings(fabric, plan);
  Faults faults;
  LightTracer tracer(fabric, order, settings, faults);
  std::vector<Lit> lights;
  for (const Source& source : settings.sources) {
    for (const Emission& emission : source.emissions) {
      lights.push_back({source.transmitter, emission.laser.slot, emission.power()});
    }
  }
  const Field field = tracer.trace(lights);
  const std::vector<double> plain = PlainLeaks(fabric, settings, tracer.colours()).of(field.signals);
  double most = 0;
  for (const Fibre& fibre : fabric.fibres) {
    const double expected = plain[fibre.id.value];
    INFO("fibre " << fibre.id.value << " after " << fabric.element(fibre.from.element).name);
    CHECK(std::abs(field.leaks[fibre.id.value] - expected) <= 1e-5 * expected + 1e-18);
    most = std::max(most, expected);
  }
  return most;
}

/// Rings beside where they were, and switches that are open for others: light goes astray, by ways that no plan has.
Plan disturbed(Plan plan, Chance& chance) {
  for (NodePlan& node : plan.nodes.edit_all()) {
    for (DevicePlan& device : node.devices) {
      Setpoint& setpoint = device.timeline.front().setpoint;
      if (auto* heater = std::get_if<FilterSetpoint>(&setpoint); heater != nullptr && chance.one_in(3)) {
        for (RingResonance& ring : heater->rings) {
          ring.resonance.mhz -= chance.one_in(2) ? 100'000 : 0;
        }
      } else if (auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint); wss != nullptr && !wss->routes.empty()) {
        wss->routes.erase(wss->routes.begin() + chance.below(static_cast<std::uint32_t>(wss->routes.size())));
      }
    }
  }
  return plan;
}

}  // namespace

TEST_CASE("stray_light_is_what_a_plain_sum_over_all_fibres_says") {
  std::uint32_t stray = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::string fault;
    Chance chance(seed);
    const bool is_sip = seed % 2 == 0;
    const loom::testing::Walk made = is_sip ? walk_sip(seed, 3, fault) : walk(seed, 2, fault);
    for (const Accepted& one : made.accepted) {
      INFO("seed " << seed << ", revision " << one.result->plan.revision.value);
      stray += check_leaks(*one.fabric, one.result->plan) > 0 ? 1 : 0;
      stray += check_leaks(*one.fabric, disturbed(one.result->plan, chance)) > 0 ? 1 : 0;
    }
  }
  CHECK(stray > 100);
}

TEST_CASE("a_planner_that_remembers_its_fabric_plans_as_one_that_does_not") {
  PlanMemory memory;
  for (std::uint64_t seed = 3'001; seed <= 3'060; ++seed) {
    std::string fault;
    const bool is_sip = seed % 2 == 0;
    const auto plain = is_sip ? walk_sip(seed, 6, fault) : walk(seed, 6, fault);
    const auto remembered = is_sip ? walk_sip(seed, 6, fault, &memory) : walk(seed, 6, fault, &memory);
    INFO("seed " << seed << ": " << fault);
    REQUIRE(fault.empty());
    REQUIRE(plain.accepted.size() == remembered.accepted.size());
    CHECK(plain.refused == remembered.refused);
    for (std::size_t i = 0; i < plain.accepted.size(); ++i) {
      const Plan& one = plain.accepted[i].result->plan;
      const Plan& other = remembered.accepted[i].result->plan;
      CHECK(one.nodes == other.nodes);
      CHECK(one.circuits == other.circuits);
      CHECK(one.touched == other.touched);
      CHECK(one.changed == other.changed);
      CHECK(one.moved_steering == other.moved_steering);
      CHECK(one.certificate == other.certificate);
    }
  }
}
