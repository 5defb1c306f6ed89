// SPDX-License-Identifier: Apache-2.0
// A driver a device, asked and forgotten.
#include "drivers/check_plan.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/fabric/channel_grid.hpp"
#include "core/text/format_text.hpp"
#include "drivers/registry.hpp"

namespace loom {
namespace {

/// Ports of WSS that their drivers have no word for, with what they say.
class Unspeakable {
 public:
  explicit Unspeakable(const Fabric& fabric) : fabric_(fabric), slots_(comb_of(fabric)) {
    for (const Device& device : fabric.devices) {
      if (device.role == DeviceRole::wavelength_switch && !slots_.empty()) {
        ask(device);
      }
    }
  }

  /// Why no light from (or to) this end gets to (or comes from) anybody: the first of them that it meets; null: some does.
  const std::string* in_the_way(ElementId end, bool forward) {
    been_.assign(fabric_.elements.size(), false);
    open_.assign(1, end);
    const std::string* first = nullptr;
    while (!open_.empty()) {
      const Element& element = fabric_.element(open_.back());
      open_.pop_back();
      const auto fibres = forward ? fabric_.fibre_out[element.id.value] : fabric_.fibre_in[element.id.value];
      for (std::size_t port = 0; port < fibres.size(); ++port) {
        if (!fibres[port]) {
          continue;
        }
        const Fibre& fibre = fabric_.fibres[fibres[port]->value];
        const PortRef next = forward ? fibre.to : fibre.from;
        const std::string* said = said_of({element.id, static_cast<PortNumber>(port)}, !forward);
        said = said == nullptr ? said_of(next, forward) : said;
        if (said != nullptr) {
          first = first == nullptr ? said : first;
        } else if (is_end(next.element, forward)) {
          return nullptr;
        } else if (!been_[next.element.value]) {
          been_[next.element.value] = true;
          open_.push_back(next.element);
        }
      }
    }
    return first;
  }

  bool is_empty() const { return said_.empty(); }

 private:
  const std::string* said_of(PortRef port, bool is_input) const {
    const auto said = said_.find({port.element, port.port, is_input});
    return said == said_.end() ? nullptr : &said->second;
  }

  bool is_end(ElementId element, bool forward) const {
    const ElementKind& kind = fabric_.element(element).kind;
    return forward ? std::holds_alternative<Receiver>(kind) : std::holds_alternative<Transmitter>(kind);
  }

  void ask(const Device& device) {
    const std::unique_ptr<Driver> driver = make_driver(fabric_, device.id);
    const Element& element = fabric_.element(device.elements.front());
    const auto refusal = [&](std::uint16_t input, std::uint16_t output) {
      const auto lawful = driver->check(WavelengthSwitchSetpoint{{{slots_.front(), input, output}}});
      return lawful ? std::string{} : lawful.error().message;
    };
    const auto last = [](PortNumber ports) { return static_cast<std::uint16_t>(ports - 1); };
    const bool is_whole = refusal(last(element.inputs), 0).empty() && refusal(0, last(element.outputs)).empty();
    if (is_whole || !refusal(0, 0).empty()) {
      return;  // it has words for its last ports, or whatever it refuses is not the port
    }
    const auto note = [&](std::uint16_t port, bool is_input, std::string said) {
      if (!said.empty()) {
        said_.emplace(std::tuple(element.id, port, is_input), std::move(said));
      }
    };
    for (std::uint16_t port = 1; port < element.inputs; ++port) {
      note(port, true, refusal(port, 0));
    }
    for (std::uint16_t port = 1; port < element.outputs; ++port) {
      note(port, false, refusal(0, port));
    }
  }

  const Fabric& fabric_;
  std::vector<FrequencySlot> slots_;
  std::map<std::tuple<ElementId, PortNumber, bool>, std::string> said_;  ///< by element, port, whether it is an input
  std::vector<bool> been_;                                               ///< scratch, by element
  std::vector<ElementId> open_;                                          ///< scratch
};

}  // namespace

Result<void> check_with_drivers(const Fabric& fabric, const Plan& plan) {
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      if (!device.touched || fabric.device(device.device).role == DeviceRole::monitor) {
        continue;
      }
      const std::unique_ptr<Driver> driver = make_driver(fabric, device.device);
      for (const TimedSetpoint& entry : device.timeline) {
        if (const auto lawful = driver->check(entry.setpoint); !lawful) {
          Error error = lawful.error();
          error.message = format_text("device {} of node {} would refuse it: {}", device.device.value,
                                      fabric.nodes[node.node.value].name, error.message);
          error.device = device.device;
          return std::unexpected(std::move(error));
        }
      }
    }
  }
  return {};
}

Result<void> check_reach(const Fabric& fabric, std::size_t nodes) {
  Unspeakable ports(fabric);
  if (ports.is_empty()) {
    return {};
  }
  const auto why_none = [&](const std::vector<ElementId>& ends, bool forward) {
    const std::string* first = nullptr;
    for (const ElementId end : ends) {
      const std::string* said = ports.in_the_way(end, forward);
      if (said == nullptr) {
        return said;
      }
      first = first == nullptr ? said : first;
    }
    return first;
  };
  std::size_t reached = 0;
  std::string first;
  for (const Node& node : fabric.nodes) {
    const std::string* said = why_none(node.transmitters, true);
    said = said == nullptr ? why_none(node.receivers, false) : said;
    reached += said == nullptr ? 1 : 0;
    first = said != nullptr && first.empty() ? format_text("{} is the first that is none: {}", node.name, *said) : first;
  }
  if (nodes <= reached) {
    return {};
  }
  return fail(ErrorCode::out_of_range,
              format_text("{} nodes are wanted, and {} has {} whose light every switch on its way has a word for; {}", nodes,
                          fabric.name, reached, first));
}

}  // namespace loom
