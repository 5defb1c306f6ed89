// SPDX-License-Identifier: Apache-2.0
// Cluster files (`kind: cluster`): servers, kinds of jobs, arrivals and failures, for `loom arena --cluster`. Keys:
// docs/cluster.md#the-file; schema: configs/schema/cluster.schema.json.
#pragma once

#include <filesystem>
#include <vector>

#include "controller/arena/cluster/cluster_spec.hpp"
#include "core/config/yaml/config_error.hpp"
#include "core/config/yaml/yaml_document.hpp"

namespace loom {

inline constexpr std::size_t kClusterKinds = 256;

/// All that is wrong at once, by line and column: an unknown key, a value outside its range, shares without a sum, a job larger
/// than the cluster, a workload that cannot be made. Paths in it are relative to the file's folder. The workloads are read.
Loaded<ClusterSpec> read_cluster_file(const std::filesystem::path& path);
Loaded<ClusterSpec> read_cluster(const std::filesystem::path& path, const YamlNode& root);

}  // namespace loom
