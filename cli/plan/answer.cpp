// SPDX-License-Identifier: Apache-2.0
// Rows and keys.
#include "cli/plan/answer.hpp"

#include <array>
#include <cstdio>

#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string certificate_text(const CertificateAnswer& certificate) {
  if (!certificate.verified) {
    return "none: " + certificate.note;
  }
  std::string text = "verified; jobs are ";
  text += certificate.physically_isolated   ? "physically isolated (no fibre or amplifier in common)"
          : certificate.wavelength_isolated ? "wavelength-isolated (no wavelength twice on a segment)"
                                            : "not isolated";
  return certificate.shared_amplifiers == 0 ? text
                                            : format_text("{}, {} amplifiers shared", text, certificate.shared_amplifiers);
}

void add_line(std::string& text, const std::string& label, const std::string& value) {
  text += format_text("{}{}{}\n", label, std::string(label.size() < 13 ? 13 - label.size() : 1, ' '), value);
}

Json json_of(const CertificateAnswer& certificate) {
  Json object{{"verified", certificate.verified},
              {"wavelength_isolated", certificate.wavelength_isolated},
              {"physically_isolated", certificate.physically_isolated},
              {"shared_amplifiers", certificate.shared_amplifiers}};
  if (!certificate.note.empty()) {
    object["note"] = certificate.note;
  }
  return object;
}

}  // namespace

nlohmann::ordered_json json_of(const PlanAnswer& answered) {
  Json object = answer();
  object["algorithm"] = answered.algorithm;
  object["objective"] = answered.objective;
  object["bound"] = answered.bound;
  object["gap"] = answered.gap ? Json(*answered.gap) : Json();
  object["elapsed_ms"] = answered.elapsed_ms;
  object["circuits"] = answered.circuits;
  object["touched"] = answered.touched;
  object["jumps"] = answered.jumps;
  object["wavelengths"] = answered.wavelengths ? Json(*answered.wavelengths) : Json();
  object["certificate"] = json_of(answered.certificate);
  object["jobs"] = Json::array();
  for (const JobSummary& job : answered.jobs) {
    object["jobs"].push_back({{"job", job.job.value},
                              {"name", job.name},
                              {"workload", job.workload},
                              {"nodes", job.nodes},
                              {"circuits", job.circuits},
                              {"touched", job.touched},
                              {"stages", job.stages},
                              {"timeslots", job.timeslots}});
  }
  if (!answered.iterations.empty()) {
    object["iterations"] = Json::array();
    for (const IterationAnswer& each : answered.iterations) {
      object["iterations"].push_back({{"job", each.job},
                                      {"iteration_ms", each.iteration ? Json(milliseconds_of(*each.iteration)) : Json()},
                                      {"compute_ms", milliseconds_of(each.compute)}});
    }
  }
  if (answered.occupancy) {
    object["occupancy"] = {{"held", answered.occupancy->held},
                           {"cells", answered.occupancy->cells},
                           {"share", answered.occupancy->share()},
                           {"fullest_held", answered.occupancy->fullest_held},
                           {"fullest_of", answered.occupancy->fullest_of}};
  }
  object["assumptions"] = answered.assumptions;
  if (!answered.hints.empty()) {
    object["hints"] = answered.hints;
  }
  if (!answered.explanation.empty()) {
    object["explanation"] = answered.explanation;
  }
  return object;
}

std::string text_of(const PlanAnswer& answered) {
  std::string text;
  add_line(text, "algorithm", answered.algorithm + (answered.fabric.empty() ? "" : " on " + answered.fabric));
  add_line(text, "objective", format_text("{} {}", seconds_text(answered.objective), answered.subject));
  add_line(text, "bound", seconds_text(answered.bound));
  add_line(text, "gap", answered.gap ? fixed(*answered.gap * 100, 1) + " % above the bound" : "-");
  add_line(text, "planned in", format_text("{} ms ({})", fixed(answered.elapsed_ms, 1), answered.elapsed_of));
  add_line(text, "circuits", format_text("{}, touched {}, kept lit {}", answered.circuits, answered.touched, answered.kept));
  if (answered.wavelengths) {
    add_line(text, "wavelengths", std::to_string(*answered.wavelengths));
  }
  if (const auto& sums = answered.occupancy) {
    add_line(text, "occupancy",
             format_text("{} of {} cells (segment x wavelength) held, {} %; fullest segment {} of {} wavelengths", sums->held,
                         sums->cells, fixed(100 * sums->share(), 1), sums->fullest_held, sums->fullest_of));
  }
  if (!answered.jumps.empty()) {
    std::string jumps;
    for (const std::uint32_t jump : answered.jumps) {
      jumps += (jumps.empty() ? "" : " ") + std::to_string(jump);
    }
    add_line(text, "jumps", jumps);
  }
  for (const IterationAnswer& each : answered.iterations) {
    add_line(text, "iteration",
             format_text("{}: {}", each.job,
                         each.iteration
                             ? format_text("{} ms = compute {} ms + exposed communication {} ms, predicted",
                                           fixed(milliseconds_of(*each.iteration), 3), fixed(milliseconds_of(each.compute), 3),
                                           fixed(milliseconds_of(*each.iteration - each.compute), 3))
                             : each.why_not));
  }
  add_line(text, "certificate", certificate_text(answered.certificate));
  Table table({"job", "name", "nodes", "circuits", "touched", "stages", "timeslots"});
  for (const JobSummary& job : answered.jobs) {
    table.add({std::to_string(job.job.value), job.nodes == 0 ? "(ends)" : job.name, std::to_string(job.nodes),
               std::to_string(job.circuits), std::to_string(job.touched), std::to_string(job.stages),
               std::to_string(job.timeslots)});
  }
  text += table.text();
  for (const std::string& line : answered.explanation) {
    text += format_text("why: {}\n", line);
  }
  for (const std::string& hint : answered.hints) {
    text += format_text("hint: {}\n", hint);
  }
  for (const std::string& assumption : answered.assumptions) {
    text += format_text("assumed: {}\n", assumption);
  }
  return text;
}

}  // namespace loom::cli
