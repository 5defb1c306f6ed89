// The controller's reports as tables and as JSON. One JSON object an answer, with `api_version`; keys are snake_case, numbers
// are numbers, durations say their unit in the key.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/alarm.hpp"
#include "core/audit.hpp"
#include "core/fabric.hpp"
#include "core/report.hpp"

namespace loom::cli {

inline constexpr int kApiVersion = 1;

/// An answer's outermost object.
nlohmann::ordered_json answer();

nlohmann::ordered_json json_of(const StatusReport& status);
nlohmann::ordered_json json_of(const std::vector<NodeReport>& rows);
nlohmann::ordered_json json_of(const std::vector<DeviceReport>& rows);
nlohmann::ordered_json json_of(const std::vector<CircuitReport>& rows);
nlohmann::ordered_json json_of(const std::vector<JobReport>& rows);
nlohmann::ordered_json json_of(const std::vector<CommitReport>& rows);
nlohmann::ordered_json json_of(const std::vector<StandingAlarm>& rows);
nlohmann::ordered_json json_of(const std::vector<AuditRecord>& rows);
nlohmann::ordered_json json_of(const CertificateReport& certificate);
nlohmann::ordered_json json_of(const ChangeReport& change);
nlohmann::ordered_json json_of(const CircuitExplanation& explanation);

std::string text_of(const StatusReport& status);
std::string text_of(const std::vector<NodeReport>& rows);
std::string text_of(const std::vector<DeviceReport>& rows);
std::string text_of(const std::vector<CircuitReport>& rows);
std::string text_of(const std::vector<JobReport>& rows);
std::string text_of(const std::vector<CommitReport>& rows);
std::string text_of(const std::vector<StandingAlarm>& rows);
std::string text_of(const std::vector<AuditRecord>& rows);
std::string text_of(const CertificateReport& certificate);
std::string text_of(const ChangeReport& change);
std::string text_of(const CircuitExplanation& explanation);

std::string_view to_string(DeviceKind kind);
/// "physical", "wavelength", "NONE", or "-" where nothing is lit.
std::string isolation_word(const CertificateReport& certificate);

}  // namespace loom::cli
