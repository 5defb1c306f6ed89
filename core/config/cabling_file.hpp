// SPDX-License-Identifier: Apache-2.0
// Cabling: a CSV with a row a fibre, as people plug it: `from,to,length_m,loss_db,label`. Ends are ports as fabric files have
// them, ELEMENT or ELEMENT:PORT. It is held against the fabric, whose fibres take its lengths and losses.
#pragma once

#include <filesystem>
#include <string>

#include "core/config/yaml/yaml_document.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

/// Every row is a fibre of the fabric and every fibre has a row, or each that is not so is named with both sides. `fabric`
/// null: only the form is judged. Errors carry the CSV's own name and line.
void apply_cabling(const std::filesystem::path& path, Fabric* fabric, ErrorList& errors);

/// The CSV of a fabric: what is to be plugged, a label for each cable.
std::string cabling_of(const Fabric& fabric);

}  // namespace loom
