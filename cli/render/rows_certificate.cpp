// Isolation certificates to text and JSON.
#include "cli/render/rows.hpp"
#include "cli/render/term.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNamesShown = 8;  ///< of shared amplifiers; JSON has all

double db(Db ratio) { return ratio.centi / 100.0; }

}  // namespace

std::string isolation_word(const CertificateReport& certificate) {
  return certificate.light.circuits == 0   ? "-"
         : certificate.physically_isolated ? "physical"
         : certificate.wavelength_isolated ? "wavelength"
                                           : "NONE";
}

std::string text_of(const CertificateReport& certificate) {
  const LightMargins& light = certificate.light;
  if (light.circuits == 0) {
    return {};
  }
  std::string text = "isolation    " + isolation_word(certificate);
  const auto& shared = certificate.shared_amplifiers;
  for (std::size_t i = 0; i < shared.size() && i < kNamesShown; ++i) {
    text += (i == 0 ? "; shared amplifiers " : ", ") + shared[i];
  }
  text += shared.size() > kNamesShown ? ", and " + std::to_string(shared.size() - kNamesShown) + " more (--json has all)" : "";
  text += "\nmargins      link " + loom::to_string(light.link_margin) + " at " + certificate.weakest + "; crosstalk " +
          loom::to_string(light.crosstalk) + " at " + certificate.noisiest + ", " + loom::to_string(light.crosstalk_margin) +
          " to its limit (computed from the fabric file)\n";
  if (light.dipped > 0) {
    text += "reload       " + std::to_string(light.dipped) + " untouched circuits dip by up to " + loom::to_string(light.dip) +
            " for " + text_of(light.dip_time) + " at most, and keep " + loom::to_string(light.dip_margin) + "\n";
  }
  return text;
}

Json json_of(const CertificateReport& certificate) {
  const LightMargins& light = certificate.light;
  Json object{{"wavelength_isolated", certificate.wavelength_isolated},
              {"physically_isolated", certificate.physically_isolated},
              {"shared_amplifiers", certificate.shared_amplifiers},
              {"circuits", light.circuits}};
  if (light.circuits > 0) {
    object["link"] = {{"margin_db", db(light.link_margin)}, {"receiver", certificate.weakest}};
    object["crosstalk"] = {
        {"worst_db", db(light.crosstalk)}, {"margin_db", db(light.crosstalk_margin)}, {"receiver", certificate.noisiest}};
    object["reload"] = {{"dipped", light.dipped},
                        {"dip_db", db(light.dip)},
                        {"dip_ns", light.dip_time.count()},
                        {"margin_db", light.dipped > 0 ? Json(db(light.dip_margin)) : Json(nullptr)}};
  }
  return object;
}

}  // namespace loom::cli
