// SPDX-License-Identifier: Apache-2.0
// loom fibre check: what was plugged otherwise than the fabric says, by light.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "cli/calibrate/calibrate.hpp"
#include "cli/calibrate/survey.hpp"
#include "cli/command_line.hpp"
#include "cli/render/columns.hpp"
#include "cli/render/json.hpp"
#include "controller/calibrate/fibre_check.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

/// A finding as it is printed.
struct FindingRow {
  std::string receiver;
  std::string trouble;
  std::string what;
};

constexpr Column<FindingRow> kColumns[] = {{"receiver", [](const FindingRow& row) { return row.receiver; }},
                                           {"finding", [](const FindingRow& row) { return row.trouble; }},
                                           {"what", [](const FindingRow& row) { return row.what; }}};

std::string decibels(Db loss) { return format_text("{}.{} dB", loss.centi / 100, std::abs(loss.centi) % 100 / 10); }

std::string sentence(const FibreFinding& finding, const std::map<ElementId, std::string>& names) {
  const auto name = [&](ElementId element) {
    const auto found = names.find(element);
    return found == names.end() ? format_text("element {}", element.value) : found->second;
  };
  switch (finding.trouble) {
    case FibreTrouble::missing:
      return format_text("its light (transmitter {}) does not come: cut, not plugged, or plugged elsewhere",
                         finding.transmitter.value);
    case FibreTrouble::swapped:
      return format_text("hears the light that was sent to {}: their fibres are swapped, or those of transmitters {} and {}",
                         name(*finding.meant_for), finding.transmitter.value, finding.heard->value);
    case FibreTrouble::mixed:
      return "hears more than one light, or none for sure";
    case FibreTrouble::dirty:
      return format_text("its light is {} weaker than the fabric says: clean its connectors",
                         decibels(finding.excess.value_or(Db{0})));
  }
  return "";
}

int check(const Globals& globals) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto ways = rows_of<WayReport>(*connection, Noun::ways);
  if (!ways) {
    return give_up(ways.error());
  }
  if (ways->empty()) {
    return give_up({ErrorCode::not_found,
                    "nothing measures light in this fabric: neither monitors nor modules that tell what they receive",
                    "loom device list"});
  }
  std::map<ElementId, std::string> names;
  for (const WayReport& way : *ways) {
    names[way.receiver] = way.name;
  }
  FibreCheck survey(*ways);
  if (globals.dry_run) {
    std::printf("would toggle %zu lights at once; nothing was done\n", survey.is_over() ? 0 : survey.ask().probes.size());
    return kDone;
  }
  if (const auto done = run_survey(*connection, globals, "receivers checked", survey); !done) {
    return give_up(done.error());
  }
  if (globals.json) {
    auto object = answer();
    object["checked"] = survey.checked();
    object["looks"] = survey.steps();
    Json findings = Json::array();
    for (const FibreFinding& each : survey.findings()) {
      findings.push_back({{"receiver", each.receiver.value},
                          {"transmitter", each.transmitter.value},
                          {"finding", std::string(to_string(each.trouble))},
                          {"heard", each.heard ? Json(each.heard->value) : Json(nullptr)},
                          {"meant_for", each.meant_for ? Json(each.meant_for->value) : Json(nullptr)},
                          {"excess_db", each.excess ? Json(each.excess->centi / 100.0) : Json(nullptr)}});
    }
    object["findings"] = findings;
    Json unchecked = Json::array();
    for (const auto& [receiver, why] : survey.unchecked()) {
      unchecked.push_back({{"receiver", receiver.value}, {"why", why}});
    }
    object["unchecked"] = unchecked;
    print(object);
  } else {
    std::vector<FindingRow> rows;
    for (const FibreFinding& each : survey.findings()) {
      rows.push_back({names[each.receiver], std::string(to_string(each.trouble)), sentence(each, names)});
    }
    if (!rows.empty()) {
      std::fputs(table_of(kColumns, rows).c_str(), stdout);
    }
    std::printf("%zu receivers checked in %zu looks: %zu findings\n", survey.checked(), survey.steps(), rows.size());
    for (const auto& [receiver, why] : survey.unchecked()) {
      print_note(format_text("{} was not checked: {}", names[receiver], why));
    }
  }
  return survey.findings().empty()
             ? kDone
             : give_up({ErrorCode::refused, format_text("{} receivers do not hear what they should", survey.findings().size()),
                        "loom circuit list"});
}

}  // namespace

void add_fibre(CLI::App& app, CommandLine& line) {
  CLI::App* group = app.add_subcommand("fibre", "Fibres as light finds them");
  group->require_subcommand(1);
  CLI::App* verb = group->add_subcommand("check", "Find swapped, missing and dirty fibres by toggling lights and listening");
  verb->add_flag("--dry-run", line.globals.dry_run, "Say how many lights would be toggled, and do nothing");
  verb->footer(
      "Receivers that a monitor or their own module measures are checked, by transmitters that carry no job: stop\n"
      "jobs, or drain nodes, to check more. It takes about log2(N) commits for N receivers.");
  line.when(*verb, check);
}

}  // namespace loom::cli
