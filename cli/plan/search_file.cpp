// SPDX-License-Identifier: Apache-2.0
// Fields, and back.
#include "cli/plan/search_file.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/output_file.hpp"
#include "controller/architectures/topoopt/finder/topology_parts.hpp"
#include "core/digest.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "lightloom-search";
constexpr int kVersion = 2;
constexpr int kVersionWithoutNodes = 1;  ///< of models that have their own
constexpr std::size_t kChainsMost = 1'024;

Json json_of(const TopologyParts& parts) {
  Json pairs = Json::array();
  for (const PairLinks& pair : parts.pairs) {
    pairs.push_back({pair.u, pair.v, pair.count});
  }
  Json rings = Json::array();
  for (const RingPath& ring : parts.rings) {
    rings.push_back({{"size", ring.group_size}, {"jumps", ring.jumps}});
  }
  Json routes = Json::array();
  for (const auto& route : parts.pair_routes) {
    routes.push_back({{"source", route.source}, {"destination", route.destination}, {"paths", route.paths}});
  }
  return {{"nodes", parts.nodes},
          {"ring_links", parts.shares.rings},
          {"pair_links", parts.shares.pairs},
          {"jumps", parts.jumps},
          {"pairs", pairs},
          {"rings", rings},
          {"tree_sources", parts.tree_sources},
          {"pair_routes", routes}};
}

Json json_of(const SearchPoint& point) {
  Json strategy = Json::array();
  for (const OpPlacement& at : point.strategy) {
    strategy.push_back({at.parts, at.first});
  }
  return {{"strategy", strategy},
          {"topology", json_of(parts_of(point.topology))},
          {"cost_ms", point.cost_ms},
          {"predicted_ms", point.predicted_ms}};
}

Json json_of(const SearchState& state) {
  return {{"step", state.step},
          {"seed", state.draws.seed},
          {"drawn", state.draws.drawn},
          {"current", json_of(state.current)},
          {"cheapest", json_of(state.cheapest)},
          {"best", json_of(state.best)},
          {"first_ms", state.first_ms},
          {"topology_ms", state.topology_ms},
          {"unimproved", state.unimproved},
          {"judged_ms", state.judged_ms},
          {"unchanged", state.unchanged},
          {"accepted", state.accepted},
          {"topologies", state.topologies},
          {"judged", state.judged}};
}

Json json_of(const SearchOptions& options) {
  const FinderOptions& finder = options.finder;
  return {{"degree", finder.degree},
          {"directions", static_cast<int>(finder.directions)},
          {"split", static_cast<int>(finder.split)},
          {"share", static_cast<int>(finder.share)},
          {"discount", static_cast<int>(finder.discount)},
          {"matching", static_cast<int>(finder.matching)},
          {"matching_sees", static_cast<int>(finder.sees)},
          {"primes_beyond", finder.primes_beyond},
          {"paths_of_a_pair", finder.paths_of_a_pair},
          {"finder_seed", finder.seed},
          {"propagation", options.moves.propagation},
          {"goes_on", options.moves.goes_on},
          {"size_weight", options.moves.size_weight},
          {"steps", options.steps},
          {"alpha", options.alpha},
          {"topology_alpha", options.topology_alpha},
          {"patience", options.patience},
          {"reset_span", options.reset_span},
          {"judge_span", options.judge_span},
          {"starts_data_parallel", options.starts_data_parallel},
          {"seed", options.seed}};
}

/// Reading: the first value that cannot be is kept as a sentence; nlohmann's exceptions end in read_search.
class Reader {
 public:
  template <class Enum>
  Enum choice(const Json& object, const char* key, int last) {
    const int value = object.at(key).get<int>();
    if (value < 0 || value > last) {
      complain(format_text("{} = {}", key, value));
    }
    return static_cast<Enum>(value);
  }

  /// A whole number that fits 32 bits.
  std::uint32_t small(const Json& value, const char* key) {
    const auto number = value.is_number_unsigned() ? value.get<std::uint64_t>() : ~0ULL;
    if (number > 0xffffffffULL) {
      complain(format_text("{} = {}", key, value.dump().substr(0, 32)));
      return 0;
    }
    return static_cast<std::uint32_t>(number);
  }
  std::uint32_t small(const Json& object, const char* key, int) { return small(object.at(key), key); }
  std::vector<std::uint32_t> smalls(const Json& list, const char* key) {
    std::vector<std::uint32_t> values;
    for (const Json& value : list) {
      values.push_back(small(value, key));
    }
    return values;
  }

  void complain(const std::string& what) { fault_ = fault_.empty() ? what : fault_; }
  const std::string& fault() const { return fault_; }

  SearchOptions options(const Json& from) {
    SearchOptions options;
    FinderOptions& finder = options.finder;
    finder.degree = small(from, "degree", 0);
    finder.directions = choice<RingDirections>(from, "directions", 1);
    finder.split = choice<DegreeSplit>(from, "split", 2);
    finder.share = choice<RingShare>(from, "share", 1);
    finder.discount = choice<LinkDiscount>(from, "discount", 1);
    finder.matching = choice<MatchingMethod>(from, "matching", 1);
    finder.sees = from.contains("matching_sees") ? choice<MatchingSees>(from, "matching_sees", 1) : MatchingSees::demand;
    finder.primes_beyond = small(from, "primes_beyond", 0);
    finder.paths_of_a_pair = small(from, "paths_of_a_pair", 0);
    finder.seed = from.at("finder_seed").get<std::uint64_t>();
    options.moves.propagation = from.at("propagation").get<double>();
    options.moves.goes_on = from.at("goes_on").get<double>();
    options.moves.size_weight = from.at("size_weight").get<double>();
    options.steps = from.at("steps").get<std::uint64_t>();
    options.alpha = from.at("alpha").get<double>();
    options.topology_alpha = from.at("topology_alpha").get<double>();
    options.patience = small(from, "patience", 0);
    options.reset_span = from.at("reset_span").get<std::uint64_t>();
    options.judge_span = from.at("judge_span").get<std::uint64_t>();
    options.starts_data_parallel = from.at("starts_data_parallel").get<bool>();
    options.seed = from.at("seed").get<std::uint64_t>();
    return options;
  }

  SearchState state(const Json& from, std::uint64_t finder_seed) {
    SearchState state;
    state.step = from.at("step").get<std::uint64_t>();
    state.draws = {from.at("seed").get<std::uint64_t>(), from.at("drawn").get<std::uint64_t>()};
    state.current = point(from.at("current"), finder_seed);
    state.cheapest = point(from.at("cheapest"), finder_seed);
    state.best = point(from.at("best"), finder_seed);
    state.first_ms = from.at("first_ms").get<double>();
    state.topology_ms = from.at("topology_ms").get<double>();
    state.unimproved = small(from, "unimproved", 0);
    state.judged_ms = from.at("judged_ms").get<double>();
    state.unchanged = from.at("unchanged").get<std::uint64_t>();
    state.accepted = from.at("accepted").get<std::uint64_t>();
    state.topologies = from.at("topologies").get<std::uint64_t>();
    state.judged = from.at("judged").get<std::uint64_t>();
    return state;
  }

 private:
  SearchPoint point(const Json& from, std::uint64_t finder_seed) {
    SearchPoint point;
    for (const Json& placement : from.at("strategy")) {
      point.strategy.push_back({small(placement.at(0), "parts"), small(placement.at(1), "first")});
    }
    auto topology = topology_of(parts(from.at("topology")), finder_seed);
    if (topology) {
      point.topology = *std::move(topology);
    } else {
      complain(topology.error().message);
    }
    point.cost_ms = from.at("cost_ms").get<double>();
    point.predicted_ms = from.at("predicted_ms").get<double>();
    return point;
  }

  TopologyParts parts(const Json& from) {
    TopologyParts parts;
    parts.nodes = small(from, "nodes", 0);
    parts.shares = {small(from, "ring_links", 0), small(from, "pair_links", 0)};
    parts.jumps = smalls(from.at("jumps"), "jumps");
    for (const Json& pair : from.at("pairs")) {
      parts.pairs.push_back({small(pair.at(0), "pairs"), small(pair.at(1), "pairs"), small(pair.at(2), "pairs")});
    }
    for (const Json& ring : from.at("rings")) {
      parts.rings.push_back({small(ring, "size", 0), smalls(ring.at("jumps"), "jumps")});
    }
    parts.tree_sources = smalls(from.at("tree_sources"), "tree_sources");
    for (const Json& route : from.at("pair_routes")) {
      DirectTopology::RoutedPair& routed = parts.pair_routes.emplace_back();
      routed.source = small(route, "source", 0);
      routed.destination = small(route, "destination", 0);
      for (const Json& path : route.at("paths")) {
        routed.paths.push_back(smalls(path, "paths"));
      }
    }
    return parts;
  }

  std::string fault_;
};

std::unexpected<Error> refuse(ErrorCode code, const std::string& source, const std::string& what) {
  return fail(code, format_text("{}: {}", source, what), "loom plan --search --save FILE");
}

Result<Search> search_of(const Json& root, const std::string& source) {
  Reader reader;
  Search search;
  search.model = root.at("model").get<std::string>();
  if (root.at("version") != kVersionWithoutNodes) {
    search.nodes = reader.small(root, "nodes", 0);
    for (const auto& [key, value] : root.at("settings").items()) {
      search.settings[key] = value.get<std::string>();
    }
  }
  search.measures = root.at("measures").get<std::string>();
  search.link = {root.at("link_bps").get<std::int64_t>()};
  search.options = reader.options(root.at("options"));
  const Json& chains = root.at("chains");
  if (!chains.is_array() || chains.empty() || chains.size() > kChainsMost) {
    return refuse(ErrorCode::invalid_argument, source, format_text("a search of no chains, or of more than {}", kChainsMost));
  }
  for (const Json& chain : chains) {
    search.chains.push_back(reader.state(chain, search.options.finder.seed));
    if (search.chains.back().draws.seed != search.options.seed + search.chains.size() - 1) {
      reader.complain(format_text("the seed of chain {}", search.chains.size() - 1));
    }
  }
  if (search.link.bits_per_second <= 0) {
    reader.complain(format_text("link_bps = {}", search.link.bits_per_second));
  }
  if (!reader.fault().empty()) {
    return refuse(ErrorCode::invalid_argument, source, "no search can have this: " + reader.fault());
  }
  return search;
}

}  // namespace

std::string digest_of(const OpTimes& times) {
  Digest digest;
  for (std::uint32_t op = 0; op < times.lawful.size(); ++op) {
    for (const std::uint32_t parts : times.lawful[op]) {
      const OpTime& time = times.of(op, parts);
      digest.add(parts);
      digest.add(static_cast<std::uint64_t>(time.forward.count()));
      digest.add(static_cast<std::uint64_t>(time.backward.count()));
    }
  }
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(digest.value()));
  return text.data();
}

std::string text_of(const Search& search) {
  Json chains = Json::array();
  for (const SearchState& state : search.chains) {
    chains.push_back(json_of(state));
  }
  const Json root{{"format", kFormat},
                  {"version", kVersion},
                  {"model", search.model},
                  {"nodes", search.nodes},
                  {"settings", search.settings},
                  {"measures", search.measures},
                  {"link_bps", search.link.bits_per_second},
                  {"options", json_of(search.options)},
                  {"chains", chains}};
  return root.dump() + "\n";
}

Result<Search> read_search(const std::string& text, const std::string& source) {
  const Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded()) {
    return refuse(ErrorCode::malformed, source, "not JSON, or cut short; expected what loom plan --search --save wrote");
  }
  if (!root.is_object() || root.value("format", Json()) != kFormat) {
    return refuse(ErrorCode::invalid_argument, source,
                  format_text("not a saved search (its \"format\" is not \"{}\")", kFormat));
  }
  if (const Json version = root.value("version", Json()); version != kVersion && version != kVersionWithoutNodes) {
    return refuse(ErrorCode::wrong_version, source,
                  format_text("a saved search of version {}; this loom reads {}", version.dump().substr(0, 16), kVersion));
  }
  try {
    return search_of(root, source);
  } catch (const Json::exception& error) {
    return refuse(ErrorCode::malformed, source, format_text("a field is missing or of another type: {}", error.what()));
  }
}

Result<void> save_search(const std::filesystem::path& path, const Search& search) {
  return write_text(path.string(), text_of(search), "--save");
}

Result<Search> load_search(const std::filesystem::path& path) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  if (problem) {
    return refuse(ErrorCode::not_found, path.string(), problem.message());
  }
  if (size > limits::kConfigFileBytes) {
    return refuse(ErrorCode::out_of_range, path.string(),
                  format_text("{} bytes; the limit is {} (kConfigFileBytes)", size, limits::kConfigFileBytes));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return read_search(text, path.string());
}

}  // namespace loom::cli
