// SPDX-License-Identifier: Apache-2.0
// The key `expect` of scenarios, of their jobs and of fault files, into values. Schemas: configs/schema.
#pragma once

#include <optional>
#include <string_view>

#include "core/config/scenario/expectation.hpp"
#include "core/config/yaml/yaml_reader.hpp"

namespace loom {

/// The map under `key` of a job or of a scenario; nothing if the key is absent.
std::optional<JobExpectation> read_expectation(YamlMap& owner, std::string_view key, ErrorList& errors);

/// `expect` of a fault file: how long every job may be dark because of these faults. Zero if the key is absent.
Duration read_fault_expectation(YamlMap& owner, std::string_view key, ErrorList& errors);

}  // namespace loom
