// SPDX-License-Identifier: Apache-2.0
// Audit text: one sentence for each order, as a person would have typed it, and one line of the log for each record. The only
// place where either is made.
#pragma once

#include <string>
#include <string_view>

#include "core/audit.hpp"
#include "core/messages/operator.hpp"

namespace loom {

/// What was asked: "node drain 17 --force". Words of people (names of jobs) are in it as they came. At most
/// limits::kTextBytes / 2 bytes: of long lists the beginning, and how long they are.
std::string sentence_of(const OperatorAsk& ask);

/// Text of another hand, in printable ASCII: every other byte is \xHH, a backslash is doubled. It can neither begin a line of
/// its own nor move a cursor.
std::string printable(std::string_view text);

/// `audit: {...}`: one JSON object on one line, the same keys as `loom audit --json`.
std::string log_line(const AuditRecord& record);

}  // namespace loom
