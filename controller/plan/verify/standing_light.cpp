// SPDX-License-Identifier: Apache-2.0
// The rules about light, asked of the fibres on which it differs; who breaks one is found by whoever judges the whole plan.
#include "controller/plan/verify/standing_light.hpp"

#include <algorithm>
#include <utility>

namespace loom::verifying {

bool StandingLight::can_hold(const Fabric& fabric) {
  return std::ranges::none_of(fabric.elements, [](const Element& element) {
    return std::holds_alternative<WavelengthSelectiveSwitch>(element.kind) ||
           std::holds_alternative<ArrayedWaveguideGrating>(element.kind) || std::holds_alternative<RingFilter>(element.kind);
  });
}

StandingLight::StandingLight(const Fabric& fabric, const LightOrder& order, const Settings& settings, const Plan& plan,
                             const Field& field, const std::vector<Reception>& receptions)
    : fabric_(fabric),
      order_(order),
      settings_(settings),
      passages_(fabric, order, settings, faults_),
      follower_(fabric, order, passages_),
      safe_(fabric),
      cells_(fabric.fibres.size()),
      circuit_of_(fabric.elements.size()),
      transmitter_of_(fabric.elements.size()),
      receptions_(fabric.elements.size()),
      fibre_shared_(fabric.fibres.size()),
      former_of_(fabric.fibres.size(), 0) {
  for (std::size_t i = 0; i < plan.circuits.size(); ++i) {
    set(plan.circuits[i], true);
    receptions_[plan.circuits[i].receiver.value] = receptions[i];
  }
  for (const Fibre& fibre : fabric.fibres) {
    const auto cells = field.signals.on(fibre.id);
    cells_[fibre.id.value].assign(cells.begin(), cells.end());
    fibre_shared_[fibre.id.value] = is_shared(cells);
    shared_fibres_ += fibre_shared_[fibre.id.value] ? 1 : 0;
  }
}

void StandingLight::set(const Circuit& circuit, bool is_there) {
  circuit_of_[circuit.transmitter.value] = is_there ? std::optional(circuit) : std::nullopt;
  transmitter_of_[circuit.receiver.value] = is_there ? std::optional(circuit.transmitter) : std::nullopt;
}

std::vector<Cell>& StandingLight::edit(FibreId fibre) {
  if (former_of_[fibre.value] == 0) {
    const PortRef to = fabric_.fibres[fibre.value].to;
    former_.push_back({fibre, cells_[fibre.value], fibre_shared_[fibre.value], receptions_[to.element.value]});
    former_of_[fibre.value] = static_cast<std::uint32_t>(former_.size());
  }
  return cells_[fibre.value];
}

std::optional<Lit> StandingLight::lit(ElementId transmitter) const {
  const std::uint32_t at = settings_.source_of[transmitter.value];
  if (at == Settings::kNoSource || settings_.sources[at].emissions.empty()) {
    return std::nullopt;
  }
  const Emission& emission = settings_.sources[at].emissions.front();
  return Lit{transmitter, emission.laser.slot, emission.power()};
}

void StandingLight::take_away(const std::vector<ElementId>& transmitters) {
  for (const ElementId transmitter : transmitters) {
    if (const auto light = lit(transmitter)) {
      const auto arrive = [&](FibreId fibre, const Cell& cell, const Element&, const Passage&) {
        std::erase_if(edit(fibre), [&](const Cell& each) { return each.source == cell.source; });
      };
      follower_.follow(*light, arrive, [](FibreId) {});
    }
  }
}

bool StandingLight::exchange(const std::vector<Circuit>& ended, const std::vector<Circuit>& begun) {
  for (const Circuit& circuit : ended) {
    exchanged_.push_back({circuit, false});
    set(circuit, false);
  }
  for (const Circuit& circuit : begun) {
    if (circuit_of_[circuit.transmitter.value] || transmitter_of_[circuit.receiver.value]) {
      return false;
    }
    exchanged_.push_back({circuit, true});
    set(circuit, true);
  }
  return true;
}

bool StandingLight::put(const Lit& light) {
  if (!std::ranges::binary_search(passages_.colours(), light.slot)) {
    return false;
  }
  bool is_lawful = true;
  const auto arrive = [&](FibreId fibre, const Cell& cell, const Element&, const Passage&) {
    std::vector<Cell>& cells = edit(fibre);
    const auto place = std::ranges::lower_bound(cells, cell.colour, {}, &Cell::colour);
    is_lawful = is_lawful && (place == cells.end() || place->colour != cell.colour);
    cells.insert(place, cell);
  };
  follower_.follow(light, arrive, [&](FibreId) { is_lawful = false; });
  return is_lawful;
}

bool StandingLight::bring(const std::vector<ElementId>& transmitters, const IsolationCertificate& claimed) {
  for (const ElementId transmitter : transmitters) {
    const auto& circuit = circuit_of_[transmitter.value];
    const auto light = lit(transmitter);
    const bool is_static = !light || settings_.sources[settings_.source_of[transmitter.value]].is_static();
    if (!is_static || circuit.has_value() != light.has_value() || (light && light->slot != circuit->slot)) {
      return false;  // never emits, or emits for nobody
    }
    if (light && !put(*light)) {
      return false;
    }
  }
  for (std::size_t i = 0; i < former_.size(); ++i) {
    if (!judge(fabric_.fibres[former_[i].fibre.value])) {
      return false;
    }
  }
  const auto arrives = [&](ElementId transmitter) {
    const auto& circuit = circuit_of_[transmitter.value];
    const auto& fibre = circuit ? fabric_.fibre_in[circuit->receiver.value][0] : std::nullopt;
    return !circuit || (fibre && std::ranges::find(on(*fibre), transmitter.value, &Cell::source) != on(*fibre).end());
  };
  return faults_.empty() && std::ranges::all_of(transmitters, arrives) && certifies(claimed);
}

bool StandingLight::judge(const Fibre& fibre) {
  const auto cells = on(fibre.id);
  const bool is_shared_now = is_shared(cells);
  shared_fibres_ += (is_shared_now ? 1 : 0) - (fibre_shared_[fibre.id.value] ? 1 : 0);
  fibre_shared_[fibre.id.value] = is_shared_now;
  double power = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0 && passages_.touch(cells[i], cells[i - 1])) {
      return false;
    }
    power += cells[i].mw;
  }
  const Element& to = fabric_.element(fibre.to.element);
  if (const auto* receiver = std::get_if<Receiver>(&to.kind); receiver && !judge_receiver(to.id, *receiver, cells)) {
    return false;
  }
  if (cells.empty()) {
    return true;
  }
  if (const auto* amplifier = std::get_if<Amplifier>(&to.kind); amplifier && !is_in_range(*amplifier, power)) {
    return false;
  }
  const auto is_alone = [&](const Cell& cell) { return is_alone_at(to, cell, fibre.id); };
  if (std::holds_alternative<Coupler>(to.kind) && !std::ranges::all_of(cells, is_alone)) {
    return false;
  }
  return safe_.holds(fibre, power);
}

/// None of the coupler's other inputs carries this wavelength.
bool StandingLight::is_alone_at(const Element& coupler, const Cell& cell, FibreId by) const {
  return std::ranges::none_of(fabric_.fibre_in[coupler.id.value], [&](const std::optional<FibreId>& fibre) {
    return fibre && *fibre != by && std::ranges::binary_search(on(*fibre), cell.colour, {}, &Cell::colour);
  });
}

bool StandingLight::judge_receiver(ElementId receiver, const Receiver& kind, std::span<const Cell> cells) {
  if (!fabric_.node_of_element[receiver.value]) {
    return true;  // nobody's: a monitor looks at whatever comes to it
  }
  receptions_[receiver.value] = {};
  const auto& transmitter = transmitter_of_[receiver.value];
  if (cells.empty()) {
    return !transmitter;
  }
  if (cells.size() > 1 || !transmitter || cells.front().source != transmitter->value || !is_in_range(kind, cells.front().mw)) {
    return false;
  }
  receptions_[receiver.value].signal_mw = cells.front().mw;
  return true;
}

bool StandingLight::is_shared(std::span<const Cell> cells) const {
  return std::ranges::any_of(cells, [&](const Cell& cell) {
    const auto& first = circuit_of_[cells.front().source];
    const auto& own = circuit_of_[cell.source];
    return first && own && first->job != own->job;
  });
}

bool StandingLight::certifies(const IsolationCertificate& claimed) const {
  std::vector<ElementId> shared;
  std::ranges::copy_if(order_.amplifiers, std::back_inserter(shared), [&](ElementId amplifier) {
    const auto& fibre = fabric_.fibre_in[amplifier.value][0];
    return fibre && fibre_shared_[fibre->value];
  });
  return claimed.wavelength_isolated && claimed.physically_isolated == (shared_fibres_ == 0) &&
         claimed.shared_amplifiers == shared;
}

std::vector<Reception> StandingLight::receptions(const Plan& plan) const {
  std::vector<Reception> found;
  found.reserve(plan.circuits.size());
  for (const Circuit& circuit : plan.circuits) {
    found.push_back(receptions_[circuit.receiver.value]);
  }
  return found;
}

void StandingLight::keep() {
  for (const Former& former : former_) {
    former_of_[former.fibre.value] = 0;
  }
  former_.clear();
  exchanged_.clear();
}

void StandingLight::undo() {
  for (Former& former : former_) {
    const std::size_t fibre = former.fibre.value;
    shared_fibres_ += (former.is_shared ? 1 : 0) - (fibre_shared_[fibre] ? 1 : 0);
    fibre_shared_[fibre] = former.is_shared;
    cells_[fibre] = std::move(former.cells);
    receptions_[fabric_.fibres[fibre].to.element.value] = former.reception;
  }
  for (auto each = exchanged_.rbegin(); each != exchanged_.rend(); ++each) {
    set(each->circuit, !each->has_begun);
  }
  faults_ = {};
  keep();
}

}  // namespace loom::verifying
