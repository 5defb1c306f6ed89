// SPDX-License-Identifier: Apache-2.0
// How much light each fibre may carry, whoever opens it: all jobs together, each timeline at its worst, stray light included.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/fabric/hazard.hpp"
#include "core/text/format_text.hpp"

namespace loom::verifying {
namespace {

/// A plan at its limit is not refused for the last digit of a sum.
constexpr double kRounding = 1e-6;
constexpr std::size_t kCircuitsNamed = 8;

/// "155.24 mW (21.91 dBm)".
std::string text_of(double mw) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f mW", mw);
  return format_text("{} ({})", text.data(), to_string(to_dbm(Milliwatt{mw})));
}

std::string limit_text(const Fabric& fabric, const Fibre& fibre, Dbm limit) {
  const std::string whose = fibre.power_limit              ? "this fibre's own"
                            : !fabric.hazard_level.empty() ? "hazard level " + fabric.hazard_level
                            : fabric.power_limit
                                ? "the fabric's"
                                : format_text("hazard level {}, as the fabric gives none", kUsualHazardLevel.word);
  return format_text("{} by {}", text_of(to_milliwatt(limit).value), whose);
}

/// Whose light it is, the strongest first: each transmitter's by itself, of those whose signal comes by there.
std::string contributors(const Fabric& fabric, const Plan& plan, const Settings& settings, LightTracer& tracer, FibreId fibre,
                         double at_beginning) {
  const ElementId from = fabric.fibres[fibre.value].from.element;
  std::vector<std::pair<double, std::string>> found;
  Walk walk(fabric, settings);
  for (const Source& source : settings.sources) {
    double most = 0;
    FrequencySlot slot;
    for (const Emission& emission : source.emissions) {
      const auto& way = walk.elements(source.transmitter, emission.laser.slot);
      if (source.transmitter != from && std::find(way.begin(), way.end(), from) == way.end()) {
        continue;
      }
      const Field field = tracer.trace({{source.transmitter, emission.laser.slot, emission.power()}});
      if (const double power = field.power_on(fibre) * at_beginning; power > most) {
        most = power;
        slot = emission.laser.slot;
      }
    }
    if (most <= 0) {
      continue;
    }
    const auto circuit = std::find_if(plan.circuits.begin(), plan.circuits.end(), [&](const Circuit& each) {
      return each.transmitter == source.transmitter && each.slot == slot;
    });
    found.emplace_back(most, circuit == plan.circuits.end()
                                 ? fabric.element(source.transmitter).name + ", of no circuit"
                                 : format_text("circuit {} of job {}", circuit->id.value, circuit->job.value));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), kCircuitsNamed); ++i) {
    text += format_text("{}{} {}", i == 0 ? "" : "; ", found[i].second, text_of(found[i].first));
  }
  return text + (found.size() > kCircuitsNamed ? format_text("; and {} more", found.size() - kCircuitsNamed) : "");
}

}  // namespace

bool SafePower::holds(const Fibre& fibre, double power) {
  if (fibre.loss != loss_) {
    loss_ = fibre.loss;
    factor_ = linear(loss_);
  }
  if (const Dbm limit = power_limit_of(fabric_, fibre.id); limit != limit_) {
    limit_ = limit;
    limit_mw_ = to_milliwatt(limit).value;
  }
  return power * factor_ <= limit_mw_ * (1 + kRounding);
}

void check_powers(const Fabric& fabric, const Plan& plan, const Settings& settings, LightTracer& tracer,
                  std::span<const double> powers, Faults& faults) {
  SafePower safe(fabric);
  for (const Fibre& fibre : fabric.fibres) {
    if (powers[fibre.id.value] <= 0) {
      continue;
    }
    if (!safe.holds(fibre, powers[fibre.id.value])) {
      const double at_beginning = linear(fibre.loss);
      const double power = powers[fibre.id.value] * at_beginning;
      const Dbm limit = power_limit_of(fabric, fibre.id);
      faults.add(rules::kFibrePower, [&] {
        return format_text("fibre {} from {} to {} may carry {}, limit {}: {}", fibre.id.value,
                           fabric.element(fibre.from.element).name, fabric.element(fibre.to.element).name, text_of(power),
                           limit_text(fabric, fibre, limit),
                           contributors(fabric, plan, settings, tracer, fibre.id, at_beginning));
      });
    }
  }
}

}  // namespace loom::verifying
