// SPDX-License-Identifier: Apache-2.0
// Rows and reports as people read them. What has a form of its own is printed by its noun's file; every other kind of row by
// its field table (cli/render/columns.hpp). JSON: cli/render/json.hpp.
#pragma once

#include <string>
#include <vector>

#include "cli/calibrate/calibrate.hpp"
#include "cli/render/columns.hpp"
#include "cli/render/figure.hpp"
#include "core/messages/report.hpp"
#include "core/messages/schedule_part.hpp"

namespace loom::cli {

std::string text_of(const StatusReport& status);
std::string text_of(const std::vector<NodeReport>& rows);
std::string text_of(const std::vector<DeviceReport>& rows);
std::string text_of(const std::vector<CircuitReport>& rows);
std::string text_of(const std::vector<JobReport>& rows);
std::string text_of(const std::vector<CommitReport>& rows);
std::string text_of(const std::vector<StandingAlarm>& rows);
std::string text_of(const std::vector<AuditRecord>& rows);
std::string text_of(const std::vector<SchedulePart>& rows);
std::string text_of(const CertificateReport& certificate);
std::string text_of(const ChangeReport& change);
/// How long its light would be dark, a line; empty: none goes dark, or nobody knows.
std::string darkness_of(const ChangeReport& change);
std::string text_of(const CircuitExplanation& explanation);

/// A lane a revision: where it spends its time.
Picture picture_of(const std::vector<CommitReport>& revisions);

/// "physical", "wavelength", "NONE", or "-" where nothing is lit.
std::string isolation_word(const CertificateReport& certificate);

}  // namespace loom::cli
