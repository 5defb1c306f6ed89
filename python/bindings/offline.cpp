// SPDX-License-Identifier: Apache-2.0
// Predict, arena and plan, as `loom` has them: the same inputs, read by the same functions, the same numbers.
#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "cli/offline/arena_pictures.hpp"
#include "cli/offline/play_inputs.hpp"
#include "cli/plan/answer.hpp"
#include "cli/plan/inputs.hpp"
#include "cli/plan/lit_plan.hpp"
#include "cli/render/svg.hpp"
#include "controller/arena/arena.hpp"
#include "controller/predict/prediction_text.hpp"
#include "controller/workload/models/zoo.hpp"
#include "python/bindings/module.hpp"

namespace loom::python {
namespace {

namespace py = pybind11;

struct Job {
  std::string workload;
  std::uint32_t nodes = 0;
  std::string bandwidth;
  std::vector<std::string> settings;
};

/// One iteration of a job on fabrics, each played when it is asked for.
class Contest {
 public:
  Contest(const Job& job, std::vector<std::string> fabrics) : fabrics_(std::move(fabrics)) {
    if (fabrics_.empty()) {
      fabrics_.assign(arena_names().begin(), arena_names().end());
    }
    inputs_ = value_of(cli::read_inputs({job.workload, "", "", job.nodes, job.bandwidth, job.settings}, nullptr, fabrics_));
    compute_ = value_of(compute_alone(inputs_.graph));
  }

  const std::vector<std::string>& fabrics() const { return fabrics_; }
  /// JSON of `loom predict`.
  std::string play(std::size_t index, bool is_exact) {
    const std::string& fabric = fabrics_.at(index);
    auto entry = value_of(make_entry(fabric, inputs_.graph, inputs_.rate, settings_for(fabric, inputs_.fabric)));
    rows_.push_back(value_of(loom::play(entry, compute_, {.exact_looks = is_exact ? 0 : kExactLooks, .trace = nullptr})));
    auto json = predict_json(prediction_of(rows_.back(), inputs_.graph, inputs_.rate));
    json["scheduler"] = rows_.back().scheduler;
    json["bound_ms"] = static_cast<double>(rows_.back().bound.count()) / 1e6;
    json["utilisation"] = rows_.back().utilisation;
    json["circuits"] = rows_.back().circuits;
    json["changes"] = rows_.back().changes;
    return json.dump();
  }
  /// Bars of all that was played.
  std::string svg() const {
    cli::PicturedRound round;
    round.title = inputs_.graph.workload;
    round.assumptions = inputs_.graph.assumptions;
    for (const ArenaRow& row : rows_) {
      round.fabrics.push_back({row.fabric, &row});
      round.ideal_ms = row.fabric == "ideal-switch" ? static_cast<double>(row.iteration.count()) / 1e6 : round.ideal_ms;
    }
    return cli::svg::document(cli::bars_of(round).drawing);
  }

 private:
  std::vector<std::string> fabrics_;
  cli::PlayInputs inputs_;
  Duration compute_{};
  std::vector<ArenaRow> rows_;
};

struct PlanText {
  std::string answer;  ///< JSON of `loom plan`
  std::vector<std::string> columns;
  std::string rows;  ///< JSON: of each circuit
  std::string svg;
};

/// On a fabric that is loaded, or on one that is named.
cli::PlanInputs inputs_of(const cli::PlanCommand& order, const Job& job, std::shared_ptr<const Fabric> fabric) {
  if (fabric == nullptr) {
    return value_of(cli::read_plan_inputs(order));
  }
  cli::PlanInputs inputs;
  inputs.algorithm = order.algorithm.empty() ? fabric->architecture : order.algorithm;
  inputs.fabric = std::move(fabric);
  inputs.jobs.push_back(value_of(cli::read_planned_job({job.workload, job.nodes, value_of(parse_settings(job.settings)), ""})));
  return inputs;
}

PlanText plan(const Job& job, const std::string& fabric, const std::string& algorithm, std::shared_ptr<const Fabric> loaded) {
  cli::PlanCommand order;
  order.workloads = {job.workload};
  order.nodes = job.nodes == 0 ? std::vector<std::uint32_t>{} : std::vector{job.nodes};
  order.fabric = fabric;
  order.algorithm = algorithm;
  order.settings = job.settings;
  order.explain = true;
  order.plot = "plan.svg";  // it is drawn and listed; nothing is written
  order.links = "plan.csv";
  const auto inputs = inputs_of(order, job, std::move(loaded));
  if (inputs.fabric == nullptr) {
    throw Failure{{ErrorCode::invalid_argument, "a plan needs a fabric: a file, or the name of a template"}};
  }
  auto planned = value_of(cli::plan_in_light(order, inputs));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (auto& row : planned.links.rows) {
    rows.push_back(std::move(row));
  }
  return {cli::json_of(planned.answer).dump(), planned.links.columns, rows.dump(),
          planned.drawing ? cli::svg::document(planned.drawing->drawing) : std::string{}};
}

}  // namespace

void bind_offline(py::module_& module) {
  module.def("workload_names", [] {
    std::vector<std::string> names;
    for (const std::string_view name : workload_names()) {
      names.emplace_back(name);
    }
    return names;
  });
  module.def("arena_names", [] { return std::vector<std::string>(arena_names().begin(), arena_names().end()); });
  py::class_<Contest>(module, "Contest")
      .def(py::init([](const std::string& workload, std::uint32_t nodes, const std::string& bandwidth,
                       const std::vector<std::string>& settings, std::vector<std::string> fabrics) {
             return unlocked(
                 [&] { return std::make_unique<Contest>(Job{workload, nodes, bandwidth, settings}, std::move(fabrics)); });
           }),
           py::arg("workload"), py::arg("nodes"), py::arg("bandwidth"), py::arg("settings"), py::arg("fabrics"))
      .def_property_readonly("fabrics", &Contest::fabrics)
      .def(
          "play",
          [](Contest& contest, std::size_t index, bool is_exact) {
            return unlocked([&] { return contest.play(index, is_exact); });
          },
          py::arg("index"), py::arg("exact"))
      .def("svg", &Contest::svg);
  py::class_<PlanText>(module, "PlanText")
      .def_readonly("answer", &PlanText::answer)
      .def_readonly("columns", &PlanText::columns)
      .def_readonly("rows", &PlanText::rows)
      .def_readonly("svg", &PlanText::svg);
  module.def(
      "plan",
      [](const std::string& workload, const std::string& fabric, std::uint32_t nodes, const std::string& algorithm,
         const std::vector<std::string>& settings, const std::shared_ptr<Fabric>& loaded) {
        return unlocked([&] { return plan({workload, nodes, "", settings}, fabric, algorithm, loaded); });
      },
      py::arg("workload"), py::arg("fabric"), py::arg("nodes"), py::arg("algorithm"), py::arg("settings"),
      py::arg("loaded") = nullptr);
}

}  // namespace loom::python
