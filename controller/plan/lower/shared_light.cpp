// SPDX-License-Identifier: Apache-2.0
// Lights are counted by place, and by job where there are several.
#include "controller/plan/lower/shared_light.hpp"

#include <algorithm>

namespace loom {

SharedLight::SharedLight(const Fabric& fabric) : fabric_(fabric), fibres_(fabric.fibres.size()) {
  const auto is_amplifier = [](const Element& element) { return std::holds_alternative<Amplifier>(element.kind); };
  amplifiers_.resize(std::ranges::any_of(fabric.elements, is_amplifier) ? fabric.elements.size() : 0);
}

void SharedLight::add(std::size_t place, JobId job, std::vector<Use>& uses, Shared& shared) {
  Use& use = uses[place];
  if (use.lights > 0 && use.job != job) {
    const auto [found, is_new] = shared.try_emplace(place);
    if (is_new) {
      found->second[use.job] = use.lights;
    }
    ++found->second[job];
  } else if (const auto found = shared.empty() ? shared.end() : shared.find(place); found != shared.end()) {
    ++found->second[job];
  }
  use.job = use.lights == 0 ? job : use.job;
  ++use.lights;
}

void SharedLight::remove(std::size_t place, JobId job, std::vector<Use>& uses, Shared& shared) {
  Use& use = uses[place];
  --use.lights;
  const auto found = shared.empty() ? shared.end() : shared.find(place);
  if (found == shared.end()) {
    return;
  }
  if (--found->second[job] == 0) {
    found->second.erase(job);
    use.job = found->second.begin()->first;
  }
  if (found->second.size() == 1) {
    shared.erase(found);
  }
}

template <class Visit>
void SharedLight::each_place(const Path& path, Visit visit) {
  for (const Hop& hop : path) {
    const Element& element = fabric_.element(hop.element);
    if (!amplifiers_.empty() && std::holds_alternative<Amplifier>(element.kind)) {
      visit(hop.element.value, amplifiers_, shared_amplifiers_);
    }
    if (hop.output < element.outputs && fabric_.fibre_out[hop.element.value][hop.output]) {
      visit(fabric_.fibre_out[hop.element.value][hop.output]->value, fibres_, shared_fibres_);
    }
  }
}

void SharedLight::add(const Path& path, JobId job) {
  each_place(path, [&](std::size_t place, std::vector<Use>& uses, Shared& shared) { add(place, job, uses, shared); });
}

void SharedLight::remove(const Path& path, JobId job) {
  each_place(path, [&](std::size_t place, std::vector<Use>& uses, Shared& shared) { remove(place, job, uses, shared); });
}

void SharedLight::certify(IsolationCertificate& certificate) const {
  for (const auto& [element, shares] : shared_amplifiers_) {
    certificate.shared_amplifiers.push_back({static_cast<std::uint32_t>(element)});
  }
  certificate.physically_isolated = shared_amplifiers_.empty() && shared_fibres_.empty();
}

}  // namespace loom
