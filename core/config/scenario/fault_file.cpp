// SPDX-License-Identifier: Apache-2.0
// The keys of faults, in a scenario or in a file of their own.
#include "core/config/scenario/fault_file.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "core/config/scenario/expectation_file.hpp"
#include "core/config/yaml/yaml_document.hpp"
#include "core/config/yaml/yaml_words.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;

constexpr Range<Duration> kRunTime{Duration{0}, hours{24 * 365}};
constexpr Range<Duration> kPositive{microseconds{1}, hours{1}};
constexpr Range<Db> kLoss{Db{1}, Db{6'000}};
constexpr std::size_t kFaults = 65'536;

class FaultReader {
 public:
  FaultReader(YamlMap& file, const FaultPlace& place, ErrorList& errors) : file_(file), place_(place), errors_(errors) {}

  void read() {
    read_network();
    read_device_faults();
    read_machine_faults();
    read_fibre_faults();
  }

 private:
  void read_network() {
    const YamlNode* node = file_.find("network");
    if (node == nullptr) {
      return;
    }
    YamlMap map(*node, "network", errors_);
    NetworkFaults& network = place_.network;
    constexpr Range<Duration> kDelay{Duration{0}, seconds{60}};
    constexpr Range<double> kProbability{0.0, 1.0};
    network.delay_min = map.duration("delay_min", kDelay, network.delay_min);
    network.delay_max = map.duration("delay_max", kDelay, std::max(network.delay_min, network.delay_max));
    network.loss = map.real("loss", kProbability, network.loss);
    network.duplicate = map.real("duplicate", kProbability, network.duplicate);
    network.reorder = map.real("reorder", kProbability, network.reorder);
    network.until = map.duration("until", kRunTime, network.until);
    if (network.delay_min > network.delay_max) {
      map.error("delay_min", format_text("delay_min: {}; expected at most delay_max = {}",
                                         print_quantity(network.delay_min.count(), kDurationUnits),
                                         print_quantity(network.delay_max.count(), kDurationUnits)));
    }
    map.finish();
  }

  /// The one key that a fault takes beside at, device, kind and lasts.
  void read_fault_value(YamlMap& map, const FaultName& name, ScenarioFault& fault) {
    constexpr Range<FrequencyOffset> kOffset{{-1'000'000}, {1'000'000}};
    constexpr FrequencyOffset kNextMode{50'000};
    switch (name.value) {
      case FaultValue::none:
        break;
      case FaultValue::offset:
        fault.offset =
            name.must_have_value ? map.offset("offset", kOffset, Rule::required) : map.offset("offset", kOffset, kNextMode);
        break;
      case FaultValue::loss:
        fault.loss = map.ratio("loss", kLoss, Rule::required);
        break;
      case FaultValue::delay:
        fault.delay = name.must_have_value ? map.duration("delay", kPositive, Rule::required)
                                           : map.duration("delay", kPositive, Duration{std::chrono::milliseconds{500}});
        break;
      case FaultValue::factor:
        fault.factor = static_cast<std::int32_t>(map.integer("factor", {2, 1'000'000}, std::int64_t{fault.factor}));
        break;
      case FaultValue::percent:
        fault.percent = static_cast<std::int32_t>(map.integer("percent", {1, 100}, std::int64_t{fault.percent}));
        break;
      case FaultValue::channel:
        fault.channel = static_cast<std::uint16_t>(map.integer("channel", {0, 65'535}, Rule::required));
        break;
    }
  }

  void check_fault(YamlMap& map, const FaultName& name, const ScenarioFault& fault) {
    const Device& device = place_.fabric->device(fault.device);
    if (!name.is_of(device.role)) {
      map.error("kind", "kind: " + refusal_of(name, device.role, device.name));
    } else if (name.value == FaultValue::channel && fault.channel >= device.elements.size()) {
      map.error("channel", format_text("channel: {}; '{}' has {}", fault.channel, device.name, device.elements.size()));
    }
  }

  void read_device_faults() {
    const auto items = file_.list("device_faults", kFaults);
    if (items.empty()) {
      return;
    }
    const NameIndex devices = names_of("device", place_.fabric, &Fabric::devices, errors_);
    std::vector<std::string> kinds;
    for (const FaultName& name : fault_catalogue()) {
      kinds.emplace_back(name.name);
    }
    for (const YamlNode& item : items) {
      YamlMap map(item, "the device fault", errors_);
      ScenarioFault fault;
      fault.at = map.duration("at", kRunTime, Rule::required);
      const std::string device = map.name("device", Rule::required);
      const auto kind = map.word("kind", kinds, Rule::required);
      fault.lasts = map.duration("lasts", {microseconds{1}, kRunTime.max}, fault.lasts);
      const auto number =
          place_.fabric != nullptr && !device.empty() ? devices.resolve(device, map.place_of("device"), errors_) : std::nullopt;
      if (!kind) {
        continue;
      }
      const FaultName& name = fault_catalogue()[*kind];
      fault.kind = name.kind;
      read_fault_value(map, name, fault);
      map.finish();
      if (number) {
        fault.device = {*number};
        check_fault(map, name, fault);
      }
      place_.device_faults.push_back(fault);
    }
    std::ranges::sort(place_.device_faults, {},
                      [](const ScenarioFault& fault) { return std::tuple(fault.at, fault.device, fault.kind); });
  }

  /// "controller", or a node's name.
  std::optional<NodeId> read_node(YamlMap& map, const NameIndex& nodes) {
    const std::string machine = map.name("machine", Rule::required);
    if (machine.empty() || machine == "controller" || place_.fabric == nullptr) {
      return {};
    }
    const auto number = nodes.resolve(machine, map.place_of("machine"), errors_);
    return number ? std::optional(NodeId{*number}) : std::nullopt;
  }

  /// The one key that a kind of machine fault takes beside at, machine, kind and lasts, and whose machine it may be.
  void read_machine_value(YamlMap& map, MachineFault& fault) {
    constexpr Range<std::int64_t> kDrift{-100'000, 100'000};
    constexpr Range<Duration> kOffset{-hours{1}, hours{1}};
    const bool of_agent = fault.kind == MachineFaultKind::slow || fault.kind == MachineFaultKind::clock_step ||
                          fault.kind == MachineFaultKind::clock_drift || fault.kind == MachineFaultKind::interlock_open;
    if (fault.kind == MachineFaultKind::slow) {
      fault.delay = map.duration("delay", {microseconds{1}, seconds{60}}, Rule::required);
    } else if (fault.kind == MachineFaultKind::clock_step) {
      fault.offset = map.duration("offset", kOffset, Rule::required);
    } else if (fault.kind == MachineFaultKind::clock_drift) {
      fault.drift_ppm = map.integer("drift_ppm", kDrift, Rule::required);
    }
    const bool is_known = place_.fabric != nullptr && map.find("machine") != nullptr;
    if (is_known && of_agent && !fault.node) {
      map.error("machine", "machine: the controller; expected a node, whose agent it is");
    } else if (is_known && fault.kind == MachineFaultKind::takeover && fault.node) {
      map.error("machine", "machine: a node; expected the controller, of which a second incarnation takes over");
    }
  }

  void read_machine_faults() {
    const NameIndex nodes = names_of("node", place_.fabric, &Fabric::nodes, errors_);
    const auto kinds = words_of<MachineFaultKind, kMachineFaultKinds>();
    for (const YamlNode& item : file_.list("machine_faults", kFaults)) {
      YamlMap map(item, "the machine fault", errors_);
      MachineFault fault;
      fault.at = map.duration("at", kRunTime, Rule::required);
      fault.node = read_node(map, nodes);
      fault.kind = static_cast<MachineFaultKind>(map.word("kind", kinds, Rule::required).value_or(0));
      fault.lasts = map.duration("lasts", {microseconds{1}, hours{1}}, fault.lasts);
      read_machine_value(map, fault);
      map.finish();
      place_.machine_faults.push_back(fault);
    }
    std::ranges::sort(place_.machine_faults, {},
                      [](const MachineFault& fault) { return std::tuple(fault.at, fault.node, fault.kind); });
  }

  /// The fibre that ends at an input: ELEMENT (its input 0) or ELEMENT:PORT.
  std::optional<FibreId> read_end(const YamlNode& item, const NameIndex& elements) {
    const std::size_t colon = item.text.find(':');
    const std::string digits = colon == std::string::npos ? "0" : item.text.substr(colon + 1);
    PortNumber port = 0;
    const auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (code != std::errc{} || stop != digits.data() + digits.size()) {
      errors_.add(item, format_text("ends: found '{}'; expected ELEMENT or ELEMENT:PORT with a port of 0..65535", item.text));
      return std::nullopt;
    }
    const auto element = place_.fabric == nullptr ? std::nullopt : elements.resolve(item.text.substr(0, colon), item, errors_);
    if (!element) {
      return std::nullopt;
    }
    const auto& fibres = place_.fabric->fibre_in[*element];
    if (port >= fibres.size() || !fibres[port]) {
      errors_.add(item, format_text("ends: there is no fibre at input {} of '{}'", port, item.text.substr(0, colon)));
      return std::nullopt;
    }
    return fibres[port];
  }

  /// As many fibres as this fault is of; fewer: what is wrong has been said.
  std::vector<FibreId> read_ends(YamlMap& map, std::span<const YamlNode> ends, const FibreFaultName& name,
                                 const NameIndex& elements) {
    std::vector<FibreId> fibres;
    if (map.find("ends") != nullptr && ends.size() != name.fibres) {
      map.error("ends",
                format_text("ends: found {}; expected {}", ends.size(),
                            name.fibres == 2 ? "two inputs whose fibres are exchanged" : "one input, at which the fibre ends"));
      return fibres;
    }
    for (const YamlNode& end : ends) {
      if (const auto fibre = read_end(end, elements)) {
        fibres.push_back(*fibre);
      }
    }
    return fibres;
  }

  void read_fibre_faults() {
    const auto items = file_.list("fibre_faults", kFaults);
    if (items.empty()) {
      return;
    }
    const NameIndex elements = names_of("element", place_.fabric, &Fabric::elements, errors_);
    std::vector<std::string> kinds;
    for (const FibreFaultName& name : fibre_fault_catalogue()) {
      kinds.emplace_back(name.name);
    }
    for (const YamlNode& item : items) {
      YamlMap map(item, "the fibre fault", errors_);
      FibreFault fault;
      fault.at = map.duration("at", kRunTime, Rule::required);
      const auto kind = map.word("kind", kinds, Rule::required);
      fault.lasts = map.duration("lasts", {microseconds{1}, kRunTime.max}, fault.lasts);
      const std::span<const YamlNode> ends = map.list("ends", 2, Rule::required);
      if (!kind) {
        continue;
      }
      const FibreFaultName& name = fibre_fault_catalogue()[*kind];
      fault.kind = name.kind;
      if (name.value == FaultValue::loss) {
        fault.loss = map.ratio("loss", kLoss, Rule::required);
      }
      const std::vector<FibreId> fibres = read_ends(map, ends, name, elements);
      map.finish();
      if (fibres.size() == name.fibres) {
        fault.first = fibres.front();
        fault.second = fault.kind == FibreFaultKind::swap ? fibres.back() : fault.second;
        place_.fibre_faults.push_back(fault);
      }
    }
    std::ranges::sort(place_.fibre_faults, {},
                      [](const FibreFault& fault) { return std::tuple(fault.at, fault.first, fault.second, fault.kind); });
  }

  YamlMap& file_;
  const FaultPlace& place_;
  ErrorList& errors_;
};

std::vector<ConfigError> read_root(const std::filesystem::path& path, const YamlNode& root, const FaultPlace& place) {
  ErrorList errors(path.string());
  YamlMap file(root, "the fault file", errors);
  check_header(file, "faults");
  file.name("name", Rule::required);
  read_faults_of(file, place, errors);
  place.faults_darken += read_fault_expectation(file, "expect", errors);
  file.finish();
  return errors.empty() ? std::vector<ConfigError>{} : errors.sorted();
}

}  // namespace

void read_faults_of(YamlMap& file, const FaultPlace& place, ErrorList& errors) { FaultReader(file, place, errors).read(); }

std::vector<ConfigError> add_fault_file(const std::filesystem::path& path, const FaultPlace& place) {
  const Loaded<YamlNode> document = read_yaml(path);
  return document ? read_root(path, *document.value, place) : document.errors;
}

std::vector<ConfigError> check_fault_file(const std::filesystem::path& path, const YamlNode& root) {
  Scenario nowhere;
  return read_root(
      path, root,
      {nullptr, nowhere.network, nowhere.device_faults, nowhere.machine_faults, nowhere.fibre_faults, nowhere.faults_darken});
}

std::vector<ConfigError> add_faults(const std::filesystem::path& path, Scenario& scenario) {
  return add_fault_file(path, {scenario.fabric.get(), scenario.network, scenario.device_faults, scenario.machine_faults,
                               scenario.fibre_faults, scenario.faults_darken});
}

}  // namespace loom
