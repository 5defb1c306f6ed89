// SPDX-License-Identifier: Apache-2.0
// Commands and mirrors of a simulated OCS. It says nothing where all is well, and *opc? only that it has understood.
#include "sim_backend/devices/ocs/ocs_model.hpp"

#include <algorithm>
#include <charconv>

#include "core/text/format_text.hpp"
#include "drivers/ocs/scpi_ocs.hpp"
#include "sim_backend/devices/wire.hpp"

namespace loom {
namespace {

constexpr std::size_t kQueueMax = 16;  ///< then the last entry becomes -350, SCPI-99 volume 2 chapter 21.8.1

/// One mnemonic against its pattern: "SWITch" takes "SWIT" and "SWITCH", whatever the case (SCPI-99 volume 1 chapter 6.2.1).
bool is_mnemonic(std::string_view word, std::string_view pattern) {
  const std::size_t brief = static_cast<std::size_t>(
      std::find_if(pattern.begin(), pattern.end(), [](char c) { return c >= 'a' && c <= 'z'; }) - pattern.begin());
  return scpi::same_word(word, pattern) || scpi::same_word(word, pattern.substr(0, brief));
}

/// A header against "OXC:SWITch:CONNect:ADD"; a colon in front is optional.
bool is_header(std::string_view header, std::string_view pattern) {
  if (header.starts_with(':')) {
    header.remove_prefix(1);
  }
  while (true) {
    const std::size_t end = std::min(header.find(':'), header.size());
    const std::size_t wanted = std::min(pattern.find(':'), pattern.size());
    if (!is_mnemonic(header.substr(0, end), pattern.substr(0, wanted))) {
      return false;
    }
    if (end == header.size() || wanted == pattern.size()) {
      return end == header.size() && wanted == pattern.size();
    }
    header.remove_prefix(end + 1);
    pattern.remove_prefix(wanted + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ') || text.ends_with('\r')) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

OcsModel::OcsModel(const Device& device, const Element& element, const SimDeviceOptions& options)
    : OcsModel(device, element, options, {{element.inputs, element.outputs}, {element.inputs, element.outputs}}) {}

void OcsModel::power_up(Instant now) {
  CircuitSwitchModel::power_up(now);
  errors_.clear();
}

ModelReply OcsModel::respond(Instant now, const Transaction& transaction) {
  const auto line = line_in(transaction);
  if (!line) {
    return no_answer(transaction);
  }
  const Instant at = now + service_time();
  std::string reply = answer(now, at, *line);
  if (reply.empty()) {
    return wants_reply(transaction) ? no_answer(transaction) : ModelReply{{}, at - now};
  }
  reply += '\n';
  return {{BusStatus::ok, 0, {}, {reply.begin(), reply.end()}}, at - now};
}

/// Commands of a line are carried out in order; the answers of its queries come in one line.
std::string OcsModel::answer(Instant now, Instant at, std::string_view line) {
  std::string reply;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(';'), line.size());
    const std::string_view command = trimmed(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
    if (command.find('?') == std::string_view::npos) {
      if (!command.empty() && !act(now, at, command)) {
        queue_error(-113, "Undefined header");
      }
      continue;
    }
    const std::string said = query(at, command);
    if (said.empty()) {
      queue_error(-113, "Undefined header");
    }
    reply += (reply.empty() || said.empty() ? "" : ";") + said;
  }
  return reply;
}

std::string OcsModel::query(Instant at, std::string_view command) {
  const std::size_t mark = command.find('?');
  const std::string_view header = command.substr(0, mark);
  if (scpi::same_word(header, "*idn")) {
    return format_text("Polatis,I-OST-{}x{}-LU1-DMHNS,{},6.5.2.18", size().inputs, size().outputs, serial());
  }
  if (scpi::same_word(header, "*opc")) {
    return "1";
  }
  if (is_header(header, "OXC:SWITch:SIZE")) {
    return format_text("{},{}", size().inputs, size().outputs);
  }
  if (is_header(header, "OXC:SWITch:CONNect:STATe")) {
    return scpi::write_map(size(), listed(at));
  }
  if (is_header(header, "OXC:SWITch:CONNect:PORT")) {
    return port_of(at, trimmed(command.substr(mark + 1)));
  }
  if (is_header(header, "OXC:SWITch:PORT:STATe")) {
    return states_of(trimmed(command.substr(mark + 1)));
  }
  if (is_header(header, "SYSTem:ERRor:ALL")) {
    return take_errors(errors_.size());
  }
  return is_header(header, "SYSTem:ERRor") || is_header(header, "SYSTem:ERRor:NEXT") ? take_errors(1) : std::string{};
}

/// The port at the other end of a port, quoted; empty quotes: none.
std::string OcsModel::port_of(Instant at, std::string_view text) const {
  std::uint32_t port = 0;
  std::from_chars(text.data(), text.data() + text.size(), port);
  for (const CrossConnect& connect : listed(at)) {
    const std::uint32_t ingress = connect.input + 1U;
    const std::uint32_t egress = size().inputs + connect.output + 1U;
    if (port == ingress || port == egress) {
      return format_text("\"{}\"", port == ingress ? egress : ingress);
    }
  }
  return "\"\"";
}

/// A letter a port of the list; nothing, and an error in the queue, if one of them is not there.
std::string OcsModel::states_of(std::string_view list) {
  const auto ports = scpi::eat_channels(list);
  std::string states;
  for (const std::uint32_t port : ports.value_or(std::vector<std::uint32_t>{})) {
    if (port > size().inputs + size().outputs) {
      queue_error(-222, "Data out of range");
      return "()";
    }
    const Fitness is = fitness(port - 1);
    states += format_text("{}{}", states.empty() ? "" : ",",
                          is == Fitness::enabled    ? "E"
                          : is == Fitness::disabled ? "D"
                                                    : "F");
  }
  return "(" + states + ")";
}

/// False: no such command.
bool OcsModel::act(Instant now, Instant at, std::string_view command) {
  const std::size_t space = std::min(command.find(' '), command.size());
  const std::string_view header = command.substr(0, space);
  const std::string_view lists = trimmed(command.substr(space));
  if (scpi::same_word(header, "*cls")) {
    errors_.clear();
    return true;
  }
  std::optional<Outputs> wanted;
  if (is_header(header, "OXC:SWITch:CONNect:ADD")) {
    wanted = with_pairs(outputs(), "add", lists);
  } else if (is_header(header, "OXC:SWITch:CONNect:ONLY")) {
    wanted = with_pairs(open(), "add", lists);
  } else if (is_header(header, "OXC:SWITch:CONNect:SUB")) {
    wanted = with_pairs(outputs(), "sub", lists);
  } else if (scpi::same_word(header, "*rst") || is_header(header, "OXC:SWITch:DISConnect:ALL")) {
    wanted = open();
  } else {
    return false;
  }
  if (wanted && has_fault(DeviceFaultKind::fail, now)) {
    queue_error(-240, "Hardware error");
  } else if (wanted) {
    turn_to(now, at, *wanted);
  }
  return true;
}

/// The map after adding or taking away pairs; nothing, and an error in the queue, if one of them cannot be.
std::optional<OcsModel::Outputs> OcsModel::with_pairs(Outputs outputs, std::string_view verb, std::string_view lists) {
  const auto ingress = scpi::eat_channels(lists);
  const bool separated = lists.starts_with(',');
  lists.remove_prefix(separated ? 1 : 0);
  const auto egress = separated ? scpi::eat_channels(lists) : std::nullopt;
  const bool whole = ingress && egress && lists.empty();
  if (!whole || (ingress->size() != egress->size() && !(verb == "sub" && egress->empty()))) {
    queue_error(-220, "Parameter error");
    return std::nullopt;
  }
  for (std::size_t i = 0; i < ingress->size(); ++i) {
    const std::uint32_t input = (*ingress)[i] - 1;
    const std::int64_t output = egress->empty() ? -1 : std::int64_t{(*egress)[i]} - size().inputs - 1;
    Refusal refusal = Refusal::no_such_port;
    if (egress->empty() || output >= 0) {
      refusal = verb == "add" ? add(outputs, input, static_cast<std::uint32_t>(output))
                              : take_away(outputs, input, static_cast<std::int32_t>(output));
    }
    if (refusal != Refusal::none) {
      const bool is_conflict = refusal == Refusal::conflict;
      queue_error(is_conflict                        ? -221
                  : refusal == Refusal::no_such_port ? -222
                                                     : -200,
                  is_conflict                        ? "Settings conflict"
                  : refusal == Refusal::no_such_port ? "Data out of range"
                                                     : "Execution error");
      return std::nullopt;
    }
  }
  return outputs;
}

void OcsModel::queue_error(std::int32_t number, std::string_view text) {
  if (errors_.size() < kQueueMax) {
    errors_.push_back({number, std::string(text)});
  } else {
    errors_.back() = {-350, "Queue overflow"};
  }
}

std::string OcsModel::take_errors(std::size_t limit) {
  std::string text;
  const std::size_t count = std::min(limit, errors_.size());
  for (std::size_t i = 0; i < count; ++i) {
    text += format_text("{}{},\"{}\"", i == 0 ? "" : ",", errors_[i].number, errors_[i].text);
  }
  errors_.erase(errors_.begin(), errors_.begin() + static_cast<std::ptrdiff_t>(count));
  return text.empty() ? "0,\"No error\"" : text;
}

constinit const SimulatedModel kSimulatedOcs{
    "ocs",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      return std::make_unique<OcsModel>(device, fabric.element(device.elements.front()), options,
                                        ocs_profile(fabric, device).ports);
    },
    "ocs"};

}  // namespace loom
