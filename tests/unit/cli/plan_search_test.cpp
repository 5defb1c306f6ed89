// SPDX-License-Identifier: Apache-2.0
// loom plan --search: chains side by side, and a search that goes on from its file.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "cli/plan/accuracy_table.hpp"
#include "cli/plan/lit_plan.hpp"
#include "cli/plan/lit_search.hpp"
#include "cli/plan/search_file.hpp"
#include "controller/workload/models/zoo.hpp"
#include "tests/unit/workload/op_towers.hpp"

namespace loom::cli {
namespace {

Search small_search(std::uint64_t steps, const FinderOptions& finder = as_in_code_release(4)) {
  Search search;
  search.model = "towers";
  search.measures = "0123456789abcdef";
  search.link = gigabits(100);
  search.options.finder = finder;
  search.options.steps = steps;
  search.options.alpha = 0.3;
  search.options.reset_span = 20;
  search.options.starts_data_parallel = false;
  search.options.seed = 5;
  return search;
}

SearchOutcome run(
    Search search, std::uint32_t chains, std::uint32_t threads, std::function<bool()> is_over = [] { return false; }) {
  auto outcome = run_search(towers(), std::move(search), chains, {threads, std::move(is_over), {}});
  REQUIRE(outcome);
  return *std::move(outcome);
}

TEST_CASE("chains_find_the_same_whatever_the_number_of_threads") {
  const std::string alone = text_of(run(small_search(300), 3, 1).search);
  CHECK(text_of(run(small_search(300), 3, 2).search) == alone);
  CHECK(text_of(run(small_search(300), 3, 7).search) == alone);
  const SearchOutcome single = run(small_search(300), 1, 1);
  const SearchOutcome three = run(small_search(300), 3, 2);
  CHECK(single.search.chains[0].best.strategy == three.search.chains[0].best.strategy);
  CHECK(three.search.chains[1].draws.seed == 6);
}

TEST_CASE("the_best_chain_is_the_least_and_of_equal_ones_the_first") {
  std::vector<SearchState> chains(4);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    chains[i].best.predicted_ms = i == 0 ? 9 : 7;
  }
  CHECK(best_of(chains) == 1);
  chains[3].best.predicted_ms = 6.5;
  CHECK(best_of(chains) == 3);
}

/// Cut short after some proposals of all chains together, through a file, to the end: as if nothing had happened.
void resumes_exactly(const FinderOptions& finder) {
  const SearchOutcome whole = run(small_search(400, finder), 2, 2);
  std::atomic<int> asked{0};
  SearchOutcome cut = run(small_search(400, finder), 2, 1, [&] { return ++asked > 257; });
  REQUIRE(cut.was_cut_short);
  REQUIRE(cut.judged[0].best.predicted_ms > 0);  // usable at any time
  const std::string text = text_of(cut.search);
  auto read = read_search(text, "here");
  REQUIRE(read);
  CHECK(text_of(*read) == text);
  const SearchOutcome resumed = run(*std::move(read), 0, 2);
  CHECK_FALSE(resumed.was_cut_short);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(resumed.judged[i].best.predicted_ms == whole.judged[i].best.predicted_ms);
    CHECK(resumed.judged[i].best.strategy == whole.judged[i].best.strategy);
    CHECK(resumed.judged[i].draws == whole.judged[i].draws);
    CHECK(resumed.judged[i].accepted == whole.judged[i].accepted);
    CHECK(resumed.judged[i].judged == whole.judged[i].judged);
  }
}

TEST_CASE("a_search_resumed_from_its_file_ends_as_if_never_stopped") {
  resumes_exactly(as_in_code_release(4));
  resumes_exactly(as_in_paper(4));  // with pair links, whose routes the file does not hold
}

TEST_CASE("more_steps_later_are_as_if_asked_for_at_once") {
  Search half = run(small_search(150), 2, 2).search;
  half.options.steps = 300;
  CHECK(text_of(run(std::move(half), 0, 1).search) == text_of(run(small_search(300), 2, 2).search));
}

TEST_CASE("files_that_are_no_search_are_refused_by_name") {
  const std::string good = text_of(run(small_search(40), 1, 1).search);
  const auto refused = [](const std::string& text, const std::string& why, ErrorCode code) {
    const auto read = read_search(text, "state.json");
    REQUIRE_FALSE(read);
    INFO(read.error().message);
    CHECK(read.error().message.find("state.json") == 0);
    CHECK(read.error().message.find(why) != std::string::npos);
    CHECK(read.error().code == code);
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  refused("", "not JSON", ErrorCode::malformed);
  refused(good.substr(0, good.size() / 2), "cut short", ErrorCode::malformed);
  refused("[1, 2]", "not a saved search", ErrorCode::invalid_argument);
  refused("{\"format\": \"other\"}", "not a saved search", ErrorCode::invalid_argument);
  refused(with("\"version\":2", "\"version\":3"), "version 3", ErrorCode::wrong_version);
  refused(with("\"model\":", "\"modell\":"), "missing", ErrorCode::malformed);
  refused(with("\"step\":40", "\"step\":\"40\""), "another type", ErrorCode::malformed);
  refused(with("\"jumps\":[", "\"jumps\":[99,"), "jump of 99", ErrorCode::invalid_argument);
  refused(with("\"split\":2", "\"split\":9"), "split = 9", ErrorCode::invalid_argument);
  refused(with("\"degree\":4", "\"degree\":-4"), "degree", ErrorCode::invalid_argument);
}

TEST_CASE("a_strategy_of_another_model_is_refused_when_it_is_resumed") {
  Search search = run(small_search(40), 1, 1).search;
  search.chains[0].best.strategy.pop_back();
  const auto outcome = run_search(towers(), std::move(search), 1, {1, [] { return false; }, {}});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().message.find("chain 0") == 0);
}

TEST_CASE("a_saved_search_is_whole_and_its_place_is_named_when_it_cannot_be_written") {
  const Search search = run(small_search(40), 1, 1).search;
  const auto folder = std::filesystem::temp_directory_path() / "loom-plan-search";
  std::filesystem::create_directories(folder);
  REQUIRE(save_search(folder / "s.json", search));
  const auto read = load_search(folder / "s.json");
  REQUIRE(read);
  CHECK(text_of(*read) == text_of(search));
  const auto nowhere = save_search(folder / "no" / "s.json", search);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().code == ErrorCode::storage);
  CHECK(load_search(folder / "none.json").error().code == ErrorCode::not_found);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a_saved_search_keeps_its_nodes_and_the_settings_of_its_model") {
  Search search = small_search(10);
  search.nodes = 12;
  search.settings = {{"batch", "4"}, {"compute_ms", "7.5"}};
  const SearchOutcome outcome = run(search, 1, 1);
  const auto read = read_search(text_of(outcome.search), "f");
  REQUIRE(read);
  CHECK(read->nodes == 12);
  CHECK(read->settings == search.settings);
  std::string earlier = text_of(outcome.search);  // of models that have their own nodes
  earlier.replace(earlier.find("\"version\":2"), 11, "\"version\":1");
  const auto of_version_1 = read_search(earlier, "f");
  REQUIRE(of_version_1);
  CHECK(of_version_1->nodes == 0);
}

TEST_CASE("a_found_strategy_is_a_job_and_its_topology_is_lit_as_it_was_found") {
  const SearchProblem problem = towers();
  const SearchOutcome outcome = run(small_search(200), 1, 1);
  const SearchPoint& found = outcome.judged[0].best;
  const auto fabric = fabric_named("topoopt", problem.graph.nodes, {{"degree", "4"}});
  REQUIRE(fabric);
  const auto inputs = inputs_of_search(outcome.search, problem, found, *fabric);
  REQUIRE(inputs);
  const auto planned = plan_in_light({}, *inputs);
  INFO((planned ? "" : planned.error().message));
  REQUIRE(planned);
  std::multiset<std::pair<std::uint32_t, std::uint32_t>> lit;
  for (const Circuit& circuit : planned->result->plan.circuits) {
    lit.emplace(circuit.source.value, circuit.destination.value);
  }
  std::multiset<std::pair<std::uint32_t, std::uint32_t>> wanted;
  for (const DirectLink& link : found.topology.links()) {
    for (std::uint32_t i = 0; i < link.count; ++i) {
      wanted.emplace(link.from, link.to);
    }
  }
  CHECK(lit == wanted);
  CHECK(planned->answer.certificate.verified);
  // The task graph as TopoOpt's tools read it is the same work.
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "loom_found_strategy.fbuf";
  REQUIRE(write_graph(path.string(), outcome.search, problem, found));
  const auto read = load_workload(path.string(), {});
  std::filesystem::remove(path);
  REQUIRE(read);
  CHECK(read->node_count == problem.graph.nodes);
  std::int64_t moved = 0;
  std::int64_t expected = 0;
  for (const Collective& each : read->collectives) {
    moved += each.bytes.count * each.count;
  }
  for (const Collective& each : inputs->jobs[0].spec.collectives) {
    expected += each.bytes.count * each.count;
  }
  CHECK(moved == expected);
}

TEST_CASE("accuracy_tables_are_read_or_refused_by_line_and_column") {
  const auto rows = parse_accuracy_table("# of ours\nglobal_batch, iterations\n256, 40000\n\n512,2.1e4  # fewer\n", "t.csv");
  REQUIRE(rows);
  REQUIRE(rows->size() == 2);
  CHECK((*rows)[1].global_batch == 512);
  CHECK((*rows)[1].iterations == Approx(21'000));
  const auto message = [](std::string_view text) {
    const auto read = parse_accuracy_table(text, "t.csv");
    REQUIRE_FALSE(read);
    return read.error().message;
  };
  CHECK(message("256,40000\n0,3\n").find("t.csv:2, column 1") != std::string::npos);
  CHECK(message("256,-4\n").find("t.csv:1, column 2") != std::string::npos);
  CHECK(message("256\n").find("column 2") != std::string::npos);
  CHECK(message("256,nan\n").find("column 2") != std::string::npos);
  CHECK(message("256,4\n256,5\n").find("has a row already") != std::string::npos);
  CHECK(message("global_batch,iterations\n").find("no row") != std::string::npos);
}

}  // namespace
}  // namespace loom::cli
