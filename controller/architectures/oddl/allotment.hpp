// SPDX-License-Identifier: Apache-2.0
// Allotment: which planes of its transmitters, and which orders of the AWGs, a job is admitted with where a fabric has several
// (ODDL), in proportion to its traffic. Decided once: a running job keeps what it has.
#pragma once

#include <vector>

#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

/// Shares out planes to placed jobs that have none, and orders to those that `arrived` (ascending); on fabrics without a choice
/// it does nothing. Orders are given to a job alone, and only where more than one helps: receivers hear several, and no
/// job that shares a group and a port number with it has them. A job that leaves nodes of its groups to others leaves them an
/// order too.
void allot(const Fabric& fabric, const std::vector<JobId>& arrived, Intent& placed);

}  // namespace loom
