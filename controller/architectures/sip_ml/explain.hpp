// SPDX-License-Identifier: Apache-2.0
// Accounts of SiP-ML's schedules as sentences for people. Every number comes from an account; nothing is decided here.
#pragma once

#include <string>
#include <vector>

#include "controller/architectures/sip_ml/account.hpp"

namespace loom {

std::vector<std::string> explain(const RingAccount& account);
std::vector<std::string> explain(const OcsAccount& account);

}  // namespace loom
