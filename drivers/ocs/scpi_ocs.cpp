// SPDX-License-Identifier: Apache-2.0
// Requests and answers of the SCPI dialect.
#include "drivers/ocs/scpi_ocs.hpp"

#include <array>

#include "core/text/format_text.hpp"
#include "drivers/scpi_identity.hpp"

namespace loom {
namespace {

constexpr std::size_t kShown = 60;  ///< characters of a line in a sentence

}  // namespace

bool ScpiOcsDriver::knows(OcsState state) const {
  return state != OcsState::log_in && state != OcsState::serial && state != OcsState::shutters && state != OcsState::powers;
}

std::string ScpiOcsDriver::text() const {
  switch (state_) {
    case OcsState::identify:
      return "*idn?";
    case OcsState::measure:
      return dialect_.size_query;
    case OcsState::reading_map:
      return dialect_.map_query;
    case OcsState::port_states: {
      std::vector<std::uint32_t> numbers;
      for (const OcsPort port : needed_ports()) {
        numbers.push_back(number_of(port));
      }
      return dialect_.port_states_query + " " + scpi::write_channels(numbers);
    }
    case OcsState::clear_errors:
      return "*cls;*opc?";
    case OcsState::disconnect:
      return scpi::write_connects(dialect_.disconnect, profile_.ports.whole, to_disconnect());
    case OcsState::connect:
      return scpi::write_connects(dialect_.connect, profile_.ports.whole, to_connect());
    case OcsState::receive_errors:
      return dialect_.errors_query;
    default:
      return {};
  }
}

decltype(Transaction::order) ScpiOcsDriver::order() const {
  return line_order(text() + dialect_.terminator, dialect_.terminator);
}

std::string ScpiOcsDriver::question() const { return clipped(text(), kShown); }

Complaint ScpiOcsDriver::misread(const BusReply& reply) const {
  const std::string_view text = scpi::unframe(dialect_, characters_of(reply)).value_or(std::string_view{});
  return {Trouble::garbage, text.empty() ? std::string{} : clipped(text, kShown) + " for an answer"};
}

Answer ScpiOcsDriver::absorb(Instant now, const BusReply& reply) {
  const auto text = scpi::unframe(dialect_, characters_of(reply));
  if (!text) {
    return Answer::none;
  }
  switch (state_) {
    case OcsState::identify:
      return absorb_identity(*text);
    case OcsState::measure: {
      const auto size = scpi::read_size(*text);
      return size ? take_size(*size) : Answer::none;
    }
    case OcsState::reading_map:
      return absorb_map(now, *text);
    case OcsState::port_states:
      return absorb_port_states(*text);
    case OcsState::receive_errors:
      return absorb_errors(*text);
    default:  // the answer to *opc?
      break;
  }
  if (*text != "1") {
    return Answer::none;
  }
  if (row().exchange == Exchange::moves) {
    take_write(now);
  }
  return Answer::understood;
}

Answer ScpiOcsDriver::absorb_identity(std::string_view text) {
  const auto identity = scpi::read_identity(text);
  if (identity && !scpi::same_word(identity->vendor, dialect_.vendor)) {
    give_up(Trouble::misfit, format_text("is {}, wanted a switch of {}", clipped(text, kShown), dialect_.vendor));
    return Answer::ended;
  }
  return identity ? take_identity({identity->serial,
                                   format_text("{} {}, firmware {}", identity->vendor, identity->model, identity->release)})
                  : Answer::none;
}

Answer ScpiOcsDriver::absorb_map(Instant now, std::string_view text) {
  auto map = scpi::read_map(profile_.ports.whole, text);
  if (!map) {
    return Answer::none;
  }
  take_map(now, std::move(*map));
  return Answer::understood;
}

Answer ScpiOcsDriver::absorb_errors(std::string_view text) {
  const auto errors = scpi::read_errors(text);
  if (!errors) {
    return Answer::none;
  }
  std::string complaint;
  for (const scpi::QueuedError& error : *errors) {
    complaint += format_text("{}{} {}", complaint.empty() ? "" : ", ", error.number, clipped(error.text, kShown));
  }
  take_complaint(std::move(complaint));
  return Answer::understood;
}

Answer ScpiOcsDriver::absorb_port_states(std::string_view text) {
  const std::vector<OcsPort> ports = needed_ports();
  const auto states = scpi::read_port_states(text);
  if (!states || states->size() != ports.size()) {
    return Answer::none;
  }
  std::vector<UnfitPort> unfit;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if ((*states)[i] != scpi::PortState::enabled) {
      unfit.push_back({ports[i], (*states)[i] == scpi::PortState::failed ? "has failed" : "is disabled"});
    }
  }
  take_port_states(std::move(unfit));
  return Answer::understood;
}

namespace {

constexpr std::array kKeys{ocs_keys::kFirstInput, ocs_keys::kFirstOutput, ocs_keys::kSize, ocs_keys::kForeignKey};
constexpr OcsNumbers kNumbers{1, 0};

}  // namespace

OcsProfile ocs_profile(const Fabric& fabric, const Device& device) { return ocs_profile(fabric, device, kKeys, kNumbers); }

constinit const DriverModel kScpiOcs{
    {"ocs", DeviceRole::circuit_switch, "optical circuit switch, SCPI over TCP or a serial line", kKeys,
     [](const Fabric& fabric, const Device& device) { return refuse_ocs(fabric, device, kKeys, kNumbers); }, kStreamSchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<ScpiOcsDriver>(ocs_profile(fabric, device));
    }};

}  // namespace loom
