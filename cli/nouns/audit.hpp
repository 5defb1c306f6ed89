// SPDX-License-Identifier: Apache-2.0
// loom audit: who asked what, when, and what was answered. Asks the controller; where none answers, its journal is read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "core/audit.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace loom::cli {

struct AuditCommand {
  std::string since;      ///< "90s", "10m", "2h", "7d" ago, or 2026-11-22[T15:04[:05]][Z]; empty: all
  std::string principal;  ///< empty: everybody
  bool refused = false;   ///< only what was refused
  std::string journal;    ///< file; empty: as the controller says, or the state folder's journal without one
};

/// The instant that `text` names, `now` being the present. Errors: invalid_argument.
Result<WallTime> parse_since(const std::string& text, WallTime now);

/// What the order asks for of them.
Result<std::vector<AuditRecord>> chosen(std::vector<AuditRecord> records, const AuditCommand& order, WallTime now);

}  // namespace loom::cli
