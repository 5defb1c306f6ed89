// SPDX-License-Identifier: Apache-2.0
// Order statistics of what agents measured.
#include "core/messages/report.hpp"

#include <algorithm>

namespace loom {

Spread spread_of(std::vector<Duration>& values) {
  if (values.empty()) {
    return {};
  }
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const auto percentile = [&](std::size_t percent) { return values[(count * percent + 99) / 100 - 1]; };  // nearest rank
  return {values.front(), percentile(50), percentile(99), values.back(), static_cast<std::uint32_t>(count)};
}

CertificateReport named(const IsolationCertificate& certificate, const Fabric& fabric) {
  CertificateReport report{certificate.wavelength_isolated, certificate.physically_isolated, {}, certificate.light, {}, {}};
  for (const ElementId amplifier : certificate.shared_amplifiers) {
    report.shared_amplifiers.push_back(fabric.element(amplifier).name);
  }
  if (certificate.light.circuits > 0) {
    report.weakest = fabric.element(certificate.light.weakest).name;
    report.noisiest = fabric.element(certificate.light.noisiest).name;
  }
  return report;
}

}  // namespace loom
