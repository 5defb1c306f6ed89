// SPDX-License-Identifier: Apache-2.0
// Forwarding tables on the wire, and what journals of before had in their place.
#include <algorithm>
#include <map>
#include <utility>

#include "core/forwarding/forwarding_builder.hpp"
#include "core/text/format_text.hpp"
#include "proto/convert.hpp"

namespace loom::wire {

static_assert(static_cast<int>(ForwardingMode_MAX) == static_cast<int>(loom::ForwardingMode::store_and_forward) + 1);

void to_wire(const loom::ForwardedPair& in, ForwardedPair& out) {
  out.set_source_node_id(in.source.value);
  out.set_destination_node_id(in.destination.value);
  nodes_to_wire(in.through, *out.mutable_through_node_ids());
}

loom::ForwardedPair from_wire(Check& check, const ForwardedPair& in) {
  loom::ForwardedPair out;
  out.source = check.node("source_node_id", in.source_node_id());
  out.destination = check.node("destination_node_id", in.destination_node_id());
  out.through = nodes_from_wire(check, "through_node_ids", in.through_node_ids());
  return out;
}

// --- the present form ----------------------------------------------------------------------------------------------------

void to_wire(const loom::ForwardingTable& in, ForwardingTable& out) {
  out.set_mode(enum_to_wire<ForwardingMode>(in.mode));
  nodes_to_wire(in.nodes, *out.mutable_node_ids());
  out.mutable_row_numbers()->Assign(in.row_of.begin(), in.row_of.end());
  for (std::uint32_t row = 0; row < in.rows(); ++row) {
    out.add_destination_counts(static_cast<std::uint32_t>(in.row(row).size()));
  }
  out.mutable_destination_numbers()->Reserve(static_cast<int>(in.entries.size()));
  out.mutable_path_numbers()->Reserve(static_cast<int>(in.entries.size()));
  for (const loom::ForwardingTable::Entry& entry : in.entries) {
    out.add_destination_numbers(entry.destination);
    out.add_path_numbers(entry.path);
  }
  for (std::size_t path = 0; path + 1 < in.first_hop.size(); ++path) {
    out.add_hop_counts(static_cast<std::uint32_t>(in.path(static_cast<std::uint32_t>(path)).size()));
  }
  out.mutable_hop_numbers()->Assign(in.hops.begin(), in.hops.end());
}

namespace {

/// The lists of a message, each element checked for itself: `first_*` say where an inner list begins and the last one ends.
struct ForwardingLists {
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> row_of;
  std::vector<std::uint32_t> first_entry;
  std::vector<std::uint32_t> destinations;
  std::vector<std::uint32_t> paths;
  std::vector<std::uint32_t> first_hop;
  std::vector<std::uint32_t> hops;

  std::span<const std::uint32_t> path(std::uint32_t number) const {
    return std::span(hops).subspan(first_hop[number], first_hop[number + 1] - first_hop[number]);
  }
};

void require_as_many(Check& check, const char* field, std::size_t size, const char* other, std::size_t wanted) {
  if (size != wanted) {
    check.refuse(field, format_text("{} elements", size), format_text("must be {}, as many as {}", wanted, other));
  }
}

/// Where each inner list begins in the list of all their elements, which is `elements` long.
template <class WireNumbers>
std::vector<std::uint32_t> beginnings(Check& check, const char* field, const WireNumbers& counts, std::uint32_t least,
                                      const char* other, int elements) {
  std::vector<std::uint32_t> first{0};
  std::uint64_t sum = 0;
  for (const std::uint32_t count : counts) {
    sum += static_cast<std::uint64_t>(check.between(field, count, least, elements));
    first.push_back(static_cast<std::uint32_t>(sum));  // a sum beyond `elements` is refused below
  }
  if (check.ok() && sum != static_cast<std::uint64_t>(elements)) {
    check.refuse(field, format_text("{} in sum", sum), format_text("must be {}, as many as {}", elements, other));
  }
  return first;
}

/// Hops have no limit of their own: each is a byte of a message or record at least, and long paths over few links of a large
/// job are many.
bool counts_are_lawful(Check& check, const ForwardingTable& in) {
  return check.count("node_ids", in.node_ids_size(), limits::kNodes) &&
         check.count("row_numbers", in.row_numbers_size(), limits::kNodes) &&
         check.count("destination_counts", in.destination_counts_size(), limits::kNodes) &&
         check.count("destination_numbers", in.destination_numbers_size(), limits::kCircuits) &&
         check.count("path_numbers", in.path_numbers_size(), limits::kCircuits) &&
         check.count("hop_counts", in.hop_counts_size(), limits::kCircuits);
}

ForwardingLists lists_from_wire(Check& check, const ForwardingTable& in) {
  ForwardingLists out;
  const auto ranks = static_cast<std::size_t>(in.node_ids_size());
  const auto rows = static_cast<std::size_t>(in.destination_counts_size());
  out.nodes = nodes_from_wire(check, "node_ids", in.node_ids());
  require_as_many(check, "row_numbers", static_cast<std::size_t>(in.row_numbers_size()), "node_ids", ranks);
  require_as_many(check, "path_numbers", static_cast<std::size_t>(in.path_numbers_size()), "destination_numbers",
                  static_cast<std::size_t>(in.destination_numbers_size()));
  out.row_of = numbers_from_wire(check, "row_numbers", in.row_numbers(), limits::kNodes, rows);
  out.first_entry =
      beginnings(check, "destination_counts", in.destination_counts(), 0, "destination_numbers", in.destination_numbers_size());
  out.destinations = numbers_from_wire(check, "destination_numbers", in.destination_numbers(), limits::kCircuits, ranks);
  out.paths = numbers_from_wire(check, "path_numbers", in.path_numbers(), limits::kCircuits,
                                static_cast<std::size_t>(in.hop_counts_size()));
  out.first_hop = beginnings(check, "hop_counts", in.hop_counts(), 1, "hop_numbers", in.hop_numbers_size());
  out.hops = numbers_from_wire(check, "hop_numbers", in.hop_numbers(), static_cast<std::size_t>(in.hop_numbers_size()), ranks);
  return out;
}

/// A node has one rank, a row has ranks, and no path has one of them twice.
void check_ranks(Check& check, const ForwardingLists& lists) {
  std::vector<NodeId> nodes = lists.nodes;
  std::ranges::sort(nodes);
  if (const auto twice = std::ranges::adjacent_find(nodes); twice != nodes.end()) {
    check.refuse("node_ids", std::to_string(twice->value), "has two ranks");
  }
  const std::size_t rows = lists.row_of.empty() ? 0 : *std::ranges::max_element(lists.row_of) + std::size_t{1};
  require_as_many(check, "destination_counts", lists.first_entry.size() - 1, "there are rows in row_numbers", rows);
  std::vector<std::size_t> path_with(lists.nodes.size());  // by rank: the last path that has it, counted from 1
  for (std::size_t path = 1; path < lists.first_hop.size(); ++path) {
    for (const std::uint32_t rank : lists.path(static_cast<std::uint32_t>(path - 1))) {
      if (std::exchange(path_with[rank], path) == path) {
        check.refuse("hop_numbers", format_text("rank {}", rank), format_text("is on path {} twice", path - 1));
      }
    }
  }
}

/// Destinations ascend within their row, and neither they nor the only rank of a row are on the path to them.
void check_entries(Check& check, const ForwardingLists& lists) {
  std::vector<std::uint32_t> ranks_in(lists.first_entry.size() - 1);
  std::vector<std::uint32_t> rank_in(lists.first_entry.size() - 1);
  for (std::uint32_t rank = 0; rank < lists.row_of.size(); ++rank) {
    ++ranks_in[lists.row_of[rank]];
    rank_in[lists.row_of[rank]] = rank;
  }
  for (std::size_t row = 0; row < ranks_in.size(); ++row) {
    for (std::uint32_t entry = lists.first_entry[row]; entry < lists.first_entry[row + 1]; ++entry) {
      const std::uint32_t destination = lists.destinations[entry];
      const auto path = lists.path(lists.paths[entry]);
      const auto refuse = [&](const char* field, std::uint32_t rank, const std::string& rule) {
        check.refuse(field, format_text("rank {}", rank), format_text("{} (row {}, path {})", rule, row, lists.paths[entry]));
      };
      if (entry > lists.first_entry[row] && lists.destinations[entry - 1] >= destination) {
        refuse("destination_numbers", destination, "must be above the one before it");
      }
      if (std::ranges::find(path, destination) != path.end()) {
        refuse("destination_numbers", destination, "is on the path that leads to it");
      }
      if (ranks_in[row] == 1 && std::ranges::find(path, rank_in[row]) != path.end()) {
        refuse("hop_numbers", rank_in[row], "is on a path that begins there");
      }
    }
  }
}

}  // namespace

loom::ForwardingTable from_wire(Check& check, const ForwardingTable& in) {
  const auto mode = check.enumeration("mode", in.mode(), loom::ForwardingMode::store_and_forward);
  if (!check.ok() || !counts_are_lawful(check, in)) {
    return {};
  }
  if (mode == loom::ForwardingMode::none) {
    require_as_many(check, "node_ids", static_cast<std::size_t>(in.node_ids_size()), "are forwarded by mode none", 0);
  }
  const ForwardingLists lists = lists_from_wire(check, in);
  if (check.ok()) {
    check_ranks(check, lists);
  }
  if (check.ok()) {
    check_entries(check, lists);
  }
  if (!check.ok() || mode == loom::ForwardingMode::none) {
    return {};
  }
  ForwardingBuilder table(mode, lists.nodes, lists.row_of);
  for (std::uint32_t row = 0; row + 1 < lists.first_entry.size(); ++row) {
    for (std::uint32_t entry = lists.first_entry[row]; entry < lists.first_entry[row + 1]; ++entry) {
      table.add(row, lists.destinations[entry], lists.path(lists.paths[entry]));
    }
  }
  return table.take();
}

// --- journals of before --------------------------------------------------------------------------------------------------

namespace {

/// Two forms: routes of nodes, cut through, and relays of ranks, stored and forwarded, whose nodes only the job knows.
class EarlierForwarding {
 public:
  EarlierForwarding(Check& check, const JobSchedule& in, std::vector<NodeId> nodes)
      : check_(check), in_(in), nodes_(std::move(nodes)) {}

  loom::ForwardingTable read() {
    if (in_.earlier_forwards() || in_.earlier_routes_size() > 0) {
      return cut_through();
    }
    return in_.earlier_forwarding_rank_numbers_size() > 0 ? store_and_forward() : loom::ForwardingTable{};
  }

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  /// A node that is none of the job's gets a number behind its ranks, so that whoever looks for its rank names it.
  std::uint32_t rank_of(NodeId node) {
    const auto [known, is_new] = ranks_.try_emplace(node, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) {
      nodes_.push_back(node);
    }
    return known->second;
  }

  loom::ForwardingTable cut_through() {
    for (std::uint32_t rank = 0; rank < nodes_.size(); ++rank) {
      ranks_.emplace(nodes_[rank], rank);
    }
    std::map<Pair, std::vector<std::uint32_t>> paths;
    const auto routes =
        rows_from_wire<loom::ForwardedPair>(check_, "earlier_routes", in_.earlier_routes(), limits::kRoutesPerJob);
    for (const loom::ForwardedPair& route : routes) {
      const Pair ends{rank_of(route.source), rank_of(route.destination)};
      std::vector<std::uint32_t> path;
      for (const NodeId node : route.through) {
        path.push_back(rank_of(node));
      }
      std::vector<std::uint32_t> all = path;
      all.insert(all.end(), {ends.first, ends.second});
      std::ranges::sort(all);
      if (std::ranges::adjacent_find(all) != all.end() || !paths.emplace(ends, std::move(path)).second) {
        check_.refuse("earlier_routes", format_text("{} to {}", route.source.value, route.destination.value),
                      "passes a node twice, or is there twice");
        return {};
      }
    }
    std::vector<std::uint32_t> rows(nodes_.size());
    for (std::uint32_t rank = 0; rank < rows.size(); ++rank) {
      rows[rank] = rank;
    }
    ForwardingBuilder table(loom::ForwardingMode::cut_through, nodes_, std::move(rows));
    for (const auto& [ends, path] : paths) {
      table.add(ends.first, ends.second, path);
    }
    return table.take();
  }

  loom::ForwardingTable store_and_forward() {
    const auto ranks = static_cast<std::size_t>(in_.earlier_forwarding_row_numbers_size());
    const auto entries = static_cast<std::size_t>(in_.earlier_forwarding_rank_numbers_size());
    if (ranks == 0 || entries % ranks != 0) {
      check_.refuse("earlier_forwarding_rank_numbers", format_text("{} entries", entries),
                    "is no whole number of rows of the ranks");
      return {};
    }
    auto row_of = numbers_from_wire(check_, "earlier_forwarding_row_numbers", in_.earlier_forwarding_row_numbers(),
                                    limits::kNodes, entries / ranks);
    const auto via = numbers_from_wire(check_, "earlier_forwarding_rank_numbers", in_.earlier_forwarding_rank_numbers(),
                                       limits::kCircuits, ranks);
    if (!check_.ok() || nodes_.size() != ranks) {
      return {};  // of a job that has gone since: nothing is planned with it
    }
    const std::uint32_t rows = *std::ranges::max_element(row_of) + 1;
    ForwardingBuilder table(loom::ForwardingMode::store_and_forward, nodes_, std::move(row_of));
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t destination = 0; destination < ranks; ++destination) {
        const std::uint32_t relay = via[row * ranks + destination];
        if (relay != destination) {
          table.add(row, destination, {&relay, 1});
        }
      }
    }
    return table.take();
  }

  Check& check_;
  const JobSchedule& in_;
  std::vector<NodeId> nodes_;
  std::map<NodeId, std::uint32_t> ranks_;
};

}  // namespace

std::vector<loom::JobSchedule> pins_from_wire(Check& check, const char* field,
                                              const google::protobuf::RepeatedPtrField<JobSchedule>& in,
                                              const std::vector<loom::Job>& jobs) {
  auto pins = rows_from_wire<loom::JobSchedule>(check, field, in, limits::kJobs);
  for (std::size_t i = 0; i < pins.size() && check.ok(); ++i) {
    const JobSchedule& pin = in[static_cast<int>(i)];
    if (!pin.has_forwarding()) {
      const auto scope = check.in(field, static_cast<int>(i));
      const auto job = std::ranges::find(jobs, pins[i].job, &loom::Job::id);
      pins[i].forwarding = EarlierForwarding(check, pin, job == jobs.end() ? std::vector<NodeId>{} : job->nodes).read();
    }
  }
  return pins;
}

}  // namespace loom::wire
