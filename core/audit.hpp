// SPDX-License-Identifier: Apache-2.0
// Audit: who asked what, when, and what was answered. One record a request, durable with what it changed, kept in the journal
// over snapshots. Reading is not recorded one by one: queries and refusals are summed a key.
#pragma once

#include <cstdint>
#include <string>

#include "core/ids.hpp"
#include "core/messages/role.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace loom {

struct AuditRecord {
  std::uint64_t number = 0;  ///< 1, 2, ... over all incarnations of one journal
  WallTime at{};             ///< of its arrival, for people's eyes only
  std::string principal;     ///< whose key; "controller" for what it did by itself
  Role role = Role::viewer;
  RequestId request;  ///< 0: no operator's request
  std::string asked;  ///< one sentence, complete: "node drain 17 --force"
  Outcome outcome;    ///< the refusal, or none
  JobId job;          ///< that it made or was about; 0: none
  Revision revision;  ///< that carries it out; 0: none
  bool operator==(const AuditRecord&) const = default;
};

}  // namespace loom
