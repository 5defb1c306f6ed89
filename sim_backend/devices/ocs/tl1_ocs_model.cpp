// SPDX-License-Identifier: Apache-2.0
// Commands of TL1, carried out.
#include "sim_backend/devices/ocs/tl1_ocs_model.hpp"

#include <algorithm>
#include <charconv>

#include "core/text/format_text.hpp"
#include "drivers/ocs/tl1_ocs.hpp"

namespace loom {
namespace {

std::string_view eat_to(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string upper(std::string_view text) {
  std::string capitals(text);
  for (char& c : capitals) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return capitals;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\r' || text.front() == '\n')) {
    text.remove_prefix(1);
  }
  return text;
}

std::string decimal(Dbm power, int places) {
  const std::int32_t magnitude = std::abs(power.centi);
  return format_text("{}{}.{:02}{}", power.centi < 0 ? "-" : "", magnitude / 100, magnitude % 100, places > 2 ? "0" : "");
}

/// A port without a monitor says so in a word.
std::string power_text(std::optional<Dbm> power, int places) { return power ? decimal(*power, places) : "NONE"; }

}  // namespace

Tl1OcsModel::Tl1OcsModel(const Device& device, const Element& element, const SimDeviceOptions& options, PortRectangle ports,
                         Tl1Vendor vendor)
    : CircuitSwitchModel(device, element, options, ports), vendor_(vendor) {}

void Tl1OcsModel::power_up(Instant now) {
  CircuitSwitchModel::power_up(now);
  is_logged_in_ = false;
}

std::string Tl1OcsModel::header() const { return "\r\n\n   OCS 26-01-01 00:00:00\r\n"; }

ModelReply Tl1OcsModel::respond(Instant now, const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  const ModelReply silence{{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  if (frame == nullptr) {
    return silence;
  }
  std::string_view line(reinterpret_cast<const char*>(frame->request.data()), frame->request.size());
  line = trimmed(line);
  if (!line.ends_with(';')) {
    return silence;  // it waits for an end that never comes
  }
  line.remove_suffix(1);
  Command command;
  command.verb = upper(eat_to(line, ':'));
  eat_to(line, ':');
  command.access = eat_to(line, ':');
  command.ctag = eat_to(line, ':');
  eat_to(line, ':');
  command.parameters = line;
  const Instant at = now + service_time();
  const Outcome outcome = carry_out(now, at, command);
  std::string reply;
  if (options().ocs.announces) {
    reply += format_text("{}A  {} REPT EVT EQPT\r\n   \"OCS:FAN,TC\"\r\n;", header(), ++announced_);
  }
  reply += format_text("{}M  {} {}\r\n", header(), command.ctag, outcome.denial.empty() ? "COMPLD" : "DENY");
  reply += outcome.denial.empty() ? "" : format_text("   {}\r\n   /* {} */\r\n", outcome.denial, outcome.comment);
  for (const std::string& row : outcome.rows) {
    reply += format_text("   \"{}\"\r\n", row);
  }
  reply += ';';
  return {{BusStatus::ok, 0, {}, {reply.begin(), reply.end()}}, at - now};
}

Tl1OcsModel::Outcome Tl1OcsModel::carry_out(Instant now, Instant at, const Command& command) {
  if (command.verb == "ACT-USER") {
    return log_in(command);
  }
  if (!options().ocs.user.empty() && !is_logged_in_) {
    return {{}, "PLNA", "Privilege, Login Not Active"};
  }
  if (command.verb == "CANC-USER") {
    is_logged_in_ = false;
    return {};
  }
  return vendor_ == Tl1Vendor::polatis ? carry_out_polatis(now, at, command) : carry_out_calient(now, at, command);
}

Tl1OcsModel::Outcome Tl1OcsModel::log_in(const Command& command) {
  const CircuitSwitchOptions& wanted = options().ocs;
  is_logged_in_ = wanted.user.empty() || (command.access == wanted.user && command.parameters == wanted.password);
  return is_logged_in_ ? Outcome{} : Outcome{{}, "PICC", "Privilege, Illegal User Identity"};
}

Tl1OcsModel::Outcome Tl1OcsModel::carry_out_polatis(Instant now, Instant at, const Command& command) {
  if (command.verb == "RTRV-NETYPE") {
    return {{format_text("Polatis,Series 6000,OST-{}x{},6.5.2.18", size().inputs, size().outputs)}};
  }
  if (command.verb == "RTRV-INV") {
    return {{format_text("OCS:SN={},PN=OST", serial())}};
  }
  if (command.verb == "RTRV-EQPT") {
    return {{format_text("SYSTEM:SIZE={}x{}", size().inputs, size().outputs)}};
  }
  if (command.verb == "RTRV-PATCH") {
    Outcome told;
    for (const CrossConnect each : listed(at)) {
      told.rows.push_back(format_text("{},{}", number_of(each.input), number_of(size().inputs + each.output)));
    }
    return told;
  }
  if (command.verb == "ENT-PATCH") {
    return patch(now, at, command);
  }
  if (command.verb == "DLT-PATCH") {
    return unpatch(now, at, command.access);
  }
  if (command.verb.ends_with("-PORT-SHUTTER")) {
    return shutters(now, at, command);
  }
  return command.verb == "RTRV-PORT-POWER" ? ports_told(at, command) : Outcome{{}, "ICNV", "Input, Command Not Valid"};
}

Tl1OcsModel::Outcome Tl1OcsModel::carry_out_calient(Instant now, Instant at, const Command& command) {
  if (command.verb == "RTRV-SYSTEM-INFO") {
    return {{format_text("SYSTEM:LicensedPortMatrix={}x{},RELEASE=7.0", size().inputs, size().outputs)}};
  }
  if (command.verb == "RTRV-CRS-FIBER") {
    return fibres(at);
  }
  if (command.verb == "ENT-CRS-FIBER") {
    return patch(now, at, command);
  }
  return command.verb == "DLT-CRS-FIBER"
             ? unpatch(now, at, std::string_view(command.access).substr(0, command.access.find(',')))
             : Outcome{{}, "ICNV", "Input, Command Not Valid"};
}

Tl1OcsModel::Outcome Tl1OcsModel::patch(Instant now, Instant at, const Command& command) {
  std::string_view rest = command.access;
  const auto inputs = ports_of(eat_to(rest, ','));
  const auto outputs_named = ports_of(rest);
  if (!inputs || !outputs_named || inputs->size() != outputs_named->size()) {
    return {{}, "IITA", "Input, Invalid Target Identifier"};
  }
  if (has_fault(DeviceFaultKind::fail, now)) {
    return {{}, "SROF", "Status, Requested Operation Failed"};
  }
  Outputs wanted = outputs();
  for (std::size_t i = 0; i < inputs->size(); ++i) {
    const std::uint32_t output = (*outputs_named)[i] - size().inputs;  // wraps where an input is named
    const Refusal refusal = add(wanted, (*inputs)[i], output);
    if (refusal != Refusal::none) {
      return refusal == Refusal::conflict       ? Outcome{{}, "SARB", "Status, All Resources Busy"}
             : refusal == Refusal::no_such_port ? Outcome{{}, "IITA", "Input, Invalid Target Identifier"}
                                                : Outcome{{}, "SROF", "Status, Requested Operation Failed"};
    }
  }
  turn_to(now, at, wanted);
  return {};
}

Tl1OcsModel::Outcome Tl1OcsModel::unpatch(Instant now, Instant at, std::string_view access) {
  const bool is_all = upper(access) == "ALL";
  const auto inputs = is_all ? std::nullopt : ports_of(access);
  if (!is_all && !inputs) {
    return {{}, "IITA", "Input, Invalid Target Identifier"};
  }
  if (has_fault(DeviceFaultKind::fail, now)) {
    return {{}, "SROF", "Status, Requested Operation Failed"};
  }
  Outputs wanted = is_all ? open() : outputs();
  for (const std::uint32_t input : inputs.value_or(std::vector<std::uint32_t>{})) {
    if (take_away(wanted, input, -1) != Refusal::none) {
      return {{}, "SNVS", "Status, Not in Valid State"};
    }
  }
  turn_to(now, at, wanted);
  return {};
}

Tl1OcsModel::Outcome Tl1OcsModel::ports_told(Instant at, const Command& command) const {
  const auto ports = ports_of(command.access);
  if (!ports) {
    return {{}, "IITA", "Input, Invalid Target Identifier"};
  }
  Outcome told;
  for (const std::uint32_t port : *ports) {
    told.rows.push_back(command.verb == "RTRV-PORT-POWER"
                            ? format_text("{}:{}", number_of(port), power_text(power_at(at, port), 2))
                            : format_text("{}:{}", number_of(port), is_shut(port) ? "CLOSED" : "OPEN"));
  }
  return told;
}

Tl1OcsModel::Outcome Tl1OcsModel::shutters(Instant now, Instant at, const Command& command) {
  if (command.verb.starts_with("RTRV")) {
    return ports_told(at, command);
  }
  const auto ports = ports_of(command.access);
  if (!ports) {
    return {{}, "IITA", "Input, Invalid Target Identifier"};
  }
  for (const std::uint32_t port : *ports) {
    shut(now, at, port, command.verb.starts_with("OPR"));
  }
  return {};
}

/// Every input has a row, connected or not.
Tl1OcsModel::Outcome Tl1OcsModel::fibres(Instant at) const {
  Outcome told;
  const std::vector<CrossConnect> all = listed(at);
  for (std::uint32_t input = 0; input < size().inputs; ++input) {
    const auto found = std::ranges::find(all, static_cast<std::uint16_t>(input), &CrossConnect::input);
    const bool is_connected = found != all.end();
    const std::uint32_t output = is_connected ? size().inputs + found->output : 0;
    told.rows.push_back(format_text(
        "GGN:IPORTID={},IPORTNAME=,OPORTID={},OPORTNAME=,CONNID=0,CONNSTATE=single,CONNCAUSE=none,INPWR={},OUTPWR={},"
        "PWRLOSS=0.000",
        number_of(input), is_connected ? number_of(output) : 0, power_text(power_at(at, input), 3),
        is_connected ? power_text(power_at(at, output), 3) : "0.000"));
  }
  return told;
}

std::uint32_t Tl1OcsModel::number_of(std::uint32_t port) const {
  const bool is_calient = vendor_ == Tl1Vendor::calient;
  return port < size().inputs ? (is_calient ? 10'001 : 1) + port : (is_calient ? 20'001 + port - size().inputs : 1 + port);
}

std::optional<std::vector<std::uint32_t>> Tl1OcsModel::ports_of(std::string_view list) const {
  const auto port_of = [this](std::string_view text) -> std::optional<std::uint32_t> {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
      return std::nullopt;
    }
    const std::uint32_t all = size().inputs + size().outputs;
    const bool is_calient = vendor_ == Tl1Vendor::calient;
    const std::uint32_t port = !is_calient ? number - 1 : number >= 20'001 ? number - 20'001 + size().inputs : number - 10'001;
    return port < all && number == number_of(port) ? std::optional(port) : std::nullopt;
  };
  std::vector<std::uint32_t> ports;
  while (!list.empty() && ports.size() <= size().inputs + size().outputs) {
    const auto first = port_of(eat_to(list, '&'));
    const bool is_range = first && list.starts_with('&');
    list.remove_prefix(is_range ? 1 : 0);
    const auto last = is_range ? port_of(eat_to(list, '&')) : first;
    if (!first || !last || *last < *first) {
      return std::nullopt;
    }
    for (std::uint32_t port = *first; port <= *last; ++port) {
      ports.push_back(port);
    }
  }
  return ports.empty() ? std::nullopt : std::optional(std::move(ports));
}

namespace {

template <Tl1Vendor vendor>
std::unique_ptr<SimulatedDevice> make(const Fabric& fabric, const Device& device, const SimDeviceOptions& options) {
  return std::make_unique<Tl1OcsModel>(device, fabric.element(device.elements.front()), options,
                                       ocs_profile_of(fabric, device).ports, vendor);
}

}  // namespace

constinit const SimulatedModel kSimulatedPolatisTl1{"polatis_tl1", make<Tl1Vendor::polatis>, "ocs"};
constinit const SimulatedModel kSimulatedCalientTl1{"calient_tl1", make<Tl1Vendor::calient>, "ocs"};

}  // namespace loom
