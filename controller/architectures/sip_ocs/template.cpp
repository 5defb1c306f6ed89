// SPDX-License-Identifier: Apache-2.0
// Parameters of SiP-OCS's fabric in a file.
#include "controller/architectures/sip_ocs/fabric.hpp"

#include <array>
#include <string>

#include "core/config/template_keys.hpp"

namespace loom {
namespace {

constexpr std::array<TemplateKey, 10> kKeys{{{"nodes", "how many"},
                                             {"switches", "circuit switches; every node has a port on each"},
                                             {"fibre_length", "between a node and a switch, m"},
                                             {"ocs_settle_max", "of a circuit switch, at most"},
                                             kRateKey,
                                             kSignalWidthKey,
                                             kLaserControlKey,
                                             kLaserRetuneKey,
                                             kLaserBlankKey,
                                             kAcquisitionKey}};

Fabric read_sip_ocs(YamlMap& map, const ErrorList& errors) {
  SipOcsParameters ocs;
  ocs.nodes = static_cast<std::uint32_t>(map.integer("nodes", {2, kTemplateNodesMost}, std::int64_t{ocs.nodes}));
  ocs.switches = static_cast<std::uint32_t>(map.integer("switches", {1, 128}, std::int64_t{ocs.switches}));
  ocs.fibre_length_mm = map.quantity("fibre_length", kLengthUnits, kFibreLengthMm, ocs.fibre_length_mm);
  ocs.ocs_settle_max = map.duration("ocs_settle_max", kDeviceTime, ocs.ocs_settle_max);
  read_ends(map, ocs);
  check_signal_width(map, ocs.signal_width, {{ocs.channel_n, ocs.channel_width_m}, 2 * ocs.channel_width_m, 1});
  check_elements(map, ocs.nodes, 2ULL * ocs.switches + 1);
  map.finish();
  return errors.empty() ? make_sip_ocs(ocs) : Fabric{};
}

}  // namespace

const FabricTemplate kSipOcsTemplate{"sip_ocs", "parallel circuit switches, a port of every node on each", kKeys, read_sip_ocs};

}  // namespace loom
