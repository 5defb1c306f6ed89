// Rows of the audit as a table and as JSON. What other hands wrote is printed so that no terminal obeys it.
#include "cli/render/rows.hpp"
#include "cli/render/term.hpp"
#include "controller/control/audit_text.hpp"

namespace loom::cli {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<AuditRecord>& rows) {
  Json list = Json::array();
  for (const AuditRecord& row : rows) {
    Json object{{"record", row.number},
                {"at", loom::to_string(row.at)},
                {"at_ns", ns_of(row.at)},
                {"principal", printable(row.principal)},
                {"role", loom::to_string(row.role)},
                {"request", row.request.value},
                {"asked", printable(row.asked)},
                {"refused", row.outcome.error.has_value()}};
    object["answer"] = row.outcome.error ? Json(printable(row.outcome.error->message)) : Json(nullptr);
    object["job"] = row.job.value == 0 ? Json(nullptr) : Json(row.job.value);
    object["revision"] = row.revision.value == 0 ? Json(nullptr) : Json(row.revision.value);
    list.push_back(std::move(object));
  }
  Json it = answer();
  it["audit"] = std::move(list);
  return it;
}

std::string text_of(const std::vector<AuditRecord>& rows) {
  if (rows.empty()) {
    return {};
  }
  Table table({"record", "at", "who", "role", "asked", "answer", "revision"});
  for (const AuditRecord& row : rows) {
    table.add({std::to_string(row.number), loom::to_string(row.at), printable(row.principal),
               std::string(loom::to_string(row.role)), printable(row.asked),
               row.outcome.error ? "refused: " + printable(row.outcome.error->message) : std::string("ok"),
               row.revision.value == 0 ? "-" : std::to_string(row.revision.value)});
  }
  return table.text();
}

}  // namespace loom::cli
