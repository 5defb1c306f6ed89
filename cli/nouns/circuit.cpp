// SPDX-License-Identifier: Apache-2.0
// loom circuit list|show|explain.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/naming.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/read.hpp"
#include "cli/nouns/rows.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

constexpr Column<CircuitReport> kColumns[] = {
    {"circuit", [](const CircuitReport& row) { return number(row.circuit.id.value); }},
    {"job", [](const CircuitReport& row) { return number(row.circuit.job.value); }},
    {"from", [](const CircuitReport& row) { return number(row.circuit.source.value); }},
    {"to", [](const CircuitReport& row) { return number(row.circuit.destination.value); }},
    {"frequency", [](const CircuitReport& row) { return loom::to_string(centre_of(row.circuit.slot)); }},
    {"rate", [](const CircuitReport& row) { return text_of(row.circuit.rate); }},
    {"timeslot", kCell<&CircuitReport::timeslot>},
    {"light", kCell<&CircuitReport::light>},
    {"age", [](const CircuitReport& row) { return row.age < Duration{} ? std::string("-") : text_of(row.age); }},
    {"why", [](const CircuitReport& row) { return row.light == LightState::lit ? std::string() : row.why; }}};

std::string db_text(Db loss) {
  std::string text = loss.centi < 0 ? "+" : loss.centi > 0 ? "-" : "";
  const int size = std::abs(loss.centi);
  text += format_text("{}.{}{}", static_cast<std::uint64_t>(size / 100), size % 100 < 10 ? "0" : "",
                      static_cast<std::uint64_t>(size % 100));
  return text + " dB";
}

/// The last element of a way lets nothing out.
std::string output_of(const HopReport& hop) { return hop.kind == "receiver" ? "-" : number(hop.output); }

constexpr Column<HopReport> kHopColumns[] = {
    {"element", kCell<&HopReport::name>},
    {"kind", kCell<&HopReport::kind>},
    {"in", kCell<&HopReport::input>},
    {"out", output_of},
    {"loss", [](const HopReport& hop) { return db_text(hop.loss); }},
    {"power", kCell<&HopReport::power_out>},
    {"device", kCell<&HopReport::device>},
    {"desired", kCell<&HopReport::desired>},
    {"applied", [](const HopReport& hop) { return hop.device ? number(hop.applied.value) : "-"; }},
    {"observed", kCell<&HopReport::observed>},
    {"drift",
     [](const HopReport& hop) { return hop.drift == Drift::none ? std::string() : std::string(loom::to_string(hop.drift)); }},
    {"problem", kCell<&HopReport::problem>}};

/// Who else uses this circuit: pairs whose servers forward over it.
std::string forwarded_text(const CircuitExplanation& it) {
  constexpr std::size_t kShown = 8;
  if (it.forwarded_pairs == 0) {
    return "";
  }
  std::string text = format_text("servers forward {} other pairs over it:", it.forwarded_pairs);
  for (std::size_t i = 0; i < std::min(kShown, it.forwarded.size()); ++i) {
    const ForwardedPair& pair = it.forwarded[i];
    text += (i == 0 ? " " : ", ") + number(pair.source.value);
    for (const NodeId node : pair.through) {
      text += format_text(" > {}", node.value);
    }
    text += format_text(" > {}", pair.destination.value);
  }
  return format_text("{}{}\n", text, it.forwarded_pairs > kShown ? ", ..." : "");
}

int explain_circuit(const Globals& globals, const std::string& word) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto circuit = find_id(*connection, Noun::explanation, word);
  if (!circuit) {
    return give_up(circuit.error());
  }
  const auto reply = connection->ask(Query{Noun::explanation, *circuit});
  if (!reply) {
    return give_up(reply.error());
  }
  const auto& explanation = std::get<CircuitExplanation>(reply->rows);
  print_rows(globals, *reply);
  if (!globals.json) {
    print_note("  try: " + explanation.next_command);
  }
  return kDone;
}

}  // namespace

std::string text_of(const std::vector<CircuitReport>& rows) { return table_of(kColumns, rows); }

std::string text_of(const CircuitExplanation& it) {
  const Circuit& circuit = it.circuit.circuit;
  std::string text =
      format_text("circuit {} of job {}{}: node {} -> node {} at {}, {}, timeslot {}, revision {}, {}\n", circuit.id.value,
                  circuit.job.value, it.job_name.empty() ? "" : format_text(" ({})", it.job_name), circuit.source.value,
                  circuit.destination.value, loom::to_string(centre_of(circuit.slot)), text_of(circuit.rate),
                  it.circuit.timeslot, it.revision.value, loom::to_string(it.circuit.light));
  return format_text("{}{}{}{}\n", text, table_of(kHopColumns, it.hops), forwarded_text(it), it.verdict);
}

void add_circuit(CLI::App& app, CommandLine& line) {
  CLI::App& group = add_reading(
      app, line, RowFields<CircuitReport>::kList, "circuits of the confirmed revision",
      "light, by the latest reading of every element of its way: lit, degraded (weak, beside its place), unknown (not read, "
      "or nobody is there to read it) or dark. oper_state is OCP's word for it.");
  CLI::App* explain =
      group.add_subcommand("explain", "Its way element by element, with powers, and the first thing that is wrong on it");
  auto& word = line.keep<std::string>();
  add_named(*explain, "CIRCUIT", word, "Its number, or FROM:TO by the numbers of its nodes");
  line.when(*explain, explain_circuit, word);
}

}  // namespace loom::cli
