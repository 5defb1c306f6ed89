// SPDX-License-Identifier: Apache-2.0
// Folds events and effects into a digest, so that two runs agree exactly when everything delivered and asked for agrees.
// It never reads a clock and never looks at addresses, only at values.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/digest.hpp"
#include "core/fabric/fabric.hpp"
#include "core/step.hpp"

namespace loom {

/// `encoding`: digest of the bytes that a MessageArrived or a Started was decoded from; 0 for the others.
void fold(Digest& digest, const Event& event, std::uint64_t encoding);

/// What two runs must have in common to be compared at all: the fabric but for its elements' parameters, and the algorithm.
std::uint64_t setup_digest(const Fabric& fabric, std::string_view algorithm);

// Effects. Send and Append are folded by the host itself, by their encoded bytes.
void fold(Digest& digest, const SetTimer& effect);
void fold(Digest& digest, const CancelTimer& effect);
void fold(Digest& digest, const Transact& effect);
void fold(Digest& digest, const MakePlan& effect);
void fold(Digest& digest, const RaiseAlarm& effect);
void fold(Digest& digest, const TellTraining& effect);
void fold(Digest& digest, const LearnPeers& effect);

}  // namespace loom
