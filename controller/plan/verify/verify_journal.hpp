// SPDX-License-Identifier: Apache-2.0
// verify_journal: can this fabric's controller read that journal? Plans and intents name nodes, devices and elements by number,
// and whoever edited the fabric's file since may have left nobody to some of them: they index what is not there. Called before
// a controller believes its journal. It does not ask whether light would still go the same way; planning does.
#pragma once

#include "core/fabric/fabric.hpp"
#include "core/journal/journal.hpp"
#include "core/result.hpp"

namespace loom {

/// Errors: conflict (the first thing that `fabric` does not have).
Result<void> verify_journal(const Fabric& fabric, const SnapshotRecord& state);

}  // namespace loom
