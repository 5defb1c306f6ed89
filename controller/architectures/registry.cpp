// SPDX-License-Identifier: Apache-2.0
// The list.
#include "controller/architectures/registry.hpp"

#include "controller/architectures/electrical/architecture.hpp"
#include "controller/architectures/mordia/architecture.hpp"
#include "controller/architectures/ocs_reconfig/architecture.hpp"
#include "controller/architectures/oddl/architecture.hpp"
#include "controller/architectures/sip_ocs/architecture.hpp"
#include "controller/architectures/sip_ring/architecture.hpp"
#include "controller/architectures/topoopt/architecture.hpp"
#include "drivers/registry.hpp"

namespace loom {

const Architectures& all_architectures() {
  static const Architectures kAll({&kIdealSwitch, &kFatTree, &kFatTreeOversubscribed, &kExpander, &kElectricalRing, &kTopoopt,
                                   &kOcsReconfig, &kSipRing, &kSipOcs, &kMordia, &kOddl});
  return kAll;
}

FabricKinds all_fabric_kinds() {
  static const std::vector<const FabricTemplate*> kTemplates = all_architectures().templates();
  return {kTemplates, all_device_models()};
}

std::span<const std::string_view> all_option_keys() {
  static const std::vector<std::string_view> kKeys = all_architectures().option_keys();
  return kKeys;
}

}  // namespace loom
