// SPDX-License-Identifier: Apache-2.0
// Names of measurements, and the way from a model to a problem.
#include "controller/arena/reproduction/topoopt_jobs.hpp"

#include <algorithm>
#include <array>

#include "controller/arena/reproduction/figures.hpp"
#include "core/text/format_text.hpp"

namespace loom::reproduction {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kMeasures{{{"bert-16", "transformer16.json"},
                                                                                  {"candle-16", "candle16.json"},
                                                                                  {"dlrm-16", "dlrm16.json"},
                                                                                  {"vgg16-16", "vgg16.json"},
                                                                                  {"bert-128", "transformer128.json"},
                                                                                  {"candle-128", "candle_128.json"},
                                                                                  {"dlrm-128", "dlrm128.json"},
                                                                                  {"vgg16-128", "vgg128.json"}}};

}  // namespace

Result<SearchProblem> topoopt_problem(const std::string& data, std::string_view model, BitRate rate) {
  const auto named = std::find_if(kMeasures.begin(), kMeasures.end(), [&](const auto& each) { return each.first == model; });
  if (named == kMeasures.end()) {
    return fail(ErrorCode::invalid_argument, format_text("no measurements of '{}'", model));
  }
  const auto path = file_in(data, format_text("measures/{}", named->second));
  if (!path) {
    return std::unexpected(path.error());
  }
  auto graph = topoopt_model(model);
  const auto measures = load_measures(*path);
  if (!graph || !measures) {
    return std::unexpected(graph ? measures.error() : graph.error());
  }
  auto times = times_of(*graph, *measures);
  if (!times) {
    return std::unexpected(times.error());
  }
  NetworkTerms terms;
  terms.nodes = graph->nodes;
  terms.rate = rate;
  terms.link_latency = std::chrono::microseconds{1};
  return SearchProblem{std::move(*graph), std::move(*times), terms, {}};
}

}  // namespace loom::reproduction
