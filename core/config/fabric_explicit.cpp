// SPDX-License-Identifier: Apache-2.0
// Lists of a fabric file into a Fabric. Order of work: names first, then what refers to them.
#include "core/config/fabric_explicit.hpp"

#include <array>
#include <charconv>
#include <iterator>
#include <set>

#include "core/config/device_keys.hpp"
#include "core/config/fabric_element.hpp"
#include "core/config/fabric_file.hpp"
#include "core/config/fabric_safety.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::int64_t kLongestFibreMm = 1'000'000'000;  ///< 1000 km

class ExplicitReader {
 public:
  ExplicitReader(YamlMap& file, DeviceModels models, ErrorList& errors) : file_(file), errors_(errors), models_(models) {
    for (const DeviceModel* model : models) {
      model_names_.emplace_back(model->name);
    }
  }

  Fabric read() {
    fabric_.name = file_.name("name", Rule::required);
    fabric_.architecture = file_.name("architecture", Rule::required);
    fabric_.assumptions = file_.texts("assumptions", 64);
    fabric_.return_path = read_return_path(file_);
    fabric_.times = read_installation_times(file_);
    const SafetyKeys safety = read_safety_keys(file_);
    const auto nodes = file_.list("nodes", limits::kNodes, Rule::required);
    const auto elements = file_.list("elements", limits::kElements, Rule::required);
    const auto fibres = file_.list("fibres", limits::kFibres);
    const auto buses = file_.list("buses", limits::kElements);
    const auto devices = file_.list("devices", limits::kElements);
    file_.finish();
    for (const YamlNode& node : elements) {
      read_element(node);
    }
    for (const YamlNode& node : nodes) {
      read_node(node);
    }
    for (const YamlNode& node : fibres) {
      read_fibre(node);
    }
    for (const YamlNode& node : buses) {
      read_bus(node);
    }
    for (const YamlNode& node : devices) {
      read_device(node);
    }
    apply_safety(safety, fabric_, errors_);
    return std::move(fabric_);
  }

 private:
  void read_element(const YamlNode& node) {
    YamlMap map(node, "the element", errors_);
    Element element = read_fabric_element(map);
    element.id = {static_cast<std::uint32_t>(fabric_.elements.size())};
    element_names_.add(element.name, map.place_of("name"), errors_);
    fabric_.elements.push_back(std::move(element));
  }

  template <class Wanted>
  std::vector<ElementId> read_owned(YamlMap& map, std::string_view key, std::string_view noun) {
    std::vector<ElementId> ids;
    for (const YamlNode& item : map.list(key, limits::kDevicesPerNode)) {
      const auto id = element_names_.resolve(item.text, item, errors_);
      if (!id) {
        continue;
      }
      if (!std::holds_alternative<Wanted>(fabric_.elements[*id].kind)) {
        errors_.add(item, format_text("'{}' is no {}; expected one in {}", item.text, noun, key));
      }
      if (!owned_.insert(*id).second) {
        errors_.add(item, format_text("'{}' belongs to a node already; expected one owner", item.text));
      }
      ids.push_back({*id});
    }
    return ids;
  }

  void read_node(const YamlNode& item) {
    YamlMap map(item, "the node", errors_);
    Node node;
    node.id = {static_cast<std::uint32_t>(fabric_.nodes.size())};
    node.name = map.name("name", Rule::required);
    node.group = static_cast<std::uint32_t>(map.integer("group", {0, static_cast<std::int64_t>(limits::kNodes)}, 0));
    node.transmitters = read_owned<Transmitter>(map, "transmitters", "transmitter");
    node.receivers = read_owned<Receiver>(map, "receivers", "receiver");
    map.finish();
    node_names_.add(node.name, map.place_of("name"), errors_);
    fabric_.nodes.push_back(std::move(node));
  }

  /// "name" (port 0) or "name:port"; `output`: which side of the element is meant.
  std::optional<PortRef> read_port(YamlMap& map, std::string_view key, bool output) {
    const std::string text = map.text(key, Rule::required);
    const YamlNode& place = map.place_of(key);
    if (text.empty()) {
      return std::nullopt;
    }
    const std::size_t colon = text.find(':');
    const std::string digits = colon == std::string::npos ? "0" : text.substr(colon + 1);
    PortNumber port = 0;
    const auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (code != std::errc{} || stop != digits.data() + digits.size()) {
      errors_.add(place, format_text("{}: found '{}'; expected ELEMENT or ELEMENT:PORT with a port of 0..65535", key, text));
      return std::nullopt;
    }
    const auto element = element_names_.resolve(text.substr(0, colon), place, errors_);
    if (!element) {
      return std::nullopt;
    }
    const PortNumber ports = output ? fabric_.elements[*element].outputs : fabric_.elements[*element].inputs;
    const std::string side = output ? "output" : "input";
    const PortRef reference{{*element}, port};
    if (port >= ports) {
      errors_.add(place, format_text("{}: found {} {} of '{}'; expected one of its {} {}s, counted from 0", key, side, port,
                                     text.substr(0, colon), ports, side));
    } else if (!(output ? used_outputs_ : used_inputs_).insert(reference).second) {
      errors_.add(place, format_text("{}: another fibre is at {} {} of '{}' already; expected one fibre a port", key, side,
                                     port, text.substr(0, colon)));
    }
    return reference;
  }

  void read_fibre(const YamlNode& item) {
    YamlMap map(item, "the fibre", errors_);
    Fibre fibre;
    fibre.id = {static_cast<std::uint32_t>(fabric_.fibres.size())};
    fibre.from = read_port(map, "from", true).value_or(PortRef{});
    fibre.to = read_port(map, "to", false).value_or(PortRef{});
    fibre.length_mm = map.quantity("length", kLengthUnits, {0, kLongestFibreMm}, 0);
    fibre.loss = map.ratio("loss", {Db{0}, Db{10'000}}, Db{0});
    fibre.power_limit = read_power_limit(map);
    map.finish();
    fabric_.fibres.push_back(fibre);
  }

  NodeId read_agent(YamlMap& map) {
    const std::string agent = map.name("agent", Rule::required);
    return {agent.empty() ? 0 : node_names_.resolve(agent, map.place_of("agent"), errors_).value_or(0)};
  }

  void read_bus(const YamlNode& item) {
    YamlMap map(item, "the bus", errors_);
    Bus bus;
    bus.id = {static_cast<std::uint32_t>(fabric_.buses.size())};
    bus.name = map.name("name", Rule::required);
    bus.agent = read_agent(map);
    bus.endpoint = map.text("endpoint", std::string("sim"));
    if (const auto lawful = check_endpoint(bus.endpoint); !lawful) {
      map.error("endpoint", "endpoint: " + lawful.error().message);
    }
    map.finish();
    bus_names_.add(bus.name, map.place_of("name"), errors_);
    fabric_.buses.push_back(std::move(bus));
  }

  void read_device(const YamlNode& item) {
    YamlMap map(item, "the device", errors_);
    Device device;
    device.id = {static_cast<std::uint32_t>(fabric_.devices.size())};
    device.name = map.name("name", Rule::required);
    if (map.find("kind") == nullptr) {
      map.word("kind", model_names_, Rule::required);  // says that it is missing
    }
    device.bus_address = 1;
    read_device_keys(map, models_, errors_, device);
    device.agent = read_agent(map);
    const std::string bus = map.name("bus", Rule::required);
    device.bus = {bus.empty() ? 0 : bus_names_.resolve(bus, map.place_of("bus"), errors_).value_or(0)};
    device.elements = read_driven(map, device);
    if (const std::string refusal = refusal_of(models_, fabric_, device); !refusal.empty()) {
      map.error("elements", refusal);
    }
    if (device.bus.value < fabric_.buses.size() && fabric_.buses[device.bus.value].agent != device.agent) {
      map.error("bus", format_text("bus: '{}' belongs to another agent; expected a bus of the device's own agent", bus));
    }
    map.finish();
    device_names_.add(device.name, map.place_of("name"), errors_);
    fabric_.devices.push_back(std::move(device));
  }

  std::vector<ElementId> read_driven(YamlMap& map, const Device& device) {
    const bool bank = device.role == DeviceRole::filter || device.role == DeviceRole::monitor;
    const auto items = map.list("elements", bank ? limits::kRingsPerBank : 1, Rule::required);
    std::vector<ElementId> ids;
    for (const YamlNode& item : items) {
      const auto id = element_names_.resolve(item.text, item, errors_);
      if (!id) {
        continue;
      }
      if (!device.model.empty() && !drives(device.role, fabric_.elements[*id].kind)) {
        errors_.add(item, format_text("'{}' is of kind {}; a device of kind {} cannot drive it", item.text,
                                      element_word(fabric_.elements[*id].kind), device.model));
      }
      if (!driven_.insert(*id).second) {
        errors_.add(item, format_text("'{}' has a driver already; expected one device an element", item.text));
      }
      ids.push_back({*id});
    }
    if (items.empty()) {
      map.error("elements", "elements: found none; expected at least one that the device drives");
    }
    return ids;
  }

  YamlMap& file_;
  ErrorList& errors_;
  DeviceModels models_;
  std::vector<std::string> model_names_;
  Fabric fabric_;
  NameIndex element_names_{"element"};
  NameIndex node_names_{"node"};
  NameIndex bus_names_{"bus"};
  NameIndex device_names_{"device"};
  std::set<std::uint32_t> owned_;
  std::set<std::uint32_t> driven_;
  std::set<PortRef> used_outputs_;
  std::set<PortRef> used_inputs_;
};

}  // namespace

Fabric read_explicit(YamlMap& file, DeviceModels models, ErrorList& errors) {
  return ExplicitReader(file, models, errors).read();
}

}  // namespace loom
