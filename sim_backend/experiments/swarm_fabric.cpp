// SPDX-License-Identifier: Apache-2.0
// A table of template parameters.
#include "sim_backend/experiments/swarm_fabric.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <span>

#include "controller/architectures/registry.hpp"
#include "core/config/fabric_file.hpp"
#include "core/config/yaml/yaml_document.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

struct Size {
  const char* name;
  const char* parameters;
};

constexpr std::array<Size, 4> kOddl{{{"oddl-8", "{nodes: 8, group_size: 4, channels: 6}"},
                                     {"oddl-16", "{nodes: 16, group_size: 4, channels: 6}"},
                                     {"oddl-16-8", "{nodes: 16, group_size: 8, channels: 12}"},
                                     {"oddl-32-8", "{nodes: 32, group_size: 8, channels: 12}"}}};
constexpr std::array<Size, 3> kPlanes{{{"oddl-8-p2", "{nodes: 8, group_size: 4, channels: 6, planes: 2}"},
                                       {"oddl-16-p2", "{nodes: 16, group_size: 8, channels: 12, planes: 2}"},
                                       {"oddl-16-p3", "{nodes: 16, group_size: 4, channels: 6, planes: 3}"}}};
constexpr std::array<Size, 3> kOpen{{{"oddl-open-8", "{nodes: 8, group_size: 4, channels: 12, receiver: open}"},
                                     {"oddl-open-16", "{nodes: 16, group_size: 8, channels: 24, receiver: open}"},
                                     {"oddl-open-16-4", "{nodes: 16, group_size: 4, channels: 12, receiver: open}"}}};
constexpr std::array<Size, 2> kAwgr{{{"oddl-awgr-8", "{nodes: 8, group_size: 4, channels: 20, inside: awgr}"},
                                     {"oddl-awgr-16", "{nodes: 16, group_size: 4, channels: 20, inside: awgr}"}}};
constexpr std::array<Size, 3> kSipRing{{{"sip-ring-8", "{nodes: 8, rings: 1, channels: 4}"},
                                        {"sip-ring-8-r2", "{nodes: 8, rings: 2, channels: 4}"},
                                        {"sip-ring-16", "{nodes: 16, rings: 2, channels: 8}"}}};
constexpr std::array<Size, 3> kSipOcs{{{"sip-ocs-8", "{nodes: 8, switches: 2}"},
                                       {"sip-ocs-8-4", "{nodes: 8, switches: 4}"},
                                       {"sip-ocs-16", "{nodes: 16, switches: 4}"}}};
constexpr std::array<Size, 4> kTopoopt{{{"topoopt-8", "{nodes: 8, degree: 2}"},
                                        {"topoopt-8-4", "{nodes: 8, degree: 4}"},
                                        {"topoopt-8-duplex", "{nodes: 8, degree: 4, interfaces_per_switch: 2}"},
                                        {"topoopt-16", "{nodes: 16, degree: 4}"}}};
/// Robots that take a second, so that a run of seconds sees them move.
constexpr std::array<Size, 2> kPanels{
    {{"topoopt-panels-8", "{nodes: 8, degree: 2, switches: look_ahead_panels, panel_settle_max: 1 s}"},
     {"topoopt-panels-16", "{nodes: 16, degree: 3, switches: look_ahead_panels, panel_settle_max: 1 s}"}}};

struct Family {
  const char* word;
  const char* design;  ///< the template's name; null: a file of configs
  std::span<const Size> sizes;
};
constexpr std::array<Family, kFabricFamilies> kFamilies{{{"oddl", "oddl", kOddl},
                                                         {"oddl_planes", "oddl", kPlanes},
                                                         {"oddl_open", "oddl", kOpen},
                                                         {"oddl_awgr", "oddl", kAwgr},
                                                         {"sip_ring", "sip_ring", kSipRing},
                                                         {"sip_ocs", "sip_ocs", kSipOcs},
                                                         {"topoopt", "topoopt", kTopoopt},
                                                         {"topoopt_panels", "topoopt", kPanels},
                                                         {"all_elements", nullptr, {}}}};

const Family& row_of(FabricFamily family) { return kFamilies[static_cast<std::size_t>(family)]; }

}  // namespace

std::string_view to_string(FabricFamily family) { return row_of(family).word; }

std::uint32_t sizes_of(FabricFamily family) {
  const auto sizes = static_cast<std::uint32_t>(row_of(family).sizes.size());
  return sizes == 0 ? 1 : sizes;
}

std::string algorithm_of(const Fabric& fabric) {
  return all_architectures().find_scheduler(fabric.architecture) ? fabric.architecture : "oddl";
}

SwarmFabric draw_fabric(Random& random) {
  SwarmFabric fabric;
  fabric.family = static_cast<FabricFamily>(random.below(kFabricFamilies));
  fabric.size = random.below(sizes_of(fabric.family));
  return fabric;
}

Result<std::string> text_of(const SwarmFabric& fabric, const std::string& configs) {
  const Family& row = row_of(fabric.family);
  if (row.design != nullptr) {
    const Size& size = row.sizes[fabric.size];
    return format_text("schema_version: 1\nkind: fabric\nname: {}\ntemplate: {}\nparameters: {}\n", size.name, row.design,
                       size.parameters);
  }
  const std::string path = format_text("{}/fabrics/{}.yaml", configs, row.word);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found, format_text("fabric file {} cannot be read", path),
                "loom sim soak --configs FOLDER  (that has fabrics/)");
  }
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Result<std::shared_ptr<const Fabric>> make_fabric(const SwarmFabric& fabric, const std::string& configs) {
  const Result<std::string> text = text_of(fabric, configs);
  if (!text) {
    return std::unexpected(text.error());
  }
  const Loaded<YamlNode> document = parse_yaml("the swarm's fabric", *text);
  if (!document) {
    return fail(ErrorCode::internal, document.errors.front().message);
  }
  Loaded<Fabric> made = read_fabric("the swarm's fabric", *document.value, all_fabric_kinds());
  if (!made) {
    return fail(ErrorCode::internal, made.errors.front().message);
  }
  return std::make_shared<const Fabric>(std::move(*made.value));
}

}  // namespace loom
