// SPDX-License-Identifier: Apache-2.0
// Every node has one host.
#include "core/config/scenario/host_file.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"

namespace loom {
namespace {

constexpr std::size_t kHostsMax = 4'096;  // kPeerProcesses of core/message.hpp
constexpr std::size_t kRangesPerHost = 4'096;
constexpr std::int64_t kPortMax = 65'535;

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "3" or "4-7".
std::optional<NodeSpan> span_of(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = number_of(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_of(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last >= limits::kNodes) {
    return std::nullopt;
  }
  return NodeSpan{*first, *last + 1};
}

class HostReader {
 public:
  HostReader(const Fabric* fabric, ErrorList& errors) : fabric_(fabric), errors_(errors) {}

  void read(const YamlNode& name, const YamlNode& node) {
    YamlMap map(node, "the host", errors_);
    ScenarioHost host;
    host.name = name.text;
    host.address = map.text("address", Rule::required);
    if (auto address = parse_host(host.address)) {
      host.address = *std::move(address);
    } else if (!host.address.empty()) {
      map.error("address", format_text("address: found {}; expected an IP address or a host's name", address.error().message));
    }
    host.port = static_cast<std::uint16_t>(map.integer("port", {1, kPortMax}, std::int64_t{kPeerPort}));
    read_nodes(map, host);
    map.finish();
    const auto [other, is_new] = places_.emplace(std::pair{host.address, host.port}, host.name);
    if (!is_new) {
      map.error("port", format_text("port: hosts '{}' and '{}' are both at {} port {}; expected another port for one of them",
                                    other->second, host.name, host.address, host.port));
    }
    hosts_.push_back(std::move(host));
  }

  std::vector<ScenarioHost> take(const YamlNode& where) {
    const std::size_t nodes = fabric_ == nullptr ? 0 : fabric_->nodes.size();
    for (std::size_t node = 0; node < nodes; ++node) {
      if (!owner_.contains(static_cast<std::uint32_t>(node))) {
        errors_.add(where, format_text("hosts: node {} ('{}') is on no host; expected each of {} nodes on one", node,
                                       fabric_->nodes[node].name, nodes));
        break;
      }
    }
    return std::move(hosts_);
  }

 private:
  void read_nodes(YamlMap& map, ScenarioHost& host) {
    const YamlNode* node = map.find("nodes");
    if (node == nullptr) {
      map.error("nodes", "nodes: missing; expected 0-3, or a list such as [0-3, 8]");
      return;
    }
    const bool is_list = node->kind == YamlNode::Kind::list;
    std::vector<std::string> words = is_list ? map.texts("nodes", kRangesPerHost) : std::vector{node->text};
    for (const std::string& word : words) {
      const auto span = span_of(word);
      if (!span) {
        map.error("nodes", format_text("nodes: found '{}'; expected a node's number, or a range such as 0-3", word));
        continue;
      }
      take_nodes(map, *span, host);
    }
    std::sort(host.nodes.begin(), host.nodes.end(), [](const NodeSpan& a, const NodeSpan& b) { return a.first < b.first; });
  }

  void take_nodes(YamlMap& map, NodeSpan span, ScenarioHost& host) {
    if (fabric_ != nullptr && span.end > fabric_->nodes.size()) {
      map.error("nodes", format_text("nodes: {} is beyond the fabric's {} nodes", span.end - 1, fabric_->nodes.size()));
      return;
    }
    for (std::uint32_t node = span.first; node < span.end; ++node) {
      const auto [other, is_new] = owner_.emplace(node, host.name);
      if (!is_new) {
        map.error("nodes",
                  format_text("nodes: node {} is on '{}' and on '{}'; expected one host", node, other->second, host.name));
        return;
      }
    }
    host.nodes.push_back(span);
  }

  const Fabric* fabric_;
  ErrorList& errors_;
  std::vector<ScenarioHost> hosts_;
  std::map<std::uint32_t, std::string> owner_;                           ///< by node
  std::map<std::pair<std::string, std::uint16_t>, std::string> places_;  ///< name, by address and port
};

}  // namespace

std::vector<ScenarioHost> read_hosts(YamlMap& file, const Fabric* fabric, ErrorList& errors) {
  const YamlNode* node = file.find("hosts");
  if (node == nullptr) {
    return {};
  }
  if (node->kind != YamlNode::Kind::map || node->keys.empty() || node->keys.size() > kHostsMax) {
    errors.add(*node, format_text("hosts: expected a map of 1 to {} names of hosts to their address and nodes", kHostsMax));
    return {};
  }
  HostReader reader(fabric, errors);
  for (std::size_t i = 0; i < node->keys.size(); ++i) {
    reader.read(node->keys[i], node->items[i]);
  }
  return reader.take(*node);
}

}  // namespace loom
