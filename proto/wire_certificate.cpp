// SPDX-License-Identifier: Apache-2.0
// Isolation certificates on the wire: with element numbers inside plans, with names inside reports.
#include "proto/convert.hpp"

namespace loom::wire {

static void to_wire(const loom::LightMargins& in, LightMargins& out) {
  out.set_circuit_count(in.circuits);
  out.set_link_margin_centi_db(in.link_margin.centi);
  out.set_weakest_element_id(in.weakest.value);
  out.set_crosstalk_centi_db(in.crosstalk.centi);
  out.set_crosstalk_margin_centi_db(in.crosstalk_margin.centi);
  out.set_noisiest_element_id(in.noisiest.value);
  out.set_dipped_count(in.dipped);
  out.set_dip_centi_db(in.dip.centi);
  out.set_dip_time_ns(in.dip_time.count());
  out.set_dip_margin_centi_db(in.dip_margin.centi);
}

static loom::LightMargins from_wire(Check& check, const LightMargins& in) {
  loom::LightMargins out;
  const auto decibels = [&](const char* field, std::int32_t centi) { return Db{check.power(field, centi).centi}; };
  out.circuits = in.circuit_count();
  out.link_margin = decibels("link_margin_centi_db", in.link_margin_centi_db());
  out.weakest = check.element("weakest_element_id", in.weakest_element_id());
  out.crosstalk = decibels("crosstalk_centi_db", in.crosstalk_centi_db());
  out.crosstalk_margin = decibels("crosstalk_margin_centi_db", in.crosstalk_margin_centi_db());
  out.noisiest = check.element("noisiest_element_id", in.noisiest_element_id());
  out.dipped = in.dipped_count();
  out.dip = decibels("dip_centi_db", in.dip_centi_db());
  out.dip_time = check.duration("dip_time_ns", in.dip_time_ns());
  out.dip_margin = decibels("dip_margin_centi_db", in.dip_margin_centi_db());
  return out;
}

void to_wire(const loom::IsolationCertificate& in, IsolationCertificate& out) {
  out.set_wavelength_isolated(in.wavelength_isolated);
  out.set_physically_isolated(in.physically_isolated);
  for (const ElementId element : in.shared_amplifiers) {
    out.add_shared_amplifier_element_ids(element.value);
  }
  to_wire(in.light, *out.mutable_light());
}

loom::IsolationCertificate from_wire(Check& check, const IsolationCertificate& in) {
  loom::IsolationCertificate out{in.wavelength_isolated(), in.physically_isolated(), {}, {}};
  if (check.count("shared_amplifier_element_ids", in.shared_amplifier_element_ids_size(), limits::kElements)) {
    for (const std::uint32_t element : in.shared_amplifier_element_ids()) {
      out.shared_amplifiers.push_back(check.element("shared_amplifier_element_ids", element));
    }
  }
  const auto scope = check.in("light");
  out.light = from_wire(check, in.light());
  return out;
}

void to_wire(const loom::CertificateReport& in, CertificateReport& out) {
  out.set_wavelength_isolated(in.wavelength_isolated);
  out.set_physically_isolated(in.physically_isolated);
  for (const std::string& amplifier : in.shared_amplifiers) {
    out.add_shared_amplifiers(sendable(amplifier));
  }
  to_wire(in.light, *out.mutable_light());
  out.set_weakest(sendable(in.weakest));
  out.set_noisiest(sendable(in.noisiest));
}

loom::CertificateReport from_wire(Check& check, const CertificateReport& in) {
  loom::CertificateReport out;
  out.wavelength_isolated = in.wavelength_isolated();
  out.physically_isolated = in.physically_isolated();
  if (check.count("shared_amplifiers", in.shared_amplifiers_size(), limits::kElements)) {
    for (const std::string& amplifier : in.shared_amplifiers()) {
      out.shared_amplifiers.push_back(check.text("shared_amplifiers", amplifier));
    }
  }
  out.light = from_wire(check, in.light());
  out.weakest = check.text("weakest", in.weakest());
  out.noisiest = check.text("noisiest", in.noisiest());
  return out;
}

}  // namespace loom::wire
